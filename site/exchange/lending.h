/* SPDX-License-Identifier: Apache-2.0 */
/* lending.h: runs of consumers on this site's hosts: the requests of consumers, and the
 * reports to them. provider/ decides on starts, runs.h has the runs. The consumer is
 * the site that the broker names as the sender; it can only reach its own runs.
 *
 * Every request is answered by ATTEMPT_STATE. The end of a run is reported again until
 * its consumer has acknowledged it (ATTEMPT_ACK). Source: docs/design/safety.md "Jobs"
 * 7-9. Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_LENDING_H
#define SUBLET_SITE_EXCHANGE_LENDING_H

#include "model/effect.h"
#include "provider/provider.h"
#include "site/exchange/site_uplink.h"
#include "site/job/history.h"
#include "site/pass/pass_request.h"
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

/* START, ATTEMPT_ASK, ATTEMPT_CONTROL, ATTEMPT_ACK, OUTPUT_ASK and STREAM_DOWN of the
 * consumer `msg->site`. A message about a run of another site is ignored. */
void lending_request(struct lending *lending, const struct msg *msg, int64_t now_ms,
                     struct effects *effects);

/* A host has sent output of a consumer's run: it is forwarded. */
void lending_forward_output(struct lending *lending, const struct msg *msg,
                            struct effects *effects);
/* STREAM_UP of a host (its index): it is forwarded until the run ends. */
void lending_stream_up(struct lending *lending, int host,
                       const struct msg_stream_up *up, struct effects *effects);
/* Tells the provider whether the run uses its slots, or is suspended. */
void lending_count_use(struct lending *lending, const struct run *run);
/* The run of a consumer has changed. */
void lending_run_changed(struct lending *lending, struct run *run, int64_t now_ms,
                         struct effects *effects);
/* A session with the broker begins: all ends that are not acknowledged are sent again.
 */
void lending_new_session(struct lending *lending, int64_t now_ms);
void lending_tick(struct lending *lending, int64_t now_ms, struct effects *effects);
int64_t lending_wake_ms(const struct lending *lending);

/* EVICT: the consumer of the lease is lost. Its runs are ended if the policy still says
 * so. */
void lending_evict(struct lending *lending, const struct msg_evict *evict,
                   int64_t now_ms, struct effects *effects);

#endif
