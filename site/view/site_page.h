/* SPDX-License-Identifier: Apache-2.0 */
/* site_page.h: one page of a listing: the next rows, as many as fit an answer.
 *
 * Ownership: in the arena. Layer: site. */
#ifndef SUBLET_SITE_VIEW_SITE_PAGE_H
#define SUBLET_SITE_VIEW_SITE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"
#include "model/msg.h"

struct site_page {
    struct arena *arena;
    struct value *root, *rows;
    uint64_t after; /* rows up to this number are on earlier pages */
    uint64_t last;  /* number of the last row on this page */
    const char
        *last_text; /* the same as text, if it is not shown as a number; else NULL */
    int limit;
    int64_t n_bytes; /* upper bound of the rows as JSON */
    bool is_full;    /* there are more rows */
};

/* `name`: the key of the array of rows. */
void site_page_init(struct site_page *page, struct arena *arena, const char *name,
                    const struct msg_query *query);
/* Rows have ascending numbers from 1. True: this row belongs on the page and is to be
 * added. False: it is on an earlier page, or the page is full. */
bool site_page_wants(struct site_page *page, uint64_t number);
void site_page_add(struct site_page *page, uint64_t number, struct value *row);
/* The `after` of the query for the next page; "": this is the last page. */
const char *site_page_next(const struct site_page *page);

#endif
