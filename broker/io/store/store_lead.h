/* SPDX-License-Identifier: Apache-2.0 */
/* store_lead.h: which of several brokers on one database leads; part of store.h. A file
 * has one broker, which leads from the start.
 *
 * Once a store leads, each of its transactions checks its term. A store that leads no
 * more, or whose server does not come back, calls `dismissed`, from which it does not
 * return: nothing of the batch is sent, and what is in memory counts for nothing.
 * Source: broker/leader/leader.h. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_LEAD_H
#define SUBLET_BROKER_IO_STORE_STORE_LEAD_H

#include "broker/io/store/store.h"

/* Which broker leads, as the store says. */
struct store_leader {
    const char *name; /* its endpoint; "": none has renewed the lead in time */
    int64_t term;
};

/* Tries to take the lead under this name, which is the endpoint that sites connect to.
 * 1: it leads; 0: another broker does, or none yet. `leader` is in the arena. Connects
 * again if need be. */
int store_lead_try(struct store *store, const char *name, struct arena *arena,
                   struct store_leader *leader, struct err *err) MUST_CHECK;

typedef void store_dismissed_fn(void *arg, const struct err *why);
void store_lead_set_dismissed(struct store *store, store_dismissed_fn *fn, void *arg);
/* Each LEADER_RENEW_MS. */
void store_lead_renew(struct store *store);
/* At an orderly end: a standby need not wait. */
void store_lead_leave(struct store *store);

#endif
