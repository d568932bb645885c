/* SPDX-License-Identifier: Apache-2.0 */
/* host_view.c: `hosts`: own and borrowed hosts with the slots in use there. */
#include <string.h>

#include "model/page.h"
#include "site/ledger/site_ledger.h"
#include "site/load/site_load.h"
#include "site/view/slot_count.h"
#include "site/view/view_rows.h"

static enum slot_count_kind kind_of_job(const struct job *job)
{
    return job->state == JOB_PEND    ? SLOT_COUNT_RSV
           : job->state == JOB_USUSP ? SLOT_COUNT_USUSP
           : job->state == JOB_SSUSP ? SLOT_COUNT_SSUSP
                                     : SLOT_COUNT_RUN;
}

static void count_borrowed(struct site_view *view, struct slot_counts *slots)
{
    for (int i = 0; i < job_table_count_open(view->jobs); i++) {
        const struct job *job = job_table_open_at_const(view->jobs, i);
        for (int k = 0; job->lease[0] != '\0' && k < job->n_hosts; k++) {
            slot_counts_add(slots, job->hosts[k].host, job->lease, kind_of_job(job),
                            job->hosts[k].n_slots, job->spec->is_exclusive);
        }
    }
}

/* A query names a host, or a group of hosts. A condensed group that is named is shown
 * in place of its hosts, also if they are of an earlier one. */
struct asked {
    const char *name;
    const struct name_group *group; /* NULL: it names none */
};

static bool is_asked(const struct site_view *view, const struct asked *asked,
                     const char *host)
{
    return page_is_named(host, asked->name) ||
           (asked->group != NULL &&
            groups_has_host(&view->config->groups, asked->group, host));
}

static void add_group(struct arena *arena, struct value *row,
                      const struct site_view *view, const struct asked *asked,
                      const char *host)
{
    const struct name_group *group =
        asked->group != NULL && asked->group->is_condensed
            ? asked->group
            : groups_condensed(&view->config->groups, host);
    value_add_text(arena, row, "condensed_in", group != NULL ? group->name : NULL);
}

static struct value *own_row(struct site_view *view, struct arena *arena, int index,
                             const char *status, const struct slot_counts *slots,
                             const struct rusage_totals *seen,
                             const struct affinity_host *affinity)
{
    const struct site_host *host = &view->config->hosts[index];
    const struct slot_count *counts = slot_counts_find(slots, host->name, "");
    struct value *row = value_object(arena);
    value_add_text(arena, row, "host", host->name);
    value_add_text(arena, row, "status", status);
    config_view_add_host_limit(arena, row, view->config, host->name);
    slot_count_add_to_row(arena, row, host_table_max(view->hosts, index), counts);
    value_add_null(arena, row, "lease");
    value_add_int(arena, row, "lent", provider_lent(view->provider, host->name));
    value_add_text(arena, row, "run_window", host->run_windows.text);
    value_add_text(arena, row, "dispatch_window", host->dispatch_windows.text);
    load_view_add_thresholds(view, arena, row, &host->thresholds);
    load_view_add_resources(view, arena, row, index,
                            host_resources_architecture(view->host_resources, index));
    rusage_view_add_host(arena, row, seen, index);
    affinity_view_add_host(arena, row, affinity != NULL ? &affinity[index] : NULL);
    return row;
}

static struct value *borrowed_row(struct site_view *view, struct arena *arena,
                                  const struct consumer_host *host, const char *status,
                                  const struct slot_counts *slots,
                                  const struct rusage_totals *seen, int place)
{
    const char *name = arena_str(arena, host->name);
    const struct slot_count *counts = slot_counts_find(slots, name, host->lease);
    struct value *row = value_object(arena);
    const struct load_thresholds thresholds = borrowed_resources_thresholds(
        host_resources_borrowed(view->host_resources), host->name);
    value_add_text(arena, row, "host", name);
    value_add_text(arena, row, "status", status);
    config_view_add_host_limit(arena, row, view->config, host->name);
    slot_count_add_to_row(arena, row, host->n_held, counts);
    value_add_text(arena, row, "lease", host->lease);
    value_add_null(arena, row, "lent");
    value_add_null(arena, row, "run_window");
    value_add_null(arena, row, "dispatch_window");
    load_view_add_thresholds(view, arena, row, &thresholds);
    load_view_add_resources(
        view, arena, row,
        host_resources_find_borrowed(view->host_resources, host->name), NULL);
    rusage_view_add_host(arena, row, seen, place);
    affinity_view_add_host(arena, row, NULL);
    return row;
}

static void add_host(struct site_view *view, struct page *page,
                     const struct asked *asked, uint64_t number, int place,
                     const char *status, const struct slot_counts *own,
                     const struct slot_counts *borrowed,
                     const struct rusage_totals *seen,
                     const struct affinity_host *affinity)
{
    int n_own = host_table_count(view->hosts);
    struct consumer_host host = {.name = ""};
    if (place >= n_own) {
        consumer_host_at(view->consumer, place - n_own, &host);
    }
    const char *name = place < n_own ? host_table_name(view->hosts, place) : host.name;
    if (!is_asked(view, asked, name) || !page_wants(page, number)) {
        return;
    }
    struct value *row =
        place < n_own
            ? own_row(view, page->arena, place, status, own, seen, affinity)
            : borrowed_row(view, page->arena, &host, status, borrowed, seen, place);
    add_group(page->arena, row, view, asked, name);
    page_add_number(page, number, row);
}

void host_view_list(struct site_view *view, struct page *page,
                    const struct msg_query *query)
{
    struct arena *arena = page->arena;
    int n_own = host_table_count(view->hosts);
    int n_borrowed = consumer_count_hosts(view->consumer);
    struct consumer_host host;
    struct slot_counts own, borrowed;
    int *places, n_places;
    if (load_view_select(view, arena, query, &places, &n_places, NULL) != 0) {
        return; /* site_view_check has answered this */
    }
    slot_counts_init(&own, arena, n_own);
    slot_counts_init(&borrowed, arena, n_borrowed);
    for (int i = 0; i < n_own; i++) {
        slot_counts_add_host(&own, host_table_name(view->hosts, i), "");
    }
    for (int i = 0; i < n_borrowed; i++) {
        consumer_host_at(view->consumer, i, &host);
        slot_counts_add_host(&borrowed, arena_str(arena, host.name),
                             arena_str(arena, host.lease));
    }
    slot_counts_sort(&own);
    slot_counts_sort(&borrowed);
    slot_counts_add_runs(&own, view, false);
    count_borrowed(view, &borrowed);
    reservation_view_count_hosts(view, &own, &borrowed);
    const char *const *statuses =
        host_status_list(view->host_status, arena, view->local_ms);
    const char *name = query->name != NULL ? query->name : "";
    const struct asked asked = {name, groups_find_hosts(&view->config->groups, name)};
    struct rusage_totals seen;
    rusage_pass_totals(rusage_view_left(view, arena), false, &seen);
    const struct affinity_host *affinity =
        capacity_affinity(view->capacity, arena, n_own);
    for (int i = 0; i < n_places && !page->is_full; i++) {
        add_host(view, page, &asked, (uint64_t)i + 1, places[i], statuses[places[i]],
                 &own, &borrowed, &seen, affinity);
    }
}
