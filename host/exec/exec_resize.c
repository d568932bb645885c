/* SPDX-License-Identifier: Apache-2.0 */
/* exec_resize.c: see exec_step.h. */
#include "host/exec/exec_step.h"

#include <sys/wait.h>

enum { NOTIFICATION_MAX_MS = 600000 };

bool exec_resize_takes(const struct exec_run *run, uint64_t number)
{
    return (run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED) &&
           number > run->resize_done && !run->resize.is_running;
}

void exec_resize_answer(const struct exec_step *step, int code)
{
    struct exec_run *run = step->run;
    run->resize.is_running = false;
    run->resize_done = run->resize.request.number;
    run->resize_code = code;
    if (code == 0) {
        run->n_slots = run->resize.request.n_slots;
        exec_step_add_kind(step, EXEC_ACCEPT_SLOTS);
    }
}

static bool may_be_notified(const struct exec_run *run)
{
    return run->phase == RUN_RUNNING && exec_step_is_at_job(run) &&
           run->suspend.until_ms == EXEC_NEVER && !escalation_is_on(&run->escalation) &&
           !run->side.is_running;
}

void exec_resize_begin(const struct exec_step *step, const struct exec_resize *request)
{
    struct exec_run *run = step->run;
    if (run->is_reaped /* the job may have the slots: its end answers */ ||
        !exec_resize_takes(run, request->number)) {
        exec_step_add_kind(step, EXEC_REPORT);
        return;
    }
    run->resize.request = *request;
    if (may_be_notified(run) && request->has_command) {
        run->resize.is_running = true;
        run->resize.until_ms = step->now_ms + NOTIFICATION_MAX_MS;
        exec_step_add_child(step, EXEC_LAUNCH, EXEC_NOTIFICATION);
        return;
    }
    exec_resize_answer(step, may_be_notified(run) ? 0 : RESIZE_NOT_NOW);
    exec_step_publish(step);
}

void exec_resize_abandon(const struct exec_step *step)
{
    if (step->run->resize.is_running) {
        exec_step_add_child(step, EXEC_DROP, EXEC_NOTIFICATION);
        exec_resize_answer(step, RESIZE_NOT_NOW);
    }
}

void exec_resize_on_exited(const struct exec_step *step, int status)
{
    exec_resize_answer(step, WIFEXITED(status) ? WEXITSTATUS(status)
                                               : 128 + WTERMSIG(status));
    exec_step_publish(step);
}
