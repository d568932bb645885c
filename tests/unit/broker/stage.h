/* SPDX-License-Identifier: Apache-2.0 */
/* stage.h: a broker on a stage: its disk in memory, its clock in the test's hands, and
 * sites that say what the test lets them say.
 *
 * Every stage_say and stage_wait steps the broker, ends the batch with a tick as a
 * shell does, keeps what was stored and shows what was sent by that batch (until the
 * next). The members are north (provider, consumer), south and west (consumer), ops
 * (admin). */
#ifndef SUBLET_TESTS_UNIT_BROKER_STAGE_H
#define SUBLET_TESTS_UNIT_BROKER_STAGE_H

#include "broker/broker.h"
#include "model/effect.h"

struct stage {
    struct broker *broker;
    int64_t now_ms;
    struct effects effects; /* of the latest batch */
    struct arena disk;
    const struct plan_pools *pools;
    int max_leases;   /* of the row of north; 0: not given */
    struct row *rows; /* of every key the latest; history whole */
    int n_rows, capacity;
};

enum { STAGE_LOST_AFTER_MS = 15000, STAGE_DELAY_MS = 60000 };

void stage_open(struct stage *stage);
/* With these pools, which live as long. */
void stage_open_pools(struct stage *stage, const struct plan_pools *pools);
/* The broker takes other pools over while it runs; NULL: none. */
void stage_reload(struct stage *stage, const struct plan_pools *pools);
void stage_close(struct stage *stage);
/* The broker is killed, and starts again from its disk. */
void stage_restart(struct stage *stage);

/* A message of that site, in that session. */
void stage_say(struct stage *stage, const char *site, uint64_t session,
               const struct msg *msg);
/* The same, of any peer. */
void stage_say_as(struct stage *stage, const struct peer *peer, const struct msg *msg);
void stage_hello(struct stage *stage, const char *site, uint64_t session);
void stage_usage(struct stage *stage, const char *site, uint64_t session, uint64_t seq);
/* Time passes, tick by tick, as broker_wake_ms asks for it; shows the last tick. Sites
 * of the list (names and sessions, ended by a NULL name) keep sending USAGE. */
void stage_wait(struct stage *stage, int64_t ms);
/* Until the next tick that the broker asks for, so that nothing it sends is missed. */
void stage_wait_next(struct stage *stage);
void stage_wait_with(struct stage *stage, int64_t ms, const char *const *sites,
                     uint64_t session);

/* The n-th message (from 0) of that kind to that site in the latest batch, or NULL. */
const struct msg *stage_sent(const struct stage *stage, const char *site,
                             enum msg_kind kind, int n);
int stage_count_sent(const struct stage *stage, const char *site, enum msg_kind kind);
bool stage_has_log(const struct stage *stage, const char *part);

/* The contract as the disk has it, and the last row of its history. */
const struct row_lease *stage_stored(const struct stage *stage, const char *lease);
const struct row_history *stage_history(const struct stage *stage, const char *lease);
int stage_count_history(const struct stage *stage, const char *lease,
                        enum history_event event);

#endif
