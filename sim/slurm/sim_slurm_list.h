/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm_list.h: what sinfo, squeue and "scontrol show" of a simulated cluster
 * print.
 *
 * Ownership: texts are in the arena. Layer: sim. */
#ifndef SUBLET_SIM_SLURM_SIM_SLURM_LIST_H
#define SUBLET_SIM_SLURM_SIM_SLURM_LIST_H

#include "sim/slurm/sim_slurmctld.h"

/* `format` is the argument of --Format. NULL: it has a field that is not known. */
const char *sim_slurm_list_nodes(const struct sim_slurm *slurm, struct arena *arena,
                                 const char *format, const char *partition);
/* `states`: "all", or names separated by commas; `users` and `ids`: NULL for all. */
const char *sim_slurm_list_jobs(const struct sim_slurm *slurm, struct arena *arena,
                                const char *format, const char *states,
                                const char *users, const char *partition,
                                const char *ids);
const char *sim_slurm_list_reservations(const struct sim_slurm *slurm,
                                        struct arena *arena);

#endif
