/* SPDX-License-Identifier: Apache-2.0 */
/* usage_sums.c: rows by key, and their sums. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "usage/usage.h"

enum { N_TEXTS = 5 };

struct cell {
    char *key;
    struct usage_row row;
    UT_hash_handle hh;
};

struct usage_sums {
    int by;
    bool is_sorted;
    struct cell *cells;
};

struct usage_sums *usage_sums_new(int by)
{
    struct usage_sums *sums = mem_alloc(1, sizeof *sums);

    sums->by = by;
    return sums;
}

void usage_sums_free(struct usage_sums *sums)
{
    struct cell *cell, *next;

    if (!sums) {
        return;
    }
    HASH_ITER (hh, sums->cells, cell, next) {
        HASH_DEL(sums->cells, cell);
        free(cell->key);
        free(cell);
    }
    free(sums);
}

static int64_t start_of(int64_t start_ms, int by)
{
    int64_t unit_ms = by & USAGE_BY_HOUR  ? USAGE_HOUR_MS
                      : by & USAGE_BY_DAY ? USAGE_DAY_MS
                                          : 0;

    return unit_ms > 0 ? start_ms - start_ms % unit_ms : 0;
}

/* A row that has only what the sums are by. */
static struct usage_row reduce(const struct usage_row *row, int by)
{
    return (struct usage_row){
        .lease = by & USAGE_BY_LEASE ? row->lease : "",
        .side = by & USAGE_BY_SIDE ? row->side : USAGE_CONSUMER,
        .start_ms = start_of(row->start_ms, by),
        .owner = {.user = by & USAGE_BY_USER ? row->owner.user : "",
                  .queue = by & USAGE_BY_QUEUE ? row->owner.queue : "",
                  .project = by & USAGE_BY_PROJECT ? row->owner.project : "",
                  .account = by & USAGE_BY_ACCOUNT ? row->owner.account : ""},
    };
}

static const char *next_text(const char *text)
{
    return text + strlen(text) + 1;
}

/* Lets the texts of the row be those of its key. */
static void point_into_key(struct usage_row *row, const char *key)
{
    row->lease = key;
    row->owner.user = next_text(row->lease);
    row->owner.queue = next_text(row->owner.user);
    row->owner.project = next_text(row->owner.queue);
    row->owner.account = next_text(row->owner.project);
}

/* The texts, each with its NUL, and the numbers. */
static char *make_key(const struct usage_row *row, size_t *size)
{
    const char *texts[] = {row->lease, row->owner.user, row->owner.queue,
                           row->owner.project, row->owner.account};
    const int64_t numbers[] = {(int64_t)row->side, row->start_ms};
    size_t at = 0;

    *size = sizeof numbers;
    for (int i = 0; i < N_TEXTS; i++) {
        *size += strlen(texts[i]) + 1;
    }
    char *key = mem_alloc(*size, 1);
    for (int i = 0; i < N_TEXTS; i++) {
        size_t length = strlen(texts[i]) + 1;

        memcpy(key + at, texts[i], length);
        at += length;
    }
    memcpy(key + at, numbers, sizeof numbers);
    return key;
}

void usage_sums_add(struct usage_sums *sums, const struct usage_row *row)
{
    struct usage_row reduced = reduce(row, sums->by);
    size_t size;
    char *key = make_key(&reduced, &size);
    struct cell *cell;

    HASH_FIND(hh, sums->cells, key, size, cell);
    if (cell) {
        free(key);
    } else {
        cell = mem_alloc(1, sizeof *cell);
        cell->key = key;
        cell->row = reduced;
        point_into_key(&cell->row, key);
        HASH_ADD_KEYPTR(hh, sums->cells, cell->key, size, cell);
        sums->is_sorted = false;
    }
    cell->row.held_ms += row->held_ms;
    cell->row.used_ms += row->used_ms;
    cell->row.idle_ms += row->idle_ms;
    cell->row.cost_ms += row->cost_ms;
    cell->row.n_moved += row->n_moved;
}

static int compare_cells(const struct cell *one, const struct cell *other)
{
    const struct usage_row *a = &one->row, *b = &other->row;
    int order = strcmp(a->lease, b->lease);

    order = order ? order : (int)a->side - (int)b->side;
    order = order ? order : (a->start_ms > b->start_ms) - (a->start_ms < b->start_ms);
    order = order ? order : strcmp(a->owner.user, b->owner.user);
    order = order ? order : strcmp(a->owner.queue, b->owner.queue);
    order = order ? order : strcmp(a->owner.project, b->owner.project);
    return order ? order : strcmp(a->owner.account, b->owner.account);
}

void usage_sums_each(struct usage_sums *sums, usage_row_fn fn, void *arg)
{
    if (!sums->is_sorted) {
        HASH_SORT(sums->cells, compare_cells);
        sums->is_sorted = true;
    }
    for (struct cell *cell = sums->cells; cell; cell = cell->hh.next) {
        fn(arg, &cell->row);
    }
}

int usage_sums_count(const struct usage_sums *sums)
{
    return (int)HASH_COUNT(sums->cells);
}

double usage_sums_credits(int64_t cost_ms)
{
    return (double)cost_ms / (double)USAGE_HOUR_MS;
}

int64_t usage_sums_seconds(int64_t slot_ms)
{
    return (slot_ms + 500) / 1000;
}

int64_t usage_sums_idle_seconds(const struct usage_row *row)
{
    return row->idle_ms > 0 ? usage_sums_seconds(row->idle_ms) : 0;
}

int64_t usage_sums_held_seconds(const struct usage_row *row)
{
    if (row->idle_ms >= 0) {
        return usage_sums_seconds(row->used_ms) + usage_sums_seconds(row->idle_ms);
    }
    return row->held_ms > 0 ? usage_sums_seconds(row->held_ms) : 0;
}
