/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c: see wake.h. */
#include "sys/wake.h"

#include "sys/daemon.h"

enum {
    DELAY_MIN_MS = 1, /* prevents a busy loop */
    DELAY_MAX_MS = 3600 * 1000,
};

static int on_timer(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    struct wake *wake = arg;
    if (timer_id != wake->timer_id) {
        return 0; /* already ended in this iteration */
    }
    wake->timer_id = -1;
    wake->armed_ms = INT64_MAX;
    wake->fn(wake->arg);
    return 0;
}

void wake_init(struct wake *wake, zloop_t *loop, wake_fn fn, void *arg)
{
    *wake = (struct wake){
        .loop = loop, .fn = fn, .arg = arg, .armed_ms = INT64_MAX, .timer_id = -1};
}

void wake_release(struct wake *wake)
{
    wake_set(wake, INT64_MAX);
}

void wake_set(struct wake *wake, int64_t at_ms)
{
    if (at_ms == wake->armed_ms) {
        return;
    }
    if (wake->armed_ms != INT64_MAX) {
        zloop_timer_end(wake->loop, wake->timer_id);
        wake->timer_id = -1;
    }
    wake->armed_ms = at_ms;
    if (at_ms == INT64_MAX) {
        return;
    }
    int64_t now_ms = daemon_now_ms();
    int64_t delay_ms = at_ms > now_ms ? at_ms - now_ms : 0;
    delay_ms = delay_ms < DELAY_MIN_MS ? DELAY_MIN_MS : delay_ms;
    delay_ms = delay_ms > DELAY_MAX_MS ? DELAY_MAX_MS : delay_ms;
    wake->timer_id = zloop_timer(wake->loop, (size_t)delay_ms, 1, on_timer, wake);
}
