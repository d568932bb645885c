/* SPDX-License-Identifier: Apache-2.0 */
/* children.c: see children.h. By posix_spawn: fork copies the tables of a big process,
 * while all its hosts wait. */
#include "site/io/children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/resend.h"
#include "site/io/hosts.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    LIVED_MS = 30000, /* after so long a life the shortest pause applies again */
    LOOK_AFTER_MS = 500,
    STOP_WAIT_MS = 3000, /* for children that were told to end */
    EXIT_SERVED = 75,    /* EX_TEMPFAIL: another process serves this name */
    PATH_BYTES_MAX = 4096,
    PID_DIGITS = 24,
};

/* Before the next start; longer each time. */
static const struct resend_waits pauses = {.first_ms = 1000, .last_ms = 30000};

struct child {
    struct children *children;
    char *name, *spool;
    pid_t pid;    /* 0: not running */
    int timer_id; /* of the next start; 0: none */
    int64_t started_ms;
    int n_ends;      /* since it last lived long */
    bool is_leaving; /* not of HOSTS_HERE any more: ends when it is not needed */
};

struct children {
    zloop_t *loop;
    char *program, *endpoint;
    char **elims;
    int n_elims;
    struct child **items;
    int count;
    int timer_id; /* looks after those that leave; 0: none does */
    char *spool;  /* the site's */
    struct children_site site;
};

/* ---------------------------------------------------------------- start */

/* What the daemon blocks and ignores for itself, a child begins without. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, ignored;
    sigemptyset(&none);
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &ignored);
    return posix_spawnattr_setflags(attributes,
                                    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_child(const struct children *children, struct child *child)
{
    extern char **environ;
    char parent[PID_DIGITS];
    snprintf(parent, sizeof(parent), "%ld", (long)getpid());
    char *const fixed[] = {
        children->program,
        (char[]){"-n"},
        child->name,
        (char[]){"--site"},
        children->endpoint,
        (char[]){"--spool"},
        child->spool,
        (char[]){"--with-parent"},
        parent,
    };
    size_t n_fixed = sizeof(fixed) / sizeof(fixed[0]);
    size_t n_elims = (size_t)children->n_elims;
    char **argv = mem_alloc(n_fixed + 2 * n_elims + 1, sizeof(*argv));
    char elim_option[] = "--elim";
    memcpy(argv, fixed, sizeof(fixed));
    for (size_t i = 0; i < n_elims; i++) {
        argv[n_fixed + 2 * i] = elim_option;
        argv[n_fixed + 2 * i + 1] = children->elims[i];
    }
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
    int error = set_signals(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                                 O_RDONLY, 0);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    }
    if (error == 0) {
        error = posix_spawn(&child->pid, children->program, &files, &attributes, argv,
                            environ);
    }
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(argv);
    return error;
}

static int on_pause_over(zloop_t *loop, int timer_id, void *arg);

static void start_later(struct child *child)
{
    struct children *children = child->children;
    int64_t pause_ms = resend_wait_ms(pauses, ++child->n_ends);
    child->timer_id =
        zloop_timer(children->loop, (size_t)pause_ms, 1, on_pause_over, children);
}

static void start(struct child *child)
{
    child->started_ms = daemon_now_ms();
    int error = spawn_child(child->children, child);
    if (error != 0) {
        child->pid = 0;
        log_line(LOG_LEVEL_ERROR, "host %s: \"%s\" cannot be started: %s", child->name,
                 child->children->program, strerror(error));
        start_later(child);
        return;
    }
    log_line(LOG_LEVEL_DEBUG, "host %s: sublet-host is process %ld", child->name,
             (long)child->pid);
}

/* The child is looked for: it may be gone (sys/wake.h). */
static int on_pause_over(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    struct children *children = arg;
    for (int i = 0; i < children->count; i++) {
        struct child *child = children->items[i];
        if (child->timer_id == timer_id) {
            child->timer_id = 0;
            start(child);
            return 0;
        }
    }
    return 0; /* the child was freed by an earlier handler of this turn of the loop */
}

/* ---------------------------------------------------------------- end */

static void log_end(const struct child *child, int status)
{
    double pause_s = (double)resend_wait_ms(pauses, child->n_ends + 1) / 1000.0;
    if (WIFSIGNALED(status)) {
        log_line(LOG_LEVEL_WARNING,
                 "host %s: sublet-host was ended by signal %d; again in %g s",
                 child->name, WTERMSIG(status), pause_s);
    } else if (WEXITSTATUS(status) == EXIT_SERVED) {
        log_line(LOG_LEVEL_INFO,
                 "host %s: another sublet-host serves it; looking again in %g s",
                 child->name, pause_s);
    } else {
        log_line(LOG_LEVEL_WARNING,
                 "host %s: sublet-host ended with status %d; again in %g s",
                 child->name, WEXITSTATUS(status), pause_s);
    }
}

static bool is_needed(const struct child *child)
{
    const struct children_site *site = &child->children->site;
    return site->is_needed(site->arg, child->name);
}

void children_reap(struct children *children)
{
    for (int i = 0; i < children->count; i++) {
        struct child *child = children->items[i];
        int status;
        if (child->pid == 0 || waitpid(child->pid, &status, WNOHANG) != child->pid) {
            continue;
        }
        child->pid = 0;
        if (child->is_leaving && !is_needed(child)) {
            continue; /* look_after takes it away */
        }
        if (daemon_now_ms() - child->started_ms >= LIVED_MS) {
            child->n_ends = 0;
        }
        log_end(child, status);
        start_later(child);
    }
}

static void free_child(struct child *child)
{
    if (child->timer_id > 0) {
        zloop_timer_end(child->children->loop, child->timer_id);
    }
    free(child->name);
    free(child->spool);
    free(child);
}

static int count_running(const struct children *children)
{
    int n_running = 0;
    for (int i = 0; i < children->count; i++) {
        n_running += children->items[i]->pid != 0;
    }
    return n_running;
}

/* The daemon ends: no pause, no start, only that none is left behind. */
static void wait_for_ends(struct children *children)
{
    int64_t deadline_ms = daemon_now_ms() + STOP_WAIT_MS;
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    while (true) {
        for (int i = 0; i < children->count; i++) {
            struct child *child = children->items[i];
            if (child->pid != 0 && waitpid(child->pid, NULL, WNOHANG) != 0) {
                child->pid = 0;
            }
        }
        int64_t left_ms = deadline_ms - daemon_now_ms();
        if (count_running(children) == 0 || left_ms <= 0) {
            return;
        }
        struct timespec timeout = {
            .tv_sec = (time_t)(left_ms / 1000),
            .tv_nsec = (long)(left_ms % 1000) * 1000000,
        };
        sigtimedwait(&child_signal, NULL, &timeout);
    }
}

/* ---------------------------------------------------------------- life */

/* "sublet-host" in the directory of the running program. */
static char *find_program(struct err *err)
{
    static const char name[] = "sublet-host";
    char own[PATH_BYTES_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - sizeof(name));
    if (length < 0) {
        err_set(err, ERR_IO, "/proc/self/exe: %s", strerror(errno));
        return NULL;
    }
    own[length] = '\0';
    char *slash = strrchr(own, '/');
    memcpy(slash != NULL ? slash + 1 : own, name, sizeof(name));
    return strdup(own);
}

static char *spool_of(const char *spool, const char *host)
{
    static const char format[] = "%s/hosts/%s";
    size_t size = strlen(spool) + strlen(host) + sizeof(format);
    char *path = mem_alloc(size, 1);
    snprintf(path, size, format, spool, host);
    return path;
}

static struct child *find_child(const struct children *children, const char *name)
{
    for (int i = 0; i < children->count; i++) {
        if (strcmp(children->items[i]->name, name) == 0) {
            return children->items[i];
        }
    }
    return NULL;
}

/* NULL and an error if its spool cannot be made. */
static struct child *add_child(struct children *children, const char *spool,
                               const char *name, struct err *err)
{
    char *own_spool = spool_of(spool, name);
    if (daemon_make_directory(own_spool, 0711, err) < 0) {
        free(own_spool);
        return NULL;
    }
    struct child *child = mem_alloc(1, sizeof(*child));
    *child =
        (struct child){.children = children, .name = strdup(name), .spool = own_spool};
    children->items =
        mem_grow(children->items, (size_t)children->count + 1, sizeof(struct child *));
    children->items[children->count++] = child;
    return child;
}

static int make_children(struct children *children, const struct site_setup *setup,
                         struct err *err)
{
    char *hosts = spool_of(setup->spool, "");
    int rc = daemon_make_directory(hosts, 0711, err);
    free(hosts);
    for (int i = 0; i < setup->n_hosts_here && rc == 0; i++) {
        if (add_child(children, setup->spool, setup->hosts_here[i], err) == NULL) {
            rc = err->code;
        }
    }
    return rc;
}

int children_new(zloop_t *loop, const struct site_setup *setup,
                 struct children **children, struct err *err)
{
    struct children *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->endpoint = hosts_endpoint(setup->spool);
    made->spool = strdup(setup->spool);
    made->program = find_program(err);
    made->n_elims = setup->n_elims;
    made->elims = mem_alloc((size_t)made->n_elims + 1, sizeof(*made->elims));
    for (int i = 0; i < made->n_elims; i++) {
        made->elims[i] = strdup(setup->elims[i]);
    }
    if (setup->local_resources != NULL) {
        setenv("LSF_LOCAL_RESOURCES", setup->local_resources,
               1); /* inherited by the children */
    }
    if (made->program == NULL || make_children(made, setup, err) < 0) {
        children_free(made);
        return err->code;
    }
    *children = made;
    return 0;
}

/* ---------------------------------------------------------------- change */

static void watch_leaving(struct children *children);

/* Ends children that are not needed any more, and forgets those that have ended. */
static int look_after(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    struct children *children = arg;
    int n_kept = 0, n_leaving = 0;
    if (timer_id != children->timer_id) {
        return 0; /* the timer ended in this turn of the loop (sys/wake.h) */
    }
    children->timer_id = 0;
    for (int i = 0; i < children->count; i++) {
        struct child *child = children->items[i];
        bool is_over = child->is_leaving && !is_needed(child);
        if (is_over && child->pid == 0) {
            free_child(child);
            continue;
        }
        if (is_over) {
            kill(child->pid, SIGTERM);
        }
        n_leaving += child->is_leaving;
        children->items[n_kept++] = child;
    }
    children->count = n_kept;
    if (n_leaving > 0) {
        watch_leaving(children);
    }
    return 0;
}

/* From now on those that leave are looked at. */
static void watch_leaving(struct children *children)
{
    if (children->timer_id == 0) {
        children->timer_id =
            zloop_timer(children->loop, LOOK_AFTER_MS, 1, look_after, children);
    }
}

static struct child *start_new(struct children *children, const char *name)
{
    struct err err;
    struct child *child = add_child(children, children->spool, name, &err);
    if (child == NULL) {
        log_line(LOG_LEVEL_ERROR, "host %s: %s", name, err.text);
    } else {
        start(child);
    }
    return child;
}

static void start_leaving(struct children *children)
{
    char *path = spool_of(children->spool, "");
    DIR *directory = opendir(path);
    for (const struct dirent *entry;
         directory != NULL && (entry = readdir(directory)) != NULL;) {
        const struct children_site *site = &children->site;
        bool is_left = entry->d_name[0] != '.' &&
                       find_child(children, entry->d_name) == NULL &&
                       site->is_leaving(site->arg, entry->d_name);
        struct child *child = is_left ? start_new(children, entry->d_name) : NULL;
        if (child != NULL) {
            child->is_leaving = true;
            watch_leaving(children);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    free(path);
}

void children_start(struct children *children, const struct children_site *site)
{
    children->site = *site;
    for (int i = 0; i < children->count; i++) {
        start(children->items[i]);
    }
    start_leaving(children);
}

static bool is_here(const struct site_setup *setup, const char *name)
{
    for (int i = 0; i < setup->n_hosts_here; i++) {
        if (strcmp(setup->hosts_here[i], name) == 0) {
            return true;
        }
    }
    return false;
}

void children_change(struct children *children, const struct site_setup *setup)
{
    for (int i = 0; i < children->count; i++) {
        struct child *child = children->items[i];
        bool was_leaving = child->is_leaving;
        child->is_leaving = !is_here(setup, child->name);
        if (child->is_leaving) {
            watch_leaving(children);
        }
        if (was_leaving && !child->is_leaving && child->pid == 0 &&
            child->timer_id == 0) {
            start(child);
        }
    }
    for (int i = 0; i < setup->n_hosts_here; i++) {
        if (find_child(children, setup->hosts_here[i]) == NULL) {
            start_new(children, setup->hosts_here[i]);
        }
    }
}

void children_free(struct children *children)
{
    if (children == NULL) {
        return;
    }
    for (int i = 0; i < children->count; i++) {
        struct child *child = children->items[i];
        if (child->pid != 0) {
            kill(child->pid, SIGTERM);
        }
    }
    if (children->timer_id > 0) {
        zloop_timer_end(children->loop, children->timer_id);
    }
    wait_for_ends(children);
    for (int i = 0; i < children->count; i++) {
        free_child(children->items[i]);
    }
    for (int i = 0; i < children->n_elims; i++) {
        free(children->elims[i]);
    }
    free(children->elims);
    free(children->items);
    free(children->program);
    free(children->endpoint);
    free(children->spool);
    free(children);
}
