/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_load.c: `sublet load`: the load of the site's hosts, in the columns and units of
 * lsload. Source: docs/design/interfaces.md "Command line"; LSF's lsload. */
#include <string.h>

#include "cli/commands.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_load_options[] = {
    {"-R", "STRING", "those that match, in its order", false},
    {"-l", NULL, "also disk I/O and other measured resources", false},
    {NULL, NULL, NULL, false},
};

enum { EXTERNAL_MAX = 1000 }; /* of measured resources */

static size_t count_columns(const struct column *columns)
{
    size_t count = 0;
    while (columns[count].heading != NULL) {
        count++;
    }
    return count;
}

static bool has_column(const struct column *columns, const char *heading)
{
    for (; columns->heading != NULL; columns++) {
        if (strcmp(columns->heading, heading) == 0) {
            return true;
        }
    }
    return false;
}

/* The table of lsload -l: with a column for each measured resource. */
static struct columns widen(struct arena *arena, const struct columns *base,
                            const json_t *rows)
{
    size_t count = count_columns(base->table);
    struct column *table = arena_alloc(arena, count + EXTERNAL_MAX + 2, sizeof(*table));
    size_t end = count + EXTERNAL_MAX;
    const json_t *row;
    size_t i;
    memcpy(table, base->table, count * sizeof(*table));
    table[count++] = (struct column){"io", "io", true, format_index};
    json_array_foreach(rows, i, row)
    {
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(row, "resources"), name, value)
        {
            if (count < end && !has_column(table, name)) {
                table[count++] = (struct column){
                    .heading = arena_str(arena, name),
                    .path = arena_printf(arena, "resources.%s", name),
                    .is_right = json_is_number(value),
                    .format = json_is_number(value) ? format_index : format_plain,
                };
            }
        }
    }
    return (struct columns){.table = table, .nothing = base->nothing};
}

int cmd_load_run(struct call *call)
{
    struct msg_query query = listing_query(QUERY_LOAD);
    struct listing listing = {0};
    query.res_req = call_text(call, "-R");
    int status = listing_gather(call, &query, "host", &listing);
    if (status == CALL_OK) {
        struct columns wide = widen(&call->arena, &columns_load, listing.rows);
        status =
            listing_show(call, &listing, call_has(call, "-l") ? &wide : &columns_load);
    }
    listing_free(&listing);
    return status;
}
