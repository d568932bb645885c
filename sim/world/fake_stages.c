/* SPDX-License-Identifier: Apache-2.0 */
/* fake_stages.c: see fake_stages.h. */
#include "sim/world/fake_stages.h"

#include <string.h>

#include "model/job_rlimit.h"

enum { LIMIT_CODE = 2, KILL_CODE = 15 }; /* the guard ends it with SIGINT, SIGTERM */

static const char *const *copy_texts(struct arena *arena, const char *const *texts,
                                     int n_texts)
{
    const char **copies = arena_alloc(arena, (size_t)n_texts + 1, sizeof(*copies));
    for (int i = 0; i < n_texts; i++) {
        copies[i] = arena_str(arena, texts[i]);
    }
    return copies;
}

static void enter(struct fake_stages *stages, enum fake_stage stage)
{
    while (stage != FAKE_STAGE_OVER && stages->counts[stage] == 0) {
        stage++;
    }
    stages->stage = stage;
    stages->at = 0;
}

/* A signal takes no time, and neither does any action on a parallel job. */
static void read_actions(struct fake_stages *stages, struct arena *arena,
                         const struct job_spec *spec)
{
    for (int i = 0; i < spec->n_controls; i++) {
        enum job_control action;
        const char *what = job_control_parse(spec->controls[i], &action);
        if (what != NULL && job_control_signal(what) == 0) {
            stages->actions[action] = arena_str(arena, what);
        }
    }
}

void fake_stages_init(struct fake_stages *stages, struct arena *arena,
                      const struct job_spec *spec)
{
    struct job_rlimits limits;
    struct err err;
    if (job_rlimits_read(spec->limits, spec->n_limits, &limits, &err) != 0) {
        limits = job_rlimits_none();
    }
    *stages = (struct fake_stages){
        .commands = {[FAKE_STAGE_PRE] =
                         copy_texts(arena, spec->pre_execs, spec->n_pre_execs),
                     [FAKE_STAGE_POST] =
                         copy_texts(arena, spec->post_execs, spec->n_post_execs)},
        .counts = {spec->n_pre_execs, 1, spec->n_post_execs},
        .limits_ms = {limits.values[JOB_RLIMIT_PRE_TIME], JOB_RLIMIT_NONE,
                      limits.values[JOB_RLIMIT_POST_TIME]},
        .exit = {.text = ""},
    };
    read_actions(stages, arena, spec);
    enter(stages, FAKE_STAGE_PRE);
}

const char *fake_stages_command(const struct fake_stages *stages)
{
    bool is_command =
        stages->stage == FAKE_STAGE_PRE || stages->stage == FAKE_STAGE_POST;
    return is_command ? stages->commands[stages->stage][stages->at] : NULL;
}

static void decide(struct fake_stages *stages, enum run_end end, enum run_cause cause,
                   int code, const char *text)
{
    stages->exit.end = end;
    stages->exit.cause = cause;
    stages->exit.code = code;
    stages->exit.text = text;
}

static void decide_before(struct fake_stages *stages,
                          const struct fake_stages_result *result, struct arena *arena)
{
    const char *command = fake_stages_command(stages);
    if (result->is_killed) {
        decide(stages, RUN_END_SIGNALLED, RUN_CAUSE_NONE, KILL_CODE,
               "killed before it started");
    } else if (result->is_late) {
        decide(stages, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, LIMIT_CODE,
               arena_printf(arena,
                            "\"%.120s\" took longer than JOB_PREPROC_TIMEOUT allows",
                            command));
    } else {
        decide(stages, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, result->code,
               arena_printf(arena, "\"%.120s\" exited with code %d", command,
                            result->code));
    }
}

static void decide_job(struct fake_stages *stages,
                       const struct fake_stages_result *result)
{
    if (result->is_killed) {
        decide(stages, RUN_END_SIGNALLED, RUN_CAUSE_NONE, KILL_CODE, "");
    } else if (result->is_late) {
        decide(stages, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, 0,
               "it could not start before another job needs its slots");
    } else if (result->is_limited) {
        decide(stages, RUN_END_LIMIT, RUN_CAUSE_RUN_LIMIT, 128 + LIMIT_CODE, "");
    } else {
        decide(stages, RUN_END_EXITED, RUN_CAUSE_NONE, result->code, "");
    }
}

void fake_stages_advance(struct fake_stages *stages,
                         const struct fake_stages_result *result, struct arena *arena)
{
    bool has_failed = result->code != 0 || result->is_late || result->is_killed;
    if (stages->stage == FAKE_STAGE_PRE && has_failed) {
        decide_before(stages, result, arena);
        enter(stages, FAKE_STAGE_POST);
        return;
    }
    if (stages->stage == FAKE_STAGE_JOB) {
        decide_job(stages, result);
    }
    stages->at++;
    if (stages->at == stages->counts[stages->stage]) {
        enter(stages, stages->stage + 1);
    }
}
