/* SPDX-License-Identifier: Apache-2.0 */
/* site_page.h: one page of a listing: the rows that the asker has not seen yet, as many
 * as fit an answer.
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
    uint64_t after;        /* rows up to this number were seen */
    uint64_t last;         /* number of the last row here */
    const char *last_text; /* how it is written; NULL: as the number */
    int limit;
    int64_t n_bytes; /* of the rows as JSON, at most */
    bool is_full;    /* there are more */
};

/* `name` is that of the array. */
void site_page_init(struct site_page *page, struct arena *arena, const char *name,
                    const struct msg_query *query);
/* Rows come under numbers that grow, from 1. True where this one is to be shown: build
 * it, then add it. False once the page is full. */
bool site_page_wants(struct site_page *page, uint64_t number);
void site_page_add(struct site_page *page, uint64_t number, struct value *row);
/* What to say as `after` for the next page; "" where this was the last. */
const char *site_page_next(const struct site_page *page);

#endif
