/* SPDX-License-Identifier: Apache-2.0 */
/* site_view_select.c: hosts that a requirement string selects, for listings; part of
 * site_view.h. */
#include "sched/resreq.h"
#include "site/parts.h"
#include "site/site_view.h"

int site_view_select(const struct site *site, struct arena *arena, const char *res_req,
                     int **rows, int *n_rows, struct err *err)
{
    struct resource_table *table = facts_table(site->facts);
    struct resreq_rules rules = needs_rules(site->config, facts_resources(site->facts));
    rules.language.has_local = false;
    rules.defaults_any = true;
    struct resreq_strings from = {.strings = &res_req, .n_strings = 1};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_local local = {.type = "", .model = ""};
    struct resreq_fault fault;
    struct resreq resreq;
    int code = resreq_compile(arena, &rules, &from, &resreq, &notes, &fault);
    if (code != 0) {
        return err_set(err, code, "%s Column %d: %s.", fault.text, fault.at + 1,
                       fault.hint);
    }
    *rows = arena_alloc(arena, (size_t)resource_table_rows(table) + 1, sizeof(**rows));
    *n_rows = resreq_pick(&resreq, table, &local, *rows);
    return 0;
}

int site_view_select_hosts(const struct site *site, struct arena *arena,
                           const char *res_req, const struct place_filter **filter,
                           struct err *err)
{
    int n_hosts;
    const struct place_host *hosts = schedule_hosts(site, arena, &n_hosts);
    needs_begin(site->needs, arena, site, hosts, n_hosts);
    return needs_select(site->needs, res_req, filter, err);
}
