/* SPDX-License-Identifier: Apache-2.0 */
/* forkserver_client.c: see forkserver_client.h. */
#include "host/agent/forkserver_client.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/agent/guard_client.h"

void forkserver_client_init(struct forkserver_client *nursery, const char *guard)
{
    *nursery = (struct forkserver_client){.guard = guard, .link = -1};
}

void forkserver_client_release(struct forkserver_client *nursery)
{
    if (nursery->link >= 0) {
        close(nursery->link);
        nursery->link = -1;
    }
}

static bool send_order(int link, const char *path, int end)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec text = {.iov_base = (char *)(uintptr_t)path, .iov_len = strlen(path)};
    struct msghdr packet = {.msg_iov = &text,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(end));
    memcpy(CMSG_DATA(head), &end, sizeof(end));
    return sendmsg(link, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

/* Hands the order to the nursery; false where it cannot take it now. */
static bool ask(struct forkserver_client *nursery, const char *path, int *link)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) !=
        0) {
        return false;
    }
    bool is_sent = send_order(nursery->link, path, ends[1]);
    if (!is_sent && errno != EAGAIN) {
        forkserver_client_release(nursery); /* it is gone: another one the next time */
    }
    close(ends[1]);
    if (is_sent) {
        *link = ends[0];
    } else {
        close(ends[0]);
    }
    return is_sent;
}

int forkserver_client_start(struct forkserver_client *nursery, const char *runs,
                            const char *name, int *link, struct err *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", runs, name) >= (int)sizeof(path)) {
        return err_set(err, ERR_BOUNDS, "the run's path is too long");
    }
    bool is_there =
        nursery->link >= 0 ||
        guard_client_spawn(nursery->guard, "--nursery", runs, &nursery->link, err) == 0;
    if (is_there && ask(nursery, path, link)) {
        return 0;
    }
    return guard_client_spawn(nursery->guard, NULL, path, link, err);
}
