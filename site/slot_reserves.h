/* SPDX-License-Identifier: Apache-2.0 */
/* slot_reserves.h: slots and resources that waiting jobs keep from one pass to the next
 * (sched/reservation/reservation.h), for how long, and what is told of it.
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
#ifndef SUBLET_SITE_SLOT_RESERVES_H
#define SUBLET_SITE_SLOT_RESERVES_H

#include "sched/reservation/reservation.h"
#include "site/job/job.h"
#include "site/job/lifecycle.h"
#include "site/pass_request.h"
#include "site/reserves.h"
#include "site/run/host_table.h"

struct slot_reserves_parts {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct host_table *hosts;
    const struct lifecycle *life;
    struct pass_request *pass_request;
};

struct slot_reserves;
struct slot_reserves *slot_reserves_new(const struct slot_reserves_parts *parts);
void slot_reserves_reload(struct slot_reserves *reserves,
                          const struct site_config *config);
void slot_reserves_free(struct slot_reserves *reserves);

/* What the pass is shown, in the arena; its lines are known. NULL: no queue has
 * SLOT_RESERVE. */
const struct reservation_snapshot *
slot_reserves_show(struct slot_reserves *reserves, struct reserves_pass *left,
                   struct arena *arena, const struct place_snapshot *place);
/* After that pass has been carried out. */
void slot_reserves_keep(struct slot_reserves *reserves, struct reserves_pass *left,
                        struct arena *arena, const struct place_snapshot *snapshot,
                        struct reservation_pass *shown);

/* When the time of a reservation is over, or a job may reserve again. */
int64_t slot_reserves_wake_ms(const struct slot_reserves *reserves);

/* Of a resource, for the job on that host, the first that draws from the same. */
struct slot_reserved_part {
    const char *resource, *host;
    int64_t milli, need_milli;
};

struct slot_reserved {
    uint64_t job;
    const char *lease;              /* "": own hosts */
    const struct host_slots *hosts; /* 0 slots: chosen, and nothing is free yet */
    const int *lent;                /* of these, by host, to backfill jobs that run */
    int n_hosts;
    const struct slot_reserved_part *parts;
    int n_parts;
    int64_t since_ms;
    int64_t start_ms; /* BACKFILL_NEVER: nobody knows */
};
int slot_reserves_count(const struct slot_reserves *reserves);
void slot_reserves_at(const struct slot_reserves *reserves, int index,
                      struct slot_reserved *reserved);
/* Of that job; false: it has none. */
bool slot_reserves_find(const struct slot_reserves *reserves, uint64_t job,
                        struct slot_reserved *reserved);

#endif
