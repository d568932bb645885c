/* SPDX-License-Identifier: Apache-2.0 */
/* disk.c: committed rows in a hash table by kind and key. */
#include "sim/world/disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

enum { KEY_SIZE = LEASE_ID_SIZE + 64 };

struct disk_row {
    char key[KEY_SIZE]; /* kind and row key, so that rows sort by both */
    struct arena arena;
    struct row row;
    UT_hash_handle hh;
};

struct disk {
    struct disk_row *rows;
};

static void format_key(const struct row *row, char *key)
{
    int n = snprintf(key, KEY_SIZE, "%02d ", (int)row->kind);
    char *rest = key + n;
    size_t size = KEY_SIZE - (size_t)n;

    switch (row->kind) {
    case ROW_COUNTER:
        snprintf(rest, size, "%s", row->counter.name);
        break;
    case ROW_OVERRIDE:
        snprintf(rest, size, "%d %s", (int)row->override.scope, row->override.name);
        break;
    case ROW_LEASE:
        snprintf(rest, size, "%s", row->lease.id);
        break;
    case ROW_SITE:
        snprintf(rest, size, "%s", row->site.name);
        break;
    case ROW_POOL:
        snprintf(rest, size, "%s", row->pool.name);
        break;
    case ROW_KEPT:
        snprintf(rest, size, "%s %s", row->kept.pool, row->kept.node);
        break;
    case ROW_BOOK:
        snprintf(rest, size, "%s", row->book.lease);
        break;
    case ROW_HIGH:
        snprintf(rest, size, "%s", row->high.consumer);
        break;
    case ROW_QUEUE:
        snprintf(rest, size, "%s", row->queue.name);
        break;
    case ROW_JOB:
        snprintf(rest, size, "%020" PRIu64, row->job.id);
        break;
    case ROW_JOB_STATE:
        snprintf(rest, size, "%020" PRIu64 " %07d", row->job_state.id,
                 row->job_state.index);
        break;
    case ROW_RUN:
        snprintf(rest, size, "%s %020" PRIu64, row->run.run.site, row->run.run.attempt);
        break;
    case ROW_CLOSED:
        snprintf(rest, size, "%s", row->closed.host);
        break;
    case ROW_PICK: /* not stored: simulated hosts start without resources */
        break;
    case ROW_SHARE:
        snprintf(rest, size, "%s %s", row->share.scope, row->share.account);
        break;
    case ROW_HISTORY:
    case ROW_JOB_EVENT:
    case ROW_KINDS:
        break;
    }
}

static struct disk_row *find(const struct disk *disk, const char *key)
{
    struct disk_row *found;

    HASH_FIND_STR(disk->rows, key, found);
    return found;
}

static void delete_row(struct disk *disk, struct disk_row *row)
{
    HASH_DEL(disk->rows, row);
    arena_release(&row->arena);
    free(row);
}

static bool is_gone(const struct row *row)
{
    return (row->kind == ROW_BOOK && row->book.is_gone) ||
           (row->kind == ROW_JOB_STATE && row->job_state.is_gone) ||
           (row->kind == ROW_RUN && row->run.is_gone) ||
           (row->kind == ROW_CLOSED && !row->closed.is_closed) ||
           (row->kind == ROW_SHARE && row->share.is_gone) ||
           (row->kind == ROW_POOL && row->pool.is_gone) ||
           (row->kind == ROW_KEPT && row->kept.is_gone) ||
           (row->kind == ROW_OVERRIDE && row->override.delay_ms < 0);
}

static void delete_key(struct disk *disk, const struct row *row)
{
    char key[KEY_SIZE];
    struct disk_row *found;

    format_key(row, key);
    found = find(disk, key);
    if (found) {
        delete_row(disk, found);
    }
}

/* Deletes a job with the states of all its elements. */
static void delete_job(struct disk *disk, const struct row *state)
{
    struct row job = {.kind = ROW_JOB, .job.id = state->job_state.id};
    struct disk_row *row, *next;

    delete_key(disk, &job);
    delete_key(disk, state);
    if (state->job_state.index == 0) {
        return;
    }
    HASH_ITER (hh, disk->rows, row, next)
        if (row->row.kind == ROW_JOB_STATE && row->row.job_state.id == job.job.id) {
            delete_row(disk, row);
        }
}

/* Deletes the ROW_KEPT rows of a pool. */
static void delete_kept(struct disk *disk, const char *pool)
{
    struct disk_row *row, *next;

    HASH_ITER (hh, disk->rows, row, next)
        if (row->row.kind == ROW_KEPT && strcmp(row->row.kept.pool, pool) == 0) {
            delete_row(disk, row);
        }
}

struct disk *disk_new(void)
{
    return mem_alloc(1, sizeof(struct disk));
}

void disk_free(struct disk *disk)
{
    struct disk_row *row, *next;

    if (!disk) {
        return;
    }
    HASH_ITER (hh, disk->rows, row, next)
        delete_row(disk, row);
    free(disk);
}

void disk_store(struct disk *disk, const struct row *row)
{
    struct disk_row *old, *stored;

    if (row->kind == ROW_HISTORY || row->kind == ROW_JOB_EVENT) {
        return;
    }
    stored = mem_alloc(1, sizeof *stored);
    format_key(row, stored->key);
    old = find(disk, stored->key);
    if (is_gone(row)) {
        if (row->kind == ROW_JOB_STATE) {
            delete_job(disk, row);
            old = NULL;
        } else if (row->kind == ROW_POOL) {
            delete_kept(disk, row->pool.name);
        }
        free(stored);
    } else {
        struct row whole = *row;

        if (row->kind == ROW_RUN && !row->run.spec && old) {
            whole.run.spec = old->row.run.spec;
        }
        arena_init_small(&stored->arena);
        row_copy(&stored->arena, &whole, &stored->row);
    }
    if (old) {
        delete_row(disk, old);
    }
    if (!is_gone(row)) {
        HASH_ADD_STR(disk->rows, key, stored);
    }
}

bool disk_has(const struct disk *disk, const struct row *key)
{
    char text[KEY_SIZE];

    format_key(key, text);
    return find(disk, text) != NULL;
}

static int by_key(struct disk_row *a, struct disk_row *b)
{
    return strcmp(a->key, b->key);
}

void disk_load(struct disk *disk, disk_row_fn on_row, void *arg)
{
    struct disk_row *row, *next;

    HASH_SORT(disk->rows, by_key);
    HASH_ITER (hh, disk->rows, row, next)
        on_row(arg, &row->row);
}

static void store_in(void *arg, const struct row *row)
{
    disk_store(arg, row);
}

struct disk *disk_copy(struct disk *disk)
{
    struct disk *copy = disk_new();

    disk_load(disk, store_in, copy);
    return copy;
}
