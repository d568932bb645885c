/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit_watch.c: see rlimit_watch.h. */
#include "host/guard/rlimit_watch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard/run_rusage.h"

enum {
    CHECK_MIN_MS = 100,
    CHECK_MS = 1000,      /* memory and processes change fast */
    CHECK_MAX_MS = 30000, /* CPU time cannot grow faster than there are processors */
    COST_FACTOR = 50,
};

/* ---- limits of each process */

static void impose(__rlimit_resource_t resource, int64_t value)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) {
        return;
    }
    rlim_t wanted = (rlim_t)value;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (resource !=
        RLIMIT_CPU) { /* a process that catches SIGXCPU gets it every second */
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

/* ---- limits of all processes together */

static bool is_set(const struct rlimit_watch *watch, enum job_rlimit limit)
{
    return watch->limits->values[limit] != JOB_RLIMIT_NONE;
}

/* Limits for which the processes have to be scanned. */
static bool needs_processes(const struct rlimit_watch *watch)
{
    return (is_set(watch, JOB_RLIMIT_MEM) && !watch->has_kernel_memory) ||
           is_set(watch, JOB_RLIMIT_SWAP) || is_set(watch, JOB_RLIMIT_PROCESSES) ||
           is_set(watch, JOB_RLIMIT_THREADS);
}

void rlimit_watch_begin(struct rlimit_watch *watch, const struct job_rlimits *limits,
                        const struct procs *procs, int64_t now_ms)
{
    *watch = (struct rlimit_watch){.limits = limits, .check_at = INT64_MAX};
    if (is_set(watch, JOB_RLIMIT_MEM)) {
        watch->has_kernel_memory =
            memcg_set_limit(&procs->memcg, limits->values[JOB_RLIMIT_MEM]);
        watch->n_oom_kills = memcg_oom_kills(&procs->memcg);
        watch->counts_kills =
            watch->has_kernel_memory && !memcg_kills_whole_run(&procs->memcg);
    }
    if (is_set(watch, JOB_RLIMIT_CPU)) {
        watch->cpu_before_ms = run_rusage_procs_cpu_ms(procs);
        watch->check_at = now_ms + CHECK_MIN_MS;
    }
    if (needs_processes(watch) || watch->counts_kills) {
        watch->check_at = now_ms + CHECK_MIN_MS;
    }
}

void rlimit_watch_change(struct rlimit_watch *watch, const struct procs *procs,
                         int64_t now_ms)
{
    if (watch->check_at == INT64_MAX && watch->exceeded != RUN_CAUSE_NONE) {
        return; /* it is being terminated */
    }
    watch->has_kernel_memory =
        memcg_set_limit(&procs->memcg, watch->limits->values[JOB_RLIMIT_MEM]);
    watch->counts_kills =
        watch->has_kernel_memory && !memcg_kills_whole_run(&procs->memcg);
    if (needs_processes(watch) || watch->counts_kills) {
        watch->check_at = now_ms + CHECK_MIN_MS;
    }
}

/* The kernel has killed a process of the run for its memory limit. */
static bool has_killed(const struct rlimit_watch *watch, const struct procs *procs)
{
    return watch->has_kernel_memory &&
           memcg_oom_kills(&procs->memcg) > watch->n_oom_kills;
}

static enum run_cause find_exceeded(const struct rlimit_watch *watch,
                                    const struct run_rusage_sample *sample)
{
    const struct {
        enum job_rlimit limit;
        int64_t value;
        enum run_cause cause;
    } rows[] = {
        {JOB_RLIMIT_CPU, sample->cpu_ms - watch->cpu_before_ms, RUN_CAUSE_CPU_LIMIT},
        {JOB_RLIMIT_MEM, watch->has_kernel_memory ? 0 : sample->mem_kib,
         RUN_CAUSE_MEM_LIMIT},
        {JOB_RLIMIT_SWAP, sample->swap_kib, RUN_CAUSE_SWAP_LIMIT},
        {JOB_RLIMIT_PROCESSES, sample->n_processes, RUN_CAUSE_PROCESS_LIMIT},
        {JOB_RLIMIT_THREADS, sample->n_threads, RUN_CAUSE_THREAD_LIMIT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is_set(watch, rows[i].limit) &&
            rows[i].value > watch->limits->values[rows[i].limit]) {
            return rows[i].cause;
        }
    }
    return RUN_CAUSE_NONE;
}

/* The remaining CPU time lasts at least until all processors have worked on it. */
static int64_t pause_of(const struct rlimit_watch *watch,
                        const struct run_rusage_sample *sample, int64_t cost_ms)
{
    int64_t pause_ms = CHECK_MAX_MS;
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (is_set(watch, JOB_RLIMIT_CPU)) {
        int64_t used_ms = sample->cpu_ms - watch->cpu_before_ms;
        int64_t left_ms = watch->limits->values[JOB_RLIMIT_CPU] - used_ms;
        pause_ms = left_ms / (n_cpus > 0 ? n_cpus : 1);
    }
    if ((needs_processes(watch) || watch->counts_kills) && pause_ms > CHECK_MS) {
        pause_ms = CHECK_MS;
    }
    int64_t least_ms = cost_ms * COST_FACTOR;
    least_ms = least_ms > CHECK_MIN_MS ? least_ms : CHECK_MIN_MS;
    pause_ms = pause_ms < CHECK_MAX_MS ? pause_ms : CHECK_MAX_MS;
    return pause_ms > least_ms ? pause_ms : least_ms;
}

enum run_cause rlimit_watch_check(struct rlimit_watch *watch, const struct procs *procs,
                                  int64_t now_ms)
{
    if (now_ms < watch->check_at) {
        return RUN_CAUSE_NONE;
    }
    struct run_rusage_sample sample = {0};
    if (needs_processes(watch)) {
        run_rusage_measure(procs, &sample);
    }
    if (is_set(watch, JOB_RLIMIT_CPU)) {
        sample.cpu_ms = run_rusage_procs_cpu_ms(procs);
    }
    watch->exceeded = watch->counts_kills && has_killed(watch, procs)
                          ? RUN_CAUSE_MEM_LIMIT
                          : find_exceeded(watch, &sample);
    watch->check_at =
        watch->exceeded != RUN_CAUSE_NONE
            ? INT64_MAX
            : now_ms + pause_of(watch, &sample, kernel_clock_now_ms() - now_ms);
    return watch->exceeded;
}

enum run_cause rlimit_watch_cause(const struct rlimit_watch *watch,
                                  const struct procs *procs, int status)
{
    if (watch->exceeded != RUN_CAUSE_NONE || watch->limits == NULL) {
        return watch->exceeded;
    }
    bool is_signalled = WIFSIGNALED(status);
    if (is_set(watch, JOB_RLIMIT_CPU) && is_signalled && WTERMSIG(status) == SIGXCPU) {
        return RUN_CAUSE_CPU_LIMIT; /* one process used all of it, and the kernel was
                                       faster */
    }
    return has_killed(watch, procs) ? RUN_CAUSE_MEM_LIMIT : RUN_CAUSE_NONE;
}
