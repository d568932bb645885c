/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_view.c: resources that running jobs have reserved (rusage), by host; `hosts
 * -s`: shared resources with their hosts. Amounts are in the unit of the resource. */
#include <string.h>

#include "model/page.h"
#include "site/ledger/site_ledger.h"
#include "site/view/view_rows.h"

void rusage_view_add_amount(struct arena *arena, struct value *row, const char *key,
                            int64_t milli)
{
    if (milli % 1000 == 0) {
        value_add_int(arena, row, key, milli / 1000);
    } else {
        value_add_real(arena, row, key, (double)milli / 1000);
    }
}

static void add_supply(struct arena *arena, struct value *row,
                       const struct rusage_totals *seen, int supply)
{
    rusage_view_add_amount(arena, row, "total", seen->total[supply]);
    rusage_view_add_amount(arena, row, "reserved",
                           seen->total[supply] - seen->left[supply]);
    rusage_view_add_amount(arena, row, "available",
                           seen->left[supply] > 0 ? seen->left[supply] : 0);
}

void rusage_view_add_host(struct arena *arena, struct value *row,
                          const struct rusage_totals *seen, int place)
{
    struct value *object = value_add(arena, row, "reserved", value_object(arena));
    for (int i = 0; i < seen->n_resources; i++) {
        int supply = seen->resources[i].supply_of[place];
        if (supply >= 0 && seen->left[supply] != seen->total[supply]) {
            struct value *of = value_add(arena, object, seen->resources[i].resource,
                                         value_object(arena));
            add_supply(arena, of, seen, supply);
        }
    }
}

/* "n1 n2 n1@north"; a host that is in several leases is named once. */
static const char *location_of(struct arena *arena, const struct rusage_totals *seen,
                               const struct rusage_totals_resource *kind, int supply)
{
    const char *text = "", *last = "";
    for (int i = 0; i < seen->n_hosts; i++) {
        const char *name = seen->hosts[i].name;
        if (kind->supply_of[i] == supply && strcmp(name, last) != 0) {
            text =
                arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? " " : "", name);
            last = name;
        }
    }
    return value_cut_text(arena, text, TEXT_MAX);
}

static bool is_first(const struct rusage_totals_resource *kind, int host)
{
    for (int i = 0; i < host; i++) {
        if (kind->supply_of[i] == kind->supply_of[host]) {
            return false;
        }
    }
    return kind->supply_of[host] >= 0;
}

struct rusage_pass *rusage_view_left(struct site_view *view, struct arena *arena)
{
    int n_hosts;
    const struct place_host *hosts =
        capacity_hosts(view->capacity, arena, view->local_ms, &n_hosts);
    return rusage_pass_new(view->rusage_sources, arena, hosts, n_hosts, view->event_ms);
}

void rusage_view_list_shared(struct site_view *view, struct page *page,
                             const struct msg_query *query)
{
    struct arena *arena = page->arena;
    struct rusage_totals seen;
    uint64_t number = 0;
    rusage_pass_totals(rusage_view_left(view, arena), true, &seen);
    for (int i = 0; i < seen.n_resources; i++) {
        const struct rusage_totals_resource *kind = &seen.resources[i];
        bool is_asked = page_is_named(kind->resource, query->name);
        for (int k = 0; is_asked && k < seen.n_hosts && !page->is_full; k++) {
            if (!is_first(kind, k) || !page_wants(page, ++number)) {
                continue;
            }
            struct value *row = value_object(arena);
            value_add_text(arena, row, "resource", kind->resource);
            add_supply(arena, row, &seen, kind->supply_of[k]);
            value_add_text(arena, row, "location",
                           location_of(arena, &seen, kind, kind->supply_of[k]));
            page_add_number(page, number, row);
        }
    }
}
