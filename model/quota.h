/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h: HOURS: the slot hours that jobs use in a calendar month, against a bound.
 *
 * Slots in use are added up exactly, in slot-milliseconds. With the first millisecond
 * of a month (UTC) nothing of it is used. A clock that goes back by an hour or less
 * counts nothing until it is where it was; one that goes back further was wrong before,
 * and what follows is counted by the new time.
 *
 * Units: milliseconds of the wall clock, slot-milliseconds. Ownership: none.
 * Source: docs/usage.md "Quotas". Layer: model. */
#ifndef SUBLET_MODEL_QUOTA_H
#define SUBLET_MODEL_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_HOUR_MS (INT64_C(60) * 60 * 1000)
enum { QUOTA_LOW_PERCENT = 80 };

enum quota_level { QUOTA_FREE, QUOTA_LOW, QUOTA_SPENT };

struct quota {
    int64_t n_hours;           /* of slots; 0: no bound */
    int64_t month_ms, used_ms; /* when the month began; slot-milliseconds since then */
    int64_t booked_ms;         /* until when they are added up */
    int n_used;                /* slots that are in use from then on */
    int64_t hour_ms;           /* of simulated worlds; 0: QUOTA_HOUR_MS */
};

/* The beginning of the month that has this instant. */
int64_t quota_month_ms(int64_t at_ms);
/* Adds up until now; from now on so many slots are in use. */
void quota_use(struct quota *quota, int n_used, int64_t now_ms);
enum quota_level quota_level(const struct quota *quota);
/* When the level changes next, or the month is over, if nothing else happens. */
int64_t quota_wake_ms(const struct quota *quota);

/* "82.5 of 100 slot hours of 2026-11 (HOURS)". */
enum { QUOTA_TEXT_SIZE = 96 };
void quota_format(const struct quota *quota, char text[QUOTA_TEXT_SIZE]);

#endif
