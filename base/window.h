/* SPDX-License-Identifier: Apache-2.0 */
/* window.h: times of a week, as in RUN_WINDOW, DISPATCH_WINDOW and #if time(...).
 *
 *     20:00-8:30            every day, over midnight
 *     8-12 13-17            hours alone; several windows, separated by blanks
 *     5:18:30-1:8:30        from Friday evening to Monday morning; 0 and 7 are Sunday
 *
 * A window is open from its first minute up to, not including, its last.
 *
 * Units: milliseconds of local time since the local 1970-01-01 00:00, a Thursday. Pure
 * code knows no time zone: the caller adds the offset.
 * Ownership: in conf's arena. Source: LSF's lsb.queues. Layer: base. */
#ifndef SUBLET_BASE_WINDOW_H
#define SUBLET_BASE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { WINDOW_WEEK_MIN = 7 * 24 * 60 };

/* Minutes of the week, from Sunday 00:00; open in [from, to), which may extend over the
 * end of the week. */
struct window {
    int from, to;
};

struct window_list {
    const struct window *items;
    int n_items;      /* no windows: always open */
    const char *text; /* as written; NULL: not given */
};

/* ERR_PARSE with what was expected; `list` is unchanged then. */
int window_read(struct arena *arena, const char *text, struct window_list *list,
                struct err *err) MUST_CHECK;

bool window_is_open(const struct window_list *list, int64_t local_ms);
/* The next time at which a window begins or ends; INT64_MAX: none. */
int64_t window_next_ms(const struct window_list *list, int64_t local_ms);

#endif
