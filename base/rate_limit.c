/* SPDX-License-Identifier: Apache-2.0 */
/* rate_limit.c: see rate_limit.h. */
#include "base/rate_limit.h"

void rate_limit_init(struct rate_limit *rate_limit, int64_t work_per_s,
                     int64_t work_most)
{
    *rate_limit = (struct rate_limit){.out_until_ms = 0};
    token_bucket_init(&rate_limit->work, work_per_s, work_most);
    token_bucket_init(&rate_limit->refused, RATE_LIMIT_REFUSED_PER_S,
                      RATE_LIMIT_REFUSED_MOST);
}

bool rate_limit_may_work(struct rate_limit *rate_limit, int64_t now_ms)
{
    return token_bucket_refill(&rate_limit->work, now_ms) > 0;
}

void rate_limit_take_work(struct rate_limit *rate_limit, int64_t us)
{
    token_bucket_take(&rate_limit->work, us);
    rate_limit->work_us += (uint64_t)us;
}

static int64_t price_of(int64_t us)
{
    int64_t times = us / RATE_LIMIT_SHORT_US;
    if (times >= RATE_LIMIT_LONG_TIMES) {
        return us * RATE_LIMIT_LONG_TIMES;
    }
    return times > 0 ? us * us / RATE_LIMIT_SHORT_US : us;
}

void rate_limit_take_message(struct rate_limit *rate_limit, int64_t us,
                             int64_t further_us)
{
    token_bucket_take(&rate_limit->work, price_of(us) + further_us);
    rate_limit->work_us += (uint64_t)(us + further_us);
}

void rate_limit_take_idle(struct rate_limit *rate_limit, int64_t us)
{
    rate_limit->work_us += (uint64_t)us;
}

int64_t rate_limit_ready_ms(const struct rate_limit *rate_limit)
{
    return token_bucket_ready_ms(&rate_limit->work);
}

bool rate_limit_is_out(struct rate_limit *rate_limit, int64_t now_ms)
{
    if (rate_limit->out_until_ms > now_ms) {
        return true;
    }
    if (rate_limit->out_until_ms != 0) {
        rate_limit->out_until_ms = 0;
        rate_limit->refused.at_ms = now_ms; /* nothing was gained while it was out */
    }
    return false;
}

bool rate_limit_refuse(struct rate_limit *rate_limit, int64_t now_ms)
{
    rate_limit->n_refused++;
    if (rate_limit_is_out(rate_limit, now_ms)) {
        return false;
    }
    if (token_bucket_refill(&rate_limit->refused, now_ms) >= RATE_LIMIT_REFUSED_MOST) {
        rate_limit->out_ms = 0; /* well-behaved for long enough: starts afresh */
    }
    token_bucket_take(&rate_limit->refused, 1);
    if (rate_limit->refused.left > 0) {
        return false;
    }
    rate_limit->out_ms =
        rate_limit->out_ms == 0 ? RATE_LIMIT_OUT_MS_MIN : 2 * rate_limit->out_ms;
    if (rate_limit->out_ms > RATE_LIMIT_OUT_MS_MAX) {
        rate_limit->out_ms = RATE_LIMIT_OUT_MS_MAX;
    }
    rate_limit->out_until_ms = now_ms + rate_limit->out_ms;
    rate_limit->n_out++;
    return true;
}
