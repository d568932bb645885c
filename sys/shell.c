/* SPDX-License-Identifier: Apache-2.0 */
/* shell.c: see shell.h. shell_run_batch is the loop's whole order. */
#include "sys/shell.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "sys/daemon.h"
#include "sys/json.h"
#include "sys/log.h"
#include "sys/wake.h"

enum {
    LOG_BURST = 10,
    SOURCES_MAX = 4,
    BATCHES_NS = 2000000, /* of short batches, before the loop looks elsewhere */
    N_PEER_KINDS = PEER_RUN + 1,
    N_EFFECT_KINDS = EFFECT_LOG + 1,
};

struct shell {
    zloop_t *loop;
    struct shell_machine machine;
    struct {
        zsock_t *socket;
        shell_collect_fn collect;
        void *part;
    } sources[SOURCES_MAX];
    int n_sources;
    struct {
        shell_send_fn send;
        void *part;
    } routes[N_PEER_KINDS];
    struct {
        shell_effect_fn fn;
        void *part;
    } handlers[N_EFFECT_KINDS];
    shell_unsent_fn unsent_fn;
    void *unsent_part;
    shell_count_fn count;
    void *count_part;
    shell_reload_fn reload;
    void *reload_part;
    /* What a step puts out goes to `filling`; while one batch is carried out, what that
     * causes (output is written, a client hangs up) belongs to the next one. */
    struct effects effects[2], *filling;
    bool is_in_batch;
    struct log_limit refused, unsent;
    struct wake wake; /* for the machine's next instant */
    int64_t tick_us;  /* what the last tick took */
    struct histogram commits;
};

/* ---------------------------------------------------------------- collect and step */

static void step(struct shell *shell, struct event *event)
{
    event->now_ms = daemon_now_ms();
    shell->machine.step(shell->machine.machine, event, shell->filling);
}

/* 63 bits, never 0. The pool of the kernel is full by the time a daemon starts. */
static uint64_t draw_nonce(void)
{
    uint64_t nonce;
    if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce)) {
        log_line(LOG_LEVEL_ERROR, "getrandom: %s", strerror(errno));
        _exit(EXIT_FAILURE);
    }
    return nonce >> 1 != 0 ? nonce >> 1 : 1;
}

void shell_take_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct event event = {.kind = EVENT_MESSAGE, .from = *from, .msg = msg};
    event.nonce = msg->kind == MSG_SUBMIT ? draw_nonce() : 0;
    step(arg, &event);
}

void shell_take_gone(void *arg, const struct peer *from)
{
    step(arg, &(struct event){.kind = EVENT_GONE, .from = *from});
}

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
    msg.error.text = err->text;
    effects_send(shell->filling, from, &msg);
}

/* Returns when a source has more. */
static int64_t collect(struct shell *shell)
{
    int64_t more_ms = INT64_MAX;
    for (int i = 0; i < shell->n_sources; i++) {
        int64_t at_ms = shell->sources[i].collect(shell->sources[i].part);
        more_ms = at_ms < more_ms ? at_ms : more_ms;
    }
    return more_ms;
}

/* The next tick is told how long it took: the scheduler's pass is in a tick. */
static void step_tick(struct shell *shell)
{
    int64_t begin_ns = histogram_now_ns();
    step(shell, &(struct event){.kind = EVENT_TICK,
                                .utc_offset_ms = daemon_utc_offset_ms(),
                                .last_tick_us = shell->tick_us});
    shell->tick_us = (histogram_now_ns() - begin_ns) / 1000;
}

/* ---------------------------------------------------------------- commit */

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
    if (shell->machine.commit(shell->machine.store, batch, &err) < 0) {
        log_line(LOG_LEVEL_ERROR,
                 "commit failed: %s; nothing of the batch was sent, and the next start "
                 "continues from what is on disk",
                 err.text);
        _exit(EXIT_FAILURE);
    }
    histogram_observe(&shell->commits, histogram_now_ns() - begin_ns);
}

/* ---------------------------------------------------------------- send */

static int send_by_route(struct shell *shell, const struct peer *to,
                         const struct msg *msg, struct err *err)
{
    if (shell->routes[to->kind].send == NULL) {
        return err_set(err, ERR_AWAY, "there is no connection of that kind");
    }
    return shell->routes[to->kind].send(shell->routes[to->kind].part, to, msg, err);
}

static void send_message(struct shell *shell, const struct peer *to,
                         const struct msg *msg)
{
    struct err err;
    int rc = send_by_route(shell, to, msg, &err);
    if (rc == ERR_AWAY && shell->unsent_fn != NULL) {
        shell->unsent_fn(shell->unsent_part, msg);
    }
    if (rc == 0 || rc == ERR_AWAY) {
        return;
    }
    if (log_limit_pass(&shell->unsent, daemon_now_ms())) {
        log_line(LOG_LEVEL_ERROR, "%s to \"%s\" is not sent: %s",
                 msg_kind_name(msg->kind), to->name != NULL ? to->name : "", err.text);
    }
    if (msg->kind == MSG_REPLY && msg->reply.code == 0) {
        struct msg error = {.kind = MSG_REPLY, .session = msg->session, .site = ""};
        error.reply = (struct msg_reply){
            .request = msg->reply.request,
            .code = rc,
            .text = "the answer does not fit a message; ask for fewer rows",
            .next = "",
            .bytes = (const uint8_t *)"",
        };
        (void)send_by_route(shell, to, &error, &err);
    }
}

static void carry_out_send(void *shell, struct effect *effect, struct effects *more)
{
    (void)more;
    struct msg *msg = &effect->send.msg;
    char *json = NULL;
    if (msg->kind == MSG_REPLY && msg->reply.value != NULL) {
        json = json_render(msg->reply.value);
        msg->reply.json = json;
    }
    send_message(shell, &effect->send.to, msg);
    free(json);
}

static void carry_out_log(void *shell, struct effect *effect, struct effects *more)
{
    (void)shell, (void)more;
    log_line(effect->log.level, "%s", effect->log.text);
}

static int run_reload(const struct shell *shell, const char *who, struct arena *arena,
                      const char **text, struct err *err)
{
    return shell->reload != NULL
               ? shell->reload(shell->reload_part, who, arena, text, err)
               : err_set(err, ERR_UNBUILT, "this process reloads nothing");
}

static void carry_out_reload(void *arg, struct effect *effect, struct effects *more)
{
    const char *text = "";
    struct err err = {0};
    int rc = run_reload(arg, effect->reload.to.name, &more->arena, &text, &err);
    struct msg msg = {.kind = MSG_REPLY, .session = effect->reload.session, .site = ""};
    msg.reply = (struct msg_reply){
        .request = effect->reload.request,
        .code = rc,
        .text = rc < 0 ? err.text : text,
        .next = "",
        .bytes = (const uint8_t *)"",
    };
    effects_send(more, &effect->reload.to, &msg);
}

static void carry_out(struct shell *shell, const struct effects *batch)
{
    for (int i = 0; i < batch->count; i++) {
        enum effect_kind kind = batch->items[i].kind;
        if (shell->handlers[kind].fn != NULL) {
            shell->handlers[kind].fn(shell->handlers[kind].part, &batch->items[i],
                                     shell->filling);
        }
    }
}

/* ---------------------------------------------------------------- the loop */

static struct effects *take_batch(struct shell *shell)
{
    struct effects *batch = shell->filling;
    shell->filling =
        batch == &shell->effects[0] ? &shell->effects[1] : &shell->effects[0];
    return batch;
}

/* Returns when a source has more. */
static int64_t run_one_batch(struct shell *shell)
{
    int64_t begin_ns = histogram_now_ns();
    int64_t more_ms = collect(shell);
    do {
        step_tick(shell);
        struct effects *batch = take_batch(shell);
        commit_stores(shell, batch);
        carry_out(shell, batch);
        if (shell->count != NULL) {
            shell->count(shell->count_part, batch, begin_ns, histogram_now_ns());
        }
        effects_clear(batch);
    } while (shell->filling->count > 0);
    return more_ms;
}

void shell_run_batch(struct shell *shell)
{
    if (shell->is_in_batch) {
        return;
    }
    shell->is_in_batch = true;
    int64_t until_ns = histogram_now_ns() + BATCHES_NS, more_ms;
    do {
        more_ms = run_one_batch(shell);
    } while (more_ms == 0 && histogram_now_ns() < until_ns);
    shell->is_in_batch = false;
    int64_t wake_ms = shell->machine.wake_ms(shell->machine.machine);
    wake_set(&shell->wake, more_ms < wake_ms ? more_ms : wake_ms);
    if (shell->machine.maintain != NULL) {
        shell->machine.maintain(shell->machine.store);
    }
}

static void on_wake(void *arg)
{
    shell_run_batch(arg);
}

static int on_readable(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop, (void)socket;
    shell_run_batch(arg);
    return 0;
}

struct effects *shell_effects(struct shell *shell)
{
    return shell->filling;
}

const struct histogram *shell_commits(const struct shell *shell)
{
    return &shell->commits;
}

int shell_reload(struct shell *shell, const char *who, struct arena *arena,
                 const char **text, struct err *err)
{
    int rc = run_reload(shell, who, arena, text, err);
    if (rc == 0) {
        shell_run_batch(shell);
    }
    return rc;
}

/* ---------------------------------------------------------------- life */

struct shell *shell_new(zloop_t *loop, const struct shell_machine *machine)
{
    struct shell *shell = mem_alloc(1, sizeof(*shell));
    shell->loop = loop;
    shell->machine = *machine;
    shell->commits.bounds = histogram_commit_bounds;
    wake_init(&shell->wake, loop, on_wake, shell);
    shell->refused.burst = shell->unsent.burst = LOG_BURST;
    effects_init(&shell->effects[0]);
    effects_init(&shell->effects[1]);
    shell->filling = &shell->effects[0];
    shell_handle(shell, EFFECT_SEND, carry_out_send, shell);
    shell_handle(shell, EFFECT_LOG, carry_out_log, shell);
    shell_handle(shell, EFFECT_RELOAD, carry_out_reload, shell);
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

void shell_add_source(struct shell *shell, zsock_t *socket, shell_collect_fn fn,
                      void *part)
{
    int at = shell->n_sources++;
    assert(at < SOURCES_MAX);
    shell->sources[at].socket = socket;
    shell->sources[at].collect = fn;
    shell->sources[at].part = part;
    zloop_reader(shell->loop, socket, on_readable, shell);
}

void shell_remove_source(struct shell *shell, zsock_t *socket)
{
    for (int i = 0; i < shell->n_sources; i++) {
        if (shell->sources[i].socket == socket) {
            shell->sources[i] = shell->sources[--shell->n_sources];
            zloop_reader_end(shell->loop, socket);
            return;
        }
    }
}

void shell_route(struct shell *shell, enum peer_kind kind, shell_send_fn send,
                 void *part)
{
    shell->routes[kind].send = send;
    shell->routes[kind].part = part;
}

void shell_handle(struct shell *shell, enum effect_kind kind, shell_effect_fn fn,
                  void *part)
{
    shell->handlers[kind].fn = fn;
    shell->handlers[kind].part = part;
}

void shell_set_unsent(struct shell *shell, shell_unsent_fn fn, void *part)
{
    shell->unsent_fn = fn;
    shell->unsent_part = part;
}

void shell_set_counter(struct shell *shell, shell_count_fn fn, void *part)
{
    shell->count = fn;
    shell->count_part = part;
}

void shell_set_reload(struct shell *shell, shell_reload_fn fn, void *part)
{
    shell->reload = fn;
    shell->reload_part = part;
}
