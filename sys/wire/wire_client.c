/* SPDX-License-Identifier: Apache-2.0 */
/* wire_client.c: the DEALER side; see wire.h. */
#include <stdlib.h>
#include <string.h>

#include "proto/codec_wire.h"
#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"
#include "sys/wire/wire_frames.h"
#include "sys/wire/wire_queue.h"
#include "sys/wire/wire_trouble.h"

enum {
    RECONNECT_MS = 100,
    RECONNECT_MAX_MS = 2000, /* for a quick recovery */
    CONNECT_TIMEOUT_MS = 5000,
    TAKEN_MAX = 2048, /* in a batch, of peers with rate limits */
    ADDRESS_SIZE = 96,
};

struct server {
    struct wire_endpoint *endpoint;
    char public_z85[41];
    struct wire_trouble *trouble; /* NULL: it need not explain itself */
    struct err logged;            /* code 0: nothing */
};

struct wire_client {
    zsock_t *socket;
    struct server *servers;
    int n_servers, at; /* `at`: that it connects to */
    int address;       /* of that one's name; -1: the one that libzmq finds */
    bool has_key;
    struct wire_key key;
    struct wire_queue *queue;       /* NULL: no rate limits */
    const struct wire_words *words; /* NULL: it need not explain itself */
    struct arena arena;
    struct wire_counters counters;
};

static struct server *server_of(const struct wire_client *client)
{
    return &client->servers[client->at];
}

static void close_socket(struct wire_client *client)
{
    if (client->n_servers > 0) {
        wire_trouble_end(server_of(client)->trouble);
    }
    zsock_destroy(&client->socket);
}

/* libzmq finds an address of IPv4 by itself: -1. A name that has only others is known
 * once it was asked for. */
static int first_address(const struct server *server)
{
    const struct addrinfo *first =
        server->trouble != NULL
            ? wire_name_address(wire_trouble_name(server->trouble), 0)
            : NULL;
    return first != NULL && first->ai_family == AF_INET6 ? 0 : -1;
}

static int connect_socket(struct wire_client *client, struct err *err)
{
    const struct server *server = server_of(client);
    char text[ADDRESS_SIZE];
    client->socket = zsock_new(ZMQ_DEALER);
    if (client->socket == NULL) {
        return err_set(err, ERR_IO, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    wire_frames_prepare(client->socket);
    /* Sends only to a connected peer, since queued messages would be outdated. */
    zsock_set_immediate(client->socket, 1);
    zsock_set_reconnect_ivl(client->socket, RECONNECT_MS);
    zsock_set_reconnect_ivl_max(client->socket, RECONNECT_MAX_MS);
    zsock_set_connect_timeout(client->socket, CONNECT_TIMEOUT_MS);
    if (client->has_key) {
        zsock_set_curve_serverkey(client->socket, server->public_z85);
        zsock_set_curve_publickey(client->socket, client->key.public_z85);
        zsock_set_curve_secretkey(client->socket, client->key.secret_z85);
    }
    const char *endpoint = wire_frames_endpoint_text(server->endpoint);
    int address = client->address >= 0 ? client->address : first_address(server);
    if (address >= 0 && wire_name_endpoint(wire_trouble_name(server->trouble), address,
                                           text, sizeof(text))) {
        endpoint = text;
    }
    wire_frames_set_family(client->socket, endpoint);
    if (server->trouble != NULL &&
        wire_trouble_watch(server->trouble, client->socket, err) < 0) {
        close_socket(client);
        return err->code;
    }
    if (zsock_connect(client->socket, "%s", endpoint) != 0) {
        close_socket(client);
        return err_set(err, ERR_IO, "endpoint \"%s\": %s", endpoint,
                       zmq_strerror(zmq_errno()));
    }
    return ERR_NONE;
}

/* Both keys or none; complete keys only. */
static int check_keys(const struct wire_key *key, const char *server_public,
                      struct err *err)
{
    bool is_whole =
        key == NULL || (strlen(key->secret_z85) == 40 && server_public != NULL &&
                        strlen(server_public) == 40);
    return is_whole ? ERR_NONE
                    : err_set(err, ERR_PARSE,
                              "a secret key and the server's key are needed");
}

static void explain(struct wire_client *client, struct server *server)
{
    server->trouble =
        wire_trouble_new(wire_frames_endpoint_text(server->endpoint), client->words,
                         client->key.public_z85, server->public_z85);
}

int wire_client_add(struct wire_client *client, const char *endpoint,
                    const char *server_public, struct err *err)
{
    struct server server = {.trouble = NULL};
    int status = check_keys(client->has_key ? &client->key : NULL, server_public, err);
    if (status == ERR_NONE) {
        status =
            wire_frames_endpoint_new(endpoint, client->has_key, &server.endpoint, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    if (client->has_key) {
        memcpy(server.public_z85, server_public, sizeof(server.public_z85));
    }
    client->servers = mem_grow(client->servers, (size_t)client->n_servers + 1,
                               sizeof(*client->servers));
    client->servers[client->n_servers++] = server;
    return ERR_NONE;
}

int wire_client_new(const char *endpoint, const struct wire_key *key,
                    const char *server_public, struct wire_client **client,
                    struct err *err)
{
    *client = NULL;
    struct wire_client *built = mem_alloc(1, sizeof(*built));
    arena_init(&built->arena);
    built->address = -1;
    built->has_key = key != NULL;
    if (key != NULL) {
        built->key = *key;
    }
    int status = wire_client_add(built, endpoint, server_public, err);
    if (status == ERR_NONE) {
        status = connect_socket(built, err);
    }
    if (status != ERR_NONE) {
        wire_client_free(built);
        return status;
    }
    *client = built;
    return ERR_NONE;
}

void wire_client_free(struct wire_client *client)
{
    if (client == NULL) {
        return;
    }
    close_socket(client);
    for (int i = 0; i < client->n_servers; i++) {
        wire_trouble_free(client->servers[i].trouble);
        wire_frames_endpoint_free(client->servers[i].endpoint);
    }
    free(client->servers);
    wire_queue_free(client->queue);
    arena_release(&client->arena);
    explicit_bzero(&client->key, sizeof(client->key));
    free(client);
}

int wire_client_reopen(struct wire_client *client, struct err *err)
{
    close_socket(client);
    return connect_socket(client, err);
}

int wire_client_explain(struct wire_client *client, const struct wire_words *words,
                        struct err *err)
{
    if (client->has_key && client->words == NULL) {
        client->words = words;
        for (int i = 0; i < client->n_servers; i++) {
            explain(client, &client->servers[i]);
        }
        return wire_client_reopen(client, err);
    }
    return ERR_NONE;
}

/* ---------------------------------------------------------------- of several servers
 */

int wire_client_count_choices(const struct wire_client *client)
{
    int count = client->n_servers;
    for (int i = 0; i < client->n_servers; i++) {
        struct wire_trouble *trouble = client->servers[i].trouble;
        const struct wire_name *name =
            trouble != NULL ? wire_trouble_name(trouble) : NULL;
        int n = first_address(&client->servers[i]) < 0 ? 1 : 0;
        for (; name != NULL && wire_name_address(name, n) != NULL; n++) {
            count++;
        }
    }
    return count;
}

/* The one that libzmq found first comes again, in the order of the answer. */
static bool take_next_address(struct wire_client *client)
{
    struct wire_trouble *trouble = server_of(client)->trouble;
    struct wire_name *name = trouble != NULL ? wire_trouble_name(trouble) : NULL;
    bool has_next =
        name != NULL && wire_name_look(name) == 0 &&
        (wire_name_address(name, 1) != NULL || first_address(server_of(client)) >= 0) &&
        wire_name_address(name, client->address + 1) != NULL;
    client->address = has_next ? client->address + 1 : -1;
    return has_next;
}

static int find_server(const struct wire_client *client, const char *endpoint)
{
    int at = 0;
    while (at < client->n_servers &&
           strcmp(wire_frames_endpoint_text(client->servers[at].endpoint), endpoint) !=
               0) {
        at++;
    }
    return at < client->n_servers ? at : -1;
}

int wire_client_move(struct wire_client *client, const char *endpoint, struct err *err)
{
    int wanted = find_server(client, endpoint);
    close_socket(client);
    if (wanted >= 0 && wanted != client->at) {
        client->at = wanted;
        client->address = -1;
    } else if (!take_next_address(client)) {
        client->at = (client->at + 1) % client->n_servers;
    }
    if (client->address < 0 && server_of(client)->trouble != NULL) {
        wire_name_ask(wire_trouble_name(server_of(client)->trouble));
    }
    return connect_socket(client, err);
}

const char *wire_client_endpoint(const struct wire_client *client)
{
    return wire_frames_endpoint_text(server_of(client)->endpoint);
}

bool wire_client_has_failed(struct wire_client *client, int64_t now_ms)
{
    struct wire_trouble *trouble = server_of(client)->trouble;
    return client->socket == NULL ||
           (trouble != NULL && wire_trouble_has_failed(trouble, now_ms));
}

/* ---------------------------------------------------------------- why */

bool wire_client_look(struct wire_client *client, int64_t now_ms, struct err *why)
{
    struct wire_trouble *trouble = server_of(client)->trouble;
    return trouble != NULL && wire_trouble_look(trouble, now_ms, why);
}

const char *wire_client_report(struct wire_client *client, int64_t now_ms)
{
    struct err why, *logged = &server_of(client)->logged;
    if (!wire_client_look(client, now_ms, &why)) {
        logged->code = wire_client_is_connected(client) ? 0 : logged->code;
        return NULL;
    }
    if (logged->code == 0 || strcmp(logged->text, why.text) != 0) {
        log_line(LOG_LEVEL_WARNING, "no connection to %s: %s", client->words->peer,
                 why.text);
    }
    *logged = why;
    return logged->text;
}

bool wire_client_is_connected(const struct wire_client *client)
{
    const struct wire_trouble *trouble = server_of(client)->trouble;
    return trouble != NULL && wire_trouble_is_up(trouble);
}

/* ---------------------------------------------------------------- messages */

zsock_t *wire_client_socket(struct wire_client *client)
{
    return client->socket;
}

void wire_client_use_rate_limits(struct wire_client *client)
{
    client->queue = wire_queue_new();
}

int64_t wire_client_ready_ms(struct wire_client *client)
{
    return wire_queue_ready_ms(client->queue, daemon_now_ms());
}

struct delivery {
    struct wire_client *client;
    const struct peer *from;
    wire_message_fn on_message;
    wire_refused_fn on_refused;
    void *arg;
};

static void deliver(const struct delivery *to, const void *bytes, size_t n_bytes)
{
    wire_frames_deliver(&to->client->arena, &to->client->counters, NULL, to->from,
                        bytes, n_bytes, to->on_message, to->on_refused, to->arg);
}

static void deliver_entry(void *arg, const struct wire_queue_entry *entry)
{
    deliver(arg, entry->bytes, entry->n_bytes);
}

/* Into the queue of the site that it comes from; a message without one is the
 * server's. */
static void put(struct wire_client *client, const struct peer *from, zmq_msg_t *body)
{
    struct codec_wire_envelope envelope;
    struct err err;
    char sender[WIRE_QUEUE_SENDER_SIZE] = "";
    if (codec_wire_read_envelope(zmq_msg_data(body), zmq_msg_size(body), &envelope,
                                 &err) == ERR_NONE &&
        envelope.site.length < sizeof(sender)) {
        memcpy(sender, envelope.site.at, envelope.site.length);
    }
    (void)wire_queue_put(client->queue, sender, sender[0] == '\0', from,
                         zmq_msg_data(body), zmq_msg_size(body), daemon_now_ms());
}

static void take(const struct delivery *to, zmq_msg_t *body, int n_frames)
{
    struct wire_client *client = to->client;
    struct err err;
    if (n_frames != 1) {
        err_set(&err, ERR_PARSE, "%d frames, expected 1", n_frames);
        wire_frames_refuse(&client->counters, to->from, &err, to->on_refused, to->arg);
    } else if (client->queue != NULL) {
        put(client, to->from, body);
    } else {
        deliver(to, zmq_msg_data(body), zmq_msg_size(body));
    }
}

int wire_client_drain(struct wire_client *client, int max, const struct peer *from,
                      wire_message_fn on_message, wire_refused_fn on_refused, void *arg)
{
    struct delivery to = {client, from, on_message, on_refused, arg};
    int count = 0;
    int n_taken_max = client->queue != NULL ? TAKEN_MAX : max;
    while (count < n_taken_max && client->socket != NULL) {
        zmq_msg_t body;
        int n_frames = wire_frames_receive(client->socket, &body, 1);
        if (n_frames > 0) {
            count++;
            take(&to, &body, n_frames);
        }
        zmq_msg_close(&body);
        if (n_frames == 0) {
            break;
        }
    }
    return client->queue != NULL
               ? wire_queue_serve(client->queue, max, deliver_entry, &to)
               : count;
}

int wire_client_send(struct wire_client *client, const struct msg *msg, struct err *err)
{
    zmq_msg_t body;
    int status = wire_frames_encode(msg, &body, err);
    if (status != ERR_NONE) {
        return status;
    }
    if (client->socket == NULL ||
        zmq_msg_send(&body, zsock_resolve(client->socket), ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&body);
        client->counters.dropped++;
        return err_set(err, ERR_AWAY, "%s not sent: %s", msg_kind_name(msg->kind),
                       "not connected");
    }
    client->counters.sent++;
    return ERR_NONE;
}

const struct wire_counters *wire_client_counters(const struct wire_client *client)
{
    return &client->counters;
}
