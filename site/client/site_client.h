/* SPDX-License-Identifier: Apache-2.0 */
/* site_client.h: clients of the site that are connected and wait for something: waiters
 * get one answer later (waiters.c, wait.c), terminals carry the input and the output of
 * interactive jobs (terminals.c).
 *
 * Bounded: WAITERS_MAX waiters, TERMINALS_MAX terminals (terminals.c).
 * Units: milliseconds. Order: waiters in the order in which they came. Layer: site. */
#ifndef SUBLET_SITE_CLIENT_SITE_CLIENT_H
#define SUBLET_SITE_CLIENT_SITE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "consumer/consumer.h"
#include "model/effect.h"
#include "sched/queue/queue.h"
#include "site/exchange/site_uplink.h"
#include "site/job/job.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

/* ---------------------------------------------------------------- one answer, later */

enum waiter_kind {
    WAITER_JOB,    /* key: of the job; with index 0, of the whole array */
    WAITER_OUTPUT, /* key: number of this site's request */
    WAITER_BROKER, /* likewise */
};

struct waiter {
    enum waiter_kind kind;
    uint64_t key;
    uint64_t link;       /* the client's connection ... */
    uint64_t request;    /* ... and its own number */
    uint64_t job;        /* OUTPUT: the key of the job */
    int64_t deadline_ms; /* INT64_MAX: none */
};

struct waiters;
struct waiters *waiters_new(void);
void waiters_free(struct waiters *waiters);

/* False: there are too many. */
bool waiters_add(struct waiters *waiters, const struct waiter *waiter);
/* Removes the first waiter of that kind and key, or the first one whose deadline has
 * passed. False: there is none. */
bool waiters_take(struct waiters *waiters, enum waiter_kind kind, uint64_t key,
                  struct waiter *waiter);
bool waiters_take_late(struct waiters *waiters, int64_t now_ms, struct waiter *waiter);
void waiters_remove_link(struct waiters *waiters, uint64_t link);
/* Makes the deadline of all waiters of that kind pass, as their answer will not come.
 */
void waiters_expire(struct waiters *waiters, enum waiter_kind kind, int64_t now_ms);
int64_t waiters_wake_ms(const struct waiters *waiters);

/* A number for a request of this site, at least WAITERS_REQUEST_MIN. Other parts that
 * number requests to the same peers (consumer/) use lower numbers. */
#define WAITERS_REQUEST_MIN (UINT64_C(1) << 62)
uint64_t waiters_next_request(struct waiters *waiters);

/* ---------------------------------------------------------------- the end of a job */

/* WAIT: the client is answered when its job has ended. */
void wait_request(struct waiters *waiters, const struct job_table *jobs,
                  const struct peer *from, const struct msg_wait *wait,
                  struct effects *effects);
/* Answers all clients that wait for the end of this job, or of its whole array. */
void wait_job_ended(struct waiters *waiters, const struct job *job,
                    struct effects *effects);

/* ---------------------------------------------------------------- interactive jobs */

/* Interactive jobs (-I, -Ip, -Is) and the connections of their users.
 *
 * A user who submits one is connected with it by the same connection. The job's input
 * and output pass through here, between the client and the host, and nothing of them is
 * stored: the guard and the client see to it that all of it arrives
 * (host/guard_stream.h). When the connection ends, the job is ended, in whatever state
 * it is. After a restart of the site, or a short interruption, the client reconnects by
 * itself; if it does not within TERMINALS_PATIENCE_MS, the job is ended too.
 *
 * On a borrowed host the streams pass through the broker, from site to site; the two
 * ends repair what is lost there as elsewhere (docs/adr/0014).
 *
 * Source: LSF's bsub -I, INTERACTIVE in lsb.queues. */
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

/* Whether the queue accepts jobs with this spec, and whether they could run at all. */
int terminals_check_queue(const struct queue_config *queue, const struct job_spec *spec,
                          struct err *err) MUST_CHECK;
int terminals_check(const struct terminals *terminals, const struct queue_config *queue,
                    const struct job_spec *spec, struct err *err) MUST_CHECK;

/* `from` has submitted the job. Does nothing if the job is not interactive. */
void terminals_add(struct terminals *terminals, const struct job *job,
                   const struct peer *from);
/* The site has started: the interactive jobs in its journal wait for their users. */
void terminals_start(struct terminals *terminals, int64_t now_ms);

/* STREAM_DOWN of a client; STREAM_UP of a host (its index), or of the provider of a
 * borrowed one (-1). */
void terminals_stream_down(struct terminals *terminals, const struct peer *from,
                           const struct msg_stream_down *down, struct effects *effects);
void terminals_stream_up(struct terminals *terminals, int host,
                         const struct msg_stream_up *up, struct effects *effects);
/* A client's connection has closed: takes the next job that was connected by it and is
 * now without a user. False: there is none. */
bool terminals_take_gone(struct terminals *terminals, uint64_t link, uint64_t *key);
/* Takes the next job whose user has not come back in time. False: there is none. */
bool terminals_take_late(struct terminals *terminals, int64_t now_ms, uint64_t *key);

/* The job is pending again, for the reason that it has. */
void terminals_tell_requeue(struct terminals *terminals, const struct job *job,
                            struct effects *effects);

/* Tells users what has become of their jobs, and forgets ended jobs. */
void terminals_tick(struct terminals *terminals, int64_t now_ms,
                    struct effects *effects);
int64_t terminals_wake_ms(const struct terminals *terminals);

#endif
