/* SPDX-License-Identifier: Apache-2.0 */
/* memcg.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kernel/kernel_file.h"

/* The names of the files in both versions. */
struct names {
    const char *limit, *events, *peak;
};

static const struct names version_2 = {"memory.max", "memory.events", "memory.peak"};
static const struct names version_1 = {"memory.limit_in_bytes", "memory.oom_control",
                                       "memory.max_usage_in_bytes"};

static const struct names *names_of(const struct memcg *memcg)
{
    return memcg->path == NULL ? &version_2 : &version_1;
}

static void init(struct memcg *memcg)
{
    *memcg = (struct memcg){.dir = -1};
}

static bool has_limit(const struct memcg *memcg)
{
    return faccessat(memcg->dir, names_of(memcg)->limit, W_OK, 0) == 0;
}

bool memcg_use_cgroup(struct memcg *memcg, const struct cgroup *cgroup)
{
    *memcg = (struct memcg){.dir = cgroup->dir};
    if (cgroup->dir >= 0 && !has_limit(memcg)) {
        memcg->dir = -1;
    }
    return memcg_is_open(memcg);
}

void memcg_forget_cgroup(struct memcg *memcg)
{
    if (memcg->path == NULL) {
        init(memcg);
    }
}

bool memcg_make(struct memcg *memcg, const char *path)
{
    init(memcg);
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        return false;
    }
    *memcg = (struct memcg){.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                            .path = path};
    if (memcg->dir >= 0 && !has_limit(memcg)) {
        memcg_remove(memcg);
    }
    return memcg_is_open(memcg);
}

bool memcg_add_process(const struct memcg *memcg, pid_t pid)
{
    return memcg->path == NULL ||
           kernel_file_write_number(memcg->dir, "cgroup.procs", pid);
}

bool memcg_enter(const struct memcg *memcg)
{
    return memcg->path == NULL || kernel_file_write(memcg->dir, "tasks", "0");
}

void memcg_remove(struct memcg *memcg)
{
    if (memcg->path != NULL && memcg->dir >= 0) {
        rmdir(memcg->path);
        close(memcg->dir);
    }
    init(memcg);
}

bool memcg_set_limit(const struct memcg *memcg, int64_t kib)
{
    int64_t bytes = kib > INT64_MAX / 1024 ? INT64_MAX : kib * 1024;
    if (!memcg_is_open(memcg) ||
        !kernel_file_write_number(memcg->dir, names_of(memcg)->limit, bytes)) {
        return false;
    }
    /* A run over its limit is killed; with swap it would only become slow. */
    if (memcg->path == NULL) {
        kernel_file_write(memcg->dir, "memory.swap.max", "0");
        kernel_file_write(memcg->dir, "memory.oom.group", "1");
    } else {
        kernel_file_write_number(memcg->dir, "memory.memsw.limit_in_bytes", bytes);
    }
    return true;
}

int64_t memcg_oom_kills(const struct memcg *memcg)
{
    return memcg_is_open(memcg) ? kernel_file_read_number(
                                      memcg->dir, names_of(memcg)->events, "oom_kill")
                                : -1;
}

bool memcg_kills_whole_run(const struct memcg *memcg)
{
    return memcg->path == NULL && memcg_is_open(memcg) &&
           kernel_file_read_number(memcg->dir, "memory.oom.group", "") == 1;
}

int64_t memcg_peak_kib(const struct memcg *memcg)
{
    int64_t bytes = memcg_is_open(memcg)
                        ? kernel_file_read_number(memcg->dir, names_of(memcg)->peak, "")
                        : -1;
    return bytes < 0 ? -1 : bytes / 1024;
}
