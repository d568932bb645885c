/* SPDX-License-Identifier: Apache-2.0 */
/* listing_fetch.c: fetches a listing page by page. See listing.h.
 *
 * A page costs a site little and the way to the broker and back much: a plan of 100,000
 * nodes has hundreds of pages. Its rows are numbered, so that a site is asked for
 * several pages at a time, and for no other fields than those that are shown. */
#include "cli/listing/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

enum {
    PAGES_AT_ONCE = 16, /* a site keeps 4 MiB for a client that is slow to read */
    /* A short request is answered at once, while a long one waits for its turn among
     * those of others (base/rate_limit.h). */
    ROWS_OF_FIELDS = 100,
};

/* ---------------------------------------------------------------- pages */

/* The rows of the object: its array that does not name their fields. */
static json_t *array_of(json_t *object)
{
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        if (json_is_array(member) && strcmp(key, "fields") != 0) {
            return member;
        }
    }
    return NULL;
}

static int read_page(const char *text, json_t **page, struct err *err)
{
    json_error_t fault;
    *page = json_loads(text != NULL ? text : "", JSON_REJECT_DUPLICATES, &fault);
    if (array_of(*page) != NULL) {
        return 0;
    }
    bool is_json = *page != NULL;
    json_decref(*page);
    *page = NULL;
    return err_set(err, ERR_PARSE,
                   "the answer is no listing%s%s; is the daemon of this version?",
                   is_json ? "" : ": ", is_json ? "" : fault.text);
}

static int add_page(struct listing *listing, const char *text, struct err *err)
{
    json_t *page;
    int rc = read_page(text, &page, err);
    if (rc == 0 && listing->object == NULL) {
        listing->object = page;
        listing->rows = array_of(page);
    } else if (rc == 0) {
        json_array_extend(listing->rows, array_of(page));
        json_decref(page);
    }
    return rc;
}

/* Adds a page; `*next` is the `after` of the next page, "" at the end. */
static int fetch_page(struct listing *listing, struct connect *connect,
                      const struct msg_query *query, char next[LEASE_ID_SIZE],
                      struct err *err)
{
    struct msg msg = {.kind = MSG_QUERY, .query = *query};
    struct msg_reply reply;
    struct arena arena;
    arena_init(&arena);
    int rc = connect_ask(connect, &msg, &msg.query.request, CONNECT_PATIENCE_MS, &arena,
                         &reply, err);
    if (rc == 0) {
        rc = add_page(listing, reply.json, err);
    }
    bool has_next = rc == 0 && reply.next != NULL;
    snprintf(next, LEASE_ID_SIZE, "%s", has_next ? reply.next : "");
    arena_release(&arena);
    return rc;
}

/* The pages after `first`, each requested when the one before has come. */
static int fetch_rest(struct listing *listing, struct connect *connect,
                      const struct msg_query *query, const char *first, struct err *err)
{
    struct msg_query page = *query;
    char after[LEASE_ID_SIZE], next[LEASE_ID_SIZE];
    int rc;
    page.after = first;
    do {
        rc = fetch_page(listing, connect, &page, next, err);
        memcpy(after, next, sizeof(after));
        page.after = after;
    } while (rc == 0 && after[0] != '\0');
    return rc;
}

int listing_fetch_page(struct listing *listing, struct connect *connect,
                       const struct msg_query *query, struct err *err)
{
    char next[LEASE_ID_SIZE];
    return fetch_page(listing, connect, query, next, err);
}

/* ---------------------------------------------------------------- many at a time */

/* Rows that are fetched by one request. */
struct part {
    size_t from, count;
    json_t *page; /* NULL: not here yet */
};

/* The rows of a listing from a place on, in parts. */
struct parts {
    struct connect *connect;
    struct msg_query query;
    struct part *items;
    size_t count, n_sent, n_received;
    int capacity;
    uint64_t first; /* the number of the first request; the others follow */
};

static void add_part(struct parts *parts, size_t from, size_t count)
{
    parts->items = mem_room(parts->items, (int)parts->count, &parts->capacity,
                            sizeof(*parts->items));
    parts->items[parts->count++] = (struct part){from, count, NULL};
}

/* A page that has fewer rows than were asked for was cut, as its rows are long. */
static int take_part(struct parts *parts, size_t place, const struct msg_reply *reply,
                     struct err *err)
{
    struct part *part = &parts->items[place];
    int rc = part->page == NULL ? read_page(reply->json, &part->page, err) : 0;
    size_t n_rows = rc == 0 ? json_array_size(array_of(part->page)) : 0;
    parts->n_received++;
    if (n_rows > 0 && n_rows < part->count) {
        add_part(parts, part->from + n_rows, part->count - n_rows);
    }
    return rc;
}

static struct msg part_request(const struct parts *parts, const struct part *part,
                               char after[static 24])
{
    struct msg msg = {.kind = MSG_QUERY, .query = parts->query};
    snprintf(after, 24, "%zu", part->from);
    msg.query.after = after;
    msg.query.limit = (int)part->count;
    return msg;
}

/* Over TCP one request is under way at a time: it is sent again until it is answered.
 */
static int ask_part(struct parts *parts, struct err *err)
{
    char after[24];
    size_t place = parts->n_sent++;
    struct msg msg = part_request(parts, &parts->items[place], after);
    struct msg_reply reply;
    struct arena arena;
    arena_init(&arena);
    int rc = connect_ask(parts->connect, &msg, &msg.query.request, CONNECT_PATIENCE_MS,
                         &arena, &reply, err);
    rc = rc == 0 ? take_part(parts, place, &reply, err) : rc;
    arena_release(&arena);
    return rc;
}

static int send_parts(struct parts *parts, struct err *err)
{
    int rc = 0;
    while (rc == 0 && parts->n_sent < parts->count &&
           parts->n_sent - parts->n_received < PAGES_AT_ONCE) {
        char after[24];
        struct msg msg = part_request(parts, &parts->items[parts->n_sent], after);
        rc = connect_send(parts->connect, &msg, &msg.query.request, err);
        parts->first = parts->n_sent++ == 0 ? msg.query.request : parts->first;
    }
    return rc;
}

static int receive_part(struct parts *parts, struct err *err)
{
    struct msg_reply reply;
    struct arena arena;
    arena_init(&arena);
    int rc = connect_receive(parts->connect, parts->first, &arena, &reply, err);
    uint64_t place = reply.request - parts->first;
    if (rc == 0 && place < parts->n_sent) {
        rc = take_part(parts, (size_t)place, &reply, err);
    }
    arena_release(&arena);
    return rc;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Moves the rows of the parts into the listing. */
static void end_parts(struct parts *parts, struct listing *listing)
{
    if (parts->count > 0) {
        qsort(parts->items, parts->count, sizeof(*parts->items), compare_parts);
    }
    for (size_t i = 0; i < parts->count; i++) {
        json_array_extend(listing->rows, array_of(parts->items[i].page));
        json_decref(parts->items[i].page);
    }
    free(parts->items);
}

static int fetch_parts(struct listing *listing, struct connect *connect,
                       const struct msg_query *query, size_t count, struct err *err)
{
    const size_t n_rows = ROWS_OF_FIELDS;
    struct parts parts = {.connect = connect, .query = *query};
    int rc = 0;
    for (size_t at = 0; at < count; at += n_rows) {
        add_part(&parts, at, count - at < n_rows ? count - at : n_rows);
    }
    while (rc == 0 && parts.n_received < parts.count) {
        if (connect_is_broker(connect)) {
            rc = ask_part(&parts, err);
        } else {
            rc = send_parts(&parts, err);
            rc = rc == 0 ? receive_part(&parts, err) : rc;
        }
    }
    end_parts(&parts, listing);
    return rc;
}

/* ---------------------------------------------------------------- plans */

/* The names, separated by commas, if the row has all of them; else, or if there are
 * none, all that the row has. */
static json_t *choose_fields(const char *names, json_t *row)
{
    json_t *fields = json_array();
    json_t *value;
    const char *key;
    for (size_t length; *names != '\0'; names += length + (names[length] == ',')) {
        length = strcspn(names, ",");
        json_t *name = json_stringn(names, length);
        if (json_object_get(row, json_string_value(name)) == NULL) {
            json_decref(name);
            json_array_clear(fields);
            break;
        }
        json_array_append_new(fields, name);
    }
    if (json_array_size(fields) == 0) {
        json_object_foreach(row, key, value)
        {
            json_array_append_new(fields, json_string(key));
        }
    }
    return fields;
}

static const char *join_fields(const json_t *fields, struct arena *arena)
{
    const char *names = "";
    const json_t *name;
    size_t i;
    json_array_foreach(fields, i, name)
    {
        names = arena_printf(arena, "%s%s%s", names, i > 0 ? "," : "",
                             json_string_value(name));
    }
    return names;
}

/* All rows, as arrays of fields. */
static int fetch_fields(struct listing *listing, struct connect *connect,
                        const struct msg_query *query, size_t count, struct err *err)
{
    struct msg_query chosen = *query;
    struct arena arena;
    arena_init(&arena);
    listing->fields = choose_fields(query->fields, json_array_get(listing->rows, 0));
    chosen.fields = join_fields(listing->fields, &arena);
    json_array_clear(listing->rows);
    int rc = fetch_parts(listing, connect, &chosen, count, err);
    arena_release(&arena);
    return rc;
}

/* The first page says how many nodes there are, unless the broker is older: such a one
 * knows a page only by the last node of the page before, and all fields. */
static int fetch_plan(struct listing *listing, struct connect *connect,
                      const struct msg_query *query, struct err *err)
{
    struct msg_query all = *query;
    char next[LEASE_ID_SIZE];
    all.fields = "";
    int rc = fetch_page(listing, connect, &all, next, err);
    const json_t *count = rc == 0 ? json_object_get(listing->object, "n_nodes") : NULL;
    if (rc != 0 || next[0] == '\0') {
        return rc;
    }
    if (count == NULL) {
        return fetch_rest(listing, connect, &all, next, err);
    }
    json_int_t n_nodes = json_integer_value(count);
    if (n_nodes < 1 || n_nodes > PLAN_NODES_MAX) {
        return err_set(
            err, ERR_BOUNDS,
            "the answer has n_nodes %lld, expected 1 to %d; is the daemon of "
            "this version?",
            (long long)n_nodes, PLAN_NODES_MAX);
    }
    return fetch_fields(listing, connect, query, (size_t)n_nodes, err);
}

int listing_fetch(struct listing *listing, struct connect *connect,
                  const struct msg_query *query, struct err *err)
{
    return query->kind == QUERY_PLAN && listing->object == NULL
               ? fetch_plan(listing, connect, query, err)
               : fetch_rest(listing, connect, query, "", err);
}
