/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd_space.c: see slurmd_space.h. */
#include "host/slurmd/slurmd_space.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

enum { KEY_MAX = 4096, FAILED = 1 };

#define MUNGE_DIR "/run/munge"
static const char munge_key_file[] = "/run/munge.key";
static const char search_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                                  "/sbin:/bin";

/* What the first process needs. */
struct inside {
    const struct slurmd_start *start;
    const struct slurmd_request *request;
    int go_fd; /* a byte comes once its accounts are there */
    char key[KEY_MAX];
    size_t key_size;
};

/* ---------------------------------------------------------------- inside */

static void give_up(const char *what)
{
    fprintf(stderr, "sublet-slurmd: %s: %s\n", what, strerror(errno));
    _exit(FAILED);
}

static void become_root(void)
{
    if (setgroups(0, NULL) != 0 || setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0) {
        give_up("the accounts of the namespace");
    }
}

static void mount_empty(const char *path)
{
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0 &&
        errno != ENOENT) {
        give_up(path);
    }
}

static void mount_all(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) {
        give_up("mounts");
    }
    /* The kernel refuses it in a user namespace if a part of the machine's /proc is
     * hidden by another mount. */
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        give_up("/proc");
    }
    mount_empty("/run");
    mount_empty("/var/log");
    mount_empty("/var/spool");
    mount_empty("/var/lib/slurm");
    mount_empty("/etc/slurm");
}

static void store_key(const struct inside *inside)
{
    int fd = open(munge_key_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 ||
        write(fd, inside->key, inside->key_size) != (ssize_t)inside->key_size ||
        close(fd) != 0 || mkdir(MUNGE_DIR, 0755) != 0) {
        give_up("the key of munge");
    }
}

static pid_t spawn(const char *const *words)
{
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setsid();
        execvp(words[0], (char *const *)words);
        give_up(words[0]);
    }
    if (pid < 0) {
        give_up("fork");
    }
    return pid;
}

/* It is ready when the process that was started has ended. "/" belongs to no account of
 * the namespace, which --force takes for a warning. */
static void start_munged(void)
{
    static const char *const words[] = {"munged",
                                        "--force",
                                        "--key-file=/run/munge.key",
                                        "--socket=" MUNGE_DIR "/munge.socket.2",
                                        "--pid-file=" MUNGE_DIR "/munged.pid",
                                        "--seed-file=" MUNGE_DIR "/seed",
                                        "--log-file=" MUNGE_DIR "/munged.log",
                                        NULL};
    int status = 0;
    pid_t pid = spawn(words);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        fprintf(stderr, "sublet-slurmd: munged does not start\n");
        _exit(FAILED);
    }
}

static pid_t start_slurmd(const struct inside *inside)
{
    const struct slurmd_start *start = inside->start;
    const char **words = mem_alloc((size_t)start->n_words + 7, sizeof(*words));
    int n = 0;
    for (int i = 0; i < start->n_words; i++) {
        words[n++] = start->slurmd[i];
    }
    words[n++] = "-D";
    words[n++] = "-Z";
    words[n++] = "-N";
    words[n++] = inside->request->node;
    words[n++] = "--conf";
    words[n++] = inside->request->conf;
    pid_t pid = spawn(words);
    free(words);
    return pid;
}

/* Until slurmd has ended; returns its exit status. */
static int supervise(pid_t slurmd, const sigset_t *signals)
{
    for (;;) {
        int signal = sigwaitinfo(signals, NULL), status;
        if (signal == SIGUSR1 || signal == SIGUSR2) {
            kill(-1, signal == SIGUSR1 ? SIGSTOP : SIGCONT);
        }
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid == slurmd) {
                return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
            }
        }
    }
}

static void run(struct inside *inside)
{
    sigset_t signals;
    char byte;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    if (read(inside->go_fd, &byte, 1) != 1) {
        _exit(FAILED);
    }
    become_root();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        give_up("the end with its service");
    }
    clearenv();
    setenv("PATH", search_path, 1);
    setenv("LC_ALL", "C", 1);
    mount_all();
    store_key(inside);
    start_munged();
    _exit(supervise(start_slurmd(inside), &signals));
}

/* ---------------------------------------------------------------- outside */

static int read_key(const char *path, struct inside *inside, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, inside->key, sizeof(inside->key));
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (size < 0) {
        return err_set(err, ERR_IO, "%s: %s", path, strerror(error));
    }
    inside->key_size = (size_t)size;
    return 0;
}

static int write_map(pid_t pid, const char *name,
                     const struct slurmd_accounts *accounts, struct err *err)
{
    char path[64], text[64 * SLURMD_RANGES_MAX];
    size_t length = 0;
    for (int i = 0; i < accounts->n_ranges; i++) {
        const struct slurmd_range *range = &accounts->ranges[i];
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "%lld %lld %lld\n", (long long)range->inside,
                                   (long long)range->outside, (long long)range->count);
    }
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, text, length) == (ssize_t)length;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    return is_written ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(error));
}

static int let_go(pid_t pid, const struct slurmd_accounts *accounts, int go_fd,
                  struct err *err)
{
    if (accounts->n_ranges > 0) {
        int rc = write_map(pid, "uid_map", accounts, err);
        rc = rc < 0 ? rc : write_map(pid, "gid_map", accounts, err);
        if (rc < 0) {
            return rc;
        }
    }
    return write(go_fd, "", 1) == 1 ? 0 : err_set(err, ERR_IO, "%s", strerror(errno));
}

/* As fork(), with namespaces. */
static pid_t clone_process(bool has_accounts)
{
    unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD;
    return (pid_t)syscall(SYS_clone, flags | (has_accounts ? CLONE_NEWUSER : 0UL), NULL,
                          NULL, NULL, NULL);
}

int slurmd_space_new(const struct slurmd_start *start,
                     const struct slurmd_request *request, struct slurmd_space *space,
                     struct err *err)
{
    struct inside inside = {.start = start, .request = request};
    int go[2];
    int rc = read_key(start->munge_key, &inside, err);
    if (rc < 0) {
        return rc;
    }
    if (pipe2(go, O_CLOEXEC) != 0) {
        return err_set(err, ERR_IO, "%s", strerror(errno));
    }
    pid_t pid = clone_process(start->accounts->n_ranges > 0);
    if (pid == 0) {
        inside.go_fd = go[0];
        close(go[1]);
        run(&inside);
    }
    int error = errno;
    explicit_bzero(inside.key, sizeof(inside.key));
    close(go[0]);
    rc = pid < 0 ? err_set(err, ERR_IO, "namespaces: %s", strerror(error))
                 : let_go(pid, start->accounts, go[1], err);
    close(go[1]);
    if (pid > 0) {
        *space = (struct slurmd_space){.pid = pid,
                                       .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
        if (rc < 0) {
            (void)slurmd_space_end(space);
        }
    }
    return rc;
}

void slurmd_space_suspend(const struct slurmd_space *space, bool is_suspended)
{
    kill(space->pid, is_suspended ? SIGUSR1 : SIGUSR2);
}

int slurmd_space_end(struct slurmd_space *space)
{
    int status = 0;
    kill(space->pid, SIGKILL);
    while (waitpid(space->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(space->pidfd);
    return status;
}
