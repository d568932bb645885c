/* SPDX-License-Identifier: Apache-2.0 */
/* guard_cgroup.c: see guard_cgroup.h. */
#include "host/guard_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX = 4096,
    FREEZE_WAIT_MS =
        1000, /* it takes less than ten; a process deep in the kernel longer */
};

bool guard_cgroup_open(struct guard_cgroup *cgroup, const char *path)
{
    cgroup->path = path;
    cgroup->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return cgroup->dir >= 0;
}

bool guard_cgroup_make(struct guard_cgroup *cgroup, const char *path)
{
    cgroup->dir = -1;
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        return false;
    }
    if (!guard_cgroup_open(cgroup, path)) {
        return false;
    }
    if (faccessat(cgroup->dir, "cgroup.freeze", W_OK, 0) != 0) {
        guard_cgroup_remove(cgroup); /* a kernel before 5.2: of no use */
    }
    return cgroup->dir >= 0;
}

void guard_cgroup_close(struct guard_cgroup *cgroup)
{
    if (cgroup->dir >= 0) {
        close(cgroup->dir);
        cgroup->dir = -1;
    }
}

void guard_cgroup_remove(struct guard_cgroup *cgroup)
{
    if (cgroup->dir >= 0) {
        rmdir(cgroup->path);
        guard_cgroup_close(cgroup);
    }
}

static bool write_file(const struct guard_cgroup *cgroup, const char *name,
                       const char *text)
{
    int file = openat(cgroup->dir, name, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_written = write(file, text, strlen(text)) > 0;
    close(file);
    return is_written;
}

static bool read_open(int file, char *text)
{
    ssize_t length = pread(file, text, FILE_MAX - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static bool read_file(const struct guard_cgroup *cgroup, const char *name, char *text)
{
    int file = openat(cgroup->dir, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_read = read_open(file, text);
    close(file);
    return is_read;
}

/* The number behind `name` and a blank, at the start of a line; -1: none. */
static int64_t number_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            return strtoll(line + length + 1, NULL, 10);
        }
    }
    return -1;
}

/* A change of cgroup.events wakes those who poll it for POLLPRI. */
static bool wait_frozen(const struct guard_cgroup *cgroup)
{
    char text[FILE_MAX];
    int file = openat(cgroup->dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_frozen = false;
    bool is_waiting = true;
    while (read_open(file, text) && !(is_frozen = number_of(text, "frozen") == 1) &&
           is_waiting) {
        struct pollfd change = {.fd = file, .events = POLLPRI};
        is_waiting = poll(&change, 1, FREEZE_WAIT_MS) > 0;
    }
    close(file);
    return is_frozen;
}

bool guard_cgroup_freeze(const struct guard_cgroup *cgroup, bool is_frozen)
{
    if (!write_file(cgroup, "cgroup.freeze", is_frozen ? "1" : "0")) {
        return false;
    }
    return !is_frozen || wait_frozen(cgroup);
}

/* For kernels before 5.14, which have no cgroup.kill: one by one; the caller looks
 * again until nobody is left. */
static void kill_each(const struct guard_cgroup *cgroup)
{
    char text[FILE_MAX];
    if (!read_file(cgroup, "cgroup.procs", text)) {
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

void guard_cgroup_kill(const struct guard_cgroup *cgroup)
{
    if (!write_file(cgroup, "cgroup.kill", "1")) {
        kill_each(cgroup);
    }
}

bool guard_cgroup_is_populated(const struct guard_cgroup *cgroup)
{
    char text[FILE_MAX];
    return read_file(cgroup, "cgroup.events", text) &&
           number_of(text, "populated") == 1;
}

bool guard_cgroup_limit_memory(const struct guard_cgroup *cgroup, int64_t kib)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, kib * 1024);
    if (!write_file(cgroup, "memory.max", text)) {
        return false;
    }
    write_file(cgroup, "memory.swap.max", "0"); /* or it would only get slow */
    write_file(cgroup, "memory.oom.group", "1");
    return true;
}

int64_t guard_cgroup_oom_kills(const struct guard_cgroup *cgroup)
{
    char text[FILE_MAX];
    return read_file(cgroup, "memory.events", text) ? number_of(text, "oom_kill") : -1;
}

int64_t guard_cgroup_cpu_ms(const struct guard_cgroup *cgroup)
{
    char text[FILE_MAX];
    if (!read_file(cgroup, "cpu.stat", text)) {
        return -1;
    }
    int64_t usage_us = number_of(text, "usage_usec");
    return usage_us < 0 ? -1 : usage_us / 1000;
}

int64_t guard_cgroup_peak_kib(const struct guard_cgroup *cgroup)
{
    char text[FILE_MAX];
    if (!read_file(cgroup, "memory.peak", text)) {
        return -1;
    }
    return strtoll(text, NULL, 10) / 1024;
}
