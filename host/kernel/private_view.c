/* SPDX-License-Identifier: Apache-2.0 */
/* private_view.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* `source`: the directory of the run that is seen there; NULL: another file system. */
static const struct {
    enum private_part part;
    const char *target, *source;
} places[] = {
    {PRIVATE_TMP, "/tmp", "tmp"},
    {PRIVATE_VAR_TMP, "/var/tmp", "var-tmp"},
    {PRIVATE_SHM, "/dev/shm", NULL},
    {PRIVATE_PROC, "/proc", NULL},
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

static bool mount_part(enum private_part part, const char *source, const char *target)
{
    switch (part) {
    case PRIVATE_SHM:
        return mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
    case PRIVATE_PROC:
        return mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                     "hidepid=2") == 0;
    case PRIVATE_TMP:
    case PRIVATE_VAR_TMP:
        return mount(source, target, NULL, MS_BIND, NULL) == 0 &&
               mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV,
                     NULL) == 0;
    case PRIVATE_ALL:
        break;
    }
    return false;
}

/* What is mounted later on the machine is seen, but not the other way round. */
static bool leave_machine(void)
{
    return unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

/* Kernels before 5.8 mount the /proc of the machine again, with its options. Root's
 * group sees all processes. */
static bool is_proc_hidden(void)
{
    return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
           setresuid(NOBODY, NOBODY, NOBODY) == 0 && access("/proc/1", F_OK) != 0;
}

static bool is_below(const char *path, const char *directory)
{
    char *real = realpath(directory, NULL);
    size_t length = real != NULL ? strlen(real) : 0;
    bool is_inside = real != NULL && strncmp(path, real, length) == 0 &&
                     (path[length] == '/' || path[length] == '\0');
    free(real);
    return is_inside;
}

/* In the forked process. */
static int try_parts(int wanted)
{
    int view = 0;
    if (!leave_machine()) {
        return 0;
    }
    for (size_t i = 0; i < PLACES; i++) {
        if ((wanted & (int)places[i].part) != 0 &&
            mount_part(places[i].part, places[i].target, places[i].target)) {
            view |= (int)places[i].part;
        }
    }
    return (view & PRIVATE_PROC) == 0 || is_proc_hidden() ? view : view & ~PRIVATE_PROC;
}

int private_view_probe(const char *spool)
{
    int wanted = 0, status = 0;
    for (size_t i = 0; i < PLACES; i++) {
        wanted |= is_below(spool, places[i].target) ? 0 : (int)places[i].part;
    }
    pid_t pid = geteuid() == 0 ? fork() : -1;
    if (pid == 0) {
        _exit(try_parts(wanted));
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

void private_view_name_shared(int view, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < PLACES; i++) {
        if ((view & (int)places[i].part) == 0 && length < size) {
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       length > 0 ? ", " : "", places[i].target);
        }
    }
}

bool private_view_prepare(int dir, int view)
{
    for (size_t i = 0; i < PLACES; i++) {
        const char *name = places[i].source;
        if (name == NULL || (view & (int)places[i].part) == 0) {
            continue;
        }
        if ((mkdirat(dir, name, 0700) != 0 && errno != EEXIST) ||
            fchmodat(dir, name, 01777, 0) != 0) {
            return false;
        }
    }
    return true;
}

int private_view_enter(int view)
{
    if (view == 0) {
        return 0;
    }
    if (!leave_machine()) {
        return errno;
    }
    for (size_t i = 0; i < PLACES; i++) {
        if ((view & (int)places[i].part) != 0 &&
            !mount_part(places[i].part, places[i].source, places[i].target)) {
            return errno;
        }
    }
    return 0;
}
