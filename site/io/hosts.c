/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.c: see hosts.h. Both sockets number their connections from 1: the
 * site gets each number doubled, and the socket in the last bit. */
#include "site/io/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"

enum { HERE, AWAY, N_SOCKETS };
/* More messages of a batch would make the first of them wait. */
enum { MESSAGES_PER_BATCH = 256 };

struct host_socket {
    struct hosts *hosts;
    uint64_t tag;               /* HERE or AWAY */
    struct wire_server *server; /* NULL: there is none */
};

struct host_key {
    char public_z85[41];
    const char *name; /* borrowed; "": of all hosts */
};

struct host_keys {
    struct host_key *items;
    int count;
};

struct hosts {
    zloop_t *loop;
    struct shell *shell;
    struct host_socket sockets[N_SOCKETS];
    char own_key[41];      /* public; "": there is no LISTEN */
    struct host_keys keys; /* that are let in */
    int watch_id;          /* the timer of the connections' bounds; -1: none */
};

char *hosts_endpoint(const char *spool)
{
    static const char format[] = "ipc://%s/hosts.sock";
    size_t size = strlen(spool) + sizeof(format);
    char *endpoint = mem_alloc(size, 1);
    snprintf(endpoint, size, format, spool);
    return endpoint;
}

static struct peer tagged(const struct peer *from, uint64_t tag)
{
    struct peer peer = *from;
    peer.link = from->link << 1 | tag;
    return peer;
}

static void take_message(void *arg, const struct peer *from, const struct msg *msg)
{
    const struct host_socket *socket = arg;
    struct peer peer = tagged(from, socket->tag);
    shell_take_message(socket->hosts->shell, &peer, msg);
}

static void refuse_message(void *arg, const struct peer *from, const struct err *err)
{
    const struct host_socket *socket = arg;
    struct peer peer = tagged(from, socket->tag);
    shell_refuse_message(socket->hosts->shell, &peer, err);
}

static int64_t collect(void *arg)
{
    struct host_socket *socket = arg;
    wire_server_drain(socket->server, MESSAGES_PER_BATCH, take_message, refuse_message,
                      socket);
    return wire_server_ready_ms(socket->server);
}

static int on_zap(zloop_t *loop, zsock_t *zsock, void *arg)
{
    (void)loop;
    (void)zsock;
    struct host_socket *socket = arg;
    wire_server_zap(socket->server);
    return 0;
}

static int on_watch(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct hosts *hosts = arg;
    wire_server_watch(hosts->sockets[AWAY].server, daemon_now_ms());
    return 0;
}

static int send_to_host(void *arg, const struct peer *to, const struct msg *msg,
                        struct err *err)
{
    struct hosts *hosts = arg;
    struct wire_server *server = hosts->sockets[to->link & 1].server;
    if (server == NULL) {
        return err_set(err, ERR_AWAY, "host \"%s\" is not connected", to->name);
    }
    struct peer peer = *to;
    peer.link = to->link >> 1;
    return wire_server_send(server, &peer, msg, err);
}

/* The directory lets jobs' users through to their own; the socket is the daemon's. */
static int open_here(struct hosts *hosts, const struct site_setup *setup,
                     struct err *err)
{
    char *endpoint = hosts_endpoint(setup->spool);
    mode_t own_umask = umask(0177);
    int rc =
        wire_server_new(endpoint, NULL, PEER_HOST, &hosts->sockets[HERE].server, err);
    umask(own_umask);
    free(endpoint);
    return rc;
}

/* ---------------------------------------------------------------- keys */

static int add_key(const struct hosts *hosts, struct host_keys *keys, const char *path,
                   const char *name, struct err *err)
{
    struct wire_key key;
    int rc = wire_key_load(path, &key, err);
    if (rc < 0) {
        return rc;
    }
    if (strcmp(key.public_z85, hosts->own_key) == 0) {
        return err_set(err, ERR_DENIED,
                       "\"%s\" is the site's own key, which speaks for the site at the "
                       "broker: a host needs another one (sublet keygen)",
                       path);
    }
    for (int i = 0; i < keys->count; i++) {
        if (strcmp(key.public_z85, keys->items[i].public_z85) == 0) {
            return err_set(err, ERR_EXISTS,
                           "\"%s\" is also the key of host \"%s\": each needs its own",
                           path, keys->items[i].name);
        }
    }
    struct host_key *added = &keys->items[keys->count++];
    memcpy(added->public_z85, key.public_z85, sizeof(added->public_z85));
    added->name = name;
    explicit_bzero(&key, sizeof(key));
    return 0;
}

/* A host without a file cannot connect. */
static int add_host(const struct hosts *hosts, struct host_keys *keys,
                    const struct site_setup *setup, const struct site_host *host,
                    struct err *err)
{
    struct arena arena;
    arena_init_small(&arena);
    const char *path = arena_printf(&arena, "%s/%s.key", setup->host_keys, host->name);
    int rc = 0;
    if (access(path, F_OK) == 0) {
        rc = add_key(hosts, keys, path, host->name, err);
    } else {
        log_line(LOG_LEVEL_WARNING, "host %s cannot connect: \"%s\": %s", host->name,
                 path, strerror(errno));
    }
    arena_release(&arena);
    return rc;
}

static int load_keys(const struct hosts *hosts, const struct site_setup *setup,
                     struct host_keys *keys, struct err *err)
{
    const struct site_config *config = &setup->config;
    int rc = 0;
    *keys = (struct host_keys){
        .items = mem_alloc((size_t)config->n_hosts + 1, sizeof(*keys->items))};
    if (setup->host_key != NULL) {
        rc = add_key(hosts, keys, setup->host_key, "", err);
    }
    for (int i = 0; i < config->n_hosts && setup->host_keys != NULL && rc == 0; i++) {
        if (!config->hosts[i].is_here) {
            rc = add_host(hosts, keys, setup, &config->hosts[i], err);
        }
    }
    if (rc < 0) {
        free(keys->items);
    }
    return rc;
}

static bool has_key(const struct host_keys *keys, const char *public_z85)
{
    for (int i = 0; i < keys->count; i++) {
        if (strcmp(keys->items[i].public_z85, public_z85) == 0) {
            return true;
        }
    }
    return false;
}

int hosts_reload(struct hosts *hosts, const struct site_setup *setup, struct err *err)
{
    struct wire_server *server = hosts->sockets[AWAY].server;
    struct host_keys keys;
    if (server == NULL) {
        return 0;
    }
    int rc = load_keys(hosts, setup, &keys, err);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < hosts->keys.count; i++) {
        if (!has_key(&keys, hosts->keys.items[i].public_z85)) {
            wire_server_revoke(server, hosts->keys.items[i].public_z85);
        }
    }
    for (int i = 0; i < keys.count; i++) {
        const struct host_key *key = &keys.items[i];
        wire_server_allow(server, key->public_z85, key->name,
                          key->name[0] != '\0' ? HOST_PROOF_KEY : HOST_PROOF_SHARED);
    }
    free(hosts->keys.items);
    hosts->keys = keys;
    return 0;
}

/* ---------------------------------------------------------------- sockets */

static int open_away(struct hosts *hosts, const struct site_setup *setup,
                     struct err *err)
{
    struct wire_key key;
    struct wire_server **server = &hosts->sockets[AWAY].server;
    if (setup->key == NULL) {
        return err_set(err, ERR_STATE, "LISTEN needs KEY");
    }
    int rc = wire_key_load(setup->key, &key, err);
    if (rc == 0) {
        memcpy(hosts->own_key, key.public_z85, sizeof(hosts->own_key));
        rc = wire_server_new(setup->listen, &key, PEER_HOST, server, err);
    }
    explicit_bzero(&key, sizeof(key));
    return rc == 0 ? hosts_reload(hosts, setup, err) : rc;
}

int hosts_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
              struct hosts **hosts, struct err *err)
{
    struct hosts *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->shell = shell;
    made->watch_id = -1;
    int rc = open_here(made, setup, err);
    if (rc == 0 && setup->listen != NULL) {
        rc = open_away(made, setup, err);
    }
    for (int i = 0; i < N_SOCKETS && rc == 0; i++) {
        struct host_socket *socket = &made->sockets[i];
        socket->hosts = made;
        socket->tag = (uint64_t)i;
        if (socket->server != NULL) {
            shell_add_source(shell, wire_server_socket(socket->server), collect,
                             socket);
        }
    }
    if (rc < 0) {
        hosts_free(made);
        return rc;
    }
    if (made->sockets[AWAY].server != NULL) {
        zloop_reader(loop, wire_server_zap_socket(made->sockets[AWAY].server), on_zap,
                     &made->sockets[AWAY]);
        made->watch_id = zloop_timer(loop, WIRE_WATCH_MS, 0, on_watch, made);
    }
    shell_route(shell, PEER_HOST, send_to_host, made);
    *hosts = made;
    return 0;
}

static void close_socket(struct host_socket *socket)
{
    if (socket->server == NULL) {
        return;
    }
    shell_remove_source(socket->hosts->shell, wire_server_socket(socket->server));
    if (wire_server_zap_socket(socket->server) != NULL) {
        zloop_reader_end(socket->hosts->loop, wire_server_zap_socket(socket->server));
    }
    wire_server_free(socket->server);
}

void hosts_free(struct hosts *hosts)
{
    if (hosts == NULL) {
        return;
    }
    if (hosts->watch_id != -1) {
        zloop_timer_end(hosts->loop, hosts->watch_id);
    }
    close_socket(&hosts->sockets[HERE]);
    close_socket(&hosts->sockets[AWAY]);
    free(hosts->keys.items);
    free(hosts);
}
