/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_view.c: the hosts that leases name, a row each: what is exported of it, and
 * which side uses it.
 *
 * The broker knows no other hosts, and only the exported slots of these. Columns that a
 * site's own listing has besides (suspended, reserved) are null. A page walks the hosts
 * of one provider after the other, so that its work is bounded by theirs.
 *
 * Order: by provider, then host. `next` is PROVIDER/HOST of the last row.
 * Source: docs/design/interfaces.md "JSON" (host). */
#include "broker/view/broker_view.h"

#include <stdlib.h>
#include <string.h>

#include "broker/lease/lease.h"

/* A host in a lease. */
struct part {
    const char *host, *lease;
    const struct host_split *split;
};

static int compare(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->host, b->host);
    return order != 0 ? order : strcmp(a->lease, b->lease);
}

static bool is_of(const struct lease *lease, const char *provider)
{
    return strcmp(lease->row.provider, provider) == 0;
}

/* The parts of the provider whose leases begin at `first` and end before `end`. */
static struct part *collect(const struct lease_table *leases, int first,
                            struct arena *arena, int *count, int *end)
{
    const char *provider = leases->items[first]->row.provider;
    size_t capacity = 0;
    int last = first;
    for (; last < leases->count && is_of(leases->items[last], provider); last++) {
        capacity += (size_t)leases->items[last]->row.n_hosts;
    }
    struct part *parts = arena_alloc(arena, capacity, sizeof(*parts));
    *count = 0;
    for (int i = first; i < last; i++) {
        const struct row_lease *row = &leases->items[i]->row;
        for (int j = 0; j < row->n_hosts && lease_is_open(leases->items[i]); j++) {
            parts[(*count)++] =
                (struct part){row->hosts[j].host, row->id, &row->hosts[j]};
        }
    }
    qsort(parts, (size_t)*count, sizeof(*parts), compare);
    *end = last;
    return parts;
}

static void add_to(struct lease_split_side *sum, const struct lease_split_side *side)
{
    sum->available += side->available;
    sum->used += side->used;
}

static struct value *host_row(struct arena *arena, const char *name,
                              const char *provider, const struct part *parts, int count)
{
    struct value *row = value_object(arena);
    struct lease_split sum = {0};
    bool is_down = true;
    int n_slots = 0;
    for (int i = 0; i < count; i++) {
        struct lease_split split = lease_split_sum(parts[i].split, 1);
        add_to(&sum.provider, &split.provider);
        add_to(&sum.consumer, &split.consumer);
        n_slots += parts[i].split->n_slots;
        is_down &= parts[i].split->is_down;
    }
    value_add_text(arena, row, "host", name);
    value_add_text(arena, row, "site", provider);
    value_add_text(arena, row, "status", is_down ? "unavail" : "ok");
    value_add_int(arena, row, "max", n_slots);
    value_add_int(arena, row, "njobs", sum.provider.used + sum.consumer.used);
    static const char *const unknown[] = {"run", "ssusp", "ususp", "rsv"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        value_add_null(arena, row, unknown[i]);
    }
    lease_split_show_side(arena, row, "provider", NULL, &sum.provider);
    lease_split_show_side(arena, row, "consumer", NULL, &sum.consumer);
    struct value *leases = value_add(arena, row, "leases", value_array(arena));
    for (int i = 0; i < count; i++) {
        value_add_text(arena, leases, NULL, parts[i].lease);
    }
    return row;
}

/* The rows of one provider, after its host `after`. */
static void add_provider(struct page *page, struct arena *arena,
                         const struct msg_query *query, const char *provider,
                         const struct part *parts, int n_parts, const char *after)
{
    for (int i = 0, n; i < n_parts && !page->is_full; i += n) {
        const char *host = parts[i].host;
        for (n = 1; i + n < n_parts && strcmp(parts[i + n].host, host) == 0; n++) {
        }
        const char *name = arena_printf(arena, "%s@%s", host, provider);
        bool is_named = page_is_named(name, query->name);
        if (strcmp(host, after) > 0 && is_named) {
            page_add(page, arena_printf(arena, "%s/%s", provider, host),
                     host_row(arena, name, provider, parts + i, n));
        }
    }
}

struct value *hosts_view_page(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, const char **next)
{
    const struct lease_table *leases = &broker->leases;
    struct page page;
    page_init(&page, arena, "hosts", query);
    size_t n_after = strcspn(query->after, "/");
    const char *provider = arena_strn(arena, query->after, n_after);
    const char *after = query->after[n_after] == '/' ? query->after + n_after + 1 : "";
    /* Leases of one provider are consecutive, as their ids begin alike. */
    int first =
        n_after > 0
            ? lease_table_find_after(leases, arena_printf(arena, "%s/", provider))
            : 0;
    for (int i = first, end; i < leases->count && !page.is_full; i = end) {
        const char *name = leases->items[i]->row.provider;
        int n_parts = 0;
        struct part *parts = collect(leases, i, arena, &n_parts, &end);
        if (page_is_named(name, query->provider)) {
            add_provider(&page, arena, query, name, parts, n_parts,
                         strcmp(name, provider) == 0 ? after : "");
        }
    }
    *next = page_next(&page);
    return page.root;
}
