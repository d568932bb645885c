/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_ledger.c: the ledger (site_ledger.h): a list of the open jobs that reserve
 * something. Jobs with equal texts share one reading of it. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "site/ledger/rusage_ledger_parts.h"

struct rusage_reading {
    struct resreq_rusage usage; /* by this catalogue */
    int n_users;
    struct arena arena;
    UT_hash_handle hh;
    char text[];
};

struct rusage_ledger *rusage_ledger_new(const struct resources *resources)
{
    struct rusage_ledger *ledger = mem_alloc(1, sizeof(*ledger));
    ledger->resources = resources;
    return ledger;
}

static void read_text(const struct rusage_ledger *ledger,
                      struct rusage_reading *reading)
{
    resreq_rusage_read(&reading->arena, ledger->resources, reading->text,
                       &reading->usage);
}

static struct rusage_reading *reference_reading(struct rusage_ledger *ledger,
                                                const char *text)
{
    struct rusage_reading *reading;
    HASH_FIND_STR(ledger->readings, text, reading);
    if (reading == NULL) {
        size_t length = strlen(text);
        reading = mem_alloc(1, sizeof(*reading) + length + 1);
        memcpy(reading->text, text, length + 1);
        arena_init_small(&reading->arena);
        HASH_ADD_STR(ledger->readings, text, reading);
        read_text(ledger, reading);
    }
    reading->n_users++;
    return reading;
}

static void release_reading(struct rusage_ledger *ledger,
                            struct rusage_reading *reading)
{
    if (--reading->n_users > 0) {
        return;
    }
    HASH_DEL(ledger->readings, reading);
    arena_release(&reading->arena);
    free(reading);
}

void rusage_ledger_add(struct rusage_ledger *ledger, struct job *job)
{
    if (job->reserved == NULL || job->rusage != NULL) {
        return;
    }
    if (ledger->count == ledger->capacity) {
        ledger->capacity = ledger->capacity * 2 + 16;
        ledger->items =
            mem_grow(ledger->items, (size_t)ledger->capacity, sizeof(*ledger->items));
    }
    struct rusage_entry *entry = mem_alloc(1, sizeof(*entry));
    entry->job = job;
    entry->reading = reference_reading(ledger, job->reserved);
    entry->usage = &entry->reading->usage;
    entry->index = ledger->count;
    ledger->items[ledger->count++] = entry;
    job->rusage = entry;
}

void rusage_ledger_remove(struct rusage_ledger *ledger, struct job *job)
{
    struct rusage_entry *entry = job->rusage;
    if (entry == NULL) {
        return;
    }
    struct rusage_entry *last = ledger->items[--ledger->count];
    ledger->items[entry->index] = last;
    last->index = entry->index;
    release_reading(ledger, entry->reading);
    free(entry);
    job->rusage = NULL;
}

void rusage_ledger_reload(struct rusage_ledger *ledger,
                          const struct resources *resources)
{
    ledger->resources = resources;
    struct rusage_reading *reading, *next;
    HASH_ITER (hh, ledger->readings, reading, next) {
        arena_clear(&reading->arena);
        read_text(ledger, reading);
    }
}

void rusage_ledger_free(struct rusage_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    while (ledger->count > 0) {
        rusage_ledger_remove(ledger, ledger->items[ledger->count - 1]->job);
    }
    free(ledger->items);
    free(ledger);
}

bool rusage_ledger_has(const struct rusage_ledger *ledger, int id)
{
    struct rusage_reading *reading, *next;
    HASH_ITER (hh, ledger->readings, reading, next) {
        for (int i = 0; i < reading->usage.n_items; i++) {
            if (reading->usage.items[i].id == id) {
                return true;
            }
        }
    }
    return false;
}

/* ---------------------------------------------------------------- to be listed */

bool rusage_ledger_is_released(const struct rusage_ledger *ledger, int id)
{
    return id >= RESOURCE_BUILTINS && resources_at(ledger->resources, id)->is_released;
}

bool rusage_ledger_has_any(const struct rusage_ledger *ledger)
{
    return ledger->count > 0;
}

/* True if the job was yielded when its host last reported. Until the host reports again
 * its resources may be in use by another job: a pass takes care of that, a listing
 * tells what is known. */
static bool was_yielded(const struct job *job)
{
    return job->suspension.causes != 0 && job->suspension.yields &&
           (job->state == JOB_SSUSP || job->state == JOB_USUSP ||
            job->state == JOB_UNKWN);
}

/* Lists what the job reserves now on each host. */
static void list_job(const struct rusage_ledger *ledger, const struct job *job,
                     int64_t now_ms, rusage_held_fn fn, void *arg)
{
    const struct resreq_rusage *usage = job->rusage->usage;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (rusage_ledger_is_released(ledger, item->id) && was_yielded(job)) {
            continue;
        }
        int64_t ms = job->start_ms != 0 ? now_ms - job->start_ms : 0;
        for (int k = 0; k < job->n_hosts; k++) {
            int64_t n_times = rusage_supply_times_on(item, k, job->hosts[k].n_slots);
            const struct rusage_held held = {
                .resource = resources_at(ledger->resources, item->id)->name,
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

void rusage_ledger_list(const struct rusage_ledger *ledger, int64_t now_ms,
                        rusage_held_fn fn, void *arg)
{
    for (int i = 0; i < ledger->count; i++) {
        list_job(ledger, ledger->items[i]->job, now_ms, fn, arg);
    }
}
