/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h: the one timer of a daemon's step machine: when it wants to be stepped though
 * nothing has come.
 *
 * zloop (CZMQ 4.2.1) walks its timers anew when a handler adds one, and takes ended
 * ones off only after that: one that is overdue is called again in the turn that ended
 * it. So whoever ends a timer asks in its handler whether the number is still the one
 * it has, and gives it no argument that may be gone.
 *
 * A poll may be interrupted; then zloop_start returns 0, and daemons start the loop
 * again. From then on this zloop takes an ended timer off at once, also the one whose
 * handler it is in (CZMQ issue 2278, mended after 4.2.1). So no handler ends its own
 * timer: one that may have enough is called once, and sets itself anew.
 *
 * Units: milliseconds of daemon_now_ms. A moment that has passed is taken soon, never
 * at once: the loop sees to its sockets in between.
 * Ownership: embedded; `wake_release` before the loop goes. Layer: sys. */
#ifndef SUBLET_SYS_WAKE_H
#define SUBLET_SYS_WAKE_H

#include <czmq.h>
#include <stdint.h>

typedef void (*wake_fn)(void *arg);

struct wake {
    zloop_t *loop;
    wake_fn fn;
    void *arg;
    int64_t armed_ms; /* what the timer waits for; INT64_MAX: there is no timer */
    int timer_id;     /* -1: none */
};

void wake_init(struct wake *wake, zloop_t *loop, wake_fn fn, void *arg);
void wake_release(struct wake *wake);
/* The next call of `fn`, instead of the one that was set; INT64_MAX: none. */
void wake_set(struct wake *wake, int64_t at_ms);

#endif
