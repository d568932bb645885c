/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: see child.h. */
#include "sys/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/daemon.h"

enum { OUTPUT, COMPLAINT, PROCESS };
enum { COMPLAINT_MAX = 4096, VARIABLES_MAX = 8, PIECE = 65536 };

struct child {
    char *program;
    pid_t pid; /* 0: it has ended, and was waited for */
    int fds[CHILD_FDS];
    int64_t deadline_ms, within_ms;
    char *text; /* ended by a NUL */
    size_t n_text, capacity;
    char complaint[COMPLAINT_MAX]; /* the end of standard error */
    size_t n_complaint;
    int status; /* of wait */
    int error;  /* ERR_FULL or ERR_AWAY: it was ended; 0: it ended itself */
};

/* ---------------------------------------------------------------- start */

/* At most VARIABLES_MAX of the setting. */
static void make_environment(struct arena *arena, const struct child_setting *setting,
                             const char *environment[])
{
    const char *path = getenv("PATH");
    int count = 0;
    environment[count++] = "LC_ALL=C";
    environment[count++] =
        path != NULL ? arena_printf(arena, "PATH=%s", path) : "PATH=/usr/bin:/bin";
    for (int i = 0; setting->variables != NULL && setting->variables[i] != NULL &&
                    i < VARIABLES_MAX;
         i++) {
        environment[count++] = setting->variables[i];
    }
    environment[count] = NULL;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
}

static int spawn(struct child *child, const char *const *words,
                 const char *const *environment, const int outputs[2])
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
    int error = set_attributes(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                                 O_RDONLY, 0);
    }
    if (error == 0) {
        error =
            posix_spawn_file_actions_adddup2(&files, outputs[OUTPUT], STDOUT_FILENO);
    }
    if (error == 0) {
        error =
            posix_spawn_file_actions_adddup2(&files, outputs[COMPLAINT], STDERR_FILENO);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    }
    if (error == 0) {
        /* It does not write to the words and the environment. */
        error = posix_spawnp(&child->pid, child->program, &files, &attributes,
                             (char *const *)words, (char *const *)environment);
    }
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static int open_pipes(struct child *child, int outputs[2])
{
    for (int i = OUTPUT; i <= COMPLAINT; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            return errno;
        }
        child->fds[i] = ends[0];
        outputs[i] = ends[1];
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
            return errno;
        }
    }
    return 0;
}

static int start(struct child *child, const struct child_setting *setting,
                 const char *const *words)
{
    const char *environment[VARIABLES_MAX + 3];
    int outputs[2] = {-1, -1};
    struct arena arena;
    arena_init_small(&arena);
    make_environment(&arena, setting, environment);
    int error = open_pipes(child, outputs);
    if (error == 0) {
        error = spawn(child, words, environment, outputs);
    }
    for (int i = 0; i < 2; i++) {
        if (outputs[i] >= 0) {
            close(outputs[i]);
        }
    }
    arena_release(&arena);
    if (error != 0) {
        child->pid = 0;
        return error;
    }
    child->fds[PROCESS] = pidfd_open(child->pid, 0);
    return child->fds[PROCESS] < 0 ? errno : 0;
}

int child_new(const struct child_setting *setting, const char *const *words,
              int64_t now_ms, struct child **child, struct err *err)
{
    struct child *made = mem_alloc(1, sizeof(*made));
    made->program = strdup(words[0]);
    made->within_ms = setting->within_ms;
    made->deadline_ms = now_ms + setting->within_ms;
    made->capacity = PIECE;
    made->text = mem_alloc(made->capacity, 1);
    for (int i = 0; i < CHILD_FDS; i++) {
        made->fds[i] = -1;
    }
    int error = start(made, setting, words);
    if (error != 0) {
        err_set(err, ERR_IO, "\"%s\" cannot be started: %s", made->program,
                strerror(error));
        child_free(made);
        return ERR_IO;
    }
    *child = made;
    return 0;
}

/* ---------------------------------------------------------------- step */

static void close_fd(struct child *child, int which)
{
    if (child->fds[which] >= 0) {
        close(child->fds[which]);
        child->fds[which] = -1;
    }
}

/* Ends the child and whatever it has started. */
static void kill_child(struct child *child)
{
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR) {
    }
    child->pid = 0;
}

static void read_output(struct child *child)
{
    while (child->fds[OUTPUT] >= 0 && child->n_text <= CHILD_OUTPUT_MAX) {
        if (child->capacity - child->n_text < PIECE + 1) {
            child->capacity *= 2;
            child->text = mem_grow(child->text, child->capacity, 1);
        }
        ssize_t n_read = read(child->fds[OUTPUT], child->text + child->n_text, PIECE);
        if (n_read > 0) {
            child->n_text += (size_t)n_read;
        } else if (n_read == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_fd(child, OUTPUT);
        } else if (errno == EAGAIN) {
            break;
        }
    }
    child->text[child->n_text] = '\0';
}

static void read_complaint(struct child *child)
{
    while (child->fds[COMPLAINT] >= 0) {
        const size_t half = COMPLAINT_MAX / 2;
        if (child->n_complaint >= half) { /* the end says most */
            memmove(child->complaint, child->complaint + child->n_complaint - half / 2,
                    half / 2);
            child->n_complaint = half / 2;
        }
        ssize_t n_read = read(child->fds[COMPLAINT],
                              child->complaint + child->n_complaint, half - 1);
        if (n_read > 0) {
            child->n_complaint += (size_t)n_read;
        } else if (n_read == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_fd(child, COMPLAINT);
        } else if (errno == EAGAIN) {
            break;
        }
    }
    child->complaint[child->n_complaint] = '\0';
}

/* What it wrote before its end is in the pipes, also if something that it has started
 * keeps them open. */
bool child_step(struct child *child, int64_t now_ms)
{
    if (child->pid == 0) {
        return true;
    }
    pid_t ended = waitpid(child->pid, &child->status, WNOHANG);
    read_output(child);
    read_complaint(child);
    if (child->n_text > CHILD_OUTPUT_MAX) {
        child->error = ERR_FULL;
    } else if (ended == child->pid) {
        child->pid = 0;
        return true;
    } else if (now_ms >= child->deadline_ms) {
        child->error = ERR_AWAY;
    }
    if (child->error == 0) {
        return false;
    }
    if (ended == child->pid) {
        child->pid = 0;
    } else {
        kill_child(child);
    }
    return true;
}

void child_fds(const struct child *child, struct pollfd fds[CHILD_FDS])
{
    for (int i = 0; i < CHILD_FDS; i++) {
        fds[i] = (struct pollfd){.fd = child->fds[i], .events = POLLIN};
    }
}

int64_t child_deadline_ms(const struct child *child)
{
    return child->deadline_ms;
}

/* ---------------------------------------------------------------- end */

/* ": " and the last line of standard error; "": there is none. */
static const char *last_words(const struct child *child, char *line, size_t size)
{
    size_t end = child->n_complaint;
    while (end > 0 && strchr("\n\r ", child->complaint[end - 1]) != NULL) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && child->complaint[begin - 1] != '\n') {
        begin--;
    }
    snprintf(line, size, "%s%.*s", end > begin ? ": " : "", (int)(end - begin),
             child->complaint + begin);
    return line;
}

int child_output(const struct child *child, const char **text, struct err *err)
{
    char line[256];
    last_words(child, line, sizeof(line));
    if (child->error == ERR_FULL) {
        return err_set(err, ERR_FULL, "\"%s\" printed more than %d bytes and was ended",
                       child->program, CHILD_OUTPUT_MAX);
    }
    if (child->error == ERR_AWAY) {
        return err_set(err, ERR_AWAY,
                       "\"%s\" did not answer within %g s and was ended%s",
                       child->program, (double)child->within_ms / 1000.0, line);
    }
    if (WIFSIGNALED(child->status)) {
        return err_set(err, ERR_IO, "\"%s\" was ended by signal %d%s", child->program,
                       WTERMSIG(child->status), line);
    }
    if (WEXITSTATUS(child->status) != 0) {
        return err_set(err, ERR_IO, "\"%s\" ended with status %d%s", child->program,
                       WEXITSTATUS(child->status), line);
    }
    if (strlen(child->text) != child->n_text) {
        return err_set(err, ERR_IO, "\"%s\" printed a byte 0", child->program);
    }
    *text = child->text;
    return 0;
}

void child_free(struct child *child)
{
    if (child == NULL) {
        return;
    }
    if (child->pid != 0) {
        kill_child(child);
    }
    for (int i = 0; i < CHILD_FDS; i++) {
        close_fd(child, i);
    }
    free(child->program);
    free(child->text);
    free(child);
}

int child_run(const struct child_setting *setting, const char *const *words,
              struct arena *arena, const char **text, struct err *err)
{
    struct child *child;
    struct pollfd fds[CHILD_FDS];
    int rc = child_new(setting, words, daemon_now_ms(), &child, err);
    if (rc < 0) {
        return rc;
    }
    while (!child_step(child, daemon_now_ms())) {
        int64_t left_ms = child_deadline_ms(child) - daemon_now_ms();
        child_fds(child, fds);
        poll(fds, CHILD_FDS, left_ms > 0 ? (int)left_ms : 0);
    }
    rc = child_output(child, text, err);
    if (rc == 0) {
        *text = arena_str(arena, *text);
    }
    child_free(child);
    return rc;
}
