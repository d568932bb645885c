/* SPDX-License-Identifier: Apache-2.0 */
/* books_trim.c: old splits become hours, and hours days; what is too old or too much is
 * deleted. Each step is of some leases. */
#include <stdlib.h>
#include <string.h>

#include "broker/io/store/books_parts.h"
#include "sys/log.h"

enum { LEASES_PER_STEP = 20, HOURS_PER_DAY = 24 };

/* Leases with what is oldest, each once. */
struct oldest {
    struct arena *arena;
    int count;
    struct {
        const char *lease;
        int64_t start_ms;
    } items[LEASES_PER_STEP];
};

static void take_oldest(void *arg, const char *text, const int64_t *numbers)
{
    struct oldest *oldest = arg;
    for (int i = 0; i < oldest->count; i++) {
        if (strcmp(oldest->items[i].lease, text) == 0) {
            return;
        }
    }
    oldest->items[oldest->count].lease = arena_str(oldest->arena, text);
    oldest->items[oldest->count++].start_ms = numbers[1];
}

static int find_entries(struct books *books, int64_t before_ms, struct oldest *oldest,
                        struct err *err)
{
    const struct books_param params[] = {{NULL, before_ms}, {NULL, LEASES_PER_STEP}};
    oldest->count = 0;
    return books_sql_ask(books->sql, BOOKS_OLDEST, params, take_oldest, oldest, err);
}

static int find_sums(struct books *books, int64_t n_hours, int64_t before_ms,
                     struct oldest *oldest, struct err *err)
{
    const struct books_param params[] = {
        {NULL, n_hours}, {NULL, before_ms}, {NULL, LEASES_PER_STEP}};
    oldest->count = 0;
    return books_sql_ask(books->sql, BOOKS_OLDEST_SUMS, params, take_oldest, oldest,
                         err);
}

static int64_t day_of(int64_t at_ms)
{
    return at_ms - at_ms % USAGE_DAY_MS;
}

/* ---------------------------------------------------------------- splits to hours */

/* A lease's splits of a part of a day. */
struct fold {
    const char *lease;
    int64_t from_ms, to_ms;
    struct books_splits splits;
    struct {
        int64_t start_ms, provider_ms, consumer_ms;
    } hours[HOURS_PER_DAY];
    int n_hours;
};

static void take_hour(void *arg, const struct usage_row *row)
{
    struct fold *fold = arg;
    int i = 0;
    while (i < fold->n_hours && fold->hours[i].start_ms != row->start_ms) {
        i++;
    }
    fold->hours[i].start_ms = row->start_ms;
    fold->n_hours += i == fold->n_hours;
    if (row->side == USAGE_PROVIDER) {
        fold->hours[i].provider_ms += row->held_ms;
    } else {
        fold->hours[i].consumer_ms += row->held_ms;
    }
}

static int read_fold(struct books *books, struct fold *fold, struct err *err)
{
    struct books_splits *splits = &fold->splits;
    int rc =
        books_load_splits(books, fold->lease, fold->from_ms, fold->to_ms, splits, err);
    if (rc == 0 && splits->count == BOOKS_SPLITS_MAX) {
        fold->to_ms = splits->items[BOOKS_SPLITS_MAX - 1].start_ms;
    }
    if (rc == 0) {
        books_integrate(fold->lease, splits, fold->from_ms, fold->to_ms, take_hour,
                        fold);
    }
    return rc;
}

static int add_sum(struct books *books, const struct fold *fold, int at,
                   struct err *err)
{
    const struct books_param params[] = {{fold->lease, 0},
                                         {NULL, 1},
                                         {NULL, fold->hours[at].start_ms},
                                         {NULL, fold->hours[at].provider_ms},
                                         {NULL, fold->hours[at].consumer_ms}};
    return books_sql_run(books->sql, BOOKS_ADD_SUM, params, err);
}

/* What holds at the end of the fold goes on, unless the next split begins then. */
static int carry(struct books *books, const struct fold *fold, struct err *err)
{
    const struct books_split *last = &fold->splits.items[fold->splits.count - 1];
    const struct books_param params[] = {{fold->lease, 0},
                                         {NULL, fold->to_ms},
                                         {NULL, last->epoch},
                                         {NULL, last->provider},
                                         {NULL, last->consumer}};
    return last->provider > 0 || last->consumer > 0
               ? books_sql_run(books->sql, BOOKS_CARRY, params, err)
               : 0;
}

static int write_fold(struct books *books, const struct fold *fold, struct err *err)
{
    int64_t day_ms = day_of(fold->from_ms);
    const struct books_param cut[] = {{fold->lease, 0}, {NULL, fold->to_ms}};
    int rc = books_count_out(books, fold->lease, day_ms, fold->to_ms + 1, err);
    for (int i = 0; i < fold->n_hours && rc == 0; i++) {
        rc = add_sum(books, fold, i, err);
    }
    if (rc == 0) {
        rc = carry(books, fold, err);
    }
    if (rc == 0) {
        rc = books_sql_run(books->sql, BOOKS_CUT_ENTRIES, cut, err);
    }
    return rc == 0 ? books_count_in(books, fold->lease, day_ms, fold->to_ms + 1, err)
                   : rc;
}

/* What is in memory is then as what is written. */
static void end_fold(struct books *books, const struct fold *fold)
{
    struct book *book;
    HASH_FIND_STR(books->books, fold->lease, book);
    if (book != NULL && book->now.start_ms < fold->to_ms) {
        book->now.start_ms = fold->to_ms;
        if (book->now.provider == 0 && book->now.consumer == 0) {
            books_drop(books, book);
        }
    }
}

static int commit(struct books *books, int rc, struct err *err)
{
    return rc == 0 ? store_commit(books->store, err) : rc;
}

/* Until `before_ms`, each lease by a day at most. */
static int fold_all(struct books *books, const struct oldest *oldest, int64_t before_ms,
                    struct err *err)
{
    struct fold *folds = mem_alloc((size_t)oldest->count, sizeof(*folds));
    int rc = 0;
    for (int i = 0; i < oldest->count && rc == 0; i++) {
        int64_t end_ms = day_of(oldest->items[i].start_ms) + USAGE_DAY_MS;
        folds[i].lease = oldest->items[i].lease;
        folds[i].from_ms = oldest->items[i].start_ms;
        folds[i].to_ms = end_ms < before_ms ? end_ms : before_ms;
        rc = read_fold(books, &folds[i], err);
    }
    rc = rc == 0 ? store_begin(books->store, err) : rc;
    for (int i = 0; i < oldest->count && rc == 0; i++) {
        rc = write_fold(books, &folds[i], err);
    }
    rc = commit(books, rc, err);
    for (int i = 0; i < oldest->count && rc == 0; i++) {
        end_fold(books, &folds[i]);
    }
    free(folds);
    return rc;
}

/* ---------------------------------------------------------------- days */

static void log_day(struct books *books, int64_t day_ms, enum log_level level,
                    const char *what)
{
    char date[32];
    if (books->logged_ms != day_ms) {
        value_format_instant(day_ms, date);
        log_line(level, "books: they are larger than LEDGER_SIZE; %.10s: %s", date,
                 what);
        books->logged_ms = day_ms;
    }
}

static int cut_sums(struct books *books, const char *lease, int64_t n_hours,
                    int64_t from_ms, int64_t to_ms, struct err *err)
{
    const struct books_param params[] = {
        {lease, 0}, {NULL, n_hours}, {NULL, from_ms}, {NULL, to_ms}};
    return books_sql_run(books->sql, BOOKS_CUT_SUMS, params, err);
}

static int merge_day(struct books *books, const char *lease, int64_t day_ms,
                     struct err *err)
{
    int64_t end_ms = day_ms + USAGE_DAY_MS;
    const struct books_param params[] = {{lease, 0}, {NULL, day_ms}, {NULL, end_ms}};
    int rc = books_count_out(books, lease, day_ms, end_ms, err);
    if (rc == 0) {
        rc = books_sql_run(books->sql, BOOKS_MERGE, params, err);
    }
    if (rc == 0) {
        rc = cut_sums(books, lease, 1, day_ms, end_ms, err);
    }
    return rc == 0 ? books_count_in(books, lease, day_ms, end_ms, err) : rc;
}

/* All sums of the lease that begin in that time. */
static int drop_sums(struct books *books, const char *lease, int64_t from_ms,
                     int64_t to_ms, struct err *err)
{
    int rc = books_count_out(books, lease, from_ms, to_ms, err);
    if (rc == 0) {
        rc = cut_sums(books, lease, 1, from_ms, to_ms, err);
    }
    if (rc == 0) {
        rc = cut_sums(books, lease, 24, from_ms, to_ms, err);
    }
    return rc == 0 ? books_count_in(books, lease, from_ms, to_ms, err) : rc;
}

/* The days of what is oldest become one row each. */
static int merge_all(struct books *books, const struct oldest *oldest, struct err *err)
{
    int rc = store_begin(books->store, err);
    for (int i = 0; i < oldest->count && rc == 0; i++) {
        int64_t day_ms = day_of(oldest->items[i].start_ms);
        log_day(books, day_ms, LOG_LEVEL_NOTICE, "its hours are merged into one day");
        rc = merge_day(books, oldest->items[i].lease, day_ms, err);
    }
    return commit(books, rc, err);
}

/* 0 as `before_ms`: each its oldest day. */
static int drop_all(struct books *books, const struct oldest *oldest, int64_t before_ms,
                    struct err *err)
{
    int rc = store_begin(books->store, err);
    for (int i = 0; i < oldest->count && rc == 0; i++) {
        int64_t start_ms = oldest->items[i].start_ms;
        if (before_ms == 0) {
            log_day(books, start_ms, LOG_LEVEL_WARNING, "it is deleted");
        }
        rc = drop_sums(books, oldest->items[i].lease, start_ms,
                       before_ms > 0 ? before_ms : start_ms + 1, err);
    }
    return commit(books, rc, err);
}

/* ---------------------------------------------------------------- what is due */

static void take_size(void *arg, const char *text, const int64_t *numbers)
{
    (void)text;
    *(int64_t *)arg = numbers[0];
}

static int done(int rc)
{
    return rc < 0 ? rc : 1;
}

/* 1: something is smaller. */
static int shrink(struct books *books, int64_t today_ms, struct oldest *oldest,
                  struct err *err)
{
    int64_t n_bytes = 0;
    int rc = books_sql_ask(books->sql, BOOKS_SIZE, NULL, take_size, &n_bytes, err);
    if (rc < 0 || n_bytes <= books->n_bytes_max) {
        return rc;
    }
    rc = find_sums(books, 1, today_ms, oldest, err);
    if (rc < 0 || oldest->count > 0) {
        return rc < 0 ? rc : done(merge_all(books, oldest, err));
    }
    rc = find_entries(books, today_ms, oldest, err);
    if (rc < 0 || oldest->count > 0) {
        return rc < 0 ? rc : done(fold_all(books, oldest, today_ms, err));
    }
    rc = find_sums(books, 24, today_ms, oldest, err);
    return rc < 0 || oldest->count == 0 ? rc : done(drop_all(books, oldest, 0, err));
}

static int trim_due(struct books *books, int64_t now_ms, struct oldest *oldest,
                    struct err *err)
{
    int64_t today_ms = day_of(now_ms);
    int64_t fold_ms = today_ms - BOOKS_ENTRY_DAYS * USAGE_DAY_MS;
    int64_t drop_ms = today_ms - BOOKS_DAYS * USAGE_DAY_MS;
    int rc = find_entries(books, fold_ms, oldest, err);
    if (rc < 0 || oldest->count > 0) {
        return rc < 0 ? rc : done(fold_all(books, oldest, fold_ms, err));
    }
    for (int n_hours = 1; n_hours <= 24; n_hours += 23) {
        rc = find_sums(books, n_hours, drop_ms, oldest, err);
        if (rc < 0 || oldest->count > 0) {
            return rc < 0 ? rc : done(drop_all(books, oldest, drop_ms, err));
        }
    }
    return shrink(books, today_ms, oldest, err);
}

int books_trim(struct books *books, int64_t now_ms, struct err *err)
{
    struct arena arena;
    bool is_quiet = now_ms < books->quiet_until_ms &&
                    books->quiet_until_ms - now_ms <= USAGE_HOUR_MS;
    int rc = books_sql_rest(books->sql, err);
    if (rc < 0 || is_quiet) {
        return rc;
    }
    arena_init(&arena);
    struct oldest oldest = {.arena = &arena};
    rc = trim_due(books, now_ms, &oldest, err);
    if (rc == 0) {
        books->quiet_until_ms = now_ms + USAGE_HOUR_MS;
    }
    arena_release(&arena);
    return rc;
}
