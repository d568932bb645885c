/* SPDX-License-Identifier: Apache-2.0 */
/* resend.c: see resend.h. */
#include "base/resend.h"

void resend_begin(struct resend *resend, int64_t at_ms)
{
    *resend = (struct resend){.is_open = true, .next_ms = at_ms};
}

void resend_end(struct resend *resend)
{
    resend->is_open = false;
}

void resend_set_next(struct resend *resend, int64_t at_ms)
{
    resend->next_ms = at_ms;
}

int64_t resend_wait_ms(struct resend_waits waits, int n_sent)
{
    int64_t wait_ms = waits.first_ms;
    for (int i = 1; i < n_sent && wait_ms < waits.last_ms; i++) {
        wait_ms *= 2;
    }
    return wait_ms < waits.last_ms ? wait_ms : waits.last_ms;
}

void resend_sent(struct resend *resend, struct resend_waits waits, int64_t now_ms)
{
    resend->n_sent++;
    resend->next_ms = now_ms + resend_wait_ms(waits, resend->n_sent);
}

int64_t resend_wake_ms(const struct resend *resend)
{
    return resend->is_open ? resend->next_ms : INT64_MAX;
}
