/* SPDX-License-Identifier: Apache-2.0 */
/* exec_terminate.c: see exec_step.h. */
#include "host/exec/exec_step.h"

#include <signal.h>

void exec_terminate_escalate(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    int signal = escalation_next(&run->escalation, run->spec->grace_ms, step->now_ms);
    if (signal != 0) {
        exec_step_add_signal(step, EXEC_TERMINATE, signal);
    }
}

/* Terminates by JOB_CONTROLS; the default signals follow after JOB_TERMINATE_INTERVAL.
 * Returns false if JOB_CONTROLS has nothing for this. */
static bool terminate_by_control(const struct exec_step *step, int first_signal)
{
    struct exec_run *run = step->run;
    const char *what = exec_side_control(run, JOB_CONTROL_TERMINATE);
    if (what == NULL || escalation_is_on(&run->escalation)) {
        return what != NULL;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        exec_step_add_signal(step, EXEC_TERMINATE, signal);
        escalation_postpone(&run->escalation, step->now_ms + run->spec->grace_ms);
    } else {
        exec_side_launch(step, JOB_CONTROL_TERMINATE, first_signal);
        escalation_postpone(&run->escalation, run->side.until_ms);
    }
    return true;
}

bool exec_terminate_is_running(const struct exec_run *run)
{
    return run->side.is_running && run->side.control == JOB_CONTROL_TERMINATE;
}

void exec_terminate_begin(const struct exec_step *step, int signal)
{
    struct exec_run *run = step->run;
    exec_resize_abandon(step);
    exec_step_open_gate(step);
    if (signal == SIGKILL) {
        run->suspend.until_ms = EXEC_NEVER;
        exec_side_drop(step);
    } else if (!exec_terminate_is_running(run)) {
        exec_suspend_resume_all(step);
    }
    if (signal == SIGKILL || !terminate_by_control(step, signal)) {
        escalation_begin(&run->escalation, signal, step->now_ms);
        exec_terminate_escalate(step);
    }
}
