/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.c: see hosts.h. Both sockets number their connections from 1: the
 * site gets each number doubled, and the socket in the last bit. */
#include "site/io/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/daemon.h"
#include "sys/wire/wire.h"

enum { HERE, AWAY, N_SOCKETS };
/* More messages of a batch would make the first of them wait. */
enum { MESSAGES_PER_BATCH = 256 };

struct host_socket {
    struct hosts *hosts;
    uint64_t tag;               /* HERE or AWAY */
    struct wire_server *server; /* NULL: there is none */
};

struct hosts {
    zloop_t *loop;
    struct shell *shell;
    struct host_socket sockets[N_SOCKETS];
    int watch_id; /* the timer of the connections' bounds; -1: none */
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

static void collect(void *arg)
{
    struct host_socket *socket = arg;
    wire_server_drain(socket->server, MESSAGES_PER_BATCH, take_message, refuse_message,
                      socket);
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

static int open_away(struct hosts *hosts, const struct site_setup *setup,
                     struct err *err)
{
    struct wire_key key, host_key;
    struct wire_server **server = &hosts->sockets[AWAY].server;
    if (setup->key == NULL) {
        return err_set(err, ERR_STATE, "LISTEN needs KEY");
    }
    int rc = wire_key_load(setup->key, &key, err);
    host_key = key; /* hosts use the site's own pair of keys without HOST_KEY */
    if (rc == 0 && setup->host_key != NULL) {
        rc = wire_key_load(setup->host_key, &host_key, err);
    }
    if (rc == 0) {
        rc = wire_server_new(setup->listen, &key, PEER_HOST, server, err);
    }
    if (rc == 0) {
        wire_server_allow(*server, host_key.public_z85, "sublet-host", 0);
    }
    explicit_bzero(&key, sizeof(key));
    explicit_bzero(&host_key, sizeof(host_key));
    return rc;
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
    free(hosts);
}
