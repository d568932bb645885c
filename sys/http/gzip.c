/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c: see gzip.h. */
#include "sys/http/gzip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/arena.h"

enum { WINDOW_GZIP = 15 + 16, MEMORY_LEVEL = 8 };

bool gzip_replace(char **text, size_t *length)
{
    z_stream stream = {0};
    if (*length > INT_MAX ||
        deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return false;
    }
    char *packed = mem_alloc(*length, 1);
    stream.next_in = (Bytef *)*text;
    stream.avail_in = (uInt)*length;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)*length;
    int rc = deflate(&stream, Z_FINISH);
    size_t n_packed = stream.total_out;
    deflateEnd(&stream);
    if (rc != Z_STREAM_END) {
        free(packed);
        return false;
    }
    free(*text);
    *text = packed;
    *length = n_packed;
    return true;
}
