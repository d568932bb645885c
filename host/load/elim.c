/* SPDX-License-Identifier: Apache-2.0 */
/* elim.c: see elim.h.
 *
 * It runs in a process group of its own. Its end is seen at SIGCHLD or at the end of
 * its output, whichever comes first, and both lead to the same: the group is killed
 * while its leader's number is still taken, then the leader is collected. */
#include "host/load/elim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/resend.h"
#include "host/load/elim_line.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    LIVED_MS = 60000, /* after so long a life the shortest pause applies again */
    LOG_BURST = 5,
    EXIT_NO_PROGRAM = 127,
};

/* Before the next start; longer each time. */
static const struct resend_waits pauses = {.first_ms = 1000, .last_ms = 300000};

struct elim {
    zloop_t *loop;
    char *program;
    pid_t pid;  /* 0: not running */
    int output; /* our end of its standard output; -1 */
    int timer;  /* of the next start, or the next look at the output; -1: none */
    bool is_polled, is_aborted, has_changed;
    int64_t started_ms;
    int n_ends; /* since it last lived long */
    struct elim_table table;
    char line[ELIM_LINE_MAX + 1];
    size_t length;   /* of the line so far */
    bool is_skipped; /* the rest of a line that was too long */
    struct log_limit bad_lines;
};

static void start(struct elim *elim);
static int on_readable(zloop_t *loop, zmq_pollitem_t *item, void *arg);

static void drop_values(struct elim *elim)
{
    elim->has_changed = elim->has_changed || elim->table.count > 0;
    elim->table.count = 0;
}

/* ---------------------------------------------------------------- its output */

static void poll_output(struct elim *elim, bool is_polled)
{
    zmq_pollitem_t item = {.fd = elim->output, .events = ZMQ_POLLIN};
    if (elim->is_polled == is_polled || elim->output < 0) {
        return;
    }
    elim->is_polled = is_polled;
    if (!is_polled) {
        zloop_poller_end(elim->loop, &item);
    } else if (zloop_poller(elim->loop, &item, on_readable, elim) != 0) {
        log_line(LOG_LEVEL_ERROR, "elim %s: its output cannot be polled",
                 elim->program);
    }
}

/* The sentence may quote what no log should hold. */
static void complain(struct elim *elim, const char *what)
{
    char text[sizeof(((struct err *)0)->text)];
    size_t length = 0;
    if (!log_limit_pass(&elim->bad_lines, daemon_now_ms())) {
        return;
    }
    for (; what[length] != '\0' && length + 1 < sizeof(text); length++) {
        text[length] =
            (char)(what[length] >= ' ' && what[length] < 0x7f ? what[length] : '?');
    }
    text[length] = '\0';
    log_line(LOG_LEVEL_WARNING, "elim %s: a line is ignored: %s", elim->program, text);
}

static void take_line(struct elim *elim)
{
    struct elim_pair pairs[ELIM_PAIRS_MAX];
    struct err err;
    int n_pairs;
    elim->line[elim->length] = '\0';
    if (elim_line_parse(elim->line, elim->length, pairs, &n_pairs, &err) != 0) {
        complain(elim, err.text);
    } else if (elim_table_take(&elim->table, pairs, n_pairs, daemon_now_ms())) {
        elim->has_changed = true;
    }
    elim->length = 0;
}

static void take_byte(struct elim *elim, char byte)
{
    if (byte == '\n') {
        if (!elim->is_skipped) {
            take_line(elim);
        }
        elim->is_skipped = false;
        elim->length = 0;
    } else if (elim->length == ELIM_LINE_MAX) {
        if (!elim->is_skipped) {
            complain(elim, "it is too long");
        }
        elim->is_skipped = true;
    } else {
        elim->line[elim->length++] = byte;
    }
}

static void end(struct elim *elim);

static int on_look(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    struct elim *elim = arg;
    if (timer != elim->timer) {
        return 0; /* ended in this turn already (sys/wake.h) */
    }
    elim->timer = -1;
    poll_output(elim, true);
    return 0;
}

static int on_readable(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)item;
    struct elim *elim = arg;
    char bytes[8192];
    ssize_t got = read(elim->output, bytes, sizeof(bytes));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    if (got <= 0) {
        end(elim);
        return 0;
    }
    for (ssize_t i = 0; i < got; i++) {
        take_byte(elim, bytes[i]);
    }
    poll_output(elim, false);
    elim->timer = zloop_timer(loop, ELIM_READ_MS, 1, on_look, elim);
    return 0;
}

/* ---------------------------------------------------------------- its end */

static int on_pause_over(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    struct elim *elim = arg;
    if (timer != elim->timer) {
        return 0; /* ended in this turn already (sys/wake.h) */
    }
    elim->timer = -1;
    start(elim);
    return 0;
}

static void start_later(struct elim *elim)
{
    if (daemon_now_ms() - elim->started_ms >= LIVED_MS) {
        elim->n_ends = 0;
    }
    int64_t pause_ms = resend_wait_ms(pauses, ++elim->n_ends);
    elim->timer = zloop_timer(elim->loop, (size_t)pause_ms, 1, on_pause_over, elim);
    log_line(LOG_LEVEL_INFO, "elim %s: started again in %g s", elim->program,
             (double)pause_ms / 1000.0);
}

static void log_end(struct elim *elim, int status)
{
    if (WIFSIGNALED(status)) {
        log_line(LOG_LEVEL_WARNING, "elim %s: ended by signal %d", elim->program,
                 WTERMSIG(status));
    } else if (WEXITSTATUS(status) == ELIM_ABORT) {
        elim->is_aborted = true;
        log_line(LOG_LEVEL_NOTICE,
                 "elim %s: ended with status %d: nothing to measure here",
                 elim->program, ELIM_ABORT);
    } else {
        log_line(LOG_LEVEL_WARNING, "elim %s: ended with status %d", elim->program,
                 WEXITSTATUS(status));
    }
}

static void stop_timer(struct elim *elim)
{
    if (elim->timer >= 0) {
        zloop_timer_end(elim->loop, elim->timer);
        elim->timer = -1;
    }
}

/* Kills what is left of it; returns how its first process ended. */
static int kill_group(struct elim *elim)
{
    int status = 0;
    kill(-elim->pid, SIGKILL);
    while (waitpid(elim->pid, &status, 0) < 0 && errno == EINTR) {
    }
    elim->pid = 0;
    return status;
}

static void end(struct elim *elim)
{
    stop_timer(elim);
    poll_output(elim, false);
    if (elim->output >= 0) {
        close(elim->output);
        elim->output = -1;
    }
    log_end(elim, kill_group(elim));
    drop_values(elim);
    elim->length = 0;
    elim->is_skipped = false;
    if (!elim->is_aborted) {
        start_later(elim);
    }
}

void elim_reap(struct elim *elim)
{
    siginfo_t info = {.si_pid = 0};
    if (elim->pid == 0) {
        return;
    }
    int code = waitid(P_PID, (id_t)elim->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (code != 0 || info.si_pid != 0) {
        end(elim);
    }
}

/* ---------------------------------------------------------------- its start */

/* In the child: only calls that are safe there. */
static void become(const struct elim *elim, int output, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(output, STDOUT_FILENO) < 0) {
        _exit(EXIT_NO_PROGRAM);
    }
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl(elim->program, elim->program, (char *)NULL);
    _exit(EXIT_NO_PROGRAM);
}

static int spawn(struct elim *elim)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return errno;
    }
    fcntl(ends[1], F_SETFL, 0); /* its end waits: that is what holds a flood */
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        become(elim, ends[1], parent);
    }
    int error = pid < 0 ? errno : 0;
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return error;
    }
    setpgid(pid, pid); /* whichever of the two comes first */
    elim->pid = pid;
    elim->output = ends[0];
    return 0;
}

static void start(struct elim *elim)
{
    elim->started_ms = daemon_now_ms();
    int error = spawn(elim);
    if (error != 0) {
        log_line(LOG_LEVEL_ERROR, "elim %s: cannot be started: %s", elim->program,
                 strerror(error));
        start_later(elim);
        return;
    }
    log_line(LOG_LEVEL_DEBUG, "elim %s: is process %ld", elim->program,
             (long)elim->pid);
    poll_output(elim, true);
}

/* ---------------------------------------------------------------- life */

int elim_new(zloop_t *loop, const char *program, struct elim **elim, struct err *err)
{
    if (program[0] != '/' || access(program, X_OK) != 0) {
        int error = program[0] != '/' ? EINVAL : errno;
        return err_set(err, error == ENOENT ? ERR_NOT_FOUND : ERR_DENIED,
                       "elim \"%s\": %s", program,
                       error == EINVAL ? "expected a path that begins with /"
                                       : strerror(error));
    }
    struct elim *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->program = strdup(program);
    made->output = made->timer = -1;
    made->bad_lines.burst = LOG_BURST;
    *elim = made;
    return 0;
}

void elim_start(struct elim *elim)
{
    setenv("ELIM_ABORT_VALUE", "97", 1);
    start(elim);
}

void elim_free(struct elim *elim)
{
    if (elim == NULL) {
        return;
    }
    stop_timer(elim);
    poll_output(elim, false);
    if (elim->output >= 0) {
        close(elim->output);
    }
    if (elim->pid != 0) {
        kill_group(elim);
    }
    free(elim->program);
    free(elim);
}

int elim_values(struct elim *elim, struct load_value *values, int max)
{
    if (elim_table_expire(&elim->table, daemon_now_ms() - ELIM_SILENT_MS)) {
        log_line(LOG_LEVEL_WARNING, "elim %s: silent for %d s, its values are dropped",
                 elim->program, ELIM_SILENT_MS / 1000);
    }
    return elim_table_list(&elim->table, values, max);
}

bool elim_has_changed(struct elim *elim)
{
    bool has_news = elim->has_changed;
    elim->has_changed = false;
    return has_news;
}
