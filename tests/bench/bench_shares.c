/* SPDX-License-Identifier: Apache-2.0 */
/* bench_shares.c: passes over users with shares: a site's step machine in this process,
 * without a store and without hosts.
 *
 * 10,000 users are in a tree of three levels (10 departments of 10 groups of 100
 * users). 100,000 jobs of 1 slot wait, ten of each user, and 100 hosts of 10 slots are
 * full. Then one percent of the waiting jobs is ended and as many are submitted, or a
 * thousand running jobs end and as many start. Each change is one tick between two
 * passes. The order alone is measured by a plan for hosts without slots, over the same
 * job classes. All is compared with the same site without FAIRSHARE. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/place/place_order.h"
#include "site/site_dispatch.h"
#include "tests/bench/bench.h"
#include "tests/bench/lone_site.h"

enum {
    DEPARTMENTS = 10,
    GROUPS = 10,
    MEMBERS = 100,
    USERS = DEPARTMENTS * GROUPS * MEMBERS,
    JOBS = 100000,
    CHANGED = JOBS / 100,
    N_HOSTS = 100,
    HOST_SLOTS = 10,
};

struct bench {
    struct lone_site lone;
    struct share_assignment groups[DEPARTMENTS * GROUPS];
    struct share_assignment departments[DEPARTMENTS];
    struct share_assignment each[DEPARTMENTS * GROUPS];
    struct fairshare_scope scope;
    int scope_of[1];
    uint64_t request, first_waiting;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The names of users of one group follow each other. */
static struct name_set users_from(struct bench *bench, int first, int count)
{
    static const char *sorted[USERS];
    for (int i = 0; i < USERS; i++) {
        sorted[i] = bench->lone.users[i];
    }
    qsort(&sorted[first], (size_t)count, sizeof(char *), by_name);
    return (struct name_set){.names = &sorted[first], .n_names = count};
}

static void configure_tree(struct bench *bench)
{
    for (int d = 0; d < DEPARTMENTS; d++) {
        bench->departments[d] = (struct share_assignment){
            .kind = SHARE_GROUP,
            .name = "department",
            .shares = 1 + d,
            .members = users_from(bench, d * GROUPS * MEMBERS, GROUPS * MEMBERS),
            .children = &bench->groups[d * GROUPS],
            .n_children = GROUPS};
        for (int g = 0; g < GROUPS; g++) {
            int group = d * GROUPS + g;
            struct name_set members = users_from(bench, group * MEMBERS, MEMBERS);
            bench->each[group] = (struct share_assignment){
                .kind = SHARE_EACH, .name = "each", .shares = 1, .members = members};
            bench->groups[group] =
                (struct share_assignment){.kind = SHARE_GROUP,
                                          .name = "group",
                                          .shares = 1 + g,
                                          .members = members,
                                          .children = &bench->each[group],
                                          .n_children = 1};
        }
    }
    bench->scope = (struct fairshare_scope){
        .name = "fair",
        .factors = {.cpu_time = 0.7, .run_time = 0.7, .run_job = 3, .hist_hours = 5},
        .assignments = bench->departments,
        .n_assignments = DEPARTMENTS};
}

static void configure(struct bench *bench, bool has_shares)
{
    lone_site_init(&bench->lone, N_HOSTS, HOST_SLOTS, 1, USERS);
    bench->lone.queue_configs[0].rules.users.is_all = true;
    configure_tree(bench);
    bench->lone.config.fairshare = (struct fairshare){
        .scopes = &bench->scope, .n_scopes = has_shares, .scope_of = bench->scope_of};
}

/* Milliseconds until the site has nothing more to do. */
static double settle(struct bench *bench)
{
    double taken_s = 0;
    do {
        double start = bench_cpu_now();
        lone_site_tick(&bench->lone, MSG_RUN_START);
        taken_s += bench_cpu_now() - start;
    } while (site_wake_ms(bench->lone.site) <= bench->lone.now_ms);
    return taken_s * 1e3;
}

/* Some of the waiting jobs are ended by their users, who submit others. */
static void change_waiting(struct bench *bench, int round)
{
    for (int i = 0; i < CHANGED; i++) {
        int user = (i * (USERS / CHANGED) + round) % USERS;
        struct peer from = {
            .kind = PEER_CLIENT, .name = bench->lone.users[user], .uid = 1000 + user};
        struct msg msg = {.kind = MSG_SUBMIT};
        msg.submit.request = ++bench->request;
        msg.submit.spec = lone_site_spec(&bench->lone, 0, user, 1);
        msg.submit.terms = (struct job_terms){
            .depend = "", .depend_on = "", .project = "", .has_slots = true};
        lone_site_hear(&bench->lone, &from, &msg);
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
        lone_site_hear(&bench->lone, &from, &kill);
    }
}

static struct site_view view_of(const struct bench *bench)
{
    return site_dispatch_view(bench->lone.site, bench->lone.now_ms);
}

static void end_running(struct bench *bench)
{
    struct site_view site = view_of(bench);
    for (int i = job_table_count_open(site.jobs) - 1; i >= 0; i--) {
        const struct job *job = job_table_open_at_const(site.jobs, i);
        uint64_t attempt = job->attempt;
        int host = host_table_find(site.hosts, job->hosts[0].host);
        struct peer from = lone_site_host(&bench->lone, host);
        struct msg msg = {.kind = MSG_RUN_STATE};
        msg.run_state =
            (struct msg_run_state){.run = {.site = "bench", .attempt = attempt},
                                   .phase = RUN_WAITING,
                                   .token = attempt,
                                   .exit = {.text = ""}};
        lone_site_hear(&bench->lone, &from, &msg);
        msg.run_state.phase = RUN_ENDED;
        msg.run_state.exit = (struct run_exit){.end = RUN_END_EXITED,
                                               .start_ms = bench->lone.now_ms - 600000,
                                               .end_ms = bench->lone.now_ms,
                                               .cpu_ms = 600000,
                                               .text = ""};
        lone_site_hear(&bench->lone, &from, &msg);
    }
}

/* The order of all job classes, measured by a pass that drops each of them; and the
 * time to build it. */
static double order_alone(struct bench *bench)
{
    const struct job_class_set *all = job_table_classes(view_of(bench).jobs);
    struct arena arena;
    struct place_snapshot snapshot = {.queues = view_of(bench).config->queues,
                                      .n_queues = 1};
    struct place_order order;
    arena_init(&arena);
    struct place_class *lines =
        arena_alloc(&arena, (size_t)job_class_set_count(all), sizeof(*lines));
    for (int i = 0; i < job_class_set_count(all); i++) {
        lines[i].entries = (const struct job_class_entry *const *)job_class_entries(
            job_class_set_at(all, i), &lines[i].n_entries);
        const struct job *first = job_of_entry(lines[i].entries[0]);
        lines[i].account = first->fairshare.account;
        lines[i].n_slots = 1;
        lines[i].max_starts = INT_MAX;
    }
    snapshot.classes = lines;
    snapshot.n_classes = job_class_set_count(all);
    fairshare_ledger_snapshot(view_of(bench).fairshare, &arena, bench->lone.now_ms,
                              &snapshot);
    double start = bench_cpu_now();
    place_order_init(&order, &arena, &snapshot);
    for (int i = 0; i < CHANGED; i++) {
        place_order_top(&order);
        place_order_advance(&order, 1);
    }
    while (place_order_top(&order) >= 0) {
        place_order_drop(&order);
    }
    double taken_ms = (bench_cpu_now() - start) * 1e3;
    arena_release(&arena);
    return taken_ms;
}

static void run(struct bench *bench, bool has_shares)
{
    struct bench_series changed = {0}, ended = {0}, order = {0};
    const char *aim = has_shares ? "5" : "";
    struct lone_site *lone = &bench->lone;
    configure(bench, has_shares);
    lone_site_begin(lone);
    for (int i = 0; i < N_HOSTS * HOST_SLOTS; i++) { /* those that run first */
        lone_site_load_job(lone, 0, i * 7 % USERS, 1);
    }
    bench->first_waiting = lone->last_job + 1;
    for (int i = 0; i < JOBS; i++) {
        lone_site_load_job(lone, 0, i / (JOBS / USERS), 1);
    }
    lone_site_start(lone, lone->last_job);
    lone_site_hosts_come(lone);
    settle(bench);
    if (job_table_count_open(view_of(bench).jobs) != N_HOSTS * HOST_SLOTS) {
        bench_fail("%d jobs hold the slots, expected %d",
                   job_table_count_open(view_of(bench).jobs), N_HOSTS * HOST_SLOTS);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        change_waiting(bench, i);
        bench->lone.now_ms += 1000;
        bench_add(&changed, settle(bench));
        bench_add(&order, order_alone(bench));
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        end_running(bench);
        bench->lone.now_ms += 1000;
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
    lone_site_release(lone);
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
