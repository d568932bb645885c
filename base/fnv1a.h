/* SPDX-License-Identifier: Apache-2.0 */
/* fnv1a.h: the hash FNV-1a of 64 bits, for hash tables, and as a checksum against
 * damage on disk. It is no signature: whoever can write the bytes can write the hash.
 *
 * Layer: base.
 */
#ifndef SUBLET_BASE_FNV1A_H
#define SUBLET_BASE_FNV1A_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A_START UINT64_C(14695981039346656037)

/* `hash`: FNV1A_START, or the hash of the bytes that come before these. */
static inline uint64_t fnv1a(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

#endif
