/* SPDX-License-Identifier: Apache-2.0 */
/* slot_count.c: see slot_count.h. */
#include "site/view/slot_count.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    const struct slot_count *a = left, *b = right;
    int order = strcmp(a->host, b->host);
    return order != 0 ? order : strcmp(a->lease, b->lease);
}

void slot_counts_init(struct slot_counts *counts, struct arena *arena, int capacity)
{
    counts->rows = arena_alloc(arena, (size_t)capacity, sizeof(*counts->rows));
    counts->count = 0;
    counts->capacity = capacity;
}

void slot_counts_add_host(struct slot_counts *counts, const char *host,
                          const char *lease)
{
    if (counts->count < counts->capacity) {
        counts->rows[counts->count++] =
            (struct slot_count){.host = host, .lease = lease};
    }
}

void slot_counts_sort(struct slot_counts *counts)
{
    qsort(counts->rows, (size_t)counts->count, sizeof(*counts->rows), compare);
}

static struct slot_count *find(const struct slot_counts *counts, const char *host,
                               const char *lease)
{
    struct slot_count key = {.host = host, .lease = lease};
    return bsearch(&key, counts->rows, (size_t)counts->count, sizeof(key), compare);
}

void slot_counts_add(struct slot_counts *counts, const char *host, const char *lease,
                     enum slot_count_kind kind, int n_slots, bool is_exclusive)
{
    struct slot_count *row = find(counts, host, lease);
    if (row != NULL) {
        row->slots[kind] += n_slots;
        row->is_used_exclusively = row->is_used_exclusively || is_exclusive;
    }
}

const struct slot_count *slot_counts_find(const struct slot_counts *counts,
                                          const char *host, const char *lease)
{
    return find(counts, host, lease);
}

static enum slot_count_kind kind_of_run(struct site_view *view, const struct run *run)
{
    if (run->phase == RUN_SUSPENDED) {
        const struct job *job =
            run->lease[0] == '\0' && !run->is_orphan
                ? job_table_find_attempt_const(view->jobs, run->id.attempt)
                : NULL;
        return job != NULL && job->state == JOB_SSUSP ? SLOT_COUNT_SSUSP
                                                      : SLOT_COUNT_USUSP;
    }
    /* Not reported since the site has started, but its guard had started: most likely
     * it runs. */
    bool has_begun = run->phase == RUN_RUNNING ||
                     (run->phase == RUN_UNKNOWN && run->record == RUN_RECORD_GUARDED);
    return has_begun ? SLOT_COUNT_RUN : SLOT_COUNT_RSV;
}

void slot_counts_add_runs(struct slot_counts *counts, struct site_view *view,
                          bool by_consumer)
{
    const struct run_table *table = runs_table(view->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        if (run == NULL || run->record == RUN_RECORD_ENDED) {
            continue;
        }
        /* PREEMPT_JOBTYPE: a yielded exclusive job has released its hosts. */
        bool has_given = run->is_suspended && run->lease[0] == '\0' &&
                         view->config->preempt.has_exclusive;
        const char *key = by_consumer && run->lease[0] != '\0' ? run->id.site : "";
        for (int k = 0; k < run->n_hosts; k++) {
            slot_counts_add(counts, run->hosts[k].host, key, kind_of_run(view, run),
                            run->hosts[k].n_slots,
                            run->spec->is_exclusive && !has_given);
        }
    }
}

static int total_of(const struct slot_count *row)
{
    int sum = 0;
    for (int i = 0; i < SLOT_COUNT_KINDS; i++) {
        sum += row->slots[i];
    }
    return sum;
}

void slot_count_add_to_row(struct arena *arena, struct value *row, int max,
                           const struct slot_count *counts)
{
    value_add_int(arena, row, "max", max);
    value_add_int(arena, row, "njobs", total_of(counts));
    value_add_int(arena, row, "run", counts->slots[SLOT_COUNT_RUN]);
    value_add_int(arena, row, "ssusp", counts->slots[SLOT_COUNT_SSUSP]);
    value_add_int(arena, row, "ususp", counts->slots[SLOT_COUNT_USUSP]);
    value_add_int(arena, row, "rsv", counts->slots[SLOT_COUNT_RSV]);
}
