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
#include <string.h>

#include "site/site.h"
#include "tests/bench/bench.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_HOSTS = 5000,
    HOST_SLOTS = 64,
    SESSION = 1,
    TICKS_MAX = 100000,
};

struct pass {
    char hosts[N_HOSTS][16], queues[N_QUEUES][16], users[N_USERS][16];
    struct site_host host_configs[N_HOSTS];
    struct queue_config queue_configs[N_QUEUES];
    struct site_config config;
    struct site *site;
    struct effects effects;
    int64_t now_ms;
    uint64_t last_job;
    int n_started;
};

static void configure(struct pass *pass)
{
    for (int i = 0; i < N_HOSTS; i++) {
        snprintf(pass->hosts[i], sizeof(pass->hosts[i]), "n%04d", i);
        pass->host_configs[i] = (struct site_host){
            .name = pass->hosts[i], .max = HOST_SLOTS, .type = "", .model = ""};
    }
    for (int i = 0; i < N_QUEUES; i++) {
        snprintf(pass->queues[i], sizeof(pass->queues[i]), "q%02d", i);
        pass->queue_configs[i] = (struct queue_config){
            .name = pass->queues[i], .priority = 10 + i, .description = ""};
    }
    for (int i = 0; i < N_USERS; i++) {
        snprintf(pass->users[i], sizeof(pass->users[i]), "user%02d", i);
    }
    pass->config = (struct site_config){
        .name = "bench",
        .hosts = pass->host_configs,
        .n_hosts = N_HOSTS,
        .queues = pass->queue_configs,
        .n_queues = N_QUEUES,
        .default_queue = pass->queues[0],
        .freeze_timeout_ms = 30000,
        .clean_period_ms = 3600000,
        .max_array_size = 1000,
        .lease_account = "",
        .is_alone = true,
    };
}

static void load_job(struct pass *pass, int n_slots, int turn)
{
    struct row row = {.kind = ROW_JOB};
    row.job.id = ++pass->last_job;
    row.job.submit_ms = 1;
    row.job.spec = (struct job_spec){
        .name = "",
        .user = pass->users[turn % N_USERS],
        .uid = 1000 + turn % N_USERS,
        .queue = pass->queues[turn / N_USERS % N_QUEUES],
        .command = "sleep 3600 # and on",
        .cwd = "/home/user",
        .in_file = "",
        .out_file = "",
        .err_file = "",
        .n_slots = n_slots,
    };
    site_load(pass->site, &row);
}

static void hear(struct pass *pass, int host, struct msg *msg)
{
    struct event event = {.kind = EVENT_MESSAGE, .now_ms = pass->now_ms, .msg = msg};
    event.from = (struct peer){
        .kind = PEER_HOST, .name = pass->hosts[host], .link = (uint64_t)host + 1};
    msg->session = SESSION;
    msg->site = "";
    site_step(pass->site, &event, &pass->effects);
}

static void hosts_come(struct pass *pass)
{
    for (int i = 0; i < N_HOSTS; i++) {
        struct msg hello = {.kind = MSG_HOST_HELLO};
        struct msg synced = {.kind = MSG_HOST_SYNCED};
        hello.host_hello.name = pass->hosts[i];
        hello.host_hello.boot_id = "boot";
        hear(pass, i, &hello);
        hear(pass, i, &synced);
    }
    effects_clear(&pass->effects);
}

/* Milliseconds of one tick. */
static double tick(struct pass *pass)
{
    struct event event = {.kind = EVENT_TICK, .now_ms = pass->now_ms};
    double start = bench_now();
    site_step(pass->site, &event, &pass->effects);
    double taken_s = bench_now() - start;
    for (int i = 0; i < pass->effects.count; i++) {
        const struct effect *effect = &pass->effects.items[i];
        pass->n_started +=
            effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_RUN_START;
    }
    effects_clear(&pass->effects);
    return taken_s * 1e3;
}

struct settling {
    double total_ms, longest_ms, cpu_ms;
};

static struct settling settle(struct pass *pass)
{
    struct settling settling = {0};
    double cpu_s = bench_cpu_now();
    for (int i = 0; i < TICKS_MAX && site_wake_ms(pass->site) <= pass->now_ms; i++) {
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
    memset(pass, 0, sizeof(*pass));
    configure(pass);
    effects_init(&pass->effects);
    pass->now_ms = 1000000;
    pass->site = site_new(&pass->config);
    for (int i = 0; is_full && i < N_HOSTS; i++) {
        load_job(pass, HOST_SLOTS, N_USERS * (N_QUEUES - 1)); /* of the first queue */
    }
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < n_jobs; i++) {
        load_job(pass, 1, i);
    }
    struct row counter = {.kind = ROW_COUNTER,
                          .counter = {.name = "job", .value = pass->last_job}};
    site_load(pass->site, &counter);
    site_start(pass->site, pass->now_ms, &pass->effects);
    effects_clear(&pass->effects);
    return (double)(mallinfo2().uordblks - before) / n_jobs;
}

static void end(struct pass *pass)
{
    site_free(pass->site);
    effects_release(&pass->effects);
}

/* Something has changed that changes nothing: a host says HELLO once more. */
static void nudge(struct pass *pass)
{
    struct msg synced = {.kind = MSG_HOST_SYNCED};
    hear(pass, 0, &synced);
    effects_clear(&pass->effects);
}

static void bench_full(struct pass *pass, int n_jobs, const char *aim)
{
    struct bench_series whole = {0}, longest = {0}, cpu = {0}, bytes = {0};
    char text[96];
    bench_add(&bytes, begin(pass, n_jobs, true));
    hosts_come(pass);
    settle(pass);
    if (pass->n_started != N_HOSTS) {
        bench_fail("%d jobs hold the slots, expected %d", pass->n_started, N_HOSTS);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        nudge(pass);
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
    end(pass);
}

static void bench_empty(struct pass *pass, int n_jobs, const char *aim)
{
    struct bench_series whole = {0}, longest = {0}, cpu = {0};
    char text[96];
    int n_expected = n_jobs < N_HOSTS * HOST_SLOTS ? n_jobs : N_HOSTS * HOST_SLOTS;
    begin(pass, n_jobs, false);
    hosts_come(pass);
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
    end(pass);
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
