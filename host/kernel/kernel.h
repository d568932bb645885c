/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h: what Linux provides to guards and to sublet-host: clocks, processes,
 * cgroups and accounts. Only libc is needed.
 *
 *   account      the user account of a job, and how a process switches to it
 *   private_view what a leased job sees of the machine: directories and processes
 *   cgroup_root  the directory where this machine lets us make cgroups
 *   cgroup       the cgroup (version 2) of one run
 *   memcg        the memory controller for one run, version 2 or 1
 *   process      the processes of the machine, from /proc
 *   procs        all processes of one run, and signals to all of them
 *
 * Units: milliseconds, KiB; clock ticks since boot for the start of a process.
 * Source: cgroup-v2.rst ("No Internal Process Constraint"),
 * cgroup-v1/memory.rst; systemd's CGROUP_DELEGATION. Layer: host. */
#ifndef SUBLET_HOST_KERNEL_KERNEL_H
#define SUBLET_HOST_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/err.h"

/* ---- clocks and boot */

static inline int64_t kernel_clock_read_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For deadlines and durations. */
static inline int64_t kernel_clock_now_ms(void)
{
    return kernel_clock_read_ms(CLOCK_MONOTONIC);
}

/* For records. */
static inline uint64_t kernel_clock_wall_ms(void)
{
    return (uint64_t)kernel_clock_read_ms(CLOCK_REALTIME);
}

static inline void kernel_clock_sleep(int64_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* The id of this boot of the machine, "" if it is not known. It is read from the
 * kernel, or from the file that SUBLET_BOOT_ID_FILE names, for tests and for
 * containers, where the id of the kernel may outlive the container with all its
 * processes. sublet-host and its guards must agree: guards inherit the environment. */
void boot_id_read(char *boot_id, size_t size);

/* ---- accounts
 *
 * Without root's powers only the daemon's own account is allowed; a leased run never
 * runs as root. The look-up may ask the network for a while, so the guard does it, not
 * the daemon. */
struct account {
    bool is_other; /* other than the guard's own: the ids below have to be set */
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* heap */
    int n_groups;
    char *name, *shell; /* heap; of leased runs only */
    char *home;         /* heap, likewise; NULL: it has none */
};

/* `name` "": the guard's own account. A leased run may have "sublet-NUMBER": the
 * account with that number, which no user of this host may have. Errors: ERR_NOT_FOUND
 * no such account, ERR_DENIED it is not allowed. */
int account_find(const char *name, bool is_leased, struct account *account,
                 struct err *err) MUST_CHECK;
void account_release(struct account *account);
/* Sets the ids for good; returns 0 or errno. In the job's process, before exec. */
int account_become(const struct account *account);

/* ---- what a leased job sees
 *
 * A run of another account gets directories of its own in the place of /tmp and
 * /var/tmp (in the run's directory, shared by all its commands), an empty /dev/shm, no
 * System V IPC of others, and a /proc with the processes of its account only. The guard
 * is not affected: mounts are those of the command's process alone. A directory that
 * the spool is in stays as it is, because the job works in the spool. */
enum private_part {
    PRIVATE_TMP = 1,
    PRIVATE_VAR_TMP = 2,
    PRIVATE_SHM = 4,
    PRIVATE_PROC = 8,
    PRIVATE_ALL = 15,
};

/* The parts that can be private here; 0: none, as without root's powers. Tries it in a
 * process that it forks. */
int private_view_probe(const char *spool);
/* Of the parts that are not in `view`, "/tmp, /proc"; "" if it has all. */
void private_view_name_shared(int view, char *text, size_t size);
/* Makes the directories in the run's directory; false with errno. */
bool private_view_prepare(int dir, int view);
/* In the command's process, which is in the run's directory and still root; returns 0
 * or errno. */
int private_view_enter(int view);

/* ---- where cgroups are made
 *
 * Version 2: a directory "sublet" in the mount that /proc/self/mountinfo names (on a
 * hybrid machine that is not /sys/fs/cgroup itself). Candidates are, in this order:
 * beside our own cgroup if that is named "agent" (systemd's Delegate=yes and
 * DelegateSubgroup=agent), in our own cgroup, in the root cgroup. Of the writable ones
 * the first with the memory controller is chosen, else the first. Our own cgroup never
 * has the controller, because a cgroup that contains processes cannot pass it down.
 *
 * Version 1: if no such place has the memory controller, "sublet" in the hierarchy of
 * that controller, if it is writable. */
enum { CGROUP_ROOT_PATH_SIZE = 1024 };

struct cgroup_root {
    char path[CGROUP_ROOT_PATH_SIZE];   /* "": none */
    bool has_memory;                    /* the memory controller is available in it */
    char memory[CGROUP_ROOT_PATH_SIZE]; /* that of version 1 instead; "": none */
};

/* `process` is our directory in /proc ("/proc/self"). */
void cgroup_root_find(const char *process, struct cgroup_root *found);
/* Removes empty cgroups of runs, left there when guard and spool were both destroyed.
 * Recent ones stay, because a guard may be about to use them. */
void cgroup_root_sweep(const struct cgroup_root *found);

/* ---- the cgroup of a run
 *
 * Freezing, killing and CPU time need no controller; memory does (memcg).
 *
 * Ownership: the cgroup outlives the guard; cgroup_remove removes it once it is empty.
 * Errors: none is fatal; processes of a run without cgroup are found by their parents.
 */
struct cgroup {
    int dir; /* -1: none */
    const char *path;
};

static inline bool cgroup_is_open(const struct cgroup *cgroup)
{
    return cgroup->dir >= 0;
}

/* Makes the cgroup, or opens an existing one. `path` is borrowed. On false, dir is -1.
 */
bool cgroup_make(struct cgroup *cgroup, const char *path);
bool cgroup_open(struct cgroup *cgroup, const char *path);
void cgroup_close(struct cgroup *cgroup);
void cgroup_remove(struct cgroup *cgroup);

/* Freezes the cgroup, or thaws it. Returns false if freezing is not complete yet: the
 * kernel continues with it, mostly for less than 10 ms. */
bool cgroup_freeze(const struct cgroup *cgroup, bool is_frozen);
void cgroup_kill(const struct cgroup *cgroup);
bool cgroup_is_populated(const struct cgroup *cgroup);
/* -1: the kernel does not report it. */
int64_t cgroup_cpu_ms(const struct cgroup *cgroup);

/* ---- the memory of a run
 *
 * Version 2: files of the run's own cgroup, if it has the memory controller. Version 1:
 * a second cgroup of the run, in the hierarchy of that controller. Its processes enter
 * it before their first instruction, and it is used for memory only.
 *
 * If a run exceeds its limit, the kernel kills processes: all of the run in version 2,
 * one after the other in version 1, so that the guard has to watch the counter.
 *
 * Ownership: a cgroup of version 1 outlives the guard; memcg_remove removes it once it
 * is empty. `path` is borrowed. Errors: a run without a cgroup for its memory is
 * counted by its guard, which adds up the memory of the processes. A process that
 * cannot enter the cgroup that was made for it does not begin. */
struct memcg {
    int dir;          /* -1: the kernel limits nothing */
    const char *path; /* of a cgroup of version 1; NULL: version 2, `dir` is borrowed */
};

static inline bool memcg_is_open(const struct memcg *memcg)
{
    return memcg->dir >= 0;
}

/* Version 2: uses the run's cgroup. Returns false if that has no memory controller. */
bool memcg_use_cgroup(struct memcg *memcg, const struct cgroup *cgroup);
/* Version 2: the run's cgroup is closed. */
void memcg_forget_cgroup(struct memcg *memcg);
/* Version 1: makes the cgroup, or opens an existing one. */
bool memcg_make(struct memcg *memcg, const char *path);
/* Version 1: the calling process, which must have one thread, and all that it will
 * start count in the cgroup. */
bool memcg_enter(const struct memcg *memcg);
/* The same for another process, such as one that is frozen. The kernel takes about 18
 * ms for it, in which no process of the machine can fork; memcg_enter needs no such
 * wait. */
bool memcg_add_process(const struct memcg *memcg, pid_t pid);
/* After the end of all processes. */
void memcg_remove(struct memcg *memcg);

/* The kernel limits the run to that; false if it cannot, or cannot any more. */
bool memcg_set_limit(const struct memcg *memcg, int64_t kib);
/* How many processes the kernel has killed for that; -1: it does not report it. */
int64_t memcg_oom_kills(const struct memcg *memcg);
/* True if the kernel then kills the whole run, so that no watch is needed. */
bool memcg_kills_whole_run(const struct memcg *memcg);
int64_t memcg_peak_kib(const struct memcg *memcg); /* -1: not reported */

/* ---- processes
 *
 * A process is identified by its id and its start time: the id alone may have been
 * reused. */
struct process {
    pid_t pid, parent, session;
    char state; /* as ps shows it: R S D T Z */
    uint64_t start;
    uint64_t cpu_ticks; /* of itself and of the children that it has waited for */
    uint64_t n_threads, virtual_bytes, resident_pages;
};

/* Returns false if there is no such process. */
bool process_read(pid_t pid, struct process *process);
/* All processes of the machine, by id; the caller frees the list. */
struct process *process_list(int *count);
/* True if its environment, as it was at exec, contains `text`. */
bool process_has_env(pid_t pid, const char *text);
/* Sends the signal if this process still lives; false if it is gone. */
bool process_signal(const struct process *process, int signal);
/* Kills the process and all of its session. */
void process_kill_session(pid_t pid);

/* ---- all processes of a run
 *
 * While the guard lives they are its descendants: as a subreaper it inherits orphans,
 * also those that used setsid or forked twice. If the guard was killed, they are the
 * processes of its cgroup, of the job's session, and those that carry the run's mark in
 * their environment.
 *
 * Freezing and killing use the cgroup, if there is one, and miss no process. Without a
 * cgroup they send signals to each process, repeatedly, until a scan finds none left.
 */
struct procs {
    struct cgroup cgroup;
    struct memcg memcg;
    pid_t guard;  /* the ancestor of all; 0: the guard is gone */
    pid_t except; /* this process and its descendants do not belong to the run: a
                     command of JOB_CONTROLS or a resize notification */
    /* For a guard that is gone: */
    pid_t session;
    uint64_t session_start;
    const char *mark; /* "SUBLET_RUN=..." */
};

/* Those that live, in a list that the caller frees. */
struct process *procs_members(const struct procs *procs, int *n_members);
/* Returns how many processes got the signal. */
int procs_signal(const struct procs *procs, int signal);
/* Stops those that run; true if all are stopped already. Does not wait: to be called
 * again until it returns true. */
bool procs_stop(const struct procs *procs);
void procs_resume(const struct procs *procs);
/* Sends SIGKILL to all, once. Returns how many were seen alive, at least; 0: none. */
int procs_kill(const struct procs *procs);

#endif
