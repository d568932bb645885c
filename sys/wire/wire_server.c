/* SPDX-License-Identifier: Apache-2.0 */
/* wire_server.c: the ROUTER side: authentication, receiving, answers; see wire.h.
 *
 * A connection is checked twice: in the handshake by ZAP, and at each message by the
 * key that ZAP recorded for it, so that a key that is removed from the list is refused
 * at once. */
#include <stdlib.h>
#include <string.h>

#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"
#include "sys/wire/wire_frames.h"
#include "sys/wire/wire_links.h"
#include "sys/wire/wire_queue.h"
#include "sys/wire/wire_refusals.h"
#include "sys/wire/wire_watch.h"
#define uthash_fatal(msg) abort()
#include <uthash.h>

enum {
    ZAP_FRAMES = 7, /* of a CURVE request, behind REP's envelope */
    KEY_BYTES = 32,
    BACKLOG = 1024,   /* after a restart all members reconnect at once */
    TAKEN_MAX = 2048, /* in a batch, of messages of all peers, and of their bytes */
    TAKEN_BYTES_MAX = 8 << 20,
    OUT_LOG_BURST = 20,
    HANDSHAKE_MS = 5000, /* after that, a key that is out tries again */
    ZAP_ENFORCE = 93, /* ZMQ_ZAP_ENFORCE_DOMAIN: the header hides it as a draft; without
                         it a missing ZAP handler permits all */
};

static const char zap_endpoint[] = "inproc://zeromq.zap.01";
static const char zap_domain[] = "sublet";

struct member {
    char key_z85[41];
    char name[NAME_SIZE];
    int roles;
    UT_hash_handle hh;
};

struct wire_server {
    zsock_t *socket;
    zsock_t *zap; /* NULL: no key */
    struct wire_endpoint *endpoint;
    enum peer_kind kind;
    codec_relay_fn relays;  /* NULL: nothing is relayed */
    struct member *members; /* by key */
    struct wire_links *links;
    struct wire_watch *watch; /* NULL: no key, so no TCP */
    struct wire_queue *queue;
    struct arena arena;
    struct wire_counters counters;
    struct log_limit out;
    struct wire_refusals refusals;
};

/* ---------------------------------------------------------------- members */

static struct member *find_member(const struct wire_server *server, const char *key_z85)
{
    struct member *member;
    HASH_FIND_STR(server->members, key_z85, member);
    return member;
}

void wire_server_allow(struct wire_server *server, const char *public_z85,
                       const char *name, int roles)
{
    struct member *member = find_member(server, public_z85);
    if (member == NULL) {
        member = mem_alloc(1, sizeof(*member));
        snprintf(member->key_z85, sizeof(member->key_z85), "%s", public_z85);
        HASH_ADD_STR(server->members, key_z85, member);
    } else if (member->roles != roles || strcmp(member->name, name) != 0) {
        wire_queue_remove(server->queue, member->name); /* sent in other roles */
    }
    snprintf(member->name, sizeof(member->name), "%s", name);
    member->roles = roles;
}

void wire_server_revoke(struct wire_server *server, const char *public_z85)
{
    struct member *member = find_member(server, public_z85);
    if (member != NULL) {
        wire_queue_remove(server->queue, member->name);
        HASH_DEL(server->members, member);
        free(member);
    }
    wire_links_remove_key(server->links, public_z85);
}

/* ---------------------------------------------------------------- ZAP */

/* The status of ZAP: 300 asks the peer to try again later. */
static const char *judge_key(const struct wire_server *server, const char *key_z85)
{
    const struct member *member = find_member(server, key_z85);
    if (member == NULL) {
        return "400";
    }
    bool is_out = server->kind != PEER_HOST &&
                  wire_queue_is_out(server->queue, member->name, daemon_now_ms());
    return is_out ? "300" : "200";
}

/* 200 for a CURVE request for this domain with a key on the list. */
static const char *judge_request(const struct wire_server *server, zmsg_t *request,
                                 char *key_z85)
{
    const char *const expected[] = {"1.0", NULL, zap_domain, NULL, NULL, "CURVE"};
    if (zmsg_size(request) != ZAP_FRAMES) {
        return "400";
    }
    zframe_t *frame = zmsg_first(request);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (expected[i] != NULL && !zframe_streq(frame, expected[i])) {
            return "400";
        }
        frame = zmsg_next(request);
    }
    if (zframe_size(frame) != KEY_BYTES) {
        return "400";
    }
    zmq_z85_encode(key_z85, zframe_data(frame), KEY_BYTES);
    return judge_key(server, key_z85);
}

/* The address of its sender is the request's fourth frame. */
static void note_key(struct wire_server *server, zmsg_t *request, const char *key_z85)
{
    char address[WIRE_REFUSALS_ADDRESS];
    zmsg_first(request);
    zmsg_next(request);
    zmsg_next(request);
    zframe_t *frame = zmsg_next(request);
    size_t size = zframe_size(frame);
    snprintf(address, sizeof(address), "%.*s", (int)(size < 60 ? size : 60),
             (const char *)zframe_data(frame));
    wire_refusals_add_key(&server->refusals, server->kind, address, key_z85,
                          daemon_now_ms());
}

static void answer_request(struct wire_server *server, zmsg_t *request)
{
    char key_z85[41] = "";
    const char *status = judge_request(server, request, key_z85);
    bool is_allowed = strcmp(status, "200") == 0;
    if (strcmp(status, "400") == 0 && key_z85[0] != '\0') {
        note_key(server, request, key_z85);
    }
    zmsg_first(request);
    zframe_t *id = zmsg_next(request);
    zmsg_t *answer = zmsg_new();
    zmsg_addstr(answer, "1.0");
    zmsg_addmem(answer, id != NULL ? zframe_data(id) : NULL,
                id != NULL ? zframe_size(id) : 0);
    zmsg_addstr(answer, status);
    zmsg_addstr(answer, is_allowed ? "OK" : "key is not on the list, or is shut out");
    zmsg_addstr(answer, is_allowed ? key_z85 : "");
    zmsg_addmem(answer, NULL, 0);
    if (zmsg_send(&answer, server->zap) != 0) {
        zmsg_destroy(&answer);
    }
}

void wire_server_zap(struct wire_server *server)
{
    while (server->zap != NULL && (zsock_events(server->zap) & ZMQ_POLLIN) != 0) {
        zmsg_t *request = zmsg_recv(server->zap); /* from libzmq in this process */
        if (request == NULL) {
            return;
        }
        answer_request(server, request);
        zmsg_destroy(&request);
    }
}

static int open_zap(struct wire_server *server, struct err *err)
{
    server->zap = zsock_new(ZMQ_REP);
    if (server->zap == NULL) {
        return err_set(err, ERR_IO, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    zsock_set_linger(server->zap, 0);
    if (zsock_bind(server->zap, "%s", zap_endpoint) != 0) {
        return err_set(err, ERR_EXISTS, "this process has a server with a key already");
    }
    return ERR_NONE;
}

/* ---------------------------------------------------------------- opening */

static int set_curve(struct wire_server *server, const struct wire_key *key,
                     struct err *err)
{
    if (strlen(key->secret_z85) != 40) {
        return err_set(err, ERR_PARSE, "the server's secret key is needed");
    }
    int status = open_zap(server, err);
    if (status != ERR_NONE) {
        return status;
    }
    zsock_set_curve_server(server->socket, 1);
    zsock_set_curve_publickey(server->socket, key->public_z85);
    zsock_set_curve_secretkey(server->socket, key->secret_z85);
    zsock_set_zap_domain(server->socket, zap_domain);
    int on = 1;
    if (zmq_setsockopt(zsock_resolve(server->socket), ZAP_ENFORCE, &on, sizeof(on)) !=
        0) {
        return err_set(err, ERR_IO, "this libzmq cannot enforce authentication: %s",
                       zmq_strerror(zmq_errno()));
    }
    return ERR_NONE;
}

static int open_socket(struct wire_server *server, const struct wire_key *key,
                       struct err *err)
{
    server->socket = zsock_new(ZMQ_ROUTER);
    if (server->socket == NULL) {
        return err_set(err, ERR_IO, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    wire_frames_prepare(server->socket);
    zsock_set_router_mandatory(server->socket, 1);
    zsock_set_backlog(server->socket, BACKLOG);
    zsock_set_handshake_ivl(server->socket, HANDSHAKE_MS);
    int status = key != NULL ? set_curve(server, key, err) : ERR_NONE;
    if (status == ERR_NONE && key != NULL) {
        status = wire_watch_new(server->socket, &server->watch, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    const char *endpoint = wire_frames_endpoint_text(server->endpoint);
    wire_frames_set_family(server->socket, endpoint);
    if (zsock_bind(server->socket, "%s", endpoint) < 0) {
        return err_set(err, ERR_IO, "endpoint \"%s\": %s", endpoint,
                       zmq_strerror(zmq_errno()));
    }
    return ERR_NONE;
}

int wire_server_new(const char *endpoint, const struct wire_key *key,
                    enum peer_kind kind, struct wire_server **server, struct err *err)
{
    *server = NULL;
    struct wire_server *built = mem_alloc(1, sizeof(*built));
    built->kind = kind;
    built->links = wire_links_new();
    built->queue = wire_queue_new();
    built->out.burst = OUT_LOG_BURST;
    arena_init(&built->arena);
    int status = wire_frames_endpoint_new(endpoint, key != NULL, &built->endpoint, err);
    if (status == ERR_NONE) {
        status = open_socket(built, key, err);
    }
    if (status != ERR_NONE) {
        wire_server_free(built);
        return status;
    }
    *server = built;
    return ERR_NONE;
}

void wire_server_free(struct wire_server *server)
{
    if (server == NULL) {
        return;
    }
    wire_watch_free(server->watch);
    zsock_destroy(&server->socket);
    if (server->zap != NULL) {
        /* Another thread closes the socket later; unbinding frees the inproc name at
         * once for the next server of this process. */
        (void)zsock_unbind(server->zap, "%s", zap_endpoint);
    }
    zsock_destroy(&server->zap);
    wire_frames_endpoint_free(server->endpoint);
    struct member *member, *next;
    HASH_ITER (hh, server->members, member, next) {
        HASH_DEL(server->members, member);
        free(member);
    }
    wire_links_free(server->links);
    wire_queue_free(server->queue);
    arena_release(&server->arena);
    free(server);
}

zsock_t *wire_server_socket(struct wire_server *server)
{
    return server->socket;
}

zsock_t *wire_server_zap_socket(struct wire_server *server)
{
    return server->zap;
}

void wire_server_watch(struct wire_server *server, int64_t now_ms)
{
    if (server->watch != NULL) {
        char address[WIRE_REFUSALS_ADDRESS];
        wire_watch_look(server->watch, now_ms);
        while (wire_watch_take_unsealed(server->watch, address, sizeof(address))) {
            wire_refusals_add_unsealed(&server->refusals, server->kind, address,
                                       now_ms);
        }
    }
}

uint64_t wire_server_count_shut(const struct wire_server *server)
{
    return server->watch != NULL ? wire_watch_count_shut(server->watch) : 0;
}

uint64_t wire_server_count_keys_refused(const struct wire_server *server)
{
    return server->refusals.n_keys;
}

uint64_t wire_server_count_unsealed(const struct wire_server *server)
{
    return server->refusals.n_unsealed;
}

const struct wire_counters *wire_server_counters(const struct wire_server *server)
{
    return &server->counters;
}

/* ---------------------------------------------------------------- receiving */

enum { SENDER_SIZE = WIRE_QUEUE_SENDER_SIZE };

/* Whose rate limit it is: that of a member, or of one connection of a host. */
static void name_sender(const struct wire_server *server, const struct peer *from,
                        char sender[SENDER_SIZE])
{
    if (server->kind == PEER_HOST) {
        snprintf(sender, SENDER_SIZE, "%llu", (unsigned long long)from->link);
    } else {
        snprintf(sender, SENDER_SIZE, "%s", from->name);
    }
}

/* Finds the sender, whose name lives as long as it is a member. */
static int identify(struct wire_server *server, zmq_msg_t *id, zmq_msg_t *body,
                    struct peer *from, struct err *err)
{
    *from = (struct peer){.kind = server->kind, .name = ""};
    const char *key_z85 = "";
    if (server->zap != NULL) {
        /* libzmq 4.3.4 loses it on the first frame, never on a body. */
        key_z85 = zmq_msg_gets(body, "User-Id");
        const struct member *member =
            key_z85 != NULL ? find_member(server, key_z85) : NULL;
        if (member == NULL) {
            from->kind = PEER_NONE;
            return err_set(err, ERR_DENIED, "key %s is not on the list",
                           key_z85 != NULL ? key_z85 : "(none)");
        }
        from->name = member->name;
        from->roles = member->roles;
        if (server->kind == PEER_SITE && member->roles == ROLE_ADMIN) {
            from->kind = PEER_CLIENT;
        }
    }
    int fd = zmq_msg_get(body, ZMQ_SRCFD);
    if (server->watch != NULL) {
        wire_watch_hear(server->watch, fd, key_z85, zmq_msg_size(body));
    }
    from->link = wire_links_number(server->links, zmq_msg_data(id), zmq_msg_size(id),
                                   key_z85, fd);
    return ERR_NONE;
}

/* What a batch delivers to. */
struct delivery {
    struct wire_server *server;
    wire_message_fn on_message;
    wire_refused_fn on_refused;
    void *arg;
};

static void take_one(const struct delivery *to, zmq_msg_t *frames, int n_frames)
{
    struct wire_server *server = to->server;
    struct peer from;
    struct err err;
    char sender[SENDER_SIZE];
    int status =
        identify(server, &frames[0], &frames[n_frames > 1 ? 1 : 0], &from, &err);
    if (status == ERR_NONE && n_frames != 2) {
        status = err_set(&err, ERR_PARSE, "%d frames, expected 1", n_frames - 1);
    }
    if (status != ERR_NONE) {
        wire_frames_refuse(&server->counters, &from, &err, to->on_refused, to->arg);
        return;
    }
    name_sender(server, &from, sender);
    (void)wire_queue_put(server->queue, sender, false, &from, zmq_msg_data(&frames[1]),
                         zmq_msg_size(&frames[1]), daemon_now_ms());
}

/* Into the queues of their senders: a ROUTER cannot leave one sender's messages where
 * they are. */
static void take_arrived(const struct delivery *to)
{
    int n_frames = 1;
    size_t n_bytes = 0;
    for (int i = 0; i < TAKEN_MAX && n_bytes < TAKEN_BYTES_MAX && n_frames > 0; i++) {
        zmq_msg_t frames[2]; /* routing id, body */
        n_frames = wire_frames_receive(to->server->socket, frames, 2);
        if (n_frames > 0) {
            n_bytes += zmq_msg_size(&frames[1]);
            take_one(to, frames, n_frames);
        }
        zmq_msg_close(&frames[0]);
        zmq_msg_close(&frames[1]);
    }
}

/* Any server answers for its clock, whatever else it does. */
static void pass(void *arg, const struct peer *from, const struct msg *msg)
{
    const struct delivery *to = arg;
    struct err err;
    if (msg->kind != MSG_CLOCK) {
        to->on_message(to->arg, from, msg);
    } else if (msg->clock.now_ms == 0) {
        struct msg answer = {.kind = MSG_CLOCK, .site = "", .clock = msg->clock};
        answer.clock.now_ms = zclock_time();
        (void)wire_server_send(to->server, from, &answer, &err); /* it asks again */
    }
}

static void pass_refused(void *arg, const struct peer *from, const struct err *err)
{
    const struct delivery *to = arg;
    if (to->on_refused != NULL) {
        to->on_refused(to->arg, from, err);
    }
}

/* `name` is a copy, since the callback may change the list. A queue of a host is that
 * of its connection, whose key has the host's name. */
static void deliver(void *arg, const struct wire_queue_entry *entry)
{
    const struct delivery *to = arg;
    struct wire_server *server = to->server;
    char name[NAME_SIZE] = "";
    struct peer from = entry->from;
    from.name = name;
    if (server->kind != PEER_HOST) {
        memcpy(name, entry->sender, sizeof(name));
    } else if (server->zap != NULL) {
        const struct member *member =
            find_member(server, wire_links_key(server->links, from.link));
        if (member == NULL) {
            return; /* its key was removed meanwhile */
        }
        memcpy(name, member->name, sizeof(name));
    }
    wire_frames_deliver(&server->arena, &server->counters, server->relays, &from,
                        entry->bytes, entry->n_bytes, pass, pass_refused, arg);
}

/* ---------------------------------------------------------------- rate limits */

static void shut_member(struct wire_server *server, const char *name)
{
    struct member *member, *next;
    HASH_ITER (hh, server->members, member, next) {
        if (strcmp(member->name, name) == 0) {
            wire_watch_shut_key(server->watch, member->key_z85);
        }
    }
}

static void shut_link(struct wire_server *server, const char *number)
{
    size_t id_size;
    int fd;
    if (wire_links_id(server->links, strtoull(number, NULL, 10), &id_size, &fd) !=
        NULL) {
        wire_watch_shut(server->watch, fd);
    }
}

/* Disconnects those whose refusals are used up. */
static void shut_out(struct wire_server *server)
{
    const char *sender;
    while ((sender = wire_queue_take_out(server->queue)) != NULL) {
        bool is_member = server->kind != PEER_HOST;
        const struct rate_limit *rate_limit =
            wire_queue_rate_limit(server->queue, sender);
        if (log_limit_pass(&server->out, daemon_now_ms())) {
            log_line(LOG_LEVEL_WARNING,
                     "%s %s is disconnected for %lld s: it goes on sending what is "
                     "refused, or more than its queue holds (%llu messages)",
                     is_member ? "member" : "host on connection", sender,
                     (long long)rate_limit->out_ms / 1000,
                     (unsigned long long)rate_limit->n_refused);
        }
        if (server->watch != NULL) {
            (is_member ? shut_member : shut_link)(server, sender);
        }
    }
}

int64_t wire_server_ready_ms(struct wire_server *server)
{
    return wire_queue_ready_ms(server->queue, daemon_now_ms());
}

void wire_server_charge(struct wire_server *server, int64_t work_us)
{
    wire_queue_charge(server->queue, work_us);
}

void wire_server_refuse(struct wire_server *server, const struct peer *to)
{
    char sender[SENDER_SIZE];
    name_sender(server, to, sender);
    (void)wire_queue_refuse(server->queue, sender, daemon_now_ms());
}

struct wire_use wire_server_use(const struct wire_server *server, const char *member)
{
    const struct rate_limit *rate_limit = wire_queue_rate_limit(server->queue, member);
    return rate_limit == NULL
               ? (struct wire_use){.work_us = 0}
               : (struct wire_use){
                     .work_us = rate_limit->work_us,
                     .n_refused = rate_limit->n_refused,
                     .n_dropped = wire_queue_count_dropped(server->queue, member),
                     .n_out = rate_limit->n_out,
                 };
}

void wire_server_set_relays(struct wire_server *server, codec_relay_fn relays)
{
    server->relays = relays;
}

int wire_server_drain(struct wire_server *server, int max, wire_message_fn on_message,
                      wire_refused_fn on_refused, void *arg)
{
    struct delivery to = {server, on_message, on_refused, arg};
    take_arrived(&to);
    int count = wire_queue_serve(server->queue, max, deliver, &to);
    shut_out(server);
    return count;
}

/* ---------------------------------------------------------------- sending */

static int drop_send(struct wire_server *server, const struct peer *to,
                     const struct msg *msg, const char *why, struct err *err)
{
    server->counters.dropped++;
    return err_set(err, ERR_AWAY, "%s to \"%s\" not sent: %s", msg_kind_name(msg->kind),
                   to->name != NULL ? to->name : "", why);
}

/* Sends the routing id; 0 or the error. ROUTER_MANDATORY reports errors here. */
static int send_id(struct wire_server *server, uint64_t link, size_t body_size,
                   bool is_stream)
{
    size_t id_size;
    int fd;
    const void *id = wire_links_id(server->links, link, &id_size, &fd);
    if (id == NULL) {
        return EHOSTUNREACH;
    }
    if (server->watch != NULL &&
        !wire_watch_queue(server->watch, fd, body_size, is_stream)) {
        return EAGAIN;
    }
    void *raw = zsock_resolve(server->socket);
    return zmq_send(raw, id, id_size, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ? zmq_errno() : 0;
}

/* The member that asks pays for the answer; all else is sent because of what others
 * did. */
static void charge_answer(struct wire_server *server, const struct peer *to,
                          const struct msg *msg, size_t n_bytes)
{
    char sender[SENDER_SIZE];
    if (msg->kind == MSG_REPLY) {
        name_sender(server, to, sender);
        wire_queue_charge_late(server->queue, sender,
                               (int64_t)n_bytes * RATE_LIMIT_ANSWER_US_PER_KIB / 1024);
    }
}

int wire_server_send(struct wire_server *server, const struct peer *to,
                     const struct msg *msg, struct err *err)
{
    zmq_msg_t body;
    int status = wire_frames_encode(msg, &body, err);
    if (status != ERR_NONE) {
        return status;
    }
    charge_answer(server, to, msg, zmq_msg_size(&body));
    bool is_stream = msg->kind == MSG_STREAM_UP || msg->kind == MSG_STREAM_DOWN;
    int why = send_id(server, to->link, zmq_msg_size(&body), is_stream);
    if (why == 0 &&
        zmq_msg_send(&body, zsock_resolve(server->socket), ZMQ_DONTWAIT) < 0) {
        why = zmq_errno();
    }
    if (why != 0) {
        zmq_msg_close(&body);
        if (why == EHOSTUNREACH) {
            wire_links_remove(server->links, to->link);
        }
        return drop_send(server, to, msg,
                         why == EHOSTUNREACH ? "it does not exist any more"
                                             : "its queue is full",
                         err);
    }
    server->counters.sent++;
    return ERR_NONE;
}
