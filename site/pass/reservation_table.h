/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_table.h: slots and resources that waiting jobs keep from one pass to the
 * next (sched/reservation/reservation.h), for how long, and what is told of it.
 *
 * A reservation is of a line of jobs that are alike: when another becomes the first of
 * them it is that one's. It goes where its job does not wait in line any more, and when
 * SLOT_RESERVE says that it has lasted long enough; the job then reserves nothing for
 * one interval. It is not on disk: after a restart the first pass makes it anew, and
 * its time begins anew. Slots of a lease that are reserved are idle to the contract: it
 * may move them, and the reservation is less by that.
 *
 * Units: milliseconds. Ownership: what is told is borrowed, until the next pass.
 * Source: lsf.md 6.2; docs/adr/0031. Layer: site. */
#ifndef SUBLET_SITE_PASS_RESERVATION_TABLE_H
#define SUBLET_SITE_PASS_RESERVATION_TABLE_H

#include "sched/reservation/reservation.h"
#include "site/job/job.h"
#include "site/job/lifecycle.h"
#include "site/ledger/rusage_ledger.h"
#include "site/pass/pass_request.h"
#include "site/run/host_table.h"

struct reservation_table_parts {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct host_table *hosts;
    const struct lifecycle *life;
    struct pass_request *pass_request;
};

struct reservation_table;
struct reservation_table *
reservation_table_new(const struct reservation_table_parts *parts);
void reservation_table_reload(struct reservation_table *reserves,
                              const struct site_config *config);
void reservation_table_free(struct reservation_table *reserves);

/* What the pass is shown, in the arena; its lines are known. NULL: no queue has
 * SLOT_RESERVE. */
const struct reservation_snapshot *
reservation_table_snapshot(struct reservation_table *reserves, struct rusage_pass *left,
                           struct arena *arena, const struct place_snapshot *place);
/* After that pass has been carried out. */
void reservation_table_store(struct reservation_table *reserves,
                             struct rusage_pass *left, struct arena *arena,
                             const struct place_snapshot *snapshot,
                             struct reservation_pass *shown);

/* When the time of a reservation is over, or a job may reserve again. */
int64_t reservation_table_wake_ms(const struct reservation_table *reserves);

/* Of a resource, for the job on that host, the first that draws from the same. */
struct reserved_amount {
    const char *resource, *host;
    int64_t milli, need_milli;
};

struct reserved_job {
    uint64_t job;
    const char *lease;              /* "": own hosts */
    const struct host_slots *hosts; /* 0 slots: chosen, and nothing is free yet */
    const int *lent;                /* of these, by host, to backfill jobs that run */
    int n_hosts;
    const struct reserved_amount *parts;
    int n_parts;
    int64_t since_ms;
    int64_t start_ms; /* BACKFILL_NEVER: nobody knows */
};
int reservation_table_count(const struct reservation_table *reserves);
void reservation_table_at(const struct reservation_table *reserves, int index,
                          struct reserved_job *reserved);
/* Of that job; false: it has none. */
bool reservation_table_find(const struct reservation_table *reserves, uint64_t job,
                            struct reserved_job *reserved);

#endif
