/* SPDX-License-Identifier: Apache-2.0 */
/* export_view.c: `exports`: export policies and their leases; `hosts -e`: what each
 * consumer has of each own host, over all its leases. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/exported_resources.h"
#include "model/page.h"
#include "model/record.h"
#include "site/view/slot_count.h"
#include "site/view/view_rows.h"

/* The most hosts of one lease that a row of `exports` names, so that it fits a page. */
enum { SHOWN_HOSTS_MAX = 500 };

/* A part of a lease's id, "north/1/south": part 1 is "1", part 2 all that follows. */
static const char *lease_part(struct arena *arena, const char *lease, int part)
{
    for (int i = 0; i < part; i++) {
        const char *slash = strchr(lease, '/');
        if (slash == NULL) {
            return "";
        }
        lease = slash + 1;
    }
    return part == 2 ? arena_str(arena, lease)
                     : arena_strn(arena, lease, strcspn(lease, "/"));
}

static const char *state_of(const struct msg_state *book)
{
    enum lease_state state = book->is_ended       ? LEASE_ENDED
                             : book->is_withdrawn ? LEASE_DRAINING
                             : book->is_frozen    ? LEASE_INACTIVE
                             : book->is_made      ? LEASE_ACTIVE
                                                  : LEASE_PENDING;
    return msg_lease_state_name(state);
}

static int count_splits(struct site_view *view)
{
    int count = 0;
    struct msg_state book;
    for (int i = 0; i < provider_count_leases(view->provider); i++) {
        const char *id = provider_lease_id(view->provider, i);
        count += provider_find_lease(view->provider, id, &book) ? book.n_hosts : 0;
    }
    return count;
}

/* Sums of all hosts, at most INT_MAX. */
static void add_spaces(struct space sums[SPACES], const struct space spaces[SPACES])
{
    for (int i = 0; i < SPACES; i++) {
        int more = spaces[i].is_given ? spaces[i].mib : 0;
        sums[i].is_given = sums[i].is_given || spaces[i].is_given;
        sums[i].mib = more < INT_MAX - sums[i].mib ? sums[i].mib + more : INT_MAX;
    }
}

/* ---------------------------------------------------------------- hosts -e */

/* What one lease exports of a host. */
struct part {
    const char *host, *consumer, *lease;
    int n_exported, n_held;
    struct space spaces[SPACES];
    struct lease_resource *resources;
    int n_resources;
};

/* By host, then consumer, then lease. */
static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->host, b->host);
    order = order != 0 ? order : strcmp(a->consumer, b->consumer);
    return order != 0 ? order : strcmp(a->lease, b->lease);
}

/* The shared resources of the lease that are used from that host. */
static void list_resources(struct arena *arena, const struct msg_state *book,
                           struct part *part)
{
    struct lease_resource *all = record_copy_list(arena, &schema_lease_resource,
                                                  book->resources, book->n_resources);
    part->resources = all;
    for (int i = 0; i < book->n_resources; i++) {
        if (exported_resources_is_seen_from(&all[i], part->host)) {
            all[part->n_resources] = all[i];
            all[part->n_resources++].hosts = "";
        }
    }
}

/* "south" of "north/p/south" and of "north/p/south:/eng/sim"; "pool:p" is the idle part
 * of a pool. */
static const char *consumer_of(struct arena *arena, const char *lease)
{
    const char *consumer = lease_part(arena, lease, 2);
    const char *leaf = strstr(consumer, ":/");
    return leaf == NULL ? consumer
                        : arena_strn(arena, consumer, (size_t)(leaf - consumer));
}

static struct part *list_parts(struct site_view *view, struct arena *arena,
                               int *n_parts)
{
    struct part *parts = arena_alloc(arena, (size_t)count_splits(view), sizeof(*parts));
    struct msg_state book;
    *n_parts = 0;
    for (int i = 0; i < provider_count_leases(view->provider); i++) {
        const char *id = arena_str(arena, provider_lease_id(view->provider, i));
        bool is_found = provider_find_lease(view->provider, id, &book);
        for (int k = 0; is_found && k < book.n_hosts; k++) {
            const struct host_split *split = &book.hosts[k];
            struct part *part = &parts[(*n_parts)++];
            *part = (struct part){.host = arena_str(arena, split->host),
                                  .consumer = consumer_of(arena, id),
                                  .lease = id,
                                  .n_exported = split->n_slots,
                                  .n_held = split->consumer};
            memcpy(part->spaces, split->spaces, sizeof(part->spaces));
            list_resources(arena, &book, part);
        }
    }
    if (*n_parts > 0) {
        qsort(parts, (size_t)*n_parts, sizeof(*parts), compare_parts);
    }
    return parts;
}

/* The row of one host and one consumer, from all leases that it has there. */
static struct value *exported_row(struct arena *arena, const struct part *parts,
                                  int n_parts, const struct slot_counts *slots)
{
    struct value *row = value_object(arena);
    struct space sums[SPACES] = {{0}};
    int n_exported = 0, n_held = 0, n_all = 0;
    for (int i = 0; i < n_parts; i++) {
        n_exported += parts[i].n_exported;
        n_held += parts[i].n_held;
        n_all += parts[i].n_resources;
        add_spaces(sums, parts[i].spaces);
    }
    struct lease_resource *all = arena_alloc(arena, (size_t)n_all, sizeof(*all));
    n_all = 0;
    for (int i = 0; i < n_parts; i++) {
        for (int k = 0; k < parts[i].n_resources; k++) {
            all[n_all++] = parts[i].resources[k];
        }
    }
    value_add_text(arena, row, "host", parts->host);
    slot_count_add_to_row(arena, row, n_held,
                          slot_counts_find(slots, parts->host, parts->consumer));
    value_add_text(arena, row, "consumer", parts->consumer);
    value_add_text(arena, row, "lease", n_parts == 1 ? parts->lease : NULL);
    struct value *leases = value_add(arena, row, "leases", value_array(arena));
    for (int i = 0; i < n_parts; i++) {
        value_add_text(arena, leases, NULL, parts[i].lease);
    }
    value_add_int(arena, row, "exported", n_exported);
    exported_resources_show_memory(arena, row, sums);
    exported_resources_show(arena, row, all, n_all);
    return row;
}

void export_view_list_hosts(struct site_view *view, struct page *page,
                            const struct msg_query *query)
{
    struct slot_counts slots;
    uint64_t number = 0;
    int n_parts;
    struct part *parts = list_parts(view, page->arena, &n_parts);
    slot_counts_init(&slots, page->arena, n_parts);
    for (int i = 0; i < n_parts; i++) {
        if (i == 0 || strcmp(parts[i].host, parts[i - 1].host) != 0 ||
            strcmp(parts[i].consumer, parts[i - 1].consumer) != 0) {
            slot_counts_add_host(&slots, parts[i].host, parts[i].consumer);
        }
    }
    slot_counts_sort(&slots);
    slot_counts_add_runs(&slots, view, true);
    for (int i = 0, n; i < n_parts && !page->is_full; i += n) {
        const struct part *first = &parts[i];
        for (n = 1; i + n < n_parts && strcmp(first[n].host, first->host) == 0 &&
                    strcmp(first[n].consumer, first->consumer) == 0;
             n++) {
        }
        number++;
        if (page_is_named(first->host, query->name) && page_wants(page, number)) {
            page_add_number(page, number, exported_row(page->arena, first, n, &slots));
        }
    }
}

/* ---------------------------------------------------------------- exports */

static struct value *export_row(struct arena *arena, const struct msg_state *book,
                                const char *policy)
{
    struct value *row = value_object(arena);
    int64_t n_slots = 0, n_here = 0, n_lent = 0;
    struct space sums[SPACES] = {{0}};
    value_add_text(arena, row, "policy", policy);
    value_add_text(arena, row, "type", msg_lease_type_name(book->type));
    value_add_text(arena, row, "consumer", lease_part(arena, book->lease, 2));
    value_add_text(arena, row, "lease", book->lease);
    struct value *hosts = value_add(arena, row, "hosts", value_array(arena));
    for (int i = 0; i < book->n_hosts; i++) {
        const struct host_split *split = &book->hosts[i];
        n_slots += split->n_slots;
        n_here += split->provider;
        n_lent += split->consumer;
        if (i < SHOWN_HOSTS_MAX) {
            struct value *host = value_add(arena, hosts, NULL, value_object(arena));
            value_add_text(arena, host, "host", split->host);
            value_add_int(arena, host, "slots", split->n_slots);
            exported_resources_show_memory(arena, host, split->spaces);
        }
        add_spaces(sums, split->spaces);
    }
    value_add_int(arena, row, "epoch", (int64_t)book->epoch);
    value_add_text(arena, row, "state", state_of(book));
    value_add_int(arena, row, "slots", n_slots);
    value_add_int(arena, row, "provider", n_here);
    value_add_int(arena, row, "lent", n_lent);
    exported_resources_show_memory(arena, row, sums);
    exported_resources_show(arena, row, book->resources, book->n_resources);
    return row;
}

/* An export policy without a lease, as no hosts were selected for it yet. */
static struct value *open_row(struct arena *arena, const struct export_lease *lease)
{
    struct value *row = value_object(arena);
    value_add_nonempty(arena, row, "policy", lease->policy);
    value_add_text(arena, row, "type", msg_lease_type_name(lease->type));
    value_add_text(arena, row, "consumer", lease->consumer);
    value_add_null(arena, row, "lease");
    value_add(arena, row, "hosts", value_array(arena));
    value_add_int(arena, row, "epoch", 0);
    value_add_text(arena, row, "state", "unpicked");
    value_add_int(arena, row, "slots", 0);
    value_add_int(arena, row, "provider", 0);
    value_add_int(arena, row, "lent", 0);
    return row;
}

static void add_open(struct site_view *view, struct page *page,
                     const struct msg_query *query)
{
    uint64_t number = (uint64_t)provider_count_leases(view->provider);
    const struct export_lease *lease;
    for (int i = 0; !page->is_full &&
                    (lease = export_select_waiting_at(view->export_select, i)) != NULL;
         i++) {
        number++;
        if (page_is_named(lease->policy, query->name) && page_wants(page, number)) {
            page_add_number(page, number, open_row(page->arena, lease));
        }
    }
}

void export_view_list(struct site_view *view, struct page *page,
                      const struct msg_query *query)
{
    struct arena *arena = page->arena;
    for (int i = 0; i < provider_count_leases(view->provider) && !page->is_full; i++) {
        const char *id = provider_lease_id(view->provider, i);
        const char *policy = lease_part(arena, id, 1);
        uint64_t number = (uint64_t)i + 1;
        struct msg_state book;
        if ((!page_is_named(id, query->name) && !page_is_named(policy, query->name)) ||
            !provider_find_lease(view->provider, id, &book) ||
            (book.is_ended && !query->with_ended) || !page_wants(page, number)) {
            continue;
        }
        page_add_number(page, number, export_row(arena, &book, policy));
    }
    add_open(view, page, query);
}
