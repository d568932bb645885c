/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.c: see guard_run.h. */
#include "host/guard_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/row.h"
#include "host/guard_account.h"
#include "host/guard_action.h"
#include "host/guard_clock.h"
#include "host/guard_course.h"
#include "host/guard_crew.h"
#include "host/guard_dir.h"
#include "host/guard_env.h"
#include "host/guard_job.h"
#include "host/guard_ladder.h"
#include "host/guard_limits.h"
#include "host/guard_link.h"
#include "host/guard_process.h"
#include "host/guard_record.h"
#include "host/guard_spec.h"
#include "host/guard_stream.h"

enum {
    MARK_SIZE = 256,
    LEFT_BEHIND_MS = 30000, /* processes that not even SIGKILL ends, in the kernel */
    LEFT_BEHIND_LOOK_MS = 50,
    SAVE_AGAIN_MS = 1000, /* a full disk */
    LISTEN_AGAIN_MS = 1000,
    STOP_MOMENT_MS = 1000, /* from SIGTSTP until a parallel job has to stand still: a
                              launcher tells the others of the job */
    TELL_USE_MS = 10000,   /* what a run has used: below the agent's own interval ... */
    TELL_LEAST_MS = 100,   /* ... where it is worth it ... */
    TELL_COST_FACTOR = 50, /* ... and at a fiftieth of a processor at most */
    STOP_AGAIN_MS = 500,   /* somebody could not be stopped: deep in the kernel */
};

static const int64_t never = INT64_MAX;

struct run {
    const char *path;
    int dir;
    int signals; /* signalfd: SIGCHLD */
    bool is_over;
    struct guard_spec spec;
    struct guard_account account;
    struct guard_record record;
    struct guard_crew crew;
    struct guard_job job;
    struct guard_link link;
    struct guard_stream *stream; /* of an interactive run; else NULL */
    bool is_meeting;  /* its job stands at the gate until its user is there */
    bool is_draining; /* all is over but for what its user has not got */
    bool was_killed;  /* some command of it, by an order */
    char mark[MARK_SIZE];

    struct guard_course course; /* what is executed in turn */
    struct guard_limits limits; /* of the job, while it runs */
    struct guard_ladder ladder; /* ends the command that runs */
    bool is_at_limit;           /* the run limit is what ends it */
    bool is_killed;             /* an order is */
    bool is_late;               /* the time for commands before or after the job is */
    int64_t counted_cpu_ms, peak_kib; /* of cgroups that are gone */
    int64_t ran_ms;                   /* the job, in RUNNING, up to running_since */
    int64_t running_since;
    int64_t stage_until;        /* the time for commands before or after the job */
    int64_t wait_until;         /* WAITING and no agent */
    int64_t save_at;            /* the record on disk is behind */
    int64_t listen_at;          /* there is no agent, and no socket for one yet */
    int64_t tell_at;            /* what it has used until then */
    struct run_control pending; /* came before the go; number 0: none */
    int64_t stop_at;            /* it is being stopped, and is looked at then */
    uint64_t stop_number;       /* of the order */
    bool is_asked;              /* some may have stopped at a SIGTSTP */
    int reasons;                /* enum halt_cause, added up */
    struct guard_action action; /* a command of JOB_CONTROLS */
    bool is_action_over;        /* it has just ended */
    bool is_job_over;           /* the job has, and what ends it goes on */
    int job_status;
};

/* ---- the record */

static void save(struct run *run)
{
    run->save_at = guard_record_write(run->dir, &run->record, NULL) == 0
                       ? never
                       : guard_clock_now_ms() + SAVE_AGAIN_MS;
}

static void publish(struct run *run)
{
    save(run);
    guard_link_push(&run->link, &run->record);
}

static void end(struct run *run, enum run_end how, uint64_t code, const char *text)
{
    run->record.phase = RUN_ENDED;
    run->record.end = how;
    run->record.code = code;
    run->record.end_ms = guard_clock_wall_ms();
    if (text[0] != '\0') {
        guard_record_set_text(&run->record, text);
    }
    guard_dir_measure(run->dir, &run->record);
    publish(run);
}

/* ---- the end */

/* Collects whoever has ended; true while any child is left. */
static bool reap(struct run *run, bool *is_job_over, int *status)
{
    for (;;) {
        int code = 0;
        pid_t pid = waitpid(-1, &code, WNOHANG);
        if (pid == 0) {
            return true;
        }
        if (pid < 0) {
            return errno != ECHILD;
        }
        if (pid == run->job.pid) {
            *is_job_over = true;
            *status = code;
        } else if (guard_action_ended(&run->action, pid)) {
            run->crew.except = 0;
            run->is_action_over = true;
        }
    }
}

static void wait_signal(const struct run *run, int timeout_ms)
{
    struct pollfd polls = {.fd = run->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&polls, 1, timeout_ms) > 0) {
        ssize_t got = read(run->signals, &info, sizeof(info));
        (void)got; /* only that it came matters */
    }
}

/* As the subreaper the guard is the parent of all that is left: when there is no child,
 * there is nothing left. False where something does not die. */
static bool clear_left_behind(struct run *run)
{
    bool is_job_over = true;
    int status = 0;
    int64_t until = guard_clock_now_ms() + LEFT_BEHIND_MS;
    while (reap(run, &is_job_over, &status)) {
        if (guard_clock_now_ms() > until) {
            return false;
        }
        guard_crew_kill(&run->crew);
        wait_signal(run, LEFT_BEHIND_LOOK_MS);
    }
    return true;
}

/* What the cgroup has counted is taken over before it goes. */
static void leave_cgroup(struct run *run)
{
    if (guard_cgroup_is_made(&run->crew.cgroup)) {
        int64_t cpu_ms = guard_cgroup_cpu_ms(&run->crew.cgroup);
        int64_t peak_kib = guard_cgroup_peak_kib(&run->crew.cgroup);
        run->counted_cpu_ms += cpu_ms > 0 ? cpu_ms : 0;
        run->peak_kib = peak_kib > run->peak_kib ? peak_kib : run->peak_kib;
    }
    guard_cgroup_remove(&run->crew.cgroup);
    run->record.cgroup[0] = '\0';
}

static void measure_use(struct run *run)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    int64_t mem_kib = usage.ru_maxrss;
    int64_t cpu_ms = guard_limits_waited_ms();
    cpu_ms = run->counted_cpu_ms > cpu_ms ? run->counted_cpu_ms : cpu_ms;
    mem_kib = run->peak_kib > mem_kib ? run->peak_kib : mem_kib;
    run->record.cpu_ms = (uint64_t)cpu_ms;
    run->record.mem_kib = (uint64_t)mem_kib;
}

/* Told to the agent, not to the disk: it is of use while the run goes on. */
static void tell_use(struct run *run, int64_t now)
{
    int64_t cpu_ms = run->counted_cpu_ms + guard_limits_cpu_ms(&run->crew);
    int64_t least_ms = (guard_clock_now_ms() - now) * TELL_COST_FACTOR;
    run->tell_at = now + (least_ms > TELL_USE_MS ? least_ms : TELL_USE_MS);
    if (cpu_ms >= (int64_t)run->record.cpu_ms + TELL_LEAST_MS) {
        run->record.cpu_ms = (uint64_t)cpu_ms;
        guard_link_push(&run->link, &run->record);
    }
}

/* What the job came to goes on record before commands after it begin. */
static void note_decision(struct run *run)
{
    const struct guard_course *course = &run->course;
    run->record.end = course->end;
    run->record.cause = course->cause;
    run->record.code = (uint64_t)course->code;
    guard_record_set_text(&run->record, course->text);
}

/* What its user is to have yet goes first: who hears of the end asks no more. */
static void conclude(struct run *run)
{
    if (run->stream != NULL) {
        guard_stream_end(run->stream,
                         run->was_killed ? GUARD_STREAM_KILLED_MS
                                         : GUARD_STREAM_PATIENCE_MS,
                         guard_clock_now_ms());
        run->is_draining = !guard_stream_is_over(run->stream, guard_clock_now_ms());
    }
    if (!run->is_draining) {
        end(run, run->course.end, (uint64_t)run->course.code, run->course.text);
    }
}

static void finish(struct run *run)
{
    if (!clear_left_behind(run)) {
        snprintf(run->course.text, sizeof(run->course.text),
                 "processes were left that cannot be killed");
    }
    guard_ladder_init(&run->ladder);
    run->stage_until = never;
    leave_cgroup(run);
    measure_use(run);
    note_decision(run);
    conclude(run);
}

/* ---- orders */

/* Says that it stands still only once all of it does: others get its slots then. */
static void stop_all(struct run *run)
{
    int64_t now = guard_clock_now_ms();
    if (!guard_crew_suspend(&run->crew)) {
        run->stop_at = now + STOP_AGAIN_MS;
        return;
    }
    run->stop_at = never;
    run->ran_ms += now - run->running_since;
    run->record.phase = RUN_SUSPENDED;
    run->record.control_done = run->stop_number;
    publish(run);
}

/* What JOB_CONTROLS says of the job itself; NULL: nothing. */
static const char *control_of(const struct run *run, enum job_action action)
{
    return run->course.stage == GUARD_JOB ? run->spec.controls[action] : NULL;
}

static void end_action(struct run *run)
{
    guard_action_kill(&run->action);
    guard_action_init(&run->action); /* it is collected as any other child */
    run->crew.except = 0;
}

/* One that runs still is over with that: the latest order counts. */
static bool start_action(struct run *run, enum job_action action)
{
    struct guard_action_place place = {.dir = run->dir,
                                       .spec = &run->spec,
                                       .account = &run->account,
                                       .crew = &run->crew,
                                       .reasons = run->reasons};
    struct err err = {0};
    end_action(run);
    if (guard_action_begin(&run->action, action, &place, guard_clock_now_ms(), &err) !=
        0) {
        snprintf(run->course.text, sizeof(run->course.text), "JOB_CONTROLS: %s: %.200s",
                 job_action_name(action), err.text);
        return false;
    }
    run->crew.except = run->action.pid;
    return true;
}

static void begin_stop(struct run *run, const struct run_control *control)
{
    const char *what = control_of(run, JOB_ACTION_SUSPEND);
    int asked = run->spec.n_slots > 1 ? SIGTSTP : 0;
    int signal = what != NULL ? job_action_signal(what) : asked;
    run->stop_number = control->number;
    run->reasons = control->reasons;
    run->is_asked = what != NULL || signal != 0;
    if (what != NULL && signal == 0 && start_action(run, JOB_ACTION_SUSPEND)) {
        run->stop_at = run->action.until_ms; /* or once it has ended */
        return;
    }
    if (signal == 0 || signal == SIGSTOP) {
        stop_all(run);
        return;
    }
    guard_crew_signal(&run->crew, signal);
    run->stop_at = guard_clock_now_ms() + STOP_MOMENT_MS;
}

static void resume_all(struct run *run)
{
    bool is_stopping = run->stop_at != never;
    run->stop_at = never;
    end_action(run);
    if (run->record.phase == RUN_SUSPENDED) {
        run->running_since = guard_clock_now_ms();
        run->record.phase = RUN_RUNNING;
        is_stopping = true;
    }
    if (is_stopping) {
        guard_crew_resume(&run->crew);
        if (run->is_asked) {
            guard_crew_signal(&run->crew, SIGCONT);
        }
        run->is_asked = false;
    }
}

/* By its user or the scheduler: it hears what JOB_CONTROLS says besides. */
static void resume(struct run *run)
{
    bool is_still = run->record.phase == RUN_SUSPENDED || run->stop_at != never;
    const char *what = control_of(run, JOB_ACTION_RESUME);
    resume_all(run);
    if (!is_still || what == NULL) {
        return;
    }
    int signal = job_action_signal(what);
    if (signal != 0) {
        guard_crew_signal(&run->crew, signal);
    } else {
        start_action(run, JOB_ACTION_RESUME);
    }
}

static void climb(struct run *run, int64_t now)
{
    int signal = guard_ladder_step(&run->ladder, run->spec.grace_ms, now);
    if (signal == SIGKILL) {
        guard_crew_kill(&run->crew);
    } else if (signal != 0) {
        guard_crew_signal(&run->crew, signal);
    }
}

/* By what JOB_CONTROLS says; the usual signals come a grace after that. False where it
 * says nothing. */
static bool begin_control(struct run *run, int64_t now)
{
    const char *what = control_of(run, JOB_ACTION_TERMINATE);
    if (what == NULL || guard_ladder_is_on(&run->ladder)) {
        return what != NULL;
    }
    int signal = job_action_signal(what);
    if (signal != 0) {
        guard_crew_signal(&run->crew, signal);
        guard_ladder_put_off(&run->ladder, now + run->spec.grace_ms);
        return true;
    }
    if (start_action(run, JOB_ACTION_TERMINATE)) {
        guard_ladder_put_off(&run->ladder, run->action.until_ms);
        return true;
    }
    return false;
}

/* Ends the command that runs. A suspended one is resumed, or it could not hear the
 * signals and clean up; one whose slots are others' (SIGKILL) ends where it stands. */
static void terminate(struct run *run, int signal)
{
    int64_t now = guard_clock_now_ms();
    if (run->is_meeting) { /* at the gate it hears nothing */
        run->is_meeting = false;
        guard_job_release(&run->job);
    }
    if (signal == SIGKILL) {
        run->stop_at = never;
        end_action(run);
    } else if (run->action.action != JOB_ACTION_TERMINATE ||
               !guard_action_is_on(&run->action)) {
        resume_all(run);
    }
    if (signal != SIGKILL && begin_control(run, now)) {
        return;
    }
    guard_ladder_begin(&run->ladder, signal, now);
    climb(run, now);
}

static void carry_out(struct run *run, const struct run_control *control)
{
    switch (control->action) {
    case CONTROL_SIGNAL:
        /* Nobody signals what is to stand still: it was to go on before, and the order
         * to do so was overtaken. */
        resume_all(run);
        guard_crew_signal(&run->crew, control->signal);
        break;
    case CONTROL_SUSPEND:
        /* Who is being killed is not held up. */
        if (!guard_ladder_is_on(&run->ladder) && run->record.phase == RUN_RUNNING) {
            begin_stop(run, control);
            return;
        }
        break;
    case CONTROL_RESUME:
        resume(run);
        break;
    case CONTROL_KILL:
        run->is_killed = run->was_killed = true;
        terminate(run, control->signal == SIGKILL ? SIGKILL : SIGINT);
        break;
    }
    run->record.control_done = control->number;
    publish(run);
}

/* Nothing is left of it but its output: a kill lets that go. */
static void control_draining(struct run *run, const struct run_control *control)
{
    run->record.control_done = control->number;
    if (control->action == CONTROL_KILL) {
        run->is_draining = false;
        end(run, run->course.end, (uint64_t)run->course.code, run->course.text);
    } else {
        publish(run);
    }
}

static void control(struct run *run, const struct guard_order *order)
{
    struct run_control wanted = {order->number, (enum control_action)order->action,
                                 order->signal, false, (int)order->reasons};
    bool is_known = order->action <= CONTROL_KILL && order->signal >= 0 &&
                    order->reasons <= HALT_CAUSES && order->signal < NSIG &&
                    (order->action != CONTROL_SIGNAL || order->signal > 0);
    bool is_news = wanted.number > run->record.control_done &&
                   !(run->stop_at != never && wanted.number <= run->stop_number);
    if (!is_known || !is_news || run->record.phase == RUN_ENDED) {
        guard_link_push(&run->link, &run->record);
    } else if (run->is_draining) {
        control_draining(run, &wanted);
    } else if (run->record.phase != RUN_WAITING) {
        carry_out(run, &wanted);
    } else if (wanted.action == CONTROL_KILL) {
        run->record.control_done = wanted.number;
        end(run, RUN_END_SIGNALLED, SIGTERM, "killed before it began");
    } else {
        if (wanted.number > run->pending.number) {
            run->pending = wanted;
        }
        guard_link_push(&run->link, &run->record);
    }
}

/* ---- the beginning */

static void make_cgroup(struct run *run)
{
    struct guard_record *record = &run->record;
    run->crew.cgroup = (struct guard_cgroup){.dir = -1};
    if (run->spec.cgroup[0] == '\0') {
        return;
    }
    /* The mark in it: another federation's run may have the same name. */
    int length =
        snprintf(record->cgroup, sizeof(record->cgroup), "%s/%s-%016llx",
                 run->spec.cgroup, run->spec.run, (unsigned long long)record->mark);
    if (length >= (int)sizeof(record->cgroup) ||
        !guard_cgroup_make(&run->crew.cgroup, record->cgroup)) {
        record->cgroup[0] = '\0';
    }
}

/* Of an interactive job: its terminal or pipes. */
static int open_ends(struct run *run, struct guard_command *command,
                     struct guard_ends *ends, struct err *err)
{
    guard_ends_init(ends);
    if (!command->is_job || run->stream == NULL) {
        return 0;
    }
    command->ends = ends;
    return guard_ends_open(ends, &run->spec, &run->account, err);
}

static int fork_command(struct run *run, struct err *err)
{
    bool is_job = run->course.stage == GUARD_JOB;
    struct guard_env env = {0};
    struct guard_ends ends;
    struct guard_command command = {.text = guard_course_command(&run->course),
                                    .is_job = is_job,
                                    .env = run->spec.env};
    int code = open_ends(run, &command, &ends, err);
    if (code != 0) {
        return code;
    }
    if (!is_job) {
        guard_env_init(&env, &run->course);
        command.env = env.list;
    }
    if (!guard_cgroup_is_made(&run->crew.cgroup)) {
        make_cgroup(run);
    }
    code = guard_job_fork(&run->job, run->dir, &run->spec, &command, &run->account,
                          &run->crew.cgroup, err);
    guard_env_release(&env);
    if (code != 0) {
        guard_ends_close(&ends);
    } else if (command.ends != NULL) {
        guard_ends_leave(&ends);
        guard_stream_begin(run->stream, &ends, guard_clock_now_ms());
    }
    if (!guard_cgroup_is_made(&run->crew.cgroup)) {
        run->record.cgroup[0] = '\0';
    }
    struct guard_process process = {0};
    if (code == 0 && !guard_process_read(run->job.pid, &process)) {
        process.start = 0;
    }
    run->record.job_pid = code == 0 ? (uint64_t)run->job.pid : 0;
    run->record.job_start = process.start;
    return code;
}

static int64_t stage_limit_ms(const struct run *run)
{
    const int64_t *values = run->spec.limits.values;
    switch (run->course.stage) {
    case GUARD_BEFORE:
        return values[JOB_LIMIT_PRE_TIME];
    case GUARD_AFTER:
        return values[JOB_LIMIT_POST_TIME];
    case GUARD_JOB:
    case GUARD_OVER:
        break;
    }
    return JOB_LIMIT_NONE;
}

/* The clocks of the command that is about to begin. */
static void set_clocks(struct run *run)
{
    int64_t now = guard_clock_now_ms(), limit_ms = stage_limit_ms(run);
    guard_ladder_init(&run->ladder);
    run->is_killed = run->is_late = false;
    if (run->course.at == 0) {
        run->stage_until = limit_ms == JOB_LIMIT_NONE ? never : now + limit_ms;
    }
    run->limits.look_at = never;
    if (run->course.stage == GUARD_JOB) {
        run->ran_ms = 0;
        run->running_since = now;
        guard_limits_begin(&run->limits, &run->spec.limits, &run->crew, now);
    }
}

/* A command's first instruction comes after the record says that it has begun. */
static int start_command(struct run *run, struct err *err)
{
    int code = fork_command(run, err);
    if (code == 0 && (code = guard_record_write(run->dir, &run->record, err)) != 0) {
        guard_job_abandon(&run->job);
        waitpid(run->job.pid, NULL, 0);
    }
    if (code != 0) {
        return code;
    }
    set_clocks(run);
    run->is_meeting = run->course.stage == GUARD_JOB && run->stream != NULL;
    if (!run->is_meeting) {
        guard_job_release(&run->job);
    }
    guard_link_push(&run->link, &run->record);
    if (run->record.phase == RUN_SUSPENDED && run->course.stage != GUARD_AFTER) {
        guard_crew_suspend(&run->crew); /* what cleans up is not held up */
    }
    return 0;
}

/* The next command that can be begun; the end where there is none. */
static void proceed(struct run *run)
{
    while (guard_course_command(&run->course) != NULL) {
        struct err err = {0};
        if (start_command(run, &err) == 0) {
            return;
        }
        struct guard_outcome outcome = {.failure = err.text};
        guard_course_go_on(&run->course, &outcome);
        note_decision(run);
    }
    finish(run);
}

static void begin(struct run *run)
{
    struct err err = {0};
    run->record.phase = RUN_RUNNING;
    run->record.start_ms = guard_clock_wall_ms();
    int code = run->spec.interaction == INTERACTION_NONE
                   ? 0
                   : guard_stream_new(&run->stream, &err);
    if (code != 0 || start_command(run, &err) != 0) {
        guard_cgroup_remove(&run->crew.cgroup);
        run->record.start_ms = 0;
        end(run, RUN_END_FAILED, 0, err.text);
        return;
    }
    if (run->pending.number > 0) {
        carry_out(run, &run->pending);
    }
}

/* ---- from one command to the next */

static void end_command(struct run *run, int status)
{
    char note[GUARD_RECORD_TEXT_SIZE] = "";
    guard_job_has_failed(&run->job, note, sizeof(note));
    struct guard_outcome outcome = {.status = status,
                                    .is_ended_by_order = run->is_killed,
                                    .is_late = run->is_late,
                                    .failure = note};
    bool is_job = run->course.stage == GUARD_JOB;
    if (is_job && run->is_at_limit) {
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    } else if (is_job && !run->is_killed) {
        outcome.cause = guard_limits_cause(&run->limits, &run->crew, status);
    }
    run->limits.look_at = never;
    run->is_meeting = false;
    guard_course_go_on(&run->course, &outcome);
    if (run->course.is_decided) {
        note_decision(run);
    }
    if (run->course.is_decided && run->course.stage != GUARD_OVER) {
        /* Nobody of the job is there while others clean up. They are born into another
         * cgroup: kernels (6.18 does) kill who is born into one that was
         * killed. */
        clear_left_behind(run);
        leave_cgroup(run);
    }
    proceed(run);
}

/* What was to suspend it has ended, or had its time; what was to end it likewise. */
static void on_action_over(struct run *run)
{
    if (run->stop_at != never && run->record.phase == RUN_RUNNING) {
        stop_all(run);
    } else if (guard_ladder_is_on(&run->ladder)) {
        guard_ladder_put_off(&run->ladder, guard_clock_now_ms() + run->spec.grace_ms);
    }
}

static void on_child(struct run *run)
{
    bool is_command_over = false;
    run->is_action_over = false;
    reap(run, &is_command_over, &run->job_status);
    run->is_job_over = run->is_job_over || is_command_over;
    bool is_ending =
        guard_action_is_on(&run->action) && run->action.action == JOB_ACTION_TERMINATE;
    if (run->is_job_over && !is_ending) {
        end_action(run);
        run->is_job_over = false;
        end_command(run, run->job_status);
    } else if (run->is_action_over) {
        on_action_over(run);
    }
}

static void watch_action(struct run *run, int64_t now)
{
    if (now >= run->action.until_ms) {
        snprintf(run->course.text, sizeof(run->course.text),
                 "the %s command of JOB_CONTROLS took too long and was ended",
                 job_action_name(run->action.action));
        guard_action_kill(&run->action); /* its end is waited for */
    }
}

static void on_order(void *arg, const struct guard_order *order)
{
    struct run *run = arg;
    bool is_waiting = run->record.phase == RUN_WAITING;
    if (order->kind == ORDER_GO && is_waiting && order->token == run->record.token) {
        begin(run);
    } else if (order->kind == ORDER_CONTROL) {
        control(run, order);
    } else if (order->kind == ORDER_END &&
               (is_waiting || run->record.phase == RUN_ENDED)) {
        run->is_over = true;
    } else {
        guard_link_push(&run->link, &run->record);
    }
}

/* ---- time */

static int64_t limit_at(const struct run *run)
{
    if (run->record.phase != RUN_RUNNING || run->spec.run_limit_ms == 0 ||
        run->course.stage != GUARD_JOB || guard_ladder_is_on(&run->ladder)) {
        return never;
    }
    return run->running_since + run->spec.run_limit_ms - run->ran_ms;
}

/* What stands still is not woken to be told of a limit. */
static bool is_held(const struct run *run)
{
    return run->record.phase == RUN_SUSPENDED && run->course.stage != GUARD_AFTER;
}

static int64_t stage_at(const struct run *run)
{
    return is_held(run) ? never : run->stage_until;
}

static int64_t look_at(const struct run *run)
{
    return is_held(run) ? never : run->limits.look_at;
}

static int64_t stream_at(const struct run *run)
{
    bool is_awaited = run->stream != NULL && (run->is_meeting || run->is_draining);
    return is_awaited ? guard_stream_wake_ms(run->stream) : never;
}

/* What stands still uses nothing. */
static int64_t tell_at(const struct run *run)
{
    return run->record.phase == RUN_RUNNING && run->link.n_peers > 0 ? run->tell_at
                                                                     : never;
}

static int next_timeout(const struct run *run)
{
    int64_t times[] = {run->wait_until,     run->save_at,        run->listen_at,
                       run->ladder.next_ms, stage_at(run),       limit_at(run),
                       look_at(run),        run->stop_at,        stream_at(run),
                       tell_at(run),        run->action.until_ms};
    int64_t next = never;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        next = times[i] < next ? times[i] : next;
    }
    if (next == never) {
        return -1;
    }
    int64_t left = next - guard_clock_now_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* The socket's file is made when the first agent is gone: most runs never need it. */
static void watch_link(struct run *run, int64_t now)
{
    if (run->link.listener >= 0 || run->link.n_peers > 0) {
        run->listen_at = never;
    } else if (run->listen_at == never || now >= run->listen_at) {
        run->listen_at =
            guard_link_listen(&run->link, NULL) == 0 ? never : now + LISTEN_AGAIN_MS;
    }
}

static void watch_agent(struct run *run, int64_t now)
{
    if (run->record.phase != RUN_WAITING || run->link.n_peers > 0) {
        run->wait_until = never;
    } else if (run->wait_until == never) {
        run->wait_until = now + run->spec.wait_ms;
    }
}

static void watch_limits(struct run *run, int64_t now)
{
    if (now >= limit_at(run)) {
        run->is_at_limit = true;
        terminate(run, SIGINT);
    }
    if (now >= stage_at(run)) {
        run->stage_until = never;
        run->is_late = true;
        terminate(run, SIGINT);
    }
    enum run_cause cause = now < look_at(run)
                               ? RUN_CAUSE_NONE
                               : guard_limits_look(&run->limits, &run->crew, now);
    if (cause != RUN_CAUSE_NONE && !guard_ladder_is_on(&run->ladder)) {
        terminate(run, cause == RUN_CAUSE_CPU_LIMIT ? SIGXCPU : SIGINT);
    }
}

static void watch_stream(struct run *run, int64_t now)
{
    if (run->is_meeting && guard_stream_is_met(run->stream, now)) {
        run->is_meeting = false;
        guard_job_release(&run->job);
    }
    if (run->is_draining && guard_stream_is_over(run->stream, now)) {
        run->is_draining = false;
        end(run, run->course.end, (uint64_t)run->course.code, run->course.text);
    }
}

static void on_time(struct run *run)
{
    int64_t now = guard_clock_now_ms();
    watch_stream(run, now);
    watch_link(run, now);
    watch_agent(run, now);
    if (now >= run->wait_until) {
        guard_dir_remove(run->dir, run->path);
        run->is_over = true;
        return;
    }
    if (run->record.phase != RUN_ENDED) {
        watch_action(run, now);
        watch_limits(run, now);
        climb(run, now);
    }
    if (now >= run->stop_at && run->record.phase == RUN_RUNNING) {
        stop_all(run);
    }
    if (now >= run->save_at) {
        save(run);
    }
    if (now >= tell_at(run)) {
        tell_use(run, now);
    }
}

static void live(struct run *run)
{
    while (!run->is_over &&
           !(run->record.phase == RUN_ENDED && run->save_at == never)) {
        struct pollfd polls[2 + GUARD_LINK_PEERS + GUARD_STREAM_POLLS] = {
            {.fd = run->signals, .events = POLLIN}};
        int n_polls = guard_link_polls(&run->link, polls + 1);
        struct pollfd *of_stream = polls + 1 + n_polls;
        int n_of_stream =
            run->stream == NULL ? 0 : guard_stream_polls(run->stream, of_stream);
        if (poll(polls, (nfds_t)(1 + n_polls + n_of_stream), next_timeout(run)) < 0) {
            continue;
        }
        if (polls[0].revents != 0) {
            wait_signal(run, 0);
            on_child(run);
        }
        guard_link_serve(&run->link, polls + 1, n_polls, &run->record, on_order, run);
        if (n_of_stream > 0) {
            guard_stream_serve(run->stream, of_stream, n_of_stream,
                               guard_clock_now_ms());
        }
        on_time(run);
    }
}

/* ---- setting up */

/* Every signal is blocked: a shutdown that asks all to end is for the job, whose end
 * the guard then writes down. */
static int block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int make_work(const struct run *run, struct err *err)
{
    if (run->spec.cwd[0] != '\0') {
        return 0;
    }
    if ((mkdirat(run->dir, RUN_DIR_WORK, 0700) != 0 && errno != EEXIST) ||
        (run->account.is_other &&
         fchownat(run->dir, RUN_DIR_WORK, run->account.uid, run->account.gid,
                  AT_SYMLINK_NOFOLLOW) != 0)) {
        return err_set(err, ERR_IO, "cannot make the run's work directory: %s",
                       strerror(errno));
    }
    return 0;
}

static int draw_numbers(struct run *run, struct err *err)
{
    uint64_t numbers[2];
    if (getrandom(numbers, sizeof(numbers), 0) != (ssize_t)sizeof(numbers)) {
        return err_set(err, ERR_IO, "no random numbers: %s", strerror(errno));
    }
    run->record.token = (numbers[0] >> 1) | 1;
    run->record.mark = (numbers[1] >> 1) | 1;
    return 0;
}

static void set_mark(struct run *run)
{
    snprintf(run->mark, sizeof(run->mark), "SUBLET_RUN=%s.%016llx", run->spec.run,
             (unsigned long long)run->record.mark);
    run->spec.env[run->spec.n_env] = run->mark;
}

static int read_spec(struct run *run, struct err *err)
{
    int code = guard_spec_read(run->dir, &run->spec, err);
    return code != 0 ? code
                     : guard_account_find(run->spec.account, run->spec.is_leased,
                                          &run->account, err);
}

static int prepare(struct run *run, struct err *err)
{
    int code = read_spec(run, err);
    if (code == 0) {
        code = make_work(run, err);
    }
    if (code == 0) {
        code = draw_numbers(run, err);
    }
    if (code == 0) {
        set_mark(run);
        guard_course_init(&run->course, &run->spec);
        run->record.phase = RUN_WAITING;
        code = guard_record_write(run->dir, &run->record, err);
    }
    return code;
}

static void init(struct run *run, const char *path, int agent)
{
    *run = (struct run){
        .path = path,
        .dir = -1,
        .job = {.gate = -1},
        .crew = {.cgroup = {.dir = -1}, .guard = getpid()},
        .wait_until = never,
        .stage_until = never,
        .limits = {.look_at = never},
        .save_at = never,
        .listen_at = never,
        .stop_at = never,
        .action = {.until_ms = GUARD_ACTION_NEVER},
    };
    run->record.guard_pid = (uint64_t)getpid();
    guard_dir_read_boot_id(run->record.boot_id, sizeof(run->record.boot_id));
    guard_ladder_init(&run->ladder);
    guard_link_init(&run->link);
    if (agent >= 0) {
        guard_link_add(&run->link, agent);
    }
}

/* The lock goes before the connections: who hears that we are gone may take it. */
static void release(struct run *run)
{
    if (run->dir >= 0) {
        close(run->dir);
    }
    guard_link_release(&run->link);
    guard_stream_free(run->stream);
    guard_account_release(&run->account);
    guard_spec_release(&run->spec);
}

static void take_process(struct run *run)
{
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    run->signals = block_signals();
}

int guard_run_after(const char *path, int dir, int agent,
                    const struct guard_record *record)
{
    struct run run;
    struct err err = {0};
    init(&run, path, agent);
    uint64_t guard_pid = run.record.guard_pid;
    run.record = *record;
    run.record.guard_pid = guard_pid;
    run.dir = dir;
    take_process(&run);
    if (run.signals >= 0 && read_spec(&run, &err) == 0) {
        set_mark(&run);
        guard_course_init_after(&run.course, &run.spec, record);
        proceed(&run);
        live(&run);
    } else {
        end(&run, record->end, record->code, record->text);
    }
    release(&run);
    return 0;
}

int guard_run_main(const char *path, int agent)
{
    struct run run;
    struct err err = {0};
    init(&run, path, agent);
    take_process(&run);
    run.dir = guard_dir_take(path);
    if (run.dir < 0 || run.signals < 0) {
        release(&run);
        return 1;
    }
    if (prepare(&run, &err) == 0) {
        guard_link_push(&run.link, &run.record);
        on_time(&run);
        live(&run);
    } else {
        /* On disk if it can be; the agent is told in any case. */
        end(&run, RUN_END_FAILED, 0, err.text);
    }
    release(&run);
    return 0;
}
