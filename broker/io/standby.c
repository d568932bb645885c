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
#include "broker/leader/leader.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum { OPEN_PAUSE_MS = 1000, LOG_BURST = 2 };

struct wait {
    zloop_t *loop;
    const char *state;
    bool accepts_loss, is_done, is_waiting; /* it has said that it waits */
    struct store *store;
    struct door *door;
    struct err err;
    struct log_limit complaints;
    int64_t term; /* of the leader that the log has; -1: it has none */
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
    } else {
        door_refuse(wait->door, "");
        wait->err = err;
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

int standby_wait(zloop_t *loop, struct store *store, struct door *door,
                 const char *listen, char **argv)
{
    char name[HOST_NAME_MAX + 32];
    struct wait wait = {.loop = loop, .store = store, .door = door};
    wait.complaints.burst = LOG_BURST;
    store_lead_set_self(store, endpoint_of(listen, name, sizeof(name)));
    if (store_db(store) != NULL) {
        return 1; /* a file has one broker */
    }
    int leads = run(&wait, LEADER_LOOK_MS, on_look);
    if (leads > 0) {
        store_lead_set_dismissed(store, on_dismissed, argv);
        zloop_timer(loop, LEADER_RENEW_MS, 0, on_renew, store);
    }
    return leads;
}
