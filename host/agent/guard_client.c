/* SPDX-License-Identifier: Apache-2.0 */
/* guard_client.c: see guard_client.h. */
#include "host/agent/guard_client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the program */

int guard_client_find_program(char *path, size_t size, struct err *err)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL) {
        return err_set(err, ERR_IO, "cannot find the directory of this program");
    }
    *slash = '\0';
    snprintf(path, size, "%s/sublet-guard", own);
    if (access(path, X_OK) == 0) {
        return 0;
    }
    snprintf(path, size, "%s/../libexec/sublet/sublet-guard", own);
    if (access(path, X_OK) == 0) {
        return 0;
    }
    return err_set(err, ERR_NOT_FOUND,
                   "no sublet-guard in \"%s\" or \"../libexec/sublet\"", own);
}

static void prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes,
                    int link)
{
    sigset_t none;
    sigset_t standard;
    sigemptyset(&none);
    sigfillset(&standard);
    posix_spawn_file_actions_init(files);
    posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO);
    if (link >= 0) {
        posix_spawn_file_actions_adddup2(files, link, RUN_DIR_AGENT_FD_AT_START);
    }
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &standard);
    posix_spawnattr_setflags(attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const char *program, const char *option, const char *directory,
                 int link, struct err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    const char *arguments[] = {program, directory, NULL, NULL};
    if (option != NULL) {
        arguments[1] = option;
        arguments[2] = directory;
    }
    prepare(&files, &attributes, link);
    pid_t pid;
    int error = posix_spawn(&pid, program, &files, &attributes,
                            (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error == 0) {
        return 0;
    }
    return err_set(err, error == EAGAIN ? ERR_FULL : ERR_IO, "cannot start a guard: %s",
                   strerror(error));
}

int guard_client_spawn(const char *program, const char *option, const char *directory,
                       int *link, struct err *err)
{
    int ends[2] = {-1, -1};
    if (link == NULL) {
        return spawn(program, option, directory, -1, err);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        return err_set(err, ERR_FULL, "cannot connect a guard: %s", strerror(errno));
    }
    int code = spawn(program, option, directory, ends[1], err);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        return code;
    }
    *link = ends[0];
    return 0;
}

void guard_client_reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

/* ---- the fork server */

void guard_client_init(struct guard_client *client, const char *program)
{
    *client = (struct guard_client){.program = program, .forkserver = -1};
}

void guard_client_release(struct guard_client *client)
{
    if (client->forkserver >= 0) {
        close(client->forkserver);
        client->forkserver = -1;
    }
}

static bool send_descriptor(int link, const char *path, int end)
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

/* Asks the fork server for a guard; false if it cannot take the packet now. */
static bool request_fork(struct guard_client *client, const char *path, int *link)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) !=
        0) {
        return false;
    }
    bool is_sent = send_descriptor(client->forkserver, path, ends[1]);
    if (!is_sent && errno != EAGAIN) {
        guard_client_release(client); /* it is gone: the next start makes another one */
    }
    close(ends[1]);
    if (is_sent) {
        *link = ends[0];
    } else {
        close(ends[0]);
    }
    return is_sent;
}

int guard_client_start(struct guard_client *client, const char *runs, const char *name,
                       int *link, struct err *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", runs, name) >= (int)sizeof(path)) {
        return err_set(err, ERR_BOUNDS, "the run's path is too long");
    }
    bool is_there = client->forkserver >= 0 ||
                    guard_client_spawn(client->program, "--nursery", runs,
                                       &client->forkserver, err) == 0;
    if (is_there && request_fork(client, path, link)) {
        return 0;
    }
    return guard_client_spawn(client->program, NULL, path, link, err);
}

/* ---- requests and records */

bool guard_client_send(int link, const struct guard_request *request)
{
    bool is_plain = request->run_limit_ms == 0 && request->mem_limit_kib == 0;
    size_t size = is_plain ? GUARD_REQUEST_PLAIN : sizeof(*request);
    return link >= 0 &&
           send(link, request, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

enum guard_client_event guard_client_receive(int link, struct guard_record *record)
{
    char text[GUARD_RECORD_MAX];
    ssize_t length = recv(link, text, sizeof(text), MSG_DONTWAIT);
    if (length < 0 && errno == ECONNRESET) {
        /* It ended with a request of ours unread. What it has sent is still to be
         * received. */
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
