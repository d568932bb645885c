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
 * of 20 bytes. Arguments: the largest number of jobs, and a word of what more there may
 * be to look at. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/lone_site.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_HOSTS = 5000,
    N_JOBS = 100000, /* where something else changes */
    HOST_SLOTS = 64,
    TICKS_MAX = 100000,
};

/* What differs from the plain case. */
struct rules {
    const char *what;
    int n_hosts;
    const char *require, *behind; /* -R of jobs, with a number in between; NULL: none */
    int n_strings;                /* so many different ones */
    struct lone_site_text text;
};

static const struct rules plain = {.n_hosts = N_HOSTS};

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
static double begin(struct pass *pass, const struct rules *rules, int n_jobs,
                    bool is_full)
{
    struct lone_site *lone = &pass->lone;
    pass->n_started = 0;
    lone_site_init(lone, rules->n_hosts, HOST_SLOTS, N_QUEUES + 1, N_USERS);
    lone_site_read(lone, &rules->text);
    if (rules->require != NULL) {
        lone_site_require(lone, rules->require, rules->behind, rules->n_strings);
    }
    lone_site_begin(lone);
    for (int i = 0; is_full && i < rules->n_hosts; i++) {
        lone_site_load_job(lone, N_QUEUES, 0, HOST_SLOTS); /* of a queue before all */
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
    bench_add(&bytes, begin(pass, &plain, n_jobs, true));
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
    begin(pass, &plain, n_jobs, false);
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

/* ---------------------------------------------------------------- more to look at */

static double pass_cpu_ms(struct pass *pass, const struct rules *rules)
{
    struct bench_series cpu = {0};
    begin(pass, rules, N_JOBS, true);
    lone_site_hosts_come(&pass->lone);
    settle(pass);
    if (pass->n_started != rules->n_hosts) {
        bench_fail("%s: %d jobs hold the slots, expected %d", rules->what,
                   pass->n_started, rules->n_hosts);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        lone_site_nudge(&pass->lone);
        bench_add(&cpu, settle(pass).cpu_ms);
    }
    lone_site_release(&pass->lone);
    return bench_median(&cpu);
}

static double start_cpu_us(struct pass *pass, const struct rules *rules)
{
    begin(pass, rules, N_JOBS, false);
    lone_site_hosts_come(&pass->lone);
    double cpu_ms = settle(pass).cpu_ms;
    int n_slots = rules->n_hosts * HOST_SLOTS;
    if (pass->n_started != (n_slots < N_JOBS ? n_slots : N_JOBS)) {
        bench_fail("%s: %d jobs started", rules->what, pass->n_started);
    }
    lone_site_release(&pass->lone);
    return cpu_ms * 1e3 / pass->n_started;
}

static void bench_rules(struct pass *pass, const char *only)
{
    static const struct rules all[] = {
        {.what = "nothing more", .n_hosts = N_HOSTS},
        {.what = "500 hosts", .n_hosts = 500},
        {.what = "10,000 hosts", .n_hosts = 10000},
        {"1 requirement", N_HOSTS, "select[mem > ", "]", 1, {0}},
        {"100 different requirements", N_HOSTS, "select[mem > ", "]", 100, {0}},
        {"10,000 different requirements", N_HOSTS, "select[mem > ", "]", 10000, {0}},
        {"an order", N_HOSTS, "select[mem > ", "] order[mem]", 1, {0}},
        {"a reservation", N_HOSTS, "rusage[mem=", "]", 1, {0}},
        {"100 different reservations", N_HOSTS, "rusage[mem=", "]", 100, {0}},
        {"shares",
         N_HOSTS,
         NULL,
         NULL,
         0,
         {.all = "FAIRSHARE = USER_SHARES[[default, 1]]\n"}},
        {"a slot pool of 4 queues, with shares",
         N_HOSTS,
         NULL,
         NULL,
         0,
         {.all = "FAIRSHARE = USER_SHARES[[default, 1]]\n",
          .low = "SLOT_POOL = pool\nSLOT_SHARE = 25\n",
          .n_low = 4}},
        {"limits of users and hosts",
         N_HOSTS,
         NULL,
         NULL,
         0,
         {.all = "UJOB_LIMIT = 400000\nHJOB_LIMIT = 64\n"}},
    };
    printf("\nwith more to look at: %d jobs, processor time\n%-44s %14s %14s\n", N_JOBS,
           "", "a pass, ms", "a start, us");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (only != NULL && strstr(all[i].what, only) == NULL) {
            continue;
        }
        double pass_ms = pass_cpu_ms(pass, &all[i]);
        printf("%-44s %14.2f %14.2f\n", all[i].what, pass_ms,
               start_cpu_us(pass, &all[i]));
        fflush(stdout);
    }
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
    bench_rules(&pass, argc > 2 ? argv[2] : NULL);
    return 0;
}
