/* SPDX-License-Identifier: Apache-2.0 */
/* token_bucket.c: see token_bucket.h. */
#include "base/token_bucket.h"

enum { SECOND_MS = 1000 };

void token_bucket_init(struct token_bucket *bucket, int64_t per_s, int64_t most)
{
    *bucket = (struct token_bucket){.per_s = per_s, .most = most, .left = most};
}

int64_t token_bucket_refill(struct token_bucket *bucket, int64_t now_ms)
{
    int64_t passed_ms = now_ms - bucket->at_ms;
    int64_t full_ms = (bucket->most - bucket->left) * SECOND_MS / bucket->per_s + 1;
    bucket->at_ms = now_ms;
    if (passed_ms >= full_ms) {
        bucket->left = bucket->most;
    } else if (passed_ms > 0) {
        int64_t gained = passed_ms * bucket->per_s;
        bucket->left += gained / SECOND_MS;
        bucket->at_ms -= gained % SECOND_MS / bucket->per_s; /* a part of one piece */
    }
    return bucket->left;
}

void token_bucket_take(struct token_bucket *bucket, int64_t n_bytes)
{
    bucket->left -= n_bytes;
}

int64_t token_bucket_ready_ms(const struct token_bucket *bucket)
{
    int64_t owed = bucket->left < 0 ? -bucket->left : 0;
    return bucket->at_ms + owed * SECOND_MS / bucket->per_s + 1;
}
