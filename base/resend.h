/* SPDX-License-Identifier: Apache-2.0 */
/* resend.h: when a message is sent again until it is answered.
 *
 * A sender keeps one struct resend for each message that needs an answer, and sends
 * whenever resend_wake_ms() has come. The wait after a send doubles each time, up to an
 * upper bound: a receiver that does not answer is most likely busy.
 *
 * What fails is tried again after the same waits (resend_wait_ms): a program that ends,
 * a connection, an attempt that a provider refuses.
 *
 * Units: milliseconds. Layer: base. */
#ifndef SUBLET_BASE_RESEND_H
#define SUBLET_BASE_RESEND_H

#include <stdbool.h>
#include <stdint.h>

/* The wait after the first send, and the upper bound; first_ms <= last_ms. */
struct resend_waits {
    int64_t first_ms, last_ms;
};

struct resend {
    bool is_open; /* waits for an answer */
    int n_sent;   /* since resend_begin */
    int64_t next_ms;
};

/* The message is to be sent from this instant on. */
void resend_begin(struct resend *resend, int64_t at_ms);
/* The answer has arrived, or is no longer needed. */
void resend_end(struct resend *resend);
/* Moves the next send; the waits after it do not change. */
void resend_set_next(struct resend *resend, int64_t at_ms);
/* The message was sent now. */
void resend_sent(struct resend *resend, struct resend_waits waits, int64_t now_ms);

/* Time of the next send; INT64_MAX if none is open. */
int64_t resend_wake_ms(const struct resend *resend);

/* The wait after the send number n_sent >= 1. */
int64_t resend_wait_ms(struct resend_waits waits, int n_sent);

#endif
