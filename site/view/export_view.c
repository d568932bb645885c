/* SPDX-License-Identifier: Apache-2.0 */
/* export_view.c: `exports`: export policies and their leases; `hosts -e`: the part of
 * each own host that consumers hold. */
#include <limits.h>
#include <string.h>

#include "model/exported_resources.h"
#include "model/page.h"
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

static struct value *exported_row(struct arena *arena, const struct msg_state *book,
                                  const struct host_split *split,
                                  const struct slot_counts *slots)
{
    struct lease_resource *seen =
        arena_alloc(arena, (size_t)book->n_resources, sizeof(*seen));
    int n_seen = 0;
    for (int i = 0; i < book->n_resources; i++) {
        if (exported_resources_is_seen_from(&book->resources[i], split->host)) {
            seen[n_seen] = book->resources[i];
            seen[n_seen++].hosts = "";
        }
    }
    struct value *row = value_object(arena);
    value_add_text(arena, row, "host", split->host);
    slot_count_add_to_row(arena, row, split->consumer,
                          slot_counts_find(slots, split->host, book->lease));
    value_add_text(arena, row, "lease", book->lease);
    value_add_int(arena, row, "exported", split->n_slots);
    exported_resources_show_memory(arena, row, split->spaces);
    exported_resources_show(arena, row, seen, n_seen);
    return row;
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

void export_view_list_hosts(struct site_view *view, struct page *page,
                            const struct msg_query *query)
{
    struct arena *arena = page->arena;
    struct msg_state book;
    struct slot_counts slots;
    uint64_t number = 0;
    int n_books = provider_count_leases(view->provider);
    slot_counts_init(&slots, arena, count_splits(view));
    for (int i = 0; i < n_books; i++) {
        const char *id = arena_str(arena, provider_lease_id(view->provider, i));
        bool is_found = provider_find_lease(view->provider, id, &book);
        for (int k = 0; is_found && k < book.n_hosts; k++) {
            slot_counts_add_host(&slots, arena_str(arena, book.hosts[k].host), id);
        }
    }
    slot_counts_sort(&slots);
    slot_counts_add_runs(&slots, view, true);
    for (int i = 0; i < n_books && !page->is_full; i++) {
        bool is_found = provider_find_lease(
            view->provider, provider_lease_id(view->provider, i), &book);
        for (int k = 0; is_found && k < book.n_hosts; k++) {
            number++;
            if (page_is_named(book.hosts[k].host, query->name) &&
                page_wants(page, number)) {
                page_add_number(page, number,
                                exported_row(arena, &book, &book.hosts[k], &slots));
            }
        }
    }
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
