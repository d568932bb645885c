/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c: see hub.h. run_batch is the loop's whole order. */
#include "broker/io/hub.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/daemon.h"
#include "sys/json.h"
#include "sys/log.h"
#include "sys/wake.h"
#include "sys/wire/wire.h"

enum {
    /* Messages that share one commit, whose cost is the pages that it rewrites. With
     * more, the first would wait longer than some 30 ms. */
    MESSAGES_PER_BATCH = 1024,
    /* Listings of one batch, or at most twice as many: each is a page of a quarter of a
     * megabyte and takes some milliseconds. */
    LISTINGS_PER_BATCH = 8,
    REFUSED_LOG_BURST = 10,
    WARNED_LOG_BURST = 100, /* what members can cause at will: refusals */
};

/* A request through hub_ask (PEER_NONE: it has no socket), and its answer. */
struct ask {
    struct arena *arena;
    const char *text;
    int code;
};

struct hub {
    zloop_t *loop;
    struct broker *broker;
    struct store *store;
    struct wire_server *server;
    struct effects effects;    /* of the batch that is being made */
    struct snapshot *snapshot; /* NULL: none */
    hub_reload_fn reload;      /* NULL: none */
    void *reload_part;
    struct wire_key *keys; /* of the members */
    int n_keys;
    struct metrics metrics;
    struct log_limit refused, unsent, warned;
    struct wake wake; /* for broker_wake_ms */
    int n_listings;   /* asked for in the batch */
    struct ask *ask;  /* hub_ask is under way; else NULL */
    int watch_id;     /* the timer of the connections' bounds; -1: none */
};

/* ---------------------------------------------------------------- collect and step */

static void take_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct hub *hub = arg;
    struct event event = {
        .kind = EVENT_MESSAGE,
        .now_ms = daemon_now_ms(),
        .from = *from,
        .msg = msg,
    };
    hub->n_listings += msg->kind == MSG_QUERY;
    broker_step(hub->broker, &event, &hub->effects);
}

/* A malformed message never reaches the step machine; its sender gets an error. */
static void refuse_message(void *arg, const struct peer *from, const struct err *err)
{
    struct hub *hub = arg;
    const char *name = from->name != NULL ? from->name : "";
    if (log_limit_pass(&hub->refused, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING, "a message of \"%s\" is refused: %s", name,
                 err->text);
    }
    if (from->kind == PEER_NONE) {
        metrics_count_refused(&hub->metrics, err->code);
        return;
    }
    struct msg msg = {.kind = MSG_ERROR, .site = ""};
    msg.error.code = err->code;
    msg.error.text = arena_str(&hub->effects.arena, err->text);
    effects_send(&hub->effects, from, &msg);
}

static void collect_messages(struct hub *hub)
{
    int taken, count = 0;
    hub->n_listings = 0;
    do {
        taken = wire_server_drain(hub->server, LISTINGS_PER_BATCH, take_message,
                                  refuse_message, hub);
        count += taken;
    } while (taken == LISTINGS_PER_BATCH && count < MESSAGES_PER_BATCH &&
             hub->n_listings < LISTINGS_PER_BATCH);
}

static void step_tick(struct hub *hub)
{
    struct event event = {.kind = EVENT_TICK,
                          .now_ms = daemon_now_ms(),
                          .utc_offset_ms = daemon_utc_offset_ms()};
    broker_step(hub->broker, &event, &hub->effects);
}

/* ---------------------------------------------------------------- commit */

static int write_stores(struct hub *hub, struct err *err)
{
    int rc = store_begin(hub->store, err);
    for (int i = 0; i < hub->effects.count && rc == 0; i++) {
        const struct effect *effect = &hub->effects.items[i];
        if (effect->kind == EFFECT_STORE) {
            rc = store_write(hub->store, &effect->row, err);
        }
    }
    return rc == 0 ? store_commit(hub->store, err) : rc;
}

static bool has_stores(const struct hub *hub)
{
    for (int i = 0; i < hub->effects.count; i++) {
        if (hub->effects.items[i].kind == EFFECT_STORE) {
            return true;
        }
    }
    return false;
}

static void commit_stores(struct hub *hub)
{
    struct err err;
    if (!has_stores(hub)) {
        return;
    }
    int64_t begin_ns = histogram_now_ns();
    if (write_stores(hub, &err) < 0) {
        log_line(LOG_LEVEL_ERROR,
                 "commit failed: %s; nothing of the batch was sent, and the next start "
                 "continues from what is on disk",
                 err.text);
        _exit(EXIT_FAILURE);
    }
    metrics_count_commit(&hub->metrics, histogram_now_ns() - begin_ns);
}

/* ---------------------------------------------------------------- send */

static struct msg reply_to(uint64_t session, uint64_t request, int code,
                           const char *text)
{
    struct msg msg = {.kind = MSG_REPLY, .session = session, .site = ""};
    msg.reply = (struct msg_reply){.request = request,
                                   .code = code,
                                   .text = text,
                                   .next = "",
                                   .bytes = (const uint8_t *)""};
    return msg;
}

/* A message that cannot be sent is sent again by the part that needs it. For an answer
 * that does not fit, an error is sent instead. */
static void send_message(struct hub *hub, const struct peer *to, struct msg *msg)
{
    struct err err;
    int rc = wire_server_send(hub->server, to, msg, &err);
    if (rc == 0 || rc == ERR_AWAY) {
        return;
    }
    if (log_limit_pass(&hub->unsent, daemon_now_ms())) {
        log_line(LOG_LEVEL_ERROR, "%s to \"%s\" is not sent: %s",
                 msg_kind_name(msg->kind), to->name != NULL ? to->name : "", err.text);
    }
    if (msg->kind == MSG_REPLY && msg->reply.code == 0) {
        struct msg error =
            reply_to(msg->session, msg->reply.request, rc,
                     "the answer does not fit a message; ask for fewer rows");
        (void)wire_server_send(hub->server, to, &error, &err);
    }
}

static void take_answer(struct ask *ask, const struct msg *msg)
{
    if (ask != NULL && msg->kind == MSG_REPLY) {
        ask->code = msg->reply.code;
        ask->text = arena_str(ask->arena, msg->reply.text);
    }
}

static void send_effect(struct hub *hub, struct effect *effect)
{
    struct msg *msg = &effect->send.msg;
    char *json = NULL;
    if (effect->send.to.kind == PEER_NONE) {
        take_answer(hub->ask, msg);
        return;
    }
    if (msg->kind == MSG_REPLY && msg->reply.value != NULL) {
        json = json_render(msg->reply.value);
        msg->reply.json = json;
    }
    send_message(hub, &effect->send.to, msg);
    free(json);
}

static void send_history(struct hub *hub, const struct effect *effect)
{
    struct err err = {0};
    struct value *value = NULL;
    const char *next = "";
    struct effect reply = {.kind = EFFECT_SEND, .send.to = effect->history.to};
    const struct msg_query *query = &effect->history.query;
    int rc =
        store_history_read(hub->store, query, &hub->effects.arena, &value, &next, &err);
    reply.send.msg = reply_to(effect->history.session, query->request, rc, err.text);
    if (rc == 0) {
        reply.send.msg.reply.value = value;
        reply.send.msg.reply.next = next;
    }
    send_effect(hub, &reply);
}

static void send_snapshot(struct hub *hub, const struct effect *effect)
{
    const struct msg_snapshot *ask = &effect->snapshot.ask;
    struct msg msg = reply_to(effect->snapshot.session, ask->request, ERR_UNBUILT,
                              "no snapshots are made here");
    if (hub->snapshot != NULL) {
        snapshot_answer(hub->snapshot, ask, &msg.reply);
        msg.reply.request = ask->request;
    }
    send_message(hub, &effect->snapshot.to, &msg);
}

static void answer_reload(struct hub *hub, const struct effect *effect)
{
    struct err err = {0};
    const char *text = "";
    struct peer to = effect->reload.to;
    struct arena arena;
    arena_init(&arena);
    to.name = arena_str(&arena, to.name);
    int rc = hub->reload != NULL
                 ? hub->reload(hub->reload_part, &arena, &text, &err)
                 : err_set(&err, ERR_UNBUILT, "this process reloads nothing");
    struct msg msg = reply_to(effect->reload.session, effect->reload.request, rc,
                              rc < 0 ? err.text : text);
    send_message(hub, &to, &msg);
    arena_release(&arena);
}

static void carry_out(struct hub *hub)
{
    for (int i = 0; i < hub->effects.count; i++) {
        struct effect *effect = &hub->effects.items[i];
        switch (effect->kind) {
        case EFFECT_SEND:
            send_effect(hub, effect);
            break;
        case EFFECT_HISTORY:
            send_history(hub, effect);
            break;
        case EFFECT_SNAPSHOT:
            send_snapshot(hub, effect);
            break;
        case EFFECT_RELOAD:
            answer_reload(hub, effect);
            break;
        case EFFECT_LOG:
            if (effect->log.level != LOG_LEVEL_WARNING ||
                log_limit_pass(&hub->warned, daemon_now_ms())) {
                log_line(effect->log.level, "%s", effect->log.text);
            }
            break;
        case EFFECT_STORE: /* committed */
        case EFFECT_RECONNECT:
        case EFFECT_WRITE: /* a site's */
            break;
        }
    }
}

/* ---------------------------------------------------------------- the loop */

/* The broker's life, a batch at a time. */
static void run_batch(struct hub *hub)
{
    int64_t begin_ns = histogram_now_ns();
    collect_messages(hub);
    step_tick(hub);
    commit_stores(hub);
    carry_out(hub);
    metrics_count_batch(&hub->metrics, &hub->effects, begin_ns, histogram_now_ns());
    effects_clear(&hub->effects);
    wake_set(&hub->wake, broker_wake_ms(hub->broker));
    store_maintain(hub->store);
}

int hub_ask(struct hub *hub, struct msg *msg, struct arena *arena, const char **answer,
            struct err *err)
{
    struct ask ask = {
        .arena = arena, .text = "the broker does not answer", .code = ERR_STATE};
    const struct event event = {
        .kind = EVENT_MESSAGE,
        .now_ms = daemon_now_ms(),
        .from = {.kind = PEER_NONE, .name = "http", .roles = ROLE_ADMIN},
        .msg = msg,
    };
    hub->ask = &ask;
    broker_step(hub->broker, &event, &hub->effects);
    run_batch(hub);
    hub->ask = NULL;
    *answer = ask.text;
    return ask.code < 0 ? err_set(err, ask.code, "%s", ask.text) : 0;
}

static void on_wake(void *arg)
{
    run_batch(arg);
}

static int on_readable(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop;
    (void)socket;
    run_batch(arg);
    return 0;
}

static int on_zap(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop;
    (void)socket;
    struct hub *hub = arg;
    wire_server_zap(hub->server);
    return 0;
}

static int on_watch(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct hub *hub = arg;
    uint64_t before = wire_server_count_shut(hub->server);
    wire_server_watch(hub->server, daemon_now_ms());
    uint64_t n_shut = wire_server_count_shut(hub->server) - before;
    if (n_shut > 0 && log_limit_pass(&hub->refused, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING,
                 "%llu connections are shut down: silent, too many, or their message "
                 "does not end",
                 (unsigned long long)n_shut);
    }
    return 0;
}

/* ---------------------------------------------------------------- life */

/* A site is identified by its key, so no two members may have the same. */
static int check_key_is_new(const struct broker_setup *setup,
                            const struct wire_key *keys, int index, struct err *err)
{
    const struct broker_member *members = setup->config.members;
    for (int i = 0; i < index; i++) {
        if (strcmp(keys[i].public_z85, keys[index].public_z85) == 0) {
            return err_set(err, ERR_EXISTS,
                           "members \"%s\" and \"%s\" have the same key (%s, %s)",
                           members[i].name, members[index].name, setup->key_files[i],
                           setup->key_files[index]);
        }
    }
    return 0;
}

/* The keys of all members; NULL and an error if one is bad. */
static struct wire_key *load_keys(const struct broker_setup *setup, struct err *err)
{
    int n_members = setup->config.n_members, rc = 0;
    struct wire_key *keys = mem_alloc((size_t)n_members + 1, sizeof(*keys));
    for (int i = 0; i < n_members && rc == 0; i++) {
        rc = wire_key_load(setup->key_files[i], &keys[i], err);
        rc = rc == 0 ? check_key_is_new(setup, keys, i, err)
                     : err_prefix(err, "member \"%s\"", setup->config.members[i].name);
    }
    if (rc < 0) {
        free(keys);
        return NULL;
    }
    return keys;
}

static bool has_key(const struct wire_key *keys, int n_keys, const char *public_z85)
{
    for (int i = 0; i < n_keys; i++) {
        if (strcmp(keys[i].public_z85, public_z85) == 0) {
            return true;
        }
    }
    return false;
}

static int allow_members(struct hub *hub, const struct broker_setup *setup,
                         struct err *err)
{
    const struct broker_member *members = setup->config.members;
    int n_members = setup->config.n_members;
    struct wire_key *keys = load_keys(setup, err);
    if (keys == NULL) {
        return err->code;
    }
    for (int i = 0; i < hub->n_keys; i++) {
        if (!has_key(keys, n_members, hub->keys[i].public_z85)) {
            wire_server_revoke(hub->server, hub->keys[i].public_z85);
        }
    }
    for (int i = 0; i < n_members; i++) {
        wire_server_allow(hub->server, keys[i].public_z85, members[i].name,
                          members[i].roles);
    }
    free(hub->keys);
    hub->keys = keys;
    hub->n_keys = n_members;
    return 0;
}

static int open_server(struct hub *hub, const struct broker_setup *setup,
                       struct err *err)
{
    struct wire_key key;
    int rc = wire_key_load(setup->key, &key, err);
    if (rc == 0) {
        rc = wire_server_new(setup->listen, &key, PEER_SITE, &hub->server, err);
    }
    explicit_bzero(&key, sizeof(key));
    return rc == 0 ? allow_members(hub, setup, err) : rc;
}

int hub_new(zloop_t *loop, const struct broker_setup *setup, struct broker *broker,
            struct store *store, struct hub **hub, struct err *err)
{
    struct hub *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->broker = broker;
    made->store = store;
    wake_init(&made->wake, loop, on_wake, made);
    made->watch_id = -1;
    made->refused.burst = made->unsent.burst = REFUSED_LOG_BURST;
    made->warned.burst = WARNED_LOG_BURST;
    effects_init(&made->effects);
    metrics_init(&made->metrics);
    if (open_server(made, setup, err) < 0) {
        hub_free(made);
        return err->code;
    }
    zloop_reader(loop, wire_server_socket(made->server), on_readable, made);
    zloop_reader(loop, wire_server_zap_socket(made->server), on_zap, made);
    made->watch_id = zloop_timer(loop, WIRE_WATCH_MS, 0, on_watch, made);
    *hub = made;
    return 0;
}

void hub_free(struct hub *hub)
{
    if (hub == NULL) {
        return;
    }
    if (hub->server != NULL) {
        zloop_reader_end(hub->loop, wire_server_socket(hub->server));
        zloop_reader_end(hub->loop, wire_server_zap_socket(hub->server));
    }
    wake_release(&hub->wake);
    if (hub->watch_id != -1) {
        zloop_timer_end(hub->loop, hub->watch_id);
    }
    wire_server_free(hub->server);
    effects_release(&hub->effects);
    metrics_release(&hub->metrics);
    free(hub->keys);
    free(hub);
}

void hub_set_snapshot(struct hub *hub, struct snapshot *snapshot)
{
    hub->snapshot = snapshot;
}

const struct metrics *hub_metrics(const struct hub *hub)
{
    return &hub->metrics;
}

void hub_start(struct hub *hub)
{
    broker_start(hub->broker, daemon_now_ms(), &hub->effects);
    run_batch(hub);
}

void hub_set_reload(struct hub *hub, hub_reload_fn reload, void *part)
{
    hub->reload = reload;
    hub->reload_part = part;
}

int hub_run_reload(struct hub *hub, struct arena *arena, const char **text,
                   struct err *err)
{
    return hub->reload != NULL
               ? hub->reload(hub->reload_part, arena, text, err)
               : err_set(err, ERR_STATE, "the configuration cannot be reloaded here");
}

int hub_reload(struct hub *hub, const struct broker_setup *setup, struct err *err)
{
    int rc = allow_members(hub, setup, err);
    if (rc == 0) {
        broker_reload(hub->broker, &setup->config, daemon_now_ms());
        wake_set(&hub->wake, broker_wake_ms(hub->broker));
    }
    return rc;
}
