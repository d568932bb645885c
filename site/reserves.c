/* SPDX-License-Identifier: Apache-2.0 */
/* reserves.c: the ledger (reserves.h): a list of the open jobs that reserve something.
 * Jobs with equal texts share one reading of it. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "site/reserves_parts.h"

struct reserves_reading {
    int n_users;
    bool is_read; /* of this catalogue */
    struct arena arena;
    struct resreq_rusage usage;
    UT_hash_handle hh;
    char text[];
};

struct reserves *reserves_new(void)
{
    struct reserves *reserves = mem_alloc(1, sizeof(*reserves));
    reserves->wake_ms = INT64_MAX;
    return reserves;
}

static struct reserves_reading *take_reading(struct reserves *reserves,
                                             const char *text)
{
    struct reserves_reading *reading;
    HASH_FIND_STR(reserves->readings, text, reading);
    if (reading == NULL) {
        size_t length = strlen(text);
        reading = mem_alloc(1, sizeof(*reading) + length + 1);
        memcpy(reading->text, text, length + 1);
        arena_init_small(&reading->arena);
        HASH_ADD_STR(reserves->readings, text, reading);
    }
    reading->n_users++;
    return reading;
}

static void drop_reading(struct reserves *reserves, struct reserves_reading *reading)
{
    if (--reading->n_users > 0) {
        return;
    }
    HASH_DEL(reserves->readings, reading);
    arena_release(&reading->arena);
    free(reading);
}

void reserves_enter(struct reserves *reserves, struct job *job)
{
    if (job->reserved == NULL || job->ledger != NULL) {
        return;
    }
    if (reserves->count == reserves->capacity) {
        reserves->capacity = reserves->capacity * 2 + 16;
        reserves->items = mem_grow(reserves->items, (size_t)reserves->capacity,
                                   sizeof(*reserves->items));
    }
    struct reserves_entry *hold = mem_alloc(1, sizeof(*hold));
    hold->job = job;
    hold->reading = take_reading(reserves, job->reserved);
    hold->place = reserves->count;
    reserves->items[reserves->count++] = hold;
    job->ledger = hold;
}

void reserves_leave(struct reserves *reserves, struct job *job)
{
    struct reserves_entry *hold = job->ledger;
    if (hold == NULL) {
        return;
    }
    struct reserves_entry *last = reserves->items[--reserves->count];
    reserves->items[hold->place] = last;
    last->place = hold->place;
    drop_reading(reserves, hold->reading);
    free(hold);
    job->ledger = NULL;
}

void reserves_forget(struct reserves *reserves)
{
    struct reserves_reading *reading, *next;
    HASH_ITER (hh, reserves->readings, reading, next) {
        arena_clear(&reading->arena);
        reading->is_read = false;
    }
}

void reserves_free(struct reserves *reserves)
{
    if (reserves == NULL) {
        return;
    }
    while (reserves->count > 0) {
        reserves_leave(reserves, reserves->items[reserves->count - 1]->job);
    }
    free(reserves->items);
    free(reserves);
}

static const struct resreq_rusage *read_once(const struct site *site,
                                             struct reserves_reading *reading)
{
    if (!reading->is_read) {
        reading->is_read = true;
        resreq_rusage_read(&reading->arena, facts_resources(site->facts), reading->text,
                           &reading->usage);
    }
    return &reading->usage;
}

const struct resreq_rusage *reserves_usage_of(const struct site *site,
                                              const struct reserves_entry *hold)
{
    return read_once(site, hold->reading);
}

bool reserves_has_of(const struct site *site, int id)
{
    struct reserves_reading *reading, *next;
    HASH_ITER (hh, site->reserves->readings, reading, next) {
        const struct resreq_rusage *usage = read_once(site, reading);
        for (int i = 0; i < usage->n_items; i++) {
            if (usage->items[i].id == id) {
                return true;
            }
        }
    }
    return false;
}

/* ---------------------------------------------------------------- to be listed */

bool reserves_is_released(const struct site *site, int id)
{
    return id >= RESOURCE_BUILTINS &&
           resources_at(facts_resources(site->facts), id)->is_released;
}

bool reserves_has_any(const struct site *site)
{
    return site->reserves->count > 0;
}
