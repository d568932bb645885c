/* SPDX-License-Identifier: Apache-2.0 */
/* usage_log.c: levels of leases, and their sums by key. */
#include "sim/play/usage_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "model/job_id.h"

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

struct usage_cell {
    char *key; /* lease, side, day, and of a job user, queue and project: lines */
    int64_t held_ms, used_ms, idle_ms; /* times slots */
    UT_hash_handle hh;
};

struct usage_owner {
    char *name; /* site, job */
    char *text; /* lines: user, queue, project */
    UT_hash_handle hh;
};

/* A job that runs on a lease. */
struct usage_run {
    char *name; /* site, job, index */
    char *owner;
    int n_slots;
    UT_hash_handle hh;
};

struct usage_lease {
    char *name;
    int provider, consumer; /* held */
    int provider_used;
    int64_t since_ms;
    struct usage_run *runs;
    UT_hash_handle hh;
};

struct usage_log {
    struct usage_lease *leases;
    struct usage_owner *owners;
    struct usage_cell *cells;
    struct arena scratch; /* of one call */
};

struct usage_log *usage_log_new(void)
{
    struct usage_log *log = mem_alloc(1, sizeof *log);

    arena_init(&log->scratch);
    return log;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(mem_alloc(size, 1), text, size);
}

static void drop_run(struct usage_lease *lease, struct usage_run *run)
{
    HASH_DEL(lease->runs, run);
    free(run->name);
    free(run->owner);
    free(run);
}

void usage_log_free(struct usage_log *log)
{
    struct usage_lease *lease, *next_lease;
    struct usage_owner *owner, *next_owner;
    struct usage_cell *cell, *next_cell;
    struct usage_run *run, *next_run;

    if (!log) {
        return;
    }
    HASH_ITER (hh, log->leases, lease, next_lease) {
        HASH_ITER (hh, lease->runs, run, next_run) {
            drop_run(lease, run);
        }
        HASH_DEL(log->leases, lease);
        free(lease->name);
        free(lease);
    }
    HASH_ITER (hh, log->owners, owner, next_owner) {
        HASH_DEL(log->owners, owner);
        free(owner->name);
        free(owner->text);
        free(owner);
    }
    HASH_ITER (hh, log->cells, cell, next_cell) {
        HASH_DEL(log->cells, cell);
        free(cell->key);
        free(cell);
    }
    arena_release(&log->scratch);
    free(log);
}

/* ---- sums */

static struct usage_cell *see_cell(struct usage_log *log, const char *lease,
                                   const char *side, int64_t day, const char *owner)
{
    char date[32];
    struct usage_cell *cell;

    value_format_instant(day * DAY_MS, date);
    const char *key =
        arena_printf(&log->scratch, "%s\n%s\n%.10s\n%s", lease, side, date, owner);
    HASH_FIND_STR(log->cells, key, cell);
    if (!cell) {
        cell = mem_alloc(1, sizeof *cell);
        cell->key = copy_text(key);
        HASH_ADD_KEYPTR(hh, log->cells, cell->key, strlen(cell->key), cell);
    }
    return cell;
}

static int64_t positive(int64_t number)
{
    return number > 0 ? number : 0;
}

static void add(struct usage_cell *cell, int64_t n_held, int64_t n_used,
                int64_t past_ms)
{
    cell->held_ms += n_held * past_ms;
    cell->used_ms += n_used * past_ms;
    cell->idle_ms += positive(n_held - n_used) * past_ms;
}

/* Books `past_ms` of one day. Jobs hold what the consumer holds in order of their last
 * changes; the rest is nobody's. */
static void book(struct usage_log *log, const struct usage_lease *lease, int64_t day,
                 int64_t past_ms)
{
    static const char nobody[] = "\n\n";
    int n_left = lease->consumer;

    for (const struct usage_run *run = lease->runs; run; run = run->hh.next) {
        int n_held = run->n_slots < n_left ? run->n_slots : n_left;

        add(see_cell(log, lease->name, "consumer", day, run->owner), n_held,
            run->n_slots, past_ms);
        n_left -= n_held;
    }
    if (n_left > 0) {
        add(see_cell(log, lease->name, "consumer", day, nobody), n_left, 0, past_ms);
    }
    if (lease->provider > 0 || lease->provider_used > 0) {
        add(see_cell(log, lease->name, "provider", day, nobody), lease->provider,
            lease->provider_used, past_ms);
    }
    arena_clear(&log->scratch);
}

/* Books the levels until now, day by day. */
static void book_until(struct usage_log *log, struct usage_lease *lease, int64_t now_ms)
{
    while (lease->since_ms < now_ms) {
        int64_t day = lease->since_ms / DAY_MS;
        int64_t end_ms = (day + 1) * DAY_MS < now_ms ? (day + 1) * DAY_MS : now_ms;

        book(log, lease, day, end_ms - lease->since_ms);
        lease->since_ms = end_ms;
    }
}

/* ---- levels */

static struct usage_lease *see_lease(struct usage_log *log, const char *name,
                                     int64_t now_ms)
{
    struct usage_lease *lease;

    HASH_FIND_STR(log->leases, name, lease);
    if (lease) {
        book_until(log, lease, now_ms);
        return lease;
    }
    lease = mem_alloc(1, sizeof *lease);
    lease->name = copy_text(name);
    lease->since_ms = now_ms;
    HASH_ADD_KEYPTR(hh, log->leases, lease->name, strlen(lease->name), lease);
    return lease;
}

static void take_split(struct usage_log *log, const struct row_book *row,
                       int64_t now_ms)
{
    struct usage_lease *lease = see_lease(log, row->lease, now_ms);

    lease->provider = lease->consumer = 0;
    for (int i = 0; i < row->n_hosts && !row->is_gone && !row->is_ended; i++) {
        lease->provider += row->hosts[i].provider;
        lease->consumer += row->hosts[i].consumer;
    }
}

void usage_log_own(struct usage_log *log, const char *name, int n_used, int64_t now_ms)
{
    struct usage_lease *lease;

    HASH_FIND_STR(log->leases, name, lease);
    if (lease && lease->provider_used != n_used) {
        book_until(log, lease, now_ms);
        lease->provider_used = n_used;
    }
}

static const char *owner_name(struct usage_log *log, int site, uint64_t id)
{
    return arena_printf(&log->scratch, "%d %llu", site, (unsigned long long)id);
}

static void take_submission(struct usage_log *log, int site, const struct row_job *row)
{
    struct usage_owner *owner = mem_alloc(1, sizeof *owner);
    const char *given = row->terms.project;
    const char *project = given && given[0] ? given : "default";

    owner->name = copy_text(owner_name(log, site, row->id));
    owner->text = copy_text(arena_printf(&log->scratch, "%s\n%s\n%s", row->spec.user,
                                         row->spec.queue, project));
    HASH_ADD_KEYPTR(hh, log->owners, owner->name, strlen(owner->name), owner);
}

/* The owner's lines with the queue that the job is in now. */
static char *owner_of(struct usage_log *log, int site, const struct row_job_state *row)
{
    const char *name = owner_name(log, site, row->id);
    struct usage_owner *owner;

    HASH_FIND_STR(log->owners, name, owner);
    if (!owner) {
        return copy_text("\n\n");
    }
    if (!row->queue || !row->queue[0]) {
        return copy_text(owner->text);
    }
    int n_user = (int)strcspn(owner->text, "\n");
    return copy_text(arena_printf(&log->scratch, "%.*s\n%s%s", n_user, owner->text,
                                  row->queue, strrchr(owner->text, '\n')));
}

/* The job runs nowhere any more. */
static void forget_run(struct usage_log *log, const char *name, int64_t now_ms)
{
    for (struct usage_lease *lease = log->leases; lease; lease = lease->hh.next) {
        struct usage_run *run;

        HASH_FIND_STR(lease->runs, name, run);
        if (run) {
            book_until(log, lease, now_ms);
            drop_run(lease, run);
        }
    }
}

static void take_job_state(struct usage_log *log, int site,
                           const struct row_job_state *row, int64_t now_ms)
{
    bool is_unknown = row->state == JOB_UNKWN && !row->is_gone;
    const char *id = job_id_text(&log->scratch, row->id, row->index);
    char name[64];

    if (is_unknown) {
        return; /* it may still run, and is counted until that is known */
    }
    snprintf(name, sizeof name, "%d %s", site, id);
    forget_run(log, name, now_ms);
    if (row->state != JOB_RUN || row->is_gone || !row->lease || !row->lease[0]) {
        return;
    }
    struct usage_lease *lease = see_lease(log, row->lease, now_ms);
    struct usage_run *run = mem_alloc(1, sizeof *run);
    run->name = copy_text(name);
    run->owner = owner_of(log, site, row);
    run->n_slots = msg_sum_slots(row->hosts, row->n_hosts);
    HASH_ADD_KEYPTR(hh, lease->runs, run->name, strlen(run->name), run);
}

void usage_log_stored(struct usage_log *log, int site, const struct row *row,
                      int64_t now_ms)
{
    switch ((int)row->kind) {
    case ROW_BOOK:
        take_split(log, &row->book, now_ms);
        break;
    case ROW_JOB:
        take_submission(log, site, &row->job);
        break;
    case ROW_JOB_STATE:
        take_job_state(log, site, &row->job_state, now_ms);
        break;
    default:
        break;
    }
    arena_clear(&log->scratch);
}

/* ---- the result */

static int compare_cells(const struct usage_cell *one, const struct usage_cell *other)
{
    return strcmp(one->key, other->key);
}

/* The next line of a key. */
static const char *take_line(struct arena *arena, const char **at)
{
    size_t length = strcspn(*at, "\n");
    const char *line = arena_strn(arena, *at, length);

    *at += length + ((*at)[length] == '\n');
    return line;
}

static struct value *show_cell(struct arena *arena, const struct usage_cell *cell)
{
    struct value *row = value_object(arena);
    const char *at = cell->key;
    const char *lease = take_line(arena, &at), *side = take_line(arena, &at);
    const char *provider = arena_strn(arena, lease, strcspn(lease, "/"));
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    int64_t used_s = (cell->used_ms + 500) / 1000;
    int64_t idle_s = (cell->idle_ms + 500) / 1000;
    bool is_even = cell->held_ms == cell->used_ms + cell->idle_ms;

    consumer = arena_strn(arena, consumer, length);
    value_add_text(arena, row, "lease", lease);
    value_add_text(arena, row, "provider", provider);
    value_add_text(arena, row, "consumer", consumer);
    value_add_text(arena, row, "side", side);
    value_add_text(arena, row, "site", strcmp(side, "provider") ? consumer : provider);
    value_add_text(arena, row, "day", take_line(arena, &at));
    value_add_nonempty(arena, row, "user", take_line(arena, &at));
    value_add_nonempty(arena, row, "queue", take_line(arena, &at));
    value_add_nonempty(arena, row, "project", take_line(arena, &at));
    value_add_int(arena, row, "held_s",
                  is_even ? used_s + idle_s : (cell->held_ms + 500) / 1000);
    value_add_int(arena, row, "used_s", used_s);
    value_add_int(arena, row, "idle_s", idle_s);
    return row;
}

struct value *usage_log_show(struct usage_log *log, struct arena *arena,
                             int64_t until_ms)
{
    struct value *root = value_object(arena);

    for (struct usage_lease *lease = log->leases; lease; lease = lease->hh.next) {
        book_until(log, lease, until_ms);
    }
    HASH_SORT(log->cells, compare_cells);
    value_add_int(arena, root, "schema_version", 1);
    struct value *rows = value_add(arena, root, "usage", value_array(arena));
    for (struct usage_cell *cell = log->cells; cell; cell = cell->hh.next) {
        value_add(arena, rows, NULL, show_cell(arena, cell));
    }
    return root;
}
