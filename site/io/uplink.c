/* SPDX-License-Identifier: Apache-2.0 */
/* uplink.c: see uplink.h. */
#include "site/io/uplink.h"

#include <stdlib.h>
#include <string.h>

#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"

/* More messages of a batch would make the first of them wait. */
enum { MESSAGES_PER_BATCH = 256, LOOK_MS = 500 };

static const struct wire_words words = {
    .peer = "the broker",
    .endpoint = "BROKER",
    .peer_key = "BROKER_KEY",
    .list = "KEY_FILE in this site's Member row at the broker",
};

struct uplink {
    struct shell *shell;
    struct wire_client *client;
    zloop_t *loop;
    struct site *site;
    int timer_id;
};

static int on_look(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id;
    struct uplink *uplink = arg;
    site_set_trouble(uplink->site, wire_client_report(uplink->client, daemon_now_ms()));
    return 0;
}

static int64_t collect(void *arg)
{
    static const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    struct uplink *uplink = arg;
    wire_client_drain(uplink->client, MESSAGES_PER_BATCH, &broker, shell_take_message,
                      shell_refuse_message, uplink->shell);
    return wire_client_ready_ms(uplink->client);
}

static int send_to_broker(void *arg, const struct peer *to, const struct msg *msg,
                          struct err *err)
{
    (void)to;
    struct uplink *uplink = arg;
    return wire_client_send(uplink->client, msg, err);
}

/* Where that fails, the site asks again when the broker has been silent for longer. */
static void reconnect(void *arg, struct effect *effect, struct effects *more)
{
    (void)effect, (void)more;
    struct uplink *uplink = arg;
    struct err err;
    shell_remove_source(uplink->shell, wire_client_socket(uplink->client));
    if (wire_client_reopen(uplink->client, &err) < 0) {
        log_line(LOG_LEVEL_ERROR, "the connection to the broker is not reopened: %s",
                 err.text);
        return;
    }
    shell_add_source(uplink->shell, wire_client_socket(uplink->client), collect,
                     uplink);
}

int uplink_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
               struct site *site, struct uplink **uplink, struct err *err)
{
    struct wire_key key, broker_key;
    struct uplink *made = mem_alloc(1, sizeof(*made));
    made->shell = shell;
    made->loop = loop;
    made->site = site;
    int rc = wire_key_load(setup->key, &key, err);
    if (rc == 0) {
        rc = wire_key_load(setup->broker_key, &broker_key, err);
    }
    if (rc == 0) {
        rc = wire_client_new(setup->broker, &key, broker_key.public_z85, &made->client,
                             err);
    }
    if (rc == 0) {
        rc = wire_client_explain(made->client, &words, err);
    }
    explicit_bzero(&key, sizeof(key));
    if (rc < 0) {
        wire_client_free(made->client);
        free(made);
        return rc;
    }
    wire_client_use_budgets(made->client);
    shell_add_source(shell, wire_client_socket(made->client), collect, made);
    shell_route(shell, PEER_BROKER, send_to_broker, made);
    shell_handle(shell, EFFECT_RECONNECT, reconnect, made);
    made->timer_id = zloop_timer(loop, LOOK_MS, 0, on_look, made);
    *uplink = made;
    return 0;
}

void uplink_free(struct uplink *uplink)
{
    if (uplink == NULL) {
        return;
    }
    zloop_timer_end(uplink->loop, uplink->timer_id);
    shell_remove_source(uplink->shell, wire_client_socket(uplink->client));
    wire_client_free(uplink->client);
    free(uplink);
}
