/* SPDX-License-Identifier: Apache-2.0 */
/* word_hash.h: a hash of 64 bits that takes a word at a time, to notice within one
 * process that something differs. It is no checksum: it depends on the byte order, and
 * may change with any version.
 *
 * Layer: base. */
#ifndef SUBLET_BASE_WORD_HASH_H
#define SUBLET_BASE_WORD_HASH_H

#include <stdint.h>
#include <string.h>

/* `hash`: 0, or the hash of the words that come before this one. */
static inline uint64_t word_hash_add(uint64_t hash, uint64_t word)
{
    hash = ((hash ^ word) + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static inline uint64_t word_hash_text(uint64_t hash, const char *text)
{
    size_t length = strlen(text);
    uint64_t word;
    for (; length >= sizeof(word); length -= sizeof(word), text += sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = word_hash_add(hash, word);
    }
    for (word = 1; length > 0; length--) { /* 1: the end of the text */
        word = word << 8 | (unsigned char)*text++;
    }
    return word_hash_add(hash, word);
}

#endif
