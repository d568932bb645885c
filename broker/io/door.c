/* SPDX-License-Identifier: Apache-2.0 */
/* door.c: see door.h. */
#include "broker/io/door.h"

#include <stdlib.h>
#include <string.h>

#include "sys/daemon.h"
#include "sys/log.h"

enum { SHUT_LOG_BURST = 10, REFUSED_PER_TURN = 256 };

struct door {
    zloop_t *loop;
    struct wire_server *server;
    struct wire_key *keys; /* of the members */
    int n_keys;
    struct log_limit shut;
    int watch_id; /* the timer of the connections' bounds */
    bool is_refusing;
    struct arena arena;
    const char *leader; /* in the arena */
};

/* ---------------------------------------------------------------- keys */

/* A site is identified by its key, so no two members may have the same. */
static int check_key_is_new(const struct broker_setup *setup,
                            const struct wire_key *keys, int index, struct err *err)
{
    const struct broker_member *members = setup->config.members;
    for (int i = 0; i < index; i++) {
        if (strcmp(keys[i].public_z85, keys[index].public_z85) == 0) {
            return err_set(err, ERR_EXISTS,
                           "members \"%s\" and \"%s\" have the same key (%s, %s)",
                           members[i].name, members[index].name, setup->key_files[i],
                           setup->key_files[index]);
        }
    }
    return 0;
}

/* The keys of all members; NULL and an error if one is bad. */
static struct wire_key *load_keys(const struct broker_setup *setup, struct err *err)
{
    int n_members = setup->config.n_members, rc = 0;
    struct wire_key *keys = mem_alloc((size_t)n_members + 1, sizeof(*keys));
    for (int i = 0; i < n_members && rc == 0; i++) {
        rc = wire_key_load(setup->key_files[i], &keys[i], err);
        rc = rc == 0 ? check_key_is_new(setup, keys, i, err)
                     : err_prefix(err, "member \"%s\"", setup->config.members[i].name);
    }
    if (rc < 0) {
        free(keys);
        return NULL;
    }
    return keys;
}

static bool has_key(const struct wire_key *keys, int n_keys, const char *public_z85)
{
    for (int i = 0; i < n_keys; i++) {
        if (strcmp(keys[i].public_z85, public_z85) == 0) {
            return true;
        }
    }
    return false;
}

int door_allow(struct door *door, const struct broker_setup *setup, struct err *err)
{
    const struct broker_member *members = setup->config.members;
    int n_members = setup->config.n_members;
    struct wire_key *keys = load_keys(setup, err);
    if (keys == NULL) {
        return err->code;
    }
    for (int i = 0; i < door->n_keys; i++) {
        if (!has_key(keys, n_members, door->keys[i].public_z85)) {
            wire_server_revoke(door->server, door->keys[i].public_z85);
        }
    }
    for (int i = 0; i < n_members; i++) {
        wire_server_allow(door->server, keys[i].public_z85, members[i].name,
                          members[i].roles);
    }
    free(door->keys);
    door->keys = keys;
    door->n_keys = n_members;
    return 0;
}

/* ---------------------------------------------------------------- refusing */

/* A site asks for a session again, and hears which broker leads. */
static void refuse(void *arg, const struct peer *from, const struct msg *msg)
{
    const struct door *door = arg;
    struct err err;
    char text[512];
    struct msg answer = {.session = msg->session, .site = ""};
    if (msg->kind == MSG_HELLO) {
        answer.kind = MSG_WELCOME;
        answer.welcome = (struct msg_welcome){.text = door->leader, .is_standby = true};
    } else {
        bool has_leader = door->leader[0] != '\0';
        snprintf(text, sizeof(text), "this broker is a standby: %s leads",
                 has_leader ? door->leader : "no broker");
        answer.kind = MSG_ERROR;
        answer.error =
            (struct msg_error){.code = from->kind == PEER_SITE ? ERR_STALE : ERR_AWAY,
                               .text = text,
                               .about = (int)msg->kind};
    }
    (void)wire_server_send(door->server, from, &answer, &err); /* it asks again */
}

static int on_message(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop, (void)socket;
    struct door *door = arg;
    wire_server_drain(door->server, REFUSED_PER_TURN, refuse, NULL, door);
    return 0;
}

void door_refuse(struct door *door, const char *leader)
{
    arena_clear(&door->arena);
    door->leader = arena_str(&door->arena, leader);
    if (!door->is_refusing) {
        door->is_refusing = true;
        zloop_reader(door->loop, wire_server_socket(door->server), on_message, door);
    }
    (void)on_message(door->loop, NULL, door); /* what waits for its rate limit */
}

static void stop_refusing(struct door *door)
{
    if (door->is_refusing) {
        zloop_reader_end(door->loop, wire_server_socket(door->server));
        door->is_refusing = false;
    }
}

struct wire_server *door_take(struct door *door)
{
    stop_refusing(door);
    return door->server;
}

/* ---------------------------------------------------------------- life */

static int on_zap(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop;
    (void)socket;
    struct door *door = arg;
    wire_server_zap(door->server);
    return 0;
}

static int on_watch(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct door *door = arg;
    uint64_t before = wire_server_count_shut(door->server);
    wire_server_watch(door->server, daemon_now_ms());
    uint64_t n_shut = wire_server_count_shut(door->server) - before;
    if (n_shut > 0 && log_limit_pass(&door->shut, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING,
                 "%llu connections are shut down: silent, too many, or their message "
                 "does not end",
                 (unsigned long long)n_shut);
    }
    return 0;
}

static int open_server(struct door *door, const struct broker_setup *setup,
                       struct err *err)
{
    struct wire_key key;
    int rc = wire_key_load(setup->key, &key, err);
    if (rc == 0) {
        rc = wire_server_new(setup->listen, &key, PEER_SITE, &door->server, err);
    }
    explicit_bzero(&key, sizeof(key));
    return rc == 0 ? door_allow(door, setup, err) : rc;
}

int door_new(zloop_t *loop, const struct broker_setup *setup, struct door **door,
             struct err *err)
{
    struct door *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->shut.burst = SHUT_LOG_BURST;
    arena_init(&made->arena);
    if (open_server(made, setup, err) < 0) {
        door_free(made);
        return err->code;
    }
    zloop_reader(loop, wire_server_zap_socket(made->server), on_zap, made);
    made->watch_id = zloop_timer(loop, WIRE_WATCH_MS, 0, on_watch, made);
    *door = made;
    return 0;
}

void door_free(struct door *door)
{
    if (door == NULL) {
        return;
    }
    if (door->watch_id != 0) {
        stop_refusing(door);
        zloop_reader_end(door->loop, wire_server_zap_socket(door->server));
        zloop_timer_end(door->loop, door->watch_id);
    }
    wire_server_free(door->server);
    arena_release(&door->arena);
    free(door->keys);
    free(door);
}
