/* SPDX-License-Identifier: Apache-2.0 */
/* fake_stages.h: what a simulated run executes in turn: the commands before its job,
 * the job, those after it; and what all that comes to: as host/exec/stages.h has it,
 * with made-up ends instead of processes.
 *
 * A command before the job that fails leaves the job unbegun; those after it run all
 * the same. JOB_PREPROC_TIMEOUT and JOB_POSTPROC_TIMEOUT bound each of the two stages.
 *
 * Units: milliseconds. Ownership: texts are copied into the arena given.
 * Source: LSF's PRE_EXEC, POST_EXEC and JOB_CONTROLS. Layer: sim (base only). */
#ifndef SUBLET_SIM_WORLD_FAKE_STAGES_H
#define SUBLET_SIM_WORLD_FAKE_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/job_control.h"
#include "model/msg.h"

enum fake_stage { FAKE_STAGE_PRE, FAKE_STAGE_JOB, FAKE_STAGE_POST, FAKE_STAGE_OVER };

struct fake_stages {
    const char *const *commands[FAKE_STAGE_OVER];
    int counts[FAKE_STAGE_OVER];            /* of the job: 1 */
    int64_t limits_ms[FAKE_STAGE_OVER];     /* JOB_RLIMIT_NONE: the stage has none */
    const char *actions[JOB_CONTROL_KINDS]; /* commands of JOB_CONTROLS; NULL: none */
    enum fake_stage stage;
    int at;
    struct run_exit exit; /* once the job is over or will not begin */
};

/* How a command went. */
struct fake_stages_result {
    int code;
    bool is_late;    /* its stage was over before it; the job: others need its slots */
    bool is_killed;  /* by an order */
    bool is_limited; /* the job: by its run limit */
};

void fake_stages_init(struct fake_stages *course, struct arena *arena,
                      const struct job_spec *spec);
/* The command that is to run now; NULL: the job, or it is over. */
const char *fake_stages_command(const struct fake_stages *course);
void fake_stages_advance(struct fake_stages *course,
                         const struct fake_stages_result *outcome, struct arena *arena);

#endif
