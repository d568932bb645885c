/* SPDX-License-Identifier: Apache-2.0 */
/* broker_parts.h: the parts that the broker composes, for the files that answer
 * messages and for the listings. The parts themselves never include this header.
 *
 * Layer: broker. */
#ifndef SUBLET_BROKER_BROKER_PARTS_H
#define SUBLET_BROKER_BROKER_PARTS_H

#include "broker/broker.h"
#include "broker/lease/lease.h"
#include "broker/member/member.h"
#include "broker/pool/pool_table.h"
#include "broker/revision.h"

/* How far the store was behind what sites know of it; see broker_loss.c. */
struct broker_loss {
    uint64_t commits;
    uint64_t lost;    /* until it is accepted */
    bool is_accepted; /* --accept-loss: what is missing is no alarm in this run */
};

struct broker {
    struct members members;
    struct lease_table leases;
    struct reclaim_delays reclaim_delays;
    struct pool_table pools;
    struct revision revision;
    struct handover_limiter handover_limiter;
    struct streams streams; /* of all sites */
    uint64_t boot;          /* number of starts from this disk */
    int64_t started_ms;
    bool has_started; /* otherwise it is a copy for readers, which knows no sessions */
    struct broker_loss loss;
    int64_t n_asked_nodes; /* broker_take_asked_nodes */
    int64_t hour_ms;       /* as in struct quota */
    int n_unconfirmed;     /* leases from disk that a site has not confirmed yet */
};

/* -------------------------------------------------------------- broker_due.c */

/* The lease is looked at as soon as that time has come. */
void broker_due_set(struct broker *broker, struct lease *lease, int64_t now_ms);
/* Does what is due about the lease, and sets its timer for what comes next. The
 * rebalance rule is applied only at the end of a batch (`may_rebalance`), by all that
 * was reported until then. */
void broker_due_run(struct broker *broker, struct lease *lease, bool may_rebalance,
                    int64_t now_ms, struct effects *effects);
/* The reclaim delay in force, once the provider's configuration is known. */
void broker_due_set_delay(const struct broker *broker, struct lease *lease,
                          int64_t now_ms);

/* --------------------------------------------------------- broker_presence.c */

/* The member is here, or is lost. The consequences for its leases follow as their
 * timers expire, which are set to now. */
void broker_presence_begin(struct broker *broker, struct member *member, int64_t now_ms,
                           struct effects *effects);
void broker_presence_end(struct broker *broker, struct member *member, int64_t now_ms,
                         struct effects *effects);

/* --------------------------------------------------------- broker_messages.c */

void broker_messages_step(struct broker *broker, const struct event *event,
                          struct effects *effects);

/* Handlers of messages. `member` is the sender; NULL if the message is a client's
 * request outside of sessions. */

/* ------------------------------------------------------------ broker_drain.c */

/* The consequences for the leases are applied as their timers expire, which are set to
 * now. */
void broker_drain_set(struct broker *broker, struct member *member,
                      const struct event *event, struct effects *effects);

/* ------------------------------------------------------------- broker_loss.c */

void broker_loss_load(struct broker_loss *loss, const struct row_counter *counter);
void broker_loss_start(struct broker_loss *loss, struct effects *effects);
/* HELLO: the broker's store had so many commits when that site last heard of it. */
void broker_loss_learn(struct broker_loss *loss, uint64_t known, const char *site,
                       struct effects *effects);
/* At the end of a batch. */
void broker_loss_count_commit(struct broker_loss *loss, struct effects *effects);

/* --------------------------------------------------------- broker_requests.c */

void broker_requests_query(struct broker *broker, struct member *member,
                           const struct event *event, struct effects *effects);

/* A piece of a copy of the store, which the shell makes; administrators only. */
void broker_requests_snapshot(struct broker *broker, struct member *member,
                              const struct event *event, struct effects *effects);

/* The shell is to read the configuration again; administrators only. */
void broker_requests_reconfig(struct broker *broker, struct member *member,
                              const struct event *event, struct effects *effects);
void broker_requests_step_down(struct broker *broker, struct member *member,
                               const struct event *event, struct effects *effects);

/* True if an override was set or removed: delays in force may have changed. */
bool broker_requests_set_reclaim(struct broker *broker, const struct event *event,
                                 struct effects *effects);

/* The lease's provider and an administrator may do `what` with it. ERR_NOT_FOUND if it
 * is NULL, since there is none of that name; ERR_DENIED. */
int broker_requests_check_right(const struct peer *from, const struct lease *lease,
                                const char *name, const char *what,
                                struct err *err) MUST_CHECK;

/* -------------------------------------------------------- broker_rebalance.c */

void broker_rebalance(struct broker *broker, struct member *member,
                      const struct event *event, struct effects *effects);

/* ------------------------------------------------------------------- relay.c */

void relay_to_provider(struct broker *broker, struct member *consumer,
                       const struct event *event, struct effects *effects);
/* Between the two sites of the lease that is named, either way. */
void relay_to_other(struct broker *broker, struct member *member,
                    const struct event *event, struct effects *effects);
void relay_to_consumer(struct broker *broker, struct member *provider,
                       const struct event *event, struct effects *effects);

/* ------------------------------------------------------------- state_apply.c */

/* The lease that the STATE is about, for which the caller does what is due; NULL if the
 * STATE was refused, or is about no lease in the table. */
struct lease *state_apply(struct broker *broker, struct member *provider,
                          const struct event *event, struct effects *effects);

/* Ends a lease whose provider may not be one any more, by the configuration. If that
 * changes and the provider states the lease, it is registered again, under any epoch.
 */
void state_apply_check_members(struct lease *lease, int64_t now_ms,
                               struct effects *effects);

#endif
