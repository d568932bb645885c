/* SPDX-License-Identifier: Apache-2.0 */
/* listing_fetch.c: fetches a listing page by page. See listing.h.
 *
 * A page costs a site little and the way to the broker and back much: a plan of 100,000
 * nodes has hundreds of pages. Its rows are numbered, and so a site is asked for many
 * pages at a time, first one, then twice as many each time, up to PAGES_AT_ONCE, so
 * that a short listing asks for no page in vain. */
#include "cli/listing/listing.h"

#include <stdio.h>
#include <string.h>

#include "base/bounds.h"

enum { PAGES_AT_ONCE = 16 }; /* a site keeps 4 MiB for a client that is slow to read */

/* ---------------------------------------------------------------- pages */

/* The one array of the object. */
static json_t *array_of(json_t *object)
{
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        if (json_is_array(member)) {
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

static int fetch_in_turn(struct listing *listing, struct connect *connect,
                         const struct msg_query *query, struct err *err)
{
    struct msg_query page = *query;
    char after[LEASE_ID_SIZE], next[LEASE_ID_SIZE];
    int rc;
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

/* Pages of so many rows each that were requested together. */
struct batch {
    json_t *pages[PAGES_AT_ONCE];
    bool has_next[PAGES_AT_ONCE];
    int n_pages, n_rows;
};

static int send_batch(const struct batch *batch, struct connect *connect,
                      const struct msg_query *query, size_t n_before, uint64_t *first,
                      struct err *err)
{
    int rc = 0;
    for (int i = 0; i < batch->n_pages && rc == 0; i++) {
        char after[32];
        struct msg msg = {.kind = MSG_QUERY, .query = *query};
        snprintf(after, sizeof(after), "%zu", n_before + (size_t)(i * batch->n_rows));
        msg.query.after = after;
        msg.query.limit = batch->n_rows;
        rc = connect_send(connect, &msg, &msg.query.request, err);
        *first = i == 0 ? msg.query.request : *first;
    }
    return rc;
}

static int receive_batch(struct batch *batch, struct connect *connect, uint64_t first,
                         struct err *err)
{
    int rc = 0;
    for (int i = 0; i < batch->n_pages && rc == 0; i++) {
        struct msg_reply reply;
        struct arena arena;
        arena_init(&arena);
        rc = connect_receive(connect, first, &arena, &reply, err);
        uint64_t place = reply.request - first;
        if (rc == 0 && place < (uint64_t)batch->n_pages &&
            batch->pages[place] == NULL) {
            rc = read_page(reply.json, &batch->pages[place], err);
            batch->has_next[place] = reply.next != NULL && reply.next[0] != '\0';
        }
        arena_release(&arena);
    }
    return rc;
}

/* Adds the pages up to the first that has fewer rows than it was asked for. Such a page
 * was cut, as its rows are long: the next batch begins behind it, with shorter pages.
 * Returns whether there are more rows. */
static bool add_batch(struct batch *batch, struct listing *listing)
{
    bool has_more = true, is_cut = false;
    int n_asked = batch->n_rows;
    for (int i = 0; i < batch->n_pages; i++) {
        json_t *rows = array_of(batch->pages[i]);
        int n_rows = (int)json_array_size(rows);
        if (has_more && !is_cut) {
            json_array_extend(listing->rows, rows);
            has_more = batch->has_next[i];
            is_cut = n_rows < n_asked;
            batch->n_rows = is_cut && has_more && n_rows > 1 ? n_rows * 4 / 5 : n_asked;
        }
        json_decref(batch->pages[i]);
        batch->pages[i] = NULL;
    }
    return has_more;
}

static int fetch_batches(struct listing *listing, struct connect *connect,
                         const struct msg_query *query, struct err *err)
{
    char next[LEASE_ID_SIZE];
    size_t n_before = json_array_size(listing->rows);
    int rc = fetch_page(listing, connect, query, next, err);
    bool has_more = rc == 0 && next[0] != '\0';
    int n_rows = (int)(json_array_size(listing->rows) - n_before);
    struct batch batch = {
        .n_pages = 1,
        .n_rows = n_rows == PAGE_ROWS_MAX ? n_rows : (n_rows * 4 + 4) / 5,
    };
    while (rc == 0 && has_more) {
        uint64_t first = 0;
        rc = send_batch(&batch, connect, query,
                        json_array_size(listing->rows) - n_before, &first, err);
        rc = rc == 0 ? receive_batch(&batch, connect, first, err) : rc;
        has_more = add_batch(&batch, listing) && rc == 0;
        batch.n_pages =
            batch.n_pages * 2 < PAGES_AT_ONCE ? batch.n_pages * 2 : PAGES_AT_ONCE;
    }
    return rc;
}

int listing_fetch(struct listing *listing, struct connect *connect,
                  const struct msg_query *query, struct err *err)
{
    bool is_numbered = query->kind == QUERY_PLAN && !connect_is_broker(connect);
    return is_numbered ? fetch_batches(listing, connect, query, err)
                       : fetch_in_turn(listing, connect, query, err);
}
