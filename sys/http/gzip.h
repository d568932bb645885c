/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: compresses text by zlib. Layer: sys. */
#ifndef SUBLET_SYS_HTTP_GZIP_H
#define SUBLET_SYS_HTTP_GZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces *text, in heap memory of the caller, by its compressed form, and *length by
 * the length of that. Prefers speed to size. False if that is not smaller: nothing is
 * changed then. */
bool gzip_replace(char **text, size_t *length);

#endif
