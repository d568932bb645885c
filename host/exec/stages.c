/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c: see stages.h. */
#include "host/exec/stages.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static int count_of(const struct stages *course, enum stage stage)
{
    switch (stage) {
    case STAGE_PRE_EXEC:
        return course->spec->n_pre_execs;
    case STAGE_JOB:
        return 1;
    case STAGE_POST_EXEC:
        return course->spec->n_post_execs;
    case STAGE_DONE:
        break;
    }
    return 0;
}

static void enter(struct stages *course, enum stage stage)
{
    while (stage != STAGE_DONE && count_of(course, stage) == 0) {
        stage++;
    }
    course->stage = stage;
    course->at = 0;
}

void stages_init(struct stages *course, const struct run_spec *spec)
{
    *course = (struct stages){.spec = spec};
    enter(course, STAGE_PRE_EXEC);
}

void stages_init_post_exec(struct stages *course, const struct run_spec *spec,
                           const struct guard_record *record)
{
    *course = (struct stages){
        .spec = spec,
        .is_decided = true,
        .end = record->end,
        .cause = (enum run_cause)record->cause,
        .code = (int)record->code,
    };
    snprintf(course->text, sizeof(course->text), "%s", record->text);
    enter(course, STAGE_POST_EXEC);
}

const char *stages_command(const struct stages *course)
{
    switch (course->stage) {
    case STAGE_PRE_EXEC:
        return course->spec->pre_execs[course->at];
    case STAGE_JOB:
        return course->spec->command;
    case STAGE_POST_EXEC:
        return course->spec->post_execs[course->at];
    case STAGE_DONE:
        break;
    }
    return NULL;
}

/* ---------------------------------------------------------------- outcomes */

static int code_of(int status)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void decide(struct stages *course, enum run_end end, enum run_cause cause,
                   int code)
{
    course->is_decided = true;
    course->end = end;
    course->cause = cause;
    course->code = code;
}

static bool has_failed(const struct stage_outcome *outcome)
{
    return outcome->failure[0] != '\0' || outcome->is_late ||
           outcome->is_ended_by_order || outcome->status != 0;
}

/* The job will not begin. */
static void decide_before(struct stages *course, const struct stage_outcome *outcome)
{
    const char *command = stages_command(course);
    int code = code_of(outcome->status);
    if (outcome->is_ended_by_order) {
        decide(course, RUN_END_SIGNALLED, RUN_CAUSE_NONE, code);
        snprintf(course->text, sizeof(course->text), "killed before it began");
        return;
    }
    decide(course, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, code);
    if (outcome->failure[0] != '\0') {
        snprintf(course->text, sizeof(course->text), "%s", outcome->failure);
    } else if (outcome->is_late) {
        snprintf(course->text, sizeof(course->text),
                 "\"%.120s\" took longer than JOB_PREPROC_TIMEOUT allows", command);
    } else {
        snprintf(course->text, sizeof(course->text), "\"%.120s\" %s %d", command,
                 WIFSIGNALED(outcome->status) ? "was ended by signal"
                                              : "exited with code",
                 code);
    }
}

static void decide_job(struct stages *course, const struct stage_outcome *outcome)
{
    int code = code_of(outcome->status);
    course->status = outcome->failure[0] == '\0' ? outcome->status : 0;
    course->is_ended_by_order = outcome->is_ended_by_order;
    if (outcome->is_late) {
        decide(course, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, code);
        snprintf(course->text, sizeof(course->text),
                 "it could not begin before another job needs its slots");
    } else if (outcome->failure[0] != '\0') {
        decide(course, RUN_END_FAILED, RUN_CAUSE_NONE, code);
        snprintf(course->text, sizeof(course->text), "%s", outcome->failure);
    } else if (outcome->cause != RUN_CAUSE_NONE) {
        decide(course, RUN_END_LIMIT, outcome->cause,
               WIFSIGNALED(outcome->status) ? 128 + code : code);
    } else {
        decide(course,
               WIFSIGNALED(outcome->status) ? RUN_END_SIGNALLED : RUN_END_EXITED,
               RUN_CAUSE_NONE, code);
    }
}

void stages_advance(struct stages *course, const struct stage_outcome *outcome)
{
    if (course->stage == STAGE_PRE_EXEC && has_failed(outcome)) {
        decide_before(course, outcome);
        enter(course, STAGE_POST_EXEC);
        return;
    }
    if (course->stage == STAGE_JOB) {
        decide_job(course, outcome);
    }
    course->at++;
    if (course->at == count_of(course, course->stage)) {
        enter(course, course->stage + 1);
    }
}
