/* SPDX-License-Identifier: Apache-2.0 */
/* exec_step.h: a step of a run (exec_run), for the files that decide its parts. Each
 * changes the run and appends effects.
 *
 *   exec_side       the command of JOB_CONTROLS beside the current one
 *   exec_resize     other slots, and the command that is notified of them
 *   exec_suspend    suspension and resumption
 *   exec_terminate  the end of the current command by signals
 *
 * Layer: host/exec (pure). */
#ifndef SUBLET_HOST_EXEC_EXEC_STEP_H
#define SUBLET_HOST_EXEC_EXEC_STEP_H

#include "host/exec/exec.h"

/* The run, what is to be done, and when. */
struct exec_step {
    struct exec_run *run;
    struct exec_effects *effects;
    int64_t now_ms;
};

void exec_step_add_kind(const struct exec_step *step, enum exec_effect_kind kind);
void exec_step_add_signal(const struct exec_step *step, enum exec_effect_kind kind,
                          int signal);
void exec_step_add_child(const struct exec_step *step, enum exec_effect_kind kind,
                         enum exec_child child);
/* The record has changed. */
void exec_step_publish(const struct exec_step *step);
/* The job itself is the current command. */
bool exec_step_is_at_job(const struct exec_run *run);
/* At the gate the job gets no signals. */
void exec_step_open_gate(const struct exec_step *step);

/* The command or signal of JOB_CONTROLS for the job itself; NULL: none. */
const char *exec_side_control(const struct exec_run *run, enum job_control control);
/* A command that still runs is dropped: the latest request counts. */
void exec_side_launch(const struct exec_step *step, enum job_control control,
                      int signal);
void exec_side_drop(const struct exec_step *step);

void exec_resize_begin(const struct exec_step *step, const struct exec_resize *request);
/* `code` 0: the run has its new slots. */
void exec_resize_answer(const struct exec_step *step, int code);
/* The notification command has ended. */
void exec_resize_on_exited(const struct exec_step *step, int status);
/* The job ends, or is to be terminated. */
void exec_resize_abandon(const struct exec_step *step);

void exec_suspend_begin(const struct exec_step *step,
                        const struct run_control *control);
/* Processes are to be stopped, and are not yet. */
bool exec_suspend_is_stopping(const struct exec_run *run);
void exec_suspend_stop(const struct exec_step *step);
void exec_suspend_on_stopped(const struct exec_step *step);
void exec_suspend_resume_all(const struct exec_step *step);
/* A resume by request also does what JOB_CONTROLS says. */
void exec_suspend_resume(const struct exec_step *step);

/* Terminates the current command, beginning with this signal. A suspended command is
 * resumed, or it could not react to the signals, except for SIGKILL: its slots may be
 * in use by other jobs. */
void exec_terminate_begin(const struct exec_step *step, int signal);
/* The next signal, if it is due. */
void exec_terminate_escalate(const struct exec_step *step);
/* The command that terminates the job still runs. */
bool exec_terminate_is_running(const struct exec_run *run);

#endif
