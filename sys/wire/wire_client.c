/* SPDX-License-Identifier: Apache-2.0 */
/* wire_client.c: the DEALER side; see wire.h. */
#include <stdlib.h>
#include <string.h>

#include "sys/wire/wire.h"
#include "sys/wire/wire_frames.h"

enum {
    RECONNECT_MS = 100,
    RECONNECT_MAX_MS = 2000, /* for a quick recovery */
    CONNECT_TIMEOUT_MS = 5000,
};

struct wire_client {
    zsock_t *socket;
    struct wire_endpoint *endpoint;
    bool has_key;
    struct wire_key key;
    char server_public[41];
    struct arena arena;
    struct wire_counters counters;
};

static int connect_socket(struct wire_client *client, struct err *err)
{
    client->socket = zsock_new(ZMQ_DEALER);
    if (client->socket == NULL) {
        return err_set(err, ERR_IO, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    wire_frames_prepare(client->socket);
    wire_frames_ask_often(client->socket);
    /* Sends only to a connected peer, since queued messages would be outdated. */
    zsock_set_immediate(client->socket, 1);
    zsock_set_reconnect_ivl(client->socket, RECONNECT_MS);
    zsock_set_reconnect_ivl_max(client->socket, RECONNECT_MAX_MS);
    zsock_set_connect_timeout(client->socket, CONNECT_TIMEOUT_MS);
    if (client->has_key) {
        zsock_set_curve_serverkey(client->socket, client->server_public);
        zsock_set_curve_publickey(client->socket, client->key.public_z85);
        zsock_set_curve_secretkey(client->socket, client->key.secret_z85);
    }
    const char *endpoint = wire_frames_endpoint_text(client->endpoint);
    if (zsock_connect(client->socket, "%s", endpoint) != 0) {
        zsock_destroy(&client->socket);
        return err_set(err, ERR_IO, "endpoint \"%s\": %s", endpoint,
                       zmq_strerror(zmq_errno()));
    }
    return ERR_NONE;
}

/* Both keys or none; complete keys only. */
static int take_keys(struct wire_client *client, const struct wire_key *key,
                     const char *server_public, struct err *err)
{
    client->has_key = key != NULL;
    if (key == NULL) {
        return ERR_NONE;
    }
    if (strlen(key->secret_z85) != 40 || server_public == NULL ||
        strlen(server_public) != 40) {
        return err_set(err, ERR_PARSE, "a secret key and the server's key are needed");
    }
    client->key = *key;
    memcpy(client->server_public, server_public, sizeof(client->server_public));
    return ERR_NONE;
}

int wire_client_new(const char *endpoint, const struct wire_key *key,
                    const char *server_public, struct wire_client **client,
                    struct err *err)
{
    *client = NULL;
    struct wire_client *built = mem_alloc(1, sizeof(*built));
    arena_init(&built->arena);
    int status = take_keys(built, key, server_public, err);
    if (status == ERR_NONE) {
        status = wire_frames_endpoint_new(endpoint, key != NULL, &built->endpoint, err);
    }
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
    zsock_destroy(&client->socket);
    wire_frames_endpoint_free(client->endpoint);
    arena_release(&client->arena);
    explicit_bzero(&client->key, sizeof(client->key));
    free(client);
}

int wire_client_reopen(struct wire_client *client, struct err *err)
{
    zsock_destroy(&client->socket);
    return connect_socket(client, err);
}

zsock_t *wire_client_socket(struct wire_client *client)
{
    return client->socket;
}

int wire_client_drain(struct wire_client *client, int max, const struct peer *from,
                      wire_message_fn on_message, wire_refused_fn on_refused, void *arg)
{
    int count = 0;
    while (count < max && client->socket != NULL) {
        zmq_msg_t body;
        int n_frames = wire_frames_receive(client->socket, &body, 1);
        if (n_frames == 0) {
            zmq_msg_close(&body);
            break;
        }
        count++;
        if (n_frames == 1) {
            wire_frames_deliver(&client->arena, &client->counters, NULL, from, &body,
                                on_message, on_refused, arg);
        } else {
            struct err err;
            err_set(&err, ERR_PARSE, "%d frames, expected 1", n_frames);
            wire_frames_refuse(&client->counters, from, &err, on_refused, arg);
        }
        zmq_msg_close(&body);
    }
    return count;
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
