/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_table.h: slots and resources that are reserved for pending jobs from one
 * pass to the next (sched/reservation/reservation.h).
 *
 * A reservation belongs to a class of equal pending jobs: when another job becomes the
 * first of the class, the reservation is its. It ends when its job does not pend any
 * more, or after the time that SLOT_RESERVE allows; the job then reserves nothing for
 * one interval. Reservations are not on disk: the first pass after a restart makes them
 * anew, and their time starts again. Reserved slots of a lease are idle to its
 * contract, which may move them and thereby shrink the reservation.
 *
 * Units: milliseconds. Ownership: listings are borrowed until the next pass. Source:
 * docs/design/scheduling.md "Reservation and backfill"; docs/adr/0017. Layer: site. */
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
void reservation_table_reload(struct reservation_table *table,
                              const struct site_config *config);
void reservation_table_free(struct reservation_table *table);

/* The reservations as the pass needs them, in the arena; its classes are known. NULL:
 * no queue has SLOT_RESERVE. */
const struct reservation_snapshot *
reservation_table_snapshot(struct reservation_table *table,
                           struct rusage_pass *rusage_pass, struct arena *arena,
                           const struct place_snapshot *place);
/* Stores the result after the pass has been executed. */
void reservation_table_store(struct reservation_table *table,
                             struct rusage_pass *rusage_pass, struct arena *arena,
                             const struct place_snapshot *snapshot,
                             struct reservation_pass *shown);

/* When a reservation ends, or a job may reserve again. */
int64_t reservation_table_wake_ms(const struct reservation_table *table);

/* An amount of a resource; `host` is the first of its hosts that draws from the supply.
 */
struct reserved_amount {
    const char *resource, *host;
    int64_t milli, need_milli;
};

struct reserved_job {
    uint64_t job;
    const char *lease;              /* "": own hosts */
    const struct host_slots *hosts; /* 0 slots: chosen, none is free yet */
    const int *lent; /* of these slots, by host: used by running backfill jobs */
    int n_hosts;
    const struct reserved_amount *parts;
    int n_parts;
    int64_t since_ms;
    int64_t start_ms; /* BACKFILL_NEVER: unknown */
};
int reservation_table_count(const struct reservation_table *table);
void reservation_table_at(const struct reservation_table *table, int index,
                          struct reserved_job *reserved);
/* False: the job has none. */
bool reservation_table_find(const struct reservation_table *table, uint64_t job,
                            struct reserved_job *reserved);

#endif
