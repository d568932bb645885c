/* SPDX-License-Identifier: Apache-2.0 */
/* lending.h: what consumers ask of their runs on this site's hosts, and what they are
 * told. provider/ judges starts, runs.h has the executions; a consumer is the site that
 * the broker says a message is from, and sees no runs but its own.
 *
 * Every question has the one answer, ATTEMPT_STATE; an end is told again until its
 * consumer has it on record (ATTEMPT_ACK). Source: ARCHITECTURE 2, "Jobs" 7-9.
 * Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_LENDING_H
#define SUBLET_SITE_EXCHANGE_LENDING_H

#include "model/effect.h"
#include "provider/provider.h"
#include "site/exchange/site_uplink.h"
#include "site/job/history.h"
#include "site/pass_request.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

/* What it works on; all of it is borrowed. */
struct lending_parts {
    const char *site; /* its name */
    struct runs *runs;
    struct host_table *hosts;
    struct provider *provider;
    struct site_uplink *uplink;
    struct history *history;
    struct pass_request *pass_request;
};

struct lending;
struct lending *lending_new(const struct lending_parts *parts);
void lending_free(struct lending *lending);

/* START, ATTEMPT_ASK, ATTEMPT_CONTROL, ATTEMPT_ACK, OUTPUT_ASK; `msg->site` asks. */
void lending_start(struct lending *lending, const struct msg *msg, int64_t now_ms,
                   struct effects *effects);
void lending_attempt_ask(struct lending *lending, const struct msg *msg,
                         struct effects *effects);
void lending_attempt_control(struct lending *lending, const struct msg *msg,
                             int64_t now_ms, struct effects *effects);
void lending_attempt_ack(struct lending *lending, const struct msg *msg,
                         struct effects *effects);
void lending_output_ask(struct lending *lending, const struct msg *msg,
                        struct effects *effects);

/* A piece of output that a host has sent for a consumer's run. */
void lending_forward_output(struct lending *lending, const struct msg *msg,
                            struct effects *effects);
/* STREAM_DOWN of a consumer's user, STREAM_UP of a host (its index): passed on while
 * the run goes on; of another, or a run that is over, they are dropped. */
void lending_stream_down(struct lending *lending, const struct msg *msg,
                         struct effects *effects);
void lending_stream_up(struct lending *lending, int host,
                       const struct msg_stream_up *up, struct effects *effects);
/* Its use of slots has: it stands still, or does no more. */
void lending_count_use(struct lending *lending, const struct run *run);
/* A consumer's run has changed. */
void lending_run_changed(struct lending *lending, struct run *run, int64_t now_ms,
                         struct effects *effects);
/* The broker's session began: ends that are not acknowledged are told again now. */
void lending_new_session(struct lending *lending, int64_t now_ms);
void lending_tick(struct lending *lending, int64_t now_ms, struct effects *effects);
int64_t lending_wake_ms(const struct lending *lending);

/* EVICT: the lease's consumer is lost, what it has there is ended; where the policy
 * still says so. */
void lending_evict(struct lending *lending, const struct msg_evict *evict,
                   int64_t now_ms, struct effects *effects);

#endif
