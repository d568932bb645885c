/* SPDX-License-Identifier: Apache-2.0 */
/* guard_client.c: see guard_client.h. */
#include "host/agent/guard_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run_dir/run_dir.h"

extern char **environ;

int guard_client_find_program(char *path, size_t size, struct err *err)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL) {
        return err_set(err, ERR_IO, "cannot tell where this program lies");
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

static int spawn(const char *guard, const char *option, const char *directory, int link,
                 struct err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    const char *arguments[] = {guard, directory, NULL, NULL};
    if (option != NULL) {
        arguments[1] = option;
        arguments[2] = directory;
    }
    prepare(&files, &attributes, link);
    pid_t pid;
    int error = posix_spawn(&pid, guard, &files, &attributes,
                            (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error == 0) {
        return 0;
    }
    return err_set(err, error == EAGAIN ? ERR_FULL : ERR_IO, "cannot start a guard: %s",
                   strerror(error));
}

int guard_client_spawn(const char *guard, const char *option, const char *directory,
                       int *link, struct err *err)
{
    int ends[2] = {-1, -1};
    if (link == NULL) {
        return spawn(guard, option, directory, -1, err);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        return err_set(err, ERR_FULL, "cannot connect a guard: %s", strerror(errno));
    }
    int code = spawn(guard, option, directory, ends[1], err);
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
