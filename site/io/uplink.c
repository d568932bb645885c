/* SPDX-License-Identifier: Apache-2.0 */
/* uplink.c: see uplink.h. */
#include "site/io/uplink.h"

#include <stdlib.h>
#include <string.h>

#include "sys/log.h"
#include "sys/wire/wire.h"

struct uplink {
    zloop_t *loop;
    struct shell *shell;
    struct wire_client *client;
    bool is_polled; /* its socket is in the loop */
};

static int on_readable(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop;
    (void)socket;
    static const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    struct uplink *uplink = arg;
    wire_client_drain(uplink->client, SHELL_MESSAGES_PER_BATCH, &broker,
                      shell_take_message, shell_refuse_message, uplink->shell);
    shell_end_batch(uplink->shell);
    return 0;
}

static int send_to_broker(void *arg, const struct peer *to, const struct msg *msg,
                          struct err *err)
{
    (void)to;
    struct uplink *uplink = arg;
    return wire_client_send(uplink->client, msg, err);
}

static void poll_socket(struct uplink *uplink)
{
    uplink->is_polled = zloop_reader(uplink->loop, wire_client_socket(uplink->client),
                                     on_readable, uplink) == 0;
}

static void unpoll_socket(struct uplink *uplink)
{
    if (uplink->is_polled) {
        zloop_reader_end(uplink->loop, wire_client_socket(uplink->client));
        uplink->is_polled = false;
    }
}

/* Where that fails, the site asks again when the broker has been silent for longer. */
static void reconnect(void *arg)
{
    struct uplink *uplink = arg;
    struct err err;
    unpoll_socket(uplink);
    if (wire_client_reopen(uplink->client, &err) < 0) {
        log_line(LOG_LEVEL_ERROR, "the connection to the broker is not reopened: %s",
                 err.text);
        return;
    }
    poll_socket(uplink);
}

int uplink_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
               struct uplink **uplink, struct err *err)
{
    struct wire_key key, broker_key;
    struct uplink *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->shell = shell;
    int rc = wire_key_load(setup->key, &key, err);
    if (rc == 0) {
        rc = wire_key_load(setup->broker_key, &broker_key, err);
    }
    if (rc == 0) {
        rc = wire_client_new(setup->broker, &key, broker_key.public_z85, &made->client,
                             err);
    }
    explicit_bzero(&key, sizeof(key));
    if (rc < 0) {
        free(made);
        return rc;
    }
    poll_socket(made);
    shell_route(shell, PEER_BROKER, send_to_broker, made);
    shell_route_reconnect(shell, reconnect, made);
    *uplink = made;
    return 0;
}

void uplink_free(struct uplink *uplink)
{
    if (uplink == NULL) {
        return;
    }
    unpoll_socket(uplink);
    wire_client_free(uplink->client);
    free(uplink);
}
