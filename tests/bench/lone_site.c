/* SPDX-License-Identifier: Apache-2.0 */
/* lone_site.c: see lone_site.h. */
#include "tests/bench/lone_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/io/journal.h"
#include "tests/bench/bench.h"

enum { SESSION = 1 };

static void configure(struct lone_site *lone, int n_hosts, int n_queues)
{
    lone->config = (struct site_config){
        .name = "bench",
        .hosts = lone->host_configs,
        .n_hosts = n_hosts,
        .queues = lone->queue_configs,
        .n_queues = n_queues,
        .default_queue = lone->queues[0],
        .freeze_timeout_ms = 30000,
        .clean_period_ms = 3600000,
        .max_array_size = 1000,
        .default_application = "",
        .lease_account = "",
        .is_alone = true,
        .patience = 2, /* no host reports its load here */
    };
    job_rules_init(&lone->config.rules);
}

void lone_site_init(struct lone_site *lone, int n_hosts, int host_slots, int n_queues,
                    int n_users)
{
    memset(lone, 0, sizeof(*lone));
    lone->hosts = mem_alloc((size_t)n_hosts, sizeof(*lone->hosts));
    lone->queues = mem_alloc((size_t)n_queues, sizeof(*lone->queues));
    lone->users = mem_alloc((size_t)n_users, sizeof(*lone->users));
    lone->host_configs = mem_alloc((size_t)n_hosts, sizeof(*lone->host_configs));
    lone->queue_configs = mem_alloc((size_t)n_queues, sizeof(*lone->queue_configs));
    for (int i = 0; i < n_hosts; i++) {
        snprintf(lone->hosts[i], LONE_SITE_NAME_SIZE, "n%04d", i);
        lone->host_configs[i] = (struct site_host){
            .name = lone->hosts[i], .max = host_slots, .type = "", .model = ""};
    }
    for (int i = 0; i < n_queues; i++) {
        snprintf(lone->queues[i], LONE_SITE_NAME_SIZE, "q%02d", i);
        lone->queue_configs[i] = (struct queue_config){
            .name = lone->queues[i], .priority = 10 + i, .description = ""};
        job_rules_init(&lone->queue_configs[i].rules.job);
    }
    for (int i = 0; i < n_users; i++) {
        snprintf(lone->users[i], LONE_SITE_NAME_SIZE, "user%05d", i);
    }
    configure(lone, n_hosts, n_queues);
    effects_init(&lone->effects);
    arena_init(&lone->arena);
    lone->now_ms = 1800000000000;
}

static const char *queue_text(struct arena *arena, const struct lone_site_text *text,
                              const struct queue_config *queue, int place, int n_queues)
{
    return arena_printf(arena,
                        "Begin Queue\nQUEUE_NAME = %s\nPRIORITY = %d\n%s%s%s"
                        "End Queue\n",
                        queue->name, queue->priority,
                        text->all != NULL ? text->all : "",
                        place < text->n_low ? text->low : "",
                        place >= n_queues - text->n_high ? text->high : "");
}

void lone_site_read(struct lone_site *lone, const struct lone_site_text *text)
{
    struct arena *arena = &lone->arena;
    struct site_setup setup;
    struct conf conf;
    const struct site_config given = lone->config;
    FILE *file;
    char *all = NULL;
    size_t size;
    file = open_memstream(&all, &size);
    fprintf(file,
            "Begin Site\nNAME = bench\nSPOOL = /nowhere\nEnd Site\n"
            "Begin Parameters\nDEFAULT_QUEUE = %s\n%sEnd Parameters\n"
            "Begin Host\nHOST_NAME MXJ\n",
            given.default_queue, text->parameters != NULL ? text->parameters : "");
    for (int i = 0; i < given.n_hosts; i++) {
        fprintf(file, "%s %d\n", given.hosts[i].name, given.hosts[i].max);
    }
    fprintf(file, "End Host\n");
    for (int i = 0; i < given.n_queues; i++) {
        fputs(queue_text(arena, text, &given.queues[i], i, given.n_queues), file);
    }
    fclose(file);
    conf_init(&conf, arena);
    conf_read(&conf, "bench.conf", all, size);
    free(all);
    if (!site_config_read(&conf, &setup) || conf.diags != NULL) {
        bench_fail("%s", conf.diags != NULL ? conf.diags->text : "no site");
    }
    lone->config = setup.config;
    lone->config.patience = given.patience;
    lone->config.clean_period_ms = given.clean_period_ms;
}

void lone_site_require(struct lone_site *lone, const char *before, const char *behind,
                       int n_strings)
{
    lone->n_res_reqs = n_strings;
    lone->res_reqs =
        arena_alloc(&lone->arena, (size_t)n_strings, sizeof(*lone->res_reqs));
    for (int i = 0; i < n_strings; i++) {
        lone->res_reqs[i] = arena_printf(&lone->arena, "%s%d%s", before, i + 1, behind);
    }
}

void lone_site_release(struct lone_site *lone)
{
    site_free(lone->site);
    effects_release(&lone->effects);
    arena_release(&lone->arena);
    free(lone->hosts);
    free(lone->queues);
    free(lone->users);
    free(lone->host_configs);
    free(lone->queue_configs);
}

void lone_site_begin(struct lone_site *lone)
{
    lone->site = site_new(&lone->config);
}

void lone_site_start(struct lone_site *lone, uint64_t last_id)
{
    struct row counter = {.kind = ROW_COUNTER,
                          .counter = {.name = "job", .value = last_id}};
    site_load(lone->site, &counter);
    site_start(lone->site, lone->now_ms, &lone->effects);
    effects_clear(&lone->effects);
}

/* ---------------------------------------------------------------- jobs */

struct job_spec lone_site_spec(const struct lone_site *lone, int queue, int user,
                               int n_slots)
{
    return (struct job_spec){
        .name = "",
        .user = lone->users[user],
        .uid = 1000 + user,
        .queue = lone->queues[queue],
        .command = "sleep 3600 # and on",
        .cwd = "/home/user",
        .in_file = "",
        .out_file = "",
        .err_file = "",
        .n_slots = n_slots,
    };
}

void lone_site_load_spec(struct lone_site *lone, const struct job_spec *spec)
{
    struct row row = {.kind = ROW_JOB};
    row.job.id = ++lone->last_job;
    row.job.submit_ms = lone->now_ms - 1000;
    row.job.spec = *spec;
    if (lone->n_res_reqs > 0) {
        row.job.spec.res_reqs =
            &lone->res_reqs[row.job.id % (uint64_t)lone->n_res_reqs];
        row.job.spec.n_res_reqs = 1;
    }
    site_load(lone->site, &row);
    struct err err;
    if (lone->journal != NULL && journal_write(lone->journal, &row, &err) < 0) {
        bench_fail("%s", err.text);
    }
}

void lone_site_load_job(struct lone_site *lone, int queue, int user, int n_slots)
{
    struct job_spec spec = lone_site_spec(lone, queue, user, n_slots);
    lone_site_load_spec(lone, &spec);
}

void lone_site_load_running(struct lone_site *lone, int host,
                            const struct job_spec *spec)
{
    struct host_slots slots = {lone->hosts[host], spec->n_slots};
    lone_site_load_spec(lone, spec);
    struct row state = {.kind = ROW_JOB_STATE,
                        .job_state = {.id = lone->last_job,
                                      .state = JOB_RUN,
                                      .attempt = (uint64_t)host + 1,
                                      .lease = "",
                                      .is_decided = true,
                                      .hosts = &slots,
                                      .n_hosts = 1,
                                      .start_ms = lone->now_ms - 1000,
                                      .exit = {.text = ""},
                                      .reason = "",
                                      .overload = "",
                                      .avoided = "",
                                      .reserved = "",
                                      .queue = ""}};
    site_load(lone->site, &state);
}

void lone_site_load_runs(struct lone_site *lone, int n_slots)
{
    for (int i = 0; i < lone->config.n_hosts; i++) {
        struct host_slots slots = {lone->hosts[i], n_slots};
        char job[16];
        snprintf(job, sizeof(job), "%d", i + 1);
        struct row run = {.kind = ROW_RUN,
                          .run = {.run = {"bench", (uint64_t)i + 1},
                                  .job = job,
                                  .lease = "",
                                  .record = RUN_RECORD_GUARDED,
                                  .hosts = &slots,
                                  .n_hosts = 1,
                                  .token = 1,
                                  .exit = {.text = ""}}};
        site_load(lone->site, &run);
    }
    struct row counter = {.kind = ROW_COUNTER,
                          .counter = {"attempt", (uint64_t)lone->config.n_hosts}};
    site_load(lone->site, &counter);
}

/* ---------------------------------------------------------------- steps */

struct peer lone_site_host(const struct lone_site *lone, int host)
{
    return (struct peer){
        .kind = PEER_HOST, .name = lone->hosts[host], .link = (uint64_t)host + 1};
}

void lone_site_hear(struct lone_site *lone, const struct peer *from, struct msg *msg)
{
    struct event event = {
        .kind = EVENT_MESSAGE, .now_ms = lone->now_ms, .msg = msg, .from = *from};
    msg->session = SESSION;
    msg->site = "";
    site_step(lone->site, &event, &lone->effects);
    effects_clear(&lone->effects);
}

void lone_site_hosts_come(struct lone_site *lone)
{
    for (int i = 0; i < lone->config.n_hosts; i++) {
        struct msg hello = {.kind = MSG_HOST_HELLO}, synced = {.kind = MSG_HOST_SYNCED};
        struct peer host = lone_site_host(lone, i);
        hello.host_hello.name = lone->hosts[i];
        hello.host_hello.boot_id = "boot";
        lone_site_hear(lone, &host, &hello);
        lone_site_hear(lone, &host, &synced);
        if (lone->n_res_reqs > 0) {
            struct load_value mem = {.name = "mem", .value = "1000000"};
            struct msg load = {.kind = MSG_HOST_LOAD};
            load.host_load = (struct msg_host_load){.values = &mem, .n_values = 1};
            lone_site_hear(lone, &host, &load);
        }
    }
}

void lone_site_runs_come(struct lone_site *lone)
{
    for (int i = 0; i < lone->config.n_hosts; i++) {
        struct msg hello = {.kind = MSG_HOST_HELLO}, synced = {.kind = MSG_HOST_SYNCED};
        struct msg state = {.kind = MSG_RUN_STATE};
        struct peer host = lone_site_host(lone, i);
        hello.host_hello.name = lone->hosts[i];
        hello.host_hello.boot_id = "boot";
        state.run_state = (struct msg_run_state){.run = {"bench", (uint64_t)i + 1},
                                                 .phase = RUN_RUNNING,
                                                 .token = 1,
                                                 .start_ms = lone->now_ms - 1000,
                                                 .exit = {.text = ""}};
        lone_site_hear(lone, &host, &hello);
        lone_site_hear(lone, &host, &state);
        lone_site_hear(lone, &host, &synced);
    }
}

void lone_site_nudge(struct lone_site *lone)
{
    struct msg synced = {.kind = MSG_HOST_SYNCED};
    struct peer host = lone_site_host(lone, 0);
    lone_site_hear(lone, &host, &synced);
}

int lone_site_tick(struct lone_site *lone, enum msg_kind kind)
{
    struct event event = {.kind = EVENT_TICK, .now_ms = lone->now_ms};
    int n_sent = 0;
    effects_clear(&lone->effects);
    site_step(lone->site, &event, &lone->effects);
    for (int i = 0; i < lone->effects.count; i++) {
        const struct effect *effect = &lone->effects.items[i];
        n_sent += effect->kind == EFFECT_SEND && effect->send.msg.kind == kind;
    }
    return n_sent;
}
