/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm_command.h: the commands of a simulated cluster, from their arguments to
 * their answers.
 *
 * Ownership: as sim_slurm_run(). Layer: sim. */
#ifndef SUBLET_SIM_SLURM_SIM_SLURM_COMMAND_H
#define SUBLET_SIM_SLURM_SIM_SLURM_COMMAND_H

#include "sim/slurm/sim_slurmctld.h"

/* slurmctld is up. `answer` is of an order that succeeds in silence before. */
void sim_slurm_command_run(struct sim_slurm *slurm, const char *const *words,
                           struct arena *arena, struct sim_slurm_answer *answer);

#endif
