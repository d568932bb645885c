/* SPDX-License-Identifier: Apache-2.0 */
/* guard_memory.c: see guard_memory.h. */
#include "host/guard_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/guard_file.h"

/* Names of the same things. */
struct names {
    const char *limit, *events, *peak;
};

static const struct names version_2 = {"memory.max", "memory.events", "memory.peak"};
static const struct names version_1 = {"memory.limit_in_bytes", "memory.oom_control",
                                       "memory.max_usage_in_bytes"};

static const struct names *names_of(const struct guard_memory *memory)
{
    return memory->path == NULL ? &version_2 : &version_1;
}

void guard_memory_init(struct guard_memory *memory)
{
    *memory = (struct guard_memory){.dir = -1};
}

static bool has_limit(const struct guard_memory *memory)
{
    return faccessat(memory->dir, names_of(memory)->limit, W_OK, 0) == 0;
}

bool guard_memory_share(struct guard_memory *memory, const struct guard_cgroup *cgroup)
{
    *memory = (struct guard_memory){.dir = cgroup->dir};
    if (cgroup->dir >= 0 && !has_limit(memory)) {
        memory->dir = -1;
    }
    return guard_memory_is_kept(memory);
}

bool guard_memory_make(struct guard_memory *memory, const char *path)
{
    guard_memory_init(memory);
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        return false;
    }
    *memory = (struct guard_memory){
        .dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .path = path};
    if (memory->dir >= 0 && !has_limit(memory)) {
        guard_memory_remove(memory);
    }
    return guard_memory_is_kept(memory);
}

bool guard_memory_enter(const struct guard_memory *memory, pid_t pid)
{
    return memory->path == NULL ||
           guard_file_write_number(memory->dir, "cgroup.procs", pid);
}

void guard_memory_remove(struct guard_memory *memory)
{
    if (memory->path != NULL && memory->dir >= 0) {
        rmdir(memory->path);
        close(memory->dir);
    }
    guard_memory_init(memory);
}

bool guard_memory_limit(const struct guard_memory *memory, int64_t kib)
{
    int64_t bytes = kib > INT64_MAX / 1024 ? INT64_MAX : kib * 1024;
    if (!guard_memory_is_kept(memory) ||
        !guard_file_write_number(memory->dir, names_of(memory)->limit, bytes)) {
        return false;
    }
    /* With swap it would only get slow. */
    if (memory->path == NULL) {
        guard_file_write(memory->dir, "memory.swap.max", "0");
        guard_file_write(memory->dir, "memory.oom.group", "1");
    } else {
        guard_file_write_number(memory->dir, "memory.memsw.limit_in_bytes", bytes);
    }
    return true;
}

int64_t guard_memory_kills(const struct guard_memory *memory)
{
    return guard_memory_is_kept(memory)
               ? guard_file_number(memory->dir, names_of(memory)->events, "oom_kill")
               : -1;
}

bool guard_memory_kills_all(const struct guard_memory *memory)
{
    return memory->path == NULL && guard_memory_is_kept(memory) &&
           guard_file_number(memory->dir, "memory.oom.group", "") == 1;
}

int64_t guard_memory_peak_kib(const struct guard_memory *memory)
{
    int64_t bytes = guard_memory_is_kept(memory)
                        ? guard_file_number(memory->dir, names_of(memory)->peak, "")
                        : -1;
    return bytes < 0 ? -1 : bytes / 1024;
}
