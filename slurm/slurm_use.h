/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_use.h: what Slurm itself does with a node, as far as the site must know it.
 *
 * A node is used by others if a job runs there that is neither in one of the site's
 * reservations nor one of its runs, if another reservation has it or will have it
 * within two terms, or, outside of the site's reservations, if it is not wholly idle.
 * All its CPUs count then, as only whole nodes are lent. A node is out if no job can
 * start there: slurmctld does not know it, or says that it is down, drained, failing or
 * powered down.
 *
 * Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_USE_H
#define SUBLET_SLURM_SLURM_USE_H

#include "slurm/slurm_plan.h"

struct slurm_use {
    int n_foreign; /* CPUs */
    bool is_out;
};

/* True if that job of Slurm is one of the site's runs. */
typedef bool (*slurm_use_is_run_fn)(void *arg, int64_t job_id);

/* Of each node of the answers, in their order; in the arena. */
const struct slurm_use *slurm_use_count(struct arena *arena,
                                        const struct slurm_terms *terms,
                                        const struct slurm_answers *answers,
                                        slurm_use_is_run_fn is_run, void *arg);

/* The index of the node in the answers; -1: slurmctld does not know it. */
int slurm_use_find_node(const struct slurm_nodes *nodes, const char *name);
/* The site's reservation that has the node for that consumer, is active, and lets the
 * account in, by its name; NULL: there is none. */
const char *slurm_use_find_reservation(struct arena *arena,
                                       const struct slurm_answers *answers,
                                       const char *site,
                                       const struct slurm_contract *contract,
                                       const char *account, const char *node);
/* The reservation is one of the site's. */
bool slurm_use_is_ours(struct arena *arena, const char *reservation, const char *site);

#endif
