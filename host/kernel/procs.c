/* SPDX-License-Identifier: Apache-2.0 */
/* procs.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"

enum { QUIET_SCANS = 2 }; /* one may miss a child whose parent is just ending */

static int compare(const void *pid, const void *process)
{
    pid_t a = *(const pid_t *)pid, b = ((const struct process *)process)->pid;
    return (a > b) - (a < b);
}

static const struct process *find(const struct process *list, int count, pid_t pid)
{
    return bsearch(&pid, list, (size_t)count, sizeof(*list), compare);
}

/* Follows the parents up to the guard; no chain is longer than the list. */
static bool is_descendant(const struct procs *procs, const struct process *list,
                          int count, const struct process *process)
{
    for (int steps = 0; process != NULL && steps < count; steps++) {
        if (process->pid == procs->except) {
            return false;
        }
        if (process->parent == procs->guard) {
            return true;
        }
        process = find(list, count, process->parent);
    }
    return false;
}

/* The kernel does not reuse the number of a session that still has a process. If the
 * leader is not the job, the whole session is a different one. */
static bool is_of_session(const struct procs *procs, const struct process *list,
                          int count, const struct process *process)
{
    if (procs->session <= 0 || process->session != procs->session ||
        process->start < procs->session_start) {
        return false;
    }
    const struct process *leader = find(list, count, procs->session);
    return leader == NULL || leader->start == procs->session_start;
}

static bool is_member(const struct procs *procs, const struct process *list, int count,
                      const struct process *process)
{
    if (process->state == 'Z' || process->state == 'X' || process->pid == getpid()) {
        return false;
    }
    if (procs->guard > 0) {
        return is_descendant(procs, list, count, process);
    }
    return is_of_session(procs, list, count, process) ||
           process_has_env(process->pid, procs->mark);
}

/* The members are moved to the front of the list of all processes. */
struct process *procs_members(const struct procs *procs, int *n_members)
{
    int count = 0;
    struct process *list = process_list(&count);
    bool *is_in = mem_alloc((size_t)count + 1, sizeof(*is_in));
    *n_members = 0;
    for (int i = 0; i < count; i++) {
        is_in[i] = is_member(procs, list, count, &list[i]);
    }
    for (int i = 0; i < count; i++) {
        if (is_in[i]) {
            list[(*n_members)++] = list[i];
        }
    }
    free(is_in);
    return list;
}

int procs_signal(const struct procs *procs, int signal)
{
    int n_members = 0;
    int n_sent = 0;
    struct process *members = procs_members(procs, &n_members);
    for (int i = 0; i < n_members; i++) {
        n_sent += process_signal(&members[i], signal);
    }
    free(members);
    return n_sent;
}

/* One scan: stops the processes that run; true if there was none. */
static bool stop_those_that_run(const struct procs *procs)
{
    int n_members = 0;
    int n_running = 0;
    struct process *members = procs_members(procs, &n_members);
    for (int i = 0; i < n_members; i++) {
        if (members[i].state != 'T' && members[i].state != 't') {
            n_running++;
            process_signal(&members[i], SIGSTOP);
        }
    }
    free(members);
    return n_running == 0;
}

bool procs_stop(const struct procs *procs)
{
    if (cgroup_is_open(&procs->cgroup)) {
        return cgroup_freeze(&procs->cgroup, true);
    }
    for (int scan = 0; scan < QUIET_SCANS; scan++) {
        if (!stop_those_that_run(procs)) {
            return false;
        }
    }
    return true;
}

void procs_resume(const struct procs *procs)
{
    if (cgroup_is_open(&procs->cgroup)) {
        cgroup_freeze(&procs->cgroup, false);
    } else {
        procs_signal(procs, SIGCONT);
    }
}

int procs_kill(const struct procs *procs)
{
    int n_in_cgroup = 0;
    if (cgroup_is_open(&procs->cgroup)) {
        n_in_cgroup = cgroup_is_populated(&procs->cgroup);
        cgroup_kill(&procs->cgroup);
    }
    /* A process that left the cgroup is still a descendant. */
    return n_in_cgroup + procs_signal(procs, SIGKILL);
}
