/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c: see snapshot.h. */
#include "broker/io/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/io/store/store_copy.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    STEP_MS = 1,
    /* After this time of silence the copy of an administrator is given up. */
    FETCH_PATIENCE_MS = 30000,
};

/* What an administrator fetches. */
struct fetch {
    bool is_open;
    uint64_t ticket;
    int fd; /* -1 while it is being made */
    int64_t size, asked_ms;
    struct err failure; /* code 0: none */
};

struct snapshot {
    zloop_t *loop;
    const struct broker *broker;
    struct store *store;
    const char *state, *regular_path, *fetch_path;
    struct arena texts;
    struct store_copy *copy; /* NULL: none is being made */
    bool is_copy_regular;
    bool is_regular_due; /* when the present one is done */
    struct fetch fetch;
    int regular_timer, step_timer, fetch_timer;
    struct err failure; /* in the last answer */
    uint8_t piece[OUTPUT_CHUNK_MAX];
};

/* ---------------------------------------------------------------- the present */

static int put_listing(const struct snapshot *snapshot, struct store *to,
                       enum query_kind kind, struct err *err)
{
    char after[LEASE_ID_SIZE] = "";
    struct msg_query query = {
        .kind = kind, .name = "", .after = after, .with_ended = true};
    int rc;
    do {
        struct arena arena;
        const char *next;
        arena_init(&arena);
        const struct value *page =
            broker_view(snapshot->broker, &arena, &query, daemon_now_ms(), &next);
        rc = store_present_put(to, kind, page, err);
        snprintf(after, sizeof(after), "%s", next);
        arena_release(&arena);
    } while (rc == 0 && after[0] != '\0');
    return rc;
}

/* Used slots of contracts are newer here than on disk. */
static int put_leases(const struct snapshot *snapshot, struct store *to,
                      struct err *err)
{
    struct row row = {.kind = ROW_LEASE};
    int rc = 0;
    for (int i = 0; i < broker_count_leases(snapshot->broker) && rc == 0; i++) {
        const char *id = broker_lease_id(snapshot->broker, i);
        if (broker_find_lease(snapshot->broker, id, &row.lease)) {
            rc = store_write(to, &row, err);
        }
    }
    return rc;
}

static int write_present(const struct snapshot *snapshot, struct store *to,
                         struct err *err)
{
    int rc = store_begin(to, err);
    if (rc == 0) {
        rc = put_leases(snapshot, to, err);
    }
    if (rc == 0) {
        rc = store_present_clear(to, err);
    }
    if (rc == 0) {
        rc = put_listing(snapshot, to, QUERY_LEASES, err);
    }
    if (rc == 0) {
        rc = put_listing(snapshot, to, QUERY_SITES, err);
    }
    return rc == 0 ? store_commit(to, err) : rc;
}

/* Into the broker's own file, or into the copy. */
static int commit_present(const struct snapshot *snapshot, struct store *to,
                          struct err *err)
{
    int rc = write_present(snapshot, to, err);
    if (rc < 0 && to == snapshot->store) {
        log_line(LOG_LEVEL_ERROR,
                 "commit failed: %s; the next start continues from what is on disk",
                 err->text);
        _exit(EXIT_FAILURE);
    }
    return rc;
}

/* ---------------------------------------------------------------- fetch */

static void close_fetch(struct snapshot *snapshot)
{
    struct fetch *fetch = &snapshot->fetch;
    if (fetch->fd >= 0) {
        close(fetch->fd);
    }
    if (fetch->is_open && snapshot->fetch_timer >= 0) {
        zloop_timer_end(snapshot->loop, snapshot->fetch_timer);
    }
    *fetch = (struct fetch){.fd = -1};
    snapshot->fetch_timer = -1;
}

static int on_fetch_timer(zloop_t *loop, int timer_id, void *arg);

static void watch_fetch(struct snapshot *snapshot)
{
    snapshot->fetch_timer =
        zloop_timer(snapshot->loop, FETCH_PATIENCE_MS, 1, on_fetch_timer, snapshot);
}

static int on_fetch_timer(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    struct snapshot *snapshot = arg;
    if (timer_id != snapshot->fetch_timer) {
        return 0; /* ended in this turn already (sys/wake.h) */
    }
    bool is_made = snapshot->copy == NULL || snapshot->is_copy_regular;
    snapshot->fetch_timer = -1;
    if (is_made && daemon_now_ms() - snapshot->fetch.asked_ms > FETCH_PATIENCE_MS) {
        close_fetch(snapshot);
    } else {
        watch_fetch(snapshot);
    }
    return 0;
}

/* Without a name it is gone with this process, however that ends. */
static int open_fetched(struct snapshot *snapshot, struct err *err)
{
    struct fetch *fetch = &snapshot->fetch;
    struct stat status;
    fetch->fd = open(snapshot->fetch_path, O_RDONLY | O_CLOEXEC);
    if (fetch->fd < 0 || fstat(fetch->fd, &status) != 0) {
        return err_set(err, ERR_IO, "\"%s\": %s", snapshot->fetch_path,
                       strerror(errno));
    }
    unlink(snapshot->fetch_path);
    fetch->size = status.st_size;
    return 0;
}

/* ---------------------------------------------------------------- making */

static void begin_copy(struct snapshot *snapshot, bool is_regular);

static void end_copy(struct snapshot *snapshot, int rc, const struct err *err)
{
    store_copy_free(snapshot->copy);
    snapshot->copy = NULL;
    if (rc < 0) {
        log_line(LOG_LEVEL_WARNING, "no snapshot is made: %s", err->text);
    }
    if (rc < 0 && !snapshot->is_copy_regular) {
        snapshot->fetch.failure = *err;
    }
    if (snapshot->fetch.is_open && snapshot->fetch.fd < 0 &&
        snapshot->fetch.failure.code == 0) {
        begin_copy(snapshot, false);
    } else if (snapshot->is_regular_due) {
        begin_copy(snapshot, true);
    }
}

static int finish_copy(struct snapshot *snapshot, struct store *to, struct err *err)
{
    int rc = commit_present(snapshot, to, err);
    rc = rc == 0 ? store_copy_finish(snapshot->copy, snapshot->is_copy_regular, err)
                 : rc;
    if (rc == 0 && !snapshot->is_copy_regular) {
        rc = open_fetched(snapshot, err);
    }
    return rc;
}

static int on_step(zloop_t *loop, int timer_id, void *arg);

static void step_later(struct snapshot *snapshot)
{
    snapshot->step_timer = zloop_timer(snapshot->loop, STEP_MS, 1, on_step, snapshot);
}

static int on_step(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    struct snapshot *snapshot = arg;
    struct err err = {0};
    if (timer_id != snapshot->step_timer) {
        return 0; /* ended in this turn already (sys/wake.h) */
    }
    snapshot->step_timer = -1;
    struct store *to;
    int rc = store_copy_step(snapshot->copy, &to, &err);
    if (rc > 0) {
        step_later(snapshot);
        return 0;
    }
    rc = rc == 0 ? finish_copy(snapshot, to, &err) : rc;
    end_copy(snapshot, rc, &err);
    return 0;
}

static void begin_copy(struct snapshot *snapshot, bool is_regular)
{
    struct err err = {0};
    snapshot->is_copy_regular = is_regular;
    snapshot->is_regular_due &= !is_regular;
    const char *path = is_regular ? snapshot->regular_path : snapshot->fetch_path;
    int rc = path != NULL ? store_copy_begin(snapshot->store, snapshot->state, path,
                                             &snapshot->copy, &err)
                          : err_set(&err, ERR_STATE,
                                    "the broker has no SNAPSHOT, which says where a "
                                    "copy of a database is written");
    if (rc < 0) {
        snapshot->copy = NULL;
        end_copy(snapshot, rc, &err);
        return;
    }
    step_later(snapshot);
}

static int on_regular(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct snapshot *snapshot = arg;
    snapshot->is_regular_due = true;
    if (snapshot->copy == NULL) {
        begin_copy(snapshot, true);
    }
    return 0;
}

/* ---------------------------------------------------------------- answers */

static void begin_fetch(struct snapshot *snapshot, uint64_t ticket)
{
    close_fetch(snapshot);
    snapshot->fetch.is_open = true;
    snapshot->fetch.ticket = ticket;
    watch_fetch(snapshot);
    if (snapshot->copy == NULL) {
        begin_copy(snapshot, false);
    }
}

static int read_piece(struct snapshot *snapshot, int64_t offset,
                      struct msg_reply *reply, struct err *err)
{
    const struct fetch *fetch = &snapshot->fetch;
    ssize_t n =
        pread(fetch->fd, snapshot->piece, sizeof(snapshot->piece), (off_t)offset);
    if (n < 0) {
        return err_set(err, ERR_IO, "the copy cannot be read: %s", strerror(errno));
    }
    reply->n_bytes = (int)n;
    reply->is_end = offset + n >= fetch->size;
    return 0;
}

static int take_ask(struct snapshot *snapshot, const struct msg_snapshot *ask,
                    struct msg_reply *reply, struct err *err)
{
    struct fetch *fetch = &snapshot->fetch;
    bool is_same = fetch->is_open && fetch->ticket == ask->ticket;
    if (!is_same && fetch->is_open) {
        return err_set(err, ERR_FULL,
                       "another snapshot is being fetched; try again in %d s",
                       FETCH_PATIENCE_MS / 1000);
    }
    if (!is_same && ask->offset != 0) {
        return err_set(
            err, ERR_STALE,
            "this snapshot was dropped, or the broker was restarted; fetch it again");
    }
    if (!is_same) {
        begin_fetch(snapshot, ask->ticket);
    }
    fetch->asked_ms = daemon_now_ms();
    if (fetch->failure.code != 0) {
        *err = fetch->failure;
        close_fetch(snapshot);
        return err->code;
    }
    if (fetch->fd < 0) {
        return 0; /* not ready: no bytes, no end */
    }
    if (ask->offset > fetch->size) {
        close_fetch(snapshot); /* how an asker says that it has all */
        reply->is_end = true;
        return 0;
    }
    return read_piece(snapshot, ask->offset, reply, err);
}

void snapshot_answer(struct snapshot *snapshot, const struct msg_snapshot *ask,
                     struct msg_reply *reply)
{
    snapshot->failure = (struct err){0};
    *reply = (struct msg_reply){.next = "", .bytes = snapshot->piece};
    reply->code = take_ask(snapshot, ask, reply, &snapshot->failure);
    reply->text = snapshot->failure.text;
}

/* ---------------------------------------------------------------- life */

struct snapshot *snapshot_new(zloop_t *loop, const struct broker_setup *setup,
                              const struct broker *broker, struct store *store)
{
    struct snapshot *snapshot = mem_alloc(1, sizeof(*snapshot));
    arena_init(&snapshot->texts);
    snapshot->loop = loop;
    snapshot->broker = broker;
    snapshot->store = store;
    snapshot->state = arena_str(&snapshot->texts, setup->state);
    snapshot->regular_path = arena_str(&snapshot->texts, setup->snapshot);
    snapshot->fetch_path =
        setup->is_state_file ? arena_printf(&snapshot->texts, "%s.fetch", setup->state)
        : setup->snapshot != NULL
            ? arena_printf(&snapshot->texts, "%s.fetch", setup->snapshot)
            : NULL;
    snapshot->fetch.fd = -1;
    snapshot->regular_timer = snapshot->step_timer = snapshot->fetch_timer = -1;
    if (setup->snapshot_interval_ms > 0) {
        snapshot->regular_timer = zloop_timer(loop, (size_t)setup->snapshot_interval_ms,
                                              0, on_regular, snapshot);
    }
    return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    if (snapshot->regular_timer >= 0) {
        zloop_timer_end(snapshot->loop, snapshot->regular_timer);
    }
    if (snapshot->step_timer >= 0) {
        zloop_timer_end(snapshot->loop, snapshot->step_timer);
    }
    close_fetch(snapshot);
    store_copy_free(snapshot->copy);
    arena_release(&snapshot->texts);
    free(snapshot);
}
