/* SPDX-License-Identifier: Apache-2.0 */
/* books.c: see books.h: the splits of leases as they change, and their hours. What is
 * summed and deleted is in books_trim.c. */
#include <stdlib.h>
#include <string.h>

#include "broker/io/store/books_parts.h"
#include "broker/io/store/store_parts.h"

static struct book *see_book(struct books *books, const char *lease)
{
    struct book *book;
    HASH_FIND_STR(books->books, lease, book);
    if (book == NULL) {
        size_t size = strlen(lease) + 1;
        book = mem_alloc(1, sizeof(*book));
        book->lease = memcpy(mem_alloc(size, 1), lease, size);
        HASH_ADD_KEYPTR(hh, books->books, book->lease, size - 1, book);
    }
    return book;
}

void books_drop(struct books *books, struct book *book)
{
    HASH_DEL(books->books, book);
    free(book->lease);
    free(book);
}

static void load_book(void *arg, const char *lease, const int64_t *numbers)
{
    struct book *book = see_book(arg, lease);
    book->is_known = true;
    book->now = (struct books_split){numbers[1], numbers[2], numbers[3], numbers[4]};
}

int books_new(struct store *store, int64_t n_bytes_max, struct books **books,
              struct err *err)
{
    struct books *made = mem_alloc(1, sizeof(*made));
    made->store = store;
    made->n_bytes_max = n_bytes_max;
    int rc = books_sql_new(store, &made->sql, err);
    rc =
        rc == 0 ? books_sql_ask(made->sql, BOOKS_LAST, NULL, load_book, made, err) : rc;
    if (rc < 0) {
        books_free(made);
        return rc;
    }
    store->books = *books = made;
    return 0;
}

void books_free(struct books *books)
{
    struct book *book, *next;
    if (books == NULL) {
        return;
    }
    HASH_ITER (hh, books->books, book, next) {
        books_drop(books, book);
    }
    if (books->store->books == books) {
        books->store->books = NULL;
    }
    books_sql_free(books->sql);
    free(books);
}

struct books *books_of(const struct store *store)
{
    return store->books;
}

void books_resize(struct books *books, int64_t n_bytes_max)
{
    books->n_bytes_max = n_bytes_max;
    books->quiet_until_ms = 0;
}

/* ---------------------------------------------------------------- splits */

void books_begin(struct books *books)
{
    books->changed = NULL;
    books->transaction++;
}

int books_end(struct books *books, struct err *err)
{
    return books_sql_end(books->sql, err);
}

static int resize(struct books *books, const char *lease, int64_t from_ms,
                  int64_t to_ms, int sign, struct err *err)
{
    const struct books_param params[] = {
        {lease, 0}, {NULL, from_ms}, {NULL, to_ms}, {NULL, sign}};
    return books_sql_run(books->sql, BOOKS_RESIZE, params, err);
}

int books_count_out(struct books *books, const char *lease, int64_t from_ms,
                    int64_t to_ms, struct err *err)
{
    return resize(books, lease, from_ms, to_ms, -1, err);
}

int books_count_in(struct books *books, const char *lease, int64_t from_ms,
                   int64_t to_ms, struct err *err)
{
    return resize(books, lease, from_ms, to_ms, 1, err);
}

/* An entry of that start is replaced. */
static int open_split(struct books *books, const struct book *book, struct err *err)
{
    const struct books_split *split = &book->next;
    const struct books_param params[] = {{book->lease, 0},
                                         {NULL, split->start_ms},
                                         {NULL, split->epoch},
                                         {NULL, split->provider},
                                         {NULL, split->consumer}};
    return books_sql_open(books->sql, params, err);
}

static int cut_sums(struct books *books, const char *lease, int64_t n_hours,
                    int64_t from_ms, struct err *err)
{
    const struct books_param params[] = {
        {lease, 0}, {NULL, n_hours}, {NULL, from_ms}, {NULL, INT64_MAX}};
    return books_sql_run(books->sql, BOOKS_CUT_SUMS, params, err);
}

/* What a wrong clock has booked in the time that is still to come. */
static int undo_future(struct books *books, const char *lease, int64_t now_ms,
                       struct err *err)
{
    const struct books_param params[] = {{lease, 0}, {NULL, now_ms}};
    int rc = books_count_out(books, lease, now_ms + 1, INT64_MAX, err);
    if (rc == 0) {
        rc = books_sql_run(books->sql, BOOKS_UNDO, params, err);
    }
    if (rc == 0) {
        rc = cut_sums(books, lease, 1, now_ms + 1, err);
    }
    return rc == 0 ? cut_sums(books, lease, 24, now_ms + 1, err) : rc;
}

/* When the split begins: as its provider has it, but not before the one before it, nor
 * later than clocks may differ by. `is_undone`: the clock was wrong until now. */
static int64_t start_of(const struct book *book, const struct books_split *last,
                        const struct row_lease *lease, int64_t now_ms, bool *is_undone)
{
    bool is_told = lease->split_ms > 0 && last->epoch != (int64_t)lease->epoch &&
                   lease->split_ms <= now_ms + USAGE_CLOCKS_MS;
    int64_t at_ms = is_told ? lease->split_ms : now_ms;
    *is_undone = book->is_known && book->now.start_ms - now_ms > USAGE_HOUR_MS;
    if (!book->is_known && !is_told && lease->changed_ms > 0 &&
        lease->changed_ms < now_ms) {
        return lease->changed_ms; /* a contract that is older than the books */
    }
    return book->is_known && at_ms < book->now.start_ms && !*is_undone
               ? book->now.start_ms
               : at_ms;
}

/* As the contract says, also of hosts that are down: they are held as well. */
static void add_up_hosts(struct books_split *split, const struct row_lease *lease)
{
    for (int i = 0; i < lease->n_hosts && lease->state != LEASE_ENDED; i++) {
        split->provider += lease->hosts[i].provider;
        split->consumer += lease->hosts[i].consumer;
    }
}

int books_write(struct books *books, const struct row_lease *lease, int64_t now_ms,
                struct err *err)
{
    bool is_undone;
    struct book *book = see_book(books, lease->id);
    bool has_changed = book->changed_in == books->transaction;
    const struct books_split *last = has_changed ? &book->next : &book->now;
    struct books_split next = {.epoch = (int64_t)lease->epoch};
    next.start_ms = start_of(book, last, lease, now_ms, &is_undone);
    add_up_hosts(&next, lease);
    if (last->provider == next.provider && last->consumer == next.consumer) {
        return 0;
    }
    if (!has_changed) {
        book->changed_in = books->transaction;
        book->next_changed = books->changed;
        books->changed = book;
    }
    book->next = next;
    int rc = is_undone ? undo_future(books, book->lease, now_ms, err) : 0;
    return rc == 0 ? open_split(books, book, err) : rc;
}

void books_committed(struct books *books)
{
    for (struct book *book = books->changed; book != NULL; book = book->next_changed) {
        book->now = book->next;
        book->is_known = true;
    }
    books->changed = NULL;
}

/* ---------------------------------------------------------------- hours */

static void load_split(void *arg, const char *text, const int64_t *numbers)
{
    struct books_splits *splits = arg;
    (void)text;
    splits->items[splits->count++] =
        (struct books_split){numbers[0], numbers[1], numbers[2], numbers[3]};
}

int books_load_splits(struct books *books, const char *lease, int64_t from_ms,
                      int64_t to_ms, struct books_splits *splits, struct err *err)
{
    const struct books_param params[] = {
        {lease, 0}, {NULL, from_ms}, {NULL, to_ms}, {NULL, BOOKS_SPLITS_MAX}};
    splits->count = 0;
    return books_sql_ask(books->sql, BOOKS_ENTRIES, params, load_split, splits, err);
}

void books_integrate(const char *lease, const struct books_splits *splits,
                     int64_t from_ms, int64_t to_ms, usage_row_fn fn, void *arg)
{
    struct usage *usage = usage_new();
    for (int i = 0; i < splits->count; i++) {
        const struct books_split *split = &splits->items[i];
        int64_t start_ms = split->start_ms > from_ms ? split->start_ms : from_ms;
        usage_hold(usage, lease, USAGE_PROVIDER, (int)split->provider, start_ms);
        usage_hold(usage, lease, USAGE_CONSUMER, (int)split->consumer, start_ms);
    }
    usage_book(usage, to_ms);
    usage_each(usage, fn, arg);
    usage_free(usage);
}

struct reading {
    const char *lease;
    usage_row_fn fn;
    void *arg;
};

static void give_sum(void *arg, const char *text, const int64_t *numbers)
{
    const struct reading *reading = arg;
    (void)text;
    for (int side = 0; side < USAGE_SIDES; side++) {
        int64_t held_ms = numbers[side == USAGE_PROVIDER ? 1 : 2];
        const struct usage_row row = {.lease = reading->lease,
                                      .side = (enum usage_side)side,
                                      .start_ms = numbers[0],
                                      .owner = {"", "", "", ""},
                                      .held_ms = held_ms,
                                      .idle_ms = held_ms};
        reading->fn(reading->arg, &row);
    }
}

int books_read(struct books *books, const char *lease, int64_t from_ms, int64_t to_ms,
               usage_row_fn fn, void *arg, struct err *err)
{
    struct books_splits splits;
    struct reading reading = {lease, fn, arg};
    const struct books_param params[] = {{lease, 0}, {NULL, from_ms}, {NULL, to_ms}};
    int rc = books_sql_ask(books->sql, BOOKS_SUMS, params, give_sum, &reading, err);
    do {
        splits.count = 0;
        rc = rc == 0 ? books_load_splits(books, lease, from_ms, to_ms, &splits, err)
                     : rc;
        bool is_full = splits.count == BOOKS_SPLITS_MAX;
        int64_t end_ms = is_full ? splits.items[BOOKS_SPLITS_MAX - 1].start_ms : to_ms;
        if (rc == 0) {
            books_integrate(lease, &splits, from_ms, end_ms, fn, arg);
        }
        from_ms = end_ms;
    } while (rc == 0 && from_ms < to_ms);
    return rc;
}

int books_read_changes(struct books *books, const char *lease, int64_t from_ms,
                       int64_t to_ms, books_change_fn fn, void *arg, struct err *err)
{
    struct books_splits splits = {.count = BOOKS_SPLITS_MAX};
    int rc = 0;
    while (rc == 0 && splits.count == BOOKS_SPLITS_MAX) {
        rc = books_load_splits(books, lease, from_ms, to_ms, &splits, err);
        for (int i = 0; i < splits.count && rc == 0; i++) {
            const struct books_split *split = &splits.items[i];
            const struct books_change change = {split->start_ms, (uint64_t)split->epoch,
                                                (int)split->provider,
                                                (int)split->consumer};
            fn(arg, &change);
        }
        from_ms = splits.count > 0 ? splits.items[splits.count - 1].start_ms : from_ms;
    }
    return rc;
}

static void take_first(void *arg, const char *text, const int64_t *numbers)
{
    (void)text;
    memcpy(arg, numbers, 2 * sizeof(*numbers));
}

int books_first(struct books *books, const char *lease, int64_t *first_ms,
                int64_t *first_split_ms, struct err *err)
{
    const struct books_param params[] = {{lease, 0}};
    int64_t firsts[2] = {0};
    int rc = books_sql_ask(books->sql, BOOKS_FIRST, params, take_first, firsts, err);
    *first_ms = firsts[0];
    *first_split_ms = firsts[1];
    return rc;
}
