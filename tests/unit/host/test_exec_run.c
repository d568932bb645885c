/* SPDX-License-Identifier: Apache-2.0 */
/* test_exec_run.c: what a run does about each event, by docs/scheduling.md "Job
 * controls" and docs/design/scheduling.md "Suspend, resume, terminate", "Resizable
 * jobs". */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/exec/exec.h"

enum { TEXT_SIZE = 512, GRACE_MS = 10 };

static const char *const names[] = {
    [EXEC_LAUNCH] = "launch",
    [EXEC_SAVE] = "save",
    [EXEC_CHANGE_LIMITS] = "limits",
    [EXEC_WATCH_LIMITS] = "watch",
    [EXEC_OPEN_GATE] = "open",
    [EXEC_SIGNAL] = "signal",
    [EXEC_TERMINATE] = "terminate",
    [EXEC_STOP] = "stop",
    [EXEC_CONTINUE] = "continue",
    [EXEC_KILL] = "kill",
    [EXEC_DROP] = "drop",
    [EXEC_CLEAR] = "clear",
    [EXEC_DRAIN] = "drain",
    [EXEC_ACCEPT_SLOTS] = "accept",
    [EXEC_PUBLISH] = "publish",
    [EXEC_REPORT] = "report",
    [EXEC_END] = "end",
    [EXEC_RELEASE] = "release",
    [EXEC_WRITE] = "write",
    [EXEC_REMOVE] = "remove",
};
static const char *const children[] = {"command", "control", "notification"};

/* A run, the time, and the effects of its last step as text: "launch:command". */
struct trial {
    struct run_spec spec;
    struct exec_run run;
    int64_t now_ms;
    char text[TEXT_SIZE];
};

static void begin(struct trial *trial)
{
    *trial = (struct trial){.spec = {.command = "job",
                                     .n_slots = 1,
                                     .grace_ms = GRACE_MS,
                                     .limits = job_rlimits_none()}};
}

static void step(struct trial *trial, struct exec_event event)
{
    struct exec_effects effects;
    size_t used = 0;
    exec_run_step(&trial->run, &event, trial->now_ms, &effects);
    trial->text[0] = '\0';
    for (int i = 0; i < effects.count; i++) {
        const struct exec_effect *effect = &effects.list[i];
        bool has_child = effect->kind == EXEC_LAUNCH || effect->kind == EXEC_KILL ||
                         effect->kind == EXEC_DROP;
        used += (size_t)snprintf(trial->text + used, TEXT_SIZE - used, "%s%s",
                                 i > 0 ? " " : "", names[effect->kind]);
        if (has_child) {
            used += (size_t)snprintf(trial->text + used, TEXT_SIZE - used, ":%s",
                                     children[effect->child]);
        } else if (effect->signal != 0) {
            used += (size_t)snprintf(trial->text + used, TEXT_SIZE - used, ":%d",
                                     effect->signal);
        }
    }
}

static void expect(struct trial *trial, struct exec_event event, const char *effects)
{
    step(trial, event);
    assert_string_equal(trial->text, effects);
}

static void expect_kind(struct trial *trial, enum exec_event_kind kind,
                        const char *effects)
{
    expect(trial, (struct exec_event){.kind = kind}, effects);
}

static void expect_time(struct trial *trial, int64_t at_ms, const char *effects)
{
    assert_int_equal(exec_run_wake_ms(&trial->run), at_ms);
    trial->now_ms = at_ms;
    expect_kind(trial, EXEC_TIME, effects);
}

static void expect_exit(struct trial *trial, enum exec_child child, int status,
                        const char *effects)
{
    expect(trial,
           (struct exec_event){.kind = EXEC_EXITED, .child = child, .status = status},
           effects);
}

static void expect_failure(struct trial *trial, enum exec_child child,
                           const char *effects)
{
    expect(trial,
           (struct exec_event){
               .kind = EXEC_LAUNCH_FAILED, .child = child, .failure = "no process"},
           effects);
}

static void expect_control(struct trial *trial, uint64_t number,
                           enum control_action action, int signal, const char *effects)
{
    expect(trial,
           (struct exec_event){
               .kind = EXEC_CONTROL,
               .control = {.number = number, .action = action, .signal = signal}},
           effects);
}

static void expect_resize(struct trial *trial, uint64_t number, const char *effects)
{
    expect(trial,
           (struct exec_event){
               .kind = EXEC_RESIZE,
               .resize = {.number = number, .n_slots = 3, .has_command = true}},
           effects);
}

static void expect_end(const struct trial *trial, enum run_end end,
                       enum run_cause cause, int code)
{
    assert_int_equal(trial->run.phase, RUN_ENDED);
    assert_int_equal(trial->run.stages.end, end);
    assert_int_equal(trial->run.stages.cause, cause);
    assert_int_equal(trial->run.stages.code, code);
    assert_int_equal(exec_run_wake_ms(&trial->run), EXEC_NEVER);
}

static void expect_post(const struct trial *trial, enum run_post post)
{
    struct guard_record record = {.post = RUN_POST_NONE};
    exec_run_fill_record(&trial->run, &record);
    assert_int_equal(record.post, post);
}

/* From the GO to the job's first instruction. */
static void start(struct trial *trial)
{
    exec_run_init(&trial->run, &trial->spec, trial->now_ms);
    expect_kind(trial, EXEC_GO, "launch:command");
    expect_kind(trial, EXEC_LAUNCHED, "save");
    expect_kind(trial, EXEC_SAVED, "watch open report");
    assert_int_equal(trial->run.phase, RUN_RUNNING);
}

/* ---- commands */

static void test_job(void **state)
{
    struct trial trial;
    begin(&trial);
    start(&trial);
    expect_kind(&trial, EXEC_GO, "report"); /* repeated */
    expect_exit(&trial, EXEC_COMMAND, 3 << 8, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_EXITED, RUN_CAUSE_NONE, 3);
    expect_control(&trial, 1, CONTROL_KILL, 0, "report"); /* too late */
}

/* A pre-exec command that fails leaves the job out; post-exec commands run. */
static void test_stages(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.pre_execs[0] = "in";
    trial.spec.post_execs[0] = "out";
    trial.spec.n_pre_execs = trial.spec.n_post_execs = 1;
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_kind(&trial, EXEC_GO, "launch:command");
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_kind(&trial, EXEC_SAVED, "open report");
    expect_exit(&trial, EXEC_COMMAND, 4 << 8, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release launch:command");
    assert_string_equal(stages_command(&trial.run.stages), "out");
    expect_failure(&trial, EXEC_COMMAND, "clear"); /* this is not the run's result */
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, 4);
}

/* Without a process or without a record on disk the run never began. */
static void test_unstarted(void **state)
{
    struct trial trial;
    begin(&trial);
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_kind(&trial, EXEC_GO, "launch:command");
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_failure(&trial, EXEC_COMMAND, "end");
    expect_end(&trial, RUN_END_FAILED, RUN_CAUSE_NONE, 0);
    expect_post(&trial, RUN_POST_NONE);
    assert_false(trial.run.has_started);
    assert_string_equal(trial.run.stages.text, "no process");
}

static void test_not_killable(void **state)
{
    struct trial trial;
    begin(&trial);
    start(&trial);
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    for (int64_t ms = 50; ms < 30000; ms += 50) {
        expect_time(&trial, ms, "clear");
    }
    expect_time(&trial, 30000, "release end");
    assert_string_equal(trial.run.stages.text,
                        "some of its processes cannot be killed");
}

/* A request between two commands waits for the next one; at the end a kill discards
 * output that its user has not received. */
static void test_between_commands(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.post_execs[0] = "out";
    trial.spec.n_post_execs = 1;
    start(&trial);
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    expect_control(&trial, 1, CONTROL_KILL, 0, "report");
    expect_control(&trial, 2, CONTROL_SUSPEND, 0, "report");
    expect_kind(&trial, EXEC_CLEARED, "release launch:command");
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_kind(&trial, EXEC_SAVED, "open report terminate:2 publish");
    expect_exit(&trial, EXEC_COMMAND, SIGINT, "clear");
    trial.run.is_interactive = true;
    expect_control(&trial, 3, CONTROL_KILL, 0, "report");
    expect_post(&trial, RUN_POST_NONE); /* not before the end */
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_EXITED, RUN_CAUSE_NONE, 0);
    expect_post(&trial, RUN_POST_ERR);
    assert_int_equal(trial.run.control_done, 3);
}

/* Other jobs need its slots before it begins, or while it runs. */
static void test_end_by(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.end_within_ms = 100;
    trial.spec.run_limit_ms = 500;
    exec_run_init(&trial.run, &trial.spec, 0);
    trial.now_ms = 100;
    expect_kind(&trial, EXEC_GO, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_FAILED, RUN_CAUSE_PRE_EXEC, 0);

    trial.now_ms = 0;
    start(&trial);
    expect_time(&trial, 100, "terminate:2");
}

/* ---- limits and kills */

/* Each signal follows JOB_TERMINATE_INTERVAL after the one before; SIGKILL is repeated.
 */
static void test_run_limit(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.run_limit_ms = 100;
    start(&trial);
    expect_time(&trial, 100, "terminate:2");
    expect_time(&trial, 100 + GRACE_MS, "terminate:15");
    expect_time(&trial, 100 + 2 * GRACE_MS, "terminate:9");
    expect_time(&trial, 1100 + 2 * GRACE_MS, "terminate:9");
    expect_exit(&trial, EXEC_COMMAND, SIGKILL, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_LIMIT, RUN_CAUSE_RUN_LIMIT, 128 + SIGKILL);
}

/* Time in SUSPENDED does not count. */
static void test_run_limit_suspended(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.run_limit_ms = 100;
    start(&trial);
    trial.now_ms = 40;
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    assert_int_equal(trial.run.phase, RUN_SUSPENDED);
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
    trial.now_ms = 1000;
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue publish");
    expect_time(&trial, 1060, "terminate:2");
}

static struct exec_event limits(uint64_t number, enum control_action action,
                                int64_t run_limit_ms, int64_t mem_limit_kib)
{
    return (struct exec_event){.kind = EXEC_CONTROL,
                               .control = {.number = number,
                                           .action = action,
                                           .run_limit_ms = run_limit_ms,
                                           .mem_limit_kib = mem_limit_kib}};
}

/* An order changes limits without a signal, or with what else it is about. The run
 * limit counts from the start; one that has passed ends the job at once. Other jobs
 * that need the slots are not put off. */
static void test_changed_limits(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.run_limit_ms = 100;
    trial.spec.end_within_ms = 5000;
    start(&trial);
    trial.now_ms = 90;
    expect(&trial, limits(1, CONTROL_SIGNAL, 400, 0), "publish");
    assert_int_equal(trial.run.control_done, 1);
    assert_int_equal(exec_run_wake_ms(&trial.run), 400);
    expect(&trial, limits(2, CONTROL_SIGNAL, 9000, 77), "limits publish");
    assert_int_equal(trial.run.mem_limit_kib, 77);
    assert_int_equal(exec_run_wake_ms(&trial.run), 5000);
    expect(&trial, limits(2, CONTROL_SIGNAL, 10, 1), "report"); /* an old one */
    trial.now_ms = 300;
    expect(&trial, limits(3, CONTROL_SUSPEND, 500, 77), "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
    trial.now_ms = 1000;
    expect(&trial, limits(4, CONTROL_RESUME, 500, 77), "continue publish");
    assert_int_equal(exec_run_wake_ms(&trial.run), 1200); /* 300 of 500 are used */
    expect(&trial, limits(5, CONTROL_SIGNAL, 250, 77), "publish");
    expect_kind(&trial, EXEC_TIME, "terminate:2");
}

/* bsub -W 100 -wt 20 -wa URG: once, 20 before the run limit, which is as ever. */
static void test_warning(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.run_limit_ms = 100;
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 20;
    trial.spec.controls[JOB_CONTROL_WARN] = "URG";
    start(&trial);
    expect_time(&trial, 80, "signal:23");
    expect_time(&trial, 100, "terminate:2");
}

/* Both are needed (LSF's bsub -wa), and a run limit. */
static void test_warning_needs_time_and_action(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 20;
    trial.spec.run_limit_ms = 100;
    start(&trial);
    expect_time(&trial, 100, "terminate:2");
    begin(&trial);
    trial.spec.controls[JOB_CONTROL_WARN] = "URG";
    trial.spec.run_limit_ms = 100;
    start(&trial);
    expect_time(&trial, 100, "terminate:2");
    begin(&trial);
    trial.spec.controls[JOB_CONTROL_WARN] = "URG";
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 20;
    start(&trial);
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
}

/* Time in SUSPENDED does not count, as for the run limit; a kill ends all of it. */
static void test_warning_suspended(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.run_limit_ms = 100;
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 20;
    trial.spec.controls[JOB_CONTROL_WARN] = "URG";
    start(&trial);
    trial.now_ms = 40;
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
    trial.now_ms = 1000;
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue publish");
    assert_int_equal(exec_run_wake_ms(&trial.run), 1040);
    expect_control(&trial, 3, CONTROL_KILL, 0, "terminate:2 publish");
    expect_time(&trial, 1000 + GRACE_MS, "terminate:15");
}

/* A command, whose end has no meaning; a run limit that is shorter than the time of the
 * warning warns at once. */
static void test_warning_command(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.run_limit_ms = 100;
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 500;
    trial.spec.controls[JOB_CONTROL_WARN] = "/opt/app/save $LSB_JOBPIDS";
    start(&trial);
    expect_kind(&trial, EXEC_TIME, "launch:control");
    expect_exit(&trial, EXEC_CONTROL_COMMAND, 1 << 8, "");
    expect_time(&trial, 100, "terminate:2");
}

/* It does not interrupt a command that suspends the job, nor is it lost. */
static void test_warning_waits_for_a_control(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.run_limit_ms = 100;
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 20;
    trial.spec.controls[JOB_CONTROL_WARN] = "/opt/app/save";
    trial.spec.controls[JOB_CONTROL_SUSPEND] = "/opt/app/pause";
    start(&trial);
    trial.now_ms = 79;
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "launch:control");
    trial.now_ms = 90;
    expect_kind(&trial, EXEC_TIME, "");
    expect_exit(&trial, EXEC_CONTROL_COMMAND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    trial.now_ms = 95;
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue:18 publish");
    expect_kind(&trial, EXEC_TIME, "launch:control");
    expect_control(&trial, 3, CONTROL_SUSPEND, 0, "drop:control launch:control");
}

/* bmod -W: a longer limit warns again, an order that repeats it does not. */
static void test_warning_of_a_changed_limit(void **state)
{
    struct trial trial;
    begin(&trial);
    (void)state;
    trial.spec.run_limit_ms = 100;
    trial.spec.limits.values[JOB_RLIMIT_WARNING] = 20;
    trial.spec.controls[JOB_CONTROL_WARN] = "URG";
    start(&trial);
    expect_time(&trial, 80, "signal:23");
    expect(&trial, limits(1, CONTROL_SIGNAL, 400, 0), "publish");
    expect_time(&trial, 380, "signal:23");
    expect(&trial, limits(2, CONTROL_SIGNAL, 400, 0), "publish");
    expect_time(&trial, 400, "terminate:2");
}

static void test_cpu_limit(void **state)
{
    struct trial trial;
    struct exec_event exceeded = {.kind = EXEC_LIMIT_EXCEEDED,
                                  .cause = RUN_CAUSE_CPU_LIMIT};
    begin(&trial);
    start(&trial);
    expect(&trial, exceeded, "terminate:24");
    expect(&trial, exceeded, ""); /* it is being terminated */
}

/* A suspended job is resumed, so that it can react; SIGKILL needs no reaction. */
static void test_kill_suspended(void **state)
{
    struct trial trial;
    begin(&trial);
    start(&trial);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_control(&trial, 2, CONTROL_KILL, 0, "continue terminate:2 publish");
    expect_control(&trial, 2, CONTROL_KILL, 0, "report");     /* repeated */
    expect_control(&trial, 3, CONTROL_SUSPEND, 0, "publish"); /* not any more */
    expect_control(&trial, 4, CONTROL_KILL, SIGKILL, "terminate:9 publish");
    expect_exit(&trial, EXEC_COMMAND, SIGKILL, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_SIGNALLED, RUN_CAUSE_NONE, SIGKILL);
}

static void test_before_go(void **state)
{
    struct trial trial;
    begin(&trial);
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "report");
    expect_kind(&trial, EXEC_GO, "launch:command");
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_kind(&trial, EXEC_SAVED, "watch open report stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    assert_int_equal(trial.run.control_done, 1);

    exec_run_init(&trial.run, &trial.spec, 0);
    expect_control(&trial, 1, CONTROL_KILL, 0, "end");
    expect_end(&trial, RUN_END_SIGNALLED, RUN_CAUSE_NONE, SIGINT);

    exec_run_init(&trial.run, &trial.spec, 0);
    expect_control(&trial, 1, CONTROL_KILL, SIGKILL, "end");
    expect_end(&trial, RUN_END_SIGNALLED, RUN_CAUSE_NONE, SIGKILL);
}

/* ---- suspend, by signal and by JOB_CONTROLS */

static void test_not_stopped(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.n_slots = 2; /* its launcher is told first */
    start(&trial);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "signal:20");
    expect_time(&trial, 1000, "stop");
    assert_int_equal(trial.run.phase, RUN_RUNNING);
    for (int64_t wait_ms = 1, at_ms = 1001; wait_ms < 500; at_ms += wait_ms) {
        expect_time(&trial, at_ms, "stop"); /* later each time */
        wait_ms *= 2;
    }
    expect_time(&trial, 2011, "stop");
    expect_time(&trial, 2511, "stop");
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue:18 publish");
    expect_kind(&trial, EXEC_STOPPED, ""); /* overtaken */
    assert_int_equal(trial.run.phase, RUN_RUNNING);
}

/* An interactive job can react to SIGTSTP, too. */
static void test_suspend_interactive(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.interaction = INTERACTION_PTY;
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_kind(&trial, EXEC_GO, "launch:command");
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_kind(&trial, EXEC_SAVED, "watch report");
    expect_kind(&trial, EXEC_USER_CONNECTED, "open");
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "signal:20");
    expect_time(&trial, 1000, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue:18 publish");
}

static void test_suspend_command(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.controls[JOB_CONTROL_SUSPEND] = "/opt/app/checkpoint";
    start(&trial);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "launch:control");
    expect_exit(&trial, EXEC_CONTROL_COMMAND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue:18 publish");
    expect_control(&trial, 3, CONTROL_SUSPEND, 0, "launch:control");
    expect_failure(&trial, EXEC_CONTROL_COMMAND, "stop"); /* as without a command */
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_control(&trial, 4, CONTROL_RESUME, 0, "continue:18 publish");
    expect_control(&trial, 5, CONTROL_SUSPEND, 0, "launch:control");
    expect_time(&trial, 60000, "kill:control stop"); /* a minute, then as without */
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_exit(&trial, EXEC_CONTROL_COMMAND, SIGKILL, "");
}

/* Once the job has ended, a hard kill ends the run without that command. */
static void test_terminate_command_is_dropped(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.controls[JOB_CONTROL_TERMINATE] = "/opt/app/leave";
    start(&trial);
    expect_control(&trial, 1, CONTROL_KILL, 0, "launch:control publish");
    expect_exit(&trial, EXEC_COMMAND, SIGTERM, "");
    expect_control(&trial, 2, CONTROL_KILL, SIGKILL,
                   "drop:control terminate:9 publish clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
}

/* The signals follow JOB_TERMINATE_INTERVAL after the command. The run is over when
 * both the job and the command are. */
static void test_terminate_command(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.controls[JOB_CONTROL_TERMINATE] = "/opt/app/leave";
    start(&trial);
    expect_control(&trial, 1, CONTROL_KILL, 0, "launch:control publish");
    trial.now_ms = 5000;
    expect_exit(&trial, EXEC_CONTROL_COMMAND, 0, "");
    expect_time(&trial, 5000 + GRACE_MS, "terminate:2");

    begin(&trial);
    trial.spec.controls[JOB_CONTROL_TERMINATE] = "/opt/app/leave";
    start(&trial);
    expect_control(&trial, 1, CONTROL_KILL, 0, "launch:control publish");
    expect_exit(&trial, EXEC_COMMAND, SIGTERM, "");
    expect_exit(&trial, EXEC_CONTROL_COMMAND, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_SIGNALLED, RUN_CAUSE_NONE, SIGTERM);

    begin(&trial);
    trial.spec.controls[JOB_CONTROL_TERMINATE] = "/opt/app/leave";
    start(&trial);
    expect_control(&trial, 1, CONTROL_KILL, 0, "launch:control publish");
    expect_failure(&trial, EXEC_CONTROL_COMMAND, "terminate:2");
    expect_time(&trial, GRACE_MS, "terminate:15");
}

/* ---- resize */

static void test_resize(void **state)
{
    struct trial trial;
    begin(&trial);
    start(&trial);
    expect_resize(&trial, 1, "launch:notification");
    expect_resize(&trial, 1, "report");                      /* repeated */
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "report"); /* waits for it */
    expect_exit(&trial, EXEC_NOTIFICATION, 0, "accept publish");
    assert_int_equal(trial.run.n_slots, 3);
    expect_resize(&trial, 2, "launch:notification");
    expect_exit(&trial, EXEC_NOTIFICATION, 5 << 8, "publish"); /* refused */
    assert_int_equal(trial.run.resize_code, 5);
    expect_resize(&trial, 3, "launch:notification");
    expect_exit(&trial, EXEC_COMMAND, 0, "drop:notification clear");
    assert_int_equal(trial.run.resize_code, RESIZE_NOT_NOW);
    assert_int_equal(trial.run.resize_done, 3);
}

static void test_resize_not_now(void **state)
{
    struct trial trial;
    begin(&trial);
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_resize(&trial, 1, "report"); /* it has not begun */
    start(&trial);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "stop");
    expect_resize(&trial, 1, "publish"); /* neither stopped nor running */
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_resize(&trial, 2, "publish");
    assert_int_equal(trial.run.resize_code, RESIZE_NOT_NOW);
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue publish");
    expect_resize(&trial, 3, "launch:notification");
    expect_time(&trial, 600000, "kill:notification");
    expect_exit(&trial, EXEC_NOTIFICATION, SIGKILL, "publish");
    assert_int_equal(trial.run.resize_code, 128 + SIGKILL);
}

/* ---- interactive runs, and runs whose guard was killed */

static void test_interactive(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.interaction = INTERACTION_PIPES;
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_kind(&trial, EXEC_GO, "launch:command");
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_kind(&trial, EXEC_SAVED, "watch report");
    expect_kind(&trial, EXEC_USER_CONNECTED, "open");
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release drain");
    assert_int_equal(trial.run.phase, RUN_RUNNING);
    expect_kind(&trial, EXEC_DRAINED, "end");
    expect_end(&trial, RUN_END_EXITED, RUN_CAUSE_NONE, 0);
}

static void test_loaded(void **state)
{
    struct trial trial;
    struct guard_record record = {
        .phase = RUN_SUSPENDED, .start_ms = 1, .control_done = 7};
    begin(&trial);
    trial.spec.post_execs[0] = "out";
    trial.spec.n_post_execs = 1;
    exec_run_load(&trial.run, &trial.spec, &record, true, 0);
    expect_time(&trial, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release launch:command");
    assert_int_equal(trial.run.phase, RUN_SUSPENDED); /* others have its slots */
    expect_kind(&trial, EXEC_LAUNCHED, "save");
    expect_kind(&trial, EXEC_SAVED, "open report");
    expect_control(&trial, 7, CONTROL_KILL, 0, "report");
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_end(&trial, RUN_END_LOST, RUN_CAUSE_NONE, 0);
    expect_post(&trial, RUN_POST_DONE);
}

/* The first guard may have given the job the slots before it died. */
static void test_loaded_answers_no_resize(void **state)
{
    struct trial trial;
    struct guard_record record = {.phase = RUN_RUNNING, .start_ms = 1};
    begin(&trial);
    trial.spec.post_execs[0] = "out";
    trial.spec.n_post_execs = 1;
    exec_run_load(&trial.run, &trial.spec, &record, true, 0);
    expect_time(&trial, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release launch:command");
    expect_resize(&trial, 1, "report");
    assert_int_equal(trial.run.resize_done, 0);
}

/* No command is executed twice, nor one before whose job has not begun, nor after the
 * machine went down. */
static void test_loaded_without_commands(void **state)
{
    static const struct {
        const char *why;
        struct guard_record record;
        bool is_this_boot;
        enum run_end end;
        int code;
        int n_post_execs;
        enum run_post post;
    } rows[] = {
        {"post-exec commands had begun",
         {.phase = RUN_RUNNING, .start_ms = 1, .end = RUN_END_EXITED, .code = 3},
         true,
         RUN_END_EXITED,
         3,
         1,
         RUN_POST_ERR},
        {"the job had ended, and there are none",
         {.phase = RUN_RUNNING, .start_ms = 1, .end = RUN_END_EXITED, .code = 3},
         true,
         RUN_END_EXITED,
         3,
         0,
         RUN_POST_DONE},
        {"it had not begun",
         {.phase = RUN_WAITING},
         true,
         RUN_END_LOST,
         0,
         1,
         RUN_POST_NONE},
        {"the machine went down",
         {.phase = RUN_RUNNING, .start_ms = 1},
         false,
         RUN_END_LOST,
         0,
         1,
         RUN_POST_ERR},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trial trial;
        print_message("%s\n", rows[i].why);
        begin(&trial);
        trial.spec.post_execs[0] = "out";
        trial.spec.n_post_execs = rows[i].n_post_execs;
        exec_run_load(&trial.run, &trial.spec, &rows[i].record, rows[i].is_this_boot,
                      0);
        expect_time(&trial, 0, "clear");
        expect_kind(&trial, EXEC_CLEARED, "release end");
        expect_end(&trial, rows[i].end, RUN_CAUSE_NONE, rows[i].code);
        assert_int_equal(trial.run.has_started, rows[i].record.start_ms != 0);
        expect_post(&trial, rows[i].post);
    }
}

/* A full disk: the record is written again until it is there, also after the end. */
static void test_unsaved(void **state)
{
    struct trial trial;
    begin(&trial);
    start(&trial);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_kind(&trial, EXEC_UNSAVED, "");
    expect_time(&trial, 1000, "write");
    expect_kind(&trial, EXEC_UNSAVED, "");
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue publish");
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER); /* it is there */
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_kind(&trial, EXEC_UNSAVED, "");
    assert_false(exec_run_is_over(&trial.run));
    expect_time(&trial, 2000, "write");
    assert_true(exec_run_is_over(&trial.run));
    expect_end(&trial, RUN_END_EXITED, RUN_CAUSE_NONE, 0);
}

/* Its waits grow, and end a day after the end: another guard may try then. */
static void test_unsaved_for_a_day(void **state)
{
    struct trial trial;
    int64_t day_ms = INT64_C(24) * 3600 * 1000, wait_ms = 0;
    int n_writes = 0;
    begin(&trial);
    start(&trial);
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_kind(&trial, EXEC_UNSAVED, "");
    int64_t begin_ms = trial.now_ms;
    while (!exec_run_is_over(&trial.run) && n_writes < 100000) {
        wait_ms = exec_run_wake_ms(&trial.run) - trial.now_ms;
        expect_time(&trial, exec_run_wake_ms(&trial.run), "write");
        expect_kind(&trial, EXEC_UNSAVED, "");
        n_writes++;
    }
    assert_true(exec_run_is_over(&trial.run));
    assert_int_equal(wait_ms, 60000);
    assert_in_range(trial.now_ms - begin_ms, day_ms, day_ms + 60000);
    assert_in_range(n_writes, 24 * 60, 24 * 60 + 60);
}

/* A directory that was deleted is not waited for: the job runs on, the guard ends with
 * it. */
static void test_homeless(void **state)
{
    struct trial trial;
    begin(&trial);
    start(&trial);
    expect_control(&trial, 1, CONTROL_SUSPEND, 0, "stop");
    expect_kind(&trial, EXEC_STOPPED, "publish");
    expect_kind(&trial, EXEC_HOMELESS, "");
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
    expect_control(&trial, 2, CONTROL_RESUME, 0, "continue publish");
    expect_exit(&trial, EXEC_COMMAND, 0, "clear");
    expect_kind(&trial, EXEC_CLEARED, "release end");
    expect_kind(&trial, EXEC_HOMELESS, "");
    assert_true(exec_run_is_over(&trial.run));
}

/* Nobody is there who could send the GO. */
static void test_alone(void **state)
{
    struct trial trial;
    begin(&trial);
    trial.spec.wait_ms = 60;
    exec_run_init(&trial.run, &trial.spec, 0);
    expect_kind(&trial, EXEC_ALONE, "");
    assert_int_equal(exec_run_wake_ms(&trial.run), 60);
    expect_kind(&trial, EXEC_ATTENDED, "");
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
    trial.now_ms = 10;
    expect_kind(&trial, EXEC_ALONE, "");
    expect_time(&trial, 70, "remove");
    assert_true(exec_run_is_over(&trial.run));
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);

    trial.now_ms = 0;
    start(&trial);
    expect_kind(&trial, EXEC_ALONE, ""); /* it has its GO */
    assert_int_equal(exec_run_wake_ms(&trial.run), EXEC_NEVER);
    expect_kind(&trial, EXEC_WITHDRAWN, "report"); /* and runs on */
    assert_false(exec_run_is_over(&trial.run));

    exec_run_init(&trial.run, &trial.spec, 0);
    expect_kind(&trial, EXEC_WITHDRAWN, "");
    assert_true(exec_run_is_over(&trial.run));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_unstarted),
        cmocka_unit_test(test_not_killable),
        cmocka_unit_test(test_between_commands),
        cmocka_unit_test(test_end_by),
        cmocka_unit_test(test_run_limit),
        cmocka_unit_test(test_run_limit_suspended),
        cmocka_unit_test(test_changed_limits),
        cmocka_unit_test(test_warning),
        cmocka_unit_test(test_warning_needs_time_and_action),
        cmocka_unit_test(test_warning_suspended),
        cmocka_unit_test(test_warning_command),
        cmocka_unit_test(test_warning_waits_for_a_control),
        cmocka_unit_test(test_warning_of_a_changed_limit),
        cmocka_unit_test(test_cpu_limit),
        cmocka_unit_test(test_kill_suspended),
        cmocka_unit_test(test_before_go),
        cmocka_unit_test(test_not_stopped),
        cmocka_unit_test(test_suspend_interactive),
        cmocka_unit_test(test_suspend_command),
        cmocka_unit_test(test_terminate_command),
        cmocka_unit_test(test_terminate_command_is_dropped),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_resize_not_now),
        cmocka_unit_test(test_interactive),
        cmocka_unit_test(test_unsaved),
        cmocka_unit_test(test_unsaved_for_a_day),
        cmocka_unit_test(test_homeless),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_loaded),
        cmocka_unit_test(test_loaded_answers_no_resize),
        cmocka_unit_test(test_loaded_without_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
