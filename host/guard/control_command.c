/* SPDX-License-Identifier: Apache-2.0 */
/* control_command.c: see control_command.h. */
#include "host/guard/control_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/guard/launch.h"
#include "model/row.h"

enum {
    ADDED_MAX = 6, /* those of control_command.h, and PWD, which launch.c sets */
    PIDS_SIZE = 64 * 1024, /* the kernel allows 128 KiB for a variable */
    NUMBER_SIZE = 24,
};

/* ---------------------------------------------------------------- variables */

/* A list of numbers, separated by blanks, as many as fit. */
struct numbers {
    char *text;
    size_t length;
};

static void numbers_begin(struct numbers *numbers, const char *name)
{
    numbers->text = mem_alloc(PIDS_SIZE, 1);
    numbers->length = (size_t)snprintf(numbers->text, PIDS_SIZE, "%s=", name);
}

static void numbers_add(struct numbers *numbers, pid_t number)
{
    bool is_first = numbers->text[numbers->length - 1] == '=';
    if (numbers->length + NUMBER_SIZE < PIDS_SIZE) {
        numbers->length +=
            (size_t)snprintf(numbers->text + numbers->length, NUMBER_SIZE, "%s%d",
                             is_first ? "" : " ", (int)number);
    }
}

static bool is_listed(const pid_t *groups, int count, pid_t group)
{
    for (int i = 0; i < count; i++) {
        if (groups[i] == group) {
            return true;
        }
    }
    return false;
}

static void list_processes(const struct procs *procs, struct numbers *pids,
                           struct numbers *groups)
{
    int n_members = 0, n_groups = 0;
    struct process *members = procs_members(procs, &n_members);
    pid_t *known = mem_alloc((size_t)n_members + 1, sizeof(*known));
    numbers_begin(pids, "LSB_JOBPIDS");
    numbers_begin(groups, "LSB_JOBPGIDS");
    for (int i = 0; i < n_members; i++) {
        pid_t group = getpgid(members[i].pid);
        numbers_add(pids, members[i].pid);
        if (group > 0 && !is_listed(known, n_groups, group)) {
            known[n_groups++] = group;
            numbers_add(groups, group);
        }
    }
    free(known);
    free(members);
}

/* The bits of LSF's lsbatch.h: SUSP_USER_STOP, SUSP_MBD_PREEMPT, SUSP_QUEUE_WINDOW,
 * SUSP_LOAD_REASON. */
static int reasons_of(int causes)
{
    return ((causes & SUSPEND_USER) != 0 ? 0x2 : 0) |
           ((causes & SUSPEND_PREEMPT) != 0 ? 0x80 : 0) |
           ((causes & SUSPEND_WINDOW) != 0 ? 0x8 : 0) |
           ((causes & SUSPEND_LOAD) != 0 ? 0x40 : 0);
}

/* ---------------------------------------------------------------- launch */

int control_command_launch(enum job_control which,
                           const struct control_command_context *context, pid_t *pid,
                           struct err *err)
{
    struct numbers pids, groups;
    char reasons[sizeof("LSB_SUSP_REASONS=") + NUMBER_SIZE];
    const char *const *given = context->spec->env;
    int count = 0;
    while (given[count] != NULL) { /* including the run's mark */
        count++;
    }
    const char **env = mem_alloc((size_t)count + ADDED_MAX + 1, sizeof(*env));
    memcpy(env, given, (size_t)count * sizeof(*env));
    list_processes(context->procs, &pids, &groups);
    env[count++] = pids.text;
    env[count++] = groups.text;
    env[count++] = "LS_EXEC_T=JOB_CONTROLS";
    if (which == JOB_CONTROL_SUSPEND) {
        snprintf(reasons, sizeof(reasons), "LSB_SUSP_REASONS=%d",
                 reasons_of(context->reasons));
        env[count++] = reasons;
        env[count++] = "LSB_SUSP_SUBREASONS=0";
    }
    struct launch_command shell = {.text = context->spec->controls[which], .env = env};
    int code =
        launch_aside(pid, context->dir, context->spec, &shell, context->account, err);
    free(env);
    free(pids.text);
    free(groups.text);
    return code;
}
