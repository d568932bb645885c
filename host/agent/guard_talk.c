/* SPDX-License-Identifier: Apache-2.0 */
/* guard_talk.c: see guard_talk.h. */
#include "host/agent/guard_talk.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int run_socket_connect(int dir, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* A run's path may be longer than a socket's address takes. */
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir,
             name);
    int link = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link >= 0 &&
        connect(link, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        close(link);
        return -1;
    }
    return link;
}

bool guard_talk_send(int link, const struct guard_request *order)
{
    return link >= 0 && send(link, order, sizeof(*order),
                             MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*order);
}

enum guard_client_event guard_talk_receive(int link, struct guard_record *record)
{
    char text[GUARD_RECORD_MAX];
    ssize_t length = recv(link, text, sizeof(text), MSG_DONTWAIT);
    if (length < 0 && errno == ECONNRESET) {
        /* It ended with an order of ours unread. What it said is still there. */
        length = recv(link, text, sizeof(text), MSG_DONTWAIT);
    }
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
        return GUARD_CLIENT_NOTHING;
    }
    if (length <= 0 || guard_record_parse(text, (size_t)length, record, NULL) != 0) {
        return GUARD_CLIENT_GONE;
    }
    return GUARD_CLIENT_RECORD;
}
