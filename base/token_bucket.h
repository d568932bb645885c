/* SPDX-License-Identifier: Apache-2.0 */
/* token_bucket.h: limits a rate (of bytes, or microseconds of work), and bursts.
 *
 * The bucket starts with `most` bytes and gains `per_s` per second up to that. If it is
 * not empty, a whole piece may be taken, even a larger one. The debt delays the next
 * piece, so pieces need not be cut.
 *
 * Units: bytes or whatever the caller counts, milliseconds of any clock. If the clock
 * is set back, nothing is gained for that time. Layer: base. */
#ifndef SUBLET_BASE_TOKEN_BUCKET_H
#define SUBLET_BASE_TOKEN_BUCKET_H

#include <stdint.h>

struct token_bucket {
    int64_t per_s, most;
    int64_t left; /* below 0: a debt */
    int64_t at_ms;
};

void token_bucket_init(struct token_bucket *bucket, int64_t per_s, int64_t most);
/* The bytes available now. */
int64_t token_bucket_refill(struct token_bucket *bucket, int64_t now_ms);
void token_bucket_take(struct token_bucket *bucket, int64_t n_bytes);
/* The time at which bytes are available again, after token_bucket_refill returned none.
 */
int64_t token_bucket_ready_ms(const struct token_bucket *bucket);

#endif
