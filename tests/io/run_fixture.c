/* SPDX-License-Identifier: Apache-2.0 */
/* run_fixture.c: see run_fixture.h. */
#include "tests/io/run_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

long long run_fixture_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void run_fixture_pause(void)
{
    struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

void run_fixture_init(struct run_fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/sublet-run.XXXXXX");
    if (mkdtemp(fixture->dir) == NULL || chmod(fixture->dir, 0711) != 0) {
        abort();
    }
    snprintf(fixture->mark, sizeof(fixture->mark), "SUBLET_TEST=%s",
             strrchr(fixture->dir, '/') + 1);
    fixture->env[fixture->n_env++] = fixture->mark;
    fixture->env[fixture->n_env++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    fixture->hosts[0] = (struct host_slots){"n1", 2};
    fixture->hosts[1] = (struct host_slots){"n2", 1};
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

/* One look at /proc: for each process with the mark. */
typedef bool (*look_fn)(pid_t pid, const void *arg);
static int look(const struct run_fixture *fixture, look_fn fn, const void *arg)
{
    int count = 0;
    char path[300];
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0) {
            continue;
        }
        snprintf(path, sizeof(path), "/proc/%s/environ", entry->d_name);
        static char env[1 << 16];
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? 0 : read(file, env, sizeof(env) - 1);
        if (file >= 0) {
            close(file);
        }
        bool is_marked = false;
        for (ssize_t at = 0; at < length; at += (ssize_t)strlen(env + at) + 1) {
            env[length] = '\0';
            is_marked |= strcmp(env + at, fixture->mark) == 0;
        }
        count += is_marked && fn(pid, arg);
    }
    if (proc != NULL) {
        closedir(proc);
    }
    return count;
}

static char state_of(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    char *text = run_fixture_read(path);
    char *end = strrchr(text, ')');
    char state = end == NULL || end[1] == '\0' ? 'X' : end[2];
    free(text);
    return state;
}

static bool is_alive(pid_t pid, const void *arg)
{
    (void)arg;
    char state = state_of(pid);
    return state != 'Z' && state != 'X';
}

/* Where the process's cgroup2 directory is: the mount of that type, and its own path.
 */
static bool is_frozen(pid_t pid)
{
    char path[1024];
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    char *own = run_fixture_read(path);
    char *mounts = run_fixture_read("/proc/self/mountinfo");
    char *at = strstr(own, "0::/");
    char *type = strstr(mounts, " - cgroup2 ");
    bool is_still = false;
    if (at != NULL && type != NULL) {
        at[strcspn(at, "\n")] = '\0';
        while (type > mounts && type[-1] != '\n') {
            type--;
        }
        char point[256] = "";
        if (sscanf(type, "%*s %*s %*s %*s %255s", point) == 1) {
            snprintf(path, sizeof(path), "%s%s/cgroup.events", point, at + 3);
            char *events = run_fixture_read(path);
            is_still = strstr(events, "frozen 1") != NULL;
            free(events);
        }
    }
    free(own);
    free(mounts);
    return is_still;
}

static bool is_still(pid_t pid, const void *arg)
{
    (void)arg;
    return state_of(pid) == 'T' || is_frozen(pid);
}

int run_fixture_count(const struct run_fixture *fixture)
{
    return look(fixture, is_alive, NULL);
}

int run_fixture_count_still(const struct run_fixture *fixture)
{
    return look(fixture, is_still, NULL);
}

struct wanted {
    const char *command;
    pid_t *found;
};

static bool has_command(pid_t pid, const void *arg)
{
    const struct wanted *wanted = arg;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0) {
        close(file);
    }
    for (ssize_t i = 0; i < length; i++) {
        text[i] = text[i] == '\0' ? ' ' : text[i];
    }
    text[length > 0 ? length - 1 : 0] = '\0';
    if (strcmp(text, wanted->command) != 0 || !is_alive(pid, NULL)) {
        return false;
    }
    *wanted->found = pid;
    return true;
}

pid_t run_fixture_find(const struct run_fixture *fixture, const char *command)
{
    pid_t found = 0;
    struct wanted wanted = {command, &found};
    look(fixture, has_command, &wanted);
    return found;
}

bool run_fixture_is_family(const struct run_fixture *fixture)
{
    return run_fixture_find(fixture, "sleep 1001") > 0 &&
           run_fixture_find(fixture, "sleep 1002") > 0 &&
           run_fixture_find(fixture, "sleep 1003") > 0 &&
           run_fixture_count(fixture) == RUN_FIXTURE_FAMILY;
}

static bool kill_one(pid_t pid, const void *arg)
{
    (void)arg;
    return kill(pid, SIGKILL) == 0;
}

/* Runs that a test has left running: cgroup, record and all. */
static void reap_all(const struct run_fixture *fixture, const char *pattern)
{
    char guard[4096];
    glob_t found;
    run_fixture_program("sublet-guard", guard, sizeof(guard));
    if (glob(run_fixture_path(fixture, "%s", pattern), 0, NULL, &found) != 0) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        *strrchr(found.gl_pathv[i], '/') = '\0';
        char option[] = "--bury";
        char *arguments[] = {guard, option, found.gl_pathv[i], NULL};
        pid_t pid;
        if (posix_spawn(&pid, guard, NULL, NULL, arguments, environ) == 0) {
            waitpid(pid, NULL, 0);
        }
    }
    globfree(&found);
}

void run_fixture_release(struct run_fixture *fixture)
{
    look(fixture, kill_one, NULL);
    reap_all(fixture, "*/state");
    reap_all(fixture, "spool/runs/*/state");
    nftw(fixture->dir, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

const char *run_fixture_program(const char *name, char *path, size_t size)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    const char *given = getenv("SUBLET_BIN");
    if (given != NULL) {
        snprintf(path, size, "%s/%s", given, name);
        return path;
    }
    snprintf(path, size, "%s/../../bin/%s", own, name);
    if (access(path, X_OK) != 0) {
        snprintf(path, size, "build/bin/%s", name);
    }
    return path;
}

struct msg_run_start run_fixture_start(const struct run_fixture *fixture,
                                       uint64_t attempt, const char *command)
{
    return (struct msg_run_start){
        .run = {.site = "north", .attempt = attempt},
        .job = "12[3]",
        .lease = "",
        .hosts = fixture->hosts,
        .n_hosts = 2,
        .account = "",
        .spec =
            {
                .name = "a name",
                .user = "ana",
                .queue = "normal",
                .command = command,
                .cwd = "",
                .in_file = "",
                .out_file = "",
                .err_file = "",
                .env = fixture->env,
                .n_env = fixture->n_env,
                .umask = 022,
                .n_slots = 3,
            },
    };
}

char *run_fixture_read(const char *path)
{
    size_t room = 1 << 16;
    char *text = mem_alloc(room, 1);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, room - 1);
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    return text;
}

bool run_fixture_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *run_fixture_path(const struct run_fixture *fixture, const char *format, ...)
{
    static char paths[8][2 * RUN_FIXTURE_PATH];
    static int turn;
    char *path = paths[turn++ % 8];
    int used = snprintf(path, sizeof(paths[0]), "%s/", fixture->dir);
    va_list args;
    va_start(args, format);
    vsnprintf(path + used, sizeof(paths[0]) - (size_t)used, format, args);
    va_end(args);
    return path;
}
