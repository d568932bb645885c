/* SPDX-License-Identifier: Apache-2.0 */
/* pool_unused.c: see pool_unused.h.
 *
 * Example: a cycle of 30 s; a leaf owns 5 of 10 slots, and its job needs 8.
 *     0:30   5 slots are granted
 *     1:00   they are idle, and the job waits
 *     1:30   they still are: the demand is 0 now, and others get the slots
 *     11:30  the pause is over: 5 slots are recalled for it, and it fails again
 * As soon as 8 slots are idle that nobody else wants, it gets them and starts. */
#include "broker/pool/pool_unused.h"

enum { PAUSE_MS = 10 * 60 * 1000, PAUSE_MAX_MS = 60 * 60 * 1000, VANISHED_MIN = 2 };

static void try_again(struct pool_unused *unused)
{
    unused->is_capped = false;
    unused->since_ms = 0;
}

/* `asked`: what it wanted, and its quota then. */
static void give_up(struct pool_unused *unused, const struct plan_use *use,
                    struct pool_unused_asked asked, const struct pool_unused_look *look)
{
    unused->is_capped = true;
    unused->cap = look->n_used;
    bool is_again = unused->pause_ms > 0 && asked.quota <= unused->quota;
    unused->n_tried = is_again ? asked.quota : use->alloc;
    unused->quota = asked.quota;
    unused->n_waiting = asked.n_waiting;
    unused->needs = asked.needs;
    unused->session = look->session;
    unused->n_pool = look->n_pool;
    unused->news = look->news;
    unused->pause_ms =
        unused->pause_ms == 0 ? PAUSE_MS : plan_min(2 * unused->pause_ms, PAUSE_MAX_MS);
    unused->again_ms = look->now_ms + unused->pause_ms;
}

/* Jobs waited, the leaf got slots, and by then none of its jobs waits, and none has
 * started: its site has found that they cannot use the slots. They wait again as soon
 * as the slots are gone. Once is no sign: the jobs may have been killed. */
static bool has_vanished(struct pool_unused *unused, int64_t n_idle, bool has_started,
                         const struct pool_unused_asked *now,
                         struct pool_unused_asked *asked)
{
    *asked = unused->asked;
    if (has_started) {
        unused->asked.n_waiting = 0;
        unused->n_vanished = 0;
    } else if (n_idle <= 0 && now->n_waiting > 0) {
        unused->asked = *now;
    } else if (n_idle > 0 && now->n_waiting <= 0 && asked->n_waiting > 0) {
        unused->asked.n_waiting = 0;
        return ++unused->n_vanished >= VANISHED_MIN;
    }
    return false;
}

static bool has_changed(const struct pool_unused *unused, int64_t n_waiting,
                        const struct pool_unused_look *look)
{
    return n_waiting > unused->n_waiting || look->quota > unused->n_tried ||
           (n_waiting > 0 && look->needs != unused->needs) ||
           look->session != unused->session || look->n_pool > unused->n_pool ||
           look->news != unused->news || look->now_ms >= unused->again_ms;
}

struct pool_unused pool_unused_next(const struct pool_unused *before,
                                    const struct plan_use *use,
                                    const struct pool_unused_look *look)
{
    struct pool_unused unused = *before;
    int64_t n_waiting = use->demand - look->n_used;
    int64_t n_idle = use->alloc - look->n_granted - look->n_used;
    bool has_started = look->n_used > before->n_used;
    unused.n_used = look->n_used;
    const struct pool_unused_asked now = {n_waiting, look->quota, look->needs};
    struct pool_unused_asked asked;
    bool is_gone = has_vanished(&unused, n_idle, has_started, &now, &asked);
    if (unused.is_capped) {
        if (look->n_used > unused.cap) {
            unused.pause_ms = 0;
            try_again(&unused);
        } else if (has_changed(&unused, n_waiting, look)) {
            try_again(&unused);
        }
        if (n_idle <= 0) {
            unused.n_waiting = plan_min(unused.n_waiting, n_waiting);
        }
        return unused;
    }
    if (is_gone) {
        give_up(&unused, use, asked, look);
        return unused;
    }
    if (n_idle <= 0 || n_waiting <= 0 || look->n_granted > 0 || has_started ||
        look->is_collecting) {
        unused.since_ms = 0;
        unused.pause_ms = n_idle <= 0 && use->alloc > 0 ? 0 : unused.pause_ms;
        return unused;
    }
    if (unused.since_ms == 0) {
        unused.since_ms = look->now_ms;
    } else if (look->now_ms - unused.since_ms >= look->cycle_ms) {
        give_up(&unused, use, now, look);
    }
    return unused;
}
