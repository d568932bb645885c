/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_page.c: see ledger_page.h. */
#include "model/ledger_page.h"

#include <string.h>

#include "model/page.h"

enum ledger_detail ledger_page_detail(const char *by)
{
    return strcmp(by, "runs") == 0     ? LEDGER_RUNS
           : strcmp(by, "splits") == 0 ? LEDGER_SPLITS
                                       : LEDGER_HOURS;
}

static const char *side_name(bool is_provider, bool is_lent)
{
    return is_provider ? "provider" : is_lent ? "lent" : "consumer";
}

static void add_runs(const struct msg_ledger *ledger, struct arena *arena,
                     struct value *root)
{
    struct value *rows = value_add(arena, root, "runs", value_array(arena));
    for (int i = 0; i < ledger->n_runs; i++) {
        const struct ledger_run *run = &ledger->runs[i];
        struct value *row = value_add(arena, rows, NULL, value_object(arena));
        value_add_int(arena, row, "run", (int64_t)run->attempt);
        value_add_text(arena, row, "job", arena_str(arena, run->job));
        value_add_text(arena, row, "side", side_name(false, run->is_lent));
        value_add_int(arena, row, "start_ms", run->start_ms);
        value_add_int(arena, row, "end_ms", run->end_ms);
        value_add_int(arena, row, "used_ms", run->used_ms);
        value_add_int(arena, row, "at_ms", run->at_ms);
        value_add_int(arena, row, "n_slots", run->n_slots);
    }
    value_add_int(arena, root, "next_run", (int64_t)ledger->next_run);
}

static void add_splits(const struct msg_ledger *ledger, struct arena *arena,
                       struct value *root)
{
    struct value *rows = value_add(arena, root, "splits", value_array(arena));
    for (int i = 0; i < ledger->n_splits; i++) {
        const struct ledger_split *split = &ledger->splits[i];
        struct value *row = value_add(arena, rows, NULL, value_object(arena));
        value_add_text(arena, row, "side",
                       side_name(split->is_provider, split->is_lent));
        value_add_int(arena, row, "epoch", (int64_t)split->epoch);
        value_add_int(arena, row, "at_ms", split->at_ms);
        value_add_int(arena, row, "n_slots", split->n_slots);
    }
}

struct value *ledger_page_show(const struct msg_ledger *ledger, struct arena *arena)
{
    struct value *root = value_object(arena);
    value_add_int(arena, root, "schema_version", PAGE_SCHEMA);
    struct value *rows = value_add(arena, root, "ledger", value_array(arena));
    for (int i = 0; i < ledger->n_hours; i++) {
        const struct ledger_hour *hour = &ledger->hours[i];
        struct value *row = value_add(arena, rows, NULL, value_object(arena));
        value_add_int(arena, row, "hour_ms", hour->start_ms);
        value_add_text(arena, row, "side", side_name(hour->is_provider, hour->is_lent));
        value_add_int(arena, row, "held_ms", hour->held_ms);
        value_add_int(arena, row, "used_ms", hour->used_ms);
        value_add_int(arena, row, "idle_ms", hour->idle_ms);
        value_add_int(arena, row, "n_changes", hour->n_changes);
        value_add_int(arena, row, "n_slots", hour->n_slots);
        value_add_int(arena, row, "n_moved", hour->n_moved);
    }
    if (ledger->runs != NULL) {
        add_runs(ledger, arena, root);
    }
    if (ledger->splits != NULL) {
        add_splits(ledger, arena, root);
    }
    value_add_int(arena, root, "next_ms", ledger->next_ms);
    value_add_int(arena, root, "first_ms", ledger->first_ms);
    value_add_int(arena, root, "merged_ms", ledger->merged_ms);
    return root;
}
