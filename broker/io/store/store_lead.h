/* SPDX-License-Identifier: Apache-2.0 */
/* store_lead.h: which of several brokers on one database leads; part of store.h. A file
 * has one broker, which leads from the start.
 *
 * Once a store leads, each of its transactions checks its term. A store that leads no
 * more, or whose server does not come back, calls `dismissed`, from which it does not
 * return: nothing of the batch is sent, and what is in memory counts for nothing.
 * Source: broker/leader/leader.h; docs/design/interfaces.md "Command line". Layer:
 * broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_LEAD_H
#define SUBLET_BROKER_IO_STORE_STORE_LEAD_H

#include "broker/io/store/store.h"

/* Which broker leads, as the store says. */
struct store_leader {
    const char *name; /* its endpoint; "": none has renewed the lead in time */
    int64_t term;
    int64_t batch; /* the number of its latest transaction */
};

/* This broker, for the others: the endpoint that sites connect to. Before all else. */
void store_lead_set_self(struct store *store, const char *endpoint);

/* Tries to take the lead. 1: it leads; 0: another broker does, or none yet. `leader` is
 * in the arena. Connects again if need be. */
int store_lead_try(struct store *store, struct arena *arena,
                   struct store_leader *leader, struct err *err) MUST_CHECK;

typedef void store_dismissed_fn(void *arg, const struct err *why);
void store_lead_set_dismissed(struct store *store, store_dismissed_fn *fn, void *arg);
/* Each LEADER_RENEW_MS. */
void store_lead_renew(struct store *store);
/* At an orderly end: a standby need not wait. `steps_down`: this broker goes on as a
 * standby, and leaves the lead to another one for LEADER_STEP_DOWN_MS. */
void store_lead_leave(struct store *store, bool steps_down);

/* The brokers of the store, by endpoint, as the JSON of `sublet brokers`, in the arena.
 * A file has this one. */
int store_lead_list(struct store *store, struct arena *arena, struct value **value,
                    struct err *err) MUST_CHECK;
struct store_lead_state {
    int64_t term;   /* of the broker that leads; 0: a file's, or none does */
    int n_standbys; /* that have renewed their row within LEADER_STALE_MS: they can
                       lead */
};
int store_lead_read(struct store *store, struct store_lead_state *state,
                    struct err *err) MUST_CHECK;

#endif
