/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c: see launch.h. */
#include "host/guard/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/guard/rlimit_watch.h"
#include "host/run_dir/run_dir.h"
#include "model/cpu.h"

enum {
    ERROR_TEXT_MAX = 240, /* an error text */
    EXIT_NOT_BEGUN = 127,
    DIRECT_MAX = 1024,
    DIRECT_WORDS_MAX = 64,
};

/* What the child needs, prepared before the fork. */
struct start {
    const struct run_spec *spec;
    struct launch_command *command;
    const struct account *account;
    const struct memcg *memcg;
    int dir;
    int out, err; /* opened in the run's directory; -1: the child opens a file */
    int gate;
};

static _Noreturn void give_up(int gate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static _Noreturn void give_up(int gate, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (length > 0) {
        send(gate, text, strnlen(text, sizeof(text)), MSG_NOSIGNAL);
    }
    _exit(EXIT_NOT_BEGUN);
}

/* The child must not inherit descriptors of the guard, least of all the lock, which
 * would make a dead guard look alive. */
static void close_others(const struct start *start)
{
    const struct job_stdio *stdio = start->command->stdio;
    int keep[] = {start->gate,
                  start->out,
                  start->err,
                  stdio != NULL ? stdio->job_in : -1,
                  stdio != NULL ? stdio->job_out : -1,
                  stdio != NULL ? stdio->job_err : -1};
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
        _exit(EXIT_NOT_BEGUN); /* the guard is gone, or has abandoned the launch */
    }
}

static void enter_directory(const struct start *start)
{
    bool is_jobs = start->command->is_job || start->command->report != NULL;
    const char *cwd = is_jobs ? start->spec->cwd : "/tmp";
    if (cwd[0] != '\0') {
        if (chdir(cwd) != 0) {
            give_up(start->gate, "cannot enter \"%.150s\": %s", cwd, strerror(errno));
        }
        return;
    }
    if (chdir(RUN_DIR_WORK) !=
        0) { /* the guard's working directory is the run's directory */
        give_up(start->gate, "cannot enter the run's work directory: %s",
                strerror(errno));
    }
}

static int open_output(const struct start *start, const char *path, bool is_emptied)
{
    int file = open(
        path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (is_emptied ? O_TRUNC : 0),
        0666);
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

static void dup_files(const struct start *start, int in, int out, int err)
{
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0) {
        give_up(start->gate, "cannot place input and output: %s", strerror(errno));
    }
}

/* For an interactive job. */
static void open_stdio(const struct start *start, const struct job_stdio *stdio)
{
    const struct run_spec *spec = start->spec;
    if (stdio->is_terminal && ioctl(stdio->job_in, TIOCSCTTY, 0) != 0) {
        give_up(start->gate, "cannot take the terminal: %s", strerror(errno));
    }
    int in =
        spec->in_file[0] != '\0' ? open_input(start, spec->in_file) : stdio->job_in;
    int out = stdio->job_out >= 0 ? stdio->job_out
              : start->out >= 0
                  ? start->out
                  : open_output(start, spec->out_file, spec->replaces_out);
    int err = stdio->job_err >= 0 ? stdio->job_err
              : start->err >= 0
                  ? start->err
                  : open_output(start, spec->err_file, spec->replaces_err);
    dup_files(start, in, out, err);
}

/* LSB_OUTDIR (bsub -outdir) and the directories above it. */
static void make_output_directory(const struct start *start)
{
    static const char name[] = "LSB_OUTDIR=";
    char path[PATH_MAX];
    const char **env = start->command->env;
    while (*env != NULL && strncmp(*env, name, sizeof(name) - 1) != 0) {
        env++;
    }
    if (*env == NULL || strlen(*env) >= sizeof(path)) {
        return;
    }
    snprintf(path, sizeof(path), "%s", *env + sizeof(name) - 1);
    for (char *at = path; at != NULL; at = strchr(at + 1, '/')) {
        char *end = strchr(at + 1, '/');
        if (end != NULL) {
            *end = '\0';
        }
        if (mkdir(path, 0777) != 0 && errno != EEXIST && end == NULL) {
            give_up(start->gate, "cannot make the output directory \"%.150s\": %s",
                    path, strerror(errno));
        }
        if (end != NULL) {
            *end = '/';
        }
    }
}

static void open_files(const struct start *start)
{
    const struct run_spec *spec = start->spec;
    if (!start->command->is_job) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup_files(start, null, null, null);
        return;
    }
    make_output_directory(start);
    if (start->command->stdio != NULL) {
        open_stdio(start, start->command->stdio);
        return;
    }
    int in = open_input(start, spec->in_file[0] != '\0' ? spec->in_file : "/dev/null");
    int out = start->out >= 0 ? start->out
                              : open_output(start, spec->out_file, spec->replaces_out);
    int err = start->err >= 0 ? start->err
              : spec->err_file[0] != '\0'
                  ? open_output(start, spec->err_file, spec->replaces_err)
                  : out;
    dup_files(start, in, out, err);
}

/* Splits a command without shell syntax: the path of a program, and arguments,
 * separated by single blanks. Returns false for any other command. */
static bool split_words(const char *command, char *copy, char **words)
{
    static const char literal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789/._-+:,@% ";
    size_t length = strlen(command);
    if (command[0] != '/' || length >= DIRECT_MAX ||
        strspn(command, literal) != length) {
        return false;
    }
    memcpy(copy, command, length + 1);
    int n_words = 0;
    char *word;
    while ((word = strsep(&copy, " ")) != NULL) {
        if (n_words == DIRECT_WORDS_MAX || word[0] == '\0') {
            return false;
        }
        words[n_words++] = word;
    }
    words[n_words] = NULL;
    return true;
}

/* Sets PWD as a shell does. A PWD that leads here by other names stays. */
static void set_pwd(char *pwd, size_t size, const char **env)
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
    *env = pwd; /* there is a free place behind the last */
}

/* False: not all of it; a file of -1 takes nothing. */
static bool write_text(int file, const char *text)
{
    size_t left = strlen(text);
    while (file >= 0 && left > 0) {
        ssize_t written = write(file, text, left);
        if (written <= 0) {
            break;
        }
        text += written;
        left -= (size_t)written;
    }
    return left == 0;
}

/* Executes a script that names its interpreter (#!) by the kernel, from memory. Returns
 * if the command is no such script. */
static void exec_script(const struct start *start)
{
    const char *text = start->command->text;
    char name[] = "job";
    char *words[] = {name, NULL};
    if (strncmp(text, "#!", 2) != 0) {
        return;
    }
    /* Stays open: the interpreter reads it as /dev/fd/N. */
    int file = memfd_create(name, 0);
    if (write_text(file, text)) {
        fexecve(file, words, (char *const *)(uintptr_t)start->command->env);
    }
    give_up(start->gate, "cannot start the interpreter of the script, \"%.*s\": %s",
            (int)strcspn(start->command->text, "\n"), start->command->text,
            strerror(errno));
}

/* Executes the command without starting /bin/sh, which is a fifth of the cost of a
 * short job. Returns if that fails: the shell then reports the error. */
static void exec_directly(struct launch_command *command)
{
    char copy[DIRECT_MAX];
    char pwd[PATH_MAX + sizeof("PWD=")];
    char *words[DIRECT_WORDS_MAX + 1];
    if (split_words(command->text, copy, words)) {
        set_pwd(pwd, sizeof(pwd), command->env);
        execve(words[0], words, (char *const *)(uintptr_t)command->env);
    }
}

/* No process waits for a reader of a pipe. */
static _Noreturn void write_report(const struct start *start)
{
    int file = start->out >= 0
                   ? start->out
                   : open(start->spec->out_file,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    _exit(write_text(file, start->command->report) ? 0 : EXIT_NOT_BEGUN);
}

/* The memory of the process comes from these nodes, or from these first. A kernel
 * without nodes has nothing to bind. */
static int bind_memory(const struct run_spec *spec, struct err *err)
{
    struct cpu_set nodes;
    const char *text = spec->mem_nodes;
    int code = cpu_set_parse(text, strlen(text), &nodes, err);
    if (code != 0) {
        return code;
    }
    int mode = spec->is_mem_strict ? MPOL_BIND : MPOL_PREFERRED;
    unsigned long mask[CPU_SET_MAX / 64];
    memcpy(mask, nodes.bits, sizeof(mask));
    if (text[0] != '\0' &&
        syscall(SYS_set_mempolicy, mode, mask, (unsigned long)CPU_SET_MAX) != 0 &&
        errno != ENOSYS && spec->is_mem_strict) {
        return err_set(err, ERR_IO, "cannot bind memory to nodes %.100s: %s", text,
                       strerror(errno));
    }
    return 0;
}

static int bind_cpus(const struct run_spec *spec, struct err *err)
{
    struct cpu_set cpus;
    const char *text = spec->cpus;
    int code = cpu_set_parse(text, strlen(text), &cpus, err);
    if (code == 0 && text[0] != '\0' &&
        syscall(SYS_sched_setaffinity, 0, sizeof(cpus.bits), cpus.bits) != 0) {
        return err_set(err, ERR_IO, "cannot bind to processors %.100s: %s", text,
                       strerror(errno));
    }
    return code;
}

static void bind_processors(const struct start *start)
{
    struct err err;
    if (bind_cpus(start->spec, &err) != 0 || bind_memory(start->spec, &err) != 0) {
        give_up(start->gate, "%s", err.text);
    }
}

/* Everything between fork and exec. The guard has no other thread, so any call is safe.
 */
static _Noreturn void become_command(const struct start *start)
{
    bool is_counted = !memcg_is_open(start->memcg) || memcg_enter(start->memcg);
    int error = errno;
    close_others(start);
    setsid();
    pass_gate(start->gate);
    /* Behind the gate: a text sent before is lost when the process exits without having
     * read what the guard sends (ECONNRESET). */
    if (!is_counted) {
        give_up(start->gate, "cannot enter the cgroup of its memory, \"%.150s\": %s",
                start->memcg->path, strerror(error));
    }
    if (start->command->is_job) {
        rlimit_watch_impose(&start->spec->limits, start->spec->is_leased);
    }
    bind_processors(start);
    umask((mode_t)(start->spec->umask & 0777));
    bool has_view = start->spec->is_leased && start->account->is_other;
    error = has_view ? private_view_enter((int)start->spec->private_view) : 0;
    if (error != 0) {
        give_up(start->gate, "cannot hide the machine from the job: %s",
                strerror(error));
    }
    error = account_become(start->account);
    if (error != 0) {
        give_up(start->gate, "cannot become \"%s\": %s", start->spec->account,
                strerror(error));
    }
    if (start->spec->is_leased) {
        /* A leased job gains no rights by set-uid programs. */
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    }
    enter_directory(start);
    if (start->command->report != NULL) {
        write_report(start);
    }
    open_files(start);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    reset_signals();
    exec_script(start);
    exec_directly(start->command);
    char shell[] = "sh";
    char option[] = "-c";
    char *arguments[] = {shell, option, (char *)(uintptr_t)start->command->text, NULL};
    execve("/bin/sh", arguments, (char *const *)(uintptr_t)start->command->env);
    give_up(start->gate, "cannot start the command: %s", strerror(errno));
}

/* The process is born into its cgroup: it cannot leave a child outside. */
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

/* A file in the run's directory: made by the guard, owned by the account. */
static int open_output_file(int dir, const char *name, const struct account *account)
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

static int open_output_files(struct start *start, struct err *err)
{
    const struct run_spec *spec = start->spec;
    bool keeps_out =
        start->command->stdio != NULL ? spec->keeps_out : spec->out_file[0] == '\0';
    if (!start->command->is_job && start->command->report == NULL) {
        return 0;
    }
    if (keeps_out) {
        start->out = open_output_file(start->dir, RUN_DIR_STDOUT, start->account);
    }
    if (spec->keeps_err && start->command->is_job) {
        start->err = open_output_file(start->dir, RUN_DIR_STDERR, start->account);
    }
    if ((keeps_out && start->out < 0) ||
        (spec->keeps_err && start->command->is_job && start->err < 0)) {
        return err_set(err, ERR_IO, "cannot make the output's files: %s",
                       strerror(errno));
    }
    return 0;
}

static int fork_child(struct launched *launched, const struct start *start,
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
    launched->pid = pid;
    return 0;
}

int launch_fork(struct launched *launched, int dir, const struct run_spec *spec,
                struct launch_command *command, const struct account *account,
                struct cgroup *cgroup, const struct memcg *memcg, struct err *err)
{
    struct start start = {.spec = spec,
                          .command = command,
                          .account = account,
                          .memcg = memcg,
                          .dir = dir,
                          .out = -1,
                          .err = -1};
    int gates[2] = {-1, -1};
    int code = open_output_files(&start, err);
    *launched = (struct launched){.gate = -1};
    if (code == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, gates) != 0) {
        code = err_set(err, ERR_FULL, "cannot make the gate: %s", strerror(errno));
    }
    if (code == 0) {
        launched->gate = gates[0];
        start.gate = gates[1];
        code = fork_child(launched, &start, cgroup, err);
    }
    int done[] = {start.out, start.err, gates[1], code != 0 ? gates[0] : -1};
    for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++) {
        if (done[i] >= 0) {
            close(done[i]);
        }
    }
    return code;
}

void launch_release(struct launched *launched)
{
    send(launched->gate, "g", 1, MSG_NOSIGNAL);
}

void launch_abandon(struct launched *launched)
{
    close(launched->gate);
    launched->gate = -1;
}

bool launch_has_failed(struct launched *launched, char *text, size_t size)
{
    ssize_t length = recv(launched->gate, text, size - 1, MSG_DONTWAIT);
    text[length > 0 ? length : 0] = '\0';
    launch_abandon(launched);
    return length > 0;
}

int launch_aside(pid_t *pid, int dir, const struct run_spec *spec,
                 struct launch_command *command, const struct account *account,
                 struct err *err)
{
    struct cgroup none = {.dir = -1};
    struct memcg uncounted = {.dir = -1};
    struct launched launched;
    int code =
        launch_fork(&launched, dir, spec, command, account, &none, &uncounted, err);
    if (code == 0) {
        launch_release(&launched);
        launch_abandon(&launched);
        *pid = launched.pid;
    }
    return code;
}
