/* SPDX-License-Identifier: Apache-2.0 */
/* view_page.c: see view_page.h. */
#include "broker/view/view_page.h"

#include <string.h>

const char *view_page_text(const char *text)
{
    return text != NULL ? text : "";
}

bool view_page_is_named(const char *name, const char *wanted)
{
    return wanted == NULL || wanted[0] == '\0' || strcmp(name, wanted) == 0;
}

void view_page_begin(struct view_page *page, struct arena *arena, const char *name,
                     const struct msg_query *query)
{
    bool is_limited = query->limit > 0 && query->limit < PAGE_ROWS_MAX;
    *page = (struct view_page){.limit = is_limited ? query->limit : PAGE_ROWS_MAX,
                               .last = ""};
    page->root = value_object(arena);
    value_add_int(arena, page->root, "schema_version", VIEW_PAGE_SCHEMA);
    page->rows = value_add(arena, page->root, name, value_array(arena));
}

bool view_page_takes(struct view_page *page, int64_t bytes)
{
    bool has_place = page->rows->count < page->limit &&
                     (page->rows->count == 0 || page->bytes + bytes <= VIEW_PAGE_BYTES);
    page->is_cut |= !has_place;
    return has_place;
}

struct value *view_page_add(struct view_page *page, struct arena *arena, const char *id,
                            int64_t bytes)
{
    page->bytes += bytes;
    page->last = id;
    return value_add(arena, page->rows, NULL, value_object(arena));
}

struct value *view_page_end(const struct view_page *page, struct arena *arena,
                            const char **next)
{
    *next = page->is_cut ? arena_str(arena, page->last) : "";
    return page->root;
}

void view_page_add_side(struct arena *arena, struct value *row, const char *key,
                        const char *site, const struct lease_split_side *slots)
{
    struct value *side = value_add(arena, row, key, value_object(arena));
    if (site != NULL) {
        value_add_text(arena, side, "site", site);
    }
    value_add_int(arena, side, "available", slots->available);
    value_add_int(arena, side, "used", slots->used);
}
