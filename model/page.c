/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: see page.h. */
#include "model/page.h"

#include <stdlib.h>
#include <string.h>

const char *page_text(const char *text)
{
    return text != NULL ? text : "";
}

bool page_is_named(const char *name, const char *wanted)
{
    return wanted == NULL || wanted[0] == '\0' || strcmp(name, wanted) == 0;
}

void page_init(struct page *page, struct arena *arena, const char *name,
               const struct msg_query *query)
{
    bool is_limited = query->limit > 0 && query->limit < PAGE_ROWS_MAX;
    *page = (struct page){
        .arena = arena,
        .root = value_object(arena),
        .limit = is_limited ? query->limit : PAGE_ROWS_MAX,
        .after = strtoull(page_text(query->after), NULL, 10),
        .last = "",
    };
    value_add_int(arena, page->root, "schema_version", PAGE_SCHEMA);
    page->rows = value_add(arena, page->root, name, value_array(arena));
}

void page_add(struct page *page, const char *name, struct value *row)
{
    int64_t n_bytes = page->n_bytes + value_json_bytes(row);
    page->is_full |= page->rows->count == page->limit ||
                     (page->rows->count > 0 && n_bytes > PAGE_BYTES);
    if (!page->is_full) {
        value_add(page->arena, page->rows, NULL, row);
        page->n_bytes = n_bytes;
        page->last = name;
    }
}

bool page_wants(const struct page *page, uint64_t number)
{
    return number > page->after && !page->is_full;
}

void page_add_number(struct page *page, uint64_t number, struct value *row)
{
    page_add(page, arena_printf(page->arena, "%llu", (unsigned long long)number), row);
}

const char *page_next(const struct page *page)
{
    return page->is_full ? arena_str(page->arena, page->last) : "";
}
