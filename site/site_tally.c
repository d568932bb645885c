/* SPDX-License-Identifier: Apache-2.0 */
/* site_tally.c: see site_tally.h. */
#include "site/site_tally.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    const struct site_tally_row *a = left, *b = right;
    int order = strcmp(a->host, b->host);
    return order != 0 ? order : strcmp(a->lease, b->lease);
}

void site_tally_init(struct site_tally *tally, struct arena *arena, int capacity)
{
    tally->rows = arena_alloc(arena, (size_t)capacity, sizeof(*tally->rows));
    tally->count = 0;
    tally->capacity = capacity;
}

void site_tally_add(struct site_tally *tally, const char *host, const char *lease)
{
    if (tally->count < tally->capacity) {
        tally->rows[tally->count++] =
            (struct site_tally_row){.host = host, .lease = lease};
    }
}

void site_tally_sort(struct site_tally *tally)
{
    qsort(tally->rows, (size_t)tally->count, sizeof(*tally->rows), compare);
}

static struct site_tally_row *find(const struct site_tally *tally, const char *host,
                                   const char *lease)
{
    struct site_tally_row key = {.host = host, .lease = lease};
    return bsearch(&key, tally->rows, (size_t)tally->count, sizeof(key), compare);
}

void site_tally_count(struct site_tally *tally, const char *host, const char *lease,
                      enum site_tally_kind kind, int n_slots, bool is_exclusive)
{
    struct site_tally_row *row = find(tally, host, lease);
    if (row != NULL) {
        row->slots[kind] += n_slots;
        row->is_taken = row->is_taken || is_exclusive;
    }
}

const struct site_tally_row *site_tally_find(const struct site_tally *tally,
                                             const char *host, const char *lease)
{
    return find(tally, host, lease);
}
