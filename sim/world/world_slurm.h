/* SPDX-License-Identifier: Apache-2.0 */
/* world_slurm.h: the hosts of a site with SCHEDULER = slurm: a simulated cluster
 * (sim/slurm), the agent that is part of the site's daemon, and the directories of
 * runs, which survive both.
 *
 * The agent dies with the daemon. Its commands take a while, may be lost, and have no
 * answer while slurmctld is down. A leased job works as its command says ("run 1500
 * exit 3"). Other jobs of the cluster are its users': the caller submits them.
 *
 * Units: virtual milliseconds. Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_SLURM_H
#define SUBLET_SIM_WORLD_WORLD_SLURM_H

#include "sim/slurm/sim_slurm.h"
#include "sim/world/world_state.h"

/* Its hosts are nodes of a new cluster. */
void world_slurm_add(struct world *world, int site);
void world_slurm_free(struct world_slurm *slurm); /* NULL is fine */

/* The daemon of the site has started, or ends. */
void world_slurm_start(struct world *world, int site);
void world_slurm_stop(struct world *world, int site);
/* A message of the site to one of its nodes. */
void world_slurm_take(struct world *world, int site, const char *node,
                      const struct msg *msg);
/* What is due at this instant. True if there was anything. */
bool world_slurm_step(struct world *world);
int64_t world_slurm_wake_ms(const struct world *world);

#endif
