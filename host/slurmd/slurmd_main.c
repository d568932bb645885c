/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd_main.c: sublet-slurmd, which starts the slurmd of another site's Slurm cluster
 * on a host that is lent to it. One program, two sides:
 *
 * A leased job asks, and stays connected for as long as it lives. It has no rights.
 * The service of the host answers one job after the other. Who may ask is said by the
 * kernel: only the account that UserMap names for the jobs of that cluster can connect.
 * slurmd runs for as long as the job is connected, and is stopped while the job is. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "host/slurmd/slurmd_request.h"
#include "host/slurmd/slurmd_space.h"

enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    REQUEST_MS = 10000, /* in which a job that is connected asks */
    BEAT_MS = 1000,
    SILENCE_MS = 5000, /* a job that says nothing for so long is suspended */
    BACKLOG = 4,
};

static const char usage[] =
    "usage: sublet-slurmd SOCKET -D -Z -N NODE --conf CONF\n"
    "       sublet-slurmd --serve SOCKET --user ACCOUNT --munge-key FILE\n"
    "                     --accounts INSIDE:OUTSIDE:COUNT[,...] SLURMD [OPTION...]\n"
    "       sublet-slurmd --version\n"
    "\n"
    "A leased job asks for the node of another site's Slurm cluster at SOCKET\n"
    "(SLURM_BORROW_SLURMD), and stays connected for as long as slurmd runs.\n"
    "\n"
    "  --serve SOCKET    answer at this socket, for one job at a time\n"
    "  --user ACCOUNT    only jobs of this account may ask\n"
    "  --munge-key FILE  the key of that cluster\n"
    "  --accounts LIST   accounts that slurmd and its jobs have on this host; "
    "\"root\":\n"
    "                    those of this host, and slurmd is root\n"
    "  SLURMD            slurmd with options, such as --conf-server HOST\n";

static int fail(const char *what)
{
    fprintf(stderr, "sublet-slurmd: %s: %s\n", what, strerror(errno));
    return EXIT_FAILED;
}

static int fail_with(const struct err *err)
{
    fprintf(stderr, "sublet-slurmd: %s\n", err->text);
    return EXIT_FAILED;
}

static int make_address(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address->sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
}

/* ---------------------------------------------------------------- the leased job */

/* Until the service closes the connection: what it says goes to standard error, and a
 * byte each second tells it that the job is not suspended. */
static void stay(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char text[256];
    for (;;) {
        int n_ready = poll(&wait, 1, BEAT_MS);
        if (n_ready == 0) {
            (void)send(fd, ".", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else if (n_ready > 0) {
            ssize_t size = read(fd, text, sizeof(text));
            if (size <= 0) {
                return;
            }
            fprintf(stderr, "sublet-slurmd: %.*s", (int)size, text);
        }
    }
}

/* The job ends when slurmd does, and never well: it is killed otherwise. */
static int ask(const char *path, char **words)
{
    struct sockaddr_un address;
    char line[SLURMD_REQUEST_SIZE];
    int length = snprintf(line, sizeof(line), "%s %s\n", words[3], words[5]);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (length >= (int)sizeof(line)) {
        fputs("sublet-slurmd: the request is too long\n", stderr);
        return EXIT_USAGE;
    }
    if (fd < 0 || make_address(path, &address) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        return fail(path);
    }
    /* The service may have refused the account before the request came, and has closed
     * the connection then: its answer is still there to be read. */
    if (send(fd, line, (size_t)length, MSG_NOSIGNAL) != length && errno != EPIPE) {
        return fail(path);
    }
    stay(fd);
    return EXIT_FAILED;
}

static bool is_asking(int argc, char **argv)
{
    return argc == 8 && argv[1][0] != '-' && strcmp(argv[2], "-D") == 0 &&
           strcmp(argv[3], "-Z") == 0 && strcmp(argv[4], "-N") == 0 &&
           strcmp(argv[6], "--conf") == 0;
}

/* ---------------------------------------------------------------- the service */

struct service {
    const char *path, *user;
    uid_t uid;
    struct slurmd_accounts accounts;
    struct slurmd_start start;
};

static void answer(int fd, const char *text)
{
    fprintf(stderr, "sublet-slurmd: %s\n", text);
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
    (void)send(fd, "\n", 1, MSG_NOSIGNAL);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until a newline, within a time. False: it did not come. */
static bool read_line(int fd, char line[SLURMD_REQUEST_SIZE])
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int64_t until_ms = now_ms() + REQUEST_MS, rest_ms;
    size_t length = 0;
    bool is_whole = false;
    while (!is_whole && length < SLURMD_REQUEST_SIZE - 1 &&
           (rest_ms = until_ms - now_ms()) > 0 && poll(&wait, 1, (int)rest_ms) == 1 &&
           read(fd, line + length, 1) == 1) {
        is_whole = line[length++] == '\n';
    }
    line[length] = '\0';
    return is_whole;
}

/* Until slurmd has ended, or the job is gone. A job may be suspended by a signal or by
 * its cgroup, so its silence tells. */
static void wait_for_end(int fd, const struct slurmd_space *space)
{
    struct pollfd waits[] = {{.fd = fd, .events = POLLIN},
                             {.fd = space->pidfd, .events = POLLIN}};
    int64_t heard_ms = now_ms();
    bool is_suspended = false;
    for (;;) {
        int n_ready = poll(waits, 2, BEAT_MS);
        char text[64];
        if (n_ready < 0 && errno != EINTR) {
            return;
        }
        if (n_ready > 0) {
            if (waits[1].revents != 0 || read(fd, text, sizeof(text)) <= 0) {
                return;
            }
            heard_ms = now_ms();
        }
        if (is_suspended != (now_ms() - heard_ms >= SILENCE_MS)) {
            is_suspended = !is_suspended;
            slurmd_space_suspend(space, is_suspended);
        }
    }
}

static void run_node(const struct service *service, int fd,
                     const struct slurmd_request *request)
{
    struct slurmd_space space;
    struct err err;
    if (slurmd_space_new(&service->start, request, &space, &err) < 0) {
        answer(fd, err.text);
        return;
    }
    fprintf(stderr, "sublet-slurmd: %s has begun\n", request->node);
    wait_for_end(fd, &space);
    int status = slurmd_space_end(&space);
    char text[128];
    if (WIFEXITED(status)) {
        snprintf(text, sizeof(text), "%s: slurmd has ended with status %d",
                 request->node, WEXITSTATUS(status));
    } else {
        snprintf(text, sizeof(text), "%s: its job has ended", request->node);
    }
    answer(fd, text);
}

static void serve_job(const struct service *service, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    char line[SLURMD_REQUEST_SIZE];
    struct slurmd_request request;
    struct err err;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != service->uid) {
        answer(fd, "only jobs of the account of --user may ask");
    } else if (!read_line(fd, line)) {
        answer(fd, "no request came, expected a line");
    } else if (slurmd_request_read(line, &request, &err) < 0) {
        answer(fd, err.text);
    } else {
        run_node(service, fd, &request);
    }
}

static int listen_at(const struct service *service)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || make_address(service->path, &address) < 0 ||
        (unlink(service->path) != 0 && errno != ENOENT)) {
        return -1;
    }
    mode_t mask = umask(0177);
    int rc = bind(fd, (const struct sockaddr *)&address, sizeof(address));
    umask(mask);
    if (rc != 0 || chown(service->path, service->uid, (gid_t)-1) != 0 ||
        listen(fd, BACKLOG) != 0) {
        return -1;
    }
    return fd;
}

static int serve(const struct service *service)
{
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_at(service);
    if (listener < 0) {
        return fail(service->path);
    }
    fputs("ready\n", stderr);
    sd_notify(0, "READY=1");
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            serve_job(service, fd);
            close(fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return fail(service->path);
        }
    }
}

/* ---------------------------------------------------------------- options */

static int find_user(struct service *service, struct err *err)
{
    const struct passwd *entry = getpwnam(service->user);
    if (entry == NULL) {
        return err_set(err, ERR_NOT_FOUND, "--user: no account \"%s\" on this host",
                       service->user);
    }
    service->uid = entry->pw_uid;
    return 0;
}

static int begin(struct service *service, const char *accounts)
{
    struct err err;
    if (find_user(service, &err) < 0) {
        return fail_with(&err);
    }
    if (slurmd_request_accounts(accounts, &service->accounts, &err) < 0) {
        err_prefix(&err, "--accounts");
        return fail_with(&err);
    }
    service->start.accounts = &service->accounts;
    return serve(service);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"serve", required_argument, NULL, 's'},
        {"user", required_argument, NULL, 'u'},
        {"munge-key", required_argument, NULL, 'k'},
        {"accounts", required_argument, NULL, 'a'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct service service = {.path = NULL};
    const char *accounts = NULL;
    int letter;
    if (is_asking(argc, argv)) {
        return ask(argv[1], argv + 2);
    }
    while ((letter = getopt_long(argc, argv, "+h", names, NULL)) != -1) {
        switch (letter) {
        case 's':
            service.path = optarg;
            break;
        case 'u':
            service.user = optarg;
            break;
        case 'k':
            service.start.munge_key = optarg;
            break;
        case 'a':
            accounts = optarg;
            break;
        case 'V':
            printf("sublet-slurmd %s\n", SUBLET_VERSION);
            return 0;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    service.start.slurmd = argv + optind;
    service.start.n_words = argc - optind;
    if (service.path == NULL || service.user == NULL || accounts == NULL ||
        service.start.munge_key == NULL || service.start.n_words == 0) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return begin(&service, accounts);
}
