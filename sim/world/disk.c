/* SPDX-License-Identifier: Apache-2.0 */
/* disk.c: committed rows in a hash table by kind and key. */
#include "sim/world/disk.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

struct disk_row {
    struct arena arena;
    struct row row;
    UT_hash_handle hh;
    char key[]; /* kind and row key, so that rows sort by both */
};

struct disk {
    struct disk_row *rows;
};

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

static void delete_key(struct disk *disk, const struct row *row)
{
    char key[ROW_KEY_SIZE];
    struct disk_row *found;

    row_key(row, key);
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

static struct disk_row *new_row(const char *key, const struct row *row)
{
    size_t key_size = strlen(key) + 1;
    struct disk_row *stored = mem_alloc(1, sizeof *stored + key_size);

    memcpy(stored->key, key, key_size);
    arena_init_small(&stored->arena);
    row_copy(&stored->arena, row, &stored->row);
    return stored;
}

void disk_store(struct disk *disk, const struct row *row)
{
    struct disk_row *old, *stored = NULL;
    char key[ROW_KEY_SIZE];

    if (row->kind == ROW_HISTORY || row->kind == ROW_JOB_EVENT) {
        return;
    }
    row_key(row, key);
    old = find(disk, key);
    if (row_is_gone(row)) {
        if (row->kind == ROW_JOB_STATE) {
            delete_job(disk, row);
            old = NULL;
        } else if (row->kind == ROW_POOL) {
            delete_kept(disk, row->pool.name);
        }
    } else {
        struct row whole = old ? row_merge(row, &old->row) : *row;

        stored = new_row(key, &whole);
    }
    if (old) {
        delete_row(disk, old);
    }
    if (stored) {
        HASH_ADD_STR(disk->rows, key, stored);
    }
}

bool disk_has(const struct disk *disk, const struct row *key)
{
    char text[ROW_KEY_SIZE];

    row_key(key, text);
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
