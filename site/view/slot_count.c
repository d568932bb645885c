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

void slot_counts_init(struct slot_counts *tally, struct arena *arena, int capacity)
{
    tally->rows = arena_alloc(arena, (size_t)capacity, sizeof(*tally->rows));
    tally->count = 0;
    tally->capacity = capacity;
}

void slot_counts_add_host(struct slot_counts *tally, const char *host,
                          const char *lease)
{
    if (tally->count < tally->capacity) {
        tally->rows[tally->count++] = (struct slot_count){.host = host, .lease = lease};
    }
}

void slot_counts_sort(struct slot_counts *tally)
{
    qsort(tally->rows, (size_t)tally->count, sizeof(*tally->rows), compare);
}

static struct slot_count *find(const struct slot_counts *tally, const char *host,
                               const char *lease)
{
    struct slot_count key = {.host = host, .lease = lease};
    return bsearch(&key, tally->rows, (size_t)tally->count, sizeof(key), compare);
}

void slot_counts_add(struct slot_counts *tally, const char *host, const char *lease,
                     enum slot_count_kind kind, int n_slots, bool is_exclusive)
{
    struct slot_count *row = find(tally, host, lease);
    if (row != NULL) {
        row->slots[kind] += n_slots;
        row->is_taken = row->is_taken || is_exclusive;
    }
}

const struct slot_count *slot_counts_find(const struct slot_counts *tally,
                                          const char *host, const char *lease)
{
    return find(tally, host, lease);
}
