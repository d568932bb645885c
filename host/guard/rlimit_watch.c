/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit_watch.c: see rlimit_watch.h. */
#include "host/guard/rlimit_watch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/kernel/kernel_clock.h"
#include "host/kernel/process.h"

enum {
    LOOK_MIN_MS = 100,
    LOOK_MS = 1000,      /* memory and processes come and go */
    LOOK_MAX_MS = 30000, /* CPU time cannot grow faster than there are processors */
    COST_FACTOR = 50,
};

/* ---------------------------------------------------------------- of each process */

static void impose(__rlimit_resource_t resource, int64_t value)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) {
        return;
    }
    rlim_t wanted = (rlim_t)value;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (resource != RLIMIT_CPU) { /* whoever catches SIGXCPU gets it every second */
        limit.rlim_max = limit.rlim_cur;
    }
    setrlimit(resource, &limit);
}

void rlimit_watch_impose(const struct job_rlimits *limits, bool is_leased)
{
    static const struct {
        enum job_rlimit limit;
        __rlimit_resource_t resource;
    } sizes[] = {
        {JOB_RLIMIT_FILE, RLIMIT_FSIZE},
        {JOB_RLIMIT_DATA, RLIMIT_DATA},
        {JOB_RLIMIT_STACK, RLIMIT_STACK},
        {JOB_RLIMIT_CORE, RLIMIT_CORE},
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int64_t kib = limits->values[sizes[i].limit];
        if (kib != JOB_RLIMIT_NONE) {
            impose(sizes[i].resource, kib * 1024);
        }
    }
    int64_t cpu_ms = limits->values[JOB_RLIMIT_CPU];
    if (cpu_ms != JOB_RLIMIT_NONE) {
        impose(RLIMIT_CPU, (cpu_ms + 999) / 1000);
    }
    int64_t nice_value = limits->values[JOB_RLIMIT_NICE];
    if (nice_value != JOB_RLIMIT_NONE && (!is_leased || nice_value > 0)) {
        setpriority(PRIO_PROCESS, 0, (int)nice_value);
    }
}

/* ---------------------------------------------------------------- of all together */

struct use {
    int64_t cpu_ms, mem_kib, swap_kib, n_processes, n_threads;
};

/* Of those that the guard has waited for; what they have waited for is theirs. */
int64_t rlimit_watch_waited_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

static void measure(const struct procs *crew, struct use *use)
{
    int n_members = 0;
    int64_t page_kib = sysconf(_SC_PAGESIZE) / 1024, ticks = 0;
    struct process *members = procs_members(crew, &n_members);
    *use = (struct use){.n_processes = n_members};
    for (int i = 0; i < n_members; i++) {
        ticks += (int64_t)members[i].cpu_ticks;
        use->mem_kib += (int64_t)members[i].resident_pages * page_kib;
        use->swap_kib += (int64_t)(members[i].virtual_bytes / 1024);
        use->n_threads += (int64_t)members[i].n_threads;
    }
    free(members);
    use->cpu_ms = rlimit_watch_waited_ms() + ticks * 1000 / sysconf(_SC_CLK_TCK);
}

int64_t rlimit_watch_cpu_ms(const struct procs *crew)
{
    int64_t counted_ms =
        cgroup_is_open(&crew->cgroup) ? cgroup_cpu_ms(&crew->cgroup) : -1;
    struct use use;
    if (counted_ms >= 0) {
        return counted_ms;
    }
    measure(crew, &use);
    return use.cpu_ms;
}

static bool is_set(const struct rlimit_watch *watch, enum job_rlimit limit)
{
    return watch->limits->values[limit] != JOB_RLIMIT_NONE;
}

/* What only a look at the processes tells. */
static bool needs_processes(const struct rlimit_watch *watch)
{
    return (is_set(watch, JOB_RLIMIT_MEM) && !watch->has_kernel_memory) ||
           is_set(watch, JOB_RLIMIT_SWAP) || is_set(watch, JOB_RLIMIT_PROCESSES) ||
           is_set(watch, JOB_RLIMIT_THREADS);
}

void rlimit_watch_begin(struct rlimit_watch *watch, const struct job_rlimits *limits,
                        const struct procs *crew, int64_t now_ms)
{
    *watch = (struct rlimit_watch){.limits = limits, .look_at = INT64_MAX};
    if (is_set(watch, JOB_RLIMIT_MEM)) {
        watch->has_kernel_memory =
            memcg_set_limit(&crew->memory, limits->values[JOB_RLIMIT_MEM]);
        watch->n_oom_kills = memcg_oom_kills(&crew->memory);
        watch->counts_kills =
            watch->has_kernel_memory && !memcg_kills_whole_run(&crew->memory);
    }
    if (is_set(watch, JOB_RLIMIT_CPU)) {
        watch->cpu_before_ms = rlimit_watch_cpu_ms(crew);
        watch->look_at = now_ms + LOOK_MIN_MS;
    }
    if (needs_processes(watch) || watch->counts_kills) {
        watch->look_at = now_ms + LOOK_MIN_MS;
    }
}

/* The kernel has killed somebody of the run, to keep it below its memory. */
static bool has_killed(const struct rlimit_watch *watch, const struct procs *crew)
{
    return watch->has_kernel_memory &&
           memcg_oom_kills(&crew->memory) > watch->n_oom_kills;
}

static enum run_cause judge(const struct rlimit_watch *watch, const struct use *use)
{
    const struct {
        enum job_rlimit limit;
        int64_t value;
        enum run_cause cause;
    } rows[] = {
        {JOB_RLIMIT_CPU, use->cpu_ms - watch->cpu_before_ms, RUN_CAUSE_CPU_LIMIT},
        {JOB_RLIMIT_MEM, watch->has_kernel_memory ? 0 : use->mem_kib,
         RUN_CAUSE_MEM_LIMIT},
        {JOB_RLIMIT_SWAP, use->swap_kib, RUN_CAUSE_SWAP_LIMIT},
        {JOB_RLIMIT_PROCESSES, use->n_processes, RUN_CAUSE_PROCESS_LIMIT},
        {JOB_RLIMIT_THREADS, use->n_threads, RUN_CAUSE_THREAD_LIMIT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is_set(watch, rows[i].limit) &&
            rows[i].value > watch->limits->values[rows[i].limit]) {
            return rows[i].cause;
        }
    }
    return RUN_CAUSE_NONE;
}

/* CPU time that is left cannot be gone before all processors have worked on it. */
static int64_t pause_of(const struct rlimit_watch *watch, const struct use *use,
                        int64_t cost_ms)
{
    int64_t pause_ms = LOOK_MAX_MS;
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (is_set(watch, JOB_RLIMIT_CPU)) {
        int64_t used_ms = use->cpu_ms - watch->cpu_before_ms;
        int64_t left_ms = watch->limits->values[JOB_RLIMIT_CPU] - used_ms;
        pause_ms = left_ms / (n_cpus > 0 ? n_cpus : 1);
    }
    if ((needs_processes(watch) || watch->counts_kills) && pause_ms > LOOK_MS) {
        pause_ms = LOOK_MS;
    }
    int64_t least_ms = cost_ms * COST_FACTOR;
    least_ms = least_ms > LOOK_MIN_MS ? least_ms : LOOK_MIN_MS;
    pause_ms = pause_ms < LOOK_MAX_MS ? pause_ms : LOOK_MAX_MS;
    return pause_ms > least_ms ? pause_ms : least_ms;
}

enum run_cause rlimit_watch_check(struct rlimit_watch *watch, const struct procs *crew,
                                  int64_t now_ms)
{
    if (now_ms < watch->look_at) {
        return RUN_CAUSE_NONE;
    }
    struct use use = {0};
    if (needs_processes(watch)) {
        measure(crew, &use);
    }
    if (is_set(watch, JOB_RLIMIT_CPU)) {
        use.cpu_ms = rlimit_watch_cpu_ms(crew);
    }
    watch->exceeded = watch->counts_kills && has_killed(watch, crew)
                          ? RUN_CAUSE_MEM_LIMIT
                          : judge(watch, &use);
    watch->look_at =
        watch->exceeded != RUN_CAUSE_NONE
            ? INT64_MAX
            : now_ms + pause_of(watch, &use, kernel_clock_now_ms() - now_ms);
    return watch->exceeded;
}

enum run_cause rlimit_watch_cause(const struct rlimit_watch *watch,
                                  const struct procs *crew, int status)
{
    if (watch->exceeded != RUN_CAUSE_NONE || watch->limits == NULL) {
        return watch->exceeded;
    }
    bool is_signalled = WIFSIGNALED(status);
    if (is_set(watch, JOB_RLIMIT_CPU) && is_signalled && WTERMSIG(status) == SIGXCPU) {
        return RUN_CAUSE_CPU_LIMIT; /* one process had it all, the kernel was faster */
    }
    return has_killed(watch, crew) ? RUN_CAUSE_MEM_LIMIT : RUN_CAUSE_NONE;
}
