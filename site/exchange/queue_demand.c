/* SPDX-License-Identifier: Apache-2.0 */
/* queue_demand.c: see queue_demand.h.
 *
 * Example: ten jobs of 1 slot and one of 8, and a user limit of 4 slots in use by
 * nobody: 4 jobs of 1 slot count. With a limit of 12: 10 of 1 slot, none of 8. */
#include "site/exchange/queue_demand.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

enum {
    SIZES_MAX = 16,     /* rows of a queue; larger jobs count as the last size */
    COUNTED_MAX = 1000, /* jobs of a class that limits count one by one */
};

/* Jobs of one size. */
struct size_count {
    int queue, n_slots;
    int64_t n_jobs;
};

/* ---------------------------------------------------------------- limits */

/* How many of `n_jobs` jobs may start by the limits, which count them then. */
static int64_t count_by_limits(struct limits_tentative *tentative,
                               const struct job *first, int64_t n_jobs)
{
    const struct host_slots slots = {.host = "", .n_slots = first->spec->n_slots};
    int64_t n_may = 0;
    while (n_may < n_jobs) {
        const struct limit *limit;
        int left = limits_slots_left(tentative, first->limit_owner, &limit);
        if (left < slots.n_slots) {
            return n_may;
        }
        if (n_may == COUNTED_MAX) {
            int64_t n_more = left / slots.n_slots;
            return n_may + (n_jobs - n_may < n_more ? n_jobs - n_may : n_more);
        }
        limits_tentative_count(tentative, first->limit_owner, &slots, 1);
        n_may++;
    }
    return n_may;
}

static int64_t count_jobs(const struct queue_demand_parts *parts,
                          struct limits_tentative *tentative, const struct job *first,
                          int n_entries)
{
    if (queue_table_veto(parts->queues, first->queue, parts->local_ms) != REASON_NEW) {
        return 0;
    }
    int room = job_array_room(first);
    int64_t n_jobs = n_entries < room ? n_entries : room;
    return limits_have_any(first->limit_owner)
               ? count_by_limits(tentative, first, n_jobs)
               : n_jobs;
}

/* ---------------------------------------------------------------- needs */

static uint64_t add_text(uint64_t digest, const char *text)
{
    for (; *text != '\0'; text++) {
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return (digest ^ 0x100) * UINT64_C(0x100000001b3);
}

/* FNV-1a of what decides on which hosts the jobs of a class may run. */
static uint64_t digest_of(const struct site_config *config, int queue,
                          const struct job_spec *spec)
{
    const struct application *app =
        application_find(config->applications, config->n_applications, spec->app);
    const char *of_queue = config->queues[queue].res_req;
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)spec->n_slots;
    digest = add_text(digest, spec->app);
    digest = add_text(digest, app != NULL && app->res_req != NULL ? app->res_req : "");
    digest = add_text(digest, of_queue != NULL ? of_queue : "");
    digest = add_text(digest, spec->is_exclusive ? "x" : "");
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        digest = add_text(digest, spec->hosts_asked[i]);
    }
    for (int i = 0; i < spec->n_res_reqs; i++) {
        digest = add_text(digest, spec->res_reqs[i]);
    }
    return digest;
}

/* ---------------------------------------------------------------- rows */

static int compare_counts(const void *left, const void *right)
{
    const struct size_count *a = left, *b = right;
    int order = (a->queue > b->queue) - (a->queue < b->queue);
    order = order != 0 ? order : (a->n_slots > b->n_slots) - (a->n_slots < b->n_slots);
    return order != 0 ? order : (a->n_jobs > b->n_jobs) - (a->n_jobs < b->n_jobs);
}

static void add_slots(struct queue_demand *row, const struct size_count *count)
{
    int64_t sum = row->n_waiting + count->n_slots * count->n_jobs;
    row->n_waiting = sum < INT_MAX ? (int)sum : INT_MAX;
}

static int list_rows(const struct queue_demand_parts *parts, struct size_count *counts,
                     int n_counts, const uint64_t *needs, struct arena *arena,
                     const struct queue_demand **demands)
{
    int most = QUEUES_MAX / (parts->config->n_queues > 0 ? parts->config->n_queues : 1);
    int n_rows = 0, n_sizes = 0;
    struct queue_demand *rows = arena_alloc(arena, (size_t)n_counts, sizeof(*rows));
    most = most < 1 ? 1 : most < SIZES_MAX ? most : SIZES_MAX;
    qsort(counts, (size_t)n_counts, sizeof(*counts), compare_counts);
    for (int i = 0; i < n_counts; i++) {
        bool is_new = i == 0 || counts[i].queue != counts[i - 1].queue;
        bool is_other = is_new || counts[i].n_slots != counts[i - 1].n_slots;
        n_sizes = is_new ? 0 : n_sizes;
        if (is_other && n_sizes < most) {
            int queue = counts[i].queue;
            rows[n_rows++] = (struct queue_demand){
                .queue = arena_str(arena, parts->config->queues[queue].name),
                .job_size = counts[i].n_slots,
                .needs = needs[queue] & INT64_MAX,
            };
            n_sizes++;
        }
        add_slots(&rows[n_rows - 1], &counts[i]);
    }
    *demands = rows;
    return n_rows;
}

int queue_demand_read(const struct queue_demand_parts *parts, const bool *has_pool,
                      struct arena *arena, const struct queue_demand **demands)
{
    const struct job_class_set *classes = job_table_classes(parts->jobs);
    int n_classes = job_class_set_count(classes), n_counts = 0;
    struct size_count *counts = arena_alloc(arena, (size_t)n_classes, sizeof(*counts));
    uint64_t *needs =
        arena_alloc(arena, (size_t)parts->config->n_queues, sizeof(*needs));
    struct limits_tentative *tentative = limits_tentative_new(parts->limits);
    for (int i = 0; i < n_classes; i++) {
        int n_entries;
        struct job_class_entry *const *entries =
            job_class_entries(job_class_set_at(classes, i), &n_entries);
        const struct job *first = job_of_entry(entries[0]);
        if (first->queue < 0 || !has_pool[first->queue] ||
            job_reads_file(first->spec)) {
            continue;
        }
        int64_t n_jobs = count_jobs(parts, tentative, first, n_entries);
        if (n_jobs > 0) {
            counts[n_counts++] =
                (struct size_count){first->queue, first->spec->n_slots, n_jobs};
            needs[first->queue] += digest_of(parts->config, first->queue, first->spec);
        }
    }
    limits_tentative_free(tentative);
    return list_rows(parts, counts, n_counts, needs, arena, demands);
}
