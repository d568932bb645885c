/* SPDX-License-Identifier: Apache-2.0 */
/* exec_side.c: see exec_step.h. */
#include "host/exec/exec_step.h"

enum { CONTROL_COMMAND_MAX_MS = 60000 };

const char *exec_side_control(const struct exec_run *run, enum job_control control)
{
    return exec_step_is_at_job(run) ? run->spec->controls[control] : NULL;
}

void exec_side_drop(const struct exec_step *step)
{
    if (step->run->side.is_running) {
        step->run->side.is_running = false;
        exec_step_add_child(step, EXEC_DROP, EXEC_CONTROL_COMMAND);
    }
}

void exec_side_launch(const struct exec_step *step, enum job_control control,
                      int signal)
{
    struct exec_run *run = step->run;
    exec_side_drop(step);
    run->side.is_running = true;
    run->side.control = control;
    run->side.signal = signal;
    run->side.until_ms = step->now_ms + CONTROL_COMMAND_MAX_MS;
    exec_step_add_child(step, EXEC_LAUNCH, EXEC_CONTROL_COMMAND);
}
