/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_child.h: runs a command of Slurm as a child (sys/child.h).
 *
 * It has SLURM_TIME_FORMAT=%s (times are seconds since 1970) and SLURM_CONF, and no
 * other variable of Slurm, because those like SINFO_FORMAT would change what it prints.
 *
 * Errors: those of child.h; a command that cannot be started says what to do. Layer:
 * slurm/io. */
#ifndef SUBLET_SLURM_IO_SLURM_CHILD_H
#define SUBLET_SLURM_IO_SLURM_CHILD_H

#include "sys/child.h"

/* How the commands of a cluster are run. */
struct slurm_child_place {
    const char *bin;   /* SLURM_BIN, the directory of the commands; "": PATH */
    const char *conf;  /* SLURM_CONF; "": as in the environment, or Slurm's default */
    int64_t within_ms; /* the time that a command may take */
};

/* As child_new and child_run. */
int slurm_child_new(const struct slurm_child_place *place, const char *const *words,
                    int64_t now_ms, struct child **child, struct err *err) MUST_CHECK;
int slurm_child_run(const struct slurm_child_place *place, const char *const *words,
                    struct arena *arena, const char **text, struct err *err) MUST_CHECK;

#endif
