/* SPDX-License-Identifier: Apache-2.0 */
/* table.h: rows of JSON as an aligned table, or as blocks, on standard output.
 *
 * Colour only on a terminal, and not where NO_COLOR is set.
 * Layer: cli. */
#ifndef SUBLET_CLI_TABLE_H
#define SUBLET_CLI_TABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/columns.h"

/* `columns` ends with a NULL heading; `rows` is an array of objects. */
void table_print(struct arena *arena, const struct column *columns, const json_t *rows,
                 bool has_heading);

/* A block of "Heading: value" lines a row; fields without a value are left out. */
void table_print_blocks(struct arena *arena, const struct column *columns,
                        const json_t *rows);

#endif
