/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c: see hub.h. */
#include "broker/io/hub.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"

enum {
    MESSAGES_PER_BATCH = 1024, /* that share one commit */
    LISTING_US = 1000,         /* of the batch, whose end may have to write a page */
    SHUT_LOG_BURST = 10,
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
    struct shell *shell;
    struct broker *broker;
    struct store *store;
    struct wire_server *server;
    struct wire_key *keys; /* of the members */
    int n_keys;
    struct metrics metrics;
    struct log_limit shut, warned;
    struct ask *ask; /* hub_ask is under way; else NULL */
    int watch_id;    /* the timer of the connections' bounds */
};

/* ---------------------------------------------------------------- the machine */

static void step(void *broker, const struct event *event, struct effects *effects)
{
    broker_step(broker, event, effects);
}

static int64_t wake_ms(const void *broker)
{
    return broker_wake_ms(broker);
}

/* ---------------------------------------------------------------- collect */

static void take_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct hub *hub = arg;
    int n_before = shell_effects(hub->shell)->count;
    shell_take_message(hub->shell, from, msg);
    int n_effects = shell_effects(hub->shell)->count - n_before;
    int64_t n_nodes = broker_take_asked_nodes(hub->broker);
    wire_server_charge(hub->server, (int64_t)n_effects * BUDGET_US_PER_EFFECT +
                                        n_nodes * BUDGET_US_PER_NODE +
                                        (msg->kind == MSG_QUERY ? LISTING_US : 0));
}

/* A sender that is not known gets no ERROR, which would be counted. */
static void refuse_message(void *arg, const struct peer *from, const struct err *err)
{
    struct hub *hub = arg;
    if (from->kind == PEER_NONE) {
        metrics_count_refused(&hub->metrics, err->code);
    }
    shell_refuse_message(hub->shell, from, err);
}

static int64_t collect(void *arg)
{
    struct hub *hub = arg;
    wire_server_drain(hub->server, MESSAGES_PER_BATCH, take_message, refuse_message,
                      hub);
    return wire_server_ready_ms(hub->server);
}

/* ---------------------------------------------------------------- send */

static int send_to_member(void *server, const struct peer *to, const struct msg *msg,
                          struct err *err)
{
    return wire_server_send(server, to, msg, err);
}

static int take_answer(void *arg, const struct peer *to, const struct msg *msg,
                       struct err *err)
{
    (void)to, (void)err;
    const struct hub *hub = arg;
    if (hub->ask != NULL && msg->kind == MSG_REPLY) {
        hub->ask->code = msg->reply.code;
        hub->ask->text = arena_str(hub->ask->arena, msg->reply.text);
    }
    return 0;
}

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

static void answer_history(void *arg, struct effect *effect, struct effects *more)
{
    struct hub *hub = arg;
    struct err err = {0};
    struct value *value = NULL;
    const char *next = "";
    const struct msg_query *query = &effect->history.query;
    int rc = store_history_read(hub->store, query, &more->arena, &value, &next, &err);
    struct msg msg = reply_to(effect->history.session, query->request, rc, err.text);
    if (rc == 0) {
        msg.reply.value = value;
        msg.reply.next = next;
    }
    effects_send(more, &effect->history.to, &msg);
}

static void refuse_snapshot(void *arg, struct effect *effect, struct effects *more)
{
    (void)arg;
    struct msg msg = reply_to(effect->snapshot.session, effect->snapshot.ask.request,
                              ERR_UNBUILT, "no snapshots are made here");
    effects_send(more, &effect->snapshot.to, &msg);
}

static void answer_snapshot(void *snapshot, struct effect *effect, struct effects *more)
{
    const struct msg_snapshot *ask = &effect->snapshot.ask;
    struct msg msg = reply_to(effect->snapshot.session, ask->request, 0, "");
    snapshot_answer(snapshot, ask, &msg.reply);
    msg.reply.request = ask->request;
    effects_send(more, &effect->snapshot.to, &msg);
}

static void log_text(void *arg, struct effect *effect, struct effects *more)
{
    (void)more;
    struct hub *hub = arg;
    if (effect->log.level != LOG_LEVEL_WARNING ||
        log_limit_pass(&hub->warned, daemon_now_ms())) {
        log_line(effect->log.level, "%s", effect->log.text);
    }
}

/* What no site of ours sends. Others happen to any site: its session, its lease or its
 * peer is gone. */
static bool is_offence(int code)
{
    return code == ERR_PARSE || code == ERR_BOUNDS || code == ERR_DENIED ||
           code == ERR_STATE;
}

static void count_batch(void *arg, const struct effects *effects, int64_t begin_ns,
                        int64_t end_ns)
{
    struct hub *hub = arg;
    metrics_count_batch(&hub->metrics, effects, begin_ns, end_ns);
    for (int i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_ERROR &&
            is_offence(effect->send.msg.error.code)) {
            wire_server_refuse(hub->server, &effect->send.to);
        }
    }
}

/* ---------------------------------------------------------------- the loop */

int hub_ask(struct hub *hub, struct msg *msg, const char *who, struct arena *arena,
            const char **answer, struct err *err)
{
    struct ask ask = {
        .arena = arena, .text = "the broker does not answer", .code = ERR_STATE};
    const struct peer from = {.kind = PEER_NONE, .name = who, .roles = ROLE_ADMIN};
    hub->ask = &ask;
    shell_take_message(hub->shell, &from, msg);
    shell_run_batch(hub->shell);
    hub->ask = NULL;
    *answer = ask.text;
    return ask.code < 0 ? err_set(err, ask.code, "%s", ask.text) : 0;
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
    if (n_shut > 0 && log_limit_pass(&hub->shut, daemon_now_ms())) {
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
    made->shut.burst = SHUT_LOG_BURST;
    made->warned.burst = WARNED_LOG_BURST;
    metrics_init(&made->metrics);
    if (open_server(made, setup, err) < 0) {
        hub_free(made);
        return err->code;
    }
    wire_server_set_relays(made->server, broker_messages_is_relayed);
    const struct shell_machine machine = {.machine = broker,
                                          .step = step,
                                          .wake_ms = wake_ms,
                                          .commit = store_commit_batch,
                                          .maintain = store_maintain_batch,
                                          .store = store};
    made->shell = shell_new(loop, &machine);
    shell_add_source(made->shell, wire_server_socket(made->server), collect, made);
    shell_route(made->shell, PEER_SITE, send_to_member, made->server);
    shell_route(made->shell, PEER_CLIENT, send_to_member, made->server);
    shell_route(made->shell, PEER_NONE, take_answer, made);
    shell_handle(made->shell, EFFECT_HISTORY, answer_history, made);
    shell_handle(made->shell, EFFECT_SNAPSHOT, refuse_snapshot, NULL);
    shell_handle(made->shell, EFFECT_LOG, log_text, made);
    shell_set_counter(made->shell, count_batch, made);
    made->metrics.commits = shell_commits(made->shell);
    made->metrics.server = made->server;
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
    if (hub->shell != NULL) {
        shell_remove_source(hub->shell, wire_server_socket(hub->server));
        zloop_reader_end(hub->loop, wire_server_zap_socket(hub->server));
        zloop_timer_end(hub->loop, hub->watch_id);
    }
    shell_free(hub->shell);
    wire_server_free(hub->server);
    metrics_release(&hub->metrics);
    free(hub->keys);
    free(hub);
}

void hub_set_snapshot(struct hub *hub, struct snapshot *snapshot)
{
    shell_handle(hub->shell, EFFECT_SNAPSHOT, answer_snapshot, snapshot);
}

const struct metrics *hub_metrics(const struct hub *hub)
{
    return &hub->metrics;
}

struct shell *hub_shell(struct hub *hub)
{
    return hub->shell;
}

void hub_start(struct hub *hub)
{
    broker_start(hub->broker, daemon_now_ms(), shell_effects(hub->shell));
    shell_run_batch(hub->shell);
}

int hub_reload(struct hub *hub, const struct broker_setup *setup, const char *who,
               struct err *err)
{
    int rc = allow_members(hub, setup, err);
    if (rc == 0) {
        broker_reload(hub->broker, &setup->config, daemon_now_ms());
        broker_record_reload(who, daemon_now_ms(), shell_effects(hub->shell));
    }
    return rc;
}
