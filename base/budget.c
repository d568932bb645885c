/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c: see budget.h. */
#include "base/budget.h"

void budget_init(struct budget *budget, int64_t work_per_s, int64_t work_most)
{
    *budget = (struct budget){.out_until_ms = 0};
    token_bucket_init(&budget->work, work_per_s, work_most);
    token_bucket_init(&budget->refused, BUDGET_REFUSED_PER_S, BUDGET_REFUSED_MOST);
}

bool budget_may_work(struct budget *budget, int64_t now_ms)
{
    return token_bucket_refill(&budget->work, now_ms) > 0;
}

void budget_take_work(struct budget *budget, int64_t us)
{
    token_bucket_take(&budget->work, us);
    budget->work_us += (uint64_t)us;
}

static int64_t price_of(int64_t us)
{
    int64_t times = us / BUDGET_SHORT_US;
    if (times >= BUDGET_LONG_TIMES) {
        return us * BUDGET_LONG_TIMES;
    }
    return times > 0 ? us * us / BUDGET_SHORT_US : us;
}

void budget_take_message(struct budget *budget, int64_t us, int64_t further_us)
{
    token_bucket_take(&budget->work, price_of(us) + further_us);
    budget->work_us += (uint64_t)(us + further_us);
}

void budget_take_idle(struct budget *budget, int64_t us)
{
    budget->work_us += (uint64_t)us;
}

int64_t budget_ready_ms(const struct budget *budget)
{
    return token_bucket_ready_ms(&budget->work);
}

bool budget_is_out(struct budget *budget, int64_t now_ms)
{
    if (budget->out_until_ms > now_ms) {
        return true;
    }
    if (budget->out_until_ms != 0) {
        budget->out_until_ms = 0;
        budget->refused.at_ms = now_ms; /* nothing was gained while it was out */
    }
    return false;
}

bool budget_refuse(struct budget *budget, int64_t now_ms)
{
    budget->n_refused++;
    if (budget_is_out(budget, now_ms)) {
        return false;
    }
    if (token_bucket_refill(&budget->refused, now_ms) >= BUDGET_REFUSED_MOST) {
        budget->out_ms = 0; /* well-behaved for long enough: starts afresh */
    }
    token_bucket_take(&budget->refused, 1);
    if (budget->refused.left > 0) {
        return false;
    }
    budget->out_ms = budget->out_ms == 0 ? BUDGET_OUT_MS_MIN : 2 * budget->out_ms;
    if (budget->out_ms > BUDGET_OUT_MS_MAX) {
        budget->out_ms = BUDGET_OUT_MS_MAX;
    }
    budget->out_until_ms = now_ms + budget->out_ms;
    budget->n_out++;
    return true;
}
