/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c: see launch.h. */
#include "host/guard/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/guard/rlimit_watch.h"
#include "host/run_dir/run_dir.h"

enum {
    NOTE_MAX = 240, /* what went wrong, as a person reads it */
    EXIT_NOT_BEGUN = 127,
    PLAIN_MAX = 1024,
    PLAIN_WORDS_MAX = 64,
};

/* What the child needs, gathered before the fork. */
struct start {
    const struct run_spec *spec;
    const struct launch_command *command;
    const struct account *account;
    int dir;
    int out, err; /* opened in the run's directory; -1: the child opens a file */
    int gate;
};

static _Noreturn void give_up(int gate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static _Noreturn void give_up(int gate, const char *format, ...)
{
    char note[NOTE_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(note, sizeof(note), format, args);
    va_end(args);
    if (length > 0) {
        send(gate, note, strnlen(note, sizeof(note)), MSG_NOSIGNAL);
    }
    _exit(EXIT_NOT_BEGUN);
}

/* Nothing of the guard's stays open: least of all its lock, which would make a dead
 * guard look alive. */
static void close_others(const struct start *start)
{
    const struct job_stdio *ends = start->command->ends;
    int keep[] = {start->gate,
                  start->out,
                  start->err,
                  ends != NULL ? ends->job_in : -1,
                  ends != NULL ? ends->job_out : -1,
                  ends != NULL ? ends->job_err : -1};
    int from = STDERR_FILENO + 1;
    for (;;) {
        int next = -1;
        for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++) {
            if (keep[i] >= from && (next < 0 || keep[i] < next)) {
                next = keep[i];
            }
        }
        if (next < 0) {
            break;
        }
        if (next > from) {
            close_range((unsigned)from, (unsigned)next - 1, 0);
        }
        from = next + 1;
    }
    close_range((unsigned)from, ~0U, 0);
}

static void reset_signals(void)
{
    /* The kernel's own call and layout, all zero for SIG_DFL: posix_spawn leaves two
     * signals ignored that glibc keeps for itself and does not let sigaction touch. */
    const unsigned char standard[128] = {0};
    for (int signal = 1; signal < NSIG; signal++) {
        syscall(SYS_rt_sigaction, signal, standard, NULL, (NSIG - 1) / 8);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void pass_gate(int gate)
{
    char go = 0;
    ssize_t got;
    do {
        got = recv(gate, &go, 1, 0);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        _exit(EXIT_NOT_BEGUN); /* the guard is gone, or thought better of it */
    }
}

static void enter_directory(const struct start *start)
{
    const char *cwd = start->command->is_job ? start->spec->cwd : "/tmp";
    if (cwd[0] != '\0') {
        if (chdir(cwd) != 0) {
            give_up(start->gate, "cannot enter \"%.150s\": %s", cwd, strerror(errno));
        }
        return;
    }
    if (chdir(RUN_DIR_WORK) != 0) { /* the guard stands in the run's directory */
        give_up(start->gate, "cannot enter the run's work directory: %s",
                strerror(errno));
    }
}

static int open_output(const struct start *start, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
        give_up(start->gate, "cannot write \"%.150s\": %s", path, strerror(errno));
    }
    return file;
}

static int open_input(const struct start *start, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0) {
        give_up(start->gate, "cannot read \"%.150s\": %s", path, strerror(errno));
    }
    return file;
}

static void place_files(const struct start *start, int in, int out, int err)
{
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0) {
        give_up(start->gate, "cannot place input and output: %s", strerror(errno));
    }
}

/* Of an interactive job. */
static void open_ends(const struct start *start, const struct job_stdio *ends)
{
    const struct run_spec *spec = start->spec;
    if (ends->is_terminal && ioctl(ends->job_in, TIOCSCTTY, 0) != 0) {
        give_up(start->gate, "cannot take the terminal: %s", strerror(errno));
    }
    int in = spec->in_file[0] != '\0' ? open_input(start, spec->in_file) : ends->job_in;
    int out = ends->job_out >= 0 ? ends->job_out
              : start->out >= 0  ? start->out
                                 : open_output(start, spec->out_file);
    int err = ends->job_err >= 0 ? ends->job_err
              : start->err >= 0  ? start->err
                                 : open_output(start, spec->err_file);
    place_files(start, in, out, err);
}

static void open_files(const struct start *start)
{
    const struct run_spec *spec = start->spec;
    if (!start->command->is_job) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        place_files(start, null, null, null);
        return;
    }
    if (start->command->ends != NULL) {
        open_ends(start, start->command->ends);
        return;
    }
    int in = open_input(start, spec->in_file[0] != '\0' ? spec->in_file : "/dev/null");
    int out = start->out >= 0 ? start->out : open_output(start, spec->out_file);
    int err = start->err >= 0             ? start->err
              : spec->err_file[0] != '\0' ? open_output(start, spec->err_file)
                                          : out;
    place_files(start, in, out, err);
}

/* The words of a command in which nothing is for a shell to interpret: a program by its
 * path, and arguments, one blank between them. False for any other. */
static bool split_plain(const char *command, char *copy, char **words)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789/._-+:,@% ";
    size_t length = strlen(command);
    if (command[0] != '/' || length >= PLAIN_MAX || strspn(command, plain) != length) {
        return false;
    }
    memcpy(copy, command, length + 1);
    int n_words = 0;
    char *word;
    while ((word = strsep(&copy, " ")) != NULL) {
        if (n_words == PLAIN_WORDS_MAX || word[0] == '\0') {
            return false;
        }
        words[n_words++] = word;
    }
    words[n_words] = NULL;
    return true;
}

/* As a shell does: PWD is true and in the environment. One that leads here by other
 * names is left. */
static void set_pwd(char *pwd, size_t size, char **env)
{
    struct stat here;
    struct stat there;
    char cwd[PATH_MAX];
    if (stat(".", &here) != 0 || getcwd(cwd, sizeof(cwd)) == NULL) {
        return;
    }
    while (*env != NULL && strncmp(*env, "PWD=", 4) != 0) {
        env++;
    }
    if (*env != NULL && (*env)[4] == '/' && stat(*env + 4, &there) == 0 &&
        there.st_dev == here.st_dev && there.st_ino == here.st_ino) {
        return;
    }
    snprintf(pwd, size, "PWD=%s", cwd);
    *env = pwd; /* a place is free behind the last */
}

/* What /bin/sh would do with it, without a start of /bin/sh: a fifth of what a short
 * job costs. Returns where that did not work out, and the shell has the say. */
static void run_plain(const struct launch_command *command)
{
    char copy[PLAIN_MAX];
    char pwd[PATH_MAX + sizeof("PWD=")];
    char *words[PLAIN_WORDS_MAX + 1];
    if (split_plain(command->text, copy, words)) {
        char **env = (char **)(uintptr_t)command->env;
        set_pwd(pwd, sizeof(pwd), env);
        execve(words[0], words, env);
    }
}

/* Everything between fork and exec. The guard has no other thread, so this may call
 * what it likes. */
static _Noreturn void become_command(const struct start *start)
{
    close_others(start);
    setsid();
    pass_gate(start->gate);
    if (start->command->is_job) {
        rlimit_watch_impose(&start->spec->limits, start->spec->is_leased);
    }
    umask((mode_t)(start->spec->umask & 0777));
    int error = account_become(start->account);
    if (error != 0) {
        give_up(start->gate, "cannot become \"%s\": %s", start->spec->account,
                strerror(error));
    }
    if (start->spec->is_leased) {
        /* Somebody else's work: no set-uid program helps it up. */
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    }
    enter_directory(start);
    open_files(start);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    reset_signals();
    run_plain(start->command);
    char shell[] = "sh";
    char option[] = "-c";
    char *arguments[] = {shell, option, (char *)(uintptr_t)start->command->text, NULL};
    execve("/bin/sh", arguments, (char *const *)(uintptr_t)start->command->env);
    give_up(start->gate, "cannot begin the command: %s", strerror(errno));
}

/* Born into it: there is no moment at which the job could have left a child outside. */
static pid_t fork_into(const struct cgroup *cgroup)
{
    if (!cgroup_is_open(cgroup)) {
        return fork();
    }
    struct clone_args arguments = {
        .flags = CLONE_INTO_CGROUP,
        .exit_signal = SIGCHLD,
        .cgroup = (__u64)cgroup->dir,
    };
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

/* Kept with the run: made by the guard, given to the account. */
static int open_kept(int dir, const char *name, const struct account *account)
{
    int file =
        openat(dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && account->is_other &&
        fchown(file, account->uid, account->gid) != 0) {
        close(file);
        return -1;
    }
    return file;
}

static int open_kept_files(struct start *start, struct err *err)
{
    const struct run_spec *spec = start->spec;
    bool keeps_out =
        start->command->ends != NULL ? spec->keeps_out : spec->out_file[0] == '\0';
    if (!start->command->is_job) {
        return 0;
    }
    if (keeps_out) {
        start->out = open_kept(start->dir, RUN_DIR_STDOUT, start->account);
    }
    if (spec->keeps_err) {
        start->err = open_kept(start->dir, RUN_DIR_STDERR, start->account);
    }
    if ((keeps_out && start->out < 0) || (spec->keeps_err && start->err < 0)) {
        return err_set(err, ERR_IO, "cannot make the output's files: %s",
                       strerror(errno));
    }
    return 0;
}

static int fork_child(struct launched *job, const struct start *start,
                      struct cgroup *cgroup, struct err *err)
{
    pid_t pid = fork_into(cgroup);
    if (pid < 0 && cgroup_is_open(cgroup)) {
        cgroup_remove(cgroup);
        pid = fork_into(cgroup);
    }
    if (pid < 0) {
        return err_set(err, ERR_FULL, "cannot start a process: %s", strerror(errno));
    }
    if (pid == 0) {
        become_command(start);
    }
    job->pid = pid;
    return 0;
}

int launch_fork(struct launched *job, int dir, const struct run_spec *spec,
                const struct launch_command *command, const struct account *account,
                struct cgroup *cgroup, struct err *err)
{
    struct start start = {.spec = spec,
                          .command = command,
                          .account = account,
                          .dir = dir,
                          .out = -1,
                          .err = -1};
    int gates[2] = {-1, -1};
    int code = open_kept_files(&start, err);
    *job = (struct launched){.gate = -1};
    if (code == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, gates) != 0) {
        code = err_set(err, ERR_FULL, "cannot make the gate: %s", strerror(errno));
    }
    if (code == 0) {
        job->gate = gates[0];
        start.gate = gates[1];
        code = fork_child(job, &start, cgroup, err);
    }
    int done[] = {start.out, start.err, gates[1], code != 0 ? gates[0] : -1};
    for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++) {
        if (done[i] >= 0) {
            close(done[i]);
        }
    }
    return code;
}

void launch_release(struct launched *job)
{
    send(job->gate, "g", 1, MSG_NOSIGNAL);
}

void launch_abandon(struct launched *job)
{
    close(job->gate);
    job->gate = -1;
}

bool launch_has_failed(struct launched *job, char *text, size_t size)
{
    ssize_t length = recv(job->gate, text, size - 1, MSG_DONTWAIT);
    text[length > 0 ? length : 0] = '\0';
    launch_abandon(job);
    return length > 0;
}
