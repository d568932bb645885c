/* SPDX-License-Identifier: Apache-2.0 */
/* uplink.c: see uplink.h. */
#include "site/io/uplink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"

/* More messages of a batch would make the first of them wait. */
enum {
    MESSAGES_PER_BATCH = 256,
    LOOK_MS = 100, /* "at once" */
    ENDPOINT_SIZE = 256,
    PAUSE_MS = 500, /* between two brokers once none of them has been found to lead */
};

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
    int n_moves;     /* since a session was up */
    int64_t move_ms; /* when another broker is tried; INT64_MAX: this one is kept */
    char wanted[ENDPOINT_SIZE]; /* its endpoint, as a standby gave it; "": the next */
};

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

/* ---------------------------------------------------------------- moving */

/* Not every broker has been tried since a session was up. */
static bool is_prompt(const struct uplink *uplink)
{
    return uplink->n_moves <= wire_client_count_choices(uplink->client);
}

/* Where that fails, the site asks again when the broker has been silent for longer. */
static void move(struct uplink *uplink)
{
    struct err err;
    if (wire_client_socket(uplink->client) != NULL) {
        shell_remove_source(uplink->shell, wire_client_socket(uplink->client));
    }
    bool has_choice = wire_client_count_choices(uplink->client) > 1;
    int rc = has_choice ? wire_client_move(uplink->client, uplink->wanted, &err)
                        : wire_client_reopen(uplink->client, &err);
    uplink->move_ms = INT64_MAX;
    uplink->n_moves++;
    if (rc < 0) {
        log_line(LOG_LEVEL_ERROR, "the connection to the broker is not reopened: %s",
                 err.text);
        return;
    }
    if (has_choice && is_prompt(uplink)) {
        log_line(LOG_LEVEL_INFO, "the broker at %s is tried",
                 wire_client_endpoint(uplink->client));
    }
    shell_add_source(uplink->shell, wire_client_socket(uplink->client), collect,
                     uplink);
}

/* Each broker is tried at once, and once all of them have been tried, with pauses. A
 * standby that refuses again meanwhile does not make the pause longer. */
static void plan_move(struct uplink *uplink, const char *wanted)
{
    snprintf(uplink->wanted, sizeof(uplink->wanted), "%s", wanted);
    if (is_prompt(uplink)) {
        move(uplink);
    } else if (uplink->move_ms == INT64_MAX) {
        uplink->move_ms = daemon_now_ms() + PAUSE_MS;
    }
}

static void reconnect(void *arg, struct effect *effect, struct effects *more)
{
    (void)more;
    plan_move(arg, effect->reconnect.endpoint);
}

static int on_look(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id;
    struct uplink *uplink = arg;
    int64_t now_ms = daemon_now_ms();
    if (site_is_connected(uplink->site)) {
        uplink->n_moves = 0;
        uplink->move_ms = INT64_MAX; /* it has answered meanwhile */
    }
    if (now_ms >= uplink->move_ms) {
        move(uplink);
    } else if (uplink->move_ms == INT64_MAX &&
               wire_client_count_choices(uplink->client) > 1 &&
               wire_client_has_failed(uplink->client, now_ms)) {
        plan_move(uplink, "");
    }
    site_set_trouble(uplink->site, wire_client_report(uplink->client, now_ms));
    return 0;
}

/* ---------------------------------------------------------------- life */

/* The brokers in their order; a key for each, or one for all (site_config.h). */
static int add_brokers(struct uplink *uplink, const struct site_setup *setup,
                       const struct wire_key *key, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < setup->n_brokers && rc == 0; i++) {
        const struct site_broker *broker = &setup->brokers[i];
        struct wire_key public;
        rc = wire_key_load(broker->key, &public, err);
        if (rc == 0 && uplink->client == NULL) {
            rc = wire_client_new(broker->endpoint, key, public.public_z85,
                                 &uplink->client, err);
        } else if (rc == 0) {
            rc = wire_client_add(uplink->client, broker->endpoint, public.public_z85,
                                 err);
        }
        explicit_bzero(&public, sizeof(public));
    }
    return rc;
}

int uplink_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
               struct site *site, struct uplink **uplink, struct err *err)
{
    struct wire_key key;
    struct uplink *made = mem_alloc(1, sizeof(*made));
    made->shell = shell;
    made->loop = loop;
    made->site = site;
    int rc = wire_key_load(setup->key, &key, err);
    made->move_ms = INT64_MAX;
    if (rc == 0) {
        rc = add_brokers(made, setup, &key, err);
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
    wire_client_use_rate_limits(made->client);
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
    if (wire_client_socket(uplink->client) != NULL) {
        shell_remove_source(uplink->shell, wire_client_socket(uplink->client));
    }
    wire_client_free(uplink->client);
    free(uplink);
}
