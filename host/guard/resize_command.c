/* SPDX-License-Identifier: Apache-2.0 */
/* resize_command.c: see resize_command.h. */
#include "host/guard/resize_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "host/guard/guard_run.h"
#include "host/kernel/kernel.h"

enum { COMMAND_MAX_MS = 600000 };

bool resize_command_is_running(const struct resize_command *resize)
{
    return resize->pid != 0;
}

/* ---- variables */

/* The index of the variable "NAME=value" in the list; -1: none. */
static int find_variable(const char *const *list, int count, const char *variable)
{
    size_t length = strcspn(variable, "=") + 1;
    for (int i = 0; i < count; i++) {
        if (strncmp(list[i], variable, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int put_variable(const char **list, int count, const char *variable)
{
    int at = find_variable(list, count, variable);
    list[at < 0 ? count : at] = variable;
    return at < 0 ? count + 1 : count;
}

/* The environment of the job with the variables of the resize, and a free place for
 * PWD. */
static const char **variables_of(const struct run_spec *spec,
                                 const struct resize_request *request)
{
    int count = 0;
    while (spec->env[count] != NULL) { /* including the run's mark */
        count++;
    }
    const char **list =
        mem_alloc((size_t)count + 2 * RUN_SPEC_RESIZE_ENV_MAX + 2, sizeof(*list));
    memcpy(list, spec->env, (size_t)count * sizeof(*list));
    for (int i = 0; i < request->n_env; i++) {
        count = put_variable(list, count, request->env[i]);
    }
    for (int i = 0; i < request->n_command_env; i++) {
        count = put_variable(list, count, request->command_env[i]);
    }
    return list;
}

/* The run has the new slots from now on, also for post-exec commands. */
static void apply(struct guard_run *run)
{
    struct resize_command *resize = &run->resize;
    struct run_spec *spec = &run->spec;
    for (int i = 0; i < resize->request.n_env; i++) {
        int at = find_variable(spec->env, spec->n_env, resize->request.env[i]);
        if (at >= 0) {
            spec->env[at] = resize->request.env[i];
        }
    }
    spec->n_slots = resize->request.n_slots;
    free(resize->applied.bytes); /* every resize sets the same variables */
    resize->applied = resize->request;
    resize->request = (struct resize_request){0};
}

/* ---- begin and end */

static void answer(struct guard_run *run, int code)
{
    run->record.resize_done = (uint64_t)run->resize.request.number;
    run->record.resize_code = (uint64_t)code;
    if (code == 0) {
        apply(run);
    }
}

static bool may_be_notified(const struct guard_run *run)
{
    return run->record.phase == RUN_RUNNING && run->stages.stage == STAGE_JOB &&
           run->suspend_at == GUARD_RUN_NEVER && !run->is_draining &&
           !escalation_is_on(&run->escalation) &&
           !control_command_is_running(&run->control_command);
}

/* Returns 0 if the command runs. */
static int launch_notification(struct guard_run *run)
{
    struct resize_command *resize = &run->resize;
    struct err err;
    const char **env = variables_of(&run->spec, &resize->request);
    struct launch_command command = {.text = resize->request.command, .env = env};
    int code =
        launch_aside(&resize->pid, run->dir, &run->spec, &command, &run->account, &err);
    if (code == 0) {
        resize->until_ms = kernel_clock_now_ms() + COMMAND_MAX_MS;
        run->procs.except = resize->pid;
    }
    free(env);
    return code;
}

static void begin(struct guard_run *run)
{
    if (!may_be_notified(run)) {
        answer(run, RESIZE_NOT_NOW);
    } else if (run->resize.request.command[0] == '\0') {
        answer(run, 0);
    } else if (launch_notification(run) == 0) {
        return;
    } else {
        answer(run, RESIZE_NOT_NOW); /* no process can be made */
    }
    guard_run_publish(run);
}

void resize_command_request(struct guard_run *run, const struct guard_request *request)
{
    struct resize_command *resize = &run->resize;
    bool has_begun =
        run->record.phase == RUN_RUNNING || run->record.phase == RUN_SUSPENDED;
    struct resize_request next;
    if (!has_begun || request->number <= run->record.resize_done ||
        resize_command_is_running(resize) ||
        !run_dir_read_resize(run->dir, request->number, &next)) {
        guard_link_push(&run->link, &run->record);
        return;
    }
    free(resize->request.bytes);
    resize->request = next;
    begin(run);
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void forget_command(struct guard_run *run)
{
    run->resize.pid = 0;
    run->resize.until_ms = GUARD_RUN_NEVER;
    run->procs.except = 0;
}

bool resize_command_ended(struct guard_run *run, pid_t pid, int status)
{
    if (run->resize.pid == 0 || pid != run->resize.pid) {
        return false;
    }
    forget_command(run);
    answer(run, code_of(status));
    guard_run_publish(run);
    return true;
}

void resize_command_expire(struct guard_run *run, int64_t now)
{
    (void)now;
    process_kill_session(run->resize.pid);
    run->resize.until_ms = GUARD_RUN_NEVER; /* run_step.c collects it */
}

void resize_command_abandon(struct guard_run *run)
{
    if (!resize_command_is_running(&run->resize)) {
        return;
    }
    process_kill_session(run->resize.pid);
    forget_command(run); /* run_step.c collects it as any other child */
    answer(run, RESIZE_NOT_NOW);
}

void resize_command_reload(struct guard_run *run)
{
    const struct guard_record *record = &run->record;
    if (record->resize_done != 0 && record->resize_code == 0 &&
        run_dir_read_resize(run->dir, record->resize_done, &run->resize.request)) {
        apply(run);
    }
}
