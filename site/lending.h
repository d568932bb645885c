/* SPDX-License-Identifier: Apache-2.0 */
/* lending.h: what consumers ask of their runs on this site's hosts, and what they are
 * told. provider/ judges starts, runs.h has the executions; a consumer is the site that
 * the broker says a message is from, and sees no runs but its own.
 *
 * Every question has the one answer, ATTEMPT_STATE; an end is told again until its
 * consumer has it on record (ATTEMPT_ACK). Source: ARCHITECTURE 2, "Jobs" 7-9.
 * Layer: site. */
#ifndef SUBLET_SITE_LENDING_H
#define SUBLET_SITE_LENDING_H

#include "model/effect.h"
#include "site/run_table.h"

struct site;

/* START, ATTEMPT_ASK, ATTEMPT_CONTROL, ATTEMPT_ACK, OUTPUT_ASK; `msg->site` asks. */
void lending_start(struct site *site, const struct msg *msg, int64_t now_ms,
                   struct effects *effects);
void lending_ask(struct site *site, const struct msg *msg, struct effects *effects);
void lending_control(struct site *site, const struct msg *msg, int64_t now_ms,
                     struct effects *effects);
void lending_acknowledge(struct site *site, const struct msg *msg,
                         struct effects *effects);
void lending_output(struct site *site, const struct msg *msg, struct effects *effects);

/* A piece of output that a host has sent for a consumer's run. */
void lending_pass_output(struct site *site, const struct msg *msg,
                         struct effects *effects);
/* STREAM_DOWN of a consumer's user, STREAM_UP of a host (its index): passed on while
 * the run goes on; of another, or a run that is over, they are dropped. */
void lending_stream_down(struct site *site, const struct msg *msg,
                         struct effects *effects);
void lending_stream_up(struct site *site, int host, const struct msg_stream_up *up,
                       struct effects *effects);
/* Its use of slots has: it stands still, or does no more. */
void lending_count(struct site *site, const struct run *run);
/* A consumer's run has changed. */
void lending_run_changed(struct site *site, struct run *run, int64_t now_ms,
                         struct effects *effects);
/* The broker's session began: ends that are not acknowledged are told again now. */
void lending_session(struct site *site, int64_t now_ms);
void lending_tick(struct site *site, int64_t now_ms, struct effects *effects);

/* EVICT: the lease's consumer is lost, what it has there is ended; where the policy
 * still says so. */
void lending_evict(struct site *site, const struct msg_evict *evict, int64_t now_ms,
                   struct effects *effects);

#endif
