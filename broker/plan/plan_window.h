/* SPDX-License-Identifier: Apache-2.0 */
/* plan_window.h: the time windows of a pool: which plan is in force when.
 *
 * The windows divide a day without gap or overlap. One may go over midnight.
 *
 * Units: minutes of the day, 0 .. 1440; instants in milliseconds, the day's beginning
 * at a multiple of 24 h (the shell adds its time zone).
 * Source: docs/design/plans.md "Windows", "Model"; docs/design/interfaces.md
 * "Configuration". Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_WINDOW_H
#define SUBLET_BROKER_PLAN_PLAN_WINDOW_H

#include <stdint.h>

#include "base/err.h"

enum { PLAN_DAY_MIN = 1440 };

struct plan_window {
    const char *name;
    int from_min, to_min; /* to <= from: over midnight */
};

/* "08:30", "24:00". ERR_PARSE with "..., expected ...". */
int plan_window_parse(const char *text, int *minute, struct err *err) MUST_CHECK;

/* ERR_STATE with the first gap or overlap, if they do not divide the day. */
int plan_window_check(const struct plan_window *windows, int n_windows,
                      struct err *err) MUST_CHECK;

/* The index of the window in force; the windows divide the day. */
int plan_window_at(const struct plan_window *windows, int n_windows, int64_t now_ms);

/* When another window begins; INT64_MAX if there is only one. */
int64_t plan_window_end_ms(const struct plan_window *windows, int n_windows,
                           int64_t now_ms);

#endif
