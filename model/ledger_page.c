/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_page.c: see ledger_page.h. */
#include "model/ledger_page.h"

#include "model/page.h"

struct value *ledger_page_show(const struct msg_ledger *ledger, struct arena *arena)
{
    struct value *root = value_object(arena);
    value_add_int(arena, root, "schema_version", PAGE_SCHEMA);
    struct value *rows = value_add(arena, root, "ledger", value_array(arena));
    for (int i = 0; i < ledger->n_hours; i++) {
        const struct ledger_hour *hour = &ledger->hours[i];
        struct value *row = value_add(arena, rows, NULL, value_object(arena));
        value_add_int(arena, row, "hour_ms", hour->start_ms);
        value_add_text(arena, row, "side",
                       hour->is_provider ? "provider"
                       : hour->is_lent   ? "lent"
                                         : "consumer");
        value_add_int(arena, row, "held_ms", hour->held_ms);
        value_add_int(arena, row, "used_ms", hour->used_ms);
        value_add_int(arena, row, "idle_ms", hour->idle_ms);
        value_add_int(arena, row, "n_changes", hour->n_changes);
        value_add_int(arena, row, "n_slots", hour->n_slots);
        value_add_int(arena, row, "n_moved", hour->n_moved);
    }
    value_add_int(arena, root, "next_ms", ledger->next_ms);
    value_add_int(arena, root, "first_ms", ledger->first_ms);
    value_add_int(arena, root, "merged_ms", ledger->merged_ms);
    return root;
}
