/* SPDX-License-Identifier: Apache-2.0 */
/* resize_command.c: see resize_command.h. */
#include "host/guard/resize_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "host/guard/guard_run.h"
#include "host/kernel/kernel.h"

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

/* ---- launch and accept */

bool resize_command_read(struct guard_run *run, uint64_t number)
{
    struct resize_request next;
    if (!run_dir_read_resize(run->dir, number, &next)) {
        return false;
    }
    free(run->resize.request.bytes);
    run->resize.request = next;
    return true;
}

int resize_command_launch(struct guard_run *run, pid_t *pid, struct err *err)
{
    const struct resize_request *request = &run->resize.request;
    const char **env = variables_of(&run->spec, request);
    struct launch_command command = {.text = request->command, .env = env};
    int code = launch_aside(pid, run->dir, &run->spec, &command, &run->account, err);
    free(env);
    return code;
}

void resize_command_accept(struct guard_run *run)
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

void resize_command_reload(struct guard_run *run)
{
    const struct guard_record *record = &run->record;
    if (record->resize_done != 0 && record->resize_code == 0 &&
        run_dir_read_resize(run->dir, record->resize_done, &run->resize.request)) {
        resize_command_accept(run);
    }
}
