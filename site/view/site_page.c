/* SPDX-License-Identifier: Apache-2.0 */
/* site_page.c: see site_page.h. */
#include "site/view/site_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
    PAGE_BYTES = FRAME_MAX / 2, /* the row that crosses it must still fit the frame */
};

void site_page_init(struct site_page *page, struct arena *arena, const char *name,
                    const struct msg_query *query)
{
    memset(page, 0, sizeof(*page));
    page->arena = arena;
    page->root = value_object(arena);
    value_add_int(arena, page->root, "schema_version", 1);
    page->rows = value_add(arena, page->root, name, value_array(arena));
    page->after = strtoull(query->after, NULL, 10);
    page->limit =
        query->limit > 0 && query->limit < PAGE_ROWS_MAX ? query->limit : PAGE_ROWS_MAX;
}

bool site_page_wants(struct site_page *page, uint64_t number)
{
    if (number <= page->after) {
        return false;
    }
    if (page->rows->count >= page->limit || page->n_bytes >= PAGE_BYTES) {
        page->is_full = true;
    }
    return !page->is_full;
}

void site_page_add(struct site_page *page, uint64_t number, struct value *row)
{
    value_add(page->arena, page->rows, NULL, row);
    page->n_bytes += value_json_bytes(row);
    page->last = number;
}

const char *site_page_next(const struct site_page *page)
{
    if (!page->is_full) {
        return "";
    }
    return page->last_text != NULL
               ? page->last_text
               : arena_printf(page->arena, "%llu", (unsigned long long)page->last);
}
