/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c: see quota.h. */
#include "model/quota.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/value.h"

#define DAY_MS (24 * QUOTA_HOUR_MS)

int64_t quota_month_ms(int64_t at_ms)
{
    return at_ms - at_ms % DAY_MS - (value_day_of_month(at_ms) - 1) * DAY_MS;
}

void quota_use(struct quota *quota, int n_used, int64_t now_ms)
{
    if (now_ms < quota->booked_ms && quota->booked_ms - now_ms > QUOTA_HOUR_MS) {
        quota->booked_ms = now_ms; /* the clock was wrong until now */
    }
    int64_t until_ms = now_ms > quota->booked_ms ? now_ms : quota->booked_ms;
    int64_t month_ms = quota_month_ms(until_ms);
    if (month_ms != quota->month_ms) {
        quota->month_ms = month_ms;
        quota->used_ms = 0;
        quota->booked_ms = quota->booked_ms > month_ms ? quota->booked_ms : month_ms;
    }
    quota->used_ms += quota->n_used * (until_ms - quota->booked_ms);
    quota->booked_ms = until_ms;
    quota->n_used = n_used;
}

static int64_t hour_of(const struct quota *quota)
{
    return quota->hour_ms > 0 ? quota->hour_ms : QUOTA_HOUR_MS;
}

/* Slot-milliseconds of which a level begins. */
static int64_t limit_ms(const struct quota *quota, enum quota_level level)
{
    int64_t all_ms = quota->n_hours * hour_of(quota);
    return level == QUOTA_LOW ? all_ms / 100 * QUOTA_LOW_PERCENT : all_ms;
}

enum quota_level quota_level(const struct quota *quota)
{
    if (quota->n_hours == 0) {
        return QUOTA_FREE;
    }
    return quota->used_ms >= limit_ms(quota, QUOTA_SPENT) ? QUOTA_SPENT
           : quota->used_ms >= limit_ms(quota, QUOTA_LOW) ? QUOTA_LOW
                                                          : QUOTA_FREE;
}

int64_t quota_wake_ms(const struct quota *quota)
{
    if (quota->n_hours == 0) {
        return INT64_MAX;
    }
    int64_t wake_ms = quota_month_ms(quota->month_ms + 31 * DAY_MS);
    enum quota_level level = quota_level(quota);
    if (level != QUOTA_SPENT && quota->n_used > 0) {
        int64_t left_ms = limit_ms(quota, level + 1) - quota->used_ms;
        int64_t at_ms =
            quota->booked_ms + (left_ms + quota->n_used - 1) / quota->n_used;
        wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    }
    return wake_ms;
}

void quota_format(const struct quota *quota, char text[QUOTA_TEXT_SIZE])
{
    int64_t tenths = quota->used_ms * 10 / hour_of(quota);
    char date[32];
    value_format_instant(quota->month_ms, date);
    snprintf(text, QUOTA_TEXT_SIZE,
             "%" PRId64 ".%" PRId64 " of %" PRId64 " slot hours of %.7s (HOURS)",
             tenths / 10, tenths % 10, quota->n_hours, date);
}
