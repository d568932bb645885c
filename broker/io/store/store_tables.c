/* SPDX-License-Identifier: Apache-2.0 */
/* store_tables.c: which rows a store has, and in which tables (store_parts.h). */
#include "broker/io/store/store_parts.h"

#include <string.h>

void store_tables_describe(struct db_table_def tables[ROW_KINDS])
{
    static const enum row_kind kinds[] = {ROW_COUNTER, ROW_OVERRIDE, ROW_LEASE,
                                          ROW_SITE,    ROW_POOL,     ROW_KEPT,
                                          ROW_HOURS,   ROW_HISTORY};
    memset(tables, 0, sizeof(*tables) * ROW_KINDS);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        tables[kinds[i]].schema = schema_row_kinds[kinds[i]];
    }
    tables[ROW_LEASE].is_mostly_changed = true;
    tables[ROW_LEASE].lists[0].field = "hosts";
    tables[ROW_LEASE].lists[0].table = "lease_host";
    tables[ROW_LEASE].lists[1].field = "resources";
    tables[ROW_LEASE].lists[1].table = "lease_resource";
    tables[ROW_LEASE].keeps_lists = offsetof(struct row_lease, keeps_lists);
    tables[ROW_HISTORY].is_history = true;
}
