/* SPDX-License-Identifier: Apache-2.0 */
/* http_links.c: see http_links.h. */
#include "sys/http/http_links.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <utlist.h>

#include "base/arena.h"
#include "sys/daemon.h"

struct http_links {
    struct MHD_Connection *connection;
    int fd;
    unsigned char address[16]; /* of IPv4: the first four bytes */
    enum http_links_phase phase;
    int64_t since_ms;
    bool is_shut;
    struct http_links *prev, *next; /* in the order of their connections */
};

/* ---------------------------------------------------------------- connections */

static void read_address(const struct sockaddr *from, unsigned char to[16])
{
    if (from->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, from, sizeof(in));
        memcpy(to, &in.sin_addr, sizeof(in.sin_addr));
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, from, sizeof(in6));
        memcpy(to, &in6.sin6_addr, sizeof(in6.sin6_addr));
    }
}

static struct http_links *add(struct MHD_Connection *connection)
{
    struct http_links *link = mem_alloc(1, sizeof(*link));
    const union MHD_ConnectionInfo *info;
    link->connection = connection;
    link->since_ms = daemon_now_ms();
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    link->fd = info != NULL ? info->connect_fd : -1;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info != NULL && info->client_addr != NULL) {
        read_address(info->client_addr, link->address);
    }
    return link;
}

void http_links_note(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_ConnectionNotificationCode code)
{
    struct http_links **links = arg;
    struct http_links *link = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        link = add(connection);
        DL_APPEND(*links, link);
        *context = link;
    } else if (link != NULL) {
        DL_DELETE(*links, link);
        free(link);
        *context = NULL;
    }
}

static struct http_links *link_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

void http_links_begin(struct MHD_Connection *connection, enum http_links_phase phase,
                      int64_t now_ms)
{
    struct http_links *link = link_of(connection);
    if (link != NULL) {
        link->phase = phase;
        link->since_ms = now_ms;
    }
}

/* ---------------------------------------------------------------- bounds */

static void shut(struct http_links *link)
{
    link->is_shut = true;
    shutdown(link->fd, SHUT_RDWR);
}

void http_links_end_late(struct http_links *links, int64_t now_ms)
{
    struct http_links *link;
    DL_FOREACH (links, link) {
        int64_t most_ms =
            link->phase == HTTP_LINKS_REQUEST ? HTTP_REQUEST_MS : HTTP_ANSWER_MS;
        if (link->phase != HTTP_LINKS_STREAM && !link->is_shut &&
            now_ms - link->since_ms > most_ms) {
            shut(link);
        }
    }
}

/* Of that address, those that go on. */
static int count_streams(struct http_links *links, const unsigned char address[16])
{
    struct http_links *link;
    int count = 0;
    DL_FOREACH (links, link) {
        count += link->phase == HTTP_LINKS_STREAM && !link->is_shut &&
                 memcmp(link->address, address, sizeof(link->address)) == 0;
    }
    return count;
}

struct MHD_Connection *http_links_give_stream(struct http_links *links,
                                              struct MHD_Connection *connection)
{
    const struct http_links *own = link_of(connection);
    struct http_links *link, *found = NULL;
    int most = own != NULL ? count_streams(links, own->address) + 2 : 0;
    DL_FOREACH (links, link) {
        if (link->phase != HTTP_LINKS_STREAM || link->is_shut) {
            continue;
        }
        int count = count_streams(links, link->address);
        if (own != NULL && count >= most) {
            most = count;
            found = link;
        }
    }
    if (found == NULL) {
        return NULL;
    }
    shut(found);
    return found->connection;
}
