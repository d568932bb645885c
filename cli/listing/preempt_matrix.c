/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_matrix.c: see listing.h. */
#include "cli/listing/listing.h"

#include <stdio.h>
#include <string.h>

#include "cli/listing/format.h"

static const char *name_of(const json_t *queue)
{
    const char *name = json_string_value(json_object_get(queue, "queue"));
    return name != NULL ? name : "";
}

/* The relation of two queues, or NULL. */
static const json_t *find(const json_t *queue, const char *other)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(queue, "preemption"), i, item)
    {
        if (strcmp(name_of(item), other) == 0) {
            return item;
        }
    }
    return NULL;
}

static bool is_preempted(const json_t *queues, const char *name)
{
    size_t i;
    const json_t *queue;
    json_array_foreach(queues, i, queue)
    {
        if (find(queue, name) != NULL) {
            return true;
        }
    }
    return false;
}

/* The key of a cell; not the column's heading, which may have dots. */
static const char *key_of(struct arena *arena, int column)
{
    return arena_printf(arena, "c%d", column);
}

static json_t *row_of(struct arena *arena, const json_t *queue,
                      const struct column *columns, int n_columns)
{
    json_t *row = json_object();
    json_object_set_new(row, "queue", json_string(name_of(queue)));
    for (int i = 1; i < n_columns; i++) {
        const json_t *item = find(queue, columns[i].heading);
        json_int_t level = json_integer_value(json_object_get(item, "preference"));
        const char *text = item == NULL ? "-"
                           : level > 0  ? arena_printf(arena, "+%lld", (long long)level)
                                        : "yes";
        json_object_set_new(row, columns[i].path, json_string(text));
    }
    return row;
}

void preempt_matrix_print(struct arena *arena, const json_t *queues, bool has_heading)
{
    size_t i;
    const json_t *queue;
    int n_columns = 0;
    struct column *columns =
        arena_alloc(arena, json_array_size(queues) + 2, sizeof(*columns));
    columns[n_columns++] = (struct column){"PREEMPTION", "queue", false, format_plain};
    json_array_foreach(queues, i, queue)
    {
        if (is_preempted(queues, name_of(queue))) {
            columns[n_columns] = (struct column){
                name_of(queue), key_of(arena, n_columns), false, format_plain};
            n_columns++;
        }
    }
    if (n_columns == 1) {
        return;
    }
    json_t *rows = json_array();
    json_array_foreach(queues, i, queue)
    {
        if (json_array_size(json_object_get(queue, "preemption")) > 0) {
            json_array_append_new(rows, row_of(arena, queue, columns, n_columns));
        }
    }
    putchar('\n');
    table_print(arena, columns, rows, has_heading);
    json_decref(rows);
}
