/* SPDX-License-Identifier: Apache-2.0 */
/* bench_preempt.c: what preemption adds to a scheduling pass: a site's step machine in
 * this process, without a store and without hosts.
 *
 * 50 users, 20 queues, 5,000 hosts of 4 slots, each with a job of 4 slots of the lowest
 * queue; 100,000 waiting jobs of 1 slot, in turn of every user in every queue. The two
 * highest queues, a tenth of those jobs, may preempt the lowest. Passes: without
 * preemption; with it, where every running job is protected, so that each line learns
 * that it cannot; and those that suspend jobs, up to what one tick may. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/site.h"
#include "tests/bench/bench.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_HOSTS = 5000,
    HOST_SLOTS = 4,
    N_WAITING = 100000,
    N_PREEMPTIVE = 2,
    SESSION = 1,
    PASSES = 20,
};

struct trial {
    char hosts[N_HOSTS][16], queues[N_QUEUES][16], users[N_USERS][16];
    struct site_host host_configs[N_HOSTS];
    struct queue_config queue_configs[N_QUEUES];
    struct preempt_queue rules[N_QUEUES];
    struct preempt_target target;
    struct site_config config;
    struct site *site;
    struct effects effects;
    int64_t now_ms;
    uint64_t last_job, last_attempt;
    int n_suspended;
};

static void configure(struct trial *trial, bool preempts, bool is_protected)
{
    for (int i = 0; i < N_HOSTS; i++) {
        snprintf(trial->hosts[i], sizeof(trial->hosts[i]), "n%04d", i);
        trial->host_configs[i] = (struct site_host){
            .name = trial->hosts[i], .max = HOST_SLOTS, .type = "", .model = ""};
    }
    for (int i = 0; i < N_QUEUES; i++) {
        snprintf(trial->queues[i], sizeof(trial->queues[i]), "q%02d", i);
        trial->queue_configs[i] = (struct queue_config){
            .name = trial->queues[i], .priority = 10 + i, .description = ""};
        trial->rules[i] = (struct preempt_queue){
            .is_preemptive = preempts && i >= N_QUEUES - N_PREEMPTIVE,
            .targets = &trial->target, /* the lowest queue */
            .n_targets = 1,
            .guards.interval_ms = is_protected ? INT64_C(3600000) : 0,
        };
    }
    for (int i = 0; i < N_USERS; i++) {
        snprintf(trial->users[i], sizeof(trial->users[i]), "user%02d", i);
    }
    trial->config = (struct site_config){
        .name = "bench",
        .hosts = trial->host_configs,
        .n_hosts = N_HOSTS,
        .queues = trial->queue_configs,
        .n_queues = N_QUEUES,
        .preempt = {.is_enabled = preempts,
                    .queues = trial->rules,
                    .n_queues = N_QUEUES,
                    .wait_ms = 300000},
        .default_queue = trial->queues[0],
        .freeze_timeout_ms = 30000,
        .clean_period_ms = 3600000,
        .max_array_size = 1000,
        .lease_account = "",
        .is_alone = true,
        .patience = 2, /* no loads are told here */
    };
}

static void load_job(struct trial *trial, int n_slots, int user, int queue)
{
    struct row row = {.kind = ROW_JOB};
    row.job.id = ++trial->last_job;
    row.job.submit_ms = 1;
    row.job.spec = (struct job_spec){
        .name = "",
        .user = trial->users[user],
        .queue = trial->queues[queue],
        .command = "sleep 3600 # and on",
        .cwd = "/home/user",
        .in_file = "",
        .out_file = "",
        .err_file = "",
        .n_slots = n_slots,
    };
    site_load(trial->site, &row);
}

static void load_running(struct trial *trial, int host)
{
    struct host_slots slots = {trial->hosts[host], HOST_SLOTS};
    load_job(trial, HOST_SLOTS, host % N_USERS, 0);
    trial->last_attempt++;
    struct row state = {.kind = ROW_JOB_STATE,
                        .job_state = {.id = trial->last_job,
                                      .state = JOB_RUN,
                                      .attempt = trial->last_attempt,
                                      .lease = "",
                                      .is_decided = true,
                                      .hosts = &slots,
                                      .n_hosts = 1,
                                      .start_ms = trial->now_ms - 1000,
                                      .exit = {.text = ""},
                                      .reason = "",
                                      .queue = ""}};
    site_load(trial->site, &state);
}

/* The runs come behind all jobs, as from a journal. */
static void load_run(struct trial *trial, int host)
{
    struct host_slots slots = {trial->hosts[host], HOST_SLOTS};
    char job[16];
    snprintf(job, sizeof(job), "%d", host + 1);
    struct row run = {.kind = ROW_RUN,
                      .run = {.run = {"bench", (uint64_t)host + 1},
                              .job = job,
                              .lease = "",
                              .record = RUN_RECORD_GUARDED,
                              .hosts = &slots,
                              .n_hosts = 1,
                              .token = 1,
                              .exit = {.text = ""}}};
    site_load(trial->site, &run);
}

static void hear(struct trial *trial, int host, struct msg *msg)
{
    struct event event = {.kind = EVENT_MESSAGE, .now_ms = trial->now_ms, .msg = msg};
    event.from = (struct peer){
        .kind = PEER_HOST, .name = trial->hosts[host], .link = (uint64_t)host + 1};
    msg->session = SESSION;
    msg->site = "";
    site_step(trial->site, &event, &trial->effects);
}

static void host_comes(struct trial *trial, int host)
{
    struct msg hello = {.kind = MSG_HOST_HELLO};
    struct msg state = {.kind = MSG_RUN_STATE};
    struct msg synced = {.kind = MSG_HOST_SYNCED};
    hello.host_hello.name = trial->hosts[host];
    hello.host_hello.boot_id = "boot";
    state.run_state = (struct msg_run_state){.run = {"bench", (uint64_t)host + 1},
                                             .phase = RUN_RUNNING,
                                             .token = 1,
                                             .start_ms = trial->now_ms - 1000,
                                             .exit = {.text = ""}};
    hear(trial, host, &hello);
    hear(trial, host, &state);
    hear(trial, host, &synced);
    effects_clear(&trial->effects);
}

/* Milliseconds of one tick; counts who is told to stand still. */
static double tick(struct trial *trial)
{
    struct event event = {.kind = EVENT_TICK, .now_ms = trial->now_ms};
    double start = bench_now();
    site_step(trial->site, &event, &trial->effects);
    double taken_s = bench_now() - start;
    for (int i = 0; i < trial->effects.count; i++) {
        const struct effect *effect = &trial->effects.items[i];
        trial->n_suspended +=
            effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_RUN_CONTROL;
    }
    effects_clear(&trial->effects);
    return taken_s * 1e3;
}

static void begin(struct trial *trial, bool preempts, bool is_protected)
{
    memset(trial, 0, sizeof(*trial));
    configure(trial, preempts, is_protected);
    effects_init(&trial->effects);
    trial->now_ms = 1000000;
    trial->site = site_new(&trial->config);
    for (int i = 0; i < N_HOSTS; i++) {
        load_running(trial, i);
    }
    for (int i = 0; i < N_WAITING; i++) {
        load_job(trial, 1, i % N_USERS, i / N_USERS % N_QUEUES);
    }
    for (int i = 0; i < N_HOSTS; i++) {
        load_run(trial, i);
    }
    struct row counters[] = {
        {.kind = ROW_COUNTER, .counter = {"job", trial->last_job}},
        {.kind = ROW_COUNTER, .counter = {"attempt", trial->last_attempt}}};
    site_load(trial->site, &counters[0]);
    site_load(trial->site, &counters[1]);
    site_start(trial->site, trial->now_ms, &trial->effects);
    effects_clear(&trial->effects);
    for (int i = 0; i < N_HOSTS; i++) {
        host_comes(trial, i);
    }
}

static void end(struct trial *trial)
{
    site_free(trial->site);
    effects_release(&trial->effects);
}

static void run(struct trial *trial, bool preempts, bool is_protected,
                struct bench_series *series)
{
    begin(trial, preempts, is_protected);
    for (int i = 0; i < PASSES; i++) {
        struct msg synced = {.kind = MSG_HOST_SYNCED}; /* which changes nothing */
        hear(trial, 0, &synced);
        effects_clear(&trial->effects);
        bench_add(series, tick(trial));
    }
    bool should = preempts && !is_protected;
    if ((trial->n_suspended > 0) != should) {
        bench_fail("%d jobs were suspended", trial->n_suspended);
    }
    end(trial);
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
