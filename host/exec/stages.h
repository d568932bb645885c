/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h: what a run executes in turn: the commands before the job, the job,
 * the commands after it; and what all that comes to.
 *
 * A command before the job that fails (or is ended) leaves the job unbegun; those after
 * it run all the same, one after the other, whatever the job and they themselves come
 * to. How the run ends is what the job, or the failed command before it, came to.
 *
 * Nothing is executed here. Source: LSF's PRE_EXEC and POST_EXEC.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_EXEC_STAGES_H
#define SUBLET_HOST_EXEC_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "host/exec/guard_record.h"
#include "host/exec/run_spec.h"

enum stage { STAGE_PRE_EXEC, STAGE_JOB, STAGE_POST_EXEC, STAGE_DONE };

struct stages {
    const struct run_spec *spec;
    enum stage stage;
    int at; /* the command's place in its stage */
    /* What it comes to, once the job is over or will not begin: */
    bool is_decided;
    enum run_end end;
    enum run_cause cause;
    int code;
    int status; /* as waitpid told; 0: the job never began */
    bool is_ended_by_order;
    char text[GUARD_RECORD_TEXT_SIZE];
};

/* How a command ended. */
struct stage_outcome {
    int status;           /* as waitpid tells */
    enum run_cause cause; /* the limit that ended it */
    bool is_ended_by_order;
    bool is_late;        /* it took longer than its stage may */
    const char *failure; /* why it could not be begun; "": it was */
};

/* At the first command there is. */
void stages_init(struct stages *course, const struct run_spec *spec);
/* The job is over, as the record says: only the commands after it are left. */
void stages_init_post_exec(struct stages *course, const struct run_spec *spec,
                           const struct guard_record *record);
/* NULL: it is over. */
const char *stages_command(const struct stages *course);
/* That command has ended: on to the next. */
void stages_advance(struct stages *course, const struct stage_outcome *outcome);

#endif
