/* SPDX-License-Identifier: Apache-2.0 */
/* forkserver.c: see guard.h. */
#include "host/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard/guard_link.h"
#include "host/kernel/kernel.h"
#include "host/run_dir/run_dir.h"

/* Receives one packet: `path`, and the descriptor that came with it (-1: none). Returns
 * false at the end of the connection. */
static bool receive(int host, char *path, size_t size, int *agent)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec text = {.iov_base = path, .iov_len = size - 1};
    struct msghdr packet = {.msg_iov = &text,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t length;
    do {
        length = recvmsg(host, &packet, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    *agent = -1;
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    const struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
    if (head != NULL && head->cmsg_level == SOL_SOCKET &&
        head->cmsg_type == SCM_RIGHTS) {
        memcpy(agent, CMSG_DATA(head), sizeof(*agent));
    }
    return true;
}

/* Its sublet-host was killed: a successor may be making a directory of that name. */
static bool is_closed(int agent)
{
    struct pollfd polls = {.fd = agent};
    return poll(&polls, 1, 0) != 0;
}

static void report_failure(int agent, int error)
{
    struct guard_record record = {.phase = RUN_ENDED, .end = RUN_END_FAILED};
    struct guard_link link;
    char text[GUARD_RECORD_TEXT_SIZE];
    snprintf(text, sizeof(text), "cannot start a guard: %s", strerror(error));
    guard_record_set_text(&record, text);
    record.end_ms = kernel_clock_wall_ms();
    guard_link_init(&link);
    guard_link_add(&link, agent);
    guard_link_push(&link, &record);
    guard_link_release(&link);
}

static int guard(int host, const char *path, int agent)
{
    /* Above the descriptor of the lock: see RUN_DIR_AGENT_FD. */
    int above = fcntl(agent, F_DUPFD_CLOEXEC, RUN_DIR_AGENT_FD);
    close(agent);
    close(host);
    signal(SIGCHLD, SIG_DFL);
    return above < 0 ? 1 : guard_loop_main(path, above);
}

int forkserver_main(int host)
{
    char path[PATH_MAX];
    int agent;
    signal(SIGCHLD, SIG_IGN); /* guards are not waited for */
    while (receive(host, path, sizeof(path), &agent)) {
        if (agent < 0 || is_closed(agent)) {
            if (agent >= 0) {
                close(agent);
            }
            continue;
        }
        pid_t pid = fork();
        if (pid == 0) {
            return guard(host, path, agent);
        }
        if (pid < 0) {
            report_failure(agent, errno);
        } else {
            close(agent);
        }
    }
    return 0;
}
