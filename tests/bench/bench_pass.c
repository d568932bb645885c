/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pass.c: scheduling passes over many waiting jobs: the site's step machine in
 * this process, without a store and without hosts.
 *
 * 50 users, 20 queues, 5,000 hosts of 64 slots; jobs of 1 slot, in turn of every user
 * in every queue. Full: other jobs, of the highest priority, hold all slots, nothing
 * can start, and a pass says so of each job. Empty: all of them start. A pass is what
 * the shell does once: a tick; a start takes as many as it needs. Where the machine is
 * shared, processor time says what is the program's own. What jobs weigh is
 * what the allocator had to ask for, of jobs without an environment and with a command
 * of 20 bytes. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/lone_site.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_HOSTS = 5000,
    HOST_SLOTS = 64,
    TICKS_MAX = 100000,
};

struct pass {
    struct lone_site lone;
    int n_started;
};

/* Milliseconds of one tick. */
static double tick(struct pass *pass)
{
    double start = bench_now();
    pass->n_started += lone_site_tick(&pass->lone, MSG_RUN_START);
    return (bench_now() - start) * 1e3;
}

struct settling {
    double total_ms, longest_ms, cpu_ms;
};

static struct settling settle(struct pass *pass)
{
    struct settling settling = {0};
    double cpu_s = bench_cpu_now();
    for (int i = 0; i < TICKS_MAX && site_wake_ms(pass->lone.site) <= pass->lone.now_ms;
         i++) {
        double ms = tick(pass);
        settling.total_ms += ms;
        settling.longest_ms = ms > settling.longest_ms ? ms : settling.longest_ms;
    }
    settling.cpu_ms = (bench_cpu_now() - cpu_s) * 1e3;
    return settling;
}

/* A site with its waiting jobs, before its hosts have come. Returns bytes a job. */
static double begin(struct pass *pass, int n_jobs, bool is_full)
{
    struct lone_site *lone = &pass->lone;
    pass->n_started = 0;
    lone_site_init(lone, N_HOSTS, HOST_SLOTS, N_QUEUES, N_USERS);
    lone_site_begin(lone);
    for (int i = 0; is_full && i < N_HOSTS; i++) {
        lone_site_load_job(lone, N_QUEUES - 1, 0, HOST_SLOTS); /* of the first queue */
    }
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < n_jobs; i++) {
        lone_site_load_job(lone, i / N_USERS % N_QUEUES, i % N_USERS, 1);
    }
    lone_site_start(lone, lone->last_job);
    return (double)(mallinfo2().uordblks - before) / n_jobs;
}

static void bench_full(struct pass *pass, int n_jobs, const char *aim)
{
    struct bench_series whole = {0}, longest = {0}, cpu = {0}, bytes = {0};
    char text[96];
    bench_add(&bytes, begin(pass, n_jobs, true));
    lone_site_hosts_come(&pass->lone);
    settle(pass);
    if (pass->n_started != N_HOSTS) {
        bench_fail("%d jobs hold the slots, expected %d", pass->n_started, N_HOSTS);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        lone_site_nudge(&pass->lone);
        struct settling settling = settle(pass);
        bench_add(&whole, settling.total_ms);
        bench_add(&longest, settling.longest_ms);
        bench_add(&cpu, settling.cpu_ms);
    }
    snprintf(text, sizeof(text), "full: a pass over %d jobs that starts none", n_jobs);
    bench_print_row(text, "ms", &whole, aim);
    bench_print_row("      its processor time", "ms", &cpu, aim);
    bench_print_row("      its longest tick", "ms", &longest, "");
    bench_print_row("      memory of a waiting job", "bytes", &bytes, "1024");
    lone_site_release(&pass->lone);
}

static void bench_empty(struct pass *pass, int n_jobs, const char *aim)
{
    struct bench_series whole = {0}, longest = {0}, cpu = {0};
    char text[96];
    int n_expected = n_jobs < N_HOSTS * HOST_SLOTS ? n_jobs : N_HOSTS * HOST_SLOTS;
    begin(pass, n_jobs, false);
    lone_site_hosts_come(&pass->lone);
    struct settling settling = settle(pass);
    if (pass->n_started != n_expected) {
        bench_fail("%d jobs started, expected %d", pass->n_started, n_expected);
    }
    bench_add(&whole, settling.total_ms);
    bench_add(&longest, settling.longest_ms);
    bench_add(&cpu, settling.cpu_ms);
    snprintf(text, sizeof(text), "empty: %d of %d jobs start", n_expected, n_jobs);
    bench_print_row(text, "ms", &whole, aim);
    bench_print_row("      its processor time", "ms", &cpu, aim);
    bench_print_row("      its longest tick", "ms", &longest, "");
    lone_site_release(&pass->lone);
}

int main(int argc, char **argv)
{
    static struct pass pass;
    static const int sizes[] = {1000, 10000, 100000, 1000000};
    long largest = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    bench_print_head("scheduling passes: 50 users, 20 queues, 5,000 hosts of 64 slots");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] <= largest) {
            bool is_aimed = sizes[i] == 100000;
            bench_full(&pass, sizes[i], is_aimed ? "10" : "");
            bench_empty(&pass, sizes[i], is_aimed ? "1000" : "");
        }
    }
    return 0;
}
