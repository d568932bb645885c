/* SPDX-License-Identifier: Apache-2.0 */
/* bench_shares.c: passes over users with shares: the site's step machine in this
 * process, without a store and without hosts.
 *
 * 10,000 users in a tree of three levels (10 departments of 10 groups of 100 users),
 * 100,000 jobs of 1 slot wait, ten of each user; 100 hosts of 10 slots are full. Then
 * one percent of the waiting jobs is ended and as many come; or a thousand running jobs
 * end, and as many start. Between two passes each is a tick of the site. The order
 * alone is that of a plan whose hosts have no slot, over the same lines. Beside it
 * stands the same without FAIRSHARE. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/job_id.h"
#include "sched/place_order.h"
#include "site/parts.h"
#include "tests/bench/bench.h"

enum {
    DEPARTMENTS = 10,
    GROUPS = 10,
    MEMBERS = 100,
    USERS = DEPARTMENTS * GROUPS * MEMBERS,
    JOBS = 100000,
    CHANGED = JOBS / 100,
    N_HOSTS = 100,
    HOST_SLOTS = 10,
    SESSION = 1,
};

struct bench {
    char users[USERS][16], hosts[N_HOSTS][16];
    const char *members[DEPARTMENTS + 1][DEPARTMENTS * GROUPS * MEMBERS];
    struct share_line leaves[DEPARTMENTS * GROUPS], groups[DEPARTMENTS * GROUPS],
        departments[DEPARTMENTS];
    struct share_line each[DEPARTMENTS * GROUPS];
    struct share_scope scope;
    int scope_of[1];
    struct site_host host_configs[N_HOSTS];
    struct queue_config queue;
    struct site_config config;
    struct site *site;
    struct effects effects;
    int64_t now_ms;
    uint64_t last_job, request, first_waiting;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Users are named so that those of a group come one after the other. */
static struct name_set users_from(struct bench *bench, int first, int count)
{
    static const char *sorted[USERS];
    for (int i = 0; i < USERS; i++) {
        sorted[i] = bench->users[i];
    }
    qsort(&sorted[first], (size_t)count, sizeof(char *), by_name);
    return (struct name_set){.names = &sorted[first], .n_names = count};
}

static void configure_tree(struct bench *bench)
{
    for (int i = 0; i < USERS; i++) {
        snprintf(bench->users[i], sizeof(bench->users[i]), "user%05d", i);
    }
    for (int d = 0; d < DEPARTMENTS; d++) {
        bench->departments[d] = (struct share_line){
            .kind = SHARE_GROUP,
            .name = "department",
            .shares = 1 + d,
            .members = users_from(bench, d * GROUPS * MEMBERS, GROUPS * MEMBERS),
            .children = &bench->groups[d * GROUPS],
            .n_children = GROUPS};
        for (int g = 0; g < GROUPS; g++) {
            int group = d * GROUPS + g;
            struct name_set members = users_from(bench, group * MEMBERS, MEMBERS);
            bench->each[group] = (struct share_line){
                .kind = SHARE_EACH, .name = "each", .shares = 1, .members = members};
            bench->groups[group] = (struct share_line){.kind = SHARE_GROUP,
                                                       .name = "group",
                                                       .shares = 1 + g,
                                                       .members = members,
                                                       .children = &bench->each[group],
                                                       .n_children = 1};
        }
    }
    bench->scope = (struct share_scope){
        .name = "fair",
        .factors = {.cpu_time = 0.7, .run_time = 0.7, .run_job = 3, .hist_hours = 5},
        .lines = bench->departments,
        .n_lines = DEPARTMENTS};
}

static void configure(struct bench *bench, bool has_shares)
{
    configure_tree(bench);
    for (int i = 0; i < N_HOSTS; i++) {
        snprintf(bench->hosts[i], sizeof(bench->hosts[i]), "n%03d", i);
        bench->host_configs[i] = (struct site_host){
            .name = bench->hosts[i], .max = HOST_SLOTS, .type = "", .model = ""};
    }
    bench->queue = (struct queue_config){.name = "fair",
                                         .priority = 10,
                                         .description = "",
                                         .rules = {.users = {.is_all = true}}};
    bench->config = (struct site_config){
        .name = "bench",
        .hosts = bench->host_configs,
        .n_hosts = N_HOSTS,
        .queues = &bench->queue,
        .n_queues = 1,
        .default_queue = "fair",
        .freeze_timeout_ms = 30000,
        .clean_period_ms = 3600000,
        .max_array_size = 1000,
        .lease_account = "",
        .is_alone = true,
        .shares = {.scopes = &bench->scope,
                   .n_scopes = has_shares,
                   .scope_of = bench->scope_of},
    };
}

static struct job_spec spec_of(const struct bench *bench, int user, int n_slots)
{
    return (struct job_spec){
        .name = "",
        .user = bench->users[user],
        .uid = 1000 + user,
        .queue = "fair",
        .command = "sleep 3600 # and on",
        .cwd = "/home/user",
        .in_file = "",
        .out_file = "",
        .err_file = "",
        .n_slots = n_slots,
    };
}

static void load_job(struct bench *bench, int user)
{
    struct row row = {.kind = ROW_JOB};
    row.job.id = ++bench->last_job;
    row.job.submit_ms = 1;
    row.job.spec = spec_of(bench, user, 1);
    site_load(bench->site, &row);
}

static void hear(struct bench *bench, const struct peer *from, struct msg *msg)
{
    struct event event = {
        .kind = EVENT_MESSAGE, .now_ms = bench->now_ms, .msg = msg, .from = *from};
    msg->session = SESSION;
    msg->site = "";
    site_step(bench->site, &event, &bench->effects);
    effects_clear(&bench->effects);
}

static struct peer host_peer(const struct bench *bench, int host)
{
    return (struct peer){
        .kind = PEER_HOST, .name = bench->hosts[host], .link = (uint64_t)host + 1};
}

static void hosts_come(struct bench *bench)
{
    for (int i = 0; i < N_HOSTS; i++) {
        struct msg hello = {.kind = MSG_HOST_HELLO}, synced = {.kind = MSG_HOST_SYNCED};
        struct peer host = host_peer(bench, i);
        hello.host_hello.name = bench->hosts[i];
        hello.host_hello.boot_id = "boot";
        hear(bench, &host, &hello);
        hear(bench, &host, &synced);
    }
}

/* Processor time of this process, in seconds: nothing in it waits, and what others do
 * on the machine is not its cost. */
static double cpu_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Milliseconds until nothing is left to do. */
static double settle(struct bench *bench)
{
    double taken_s = 0;
    do {
        struct event event = {.kind = EVENT_TICK, .now_ms = bench->now_ms};
        double start = cpu_now();
        site_step(bench->site, &event, &bench->effects);
        taken_s += cpu_now() - start;
        effects_clear(&bench->effects);
    } while (site_wake_ms(bench->site) <= bench->now_ms);
    return taken_s * 1e3;
}

/* A waiting job in so many is ended by its user, who submits another one. */
static void change_waiting(struct bench *bench, int round)
{
    for (int i = 0; i < CHANGED; i++) {
        int user = (i * (USERS / CHANGED) + round) % USERS;
        struct peer from = {
            .kind = PEER_CLIENT, .name = bench->users[user], .uid = 1000 + user};
        struct msg msg = {.kind = MSG_SUBMIT};
        msg.submit.request = ++bench->request;
        msg.submit.spec = spec_of(bench, user, 1);
        msg.submit.terms = (struct job_terms){
            .depend = "", .depend_on = "", .project = "", .has_slots = true};
        hear(bench, &from, &msg);
        /* Users have ten jobs each, one after the other. */
        uint64_t job = bench->first_waiting + (uint64_t)user * (JOBS / USERS) + 9 -
                       (uint64_t)round;
        char id[32];
        snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
        const char *const ids[] = {id};
        struct msg kill = {.kind = MSG_JOB_CONTROL};
        kill.job_control.request = ++bench->request;
        kill.job_control.action = CONTROL_KILL;
        kill.job_control.jobs = ids;
        kill.job_control.n_jobs = 1;
        hear(bench, &from, &kill);
    }
}

static void end_running(struct bench *bench)
{
    struct site *site = bench->site;
    for (int i = jobs_count_open(site->jobs) - 1; i >= 0; i--) {
        const struct job *job = jobs_open_at(site->jobs, i);
        uint64_t attempt = job->attempt;
        int host = site_hosts_find(site->hosts, job->hosts[0].host);
        struct peer from = host_peer(bench, host);
        struct msg msg = {.kind = MSG_RUN_STATE};
        msg.run_state =
            (struct msg_run_state){.run = {.site = "bench", .attempt = attempt},
                                   .phase = RUN_WAITING,
                                   .token = attempt,
                                   .exit = {.text = ""}};
        hear(bench, &from, &msg);
        msg.run_state.phase = RUN_ENDED;
        msg.run_state.exit = (struct run_exit){.end = RUN_END_EXITED,
                                               .start_ms = bench->now_ms - 600000,
                                               .end_ms = bench->now_ms,
                                               .cpu_ms = 600000,
                                               .text = ""};
        hear(bench, &from, &msg);
    }
}

/* The order of all lines, as a pass that drops each of them; beside it, its building.
 */
static double order_alone(struct bench *bench)
{
    const struct lines *all = jobs_lines(bench->site->jobs);
    struct arena arena;
    struct place_snapshot snapshot = {.queues = bench->site->config->queues,
                                      .n_queues = 1};
    struct place_order order;
    arena_init(&arena);
    struct place_line *lines =
        arena_alloc(&arena, (size_t)lines_count(all), sizeof(*lines));
    for (int i = 0; i < lines_count(all); i++) {
        lines[i].turns = line_turns(lines_at(all, i), &lines[i].n_turns);
        const struct job *first = jobs_of_turn(lines[i].turns[0]);
        lines[i].account = first->seat.account;
        lines[i].n_slots = 1;
        lines[i].max_starts = INT_MAX;
    }
    snapshot.lines = lines;
    snapshot.n_lines = lines_count(all);
    shares_show(bench->site->shares, &arena, bench->now_ms, &snapshot);
    double start = cpu_now();
    place_order_init(&order, &arena, &snapshot);
    for (int i = 0; i < CHANGED; i++) {
        place_order_top(&order);
        place_order_advance(&order, 1);
    }
    while (place_order_top(&order) >= 0) {
        place_order_drop(&order);
    }
    double taken_ms = (cpu_now() - start) * 1e3;
    arena_release(&arena);
    return taken_ms;
}

static void run(struct bench *bench, bool has_shares)
{
    struct bench_series changed = {0}, ended = {0}, order = {0};
    const char *aim = has_shares ? "5" : "";
    memset(bench, 0, sizeof(*bench));
    configure(bench, has_shares);
    effects_init(&bench->effects);
    bench->now_ms = 1800000000000;
    bench->site = site_new(&bench->config);
    for (int i = 0; i < N_HOSTS * HOST_SLOTS; i++) {
        load_job(bench, i * 7 % USERS);
    }
    bench->first_waiting = bench->last_job + 1;
    struct row counter = {.kind = ROW_COUNTER,
                          .counter = {.name = "job", .value = bench->last_job + JOBS}};
    site_load(bench->site, &counter);
    for (int pass = 0; pass < 2; pass++) { /* those that run first */
        for (int i = 0; i < JOBS && pass == 1; i++) {
            load_job(bench, i / (JOBS / USERS));
        }
    }
    site_start(bench->site, bench->now_ms, &bench->effects);
    effects_clear(&bench->effects);
    hosts_come(bench);
    settle(bench);
    if (jobs_count_open(bench->site->jobs) != N_HOSTS * HOST_SLOTS) {
        bench_fail("%d jobs hold the slots, expected %d",
                   jobs_count_open(bench->site->jobs), N_HOSTS * HOST_SLOTS);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        change_waiting(bench, i);
        bench->now_ms += 1000;
        bench_add(&changed, settle(bench));
        bench_add(&order, order_alone(bench));
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        end_running(bench);
        bench->now_ms += 1000;
        bench_add(&ended, settle(bench));
    }
    const char *kind = has_shares ? "shares" : "none";
    char text[96];
    snprintf(text, sizeof(text), "%s: the order alone, 1,000 of 100,000 start", kind);
    bench_print_row(text, "ms", &order, aim);
    snprintf(text, sizeof(text), "%s: a pass after 1,000 waiting jobs changed", kind);
    bench_print_row(text, "ms", &changed, aim);
    snprintf(text, sizeof(text), "%s: a pass that starts 1,000 jobs", kind);
    bench_print_row(text, "ms", &ended, "");
    site_free(bench->site);
    effects_release(&bench->effects);
}

int main(void)
{
    static struct bench bench;
    bench_print_head("shares: 10,000 users in a tree of three levels, 100,000 waiting "
                     "jobs");
    run(&bench, true);
    run(&bench, false);
    return 0;
}
