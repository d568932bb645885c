/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h: the one timer of a daemon's step machine, for steps without an event.
 *
 * zloop (CZMQ 4.2.1) restarts its walk over the timers when a handler adds one, and
 * removes ended timers only after that: an overdue one is called again in the iteration
 * that ended it. So a handler must check that the timer's number is still its own, and
 * its argument must stay valid.
 *
 * A poll may be interrupted; then zloop_start returns 0, and daemons start the loop
 * again. From then on this zloop removes an ended timer at once, even while its handler
 * runs (CZMQ issue 2278, fixed after 4.2.1). So no handler ends its own timer: such a
 * timer is set for one call, and sets itself again.
 *
 * Units: milliseconds of daemon_now_ms. A time in the past is served after a minimum
 * delay, so that the loop serves its sockets in between. Ownership: embedded;
 * `wake_release` before the loop is destroyed. Layer: sys. */
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
/* Sets the next call of `fn`, instead of an earlier one; INT64_MAX: none. */
void wake_set(struct wake *wake, int64_t at_ms);

#endif
