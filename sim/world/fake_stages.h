/* SPDX-License-Identifier: Apache-2.0 */
/* fake_stages.h: the stages of a simulated run: pre-execution commands, the job,
 * post-execution commands, and the resulting exit. Like host/exec/stages.h, with given
 * results instead of processes.
 *
 * If a pre-execution command fails, the job does not start, but the post-execution
 * commands run. JOB_PREPROC_TIMEOUT and JOB_POSTPROC_TIMEOUT bound each of the two
 * stages.
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
    struct run_exit exit; /* once the job has ended or will not start */
};

/* The result of a command. */
struct fake_stages_result {
    int code;
    bool is_late; /* the time of its stage ended first; of the job: other jobs need its
                     slots */
    bool is_killed;  /* by an order */
    bool is_limited; /* the job: by its run limit */
};

void fake_stages_init(struct fake_stages *stages, struct arena *arena,
                      const struct job_spec *spec);
/* The command to run now; NULL: the job, or all stages are over. */
const char *fake_stages_command(const struct fake_stages *stages);
void fake_stages_advance(struct fake_stages *stages,
                         const struct fake_stages_result *result, struct arena *arena);

#endif
