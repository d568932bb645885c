/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.c: see daemon.h: clock, signals, readiness, directories. */
#include "sys/daemon.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "sys/log.h"

enum { STEP_MIN_MS = 1000, PARENT_MODE = 0755 };

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t daemon_now_ms(void)
{
    static int64_t boot_at_ms; /* the wall clock's time of the machine's start */
    if (boot_at_ms == 0) {
        boot_at_ms = clock_ms(CLOCK_REALTIME) - clock_ms(CLOCK_BOOTTIME);
    }
    return boot_at_ms + clock_ms(CLOCK_BOOTTIME);
}

/* Small differences are ignored, since the clocks are not read at the same time. */
int64_t daemon_utc_offset_ms(void)
{
    static int64_t set_by_ms; /* the wall clock, since the first call */
    int64_t wall_ms = clock_ms(CLOCK_REALTIME);
    int64_t ahead_ms = wall_ms - daemon_now_ms();
    if (llabs(ahead_ms - set_by_ms) >= STEP_MIN_MS) {
        set_by_ms = ahead_ms;
    }
    time_t now = (time_t)(wall_ms / 1000);
    struct tm local;
    bool is_known = localtime_r(&now, &local) != NULL;
    return set_by_ms + (is_known ? (int64_t)local.tm_gmtoff * 1000 : 0);
}

/* ---------------------------------------------------------------- the process */

enum { EXIT_USAGE = 2 };

int daemon_read_options(int argc, char **argv, const char *name, const char *usage,
                        bool *accepts_loss)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {"accept-loss", no_argument, NULL, 'L'},
        {NULL, 0, NULL, 0},
    };
    int option = getopt_long(argc, argv, "h", options, NULL);
    if (option == 'h') {
        fputs(usage, stdout);
        exit(EXIT_SUCCESS);
    }
    if (option == 'V') {
        printf("%s %s\n", name, SUBLET_VERSION);
        exit(EXIT_SUCCESS);
    }
    *accepts_loss = option == 'L';
    if ((option != -1 && option != 'L') || optind == argc) {
        fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
    return optind;
}

/* 0 means that a poll was interrupted. */
void daemon_run(zloop_t *loop)
{
    while (zloop_start(loop) == 0) {
        log_line(LOG_LEVEL_DEBUG, "the event loop was interrupted and continues");
    }
}

/* ---------------------------------------------------------------- signals */

static void fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
}

void daemon_block_signals(void)
{
    sigset_t set;
    fill_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    zsys_handler_set(NULL); /* CZMQ would take SIGTERM and SIGINT for itself */
}

void daemon_raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* failure is harmless */
    }
}

/* Only one per process, since signals belong to the process. */
static struct {
    daemon_signal_fn fn;
    void *arg;
} watch;

static int on_signal(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)loop;
    (void)arg;
    struct signalfd_siginfo info;
    while (read(item->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (watch.fn((int)info.ssi_signo, watch.arg) == -1) {
            return -1;
        }
    }
    return 0;
}

int daemon_watch_signals(zloop_t *loop, daemon_signal_fn fn, void *arg, struct err *err)
{
    sigset_t set;
    fill_signals(&set);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0) {
        return err_set(err, ERR_IO, "signalfd: %s", strerror(errno));
    }
    watch.fn = fn;
    watch.arg = arg;
    zmq_pollitem_t item = {.fd = fd, .events = ZMQ_POLLIN};
    if (zloop_poller(loop, &item, on_signal, NULL) != 0) {
        close(fd);
        return err_set(err, ERR_IO, "signals cannot be polled");
    }
    return ERR_NONE;
}

/* ---------------------------------------------------------------- readiness */

void daemon_ready(void)
{
    static const char line[] = "ready\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)ignored;
    sd_notify(0, "READY=1");
}

void daemon_stopping(void)
{
    sd_notify(0, "STOPPING=1");
}

/* ---------------------------------------------------------------- directories */

/* Creates one, if it does not exist. */
static int make_one(const char *path, int mode, struct err *err)
{
    if (mkdir(path, (mode_t)mode) == 0) {
        return ERR_NONE;
    }
    int why = errno;
    struct stat status;
    if (stat(path, &status) == 0) {
        return S_ISDIR(status.st_mode)
                   ? ERR_NONE
                   : err_set(err, ERR_EXISTS, "\"%s\" is not a directory", path);
    }
    return err_set(err, ERR_IO, "directory \"%s\": %s", path, strerror(why));
}

int daemon_make_directory(const char *path, int mode, struct err *err)
{
    char *part = strdup(path);
    if (part == NULL) {
        abort();
    }
    int status = ERR_NONE;
    for (char *at = part + 1; *part != '\0' && *at != '\0' && status == ERR_NONE;
         at++) {
        if (*at == '/') {
            *at = '\0';
            status = make_one(part, at[1] == '\0' ? mode : PARENT_MODE, err);
            *at = '/';
        }
    }
    if (status == ERR_NONE) {
        status = make_one(part, mode, err);
    }
    free(part);
    return status;
}

int daemon_make_directory_of(const char *file, int mode, struct err *err)
{
    const char *slash = strrchr(file, '/');
    if (slash == NULL || slash == file) {
        return ERR_NONE;
    }
    char *directory = strndup(file, (size_t)(slash - file));
    int rc = daemon_make_directory(directory, mode, err);
    free(directory);
    return rc;
}

static int check_one(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return err_set(err, ERR_IO, "directory \"%s\": %s", path, strerror(errno));
    }
    if ((status.st_mode & S_IXOTH) != 0) {
        return ERR_NONE;
    }
    return err_set(err, ERR_DENIED,
                   "users cannot pass through directory \"%s\", mode %04o; run: chmod "
                   "o+x %s",
                   path, (unsigned)(status.st_mode & 07777), path);
}

int daemon_check_reach(const char *path, struct err *err)
{
    char *part = realpath(path, NULL);
    if (part == NULL) {
        return err_set(err, ERR_IO, "directory \"%s\": %s", path, strerror(errno));
    }
    int status = ERR_NONE;
    for (char *at = part + 1; *at != '\0' && status == ERR_NONE; at++) {
        if (*at == '/') {
            *at = '\0';
            status = check_one(part, err);
            *at = '/';
        }
    }
    if (status == ERR_NONE) {
        status = check_one(part, err);
    }
    free(part);
    return status;
}
