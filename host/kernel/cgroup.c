/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kernel/kernel_file.h"

bool cgroup_open(struct cgroup *cgroup, const char *path)
{
    cgroup->path = path;
    cgroup->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return cgroup->dir >= 0;
}

bool cgroup_make(struct cgroup *cgroup, const char *path)
{
    cgroup->dir = -1;
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        return false;
    }
    if (!cgroup_open(cgroup, path)) {
        return false;
    }
    if (faccessat(cgroup->dir, "cgroup.freeze", W_OK, 0) != 0) {
        cgroup_remove(cgroup); /* a kernel before 5.2 cannot freeze */
    }
    return cgroup->dir >= 0;
}

void cgroup_close(struct cgroup *cgroup)
{
    if (cgroup->dir >= 0) {
        close(cgroup->dir);
        cgroup->dir = -1;
    }
}

void cgroup_remove(struct cgroup *cgroup)
{
    if (cgroup->dir >= 0) {
        rmdir(cgroup->path);
        cgroup_close(cgroup);
    }
}

bool cgroup_freeze(const struct cgroup *cgroup, bool is_frozen)
{
    if (!kernel_file_write(cgroup->dir, "cgroup.freeze", is_frozen ? "1" : "0")) {
        return false;
    }
    return !is_frozen ||
           kernel_file_read_number(cgroup->dir, "cgroup.events", "frozen") == 1;
}

/* Kernels before 5.14 have no cgroup.kill. The caller repeats this until the cgroup is
 * empty. */
static void kill_each(const struct cgroup *cgroup)
{
    char text[KERNEL_FILE_MAX];
    if (!kernel_file_read(cgroup->dir, "cgroup.procs", text)) {
        return;
    }
    char *end = strrchr(text, '\n');
    for (char *at = text; end != NULL && at < end; at = strchr(at, '\n') + 1) {
        pid_t pid = (pid_t)strtol(at, NULL, 10);
        if (pid > 1 && pid != getpid()) {
            kill(pid, SIGKILL);
        }
    }
}

void cgroup_kill(const struct cgroup *cgroup)
{
    if (!kernel_file_write(cgroup->dir, "cgroup.kill", "1")) {
        kill_each(cgroup);
    }
}

bool cgroup_is_populated(const struct cgroup *cgroup)
{
    return kernel_file_read_number(cgroup->dir, "cgroup.events", "populated") == 1;
}

int64_t cgroup_cpu_ms(const struct cgroup *cgroup)
{
    int64_t usage_us = kernel_file_read_number(cgroup->dir, "cpu.stat", "usage_usec");
    return usage_us < 0 ? -1 : usage_us / 1000;
}
