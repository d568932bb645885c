/* SPDX-License-Identifier: Apache-2.0 */
/* terminals.h: interactive jobs (-I, -Ip, -Is) and the connections of their users.
 *
 * Who submits one is connected with it, by the same connection; what it writes and is
 * given goes through here, from client to host and back, and nothing of it is kept: the
 * guard and the user's side see to it that all arrives (host/stdio/stdio_relay.h). The
 * connection's end is the job's end, wherever in its life it is. After a start of the
 * site, or a short while without a connection, the user's side comes back by itself;
 * where it does not within TERMINALS_PATIENCE_MS, the job ends too.
 *
 * On a borrowed host the streams go by the broker, from site to site; what is lost
 * there the two ends repair as elsewhere (docs/adr/0033).
 *
 * Units: milliseconds. Source: LSF's bsub -I, INTERACTIVE in lsb.queues. Layer: site.
 */
#ifndef SUBLET_SITE_TERMINALS_H
#define SUBLET_SITE_TERMINALS_H

#include "base/err.h"
#include "consumer/consumer.h"
#include "model/effect.h"
#include "sched/queue/queue.h"
#include "site/exchange/site_uplink.h"
#include "site/job/job.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

enum { TERMINALS_PATIENCE_MS = 60000 };

/* What the terminals look at and send through; all of it is borrowed. */
struct terminals_parts {
    const char *site; /* its name */
    const struct job_table *jobs;
    const struct runs *runs;
    struct host_table *hosts;
    const struct consumer *consumer;
    struct site_uplink *uplink;
};

struct terminals;
struct terminals *terminals_new(const struct terminals_parts *parts);
void terminals_free(struct terminals *terminals);

/* Whether a queue takes a job with this spec, and it could run at all. */
int terminals_check_queue(const struct queue_config *queue, const struct job_spec *spec,
                          struct err *err) MUST_CHECK;
int terminals_check(const struct terminals *terminals, const struct queue_config *queue,
                    const struct job_spec *spec, struct err *err) MUST_CHECK;

/* A job that `from` has submitted; nothing where it is not interactive. */
void terminals_add(struct terminals *terminals, const struct job *job,
                   const struct peer *from);
/* The site has started: jobs of before wait for their users. */
void terminals_start(struct terminals *terminals, int64_t now_ms);

/* STREAM_DOWN of a client; STREAM_UP of a host (its index), or of the provider of a
 * borrowed one (-1). */
void terminals_down(struct terminals *terminals, const struct peer *from,
                    const struct msg_stream_down *down, struct effects *effects);
void terminals_up(struct terminals *terminals, int host, const struct msg_stream_up *up,
                  struct effects *effects);
/* A client's connection has closed: takes the next job that was connected by it and is
 * now without a user. False: there is none. */
bool terminals_take_gone(struct terminals *terminals, uint64_t link, uint64_t *key);
/* Takes the next job whose user has not come back in time. False: there is none. */
bool terminals_take_late(struct terminals *terminals, int64_t now_ms, uint64_t *key);

/* The job waits again, and its reason says why. */
void terminals_requeued(struct terminals *terminals, const struct job *job,
                        struct effects *effects);

/* Tells users what has become of their jobs, and forgets ended jobs. */
void terminals_tick(struct terminals *terminals, int64_t now_ms,
                    struct effects *effects);
int64_t terminals_wake_ms(const struct terminals *terminals);

#endif
