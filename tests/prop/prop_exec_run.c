/* SPDX-License-Identifier: Apache-2.0 */
/* prop_exec_run.c: random runs against what exec.h promises of a run's step machine.
 *
 * Commands exit at random, ignore signals up to SIGKILL, cannot be launched, recorded
 * or stopped; requests come in any order and are repeated. After each step:
 *
 * - a gate is opened only after the record was saved, and a command is launched only
 *   when the one before has ended, a post-exec command only when no process is left;
 * - each command of the run is launched once at most, in its order; the job not after a
 *   pre-exec command has failed, and not after other jobs need its slots;
 * - a run becomes SUSPENDED by STOPPED alone, and is continued before it is RUNNING;
 * - a command of JOB_CONTROLS and a notification never run at the same time;
 * - nothing is due any more after EXEC_TIME, and no request is carried out twice;
 * - a killed run ends, once, and after that the record is only reported.
 *
 * SEED=N repeats one run. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "host/exec/exec.h"

enum {
    RUNS = 20000,
    EVENTS = 60,
    CHILDREN = EXEC_NOTIFICATION + 1,
    STEPS_TO_END = 200,
    GRACE_MS = 10,
};

struct trial {
    uint64_t seed;
    struct rng rng;
    struct run_spec spec;
    struct exec_run run;
    int64_t now_ms;
    uint64_t number; /* of the last request */
    bool is_alive[CHILDREN];
    int dies_of; /* the weakest signal that ends the command */
    bool is_at_gate, is_saved, is_clear, was_clear, has_ended, has_failed;
    enum run_phase phase; /* after the last step */
    enum stage last_stage;
    int last_at;
};

static void check(const struct trial *trial, bool holds, const char *rule)
{
    if (!holds) {
        fail_msg("SEED=%" PRIu64 ": %s", trial->seed, rule);
    }
}

static bool percent(struct trial *trial, int chance)
{
    return rng_percent(&trial->rng, chance);
}

/* ---- effects */

static struct exec_event launch(struct trial *trial, enum exec_child child)
{
    const struct stages *stages = &trial->run.stages;
    struct exec_event answer = {.kind = EXEC_LAUNCHED, .child = child, .failure = ""};
    if (child == EXEC_COMMAND) {
        check(trial, !trial->is_alive[EXEC_COMMAND],
              "a command is launched beside another one");
        check(trial, trial->is_clear || stages->stage != STAGE_POST_EXEC,
              "a post-exec command is launched beside the job's processes");
        check(trial,
              stages->stage > trial->last_stage ||
                  (stages->stage == trial->last_stage && stages->at > trial->last_at),
              "a command is launched again");
        check(trial,
              stages->stage != STAGE_JOB ||
                  (!trial->has_failed && trial->now_ms < trial->run.end_by_ms),
              "the job is launched after a failure, or too late");
        trial->last_stage = stages->stage;
        trial->last_at = stages->at;
        trial->is_saved = false;
    } else {
        check(trial,
              !trial->is_alive[EXEC_CONTROL_COMMAND] &&
                  !trial->is_alive[EXEC_NOTIFICATION],
              "two commands run beside the job");
    }
    if (percent(trial, 10)) {
        answer.kind = EXEC_LAUNCH_FAILED;
        answer.failure = "no process";
        trial->has_failed = trial->has_failed || child == EXEC_COMMAND;
    } else {
        trial->is_alive[child] = true;
        trial->was_clear = trial->is_clear;
        trial->is_clear = trial->is_clear && child != EXEC_COMMAND;
        trial->is_at_gate = child == EXEC_COMMAND || trial->is_at_gate;
    }
    return answer;
}

static struct exec_event save(struct trial *trial)
{
    if (percent(trial, 5)) {
        trial->is_alive[EXEC_COMMAND] = trial->is_at_gate = false;
        trial->is_clear = trial->was_clear;
        trial->has_failed = true;
        return (struct exec_event){.kind = EXEC_LAUNCH_FAILED, .failure = "disk full"};
    }
    trial->is_saved = true;
    return (struct exec_event){.kind = EXEC_SAVED};
}

static struct exec_event exited(struct trial *trial, enum exec_child child, int status)
{
    trial->is_alive[child] = false;
    trial->has_failed = trial->has_failed || (child == EXEC_COMMAND && status != 0);
    return (struct exec_event){.kind = EXEC_EXITED, .child = child, .status = status};
}

static bool terminate(struct trial *trial, int signal, struct exec_event *answer)
{
    static const int order[] = {SIGXCPU, SIGINT, SIGTERM, SIGKILL};
    bool is_enough = signal == SIGKILL;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && order[i] != signal;
         i++) {
        is_enough = is_enough || order[i] == trial->dies_of;
    }
    is_enough = is_enough || signal == trial->dies_of;
    if (!is_enough || !trial->is_alive[EXEC_COMMAND]) {
        return false;
    }
    check(trial, !trial->is_at_gate, "a command at its gate gets a signal");
    *answer = exited(trial, EXEC_COMMAND, signal);
    return true;
}

static bool carry_out(void *arg, const struct exec_effect *effect, struct err *err,
                      struct exec_event *answer)
{
    struct trial *trial = arg;
    check(trial,
          !trial->has_ended || effect->kind == EXEC_REPORT ||
              effect->kind == EXEC_WRITE,
          "something is done after the end");
    switch (effect->kind) {
    case EXEC_LAUNCH:
        *answer = launch(trial, effect->child);
        return true;
    case EXEC_SAVE:
        *answer = save(trial);
        return true;
    case EXEC_OPEN_GATE:
        check(trial, trial->is_saved && trial->is_at_gate, "the gate opens too early");
        trial->is_at_gate = false;
        break;
    case EXEC_TERMINATE:
        return terminate(trial, effect->signal, answer);
    case EXEC_STOP:
        answer->kind = EXEC_STOPPED;
        return percent(trial, 70);
    case EXEC_KILL:
        check(trial, trial->is_alive[effect->child], "nothing to kill");
        break;
    case EXEC_DROP:
        check(trial, trial->is_alive[effect->child], "nothing to drop");
        trial->is_alive[effect->child] = false;
        break;
    case EXEC_CLEAR:
        check(trial, !trial->is_alive[EXEC_COMMAND], "a command is cleared away");
        answer->kind = EXEC_CLEARED;
        trial->is_clear = trial->is_clear || percent(trial, 50);
        return trial->is_clear;
    case EXEC_RELEASE:
        trial->is_clear = true; /* or it cannot be killed */
        break;
    case EXEC_DRAIN:
        answer->kind = EXEC_DRAINED;
        return percent(trial, 50);
    case EXEC_END:
        check(trial, trial->is_clear, "a process is left at the end");
        trial->has_ended = true;
        break;
    case EXEC_WATCH_LIMITS:
    case EXEC_CHANGE_LIMITS:
    case EXEC_SIGNAL:
    case EXEC_CONTINUE:
    case EXEC_ACCEPT_SLOTS:
    case EXEC_REPORT:
        break;
    case EXEC_PUBLISH:
    case EXEC_WRITE:
        answer->kind = EXEC_UNSAVED;
        return percent(trial, 5);
    case EXEC_REMOVE:
        fail_msg("a run is removed that nobody has left alone");
    }
    return false;
}

static bool has_effect(const struct exec_effects *effects, enum exec_effect_kind kind)
{
    for (int i = 0; i < effects->count; i++) {
        if (effects->list[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static void check_phase(void *arg, const struct exec_event *event,
                        const struct exec_effects *effects)
{
    struct trial *trial = arg;
    enum run_phase before = trial->phase;
    enum run_phase after = trial->phase = trial->run.phase;
    check(trial,
          after != RUN_SUSPENDED || before == RUN_SUSPENDED ||
              event->kind == EXEC_STOPPED,
          "suspended, but not stopped");
    check(trial,
          before != RUN_SUSPENDED || after != RUN_RUNNING ||
              has_effect(effects, EXEC_CONTINUE),
          "running, but not continued");
    check(trial,
          (after == RUN_ENDED) == (trial->has_ended || has_effect(effects, EXEC_END)),
          "an end without EXEC_END");
}

static int64_t now_ms(void *arg)
{
    return ((struct trial *)arg)->now_ms;
}

static void step(struct trial *trial, struct exec_event event)
{
    exec_loop_run(&trial->run, &event,
                  &(struct exec_executor){now_ms, check_phase, carry_out, trial});
}

/* ---- events */

static void control(struct trial *trial, enum control_action action, int signal)
{
    uint64_t done = trial->run.control_done;
    bool is_repeated = percent(trial, 20) && done > 0;
    struct exec_event event = {
        .kind = EXEC_CONTROL,
        .control = {.action = action,
                    .number = is_repeated ? done : ++trial->number,
                    .signal = signal}};
    if (is_repeated) {
        struct exec_effects effects;
        exec_run_step(&trial->run, &event, trial->now_ms, &effects);
        check(trial, effects.count == 1 && effects.list[0].kind == EXEC_REPORT,
              "a request is carried out again");
        return;
    }
    step(trial, event);
    check(trial, trial->run.control_done >= done, "control_done has decreased");
}

static void resize(struct trial *trial)
{
    step(trial, (struct exec_event){.kind = EXEC_RESIZE,
                                    .resize = {.number = ++trial->number,
                                               .n_slots = 1 + rng_below(&trial->rng, 4),
                                               .has_command = percent(trial, 80)}});
}

static void pass_time(struct trial *trial)
{
    int64_t wake_ms = exec_run_wake_ms(&trial->run);
    if (wake_ms == EXEC_NEVER || percent(trial, 30)) {
        trial->now_ms += rng_below(&trial->rng, 50);
    } else {
        trial->now_ms = wake_ms > trial->now_ms ? wake_ms : trial->now_ms;
    }
    step(trial, (struct exec_event){.kind = EXEC_TIME});
    check(trial, exec_run_wake_ms(&trial->run) > trial->now_ms,
          "the next wake-up is not in the future");
}

static void end_child(struct trial *trial, enum exec_child child)
{
    bool is_gated = child == EXEC_COMMAND && trial->is_at_gate;
    if (trial->is_alive[child] && !is_gated) {
        step(trial, exited(trial, child, percent(trial, 60) ? 0 : 3 << 8));
    }
}

static void any_event(struct trial *trial)
{
    static const int signals[] = {0, SIGKILL};
    switch (rng_below(&trial->rng, 12)) {
    case 0:
        step(trial, (struct exec_event){.kind = EXEC_GO});
        break;
    case 1:
    case 2:
        control(trial, CONTROL_SUSPEND, 0);
        break;
    case 3:
        control(trial, CONTROL_RESUME, 0);
        break;
    case 4:
        control(trial, CONTROL_SIGNAL, SIGUSR1);
        break;
    case 5:
        if (percent(trial, 30)) {
            control(trial, CONTROL_KILL, signals[percent(trial, 30)]);
        }
        break;
    case 6:
        resize(trial);
        break;
    case 7:
        if (trial->run.awaits_user) {
            step(trial, (struct exec_event){.kind = EXEC_USER_CONNECTED});
        }
        break;
    case 8:
        end_child(trial, (enum exec_child)rng_below(&trial->rng, CHILDREN));
        break;
    case 9:
        if (trial->run.stages.stage == STAGE_JOB && trial->is_alive[EXEC_COMMAND] &&
            percent(trial, 20)) {
            step(trial, (struct exec_event){.kind = EXEC_LIMIT_EXCEEDED,
                                            .cause = RUN_CAUSE_MEM_LIMIT});
        }
        break;
    default:
        pass_time(trial);
        break;
    }
}

/* ---- runs */

static void begin(struct trial *trial, uint64_t seed)
{
    static const char *const controls[] = {NULL, "USR2", "/bin/control"};
    static const int weakest[] = {SIGINT, SIGTERM, SIGKILL};
    *trial = (struct trial){
        .seed = seed, .is_clear = true, .phase = RUN_WAITING, .last_at = -1};
    rng_init(&trial->rng, seed);
    struct run_spec *spec = &trial->spec;
    *spec = (struct run_spec){.command = "job",
                              .n_slots = 1 + rng_below(&trial->rng, 2),
                              .grace_ms = GRACE_MS,
                              .limits = job_rlimits_none()};
    spec->n_pre_execs = (int)rng_below(&trial->rng, 3);
    spec->n_post_execs = (int)rng_below(&trial->rng, 3);
    for (int i = 0; i < EXEC_COMMANDS_MAX; i++) {
        spec->pre_execs[i] = "in";
        spec->post_execs[i] = "out";
    }
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        spec->controls[i] = controls[rng_below(&trial->rng, 3)];
    }
    if (percent(trial, 30)) {
        spec->run_limit_ms = 1 + rng_below(&trial->rng, 100);
    }
    if (percent(trial, 20)) {
        spec->end_within_ms = 1 + rng_below(&trial->rng, 200);
    }
    if (percent(trial, 30)) {
        spec->limits.values[JOB_RLIMIT_PRE_TIME] = 1 + rng_below(&trial->rng, 50);
        spec->limits.values[JOB_RLIMIT_POST_TIME] = 1 + rng_below(&trial->rng, 50);
    }
    if (percent(trial, 30)) {
        spec->limits.values[JOB_RLIMIT_WARNING] = 1 + rng_below(&trial->rng, 120);
    }
    if (percent(trial, 20)) {
        spec->interaction = INTERACTION_PIPES;
    }
    trial->dies_of = weakest[rng_below(&trial->rng, 3)];
    exec_run_init(&trial->run, spec, 0);
}

/* A hard kill ends each command; only its end is left to be awaited. */
static void kill_to_the_end(struct trial *trial)
{
    for (int i = 0; i < STEPS_TO_END && !trial->has_ended; i++) {
        control(trial, CONTROL_KILL, SIGKILL);
        if (trial->run.is_draining) {
            step(trial, (struct exec_event){.kind = EXEC_DRAINED});
        }
        if (trial->run.is_clearing) {
            pass_time(trial);
        }
    }
    check(trial, trial->has_ended, "a killed run does not end");
    check(trial, exec_run_wake_ms(&trial->run) == EXEC_NEVER, "due after the end");
}

static void test_runs(void **state)
{
    const char *only = getenv("SEED");
    uint64_t first = only == NULL ? 1 : strtoull(only, NULL, 10);
    (void)state;
    for (uint64_t seed = first; seed < first + (only == NULL ? RUNS : 1); seed++) {
        struct trial trial;
        begin(&trial, seed);
        for (int i = 0; i < EVENTS; i++) {
            any_event(&trial);
        }
        kill_to_the_end(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
