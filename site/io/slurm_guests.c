/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_guests.c: see slurm_guests.h. */
#include "site/io/slurm_guests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "consumer/consumer.h"
#include "slurm/io/slurm_child.h"
#include "slurm/slurm_borrow.h"
#include "sys/accounts.h"
#include "sys/daemon.h"
#include "sys/log.h"

/* No connection of the local socket has this number. */
#define OWN_LINK UINT64_MAX

enum {
    WITHIN_MS = 30000, /* a command that takes longer is ended */
    LOOK_MS = 50,      /* while a command runs */
    REST_MAX_MS = 1000,
    NOTICE_MS = 60000,
};

struct slurm_guests {
    zloop_t *loop;
    int timer;
    struct site *site;
    struct shell *shell;
    const struct site_setup *setup;
    struct arena arena; /* of the account's name */
    struct peer self;
    struct slurm_borrow *borrow;
    struct child *child; /* NULL: no command runs */
    bool could_not_start;
    struct err err;
    bool has_sent; /* messages to the site in this step */
    uint64_t n_requests;
};

static int on_timer(zloop_t *loop, int timer, void *arg);

static void arm(struct slurm_guests *guests)
{
    int64_t rest_ms = slurm_borrow_wake_ms(guests->borrow) - daemon_now_ms();
    int64_t wait_ms = guests->child != NULL || guests->could_not_start ? LOOK_MS
                      : rest_ms < 1                                    ? 1
                      : rest_ms < REST_MAX_MS                          ? rest_ms
                                                                       : REST_MAX_MS;
    guests->timer = zloop_timer(guests->loop, (size_t)wait_ms, 1, on_timer, guests);
}

/* ---------------------------------------------------------------- io */

static void command(void *arg, const char *const *words)
{
    struct slurm_guests *guests = arg;
    const struct slurm_child_place place = {.bin = guests->setup->slurm.bin,
                                            .conf = guests->setup->slurm.conf,
                                            .within_ms = WITHIN_MS};
    guests->could_not_start = slurm_child_new(&place, words, daemon_now_ms(),
                                              &guests->child, &guests->err) < 0;
}

static bool is_guest(const struct slurm_guests *guests, const struct site_job *job)
{
    return strcmp(job->queue, guests->setup->slurm_borrow.partition) == 0 &&
           job->state != JOB_DONE && job->state != JOB_EXIT;
}

static bool is_drained(const struct slurm_guests *guests, const char *lease)
{
    struct msg_contract contract;
    return consumer_find_contract(site_consumer(guests->site), lease, &contract) &&
           (contract.state == LEASE_DRAINING || contract.state == LEASE_ENDED);
}

static int list(void *arg, struct arena *arena, struct slurm_guest **items)
{
    const struct slurm_guests *guests = arg;
    int n_jobs = site_count_jobs(guests->site), count = 0;
    *items = arena_alloc(arena, (size_t)n_jobs + 1, sizeof(**items));
    for (int i = 0; i < n_jobs; i++) {
        struct site_job job;
        site_job_at(guests->site, i, &job);
        if (is_guest(guests, &job)) {
            (*items)[count++] =
                (struct slurm_guest){.job = job.id,
                                     .n_slots = job.n_slots,
                                     .has_host = job.attempt != 0,
                                     .has_begun = job.start_ms != 0,
                                     .is_ending = job.is_killed,
                                     .is_drained = is_drained(guests, job.lease),
                                     .begun_ms = job.start_ms,
                                     .recall_ms = job.recall_ms};
        }
    }
    return count;
}

/* Of both sides of its lease: what a guest may get there one day. */
static int host_max(void *arg)
{
    const struct slurm_guests *guests = arg;
    const struct consumer *consumer = site_consumer(guests->site);
    int most = 0;
    for (int i = 0; i < consumer_count_hosts(consumer); i++) {
        struct consumer_host host;
        consumer_host_at(consumer, i, &host);
        most = host.n_slots > most ? host.n_slots : most;
    }
    return most;
}

static void send_to_site(struct slurm_guests *guests, const struct msg *msg)
{
    shell_take_message(guests->shell, &guests->self, msg);
    guests->has_sent = true;
}

static void submit(void *arg, int n_slots)
{
    struct slurm_guests *guests = arg;
    static const char *const one_host[] = {"span[hosts=1]"};
    const struct site_slurm_borrow *config = &guests->setup->slurm_borrow;
    struct arena arena;
    arena_init(&arena);
    struct msg msg = {
        .kind = MSG_SUBMIT,
        .site = "",
        .submit = {.request = ++guests->n_requests,
                   .spec = {.name = "slurmd",
                            .user = "",
                            .queue = config->partition,
                            .command = slurm_guest_command(&arena, config->slurmd),
                            .cwd = "/",
                            .in_file = "",
                            .out_file = "",
                            .err_file = "",
                            .umask = 022,
                            .n_slots = n_slots,
                            .res_reqs = one_host,
                            .n_res_reqs = 1,
                            .app = ""},
                   .terms = {.depend = "",
                             .depend_on = "",
                             .project = "",
                             .has_slots = true,
                             .max_slots = SLOTS_MAX,
                             .user_group = "",
                             .resize_notify = ""}}};
    send_to_site(guests, &msg);
    arena_release(&arena);
}

static void end(void *arg, uint64_t job)
{
    struct slurm_guests *guests = arg;
    char id[24];
    const char *const ids[] = {id};
    (void)snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
    const struct msg msg = {.kind = MSG_JOB_CONTROL,
                            .site = "",
                            .job_control = {.request = ++guests->n_requests,
                                            .action = CONTROL_KILL,
                                            .jobs = ids,
                                            .n_jobs = 1}};
    send_to_site(guests, &msg);
}

static void log_text(void *arg, enum log_level level, const char *text)
{
    (void)arg;
    log_line(level, "%s", text);
}

bool slurm_guests_take(struct slurm_guests *guests, const struct peer *to,
                       const struct msg *msg)
{
    if (guests == NULL || to->link != OWN_LINK) {
        return false;
    }
    if (msg->kind == MSG_REPLY && msg->reply.code != 0) {
        log_line(LOG_LEVEL_WARNING, "slurm: a guest: %s", msg->reply.text);
    } else if (msg->kind == MSG_ERROR) {
        log_line(LOG_LEVEL_WARNING, "slurm: a guest: %s", msg->error.text);
    }
    return true;
}

/* ---------------------------------------------------------------- steps */

static void take_answer(struct slurm_guests *guests, int64_t now_ms)
{
    struct child *child = guests->child;
    const char *text;
    struct err err = {.text = ""};
    guests->child = NULL;
    int rc = child_output(child, &text, &err);
    slurm_borrow_done(guests->borrow, rc == 0 ? text : NULL, &err, now_ms);
    child_free(child);
}

static int on_timer(zloop_t *loop, int timer, void *arg)
{
    struct slurm_guests *guests = arg;
    int64_t now_ms = daemon_now_ms();
    (void)loop;
    (void)timer;
    if (guests->could_not_start) {
        struct err err = guests->err;
        guests->could_not_start = false;
        slurm_borrow_done(guests->borrow, NULL, &err, now_ms);
    } else if (guests->child == NULL) {
        slurm_borrow_tick(guests->borrow, now_ms);
    } else if (child_step(guests->child, now_ms)) {
        take_answer(guests, now_ms);
    }
    if (guests->has_sent) {
        guests->has_sent = false;
        shell_run_batch(guests->shell);
    }
    arm(guests);
    return 0;
}

static void begin(struct slurm_guests *guests)
{
    const struct site_slurm_borrow *config = &guests->setup->slurm_borrow;
    const struct slurm_borrow_io io = {.arg = guests,
                                       .command = command,
                                       .list = list,
                                       .host_max = host_max,
                                       .submit = submit,
                                       .end = end,
                                       .log = log_text};
    guests->borrow = slurm_borrow_new(
        &(struct slurm_borrow_config){.partition = config->partition,
                                      .cycle_ms = guests->setup->slurm.interval_ms,
                                      .idle_ms = config->idle_ms,
                                      .stay_ms = config->stay_ms,
                                      .notice_ms = NOTICE_MS,
                                      .max = config->n_nodes,
                                      .seed = (uint64_t)daemon_now_ms()},
        &io, daemon_now_ms());
}

struct slurm_guests *slurm_guests_new(zloop_t *loop, const struct site_setup *setup,
                                      struct site *site, struct shell *shell)
{
    if (setup->slurm_borrow.partition == NULL) {
        return NULL;
    }
    struct slurm_guests *guests = mem_alloc(1, sizeof(*guests));
    *guests = (struct slurm_guests){
        .loop = loop, .site = site, .shell = shell, .setup = setup};
    arena_init(&guests->arena);
    guests->self = (struct peer){.kind = PEER_CLIENT,
                                 .name = accounts_own_name(&guests->arena),
                                 .link = OWN_LINK,
                                 .uid = accounts_own_uid(),
                                 .gid = getegid()};
    begin(guests);
    arm(guests);
    return guests;
}

static void stop(struct slurm_guests *guests)
{
    child_free(guests->child);
    slurm_borrow_free(guests->borrow);
    guests->child = NULL;
    guests->could_not_start = false;
}

void slurm_guests_free(struct slurm_guests *guests)
{
    if (guests != NULL) {
        zloop_timer_end(guests->loop, guests->timer);
        stop(guests);
        arena_release(&guests->arena);
        free(guests);
    }
}

void slurm_guests_reload(struct slurm_guests *guests, const struct site_setup *setup)
{
    if (guests != NULL) {
        stop(guests);
        guests->setup = setup;
        begin(guests);
    }
}
