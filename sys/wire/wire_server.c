/* SPDX-License-Identifier: Apache-2.0 */
/* wire_server.c: the ROUTER side: authentication, receiving, answers; see wire.h.
 *
 * A connection is checked twice: in the handshake by ZAP, and at each message by the
 * key that ZAP recorded for it, so that a key that is removed from the list is refused
 * at once. */
#include <stdlib.h>
#include <string.h>

#include "sys/wire/wire.h"
#include "sys/wire/wire_frames.h"
#include "sys/wire/wire_links.h"
#include "sys/wire/wire_watch.h"
#define uthash_fatal(msg) abort()
#include <uthash.h>

enum {
    ZAP_FRAMES = 7, /* of a CURVE request, behind REP's envelope */
    KEY_BYTES = 32,
    BACKLOG = 1024,   /* after a restart all members reconnect at once */
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
    struct arena arena;
    struct wire_counters counters;
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
    }
    snprintf(member->name, sizeof(member->name), "%s", name);
    member->roles = roles;
}

void wire_server_revoke(struct wire_server *server, const char *public_z85)
{
    struct member *member = find_member(server, public_z85);
    if (member != NULL) {
        HASH_DEL(server->members, member);
        free(member);
    }
    wire_links_remove_key(server->links, public_z85);
}

/* ---------------------------------------------------------------- ZAP */

/* True for a CURVE request for this domain with a key on the list. */
static bool is_request_allowed(const struct wire_server *server, zmsg_t *request,
                               char *key_z85)
{
    const char *const expected[] = {"1.0", NULL, zap_domain, NULL, NULL, "CURVE"};
    if (zmsg_size(request) != ZAP_FRAMES) {
        return false;
    }
    zframe_t *frame = zmsg_first(request);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (expected[i] != NULL && !zframe_streq(frame, expected[i])) {
            return false;
        }
        frame = zmsg_next(request);
    }
    if (zframe_size(frame) != KEY_BYTES) {
        return false;
    }
    zmq_z85_encode(key_z85, zframe_data(frame), KEY_BYTES);
    return find_member(server, key_z85) != NULL;
}

static void answer_request(struct wire_server *server, zmsg_t *request)
{
    char key_z85[41] = "";
    bool is_allowed = is_request_allowed(server, request, key_z85);
    zmsg_first(request);
    zframe_t *id = zmsg_next(request);
    zmsg_t *answer = zmsg_new();
    zmsg_addstr(answer, "1.0");
    zmsg_addmem(answer, id != NULL ? zframe_data(id) : NULL,
                id != NULL ? zframe_size(id) : 0);
    zmsg_addstr(answer, is_allowed ? "200" : "400");
    zmsg_addstr(answer, is_allowed ? "OK" : "key is not on the list");
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
    wire_frames_ask_seldom(server->socket);
    zsock_set_router_mandatory(server->socket, 1);
    zsock_set_backlog(server->socket, BACKLOG);
    int status = key != NULL ? set_curve(server, key, err) : ERR_NONE;
    if (status == ERR_NONE && key != NULL) {
        status = wire_watch_new(server->socket, &server->watch, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    const char *endpoint = wire_frames_endpoint_text(server->endpoint);
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
        wire_watch_look(server->watch, now_ms);
    }
}

uint64_t wire_server_count_shut(const struct wire_server *server)
{
    return server->watch != NULL ? wire_watch_count_shut(server->watch) : 0;
}

const struct wire_counters *wire_server_counters(const struct wire_server *server)
{
    return &server->counters;
}

/* ---------------------------------------------------------------- receiving */

/* Finds the sender. `name` is a copy, since the callback may change the list. */
static int identify(struct wire_server *server, zmq_msg_t *id, zmq_msg_t *body,
                    char name[NAME_SIZE], struct peer *from, struct err *err)
{
    *from = (struct peer){.kind = server->kind, .name = name};
    name[0] = '\0';
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
        memcpy(name, member->name, NAME_SIZE);
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

static void receive_one(struct wire_server *server, zmq_msg_t *frames, int n_frames,
                        wire_message_fn on_message, wire_refused_fn on_refused,
                        void *arg)
{
    char name[NAME_SIZE];
    struct peer from;
    struct err err;
    int status =
        identify(server, &frames[0], &frames[n_frames > 1 ? 1 : 0], name, &from, &err);
    if (status == ERR_NONE && n_frames != 2) {
        status = err_set(&err, ERR_PARSE, "%d frames, expected 1", n_frames - 1);
    }
    if (status == ERR_NONE) {
        wire_frames_deliver(&server->arena, &server->counters, server->relays, &from,
                            &frames[1], on_message, on_refused, arg);
    } else {
        wire_frames_refuse(&server->counters, &from, &err, on_refused, arg);
    }
}

void wire_server_set_relays(struct wire_server *server, codec_relay_fn relays)
{
    server->relays = relays;
}

int wire_server_drain(struct wire_server *server, int max, wire_message_fn on_message,
                      wire_refused_fn on_refused, void *arg)
{
    int count = 0;
    int n_frames = 1;
    while (count < max && n_frames > 0) {
        zmq_msg_t frames[2]; /* routing id, body */
        n_frames = wire_frames_receive(server->socket, frames, 2);
        if (n_frames > 0) {
            receive_one(server, frames, n_frames, on_message, on_refused, arg);
            count++;
        }
        zmq_msg_close(&frames[0]);
        zmq_msg_close(&frames[1]);
    }
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

int wire_server_send(struct wire_server *server, const struct peer *to,
                     const struct msg *msg, struct err *err)
{
    zmq_msg_t body;
    int status = wire_frames_encode(msg, &body, err);
    if (status != ERR_NONE) {
        return status;
    }
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
