/* SPDX-License-Identifier: Apache-2.0 */
/* guard_link.c: see guard_link.h. */
#include "host/guard/guard_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void guard_link_init(struct guard_link *link)
{
    *link = (struct guard_link){.listener = -1};
}

void guard_link_release(struct guard_link *link)
{
    for (int i = 0; i < link->n_peers; i++) {
        close(link->peers[i]);
    }
    if (link->listener >= 0) {
        close(link->listener);
    }
    guard_link_init(link);
}

/* The newest connections are served, so that an agent that died silently does not block
 * its successor. */
void guard_link_add(struct guard_link *link, int peer)
{
    if (link->n_peers == GUARD_LINK_PEERS) {
        close(link->peers[0]);
        memmove(link->peers, link->peers + 1, sizeof(int) * (GUARD_LINK_PEERS - 1));
        link->n_peers--;
    }
    link->peers[link->n_peers++] = peer;
}

static bool is_peer(const struct guard_link *link, int peer)
{
    for (int i = 0; i < link->n_peers; i++) {
        if (link->peers[i] == peer) {
            return true;
        }
    }
    return false;
}

static void drop(struct guard_link *link, int peer)
{
    for (int i = 0; i < link->n_peers; i++) {
        if (link->peers[i] == peer) {
            close(peer);
            link->peers[i] = link->peers[--link->n_peers];
            return;
        }
    }
}

int guard_link_listen(struct guard_link *link, struct err *err)
{
    return run_socket_listen(RUN_DIR_SOCKET, GUARD_LINK_PEERS, &link->listener, err);
}

static bool send_record(int peer, const char *text, size_t length)
{
    return send(peer, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

void guard_link_push(struct guard_link *link, const struct guard_record *record)
{
    char text[GUARD_RECORD_MAX];
    size_t length = guard_record_format(record, text);
    for (int i = link->n_peers - 1; i >= 0; i--) {
        if (!send_record(link->peers[i], text, length)) {
            drop(link, link->peers[i]);
        }
    }
}

int guard_link_polls(const struct guard_link *link, struct pollfd *polls)
{
    int n_polls = 0;
    polls[n_polls++] = (struct pollfd){.fd = link->listener, .events = POLLIN};
    for (int i = 0; i < link->n_peers; i++) {
        polls[n_polls++] = (struct pollfd){.fd = link->peers[i], .events = POLLIN};
    }
    return n_polls;
}

static void accept_peer(struct guard_link *link, const struct guard_record *record)
{
    int peer = run_socket_accept(link->listener);
    if (peer < 0) {
        return;
    }
    char text[GUARD_RECORD_MAX];
    size_t length = guard_record_format(record, text);
    if (send_record(peer, text, length)) {
        guard_link_add(link, peer);
    } else {
        close(peer);
    }
}

void guard_link_serve(struct guard_link *link, const struct pollfd *polls, int n_polls,
                      const struct guard_record *record,
                      guard_link_request_fn on_request, void *arg)
{
    for (int i = 0; i < n_polls; i++) {
        int peer = polls[i].fd;
        /* A request before this one may have closed it. */
        if (polls[i].revents == 0 || !is_peer(link, peer)) {
            continue;
        }
        struct guard_request request = {0};
        ssize_t got = recv(peer, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
        if (got == (ssize_t)sizeof(request) || got == GUARD_REQUEST_PLAIN) {
            on_request(arg, &request);
        } else if (got >= 0 || (errno != EAGAIN && errno != EINTR)) {
            drop(link, peer);
        }
    }
    if (n_polls > 0 && polls[0].revents != 0) {
        accept_peer(link, record);
    }
}
