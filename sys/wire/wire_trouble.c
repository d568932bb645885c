/* SPDX-License-Identifier: Apache-2.0 */
/* wire_trouble.c: see wire_trouble.h. */
#include "sys/wire/wire_trouble.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/wire/wire_monitor.h"

enum {
    SETTLED_MS = 1000,    /* libzmq has this time before anything is tried beside it */
    ANSWER_MS = 5000,     /* for a connection, and for a handshake */
    TRY_EVERY_MS = 10000, /* between two trials */
    EVENTS = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED |
             ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
             ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
             ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_CONNECT_RETRIED,
};

/* What libzmq has reported last. */
enum link { LINK_NONE, LINK_OPEN, LINK_UP, LINK_KEY_REFUSED, LINK_NO_HANDSHAKE };

enum trial { TRIAL_NONE, TRIAL_NAME, TRIAL_PORT };

struct wire_trouble {
    const struct wire_words *words;
    const char *own_z85, *server_z85;
    struct wire_name name;
    zsock_t *socket; /* that is watched */
    zsock_t *monitor;
    enum link link;
    bool has_failed; /* closed or refused since the socket is watched */
    bool is_open; /* there is a connection, or has been since the socket is watched */
    int64_t link_ms; /* the last change; 0: the next look sets it */
    /* The last connection had no handshake for ANSWER_MS. Stands, like a refusal, until
     * a handshake goes well. */
    bool has_no_answer;
    /* A trial that is under way, and the result of the last one. */
    enum trial trial;
    int64_t trial_ms, next_ms;
    int fd;
    struct err result; /* code 0: none */
};

struct wire_trouble *wire_trouble_new(const char *endpoint,
                                      const struct wire_words *words,
                                      const char *own_z85, const char *server_z85)
{
    struct wire_trouble *made = mem_alloc(1, sizeof(*made));
    *made = (struct wire_trouble){
        .words = words, .own_z85 = own_z85, .server_z85 = server_z85, .fd = -1};
    wire_name_init(&made->name, endpoint);
    return made;
}

/* ---------------------------------------------------------------- trials */

static void end_trial(struct wire_trouble *trouble)
{
    if (trouble->fd >= 0) {
        close(trouble->fd);
        trouble->fd = -1;
    }
    trouble->trial = TRIAL_NONE;
}

static void begin_trial(struct wire_trouble *trouble, int64_t now_ms)
{
    trouble->next_ms = now_ms + TRY_EVERY_MS;
    trouble->trial_ms = now_ms;
    trouble->trial = TRIAL_NAME;
    wire_name_ask(&trouble->name);
}

static void conclude_port(struct wire_trouble *trouble, int error)
{
    const struct wire_words *words = trouble->words;
    if (error == 0) {
        trouble->result.code = 0; /* it is open now */
    } else if (error == ECONNREFUSED) {
        err_set(&trouble->result, ERR_AWAY,
                "%s refuses connections to port %s: does %s run there, and is this the "
                "port of its LISTEN?",
                trouble->name.host, trouble->name.port, words->peer);
    } else if (error == ETIMEDOUT) {
        err_set(
            &trouble->result, ERR_AWAY,
            "port %s of %s does not answer: is that machine up, and does a firewall "
            "let the port through?",
            trouble->name.port, trouble->name.host);
    } else {
        err_set(&trouble->result, ERR_AWAY, "port %s of %s cannot be reached: %s",
                trouble->name.port, trouble->name.host, strerror(error));
    }
}

/* The first address is the one that libzmq uses. */
static void begin_port(struct wire_trouble *trouble, int64_t now_ms)
{
    const struct addrinfo *to = wire_name_address(&trouble->name, 0);
    trouble->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (trouble->fd < 0) {
        end_trial(trouble);
        return;
    }
    trouble->trial = TRIAL_PORT;
    trouble->trial_ms = now_ms;
    int error = connect(trouble->fd, to->ai_addr, to->ai_addrlen) == 0 ? 0 : errno;
    if (error != EINPROGRESS) {
        conclude_port(trouble, error);
        end_trial(trouble);
    }
}

static void look_at_name(struct wire_trouble *trouble, int64_t now_ms)
{
    int rc = wire_name_look(&trouble->name);
    if (rc == EAI_INPROGRESS && now_ms - trouble->trial_ms < ANSWER_MS) {
        return;
    }
    if (rc == 0) {
        begin_port(trouble, now_ms);
        return;
    }
    err_set(
        &trouble->result, ERR_NOT_FOUND,
        "the name \"%s\" cannot be resolved: %s; correct %s, or add the name to DNS "
        "or /etc/hosts",
        trouble->name.host,
        rc == EAI_INPROGRESS ? "no name server answers" : gai_strerror(rc),
        trouble->words->endpoint);
    end_trial(trouble);
}

static void look_at_port(struct wire_trouble *trouble, int64_t now_ms)
{
    struct pollfd file = {.fd = trouble->fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);
    if (poll(&file, 1, 0) == 0) {
        if (now_ms - trouble->trial_ms < ANSWER_MS) {
            return;
        }
        error = ETIMEDOUT;
    } else if (getsockopt(trouble->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        error = errno;
    }
    conclude_port(trouble, error);
    end_trial(trouble);
}

static void look_at_trial(struct wire_trouble *trouble, int64_t now_ms)
{
    switch (trouble->trial) {
    case TRIAL_NONE:
        if (now_ms >= trouble->next_ms) {
            begin_trial(trouble, now_ms);
        }
        break;
    case TRIAL_NAME:
        look_at_name(trouble, now_ms);
        break;
    case TRIAL_PORT:
        look_at_port(trouble, now_ms);
        break;
    }
}

/* ---------------------------------------------------------------- events */

void wire_trouble_end(struct wire_trouble *trouble)
{
    if (trouble != NULL) {
        wire_monitor_close(trouble->socket, &trouble->monitor);
    }
}

void wire_trouble_free(struct wire_trouble *trouble)
{
    if (trouble == NULL) {
        return;
    }
    end_trial(trouble);
    wire_name_release(&trouble->name);
    wire_trouble_end(trouble);
    free(trouble);
}

int wire_trouble_watch(struct wire_trouble *trouble, zsock_t *socket, struct err *err)
{
    wire_trouble_end(trouble);
    trouble->is_open = trouble->has_failed = false;
    if (trouble->link == LINK_UP || trouble->link == LINK_OPEN) {
        trouble->link = LINK_NONE; /* of the socket before */
    }
    trouble->link_ms = 0;
    trouble->socket = socket;
    return wire_monitor_open(socket, EVENTS, &trouble->monitor, err);
}

static void set_link(struct wire_trouble *trouble, enum link link, int64_t now_ms)
{
    trouble->link = link;
    trouble->link_ms = now_ms;
}

/* A refusal stands until a handshake goes well, or the port does not answer any more.
 */
static void take_event(struct wire_trouble *trouble, int event, int64_t now_ms)
{
    bool is_refused =
        trouble->link == LINK_KEY_REFUSED || trouble->link == LINK_NO_HANDSHAKE;
    trouble->has_failed |=
        event != ZMQ_EVENT_CONNECTED && event != ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    switch (event) {
    case ZMQ_EVENT_CONNECT_RETRIED:
        break;
    case ZMQ_EVENT_CONNECTED:
        trouble->result.code = 0;
        trouble->is_open = true;
        if (!is_refused) {
            set_link(trouble, LINK_OPEN, now_ms);
        }
        break;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        trouble->has_no_answer = false;
        set_link(trouble, LINK_UP, now_ms);
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        set_link(trouble, LINK_KEY_REFUSED, now_ms);
        break;
    case ZMQ_EVENT_DISCONNECTED:
        if (trouble->link == LINK_UP) {
            trouble->is_open = false;
            set_link(trouble, LINK_NONE, now_ms);
        } else if (trouble->link == LINK_OPEN) {
            bool is_late = now_ms - trouble->link_ms >= ANSWER_MS; /* it hung */
            set_link(trouble, is_late ? LINK_NONE : LINK_NO_HANDSHAKE, now_ms);
        }
        break;
    default: /* a handshake that failed otherwise */
        if (trouble->link != LINK_KEY_REFUSED) {
            set_link(trouble, LINK_NO_HANDSHAKE, now_ms);
        }
        break;
    }
}

static void take_events(struct wire_trouble *trouble, int64_t now_ms)
{
    struct wire_event event;
    while (trouble->monitor != NULL && wire_monitor_next(trouble->monitor, &event)) {
        take_event(trouble, event.event, now_ms);
    }
}

struct wire_name *wire_trouble_name(struct wire_trouble *trouble)
{
    return &trouble->name;
}

bool wire_trouble_is_up(const struct wire_trouble *trouble)
{
    return trouble->link == LINK_UP;
}

bool wire_trouble_has_failed(struct wire_trouble *trouble, int64_t now_ms)
{
    take_events(trouble, now_ms);
    return trouble->has_failed;
}

/* ---------------------------------------------------------------- answers */

static void say_key_refused(const struct wire_trouble *trouble, struct err *why)
{
    err_set(
        why, ERR_DENIED,
        "%s at %s does not know this key: its public half is %s; compare it with %s",
        trouble->words->peer, trouble->name.host, trouble->own_z85,
        trouble->words->list);
}

static void say_no_handshake(const struct wire_trouble *trouble, struct err *why)
{
    err_set(why, ERR_DENIED,
            "port %s of %s answers, but not as %s with the public key %s: compare %s "
            "with the .key file there, and check the port",
            trouble->name.port, trouble->name.host, trouble->words->peer,
            trouble->server_z85, trouble->words->peer_key);
}

/* A process that is stopped: its kernel still accepts connections. */
static void say_no_answer(const struct wire_trouble *trouble, struct err *why)
{
    err_set(why, ERR_AWAY,
            "port %s of %s accepts connections, but %s does not answer there: is its "
            "process stopped or overloaded, and is this the port of its LISTEN?",
            trouble->name.port, trouble->name.host, trouble->words->peer);
}

bool wire_trouble_look(struct wire_trouble *trouble, int64_t now_ms, struct err *why)
{
    take_events(trouble, now_ms);
    if (trouble->link_ms == 0) {
        trouble->link_ms = now_ms;
    }
    int64_t since_ms = now_ms - trouble->link_ms;
    if (!trouble->is_open && since_ms >= SETTLED_MS) {
        look_at_trial(trouble, now_ms);
    }
    if (!trouble->is_open && trouble->result.code != 0) {
        *why = trouble->result;
        return true;
    }
    if (trouble->link == LINK_KEY_REFUSED) {
        say_key_refused(trouble, why);
        return true;
    }
    if (trouble->link == LINK_NO_HANDSHAKE) {
        say_no_handshake(trouble, why);
        return true;
    }
    trouble->has_no_answer |= trouble->link == LINK_OPEN && since_ms >= ANSWER_MS;
    if (trouble->has_no_answer) {
        say_no_answer(trouble, why);
    }
    return trouble->has_no_answer;
}
