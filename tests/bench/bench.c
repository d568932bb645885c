/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c: see bench.h. */
#include "tests/bench/bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/wire/wire.h"

enum {
    READY_S = 20,
    LOOK_NS = 5 * 1000 * 1000,
    PATHS = 8,
    PATH_SIZE = 256,
    SWEEPS = 100, /* attempts to end what a daemon has left */
};

extern char **environ;

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A benchmark that fails ends the daemons that it started. */
static struct bench_place *open_place;

_Noreturn void bench_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    if (open_place != NULL) {
        bench_place_release(open_place);
    }
    exit(EXIT_FAILURE);
}

static void on_end(int signal)
{
    (void)signal;
    for (int i = 0; open_place != NULL && i < open_place->n_daemons; i++) {
        kill(open_place->daemons[i], SIGTERM);
    }
    _exit(EXIT_FAILURE);
}

/* ---------------------------------------------------------------- figures */

void bench_add(struct bench_series *series, double value)
{
    if (series->count < BENCH_RUNS) {
        series->values[series->count++] = value;
    }
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

double bench_percentile(double *values, int count, double share)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, (size_t)count, sizeof(*values), compare);
    int place = (int)(share * (double)count);
    return values[place < count ? place : count - 1];
}

double bench_median(struct bench_series *series)
{
    return bench_percentile(series->values, series->count, 0.5);
}

void bench_print_head(const char *title)
{
    printf("\n%s\n%-52s %10s  %-21s %-12s %s\n", title, "work", "median", "range",
           "aim", "beside the floor");
}

static void print_start(const char *work, const char *unit, struct bench_series *series,
                        const char *aim)
{
    double median = bench_median(series);
    int digits = median < 100 ? 2 : 0;
    char range[64], named[96];
    snprintf(range, sizeof(range), "%.*f..%.*f", digits, series->values[0], digits,
             series->values[series->count - 1]);
    snprintf(named, sizeof(named), "%s, %s", work, unit);
    printf("%-52s %10.*f  %-21s %-12s ", named, digits, median, range, aim);
}

void bench_print_row(const char *work, const char *unit, struct bench_series *series,
                     const char *aim)
{
    print_start(work, unit, series, aim);
    printf("\n");
    fflush(stdout);
}

void bench_print_row_floor(const char *work, const char *unit,
                           struct bench_series *series, const char *aim,
                           const char *floor_name, struct bench_series *floor)
{
    print_start(work, unit, series, aim);
    double share = bench_median(series) / bench_median(floor);
    printf("%.2f x %s (%.0f)\n", share, floor_name, bench_median(floor));
    fflush(stdout);
}

/* ---------------------------------------------------------------- the place */

void bench_place_init(struct bench_place *place)
{
    const char *below = getenv("TMPDIR");
    *place = (struct bench_place){0};
    open_place = place;
    snprintf(place->dir, sizeof(place->dir), "%.80s/sublet-bench-XXXXXX",
             below != NULL && below[0] != '\0' ? below : "/tmp");
    if (mkdtemp(place->dir) == NULL || chmod(place->dir, 0711) != 0) {
        bench_fail("cannot make \"%s\"", place->dir);
    }
    /* Processes that a daemon leaves become children of this one, which ends them. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
}

const char *bench_place_path(const struct bench_place *place, const char *name)
{
    static char paths[PATHS][PATH_SIZE];
    static int last;
    last = (last + 1) % PATHS;
    snprintf(paths[last], PATH_SIZE, "%s/%s", place->dir, name);
    return paths[last];
}

void bench_place_write(const struct bench_place *place, const char *name,
                       const char *format, ...)
{
    FILE *file = fopen(bench_place_path(place, name), "ae");
    if (file == NULL) {
        bench_fail("cannot write \"%s\"", bench_place_path(place, name));
    }
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

void bench_place_make_key(const struct bench_place *place, const char *name)
{
    struct err err;
    if (wire_key_make(bench_place_path(place, name), &err) < 0) {
        bench_fail("%s", err.text);
    }
}

static bool is_ready(const char *log)
{
    char *text = NULL;
    size_t room = 0;
    bool is_found = false;
    FILE *file = fopen(log, "re");
    while (file != NULL && !is_found && getline(&text, &room, file) > 0) {
        is_found = strcmp(text, "ready\n") == 0;
    }
    free(text);
    if (file != NULL) {
        fclose(file);
    }
    return is_found;
}

static void wait_ready(pid_t pid, const char *program, const char *log)
{
    double until = bench_now() + READY_S;
    while (!is_ready(log)) {
        struct timespec pause = {.tv_nsec = LOOK_NS};
        if (bench_now() > until || waitpid(pid, NULL, WNOHANG) != 0) {
            bench_fail("%s does not come up, see %s", program, log);
        }
        nanosleep(&pause, NULL);
    }
}

pid_t bench_place_start(struct bench_place *place, const char *program,
                        const char *name)
{
    const char *bin = getenv("SUBLET_BIN");
    char path[PATH_SIZE], conf[PATH_SIZE], log[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", bin != NULL ? bin : "build/bin", program);
    snprintf(conf, sizeof(conf), "%s/%s.conf", place->dir, name);
    snprintf(log, sizeof(log), "%s/%s.log", place->dir, name);
    unlink(log);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log, O_WRONLY | O_CREAT,
                                     0600);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    char *arguments[] = {path, conf, NULL};
    pid_t pid;
    if (place->n_daemons == BENCH_DAEMONS_MAX ||
        posix_spawn(&pid, path, &files, NULL, arguments, environ) != 0) {
        bench_fail("cannot start %s", path);
    }
    posix_spawn_file_actions_destroy(&files);
    place->daemons[place->n_daemons++] = pid;
    wait_ready(pid, program, log);
    return pid;
}

static void end_last(struct bench_place *place, int signal)
{
    pid_t pid = place->daemons[--place->n_daemons];
    kill(pid, signal);
    waitpid(pid, NULL, 0);
}

void bench_place_stop_last(struct bench_place *place)
{
    end_last(place, SIGTERM);
}

void bench_place_kill_last(struct bench_place *place)
{
    end_last(place, SIGKILL);
}

double bench_process_cpu_s(pid_t pid)
{
    char path[64], text[512];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *rest = file != NULL && fgets(text, sizeof(text), file) != NULL
                           ? strrchr(text, ')')
                           : NULL;
    if (rest == NULL || sscanf(rest + 2,
                               "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
                               " %lu %lu",
                               &user, &system) != 2) {
        bench_fail("%s cannot be read", path);
    }
    fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double bench_place_cpu_s(const struct bench_place *place)
{
    return bench_process_cpu_s(place->daemons[place->n_daemons - 1]);
}

double bench_place_loop_s(const struct bench_place *place)
{
    int pid = (int)place->daemons[place->n_daemons - 1];
    char path[64];
    uint64_t ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, pid);
    FILE *file = fopen(path, "re");
    if (file == NULL || fscanf(file, "%" SCNu64, &ns) != 1) {
        bench_fail("%s cannot be read", path);
    }
    fclose(file);
    return (double)ns / 1e9;
}

double bench_place_memory_mib(const struct bench_place *place, bool is_peak)
{
    const char *key = is_peak ? "VmHWM:" : "VmRSS:";
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof(path), "/proc/%d/status",
             (int)place->daemons[place->n_daemons - 1]);
    FILE *file = fopen(path, "re");
    while (file != NULL && kib < 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtol(line + strlen(key), NULL, 10);
        }
    }
    if (kib < 0) {
        bench_fail("%s cannot be read", path);
    }
    fclose(file);
    return (double)kib / 1024;
}

/* The parent of a process is the second word after its name. */
static bool is_child(const char *pid)
{
    char path[300], text[512];
    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *rest = strrchr(text, ')');
    return rest != NULL && strtol(rest + 4, NULL, 10) == getpid();
}

static int end_children(void)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && is_child(entry->d_name)) {
            kill(pid, SIGKILL);
            count++;
        }
    }
    if (proc != NULL) {
        closedir(proc);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    return count;
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

void bench_place_release(struct bench_place *place)
{
    open_place = NULL;
    while (place->n_daemons > 0) {
        bench_place_stop_last(place);
    }
    for (int i = 0; i < SWEEPS && end_children() > 0; i++) {
        struct timespec pause = {.tv_nsec = LOOK_NS};
        nanosleep(&pause, NULL);
    }
    nftw(place->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int bench_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        bench_fail("no free port");
    }
    close(fd);
    return ntohs(address.sin_port);
}
