/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_keeper.h: keeps the reservations of a Slurm cluster as a provider's contracts
 * want them (slurm/slurm_plan.h), without ever blocking its caller.
 *
 * A cycle reads by one sinfo, one squeue and one scontrol, one after the other, and
 * carries out the orders that follow. If one of them was taken, it reads again, up to
 * SLURM_KEEPER_ROUNDS times, so that what passes from one reservation to another does
 * so in one cycle. Then it waits for `cycle_ms`, give or take a tenth. After a cycle
 * that failed it waits twice as long each time, up to a quarter of the term, so that
 * reservations are still renewed in time. New contracts begin a cycle at once, or
 * replace what is left of the one under way.
 *
 * Units: milliseconds of a monotonic clock, seconds of the term. Ownership: the
 * config's texts are borrowed; contracts are copied; the report is the keeper's until
 * the next step. Layer: slurm/io. */
#ifndef SUBLET_SLURM_IO_SLURM_KEEPER_H
#define SUBLET_SLURM_IO_SLURM_KEEPER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "slurm/io/slurm_child.h"
#include "slurm/slurm_plan.h"

enum { SLURM_KEEPER_ROUNDS = 4 };

struct slurm_keeper_config {
    struct slurm_child_place place;
    const char *partition;    /* "": all of them */
    const char *site, *agent; /* as in slurm_terms */
    int64_t term_s, cycle_ms;
    uint64_t seed; /* of the waits */
};

/* What was read last. */
struct slurm_report {
    const struct slurm_answers *answers; /* NULL: nothing yet */
    const struct slurm_standing *standings;
    uint64_t version;    /* of the contracts that `standings` is about */
    int64_t read_ms;     /* when the reading began */
    const char *failure; /* the last command that failed in this cycle; "": none */
    uint64_t n_commands; /* since the start */
};

struct slurm_keeper;
struct slurm_keeper *slurm_keeper_new(const struct slurm_keeper_config *config);
/* Ends a command that runs. NULL is fine. */
void slurm_keeper_free(struct slurm_keeper *keeper);

/* From now on. `version` is the caller's and comes back in the report. */
void slurm_keeper_set_contracts(struct slurm_keeper *keeper,
                                const struct slurm_contract *contracts, int n_contracts,
                                uint64_t version, int64_t now_ms);

/* What to wait for: descriptors (-1: none) that become readable, and a time. */
void slurm_keeper_fds(const struct slurm_keeper *keeper,
                      struct pollfd fds[SLURM_CHILD_FDS]);
int64_t slurm_keeper_wake_ms(const struct slurm_keeper *keeper);
/* Goes on. True if there is a new report: the cluster was read, or a cycle failed. */
bool slurm_keeper_step(struct slurm_keeper *keeper, int64_t now_ms);
struct slurm_report slurm_keeper_report(const struct slurm_keeper *keeper);

#endif
