/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_setting.h: which settings of a Slurm cluster a lease of its nodes depends on.
 *
 * Of a lease the consumer holds a reservation, whose end time slurmctld enforces when
 * nobody renews it. A setting that lets jobs outlive their reservation would defeat
 * this. Source: Slurm's slurm.conf(5), and docs/adr/0024-leases-of-slurm-nodes.md,
 * which has what was measured. Ownership: all is in the arena. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_SETTING_H
#define SUBLET_SLURM_SLURM_SETTING_H

#include "base/arena.h"
#include "base/err.h"

enum slurm_verdict { SLURM_VERDICT_OK, SLURM_VERDICT_WARN, SLURM_VERDICT_FAIL };

struct slurm_setting {
    const char *name;  /* as slurm.conf has it */
    const char *value; /* as Slurm prints it; "": not printed */
    enum slurm_verdict verdict;
    const char *advice; /* "" with OK */
};

enum { SLURM_SETTINGS = 5 };

/* The command, ended by NULL. */
extern const char *const slurm_setting_command[];

/* Judges the whole answer, in a fixed order. Errors: ERR_PARSE if it has no
 * SLURM_VERSION, and so is not the answer of a slurmctld. */
int slurm_setting_read(struct arena *arena, const char *text,
                       struct slurm_setting settings[SLURM_SETTINGS],
                       struct err *err) MUST_CHECK;

#endif
