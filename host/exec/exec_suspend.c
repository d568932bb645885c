/* SPDX-License-Identifier: Apache-2.0 */
/* exec_suspend.c: see exec_step.h. */
#include "host/exec/exec_step.h"

#include <signal.h>

enum {
    TSTP_GRACE_MS = 1000,     /* from SIGTSTP to SIGSTOP: the launcher of a parallel job
                                 passes the signal on, an interactive job leaves its
                                 terminal in order */
    STOP_AGAIN_FIRST_MS = 1,  /* a stop is a matter of microseconds ... */
    STOP_AGAIN_LAST_MS = 500, /* ... unless a process is deep in the kernel */
};

bool exec_suspend_is_stopping(const struct exec_run *run)
{
    return run->phase == RUN_RUNNING && run->suspend.until_ms != EXEC_NEVER;
}

void exec_suspend_stop(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    int64_t wait_ms = run->suspend.again_ms;
    run->suspend.until_ms = step->now_ms + wait_ms;
    run->suspend.again_ms =
        2 * wait_ms < STOP_AGAIN_LAST_MS ? 2 * wait_ms : STOP_AGAIN_LAST_MS;
    exec_step_add_kind(step, EXEC_STOP);
}

void exec_suspend_on_stopped(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    if (!exec_suspend_is_stopping(run)) {
        return;
    }
    run->suspend.until_ms = EXEC_NEVER;
    run->ran_ms += step->now_ms - run->running_since_ms;
    run->phase = RUN_SUSPENDED;
    run->control_done = run->suspend.number;
    exec_step_publish(step);
}

void exec_suspend_begin(const struct exec_step *step, const struct run_control *control)
{
    struct exec_run *run = step->run;
    const char *what = exec_side_control(run, JOB_CONTROL_SUSPEND);
    bool is_interactive = run->spec->interaction != INTERACTION_NONE;
    int tstp = run->n_slots > 1 || is_interactive ? SIGTSTP : 0;
    int signal = what != NULL ? job_control_signal(what) : tstp;
    run->suspend.number = control->number;
    run->suspend.causes = control->reasons;
    run->suspend.again_ms = STOP_AGAIN_FIRST_MS;
    run->suspend.is_signalled = what != NULL || signal != 0;
    if (what != NULL && signal == 0) {
        exec_side_launch(step, JOB_CONTROL_SUSPEND, 0);
        run->suspend.until_ms = run->side.until_ms; /* or once it has ended */
    } else if (signal == 0 || signal == SIGSTOP) {
        exec_suspend_stop(step);
    } else {
        run->suspend.until_ms = step->now_ms + TSTP_GRACE_MS;
        exec_step_add_signal(step, EXEC_SIGNAL, signal);
    }
}

void exec_suspend_resume_all(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    bool was_stopping = run->suspend.until_ms != EXEC_NEVER;
    run->suspend.until_ms = EXEC_NEVER;
    exec_side_drop(step);
    if (run->phase == RUN_SUSPENDED) {
        run->running_since_ms = step->now_ms;
        run->phase = RUN_RUNNING;
        was_stopping = true;
    }
    if (was_stopping) {
        exec_step_add_signal(step, EXEC_CONTINUE,
                             run->suspend.is_signalled ? SIGCONT : 0);
        run->suspend.is_signalled = false;
    }
}

void exec_suspend_resume(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    bool was_suspended =
        run->phase == RUN_SUSPENDED || run->suspend.until_ms != EXEC_NEVER;
    const char *what = exec_side_control(run, JOB_CONTROL_RESUME);
    exec_suspend_resume_all(step);
    if (!was_suspended || what == NULL) {
        return;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        exec_step_add_signal(step, EXEC_SIGNAL, signal);
    } else {
        exec_side_launch(step, JOB_CONTROL_RESUME, 0);
    }
}
