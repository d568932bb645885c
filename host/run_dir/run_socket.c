/* SPDX-License-Identifier: Apache-2.0 */
/* run_socket.c: see run_dir.h. */
#include "host/run_dir/run_dir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int run_socket_listen(const char *name, int backlog, int *listener, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t umask_before = umask(0177);
    bool is_bound =
        made >= 0 &&
        bind(made, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(made, backlog) == 0;
    int error = errno;
    umask(umask_before);
    if (!is_bound) {
        if (made >= 0) {
            close(made);
        }
        return err_set(err, ERR_IO, "cannot listen in the run's directory: %s",
                       strerror(error));
    }
    *listener = made;
    return 0;
}

int run_socket_accept(int listener)
{
    int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct ucred who;
    socklen_t size = sizeof(who);
    if (peer >= 0 && (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 ||
                      (who.uid != 0 && who.uid != geteuid()))) {
        close(peer);
        return -1;
    }
    return peer;
}

int run_socket_connect(int dir, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* The path of a run may be too long for a socket's address. */
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
