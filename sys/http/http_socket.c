/* SPDX-License-Identifier: Apache-2.0 */
/* http_socket.c: see http_socket.h. */
#include "sys/http/http_socket.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

static int open_socket(const struct addrinfo *address, struct err *err)
{
    const int on = 1;
    int fd = socket(address->ai_family,
                    address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 ||
        listen(fd, BACKLOG) != 0) {
        err_set(err, ERR_IO, "%s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

int http_socket_listen(const char *host, const char *port, struct err *err)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int status =
        getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &hints, &found);
    int fd = -1;
    if (status != 0) {
        err_set(err, ERR_IO, "%s", gai_strerror(status));
    } else {
        fd = open_socket(found, err);
        freeaddrinfo(found);
    }
    if (fd < 0) {
        err_prefix(err, "HTTP port %s of \"%s\"", port, host);
    }
    return fd;
}
