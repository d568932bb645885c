/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.c: see crowd.h. */
#include "tests/bench/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    DRAIN_MAX = 1000,
    HELLO_AGAIN_MS = 20,
    WELCOME_S = 20,
    SESSION = 1,
};

struct site {
    struct crowd *crowd;
    int index;
    char name[16];
    struct wire_client *client;
    bool is_welcome;
};

struct crowd {
    struct bench_place *place;
    int n_sites, n_welcome;
    long n_unsent;
    int64_t reclaim_delay_ms;
    int port, http_port;
    struct site sites[CROWD_SITES_MAX];
    zmq_pollitem_t items[CROWD_SITES_MAX];
    crowd_message_fn fn;
    void *arg;
};

static void must(int code, const struct err *err)
{
    if (code < 0) {
        bench_fail("%s", err->text);
    }
}

void crowd_say(struct crowd *crowd, int site, struct msg *msg)
{
    struct err err;
    msg->session = SESSION;
    msg->site = msg->site != NULL ? msg->site : "";
    int code = wire_client_send(crowd->sites[site].client, msg, &err);
    if (code < 0 && code != ERR_AWAY) {
        bench_fail("%s", err.text);
    }
    crowd->n_unsent += code < 0 && crowd->sites[site].is_welcome;
}

long crowd_count_unsent(const struct crowd *crowd)
{
    return crowd->n_unsent;
}

static void acknowledge(struct site *site, const struct msg *msg)
{
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = msg->contract.lease;
    ack.contract_ack.revision = msg->contract.revision;
    crowd_say(site->crowd, site->index, &ack);
}

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    (void)from;
    struct site *site = arg;
    struct crowd *crowd = site->crowd;
    if (msg->kind == MSG_WELCOME) {
        crowd->n_welcome += !site->is_welcome;
        site->is_welcome = true;
        return;
    }
    if (msg->kind == MSG_ERROR) {
        bench_fail("the broker refuses: %s", msg->error.text);
    }
    if (msg->kind == MSG_CONTRACT) {
        acknowledge(site, msg);
    }
    if (crowd->fn != NULL) {
        crowd->fn(crowd->arg, site->index, msg);
    }
}

static void on_refused(void *arg, const struct peer *from, const struct err *err)
{
    (void)arg;
    (void)from;
    bench_fail("a message of the broker: %s", err->text);
}

static int drain_all(struct crowd *crowd)
{
    static const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    int count = 0;
    for (int i = 0; i < crowd->n_sites; i++) {
        count += wire_client_drain(crowd->sites[i].client, DRAIN_MAX, &broker,
                                   on_message, on_refused, &crowd->sites[i]);
    }
    return count;
}

void crowd_listen(struct crowd *crowd, int timeout_ms, crowd_message_fn fn, void *arg)
{
    crowd->fn = fn;
    crowd->arg = arg;
    /* A look at each socket is cheaper than a poll of all, which is for when all are
     * quiet. */
    if (drain_all(crowd) == 0) {
        zmq_poll(crowd->items, crowd->n_sites, timeout_ms);
        drain_all(crowd);
    }
}

static void say_hello(struct crowd *crowd, int index)
{
    const struct site *site = &crowd->sites[index];
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello = (struct msg_hello){.name = site->name,
                                   .roles = ROLE_PROVIDER | ROLE_CONSUMER,
                                   .reclaim_delay_ms = crowd->reclaim_delay_ms};
    if (!site->is_welcome) {
        crowd_say(crowd, index, &msg);
    }
}

static const char *crowd_state;

void crowd_set_state(const char *state)
{
    crowd_state = state;
}

static void write_conf(const struct bench_place *place, int n_sites, int port,
                       int http_port, const char *sections)
{
    const char *dir = place->dir;
    unlink(bench_place_path(place, "broker.conf"));
    bench_place_write(
        place, "broker.conf",
        "Begin Broker\nLISTEN = tcp://127.0.0.1:%d\nHTTP = 127.0.0.1:%d\n"
        "STATE = %s\nKEY = %s/broker.key_secret\nEnd Broker\n"
        "Begin Member\nNAME KEY_FILE ROLES MAX_LEASES\n",
        port, http_port,
        crowd_state != NULL ? crowd_state : bench_place_path(place, "broker.db"), dir);
    for (int i = 0; i < n_sites; i++) {
        bench_place_write(place, "broker.conf",
                          "s%d %s/s%d.key (provider consumer) %d\n", i, dir, i,
                          LEASES_PER_PROVIDER_MAX);
    }
    bench_place_write(place, "broker.conf", "End Member\n%s", sections);
}

static void make_keys(const struct bench_place *place, int n_sites)
{
    char name[32];
    if (access(bench_place_path(place, "broker.key"), F_OK) != 0) {
        bench_place_make_key(place, "broker");
    }
    for (int i = 0; i < n_sites; i++) {
        snprintf(name, sizeof(name), "s%d.key", i);
        if (access(bench_place_path(place, name), F_OK) != 0) {
            snprintf(name, sizeof(name), "s%d", i);
            bench_place_make_key(place, name);
        }
    }
}

static void connect_site(struct crowd *crowd, int index, int port)
{
    struct site *site = &crowd->sites[index];
    struct wire_key own, broker;
    struct err err;
    char file[32], endpoint[64];
    snprintf(site->name, sizeof(site->name), "s%d", index);
    snprintf(file, sizeof(file), "s%d.key_secret", index);
    snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", port);
    site->crowd = crowd;
    site->index = index;
    must(wire_key_load(bench_place_path(crowd->place, file), &own, &err), &err);
    must(wire_key_load(bench_place_path(crowd->place, "broker.key"), &broker, &err),
         &err);
    must(wire_client_new(endpoint, &own, broker.public_z85, &site->client, &err), &err);
    crowd->items[index] =
        (zmq_pollitem_t){.socket = zsock_resolve(wire_client_socket(site->client)),
                         .events = ZMQ_POLLIN};
}

struct crowd *crowd_new(struct bench_place *place, int n_sites,
                        int64_t reclaim_delay_ms, const char *sections)
{
    struct crowd *crowd = mem_alloc(1, sizeof(*crowd));
    int port = bench_free_port();
    crowd->place = place;
    crowd->n_sites = n_sites;
    crowd->reclaim_delay_ms = reclaim_delay_ms;
    make_keys(place, n_sites);
    crowd->port = port;
    crowd->http_port = bench_free_port();
    write_conf(place, n_sites, port, crowd->http_port, sections);
    unlink(bench_place_path(place, "broker.db"));
    unlink(bench_place_path(place, "broker.db-wal"));
    unlink(bench_place_path(place, "broker.db-commit"));
    bench_place_start(place, "sublet-broker", "broker");
    for (int i = 0; i < n_sites; i++) {
        connect_site(crowd, i, port);
    }
    double until = bench_now() + WELCOME_S;
    while (crowd->n_welcome < n_sites) {
        for (int i = 0; i < n_sites; i++) {
            say_hello(crowd, i);
        }
        double again = bench_now() + HELLO_AGAIN_MS / 1e3;
        while (crowd->n_welcome < n_sites && bench_now() < again) {
            crowd_listen(crowd, HELLO_AGAIN_MS, NULL, NULL);
        }
        if (bench_now() > until) {
            bench_fail("the broker welcomes %d of %d sites", crowd->n_welcome, n_sites);
        }
    }
    return crowd;
}

int crowd_port(const struct crowd *crowd)
{
    return crowd->port;
}

int crowd_http_port(const struct crowd *crowd)
{
    return crowd->http_port;
}

void crowd_free(struct crowd *crowd)
{
    for (int i = 0; i < crowd->n_sites; i++) {
        wire_client_free(crowd->sites[i].client);
    }
    bench_place_stop_last(crowd->place);
    free(crowd);
}
