/* SPDX-License-Identifier: Apache-2.0 */
/* shell.c: see shell.h. shell_end_batch is the loop's whole order. */
#include "site/io/shell.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "site/io/history_answer.h"
#include "site/io/output.h"
#include "sys/daemon.h"
#include "sys/json.h"
#include "sys/log.h"
#include "sys/wake.h"

enum {
    REFUSED_LOG_BURST = 10,
    N_PEER_KINDS = PEER_CLIENT + 1,
};

struct route {
    shell_send_fn send;
    void *part;
};

struct shell {
    zloop_t *loop;
    struct site *site;
    struct journal *journal;
    struct route routes[N_PEER_KINDS];
    shell_reconnect_fn reconnect;
    void *reconnect_part;
    shell_reload_fn reload;
    void *reload_part;
    /* What a step puts out goes to `filling`; while one batch is carried out, what that
     * causes (output is written, a client hangs up) belongs to the next one. */
    struct effects effects[2], *filling;
    bool is_in_batch;
    struct log_limit refused, unsent;
    struct wake wake; /* for site_wake_ms */
    int64_t tick_us;  /* what the last tick took */
    struct histogram commits;
};

/* ---------------------------------------------------------------- collect and step */

static void step(struct shell *shell, struct event *event)
{
    event->now_ms = daemon_now_ms();
    site_step(shell->site, event, shell->filling);
}

void shell_take_message(void *arg, const struct peer *from, const struct msg *msg)
{
    step(arg, &(struct event){.kind = EVENT_MESSAGE, .from = *from, .msg = msg});
}

void shell_take_gone(void *arg, const struct peer *from)
{
    step(arg, &(struct event){.kind = EVENT_GONE, .from = *from});
}

/* The scheduler's pass is in a tick. The next tick reports how long it took. */
static void step_tick(struct shell *shell)
{
    int64_t begin_ns = histogram_now_ns();
    step(shell, &(struct event){.kind = EVENT_TICK,
                                .utc_offset_ms = daemon_utc_offset_ms(),
                                .last_tick_us = shell->tick_us});
    shell->tick_us = (histogram_now_ns() - begin_ns) / 1000;
}

/* Invalid bytes never reach the step machine; their sender gets an error. */
void shell_refuse_message(void *arg, const struct peer *from, const struct err *err)
{
    struct shell *shell = arg;
    const char *name = from->name != NULL ? from->name : "";
    if (log_limit_pass(&shell->refused, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING, "a message of \"%s\" is refused: %s", name,
                 err->text);
    }
    if (from->kind == PEER_NONE) {
        return;
    }
    struct msg msg = {.kind = MSG_ERROR, .site = ""};
    msg.error.code = err->code;
    msg.error.text = arena_str(&shell->filling->arena, err->text);
    effects_send(shell->filling, from, &msg);
}

static void step_written(struct shell *shell, uint64_t job, int error)
{
    struct event event = {.kind = EVENT_WRITTEN};
    event.written.job = job;
    event.written.error = error;
    step(shell, &event);
}

/* ---------------------------------------------------------------- commit */

static int write_stores(struct journal *journal, const struct effects *batch,
                        struct err *err)
{
    int rc = journal_begin(journal, err);
    for (int i = 0; i < batch->count && rc == 0; i++) {
        if (batch->items[i].kind == EFFECT_STORE) {
            rc = journal_write(journal, &batch->items[i].row, err);
        }
    }
    return rc == 0 ? journal_commit(journal, err) : rc;
}

static bool has_stores(const struct effects *batch)
{
    for (int i = 0; i < batch->count; i++) {
        if (batch->items[i].kind == EFFECT_STORE) {
            return true;
        }
    }
    return false;
}

static void commit_stores(struct shell *shell, const struct effects *batch)
{
    struct err err;
    if (!has_stores(batch)) {
        return;
    }
    int64_t begin_ns = histogram_now_ns();
    if (write_stores(shell->journal, batch, &err) < 0) {
        log_line(LOG_LEVEL_ERROR,
                 "commit failed: %s; nothing of the batch was sent, and the next start "
                 "continues from what is on disk",
                 err.text);
        _exit(EXIT_FAILURE);
    }
    histogram_observe(&shell->commits, histogram_now_ns() - begin_ns);
}

const struct histogram *shell_commits(const struct shell *shell)
{
    return &shell->commits;
}

/* ---------------------------------------------------------------- send and the rest */

static int send_by_route(struct shell *shell, const struct peer *to,
                         const struct msg *msg, struct err *err)
{
    const struct route *route = &shell->routes[to->kind];
    if (route->send == NULL) {
        return err_set(err, ERR_AWAY, "there is no connection of that kind");
    }
    return route->send(route->part, to, msg, err);
}

/* The part that needs a message sends it again if it could not be sent. An answer that
 * does not fit a message is replaced by an error. */
static void send_message(struct shell *shell, const struct peer *to,
                         const struct msg *msg)
{
    struct err err;
    int rc = send_by_route(shell, to, msg, &err);
    if (rc == 0 || rc == ERR_AWAY) {
        return;
    }
    if (log_limit_pass(&shell->unsent, daemon_now_ms())) {
        log_line(LOG_LEVEL_ERROR, "%s to \"%s\" is not sent: %s",
                 msg_kind_name(msg->kind), to->name != NULL ? to->name : "", err.text);
    }
    if (msg->kind == MSG_REPLY && msg->reply.code == 0) {
        struct msg told = {.kind = MSG_REPLY, .session = msg->session, .site = ""};
        told.reply = (struct msg_reply){
            .request = msg->reply.request,
            .code = rc,
            .text = "the answer does not fit a message; ask for fewer rows",
            .next = "",
            .bytes = (const uint8_t *)"",
        };
        (void)send_by_route(shell, to, &told, &err);
    }
}

static void send_effect(struct shell *shell, struct effect *effect)
{
    struct msg *msg = &effect->send.msg;
    char *json = NULL;
    if (msg->kind == MSG_REPLY && msg->reply.value != NULL) {
        json = json_render(msg->reply.value);
        msg->reply.json = json;
    }
    send_message(shell, &effect->send.to, msg);
    free(json);
}

static void answer_reload(struct shell *shell, const struct effect *effect)
{
    struct err err = {0};
    const char *text = "";
    struct peer to = effect->reload.to;
    to.name = arena_str(&shell->filling->arena, to.name);
    int rc =
        shell->reload != NULL
            ? shell->reload(shell->reload_part, &shell->filling->arena, &text, &err)
            : err_set(&err, ERR_UNBUILT, "this process reloads nothing");
    if (rc < 0) {
        effects_reply_error(shell->filling, &to, effect->reload.request, rc, "%s",
                            err.text);
    } else {
        effects_reply(shell->filling, &to, effect->reload.request, text, NULL, "");
    }
}

static void carry_out(struct shell *shell, struct effects *batch)
{
    for (int i = 0; i < batch->count; i++) {
        struct effect *effect = &batch->items[i];
        switch (effect->kind) {
        case EFFECT_SEND:
            send_effect(shell, effect);
            break;
        case EFFECT_RECONNECT:
            if (shell->reconnect != NULL) {
                shell->reconnect(shell->reconnect_part);
            }
            break;
        case EFFECT_WRITE:
            step_written(shell, effect->write.job, output_write(effect));
            break;
        case EFFECT_RELOAD:
            answer_reload(shell, effect);
            break;
        case EFFECT_LOG:
            log_line(effect->log.level, "%s", effect->log.text);
            break;
        case EFFECT_HISTORY:
            history_answer(shell->journal, effect, daemon_now_ms(), shell->filling);
            break;
        case EFFECT_STORE: /* committed */
        case EFFECT_SNAPSHOT:
            break;
        }
    }
}

/* ---------------------------------------------------------------- the loop */

static void on_wake(void *arg)
{
    shell_end_batch(arg);
}

static struct effects *take_batch(struct shell *shell)
{
    struct effects *batch = shell->filling;
    shell->filling =
        batch == &shell->effects[0] ? &shell->effects[1] : &shell->effects[0];
    return batch;
}

/* Collected and stepped is what came by shell_take_...: the rest of a batch, and of
 * those that carrying it out begins. */
void shell_end_batch(struct shell *shell)
{
    if (shell->is_in_batch) {
        return;
    }
    shell->is_in_batch = true;
    do {
        step_tick(shell);
        struct effects *batch = take_batch(shell);
        commit_stores(shell, batch);
        carry_out(shell, batch);
        effects_clear(batch);
    } while (shell->filling->count > 0);
    shell->is_in_batch = false;
    wake_set(&shell->wake, site_wake_ms(shell->site));
    journal_maintain(shell->journal);
}

void shell_start(struct shell *shell)
{
    site_start(shell->site, daemon_now_ms(), shell->filling);
    shell_end_batch(shell);
}

/* ---------------------------------------------------------------- life */

struct shell *shell_new(zloop_t *loop, struct site *site, struct journal *journal)
{
    struct shell *shell = mem_alloc(1, sizeof(*shell));
    shell->loop = loop;
    shell->site = site;
    shell->journal = journal;
    shell->commits.bounds = histogram_commit_bounds;
    wake_init(&shell->wake, loop, on_wake, shell);
    shell->refused.burst = shell->unsent.burst = REFUSED_LOG_BURST;
    effects_init(&shell->effects[0]);
    effects_init(&shell->effects[1]);
    shell->filling = &shell->effects[0];
    return shell;
}

void shell_free(struct shell *shell)
{
    if (shell == NULL) {
        return;
    }
    wake_release(&shell->wake);
    effects_release(&shell->effects[0]);
    effects_release(&shell->effects[1]);
    free(shell);
}

void shell_route(struct shell *shell, enum peer_kind kind, shell_send_fn send,
                 void *part)
{
    shell->routes[kind] = (struct route){send, part};
}

void shell_route_reconnect(struct shell *shell, shell_reconnect_fn reconnect,
                           void *part)
{
    shell->reconnect = reconnect;
    shell->reconnect_part = part;
}

void shell_route_reload(struct shell *shell, shell_reload_fn reload, void *part)
{
    shell->reload = reload;
    shell->reload_part = part;
}

void shell_reload(struct shell *shell, const struct site_config *config)
{
    site_reload(shell->site, config, daemon_now_ms(), shell->filling);
}

bool shell_has_leaving(const struct shell *shell, const char *host)
{
    return site_has_leaving(shell->site, host);
}

bool shell_has_host(const struct shell *shell, const char *host)
{
    return site_has_host(shell->site, host);
}
