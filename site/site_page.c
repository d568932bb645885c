/* SPDX-License-Identifier: Apache-2.0 */
/* site_page.c: see site_page.h. */
#include "site/site_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
    PAGE_BYTES = FRAME_MAX / 2, /* the row that crosses it must still fit the frame */
    NUMBER_BYTES = 24,
    ESCAPED_BYTES = 6, /* \u0001 */
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

static int64_t text_bytes(const char *text, int64_t max)
{
    int64_t n_bytes = 2;
    for (const char *at = text; *at != '\0' && n_bytes <= max; at++) {
        unsigned char c = (unsigned char)*at;
        n_bytes += c < 0x20 || c == '"' || c == '\\' || c == 0x7f ? ESCAPED_BYTES : 1;
    }
    return n_bytes;
}

static int64_t value_bytes(const struct value *value)
{
    int64_t n_bytes = NUMBER_BYTES;
    if (value->key != NULL) {
        n_bytes += text_bytes(value->key, FRAME_MAX);
    }
    if (value->text != NULL) {
        n_bytes += text_bytes(value->text, FRAME_MAX);
    }
    for (const struct value *at = value->first; at != NULL; at = at->next) {
        n_bytes += value_bytes(at);
    }
    return n_bytes;
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
    page->n_bytes += value_bytes(row);
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

const char *site_page_cut(struct arena *arena, const char *text, int64_t n_bytes)
{
    if (text_bytes(text, n_bytes) <= n_bytes) {
        return text;
    }
    size_t length = (size_t)(n_bytes / ESCAPED_BYTES);
    length = strnlen(text, length);
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--; /* not in the middle of a character */
    }
    return arena_printf(arena, "%.*s...", (int)length, text);
}
