/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.c: what happened to contracts and sites: appended in order, read by the
 * page, as a lease's history or as events.
 *
 * Bounds: a page ends after PAGE_ROWS_MAX rows, or sooner if its JSON might not fit
 * a frame. */
#include "broker/io/store/store_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "broker/view/broker_view.h"

enum {
    /* A row's JSON without its texts: names, two instants' worth of digits, counts. */
    ROW_BYTES = 400,
    /* A byte of text as JSON at worst: \u0001. */
    ESCAPED_BYTES = 6,
    /* Half a frame: the reply's other fields are small, and so the page surely fits. */
    PAGE_BYTES_MAX = FRAME_MAX / 2,
};

/* ---------------------------------------------------------------- entries */

/* A row of `lease history`. */
static void fill_history(struct arena *arena, struct value *entry,
                         const struct row_history *row)
{
    value_add_int(arena, entry, "seq", (int64_t)row->id);
    value_add_instant(arena, entry, "at", row->at_ms);
    value_add_text(arena, entry, "lease", row->lease);
    value_add_text(arena, entry, "event", schema_row_event_words[row->event]);
    value_add_text(arena, entry, "state", row->state);
    value_add_int(arena, entry, "epoch", (int64_t)row->epoch);
    lease_event_add_side(arena, entry, "provider", NULL, row->provider_available,
                         row->provider_used);
    lease_event_add_side(arena, entry, "consumer", NULL, row->consumer_available,
                         row->consumer_used);
    value_add_text(arena, entry, "reason", row->reason);
}

/* A row of `events`. */
static void fill_event(struct arena *arena, struct value *entry,
                       const struct row_history *row)
{
    value_add_int(arena, entry, "id", (int64_t)row->id);
    value_add_instant(arena, entry, "at", row->at_ms);
    value_add_text(arena, entry, "event", lease_event_name(row->event));
    lease_event_add(arena, entry, row, -1);
}

static size_t entry_bytes(const struct row_history *row)
{
    return ROW_BYTES + 2 * strlen(row->lease) + ESCAPED_BYTES * strlen(row->reason);
}

/* ---------------------------------------------------------------- pages */

static int parse_after(const char *after, int64_t *seq, struct err *err)
{
    char *end;
    *seq = strtoll(after, &end, 10);
    if (*end != '\0' || *seq < 0) {
        return err_set(err, ERR_PARSE, "after: \"%s\", expected a history number",
                       after);
    }
    return 0;
}

/* A page that is being filled. */
struct history_page {
    const struct msg_query *query;
    struct arena *arena;
    struct value *entries;
    const char *next;
    int limit;
    int64_t last;
    size_t n_bytes;
};

static bool add_entry(void *arg, const struct row_history *row)
{
    struct history_page *page = arg;
    struct value *entries = page->entries;
    page->n_bytes += entry_bytes(row);
    if (entries->count == page->limit ||
        (entries->count > 0 && page->n_bytes > PAGE_BYTES_MAX)) {
        page->next = arena_printf(page->arena, "%" PRId64, page->last);
        return false;
    }
    page->last = (int64_t)row->id;
    struct value *entry =
        value_add(page->arena, entries, NULL, value_object(page->arena));
    bool is_event = page->query->kind == QUERY_EVENTS;
    (is_event ? fill_event : fill_history)(page->arena, entry, row);
    return true;
}

int store_history_read(struct store *store, const struct msg_query *query,
                       struct arena *arena, struct value **value, const char **next,
                       struct err *err)
{
    bool is_of_events = query->kind == QUERY_EVENTS;
    struct history_page page = {.query = query, .arena = arena, .next = ""};
    if (parse_after(query->after, &page.last, err) < 0) {
        return err->code;
    }
    page.limit =
        query->limit > 0 && query->limit < PAGE_ROWS_MAX ? query->limit : PAGE_ROWS_MAX;
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    const char *name = is_of_events ? "events" : "history";
    page.entries = value_add(arena, *value, name, value_array(arena));

    /* One row more than the page takes shows whether there is a next page. */
    const struct store_events events = {
        .of = is_of_events             ? STORE_EVENTS_ALL
              : query->name[0] != '\0' ? STORE_EVENTS_LEASE
                                       : STORE_EVENTS_LEASES,
        .lease = query->name,
        .after = page.last,
        .n_rows = query->last > 0 ? query->last : page.limit + 1,
        .is_last = query->last > 0,
    };
    int rc = store->ops->read_events(store, &events, arena, add_entry, &page, err);
    *next = page.next;
    return rc;
}

int store_history_last(struct store *store, int64_t *id, struct err *err)
{
    return store->ops->last_event(store, id, err);
}
