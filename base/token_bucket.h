/* SPDX-License-Identifier: Apache-2.0 */
/* token_bucket.h: so many bytes a second, and not many more at once.
 *
 * It holds `most` at the beginning and gains `per_s` a second up to that. Who finds
 * something in it may take a whole piece, also one that is larger: the debt is what the
 * next one waits for, and pieces need not be cut.
 *
 * Units: bytes, milliseconds of any clock; one that is set back costs what would have
 * been gained meanwhile. Layer: base. */
#ifndef SUBLET_BASE_TOKEN_BUCKET_H
#define SUBLET_BASE_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct token_bucket {
    int64_t per_s, most;
    int64_t left; /* below 0: a debt */
    int64_t at_ms;
};

void token_bucket_init(struct token_bucket *bucket, int64_t per_s, int64_t most);
/* What is in it now. */
int64_t token_bucket_refill(struct token_bucket *bucket, int64_t now_ms);
void token_bucket_take(struct token_bucket *bucket, int64_t n_bytes);
/* When there is something in it again; it was looked at when it was not. */
int64_t token_bucket_ready_ms(const struct token_bucket *bucket);

#endif
