/* SPDX-License-Identifier: Apache-2.0 */
/* course.h: what a simulated run executes in turn: the commands before its job, the
 * job, those after it; and what all that comes to: as host/exec/stages.h has it, with
 * made-up ends instead of processes.
 *
 * A command before the job that fails leaves the job unbegun; those after it run all
 * the same. JOB_PREPROC_TIMEOUT and JOB_POSTPROC_TIMEOUT bound each of the two stages.
 *
 * Units: milliseconds. Ownership: texts are copied into the arena given.
 * Source: LSF's PRE_EXEC, POST_EXEC and JOB_CONTROLS. Layer: sim (base only). */
#ifndef SUBLET_SIM_COURSE_H
#define SUBLET_SIM_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/job_control.h"
#include "model/msg.h"

enum course_stage { COURSE_BEFORE, COURSE_JOB, COURSE_AFTER, COURSE_OVER };

struct course {
    const char *const *commands[COURSE_OVER];
    int counts[COURSE_OVER];                /* of the job: 1 */
    int64_t limits_ms[COURSE_OVER];         /* JOB_RLIMIT_NONE: the stage has none */
    const char *actions[JOB_CONTROL_KINDS]; /* commands of JOB_CONTROLS; NULL: none */
    enum course_stage stage;
    int at;
    struct run_exit exit; /* once the job is over or will not begin */
};

/* How a command went. */
struct course_outcome {
    int code;
    bool is_late;    /* its stage was over before it; the job: others need its slots */
    bool is_killed;  /* by an order */
    bool is_limited; /* the job: by its run limit */
};

void course_init(struct course *course, struct arena *arena,
                 const struct job_spec *spec);
/* The command that is to run now; NULL: the job, or it is over. */
const char *course_command(const struct course *course);
void course_go_on(struct course *course, const struct course_outcome *outcome,
                  struct arena *arena);

#endif
