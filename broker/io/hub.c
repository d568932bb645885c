/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c: see hub.h. */
#include "broker/io/hub.h"

#include <stdlib.h>
#include <string.h>

#include "base/rate_limit.h"
#include "broker/io/books_answer.h"
#include "broker/io/store/books.h"
#include "broker/io/store/store_lead.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    STEP_DOWN_MS = 200,        /* until then its answers are on their way */
    MESSAGES_PER_BATCH = 1024, /* that share one commit */
    LISTING_US = 1000,         /* of the batch, whose end may have to write a page */
    WARNED_LOG_BURST = 100,    /* what members can cause at will: refusals */
};

/* A request through hub_ask (PEER_NONE: it has no socket), and its answer. */
struct ask {
    struct arena *arena;
    const char *text;
    int code;
};

struct hub {
    struct shell *shell;
    struct broker *broker;
    struct store *store;
    struct door *door;
    struct wire_server *server; /* the door's */
    struct usage_gather *usage;
    struct overviews *overviews;
    struct metrics metrics;
    struct log_limit warned;
    struct ask *ask; /* hub_ask is under way; else NULL */
    zloop_t *loop;
    bool steps_down;
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
    if (usage_gather_hear(hub->usage, from, msg) ||
        overviews_hear(hub->overviews, from, msg)) {
        return;
    }
    int n_before = shell_effects(hub->shell)->count;
    shell_take_message(hub->shell, from, msg);
    int n_effects = shell_effects(hub->shell)->count - n_before;
    int64_t n_nodes = broker_take_asked_nodes(hub->broker);
    wire_server_charge(hub->server, (int64_t)n_effects * RATE_LIMIT_US_PER_EFFECT +
                                        n_nodes * RATE_LIMIT_US_PER_NODE +
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
    int rc =
        query->kind == QUERY_BROKERS
            ? store_lead_list(hub->store, &more->arena, &value, &err)
        : query->kind == QUERY_LEDGER
            ? books_answer_read(books_of(hub->store), query, daemon_now_ms(),
                                &more->arena, &value, &err)
            : store_history_read(hub->store, query, &more->arena, &value, &next, &err);
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

static int check_standbys(struct store *store, struct err *err)
{
    struct store_lead_state state;
    int rc = store_lead_read(store, &state, err);
    if (rc < 0 || state.n_standbys > 0) {
        return rc;
    }
    return store_db(store) != NULL
               ? err_set(err, ERR_STATE,
                         "the broker's store is a file, which has no standby; see "
                         "STATE in the Broker section")
               : err_set(err, ERR_STATE,
                         "there is no standby that could lead; see `sublet brokers`");
}

static int on_step_down(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id, (void)arg;
    return -1;
}

static void step_down(void *arg, struct effect *effect, struct effects *more)
{
    struct hub *hub = arg;
    struct err err = {0};
    int rc = check_standbys(hub->store, &err);
    struct msg msg = reply_to(effect->reload.session, effect->reload.request, rc,
                              rc < 0 ? err.text : "the broker steps down");
    if (rc == 0 && !hub->steps_down) {
        hub->steps_down = true;
        log_line(LOG_LEVEL_NOTICE, "\"%s\" orders this broker to step down",
                 effect->reload.to.name);
        zloop_timer(hub->loop, STEP_DOWN_MS, 1, on_step_down, NULL);
    }
    effects_send(more, &effect->reload.to, &msg);
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

/* ---------------------------------------------------------------- life */

struct hub *hub_new(zloop_t *loop, struct door *door, struct broker *broker,
                    struct store *store)
{
    struct hub *made = mem_alloc(1, sizeof(*made));
    made->door = door;
    made->server = door_take(door);
    made->broker = broker;
    made->store = store;
    made->loop = loop;
    made->usage = usage_gather_new(loop, broker, made->server);
    made->overviews = overviews_new(loop, broker, made->server);
    made->warned.burst = WARNED_LOG_BURST;
    metrics_init(&made->metrics);
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
    shell_handle(made->shell, EFFECT_STEP_DOWN, step_down, made);
    shell_handle(made->shell, EFFECT_LOG, log_text, made);
    shell_set_counter(made->shell, count_batch, made);
    made->metrics.commits = shell_commits(made->shell);
    made->metrics.server = made->server;
    return made;
}

void hub_free(struct hub *hub)
{
    if (hub == NULL) {
        return;
    }
    shell_remove_source(hub->shell, wire_server_socket(hub->server));
    shell_free(hub->shell);
    usage_gather_free(hub->usage);
    overviews_free(hub->overviews);
    metrics_release(&hub->metrics);
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

struct usage_gather *hub_usage(struct hub *hub)
{
    return hub->usage;
}

struct overviews *hub_overviews(struct hub *hub)
{
    return hub->overviews;
}

bool hub_steps_down(const struct hub *hub)
{
    return hub->steps_down;
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
    int rc = door_allow(hub->door, setup, err);
    if (rc == 0) {
        broker_reload(hub->broker, &setup->config, daemon_now_ms());
        books_resize(books_of(hub->store), setup->ledger_bytes);
        broker_record_reload(who, daemon_now_ms(), shell_effects(hub->shell));
    }
    return rc;
}
