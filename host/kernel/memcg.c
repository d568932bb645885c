/* SPDX-License-Identifier: Apache-2.0 */
/* memcg.c: see memcg.h. */
#include "host/kernel/memcg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kernel/kernel_file.h"

/* Names of the same things. */
struct names {
    const char *limit, *events, *peak;
};

static const struct names version_2 = {"memory.max", "memory.events", "memory.peak"};
static const struct names version_1 = {"memory.limit_in_bytes", "memory.oom_control",
                                       "memory.max_usage_in_bytes"};

static const struct names *names_of(const struct memcg *memory)
{
    return memory->path == NULL ? &version_2 : &version_1;
}

void memcg_init(struct memcg *memory)
{
    *memory = (struct memcg){.dir = -1};
}

static bool has_limit(const struct memcg *memory)
{
    return faccessat(memory->dir, names_of(memory)->limit, W_OK, 0) == 0;
}

bool memcg_use_cgroup(struct memcg *memory, const struct cgroup *cgroup)
{
    *memory = (struct memcg){.dir = cgroup->dir};
    if (cgroup->dir >= 0 && !has_limit(memory)) {
        memory->dir = -1;
    }
    return memcg_is_open(memory);
}

bool memcg_make(struct memcg *memory, const char *path)
{
    memcg_init(memory);
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        return false;
    }
    *memory = (struct memcg){.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                             .path = path};
    if (memory->dir >= 0 && !has_limit(memory)) {
        memcg_remove(memory);
    }
    return memcg_is_open(memory);
}

bool memcg_add_process(const struct memcg *memory, pid_t pid)
{
    return memory->path == NULL ||
           kernel_file_write_number(memory->dir, "cgroup.procs", pid);
}

void memcg_remove(struct memcg *memory)
{
    if (memory->path != NULL && memory->dir >= 0) {
        rmdir(memory->path);
        close(memory->dir);
    }
    memcg_init(memory);
}

bool memcg_set_limit(const struct memcg *memory, int64_t kib)
{
    int64_t bytes = kib > INT64_MAX / 1024 ? INT64_MAX : kib * 1024;
    if (!memcg_is_open(memory) ||
        !kernel_file_write_number(memory->dir, names_of(memory)->limit, bytes)) {
        return false;
    }
    /* With swap it would only get slow. */
    if (memory->path == NULL) {
        kernel_file_write(memory->dir, "memory.swap.max", "0");
        kernel_file_write(memory->dir, "memory.oom.group", "1");
    } else {
        kernel_file_write_number(memory->dir, "memory.memsw.limit_in_bytes", bytes);
    }
    return true;
}

int64_t memcg_oom_kills(const struct memcg *memory)
{
    return memcg_is_open(memory)
               ? kernel_file_read_number(memory->dir, names_of(memory)->events,
                                         "oom_kill")
               : -1;
}

bool memcg_kills_whole_run(const struct memcg *memory)
{
    return memory->path == NULL && memcg_is_open(memory) &&
           kernel_file_read_number(memory->dir, "memory.oom.group", "") == 1;
}

int64_t memcg_peak_kib(const struct memcg *memory)
{
    int64_t bytes =
        memcg_is_open(memory)
            ? kernel_file_read_number(memory->dir, names_of(memory)->peak, "")
            : -1;
    return bytes < 0 ? -1 : bytes / 1024;
}
