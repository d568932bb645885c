/* SPDX-License-Identifier: Apache-2.0 */
/* standby.c: see standby.h. */
#include "broker/io/standby.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/store/store_lead.h"
#include "broker/io/web.h"
#include "broker/leader/leader.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    ENDPOINT_SIZE = HOST_NAME_MAX + 32,
    OPEN_PAUSE_MS = 1000,
    LOG_BURST = 2,
    /* The copy is read at most so often, and for at most a tenth of the time. */
    COPY_EVERY_MS = 2000,
    COPY_PART = 10,
};

struct wait {
    zloop_t *loop;
    const char *state;
    bool accepts_loss, is_done, is_waiting; /* it has said that it waits */
    struct store *store;
    struct door *door;
    struct err err;
    struct log_limit complaints;
    int64_t term; /* of the leader that the log has; -1: it has none */

    const struct broker_setup *setup;
    struct web *web; /* NULL: not open yet */
    struct broker *copy;
    int64_t copied_term, copied_batch; /* what the copy has */
    int64_t copy_next_ms;
    char leader[ENDPOINT_SIZE];
};

static void complain(struct wait *wait)
{
    if (log_limit_pass(&wait->complaints, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING, "%s; it is tried again", wait->err.text);
    }
}

/* Ends the loop when it is done. */
static int run(struct wait *wait, size_t pause_ms, zloop_timer_fn *fn)
{
    if (fn(wait->loop, 0, wait) == 0) {
        int timer = zloop_timer(wait->loop, pause_ms, 0, fn, wait);
        daemon_run(wait->loop);
        zloop_timer_end(wait->loop, timer);
    }
    return wait->err.code < 0 && wait->is_done ? wait->err.code : wait->is_done;
}

/* ---------------------------------------------------------------- opening */

static int on_open(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id;
    struct wait *wait = arg;
    wait->err = (struct err){0};
    int rc = store_open(wait->state, wait->accepts_loss, &wait->store, &wait->err);
    wait->is_done = rc != ERR_AWAY;
    if (!wait->is_done) {
        complain(wait);
    }
    return wait->is_done ? -1 : 0;
}

int standby_open(zloop_t *loop, const char *state, bool accepts_loss,
                 struct store **store, struct err *err)
{
    struct wait wait = {.loop = loop, .state = state, .accepts_loss = accepts_loss};
    wait.complaints.burst = LOG_BURST;
    int rc = run(&wait, OPEN_PAUSE_MS, on_open);
    *store = wait.store;
    *err = wait.err;
    return rc;
}

/* ---------------------------------------------------------------- HTTP */

static void load_row(void *arg, const struct row *row)
{
    broker_load(arg, row);
}

/* Reads the store again if the leader has changed it. */
static int renew_copy(struct wait *wait, const struct store_leader *leader)
{
    int64_t begin_ms = daemon_now_ms();
    bool is_same = wait->copy != NULL && wait->copied_term == leader->term &&
                   wait->copied_batch == leader->batch;
    if (is_same || begin_ms < wait->copy_next_ms) {
        return 0;
    }
    struct broker *copy = broker_new(&wait->setup->config);
    int rc = store_load(wait->store, load_row, copy, &wait->err);
    if (rc < 0) {
        broker_free(copy);
        return rc;
    }
    if (wait->web != NULL) {
        web_follow(wait->web, copy, wait->leader);
    }
    broker_free(wait->copy);
    wait->copy = copy;
    wait->copied_term = leader->term;
    wait->copied_batch = leader->batch;
    int64_t pause_ms = COPY_PART * (daemon_now_ms() - begin_ms);
    wait->copy_next_ms =
        begin_ms + (pause_ms > COPY_EVERY_MS ? pause_ms : COPY_EVERY_MS);
    return 0;
}

/* Serves HTTP from the first copy on. */
static int serve_http(struct wait *wait, const struct store_leader *leader)
{
    snprintf(wait->leader, sizeof(wait->leader), "%s", leader->name);
    if (wait->setup->http_host == NULL) {
        return 0;
    }
    int rc = renew_copy(wait, leader);
    if (rc < 0 || wait->web != NULL) {
        return rc < 0 ? ERR_AWAY : 0;
    }
    rc = web_new(wait->loop, wait->setup, wait->copy, wait->store, NULL, &wait->web,
                 &wait->err);
    if (rc == 0) {
        web_follow(wait->web, wait->copy, wait->leader);
    }
    return rc;
}

/* ---------------------------------------------------------------- waiting */

/* At the start, and when another broker leads. */
static void say_leads(struct wait *wait, const struct store_leader *leader)
{
    bool has_leader = leader->name[0] != '\0';
    if (!wait->is_waiting || (has_leader && leader->term != wait->term)) {
        log_line(LOG_LEVEL_NOTICE, "this broker is a standby: %s leads with term %lld",
                 has_leader ? leader->name : "no broker", (long long)leader->term);
        wait->term = has_leader ? leader->term : -1;
    }
    if (!wait->is_waiting) {
        wait->is_waiting = true;
        daemon_ready();
    }
}

static int on_look(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id;
    struct wait *wait = arg;
    struct arena arena;
    struct err err;
    struct store_leader leader = {.name = ""};
    arena_init(&arena);
    int rc = store_lead_try(wait->store, &arena, &leader, &err);
    if (rc > 0) {
        log_line(LOG_LEVEL_NOTICE, "this broker leads: %s with term %lld", leader.name,
                 (long long)leader.term);
        wait->is_done = true;
    } else if (rc == 0) {
        say_leads(wait, &leader);
        door_refuse(wait->door, leader.name);
        rc = serve_http(wait, &leader);
        wait->is_done = rc < 0 && rc != ERR_AWAY; /* the port cannot be opened */
    } else {
        door_refuse(wait->door, "");
        wait->leader[0] = '\0';
        wait->err = err;
    }
    if (rc < 0 && !wait->is_done) {
        complain(wait);
        wait->err = (struct err){0};
    }
    arena_release(&arena);
    return wait->is_done ? -1 : 0;
}

static int on_renew(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id;
    store_lead_renew(arg);
    return 0;
}

/* Descriptors are closed by the kernel, and signals stay blocked. */
_Noreturn void standby_begin_anew(char **argv)
{
    execv("/proc/self/exe", argv);
    log_line(LOG_LEVEL_ERROR, "/proc/self/exe: %s", strerror(errno));
    _exit(EXIT_FAILURE);
}

static void on_dismissed(void *argv, const struct err *why)
{
    log_line(LOG_LEVEL_ERROR,
             "%s; nothing of the batch was sent, and this broker becomes "
             "a standby",
             why->text);
    standby_begin_anew(argv);
}

/* LISTEN as sites can connect to it: "*" is this machine's name. */
static const char *endpoint_of(const char *listen, char *text, size_t size)
{
    static const char *const wildcards[] = {"tcp://*:", "tcp://0.0.0.0:"};
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    for (size_t i = 0; i < sizeof(wildcards) / sizeof(wildcards[0]); i++) {
        size_t length = strlen(wildcards[i]);
        if (strncmp(listen, wildcards[i], length) == 0) {
            snprintf(text, size, "tcp://%s:%s", host, listen + length);
            return text;
        }
    }
    return listen;
}

int standby_wait(zloop_t *loop, const struct broker_setup *setup, struct store *store,
                 struct door *door, char **argv, struct err *err)
{
    char name[ENDPOINT_SIZE];
    struct wait wait = {.loop = loop, .store = store, .door = door, .setup = setup};
    wait.complaints.burst = LOG_BURST;
    store_lead_set_self(store, endpoint_of(setup->listen, name, sizeof(name)));
    if (store_db(store) != NULL) {
        return 1; /* a file has one broker */
    }
    int leads = run(&wait, LEADER_LOOK_MS, on_look);
    *err = wait.err;
    web_free(wait.web);
    broker_free(wait.copy);
    if (leads > 0) {
        store_lead_set_dismissed(store, on_dismissed, argv);
        zloop_timer(loop, LEADER_RENEW_MS, 0, on_renew, store);
    }
    return leads;
}
