/* SPDX-License-Identifier: Apache-2.0 */
/* host_runs.c: see host_runs.h.
 *
 * All connections to guards are in one epoll descriptor, which the loop polls:
 * thousands of guards cost it as much as one. */
#include "host/agent/host_runs.h"
#include "host/run_dir/run_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/agent/guard_client.h"
#include "host/agent/start_file.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    EVENTS_PER_TURN = 256,
    RETRY_MS =
        100, /* a guard has its lock and no socket yet, or no process can be made */
    START_TIMEOUT_MS = 30000, /* a guard starts in milliseconds, but looking up its
                                 account may ask the network */
};

/* `run` is first: it is the public part. */
struct entry {
    struct host_run run;
    int link;             /* connection to its guard; -1: none */
    bool is_new;          /* started here, and its guard has sent nothing yet */
    bool is_second_start; /* a guard was started for it a second time */
    bool is_forgotten;    /* removed when its waiting guard has exited */
    bool needs_retry;
    int64_t unknown_since;
};

struct host_runs {
    zloop_t *loop;
    struct host_spool *spool;
    struct host_runs_setting setting;
    struct guard_client guards;
    struct exec_session *session; /* has the table */
    struct shell *shell;
    int events;      /* epoll */
    int retry_timer; /* -1: not set */
};

static void resolve(struct host_runs *runs, struct entry *entry);

static struct entry *entry_of(struct host_run *run)
{
    return (struct entry *)run;
}

/* ---- the table */

static struct entry *add(struct host_runs *runs, const struct run_id *id)
{
    struct entry *entry = mem_alloc(1, sizeof(*entry));
    exec_session_add(runs->session, &entry->run, id);
    entry->link = -1;
    entry->unknown_since = daemon_now_ms();
    return entry;
}

static void close_link(struct entry *entry)
{
    if (entry->link >= 0) {
        close(entry->link); /* this also removes it from the epoll */
        entry->link = -1;
    }
}

static void drop(struct host_runs *runs, struct entry *entry)
{
    exec_session_remove(runs->session, &entry->run);
    close_link(entry);
    free(entry);
}

static void watch(struct host_runs *runs, struct entry *entry, int link)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = entry}};
    entry->link = link;
    if (epoll_ctl(runs->events, EPOLL_CTL_ADD, link, &event) != 0) {
        log_line(LOG_LEVEL_ERROR, "run %s: its guard cannot be watched: %s",
                 entry->run.name, strerror(errno));
        close_link(entry);
    }
}

/* ---- directories */

static void remove_directory(struct host_runs *runs, const char *name)
{
    char left[HOST_SPOOL_PATH_SIZE];
    struct err err;
    if (!host_spool_remove_run(runs->spool, name, left) &&
        guard_client_spawn(runs->setting.guard, "--remove", left, NULL, &err) != 0) {
        log_line(LOG_LEVEL_WARNING, "\"%s\" stays until the next start: %s", left,
                 err.text);
    }
}

/* Starts a guard for the run, or one that reaps it. */
static int start_guard(struct host_runs *runs, struct entry *entry, bool is_reaping,
                       struct err *err)
{
    char path[HOST_SPOOL_PATH_SIZE + EXEC_SESSION_RUN_NAME_SIZE + sizeof("/runs/")];
    int link = -1;
    int length = snprintf(path, sizeof(path), "%s/runs", runs->spool->path);
    int code;
    if (is_reaping) {
        snprintf(path + length, sizeof(path) - (size_t)length, "/%s", entry->run.name);
        code = guard_client_spawn(runs->setting.guard, "--bury", path, &link, err);
    } else {
        code = guard_client_start(&runs->guards, path, entry->run.name, &link, err);
    }
    if (code == 0) {
        watch(runs, entry, link);
    }
    return code;
}

/* ---- the state of a run */

static void send_request(const struct entry *entry, enum guard_request_kind kind,
                         uint64_t token)
{
    struct guard_request request = {.kind = kind, .token = token};
    guard_client_send(entry->link, &request);
}

static void accept_record(struct host_runs *runs, struct entry *entry,
                          const struct guard_record *record)
{
    entry->is_new = false;
    if (entry->is_forgotten && record->phase == RUN_WAITING) {
        entry->run.record = *record;
        send_request(entry, GUARD_REQUEST_END, 0);
        return;
    }
    entry->is_forgotten = false;
    exec_session_change(runs->session, &entry->run, record);
}

/* The run has no directory; it is in memory until it is forgotten. */
static void fail(struct host_runs *runs, struct entry *entry, const char *text)
{
    struct guard_record record = {.phase = RUN_ENDED, .end = RUN_END_FAILED};
    record.end_ms = (uint64_t)daemon_now_ms();
    guard_record_set_text(&record, text);
    log_line(LOG_LEVEL_WARNING, "run %s cannot be started: %s", entry->run.name, text);
    remove_directory(runs, entry->run.name);
    accept_record(runs, entry, &record);
}

/* The run never began, and has no directory any more. */
static void report_gone(struct host_runs *runs, struct entry *entry)
{
    if (!entry->is_forgotten) {
        exec_session_lose(runs->session, &entry->run, shell_effects(runs->shell));
    } else {
        exec_session_remove(runs->session, &entry->run);
    }
    close_link(entry);
    free(entry);
}

static int on_retry(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    struct host_runs *runs = arg;
    runs->retry_timer = -1;
    struct host_run *next;
    for (struct host_run *run = exec_session_next(runs->session, NULL); run != NULL;
         run = next) {
        struct entry *entry = entry_of(run);
        next = exec_session_next(runs->session, run);
        if (entry->needs_retry) {
            entry->needs_retry = false;
            resolve(runs, entry);
        }
    }
    shell_run_batch(runs->shell);
    return 0;
}

static void resolve_later(struct host_runs *runs, struct entry *entry)
{
    entry->needs_retry = true;
    if (runs->retry_timer < 0) {
        runs->retry_timer = zloop_timer(runs->loop, RETRY_MS, 1, on_retry, runs);
    }
}

static void reap(struct host_runs *runs, struct entry *entry)
{
    struct err err;
    log_line(LOG_LEVEL_WARNING,
             "run %s: its guard has died; remaining processes are killed",
             entry->run.name);
    if (entry->run.record.phase != RUN_UNKNOWN) {
        entry->run.record.phase = RUN_UNKNOWN;
        entry->unknown_since = daemon_now_ms();
    }
    if (start_guard(runs, entry, true, &err) != 0) {
        log_line(LOG_LEVEL_WARNING, "run %s: %s", entry->run.name, err.text);
        resolve_later(runs, entry);
    }
}

/* A guard without record has begun nothing, so another one is started, once: many
 * guards may die together with their fork server. */
static void start_again(struct host_runs *runs, struct entry *entry)
{
    struct err err;
    if (entry->is_second_start) {
        fail(runs, entry, "its guard ended before it was ready");
        return;
    }
    entry->is_second_start = true;
    if (start_guard(runs, entry, false, &err) != 0) {
        fail(runs, entry, err.text);
    }
}

/* A guard holds the lock: its record counts, and what it will send. */
static void resolve_guarded(struct host_runs *runs, struct entry *entry, int dir)
{
    struct guard_record record;
    int link = run_socket_connect(dir, RUN_DIR_SOCKET);
    if (link >= 0) {
        watch(runs, entry, link);
    } else {
        resolve_later(runs, entry);
    }
    if (record_file_read(dir, &record, NULL) == 0 &&
        (record.phase != entry->run.record.phase ||
         record.control_done != entry->run.record.control_done ||
         record.resize_done != entry->run.record.resize_done)) {
        accept_record(runs, entry, &record);
    }
}

/* No guard holds the lock, and none can take it while we have it. */
static void resolve_unguarded(struct host_runs *runs, struct entry *entry, int dir)
{
    struct guard_record record;
    int code = record_file_read(dir, &record, NULL);
    bool is_this_boot = strcmp(record.boot_id, runs->setting.boot_id) == 0;
    if (code == 0 && record.phase == RUN_ENDED) {
        close(dir);
        accept_record(runs, entry, &record);
    } else if (code == ERR_NOT_FOUND && entry->is_new) {
        close(dir);
        start_again(runs, entry);
    } else if (code == ERR_NOT_FOUND ||
               (code == 0 && record.phase == RUN_WAITING && is_this_boot)) {
        remove_directory(runs, entry->run.name);
        close(dir);
        report_gone(runs, entry);
    } else {
        close(dir);
        reap(runs, entry);
    }
}

/* Finds the state of a run without connection to its guard from its directory
 * (run_dir.h). */
static void resolve(struct host_runs *runs, struct entry *entry)
{
    close_link(entry);
    int dir = host_spool_open_run(runs->spool, entry->run.name);
    if (dir < 0 && errno == ENOENT) {
        report_gone(runs, entry);
    } else if (dir < 0) {
        log_line(LOG_LEVEL_ERROR, "run %s: its directory cannot be opened: %s",
                 entry->run.name, strerror(errno));
        resolve_later(runs, entry);
    } else if (host_spool_lock_run(dir)) {
        resolve_unguarded(runs, entry, dir);
    } else {
        resolve_guarded(runs, entry, dir);
        close(dir);
    }
}

/* ---- from the guards */

static void on_guard(struct host_runs *runs, struct entry *entry)
{
    struct guard_record record;
    switch (guard_client_receive(entry->link, &record)) {
    case GUARD_CLIENT_NOTHING:
        break;
    case GUARD_CLIENT_RECORD:
        accept_record(runs, entry, &record);
        break;
    case GUARD_CLIENT_GONE:
        if (entry->run.record.phase == RUN_ENDED) {
            close_link(entry);
        } else {
            resolve(runs, entry);
        }
        break;
    }
}

/* An entry is freed only by its own event, and has one event in a turn. */
static int on_events(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)loop;
    (void)item;
    struct host_runs *runs = arg;
    struct epoll_event events[EVENTS_PER_TURN];
    int count = epoll_wait(runs->events, events, EVENTS_PER_TURN, 0);
    for (int i = 0; i < count; i++) {
        on_guard(runs, events[i].data.ptr);
    }
    shell_run_batch(runs->shell);
    return 0;
}

/* ---- from the site */

static int prepare_run(struct host_runs *runs, struct entry *entry,
                       const struct msg_run_start *start, struct err *err)
{
    int dir = host_spool_make_run(runs->spool, entry->run.name, err);
    if (dir < 0) {
        return dir;
    }
    int code = spec_writer_write(dir, entry->run.name, start, &runs->setting.spec, err);
    close(dir);
    return code != 0 ? code : start_guard(runs, entry, false, err);
}

/* What RUN_START said about a run that was found. */
static void read_start(const struct host_runs *runs, struct entry *entry)
{
    struct arena arena;
    struct msg_run_start start;
    struct err err;
    int dir = host_spool_open_run(runs->spool, entry->run.name);
    if (dir < 0) {
        return; /* resolve says why */
    }
    arena_init(&arena);
    int code = start_file_read(dir, &arena, &start, &err);
    entry->run.nonce = code == 0 ? start.run.nonce : 0;
    entry->run.is_leased = code == 0 && start.lease[0] != '\0';
    if (code != 0 && code != ERR_NOT_FOUND) {
        log_line(LOG_LEVEL_WARNING, "run %s: %s", entry->run.name, err.text);
    }
    arena_release(&arena);
    close(dir);
}

void host_runs_start(struct host_runs *runs, const struct msg_run_start *start)
{
    struct err err;
    struct entry *entry = add(runs, &start->run);
    entry->is_new = true;
    entry->run.is_leased = start->lease[0] != '\0';
    int code = prepare_run(runs, entry, start, &err);
    if (code == ERR_EXISTS) {
        entry->is_new = false; /* it could not be deleted before: take its state */
        read_start(runs, entry);
        resolve_later(runs, entry);
    } else if (code != 0) {
        fail(runs, entry, err.text);
    }
}

bool host_runs_go(struct host_runs *runs, struct host_run *run, uint64_t token)
{
    (void)runs;
    struct guard_request request = {.kind = GUARD_REQUEST_GO, .token = token};
    return run->record.phase != RUN_ENDED &&
           guard_client_send(entry_of(run)->link, &request);
}

bool host_runs_control(struct host_runs *runs, struct host_run *run,
                       const struct run_control *control)
{
    (void)runs;
    struct guard_request request = {.kind = GUARD_REQUEST_CONTROL,
                                    .action = (uint32_t)control->action,
                                    .signal = control->signal,
                                    .reasons = (uint32_t)control->reasons,
                                    .number = control->number,
                                    .run_limit_ms = control->run_limit_ms,
                                    .mem_limit_kib = control->mem_limit_kib};
    return run->record.phase != RUN_ENDED &&
           guard_client_send(entry_of(run)->link, &request);
}

/* A resize that cannot be requested is refused, or the site would wait for ever. But a
 * resize that the guard may know of is not: its command may accept it yet. */
static void refuse_resize(struct host_run *run, const struct msg_run_resize *resize,
                          const char *why)
{
    log_line(LOG_LEVEL_WARNING, "run %s cannot be resized: %s", run->name, why);
    run->record.resize_done = resize->number;
    run->record.resize_code = RESIZE_NOT_NOW;
}

bool host_runs_resize(struct host_runs *runs, struct host_run *run,
                      const struct msg_run_resize *resize)
{
    struct guard_request request = {.kind = GUARD_REQUEST_RESIZE,
                                    .number = resize->number};
    bool has_begun =
        run->record.phase == RUN_RUNNING || run->record.phase == RUN_SUSPENDED;
    struct err err = {0};
    if (!has_begun || run->record.resize_done >= resize->number) {
        return false;
    }
    if (!run->record.can_resize) {
        refuse_resize(run, resize, "its guard is of an earlier version");
        return false;
    }
    int dir = host_runs_open(runs, run);
    if (dir < 0) {
        return false; /* the site repeats it: the guard may know of it */
    }
    int code = spec_writer_has_resize(dir, resize->number)
                   ? 0
                   : spec_writer_write_resize(dir, resize, &err);
    if (code == 0 && resize->event == RESIZE_GROW &&
        start_file_set_hosts(dir, resize->all, resize->n_all, &err) != 0) {
        log_line(LOG_LEVEL_WARNING, "run %s: %s", run->name, err.text);
    }
    close(dir);
    if (code != 0) {
        refuse_resize(run, resize, err.text);
        return false;
    }
    return guard_client_send(entry_of(run)->link, &request);
}

bool host_runs_forget(struct host_runs *runs, struct host_run *run)
{
    struct entry *entry = entry_of(run);
    switch (run->record.phase) {
    case RUN_RUNNING:
    case RUN_SUSPENDED:
        return false;
    case RUN_ENDED:
        send_request(entry, GUARD_REQUEST_END,
                     0); /* a guard that cannot write its record */
        remove_directory(runs, run->name);
        drop(runs, entry);
        return true;
    case RUN_UNKNOWN:
    case RUN_WAITING:
        entry->is_forgotten = true;
        send_request(entry, GUARD_REQUEST_END, 0);
        return true;
    }
    return false;
}

int host_runs_open(const struct host_runs *runs, const struct host_run *run)
{
    return host_spool_open_run(runs->spool, run->name);
}

/* ---- guards that do not start, and runs found at the start */

/* A guard that has sent nothing and left no state has begun nothing. If it continues
 * later, its directory is gone. Reaping may take longer. */
static void give_up(struct host_runs *runs, struct entry *entry)
{
    bool is_new = entry->is_new;
    int dir = host_spool_open_run(runs->spool, entry->run.name);
    struct guard_record record;
    int code = dir < 0 ? ERR_NOT_FOUND : record_file_read(dir, &record, NULL);
    if (dir >= 0) {
        close(dir);
    }
    entry->unknown_since = daemon_now_ms();
    if (code != ERR_NOT_FOUND) {
        return;
    }
    close_link(entry);
    entry->needs_retry = false;
    if (is_new) {
        fail(runs, entry, "its guard did not come up");
    } else {
        remove_directory(runs, entry->run.name);
        report_gone(runs, entry);
    }
}

void host_runs_tick(struct host_runs *runs)
{
    int64_t now = daemon_now_ms();
    struct host_run *next;
    for (struct host_run *run = exec_session_next(runs->session, NULL); run != NULL;
         run = next) {
        next = exec_session_next(runs->session, run);
        if (run->record.phase == RUN_UNKNOWN &&
            now - entry_of(run)->unknown_since >= START_TIMEOUT_MS) {
            give_up(runs, entry_of(run));
        }
    }
}

static bool take_id(const char *name, char *site, struct run_id *id)
{
    const char *dot = strrchr(name, '.');
    char *end = NULL;
    if (dot == NULL || dot == name || dot - name >= NAME_SIZE || dot[1] < '0' ||
        dot[1] > '9') {
        return false;
    }
    memcpy(site, name, (size_t)(dot - name));
    site[dot - name] = '\0';
    errno = 0;
    *id = (struct run_id){.site = site, .attempt = strtoull(dot + 1, &end, 10)};
    return errno == 0 && *end == '\0';
}

static void load_run(void *arg, const char *name)
{
    struct host_runs *runs = arg;
    char site[NAME_SIZE];
    struct run_id id;
    struct entry *entry = take_id(name, site, &id) ? add(runs, &id) : NULL;
    if (entry != NULL && strcmp(entry->run.name, name) == 0) {
        read_start(runs, entry);
        resolve(runs, entry);
        return;
    }
    log_line(LOG_LEVEL_WARNING, "\"%s/runs/%s\" is not the directory of a run: ignored",
             runs->spool->path, name);
    if (entry != NULL) {
        drop(runs, entry);
    }
}

static void load_trash(void *arg, const char *name)
{
    struct host_runs *runs = arg;
    char path[HOST_SPOOL_PATH_SIZE + 512];
    struct err err;
    snprintf(path, sizeof(path), "%s/trash/%s", runs->spool->path, name);
    if (guard_client_spawn(runs->setting.guard, "--remove", path, NULL, &err) != 0) {
        log_line(LOG_LEVEL_WARNING, "\"%s\" is not deleted: %s", path, err.text);
    }
}

void host_runs_load(struct host_runs *runs)
{
    host_spool_list_trash(runs->spool, load_trash, runs);
    host_spool_list_runs(runs->spool, load_run, runs);
}

int host_runs_new(zloop_t *loop, struct host_spool *spool,
                  const struct host_runs_setting *setting, struct exec_session *session,
                  struct shell *shell, struct host_runs **runs, struct err *err)
{
    struct host_runs *built = mem_alloc(1, sizeof(*built));
    *built = (struct host_runs){.loop = loop,
                                .spool = spool,
                                .setting = *setting,
                                .session = session,
                                .shell = shell,
                                .retry_timer = -1};
    guard_client_init(&built->guards, setting->guard);
    *runs = built;
    built->events = epoll_create1(EPOLL_CLOEXEC);
    zmq_pollitem_t item = {.fd = built->events, .events = ZMQ_POLLIN};
    if (built->events < 0 || zloop_poller(loop, &item, on_events, built) != 0) {
        return err_set(err, ERR_IO, "guards cannot be watched: %s", strerror(errno));
    }
    return 0;
}

void host_runs_free(struct host_runs *runs)
{
    if (runs == NULL) {
        return;
    }
    struct host_run *run;
    while ((run = exec_session_next(runs->session, NULL)) != NULL) {
        drop(runs, entry_of(run));
    }
    if (runs->events >= 0) {
        close(runs->events);
    }
    guard_client_release(&runs->guards);
    free(runs);
}
