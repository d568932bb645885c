/* SPDX-License-Identifier: Apache-2.0 */
/* bench_preempt.c: what preemption adds to a scheduling pass: a site's step machine in
 * this process, without a store and without hosts.
 *
 * 50 users, 20 queues, and 5,000 hosts of 4 slots, each with a job of 4 slots of the
 * lowest queue. 100,000 jobs of 1 slot wait, of every user in every queue. The two
 * highest queues, with a tenth of those jobs, may preempt the lowest. The passes are:
 * without preemption; with preemption while every running job is protected, so that
 * each job class finds none to preempt; and passes that suspend as many jobs as one
 * tick may. */
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/lone_site.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_HOSTS = 5000,
    HOST_SLOTS = 4,
    N_WAITING = 100000,
    N_PREEMPTIVE = 2,
    PASSES = 20,
};

struct trial {
    struct lone_site lone;
    struct preempt_queue rules[N_QUEUES];
    struct preempt_target target;
    int n_suspended;
};

static void configure(struct trial *trial, bool preempts, bool is_protected)
{
    lone_site_init(&trial->lone, N_HOSTS, HOST_SLOTS, N_QUEUES, N_USERS);
    for (int i = 0; i < N_QUEUES; i++) {
        trial->rules[i] = (struct preempt_queue){
            .is_preemptive = preempts && i >= N_QUEUES - N_PREEMPTIVE,
            .targets = &trial->target, /* the lowest queue */
            .n_targets = 1,
            .protection.interval_ms = is_protected ? INT64_C(3600000) : 0,
        };
    }
    trial->lone.config.preempt = (struct preempt_policy){.is_enabled = preempts,
                                                         .queues = trial->rules,
                                                         .n_queues = N_QUEUES,
                                                         .wait_ms = 300000};
}

/* Milliseconds of processor time of one tick; counts orders to suspend. */
static double tick(struct trial *trial)
{
    double start = bench_cpu_now();
    trial->n_suspended += lone_site_tick(&trial->lone, MSG_RUN_CONTROL);
    return (bench_cpu_now() - start) * 1e3;
}

static void begin(struct trial *trial, bool preempts, bool is_protected)
{
    memset(trial, 0, sizeof(*trial));
    configure(trial, preempts, is_protected);
    lone_site_begin(&trial->lone);
    for (int i = 0; i < N_HOSTS; i++) {
        struct job_spec spec = lone_site_spec(&trial->lone, 0, i % N_USERS, HOST_SLOTS);
        lone_site_load_running(&trial->lone, i, &spec);
    }
    for (int i = 0; i < N_WAITING; i++) {
        lone_site_load_job(&trial->lone, i / N_USERS % N_QUEUES, i % N_USERS, 1);
    }
    lone_site_load_runs(&trial->lone, HOST_SLOTS);
    lone_site_start(&trial->lone, trial->lone.last_job);
    lone_site_runs_come(&trial->lone);
}

static void run(struct trial *trial, bool preempts, bool is_protected,
                struct bench_series *series)
{
    begin(trial, preempts, is_protected);
    for (int i = 0; i < PASSES; i++) {
        lone_site_nudge(&trial->lone);
        bench_add(series, tick(trial));
    }
    bool should = preempts && !is_protected;
    if ((trial->n_suspended > 0) != should) {
        bench_fail("%d jobs were suspended", trial->n_suspended);
    }
    lone_site_release(&trial->lone);
}

int main(void)
{
    static struct trial trial;
    struct bench_series without = {0}, guarded = {0}, with = {0}, ratio = {0};
    bench_print_head("preemption: 100,000 waiting jobs, a tenth of which may preempt");
    run(&trial, false, false, &without);
    run(&trial, true, true, &guarded);
    run(&trial, true, false, &with);
    bench_print_row("a pass without preemption", "ms", &without, "");
    bench_print_row("with it, all running jobs protected", "ms", &guarded, "");
    bench_print_row("with it, jobs are suspended", "ms", &with, "");
    for (int i = 0; i < guarded.count && i < without.count; i++) {
        bench_add(&ratio, guarded.values[i] / without.values[i]);
    }
    bench_print_row("protected / without", "times", &ratio, "1.5");
    struct bench_series suspending = {0};
    for (int i = 0; i < with.count && i < without.count; i++) {
        bench_add(&suspending, with.values[i] / without.values[i]);
    }
    bench_print_row("suspending / without", "times", &suspending, "1.5");
    return 0;
}
