/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: one page of a listing: an object with schema_version and an array of rows, as
 * many as fit an answer.
 *
 * The first row always fits. A listing is added row by row until the page is full; the
 * name of its last row is what the query for the next page gives as `after`.
 *
 * Ownership: in the arena; names of rows are borrowed until page_next. Source:
 * docs/design/interfaces.md "JSON". Layer: model. */
#ifndef SUBLET_MODEL_PAGE_H
#define SUBLET_MODEL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/value.h"
#include "model/msg.h"

enum {
    PAGE_SCHEMA = 1,
    PAGE_BYTES = FRAME_MAX / 4 * 3, /* of JSON; the rest is for the message around it */
};

struct page {
    struct arena *arena;
    struct value *root, *rows;
    int limit;
    int64_t n_bytes; /* upper bound of the rows as JSON */
    uint64_t after;  /* numbered rows up to this number are on earlier pages */
    const char *last;
    bool is_full; /* there are more rows */
};

/* A text of a query; "" for NULL. */
const char *page_text(const char *text);
/* True if a row of that name was asked for: `wanted` NULL or "" asks for all. */
bool page_is_named(const char *name, const char *wanted);

/* `name`: the key of the array of rows. */
void page_init(struct page *page, struct arena *arena, const char *name,
               const struct msg_query *query);
/* Adds the row if it fits; else the page is full. */
void page_add(struct page *page, const char *name, struct value *row);
/* Rows may have ascending numbers from 1 as names. True: the row is not on an earlier
 * page, and this page is not full. */
bool page_wants(const struct page *page, uint64_t number);
void page_add_number(struct page *page, uint64_t number, struct value *row);
/* The `after` of the query for the next page; "": this is the last page. */
const char *page_next(const struct page *page);

#endif
