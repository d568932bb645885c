/* SPDX-License-Identifier: Apache-2.0 */
/* view_page.h: builds a page of a listing: so many rows, and as JSON well below
 * FRAME_MAX.
 *
 * Source: docs/design/interfaces.md "JSON". Layer: broker. */
#ifndef SUBLET_BROKER_VIEW_VIEW_PAGE_H
#define SUBLET_BROKER_VIEW_VIEW_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"
#include "broker/broker_parts.h"
#include "broker/lease/lease_split.h"
#include "model/msg.h"

enum {
    VIEW_PAGE_SCHEMA = 1,
    /* Of JSON; the rest of the frame is for the message around it. */
    VIEW_PAGE_BYTES = FRAME_MAX / 4 * 3,
};

struct view_page {
    struct value *root, *rows;
    int64_t bytes;
    int limit;
    const char *last; /* id of the last row */
    bool is_cut;      /* there are more */
};

/* {"schema_version":1} with an empty array of that name. */
void view_page_begin(struct view_page *page, struct arena *arena, const char *name,
                     const struct msg_query *query);
/* False, and the page is done, if a row of that size does not fit. The first row always
 * fits. */
bool view_page_takes(struct view_page *page, int64_t bytes);
/* An empty row, whose id is borrowed until view_page_end. */
struct value *view_page_add(struct view_page *page, struct arena *arena, const char *id,
                            int64_t bytes);
/* The object; `next` is the id of the last row, "" if there are no more. */
struct value *view_page_end(const struct view_page *page, struct arena *arena,
                            const char **next);

/* A text of a query; "" for NULL. */
const char *view_page_text(const char *text);
/* True if a row of that name was asked for: `wanted` NULL or "" asks for all. */
bool view_page_is_named(const char *name, const char *wanted);
/* A side of a lease as object `key`. With `site` the name of the side is in it. */
void view_page_add_side(struct arena *arena, struct value *row, const char *key,
                        const char *site, const struct lease_split_side *slots);

/* -------------------------------------------------------------- hosts_view.c */

/* `query`: of a provider, a name ("n1@north"), behind `after`. */
struct value *hosts_view_page(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, const char **next);

/* -------------------------------------------------------------- pools_view.c */

/* All pools, or the one that is named. */
struct value *pools_view_list(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);
/* The nodes of the pool that is named; `host`: only the one with that path. */
struct value *pools_view_plan(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);

#endif
