/* SPDX-License-Identifier: Apache-2.0 */
/* procs.c: see procs.h. */
#include "host/kernel/procs.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/kernel/kernel_clock.h"
#include "host/kernel/process.h"

enum {
    STOP_LOOK_MS = 1, /* a stop is a matter of microseconds */
    STOP_LOOKS = 500,
    QUIET_LOOKS = 2, /* one look may miss a child whose parent goes just then */
};

static const struct process *find(const struct process *list, int count, pid_t pid)
{
    int low = 0;
    int high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list[middle].pid < pid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && list[low].pid == pid ? &list[low] : NULL;
}

/* Parents are followed up to the guard; a chain is no longer than the list. */
static bool is_descendant(const struct procs *crew, const struct process *list,
                          int count, const struct process *process)
{
    for (int steps = 0; process != NULL && steps < count; steps++) {
        if (process->pid == crew->except) {
            return false;
        }
        if (process->parent == crew->guard) {
            return true;
        }
        process = find(list, count, process->parent);
    }
    return false;
}

/* A session's number is not given out again while one process is in it; where its
 * leader is another than ours, the whole session is another. */
static bool is_of_session(const struct procs *crew, const struct process *list,
                          int count, const struct process *process)
{
    if (crew->session <= 0 || process->session != crew->session ||
        process->start < crew->session_start) {
        return false;
    }
    const struct process *leader = find(list, count, crew->session);
    return leader == NULL || leader->start == crew->session_start;
}

static bool is_member(const struct procs *crew, const struct process *list, int count,
                      const struct process *process)
{
    if (process->state == 'Z' || process->state == 'X' || process->pid == getpid()) {
        return false;
    }
    if (crew->guard > 0) {
        return is_descendant(crew, list, count, process);
    }
    return is_of_session(crew, list, count, process) ||
           process_has_env(process->pid, crew->mark);
}

/* They are moved to the front of the list of all. */
struct process *procs_members(const struct procs *crew, int *n_members)
{
    int count = 0;
    struct process *list = process_list(&count);
    bool *is_in = mem_alloc((size_t)count + 1, sizeof(*is_in));
    *n_members = 0;
    for (int i = 0; i < count; i++) {
        is_in[i] = is_member(crew, list, count, &list[i]);
    }
    for (int i = 0; i < count; i++) {
        if (is_in[i]) {
            list[(*n_members)++] = list[i];
        }
    }
    free(is_in);
    return list;
}

int procs_signal(const struct procs *crew, int signal)
{
    int n_members = 0;
    int n_sent = 0;
    struct process *members = procs_members(crew, &n_members);
    for (int i = 0; i < n_members; i++) {
        n_sent += process_signal(&members[i], signal);
    }
    free(members);
    return n_sent;
}

/* One look: stops who moves; true when nobody did. */
static bool stop_those_that_run(const struct procs *crew)
{
    int n_members = 0;
    int n_moving = 0;
    struct process *members = procs_members(crew, &n_members);
    for (int i = 0; i < n_members; i++) {
        if (members[i].state != 'T' && members[i].state != 't') {
            n_moving++;
            process_signal(&members[i], SIGSTOP);
        }
    }
    free(members);
    return n_moving == 0;
}

bool procs_suspend(const struct procs *crew)
{
    if (cgroup_is_open(&crew->cgroup)) {
        return cgroup_freeze(&crew->cgroup, true);
    }
    int n_quiet = 0;
    for (int look = 0; look < STOP_LOOKS; look++) {
        n_quiet = stop_those_that_run(crew) ? n_quiet + 1 : 0;
        if (n_quiet == QUIET_LOOKS) {
            return true;
        }
        kernel_clock_sleep(STOP_LOOK_MS);
    }
    return false;
}

void procs_resume(const struct procs *crew)
{
    if (cgroup_is_open(&crew->cgroup)) {
        cgroup_freeze(&crew->cgroup, false);
    } else {
        procs_signal(crew, SIGCONT);
    }
}

int procs_kill(const struct procs *crew)
{
    int n_in_cgroup = 0;
    if (cgroup_is_open(&crew->cgroup)) {
        n_in_cgroup = cgroup_is_populated(&crew->cgroup);
        cgroup_kill(&crew->cgroup);
    }
    /* Whoever left the cgroup is still a descendant. */
    return n_in_cgroup + procs_signal(crew, SIGKILL);
}
