/* SPDX-License-Identifier: Apache-2.0 */
/* control_command.c: see control_command.h. */
#include "host/guard/control_command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/kernel/process.h"
#include "model/row.h"

enum {
    ACTION_MAX_MS = 60000,
    ADDED_MAX = 6,         /* the variables above, and PWD by who starts the command */
    PIDS_SIZE = 64 * 1024, /* the kernel takes 128 KiB a variable */
    NUMBER_SIZE = 24,
};

void control_command_init(struct control_command *action)
{
    *action = (struct control_command){.until_ms = CONTROL_COMMAND_NEVER};
}

bool control_command_is_running(const struct control_command *action)
{
    return action->pid != 0;
}

/* ---------------------------------------------------------------- variables */

/* Numbers with blanks between them, as many as fit. */
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

static void list_processes(const struct procs *crew, struct numbers *pids,
                           struct numbers *groups)
{
    int n_members = 0, n_groups = 0;
    struct process *members = procs_members(crew, &n_members);
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
    return ((causes & HALT_USER) != 0 ? 0x2 : 0) |
           ((causes & HALT_PREEMPT) != 0 ? 0x80 : 0) |
           ((causes & HALT_WINDOW) != 0 ? 0x8 : 0) |
           ((causes & HALT_LOAD) != 0 ? 0x40 : 0);
}

/* ---------------------------------------------------------------- begin, end */

int control_command_begin(struct control_command *action, enum job_control which,
                          const struct control_command_context *place, int64_t now_ms,
                          struct err *err)
{
    struct numbers pids, groups;
    char reasons[sizeof("LSB_SUSP_REASONS=") + NUMBER_SIZE];
    const char *const *given = place->spec->env;
    int count = 0;
    while (given[count] != NULL) { /* the run's mark is among them */
        count++;
    }
    const char **env = mem_alloc((size_t)count + ADDED_MAX + 1, sizeof(*env));
    memcpy(env, given, (size_t)count * sizeof(*env));
    list_processes(place->crew, &pids, &groups);
    env[count++] = pids.text;
    env[count++] = groups.text;
    env[count++] = "LS_EXEC_T=JOB_CONTROLS";
    if (which == JOB_CONTROL_SUSPEND) {
        snprintf(reasons, sizeof(reasons), "LSB_SUSP_REASONS=%d",
                 reasons_of(place->reasons));
        env[count++] = reasons;
        env[count++] = "LSB_SUSP_SUBREASONS=0";
    }
    struct cgroup none = {.dir = -1};
    struct launched job;
    struct launch_command command = {.text = place->spec->controls[which], .env = env};
    int code = launch_fork(&job, place->dir, place->spec, &command, place->account,
                           &none, err);
    if (code == 0) {
        launch_release(&job);
        launch_abandon(&job); /* of why it could not begin nobody asks */
        *action = (struct control_command){which, job.pid, now_ms + ACTION_MAX_MS};
    }
    free(env);
    free(pids.text);
    free(groups.text);
    return code;
}

bool control_command_ended(struct control_command *action, pid_t pid)
{
    if (action->pid == 0 || pid != action->pid) {
        return false;
    }
    control_command_init(action);
    return true;
}

void control_command_kill(struct control_command *action)
{
    if (action->pid == 0) {
        return;
    }
    int count = 0;
    struct process *list = process_list(&count);
    for (int i = 0; i < count; i++) {
        if (list[i].session == action->pid || list[i].pid == action->pid) {
            process_signal(&list[i], SIGKILL);
        }
    }
    free(list);
    action->until_ms = CONTROL_COMMAND_NEVER;
}
