/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c: see exec.h. */
#include "host/exec/exec.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static int count_of(const struct stages *stages, enum stage stage)
{
    switch (stage) {
    case STAGE_PRE_EXEC:
        return stages->spec->n_pre_execs;
    case STAGE_JOB:
        return 1;
    case STAGE_REPORT:
        return stages->spec->report_ms != 0;
    case STAGE_POST_EXEC:
        return stages->spec->n_post_execs;
    case STAGE_DONE:
        break;
    }
    return 0;
}

static void enter(struct stages *stages, enum stage stage)
{
    while (stage != STAGE_DONE && count_of(stages, stage) == 0) {
        stage++;
    }
    stages->stage = stage;
    stages->at = 0;
}

void stages_init(struct stages *stages, const struct run_spec *spec)
{
    *stages = (struct stages){.spec = spec};
    enter(stages, STAGE_PRE_EXEC);
}

void stages_init_post_exec(struct stages *stages, const struct run_spec *spec,
                           const struct guard_record *record)
{
    *stages = (struct stages){
        .spec = spec,
        .is_decided = true,
        .end = record->end,
        .cause = (enum run_cause)record->cause,
        .code = (int)record->code,
    };
    snprintf(stages->text, sizeof(stages->text), "%s", record->text);
    enter(stages, STAGE_POST_EXEC);
}

const char *stages_command(const struct stages *stages)
{
    switch (stages->stage) {
    case STAGE_PRE_EXEC:
        return stages->spec->pre_execs[stages->at];
    case STAGE_JOB:
        return stages->spec->command;
    case STAGE_REPORT:
        return "report";
    case STAGE_POST_EXEC:
        return stages->spec->post_execs[stages->at];
    case STAGE_DONE:
        break;
    }
    return NULL;
}

int64_t stages_limit_ms(const struct stages *stages)
{
    const int64_t *limits = stages->spec->limits.values;
    return stages->stage == STAGE_PRE_EXEC    ? limits[JOB_RLIMIT_PRE_TIME]
           : stages->stage == STAGE_POST_EXEC ? limits[JOB_RLIMIT_POST_TIME]
           : stages->stage == STAGE_REPORT    ? STAGE_REPORT_MS
                                              : JOB_RLIMIT_NONE;
}

/* ---------------------------------------------------------------- outcomes */

static int code_of(int status)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void decide(struct stages *stages, enum run_end end, enum run_cause cause,
                   int code)
{
    stages->is_decided = true;
    stages->end = end;
    stages->cause = cause;
    stages->code = code;
}

static bool has_failed(const struct stage_outcome *outcome)
{
    return outcome->failure[0] != '\0' || outcome->is_late || outcome->is_killed ||
           outcome->status != 0;
}

/* A pre-exec command has failed: the job will not begin. */
static void decide_before(struct stages *stages, const struct stage_outcome *outcome)
{
    const char *command = stages_command(stages);
    int code = code_of(outcome->status);
    if (outcome->is_killed) {
        /* Whatever the command made of its signal, the job was killed. */
        decide(stages, RUN_END_SIGNALLED, RUN_CAUSE_NONE,
               WIFSIGNALED(outcome->status) ? code : SIGINT);
        snprintf(stages->text, sizeof(stages->text), "killed before it started");
        return;
    }
    decide(stages, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, code);
    if (outcome->failure[0] != '\0') {
        snprintf(stages->text, sizeof(stages->text), "%s", outcome->failure);
    } else if (outcome->is_late) {
        snprintf(stages->text, sizeof(stages->text),
                 "\"%.120s\" took longer than JOB_PREPROC_TIMEOUT allows", command);
    } else {
        snprintf(stages->text, sizeof(stages->text), "\"%.120s\" %s %d", command,
                 WIFSIGNALED(outcome->status) ? "was ended by signal"
                                              : "exited with code",
                 code);
    }
}

static void decide_job(struct stages *stages, const struct stage_outcome *outcome)
{
    int code = code_of(outcome->status);
    stages->status = outcome->failure[0] == '\0' ? outcome->status : 0;
    stages->is_killed = outcome->is_killed;
    if (outcome->is_late) {
        decide(stages, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, code);
        snprintf(stages->text, sizeof(stages->text),
                 "it could not start before another job needs its slots");
    } else if (outcome->failure[0] != '\0') {
        decide(stages, RUN_END_FAILED, RUN_CAUSE_NONE, code);
        snprintf(stages->text, sizeof(stages->text), "%s", outcome->failure);
    } else if (outcome->cause != RUN_CAUSE_NONE) {
        decide(stages, RUN_END_LIMIT, outcome->cause,
               WIFSIGNALED(outcome->status) ? 128 + code : code);
    } else {
        decide(stages,
               WIFSIGNALED(outcome->status) ? RUN_END_SIGNALLED : RUN_END_EXITED,
               RUN_CAUSE_NONE, code);
    }
}

void stages_advance(struct stages *stages, const struct stage_outcome *outcome)
{
    if (stages->stage == STAGE_PRE_EXEC && has_failed(outcome)) {
        decide_before(stages, outcome);
        enter(stages, STAGE_POST_EXEC);
        return;
    }
    if (stages->stage == STAGE_JOB) {
        decide_job(stages, outcome);
    } else if (stages->stage == STAGE_POST_EXEC && has_failed(outcome)) {
        stages->has_post_failed = true;
    }
    stages->at++;
    if (stages->at == count_of(stages, stages->stage)) {
        enter(stages, stages->stage + 1);
    }
}
