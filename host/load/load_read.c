/* SPDX-License-Identifier: Apache-2.0 */
/* load_read.c: see load_read.h. */
#include "host/load/load_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>

#include "base/arena.h"
#include "base/fnv1a.h"

enum {
    TEXT_BYTES = 1 << 20, /* /proc/stat counts interrupts by the thousand */
    PATH_BYTES = 300,
    USERS_MAX = 1024, /* distinct users; more are not counted */
    DISKS_MAX = 4096,
};

struct load_read {
    char text[TEXT_BYTES];
};

struct load_read *load_read_new(void)
{
    return mem_alloc(1, sizeof(struct load_read));
}

void load_read_free(struct load_read *reader)
{
    free(reader);
}

/* The file's text; what is beyond the room is not read. NULL: it cannot be read. */
static const char *read_text(struct load_read *reader, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = -1;
    if (file < 0) {
        return NULL;
    }
    do {
        got = read(file, reader->text + used, sizeof(reader->text) - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    close(file);
    reader->text[used] = '\0';
    return got == 0 ? reader->text : NULL;
}

/* ---------------------------------------------------------------- disks */

/* Adds up what all disks moved; returns how many there are. */
static int read_disks(struct load_read *reader, uint64_t *kib)
{
    DIR *disks = opendir("/sys/block");
    int count = 0;
    *kib = 0;
    if (disks == NULL) {
        return 0;
    }
    for (struct dirent *entry; count < DISKS_MAX && (entry = readdir(disks)) != NULL;) {
        char path[PATH_BYTES];
        uint64_t moved;
        snprintf(path, sizeof(path), "/sys/block/%s/device", entry->d_name);
        if (entry->d_name[0] == '.' || access(path, F_OK) != 0) {
            continue;
        }
        snprintf(path, sizeof(path), "/sys/block/%s/stat", entry->d_name);
        const char *text = read_text(reader, path);
        if (text != NULL && load_proc_read_disk(text, &moved)) {
            *kib += moved;
            count++;
        }
    }
    closedir(disks);
    return count;
}

/* ---------------------------------------------------------------- users */

struct users {
    uint64_t seen[USERS_MAX]; /* logged-in users: hash of the name, or uid */
    int count;
    int64_t active_s; /* the last activity of any user */
};

static void add_user(struct users *users, uint64_t user)
{
    for (int i = 0; i < users->count; i++) {
        if (users->seen[i] == user) {
            return;
        }
    }
    if (users->count < USERS_MAX) {
        users->seen[users->count++] = user;
    }
}

static void add_activity(struct users *users, int64_t at_s)
{
    users->active_s = at_s > users->active_s ? at_s : users->active_s;
}

static void add_terminal(struct users *users, const struct stat *status)
{
    add_activity(users, status->st_atim.tv_sec);
    add_activity(users, status->st_mtim.tv_sec);
}

/* A name as a number: utmp has 32 bytes of it, and no end where all are used. */
static uint64_t number_of(const char *name, size_t size)
{
    return fnv1a(FNV1A_START, name, strnlen(name, size));
}

static void add_session(struct users *users, const struct utmpx *entry)
{
    char path[sizeof("/dev/") + sizeof(entry->ut_line)];
    struct stat status;
    if (kill(entry->ut_pid, 0) != 0 && errno == ESRCH) {
        return; /* the session ended without logout */
    }
    add_user(users, number_of(entry->ut_user, sizeof(entry->ut_user)));
    snprintf(path, sizeof(path), "/dev/%.*s", (int)sizeof(entry->ut_line),
             entry->ut_line);
    if (strstr(path, "..") == NULL && stat(path, &status) == 0 &&
        S_ISCHR(status.st_mode)) {
        add_terminal(users, &status);
    }
}

/* False: there is no utmp. */
static bool read_utmp(struct users *users)
{
    bool is_there = false;
    setutxent();
    for (const struct utmpx *entry; (entry = getutxent()) != NULL; is_there = true) {
        if (entry->ut_type == USER_PROCESS) {
            add_session(users, entry);
        }
        if (entry->ut_type == USER_PROCESS || entry->ut_type == DEAD_PROCESS ||
            entry->ut_type == BOOT_TIME) {
            add_activity(users, entry->ut_tv.tv_sec);
        }
    }
    endutxent();
    return is_there;
}

static void read_terminals(struct users *users)
{
    DIR *terminals = opendir("/dev/pts");
    if (terminals == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(terminals)) != NULL;) {
        struct stat status;
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
            fstatat(dirfd(terminals), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISCHR(status.st_mode)) {
            add_user(users, status.st_uid);
            add_terminal(users, &status);
        }
    }
    closedir(terminals);
}

static void read_users(struct load_sample *sample, int64_t boot_s)
{
    struct users users = {.active_s = boot_s};
    if (!read_utmp(&users)) {
        read_terminals(&users);
    }
    int64_t idle_s = (int64_t)time(NULL) - users.active_s;
    sample->has_users = true;
    sample->n_users = users.count;
    sample->idle_s = users.active_s == 0 ? -1 : idle_s > 0 ? idle_s : 0;
}

/* ---------------------------------------------------------------- samples */

void load_read_sample(struct load_read *reader, struct load_sample *sample)
{
    const char *text = read_text(reader, "/proc/stat");
    sample->has_cpu = text != NULL && load_proc_read_cpu(text, &sample->cpu);
    text = read_text(reader, "/proc/loadavg");
    sample->has_average =
        text != NULL && load_proc_read_average(text, &sample->minute, &sample->quarter);
    text = read_text(reader, "/proc/meminfo");
    sample->has_memory = text != NULL && load_proc_read_memory(text, &sample->memory);
    text = read_text(reader, "/proc/vmstat");
    sample->has_pages = text != NULL && load_proc_read_pages(text, &sample->n_pages);
    sample->has_disks = read_disks(reader, &sample->disk_kib) > 0;
}

void load_read_slow(struct load_read *reader, struct load_sample *sample)
{
    struct statvfs tmp;
    (void)reader;
    read_users(sample, sample->has_cpu ? sample->cpu.boot_s : 0);
    sample->has_tmp = statvfs("/tmp", &tmp) == 0;
    if (sample->has_tmp) {
        double mib = (double)tmp.f_frsize / (1 << 20);
        sample->tmp_mib = (int64_t)((double)tmp.f_bavail * mib);
        sample->max_tmp_mib = (int64_t)((double)tmp.f_blocks * mib);
    }
}

/* ---------------------------------------------------------------- facts */

static bool read_number(struct load_read *reader, int cpu, const char *name,
                        int *number)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
             name);
    const char *text = read_text(reader, path);
    return text != NULL && sscanf(text, "%d", number) == 1;
}

/* A processor that is offline has no topology. */
static void read_processors(struct load_read *reader, struct load_machine *facts)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    n_cpus = n_cpus < 1 ? 1 : n_cpus > SLOTS_MAX ? SLOTS_MAX : n_cpus;
    struct load_cpu_place *places = mem_alloc((size_t)n_cpus, sizeof(*places));
    int n_places = 0;
    for (int i = 0; i < n_cpus; i++) {
        struct load_cpu_place *place = &places[n_places];
        n_places += read_number(reader, i, "core_id", &place->core) &&
                    read_number(reader, i, "physical_package_id", &place->package);
    }
    if (n_places == 0) { /* the topology is unknown: each is a core of its own */
        for (; n_places < n_cpus; n_places++) {
            places[n_places] = (struct load_cpu_place){.core = n_places};
        }
    }
    load_proc_count_cpus(facts, places, n_places);
    free(places);
}

void load_read_machine(struct load_read *reader, struct load_machine *facts)
{
    struct utsname names;
    uint64_t moved_kib;
    *facts = (struct load_machine){.n_disks = read_disks(reader, &moved_kib)};
    if (uname(&names) == 0) {
        load_proc_type(names.machine, facts->type, sizeof(facts->type));
    }
    const char *text = read_text(reader, "/proc/cpuinfo");
    if (text == NULL ||
        !load_proc_read_model(text, facts->model, sizeof(facts->model))) {
        facts->model[0] = '\0';
    }
    read_processors(reader, facts);
}
