/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c: see streams.h. */
#include "broker/member/streams.h"

enum {
    PIECE_COST = 256, /* of any piece, however short: encryption, one run of the loop */
    AT_ONCE_PART = 4, /* a quarter of a second's may come at once ... */
    SMALL_PART = 4,   /* ... a quarter of that is for small pieces alone */
};

void streams_init(struct streams *streams, int64_t per_s)
{
    *streams = (struct streams){.n_bytes = 0};
    token_bucket_init(&streams->bucket, per_s, per_s / AT_ONCE_PART);
}

static bool has_room(struct streams *streams, int n_bytes, int64_t now_ms)
{
    int64_t reserved = n_bytes > STREAMS_SMALL ? streams->bucket.most / SMALL_PART : 0;
    return token_bucket_refill(&streams->bucket, now_ms) > reserved;
}

bool streams_pass(struct streams *all, struct streams *of_site, int n_bytes,
                  int64_t now_ms)
{
    if (!has_room(of_site, n_bytes, now_ms) || !has_room(all, n_bytes, now_ms)) {
        of_site->n_dropped++;
        return false;
    }
    token_bucket_take(&of_site->bucket, n_bytes + PIECE_COST);
    token_bucket_take(&all->bucket, n_bytes + PIECE_COST);
    of_site->n_bytes += (uint64_t)n_bytes;
    return true;
}
