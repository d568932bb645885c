/* SPDX-License-Identifier: Apache-2.0 */
/* orphan_view.c: `runs`: the runs that the journal does not have, those on own hosts
 * first, then those at providers, by attempt. */
#include <string.h>

#include "base/value.h"
#include "model/page.h"
#include "site/view/view_rows.h"

struct orphan_row {
    const struct run_id *run;
    const char *job, *lease, *where;
    const struct job_spec *spec;
    const struct host_slots *hosts;
    int n_hosts;
    enum run_phase phase;
    int64_t start_ms;
    bool is_given_up;
};

static const char *state_of(enum run_phase phase)
{
    static const char *const names[] = {
        [RUN_UNKNOWN] = "UNKWN",   [RUN_WAITING] = "PEND", [RUN_RUNNING] = "RUN",
        [RUN_SUSPENDED] = "SSUSP", [RUN_ENDED] = "EXIT",
    };
    return names[phase];
}

static void add_row(struct page *page, uint64_t number, const struct orphan_row *from)
{
    struct arena *arena = page->arena;
    const struct job_spec *spec = from->spec;
    if (!page_wants(page, number)) {
        return;
    }
    struct value *row = value_object(arena);
    value_add_int(arena, row, "attempt", (int64_t)from->run->attempt);
    value_add_text(arena, row, "at", from->where);
    value_add_nonempty(arena, row, "lease", from->lease);
    value_add_nonempty(arena, row, "job", from->job);
    value_add_text(arena, row, "state", state_of(from->phase));
    value_add_nonempty(arena, row, "user", spec->user);
    value_add_nonempty(arena, row, "queue", spec->queue);
    value_add_nonempty(arena, row, "name", spec->name);
    struct value *hosts = value_add(arena, row, "hosts", value_object(arena));
    for (int i = 0; i < from->n_hosts; i++) {
        value_add_int(arena, hosts, arena_str(arena, from->hosts[i].host),
                      from->hosts[i].n_slots);
    }
    value_add_int(arena, row, "slots", msg_sum_slots(from->hosts, from->n_hosts));
    value_add_instant(arena, row, "start_at", from->start_ms);
    value_add_bool(arena, row, "is_ending", from->is_given_up);
    value_add_nonempty(arena, row, "out_file", spec->out_file);
    value_add_nonempty(arena, row, "command", spec->command);
    page_add_number(page, number, row);
}

void orphan_view_list(struct site_view *view, struct page *page,
                      const struct msg_query *query)
{
    static const struct job_spec nothing = {
        .user = "", .queue = "", .name = "", .out_file = "", .command = ""};
    const struct run_table *table = runs_table(view->runs);
    struct consumer_orphan leased;
    uint64_t number = 0, after = 0;
    (void)query;
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        if (run != NULL && run->is_orphan && run_table_is_own(table, run)) {
            bool is_known = run->spec->command != NULL;
            add_row(page, ++number,
                    &(struct orphan_row){.run = &run->id,
                                         .job = run->job,
                                         .lease = "",
                                         .where = run->hosts[0].host,
                                         .spec = is_known ? run->spec : &nothing,
                                         .hosts = run->hosts,
                                         .n_hosts = run->n_hosts,
                                         .phase = run->phase,
                                         .start_ms = run->start_ms,
                                         .is_given_up = run->is_given_up});
        }
    }
    while (orphan_next(view->consumer, after, &leased)) {
        after = leased.start->run.attempt;
        add_row(page, ++number,
                &(struct orphan_row){.run = &leased.start->run,
                                     .job = leased.start->job,
                                     .lease = leased.start->lease,
                                     .where = leased.provider,
                                     .spec = &leased.start->spec,
                                     .hosts = leased.start->hosts,
                                     .n_hosts = leased.start->n_hosts,
                                     .phase = leased.phase,
                                     .start_ms = leased.start_ms,
                                     .is_given_up = leased.is_given_up});
    }
}
