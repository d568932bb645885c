/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    STAT_MAX = 1024,
    ENVIRON_MAX = 1 << 18, /* above ENV_BYTES_MAX and the variables we add */
    FIELDS_READ = 24,      /* of /proc/PID/stat, see proc(5) */
};

static ssize_t read_file(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    size_t used = 0;
    ssize_t got;
    while (used < size - 1 && (got = read(file, text + used, size - 1 - used)) > 0) {
        used += (size_t)got;
    }
    close(file);
    text[used] = '\0';
    return (ssize_t)used;
}

/* The second field, a name in brackets, may contain blanks and brackets. */
bool process_read(pid_t pid, struct process *process)
{
    char text[STAT_MAX];
    if (read_file(pid, "stat", text, sizeof(text)) <= 0) {
        return false;
    }
    char *rest = strrchr(text, ')');
    if (rest == NULL || rest[1] != ' ') {
        return false;
    }
    rest += 2;
    *process = (struct process){.pid = pid, .state = rest[0]};
    char *word;
    uint64_t fields[FIELDS_READ + 1] = {0};
    int field = 3;
    for (; field <= FIELDS_READ && (word = strsep(&rest, " ")) != NULL; field++) {
        fields[field] = strtoull(word, NULL, 10);
    }
    if (field <= FIELDS_READ) {
        return false;
    }
    process->parent = (pid_t)fields[4];
    process->session = (pid_t)fields[6];
    process->cpu_ticks = fields[14] + fields[15] + fields[16] + fields[17];
    process->n_threads = fields[20];
    process->start = fields[22];
    process->virtual_bytes = fields[23];
    process->resident_pages = fields[24];
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct process *a = left;
    const struct process *b = right;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

struct process *process_list(int *count)
{
    int capacity = 256;
    struct process *list = mem_alloc((size_t)capacity, sizeof(*list));
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    *count = 0;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        char *end = NULL;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end != '\0') {
            continue;
        }
        if (*count == capacity) {
            capacity *= 2;
            list = mem_grow(list, (size_t)capacity, sizeof(*list));
        }
        *count += process_read((pid_t)pid, &list[*count]);
    }
    if (proc != NULL) {
        closedir(proc);
    }
    qsort(list, (size_t)*count, sizeof(*list), compare);
    return list;
}

bool process_has_env(pid_t pid, const char *text)
{
    char *env = mem_alloc(ENVIRON_MAX, 1);
    ssize_t length = read_file(pid, "environ", env, ENVIRON_MAX);
    bool is_there = false;
    for (ssize_t at = 0; at < length && !is_there;
         at += (ssize_t)strlen(env + at) + 1) {
        is_there = strcmp(env + at, text) == 0;
    }
    free(env);
    return is_there;
}

bool process_signal(const struct process *process, int signal)
{
    int handle = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (handle < 0) {
        return false;
    }
    /* The handle pins the process that has the id now, before its start is compared. */
    struct process now;
    bool is_same = process_read(process->pid, &now) && now.start == process->start;
    bool is_sent =
        is_same && syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0) == 0;
    close(handle);
    return is_sent;
}

void process_kill_session(pid_t pid)
{
    int count = 0;
    struct process *list = process_list(&count);
    for (int i = 0; i < count; i++) {
        if (list[i].session == pid || list[i].pid == pid) {
            process_signal(&list[i], SIGKILL);
        }
    }
    free(list);
}
