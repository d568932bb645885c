/* SPDX-License-Identifier: Apache-2.0 */
/* connect.c: see connect.h. */
#include "cli/connect.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/resend.h"
#include "cli/field_words.h"
#include "sys/daemon.h"
#include "sys/local/local.h"
#include "sys/wire/wire.h"

/* Where packages put it, and where a site puts it whose SPOOL is /var/lib/sublet. */
static const char default_socket[] = "/run/sublet/sublet.sock";
static const char spool_socket[] = "/var/lib/sublet/sublet.sock";

enum {
    CONNECTING_MS = 50,             /* between attempts to send until connected */
    CONNECT_PATIENCE_TCP_MS = 5000, /* for connecting */
    SILENCE_MS = 2000,              /* then the next of several brokers is asked */
    PAUSE_MS = 200,                 /* between two brokers that do not answer */
};
static const struct resend_waits resends = {.first_ms = 1000, .last_ms = 1000};
static const struct resend_waits connects = {.first_ms = CONNECTING_MS,
                                             .last_ms = CONNECTING_MS};

struct connect {
    const struct call *call;
    const char *where; /* socket's path or broker's URL */
    struct local_client *site;
    struct wire_client *broker;
    uint64_t last_request;
    /* The reply that the broker's client delivers. */
    struct arena *arena;
    struct msg_reply *reply;
    uint64_t awaited;
    bool is_answered;
    bool is_standby; /* what answered does not lead, and there is another broker */
    int64_t opened_ms;
    struct err refusal;
};

/* The option, the environment variable, or NULL. */
static const char *setting(const struct call *call, const char *option,
                           const char *variable)
{
    const char *value = call_value(call, option);
    if (value == NULL) {
        value = getenv(variable);
    }
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const struct wire_words words = {
    .peer = "the broker",
    .endpoint = "--broker",
    .peer_key = "--broker-key",
    .list = "KEY_FILE in your Member row at the broker",
};

/* The next word of a list that spaces separate; "" at its end. */
static void take_word(const char **at, char *word, size_t size)
{
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " ");
    snprintf(word, size, "%.*s", (int)length, *at);
    *at += length;
}

/* Several brokers, as in BROKER and BROKER_KEY of a site: one key for all, or each its
 * own. */
static int add_brokers(struct connect *connect, const struct wire_key *key,
                       const char *keys, struct err *err)
{
    char endpoint[PATH_MAX], file[PATH_MAX], next[PATH_MAX];
    const char *at = connect->where;
    int rc = 0;
    bool is_one = strchr(at + strspn(at, " "), ' ') == NULL;
    if (is_one) { /* a path alone may have spaces */
        snprintf(file, sizeof(file), "%s", keys);
        keys += strlen(keys);
    } else {
        take_word(&keys, file, sizeof(file));
    }
    take_word(&keys, next, sizeof(next));
    bool has_each = next[0] != '\0';
    for (take_word(&at, endpoint, sizeof(endpoint)); rc == 0 && endpoint[0] != '\0';
         take_word(&at, endpoint, sizeof(endpoint))) {
        struct wire_key broker;
        if (file[0] == '\0') {
            return err_set(err, ERR_PARSE,
                           "there is no key for the broker at %s: give one key for all "
                           "brokers, or one for each",
                           endpoint);
        }
        rc = wire_key_load(file, &broker, err);
        if (rc == 0) {
            rc = connect->broker == NULL
                     ? wire_client_new(endpoint, key, broker.public_z85,
                                       &connect->broker, err)
                     : wire_client_add(connect->broker, endpoint, broker.public_z85,
                                       err);
        }
        if (has_each) {
            snprintf(file, sizeof(file), "%s", next);
            take_word(&keys, next, sizeof(next));
        }
    }
    return rc == 0 && connect->broker == NULL
               ? err_set(err, ERR_PARSE, "--broker is empty, expected tcp://HOST:PORT")
               : rc;
}

static int open_broker(struct connect *connect, const struct call *call,
                       struct err *err)
{
    const char *key_file = setting(call, "--key", "SUBLET_KEY");
    const char *broker_key_file = setting(call, "--broker-key", "SUBLET_BROKER_KEY");
    struct wire_key key;
    int rc;
    if (key_file == NULL || broker_key_file == NULL) {
        return err_set(err, ERR_DENIED,
                       "the broker at %s needs a key: give --key FILE (your "
                       "NAME.key_secret) and --broker-key FILE (its NAME.key)",
                       connect->where);
    }
    rc = wire_key_load(key_file, &key, err);
    if (rc != 0) {
        return rc;
    }
    if (key.secret_z85[0] == '\0') {
        return err_set(err, ERR_DENIED,
                       "\"%s\" holds a public key only: --key wants the file that "
                       "ends in .key_secret",
                       key_file);
    }
    /* SIGINT must end the program, not be handled by the library. */
    zsys_handler_set(NULL);
    rc = add_brokers(connect, &key, broker_key_file, err);
    return rc == 0 ? wire_client_explain(connect->broker, &words, err) : rc;
}

static int open_site(struct connect *connect, struct err *err)
{
    struct err cause;
    int rc = local_client_new(connect->where, &connect->site, &cause);
    if (rc != 0) {
        return err_set(err, rc,
                       "no site answers at %s: %s; is sublet-site running, and is "
                       "--socket or SUBLET_SOCKET right?",
                       connect->where, cause.text);
    }
    return 0;
}

int connect_new(const struct call *call, struct connect **connect, struct err *err)
{
    struct connect *new = mem_alloc(1, sizeof *new);
    const char *broker = call_value(call, "--broker");
    int rc;
    new->call = call;
    if (broker == NULL && !call_has(call, "--socket")) {
        broker = setting(call, "--broker", "SUBLET_BROKER");
    }
    if (broker != NULL) {
        new->where = broker;
        rc = open_broker(new, call, err);
    } else {
        const char *path = setting(call, "--socket", "SUBLET_SOCKET");
        if (path == NULL) {
            path = access(default_socket, F_OK) != 0 && access(spool_socket, F_OK) == 0
                       ? spool_socket
                       : default_socket;
        }
        new->where = path;
        rc = open_site(new, err);
    }
    if (rc != 0) {
        connect_free(new);
        return rc;
    }
    *connect = new;
    return 0;
}

void connect_free(struct connect *connect)
{
    if (connect == NULL) {
        return;
    }
    local_client_free(connect->site);
    wire_client_free(connect->broker);
    free(connect);
}

bool connect_is_broker(const struct connect *connect)
{
    return connect->broker != NULL;
}

/* True if the message answers the request. */
static bool handle_message(struct connect *connect, const struct msg *msg)
{
    if (msg->kind == MSG_ERROR) {
        err_set(&connect->refusal, msg->error.code < 0 ? msg->error.code : ERR_PARSE,
                "%s refused the question: %s", connect->where, msg->error.text);
        return true;
    }
    if (msg->kind != MSG_REPLY || msg->reply.request != connect->awaited) {
        return false;
    }
    *connect->reply = msg->reply;
    if (msg->reply.code != 0) {
        err_set(&connect->refusal, msg->reply.code, "%s", msg->reply.text);
    }
    return true;
}

static int receive_from_site(struct connect *connect, int timeout_ms, struct err *err)
{
    int64_t deadline_ms = daemon_now_ms() + timeout_ms;
    struct msg msg;
    for (;;) {
        struct err cause;
        int left_ms = -1;
        int rc;
        if (timeout_ms >= 0) {
            int64_t left = deadline_ms - daemon_now_ms();
            left_ms = left > 0 ? (int)left : 0;
        }
        rc = local_client_receive(connect->site, connect->arena, left_ms, &msg, &cause);
        if (rc != 0) {
            return err_set(err, rc,
                           "no answer from the site at %s: %s; see its log, then try "
                           "again",
                           connect->where, cause.text);
        }
        if (handle_message(connect, &msg)) {
            return 0;
        }
    }
}

/* Copies the reply, which is valid only until this returns. */
static void on_broker_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct connect *connect = arg;
    struct msg_reply *reply = connect->reply;
    (void)from;
    connect->is_standby |= msg->kind == MSG_ERROR && msg->error.code == ERR_AWAY &&
                           wire_client_count_choices(connect->broker) > 1;
    if (connect->is_standby) {
        return;
    }
    if (connect->is_answered || !handle_message(connect, msg)) {
        return;
    }
    connect->is_answered = true;
    reply->text = arena_str(connect->arena, reply->text);
    reply->json = arena_str(connect->arena, reply->json);
    reply->next = arena_str(connect->arena, reply->next);
    reply->bytes = arena_copy(connect->arena, reply->bytes, (size_t)reply->n_bytes);
}

static void on_broker_rubbish(void *arg, const struct peer *from,
                              const struct err *cause)
{
    struct connect *connect = arg;
    (void)from;
    connect->is_answered = true;
    err_set(&connect->refusal, cause->code, "the broker's answer cannot be read: %s",
            cause->text);
}

/* The next of several brokers is asked if this one is a standby, cannot be reached, or
 * is silent. Whether it was. */
static bool ask_other(struct connect *connect, int64_t now_ms, struct err *err)
{
    struct wire_client *client = connect->broker;
    int64_t age_ms = now_ms - connect->opened_ms;
    bool is_wanted = connect->is_standby || age_ms >= SILENCE_MS ||
                     wire_client_has_failed(client, now_ms);
    if (wire_client_count_choices(client) < 2 || age_ms < PAUSE_MS || !is_wanted) {
        return false;
    }
    connect->is_standby = false;
    connect->opened_ms = now_ms;
    return wire_client_move(client, "", err) == 0;
}

static int ask_broker(struct connect *connect, const struct msg *msg, int timeout_ms,
                      struct err *err)
{
    const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    int64_t start_ms = daemon_now_ms();
    struct resend resend;
    bool is_sent = false;
    connect->is_answered = false;
    connect->opened_ms = start_ms;
    resend_begin(&resend, start_ms);
    while (!connect->is_answered) {
        int64_t now_ms = daemon_now_ms();
        struct err why;
        if (ask_other(connect, now_ms, &why)) {
            resend_begin(&resend, now_ms);
        }
        int patience_ms = is_sent ? timeout_ms : CONNECT_PATIENCE_TCP_MS;
        zmq_pollitem_t item = {zsock_resolve(wire_client_socket(connect->broker)), 0,
                               ZMQ_POLLIN, 0};
        bool is_late = patience_ms >= 0 && now_ms >= start_ms + patience_ms;
        /* A broker that is away may come back; a wrong name or key stays wrong. */
        if (!is_sent && wire_client_look(connect->broker, now_ms, &why) &&
            (is_late || (why.code != ERR_AWAY &&
                         wire_client_count_choices(connect->broker) < 2))) {
            return err_set(err, why.code, "no connection to the broker: %s", why.text);
        }
        if (is_late) {
            return err_set(err, ERR_AWAY,
                           "no answer from the broker at %s: see its log, then try "
                           "again",
                           connect->where);
        }
        if (resend_wake_ms(&resend) <= now_ms) {
            struct err cause;
            int rc = wire_client_send(connect->broker, msg, &cause);
            if (rc != 0 && rc != ERR_AWAY) {
                *err = cause;
                return rc;
            }
            is_sent |= rc == 0;
            resend_sent(&resend, rc == 0 ? resends : connects, now_ms);
        }
        zmq_poll(&item, 1, CONNECTING_MS);
        wire_client_drain(connect->broker, 16, &broker, on_broker_message,
                          on_broker_rubbish, connect);
    }
    return 0;
}

int connect_ask(struct connect *connect, struct msg *msg, uint64_t *request,
                int timeout_ms, struct arena *arena, struct msg_reply *reply,
                struct err *err)
{
    int rc;
    *request = ++connect->last_request;
    connect->awaited = *request;
    connect->arena = arena;
    connect->reply = reply;
    connect->refusal.code = 0;
    memset(reply, 0, sizeof *reply);
    msg->site = msg->site != NULL ? msg->site : "";
    if (connect->broker != NULL) {
        rc = ask_broker(connect, msg, timeout_ms, err);
    } else {
        rc = local_client_send(connect->site, msg, err);
        if (rc == 0) {
            rc = receive_from_site(connect, timeout_ms, err);
        }
    }
    if (rc != 0) {
        field_words_apply(connect->call, msg, err);
        return rc;
    }
    if (connect->refusal.code != 0) {
        *err = connect->refusal;
    }
    return connect->refusal.code;
}

int connect_receive(struct connect *connect, uint64_t first, struct arena *arena,
                    struct msg_reply *reply, struct err *err)
{
    int64_t deadline_ms = daemon_now_ms() + CONNECT_PATIENCE_MS;
    memset(reply, 0, sizeof(*reply));
    connect->arena = arena;
    connect->reply = reply;
    connect->refusal.code = 0;
    while (reply->request < first && connect->refusal.code == 0) {
        struct msg msg;
        int64_t left_ms = deadline_ms - daemon_now_ms();
        int rc = local_client_receive(connect->site, arena,
                                      left_ms > 0 ? (int)left_ms : 0, &msg, err);
        if (rc != 0) {
            return rc;
        }
        connect->awaited =
            msg.kind == MSG_REPLY && msg.reply.request >= first ? msg.reply.request : 0;
        handle_message(connect, &msg);
    }
    if (connect->refusal.code != 0) {
        *err = connect->refusal;
    }
    return connect->refusal.code;
}

int connect_request(struct call *call, struct msg *msg, uint64_t *request,
                    const char **text)
{
    struct connect *connect;
    struct msg_reply reply;
    struct err err;
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    int rc = connect_ask(connect, msg, request, CONNECT_PATIENCE_MS, &call->arena,
                         &reply, &err);
    connect_free(connect);
    *text = reply.text;
    return rc != 0 ? call_fail_err(&err) : CALL_OK;
}

int connect_fd(const struct connect *connect)
{
    return local_client_fd(connect->site);
}

int connect_send(struct connect *connect, struct msg *msg, uint64_t *request,
                 struct err *err)
{
    if (connect->site == NULL) {
        return err_set(err, ERR_STATE,
                       "this command asks a site, not a broker; omit --broker");
    }
    if (request != NULL) {
        *request = ++connect->last_request;
    }
    msg->site = msg->site != NULL ? msg->site : "";
    int rc = local_client_send(connect->site, msg, err);
    if (rc != 0) {
        field_words_apply(connect->call, msg, err);
    }
    return rc;
}

int connect_take(struct connect *connect, struct arena *arena, struct msg *msg,
                 bool *has_one, struct err *err)
{
    return local_client_take(connect->site, arena, msg, has_one, err);
}
