/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_ledger.c: the ledger (rusage_ledger.h): a list of the open jobs that reserve
 * something. Jobs with equal texts share one reading of it. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "site/ledger/rusage_ledger_parts.h"

struct rusage_reading {
    int n_users;
    bool is_read; /* of this catalogue */
    struct arena arena;
    struct resreq_rusage usage;
    UT_hash_handle hh;
    char text[];
};

struct rusage_ledger *rusage_ledger_new(const struct resources *resources)
{
    struct rusage_ledger *reserves = mem_alloc(1, sizeof(*reserves));
    reserves->resources = resources;
    return reserves;
}

static struct rusage_reading *take_reading(struct rusage_ledger *reserves,
                                           const char *text)
{
    struct rusage_reading *reading;
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

static void drop_reading(struct rusage_ledger *reserves, struct rusage_reading *reading)
{
    if (--reading->n_users > 0) {
        return;
    }
    HASH_DEL(reserves->readings, reading);
    arena_release(&reading->arena);
    free(reading);
}

void rusage_ledger_add(struct rusage_ledger *reserves, struct job *job)
{
    if (job->reserved == NULL || job->ledger != NULL) {
        return;
    }
    if (reserves->count == reserves->capacity) {
        reserves->capacity = reserves->capacity * 2 + 16;
        reserves->items = mem_grow(reserves->items, (size_t)reserves->capacity,
                                   sizeof(*reserves->items));
    }
    struct rusage_entry *hold = mem_alloc(1, sizeof(*hold));
    hold->job = job;
    hold->reading = take_reading(reserves, job->reserved);
    hold->place = reserves->count;
    reserves->items[reserves->count++] = hold;
    job->ledger = hold;
}

void rusage_ledger_remove(struct rusage_ledger *reserves, struct job *job)
{
    struct rusage_entry *hold = job->ledger;
    if (hold == NULL) {
        return;
    }
    struct rusage_entry *last = reserves->items[--reserves->count];
    reserves->items[hold->place] = last;
    last->place = hold->place;
    drop_reading(reserves, hold->reading);
    free(hold);
    job->ledger = NULL;
}

void rusage_ledger_reload(struct rusage_ledger *reserves,
                          const struct resources *resources)
{
    reserves->resources = resources;
    struct rusage_reading *reading, *next;
    HASH_ITER (hh, reserves->readings, reading, next) {
        arena_clear(&reading->arena);
        reading->is_read = false;
    }
}

void rusage_ledger_free(struct rusage_ledger *reserves)
{
    if (reserves == NULL) {
        return;
    }
    while (reserves->count > 0) {
        rusage_ledger_remove(reserves, reserves->items[reserves->count - 1]->job);
    }
    free(reserves->items);
    free(reserves);
}

static const struct resreq_rusage *read_once(const struct rusage_ledger *reserves,
                                             struct rusage_reading *reading)
{
    if (!reading->is_read) {
        reading->is_read = true;
        resreq_rusage_read(&reading->arena, reserves->resources, reading->text,
                           &reading->usage);
    }
    return &reading->usage;
}

const struct resreq_rusage *rusage_ledger_usage(const struct rusage_ledger *reserves,
                                                const struct rusage_entry *hold)
{
    return read_once(reserves, hold->reading);
}

bool rusage_ledger_has(const struct rusage_ledger *reserves, int id)
{
    struct rusage_reading *reading, *next;
    HASH_ITER (hh, reserves->readings, reading, next) {
        const struct resreq_rusage *usage = read_once(reserves, reading);
        for (int i = 0; i < usage->n_items; i++) {
            if (usage->items[i].id == id) {
                return true;
            }
        }
    }
    return false;
}

/* ---------------------------------------------------------------- to be listed */

bool rusage_ledger_is_released(const struct rusage_ledger *reserves, int id)
{
    return id >= RESOURCE_BUILTINS &&
           resources_at(reserves->resources, id)->is_released;
}

bool rusage_ledger_has_any(const struct rusage_ledger *reserves)
{
    return reserves->count > 0;
}

/* It stood still when its host last spoke of it. While a host has to say it anew what
 * it gave back may be another's already: a pass takes care, and who looks is told the
 * truth. */
static bool was_still(const struct job *job)
{
    return job->halt.causes != 0 && job->halt.yields &&
           (job->state == JOB_SSUSP || job->state == JOB_USUSP ||
            job->state == JOB_UNKWN);
}

/* What the job reserves now on each host of an item that it has not given back. */
static void list_job(const struct rusage_ledger *reserves, const struct job *job,
                     int64_t now_ms, rusage_held_fn fn, void *arg)
{
    const struct resreq_rusage *usage = rusage_ledger_usage(reserves, job->ledger);
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (rusage_ledger_is_released(reserves, item->id) && was_still(job)) {
            continue;
        }
        int64_t ms = job->start_ms != 0 ? now_ms - job->start_ms : 0;
        for (int k = 0; k < job->n_hosts; k++) {
            int64_t n_times =
                rusage_supply_times(item->scope, job->hosts[k].n_slots, k == 0);
            const struct rusage_held held = {
                .resource = resources_at(reserves->resources, item->id)->name,
                .host = job->hosts[k].host,
                .lease = job->lease,
                .epoch = job->epoch,
                .milli = n_times * resreq_rusage_milli(item, ms),
            };
            if (held.milli > 0) {
                fn(arg, &held);
            }
        }
    }
}

void rusage_ledger_list(const struct rusage_ledger *reserves, int64_t now_ms,
                        rusage_held_fn fn, void *arg)
{
    for (int i = 0; i < reserves->count; i++) {
        list_job(reserves, reserves->items[i]->job, now_ms, fn, arg);
    }
}
