/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: compresses text by zlib. Layer: sys. */
#ifndef SUBLET_SYS_HTTP_GZIP_H
#define SUBLET_SYS_HTTP_GZIP_H

#include <stddef.h>

/* Prefers speed to size. Heap memory of the caller; NULL if the result is not smaller.
 */
char *gzip_pack(const char *text, size_t length, size_t *n_packed);

#endif
