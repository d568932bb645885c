/* SPDX-License-Identifier: Apache-2.0 */
/* site_view.c: hosts and exports as they are shown, and which listing a query means. */
#include "site/view/site_view.h"

#include <limits.h>
#include <string.h>

#include "model/exported_resources.h"
#include "site/overloads.h"
#include "site/reserves.h"
#include "site/site_page.h"
#include "site/view/slot_count.h"
#include "site/view/view_rows.h"
#include "site/windows.h"

/* Hosts of one lease that a row of exports names: it must fit a page. */
enum { SHOWN_HOSTS_MAX = 500 };

/* ---------------------------------------------------------------- counting */

static enum slot_count_kind kind_of_run(const struct site_view *view,
                                        const struct run *run)
{
    if (run->phase == RUN_SUSPENDED) {
        const struct job *job =
            run->lease[0] == '\0' ? job_table_find_attempt(view->jobs, run->id.attempt)
                                  : NULL;
        return job != NULL && job->state == JOB_SSUSP ? SLOT_COUNT_SSUSP
                                                      : SLOT_COUNT_USUSP;
    }
    /* Not heard of since the start, but it had its go: most likely it runs. */
    bool has_begun = run->phase == RUN_RUNNING ||
                     (run->phase == RUN_UNKNOWN && run->record == RUN_RECORD_GUARDED);
    return has_begun ? SLOT_COUNT_RUN : SLOT_COUNT_RSV;
}

/* Runs on own hosts: all of them under lease "", or consumers' under their lease. */
static void count_runs(const struct site_view *view, bool by_lease,
                       struct slot_counts *tally)
{
    const struct run_table *table = runs_table(view->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        if (run == NULL || run->record == RUN_RECORD_ENDED) {
            continue;
        }
        /* PREEMPT_JOBTYPE: one that stands still has given its hosts away. */
        bool has_given = run->is_still && run->lease[0] == '\0' &&
                         view->config->preempt.has_exclusive;
        for (int k = 0; k < run->n_hosts; k++) {
            slot_counts_add(tally, run->hosts[k].host, by_lease ? run->lease : "",
                            kind_of_run(view, run), run->hosts[k].n_slots,
                            run->spec->is_exclusive && !has_given);
        }
    }
}

static enum slot_count_kind kind_of_job(const struct job *job)
{
    return job->state == JOB_PEND    ? SLOT_COUNT_RSV
           : job->state == JOB_USUSP ? SLOT_COUNT_USUSP
           : job->state == JOB_SSUSP ? SLOT_COUNT_SSUSP
                                     : SLOT_COUNT_RUN;
}

static void count_borrowed(const struct site_view *view, struct slot_counts *tally)
{
    for (int i = 0; i < job_table_count_open(view->jobs); i++) {
        const struct job *job = job_table_open_at(view->jobs, i);
        for (int k = 0; job->lease[0] != '\0' && k < job->n_hosts; k++) {
            slot_counts_add(tally, job->hosts[k].host, job->lease, kind_of_job(job),
                            job->hosts[k].n_slots, job->spec->is_exclusive);
        }
    }
}

static int total(const struct slot_count *row)
{
    int sum = 0;
    for (int i = 0; i < SLOT_COUNT_KINDS; i++) {
        sum += row->slots[i];
    }
    return sum;
}

static void add_counts(struct arena *arena, struct value *row, int max,
                       const struct slot_count *counts)
{
    value_add_int(arena, row, "max", max);
    value_add_int(arena, row, "njobs", total(counts));
    value_add_int(arena, row, "run", counts->slots[SLOT_COUNT_RUN]);
    value_add_int(arena, row, "ssusp", counts->slots[SLOT_COUNT_SSUSP]);
    value_add_int(arena, row, "ususp", counts->slots[SLOT_COUNT_USUSP]);
    value_add_int(arena, row, "rsv", counts->slots[SLOT_COUNT_RSV]);
}

static bool is_other(const struct msg_query *query, const char *name)
{
    return query->name[0] != '\0' && strcmp(query->name, name) != 0;
}

/* ---------------------------------------------------------------- hosts */

struct host_status {
    bool is_closed; /* by an administrator */
    bool is_open;   /* it is there */
    bool is_shut;   /* by its windows */
    bool is_busy;   /* beyond loadSched of its own */
    bool is_taken;
    int used, max;
};

static const char *status_of(const struct host_status *host)
{
    if (!host->is_open && !host->is_taken) {
        return "unavail";
    }
    return host->is_closed           ? "closed_Adm"
           : host->is_shut           ? "closed_Wind"
           : host->is_taken          ? "closed_Excl"
           : host->used >= host->max ? "closed_Full"
           : host->is_busy           ? "closed_Busy"
                                     : "ok";
}

static struct value *own_row(const struct site_view *view, struct arena *arena,
                             int index, const struct slot_counts *tally,
                             const struct reserves_seen *seen)
{
    const struct site_host *host = &view->config->hosts[index];
    const struct slot_count *counts = slot_counts_find(tally, host->name, "");
    struct value *row = value_object(arena);
    struct load_excess excess;
    value_add_text(arena, row, "host", host->name);
    value_add_text(
        arena, row, "status",
        status_of(&(struct host_status){
            .is_closed =
                host->is_leaving || host_admin_is_closed(view->closed, host->name),
            .is_open = host_table_is_ready(view->hosts, index),
            .is_shut = host_table_is_window_closed(
                view->hosts, index, view->event_ms + view->utc_offset_ms),
            .is_busy = overloads_is_busy(view->site, host->name, true, &excess),
            .is_taken = counts->is_taken,
            .used = total(counts),
            .max = host->max}));
    rules_view_add_host_limit(arena, row, view->config, host->name);
    add_counts(arena, row, host->max, counts);
    value_add_null(arena, row, "lease");
    value_add_int(arena, row, "lent", provider_lent(view->provider, host->name));
    value_add_text(arena, row, "run_window", host->run_windows.text);
    value_add_text(arena, row, "dispatch_window", host->dispatch_windows.text);
    load_view_add_thresholds(view, arena, row, &host->thresholds);
    load_view_add_resources(view, arena, row, index,
                            facts_architecture(view->facts, index));
    rusage_view_add_host(arena, row, seen, index);
    return row;
}

static struct value *borrowed_row(const struct site_view *view, struct arena *arena,
                                  const struct consumer_host *host,
                                  const struct slot_counts *tally,
                                  const struct reserves_seen *seen, int place)
{
    const char *name = arena_str(arena, host->name);
    const struct slot_count *counts = slot_counts_find(tally, name, host->lease);
    struct value *row = value_object(arena);
    const struct load_thresholds thresholds =
        facts_borrowed_thresholds(facts_borrowed(view->facts), host->name);
    struct load_excess excess;
    value_add_text(arena, row, "host", name);
    value_add_text(arena, row, "status",
                   status_of(&(struct host_status){
                       .is_closed = host_admin_is_closed(view->closed, host->name),
                       .is_open = host->is_open,
                       .is_busy = overloads_is_busy(view->site, name, false, &excess),
                       .is_taken = counts->is_taken,
                       .used = host->n_used,
                       .max = host->n_held}));
    rules_view_add_host_limit(arena, row, view->config, host->name);
    add_counts(arena, row, host->n_held, counts);
    value_add_text(arena, row, "lease", host->lease);
    value_add_null(arena, row, "lent");
    value_add_null(arena, row, "run_window");
    value_add_null(arena, row, "dispatch_window");
    load_view_add_thresholds(view, arena, row, &thresholds);
    load_view_add_resources(view, arena, row, facts_row(view->facts, host->name), NULL);
    rusage_view_add_host(arena, row, seen, place);
    return row;
}

static void add_host(const struct site_view *view, struct site_page *page,
                     const struct msg_query *query, uint64_t number, int place,
                     const struct slot_counts *own, const struct slot_counts *borrowed,
                     const struct reserves_seen *seen)
{
    int n_own = host_table_count(view->hosts);
    struct consumer_host host = {.name = ""};
    if (place >= n_own) {
        consumer_host_at(view->consumer, place - n_own, &host);
    }
    const char *name = place < n_own ? host_table_name(view->hosts, place) : host.name;
    if (is_other(query, name) || !site_page_wants(page, number)) {
        return;
    }
    site_page_add(page, number,
                  place < n_own
                      ? own_row(view, page->arena, place, own, seen)
                      : borrowed_row(view, page->arena, &host, borrowed, seen, place));
}

void site_view_hosts(const struct site_view *view, struct site_page *page,
                     const struct msg_query *query)
{
    struct arena *arena = page->arena;
    int n_own = host_table_count(view->hosts);
    int n_borrowed = consumer_count_hosts(view->consumer);
    struct consumer_host host;
    struct slot_counts own, borrowed;
    int *places, n_places;
    if (view_select_hosts(view, arena, query, &places, &n_places, NULL) != 0) {
        return; /* it was judged before */
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
    count_runs(view, false, &own);
    count_borrowed(view, &borrowed);
    reservation_view_count_hosts(view, &own, &borrowed);
    struct reserves_seen seen;
    reserves_see(view->site, arena, false, &seen);
    for (int i = 0; i < n_places && !page->is_full; i++) {
        add_host(view, page, query, (uint64_t)i + 1, places[i], &own, &borrowed, &seen);
    }
}

/* ---------------------------------------------------------------- exports */

/* "north/1/south": its second part, or all behind that. */
static const char *lease_part(struct arena *arena, const char *lease, int part)
{
    for (int i = 0; i < part; i++) {
        const char *slash = strchr(lease, '/');
        if (slash == NULL) {
            return "";
        }
        lease = slash + 1;
    }
    return part == 2 ? arena_str(arena, lease)
                     : arena_strn(arena, lease, strcspn(lease, "/"));
}

static const char *state_of(const struct msg_state *book)
{
    enum lease_state state = book->is_ended       ? LEASE_ENDED
                             : book->is_withdrawn ? LEASE_DRAINING
                             : book->is_frozen    ? LEASE_INACTIVE
                             : book->is_made      ? LEASE_ACTIVE
                                                  : LEASE_PENDING;
    return msg_lease_state_name(state);
}

static struct value *exported_row(struct arena *arena, const struct msg_state *book,
                                  const struct host_split *split,
                                  const struct slot_counts *tally)
{
    struct lease_resource *seen =
        arena_alloc(arena, (size_t)book->n_resources, sizeof(*seen));
    int n_seen = 0;
    for (int i = 0; i < book->n_resources; i++) {
        if (exported_resources_is_seen_from(&book->resources[i], split->host)) {
            seen[n_seen] = book->resources[i];
            seen[n_seen++].hosts = "";
        }
    }
    struct value *row = value_object(arena);
    value_add_text(arena, row, "host", split->host);
    add_counts(arena, row, split->consumer,
               slot_counts_find(tally, split->host, book->lease));
    value_add_text(arena, row, "lease", book->lease);
    value_add_int(arena, row, "exported", split->n_slots);
    exported_resources_show_memory(arena, row, split->spaces);
    exported_resources_show(arena, row, seen, n_seen);
    return row;
}

static int count_splits(const struct site_view *view)
{
    int count = 0;
    struct msg_state book;
    for (int i = 0; i < provider_count_books(view->provider); i++) {
        const char *id = provider_book_id(view->provider, i);
        count += provider_find_book(view->provider, id, &book) ? book.n_hosts : 0;
    }
    return count;
}

void site_view_exported(const struct site_view *view, struct site_page *page,
                        const struct msg_query *query)
{
    struct arena *arena = page->arena;
    struct msg_state book;
    struct slot_counts tally;
    uint64_t number = 0;
    int n_books = provider_count_books(view->provider);
    slot_counts_init(&tally, arena, count_splits(view));
    for (int i = 0; i < n_books; i++) {
        const char *id = arena_str(arena, provider_book_id(view->provider, i));
        bool is_found = provider_find_book(view->provider, id, &book);
        for (int k = 0; is_found && k < book.n_hosts; k++) {
            slot_counts_add_host(&tally, arena_str(arena, book.hosts[k].host), id);
        }
    }
    slot_counts_sort(&tally);
    count_runs(view, true, &tally);
    for (int i = 0; i < n_books && !page->is_full; i++) {
        bool is_found = provider_find_book(view->provider,
                                           provider_book_id(view->provider, i), &book);
        for (int k = 0; is_found && k < book.n_hosts; k++) {
            number++;
            if (!is_other(query, book.hosts[k].host) && site_page_wants(page, number)) {
                site_page_add(page, number,
                              exported_row(arena, &book, &book.hosts[k], &tally));
            }
        }
    }
}

/* Of all hosts: what a number has room for. */
static void add_spaces(struct space sums[SPACES], const struct space spaces[SPACES])
{
    for (int i = 0; i < SPACES; i++) {
        int more = spaces[i].is_given ? spaces[i].mib : 0;
        sums[i].is_given = sums[i].is_given || spaces[i].is_given;
        sums[i].mib = more < INT_MAX - sums[i].mib ? sums[i].mib + more : INT_MAX;
    }
}

static struct value *export_row(struct arena *arena, const struct msg_state *book,
                                const char *policy)
{
    struct value *row = value_object(arena);
    int64_t n_slots = 0, n_here = 0, n_lent = 0;
    struct space sums[SPACES] = {{0}};
    value_add_text(arena, row, "policy", policy);
    value_add_text(arena, row, "type", msg_lease_type_name(book->type));
    value_add_text(arena, row, "consumer", lease_part(arena, book->lease, 2));
    value_add_text(arena, row, "lease", book->lease);
    struct value *hosts = value_add(arena, row, "hosts", value_array(arena));
    for (int i = 0; i < book->n_hosts; i++) {
        const struct host_split *split = &book->hosts[i];
        n_slots += split->n_slots;
        n_here += split->provider;
        n_lent += split->consumer;
        if (i < SHOWN_HOSTS_MAX) {
            struct value *host = value_add(arena, hosts, NULL, value_object(arena));
            value_add_text(arena, host, "host", split->host);
            value_add_int(arena, host, "slots", split->n_slots);
            exported_resources_show_memory(arena, host, split->spaces);
        }
        add_spaces(sums, split->spaces);
    }
    value_add_int(arena, row, "epoch", (int64_t)book->epoch);
    value_add_text(arena, row, "state", state_of(book));
    value_add_int(arena, row, "slots", n_slots);
    value_add_int(arena, row, "provider", n_here);
    value_add_int(arena, row, "lent", n_lent);
    exported_resources_show_memory(arena, row, sums);
    exported_resources_show(arena, row, book->resources, book->n_resources);
    return row;
}

/* Hosts are still to be picked for its policy: there is no lease. */
static struct value *open_row(struct arena *arena, const struct export_lease *lease)
{
    struct value *row = value_object(arena);
    value_add_text(arena, row, "policy",
                   lease->policy[0] != '\0' ? lease->policy : NULL);
    value_add_text(arena, row, "type", msg_lease_type_name(lease->type));
    value_add_text(arena, row, "consumer", lease->consumer);
    value_add_null(arena, row, "lease");
    value_add(arena, row, "hosts", value_array(arena));
    value_add_int(arena, row, "epoch", 0);
    value_add_text(arena, row, "state", "unpicked");
    value_add_int(arena, row, "slots", 0);
    value_add_int(arena, row, "provider", 0);
    value_add_int(arena, row, "lent", 0);
    return row;
}

static void add_open(const struct site_view *view, struct site_page *page,
                     const struct msg_query *query)
{
    uint64_t number = (uint64_t)provider_count_books(view->provider);
    const struct export_lease *lease;
    for (int i = 0; !page->is_full && (lease = picks_open(view->picks, i)) != NULL;
         i++) {
        number++;
        if (!is_other(query, lease->policy) && site_page_wants(page, number)) {
            site_page_add(page, number, open_row(page->arena, lease));
        }
    }
}

void site_view_exports(const struct site_view *view, struct site_page *page,
                       const struct msg_query *query)
{
    struct arena *arena = page->arena;
    for (int i = 0; i < provider_count_books(view->provider) && !page->is_full; i++) {
        const char *id = provider_book_id(view->provider, i);
        const char *policy = lease_part(arena, id, 1);
        uint64_t number = (uint64_t)i + 1;
        struct msg_state book;
        if ((is_other(query, id) && is_other(query, policy)) ||
            !provider_find_book(view->provider, id, &book) ||
            (book.is_ended && !query->with_ended) || !site_page_wants(page, number)) {
            continue;
        }
        site_page_add(page, number, export_row(arena, &book, policy));
    }
    add_open(view, page, query);
}

/* ---------------------------------------------------------------- which */

struct value *site_view_list(const struct site_view *view, struct arena *arena,
                             const struct msg_query *query, const char **next)
{
    static const char *const names[QUERY_KINDS] = {
        [QUERY_JOBS] = "jobs",       [QUERY_HOSTS] = "hosts", [QUERY_QUEUES] = "queues",
        [QUERY_EXPORTS] = "exports", [QUERY_LOAD] = "load",   [QUERY_USERS] = "users",
        [QUERY_LIMITS] = "limits",
    };
    struct site_page page;
    const char *name = (unsigned)query->kind < QUERY_KINDS ? names[query->kind] : NULL;
    site_page_init(&page, arena, name != NULL ? name : "rows", query);
    if (query->kind == QUERY_JOBS) {
        job_view_list(view, &page, query);
    } else if (query->kind == QUERY_HOSTS && query->exported) {
        site_view_exported(view, &page, query);
    } else if (query->kind == QUERY_HOSTS && query->shared) {
        rusage_view_list_shared(view, &page, query);
    } else if (query->kind == QUERY_HOSTS) {
        site_view_hosts(view, &page, query);
    } else if (query->kind == QUERY_QUEUES) {
        job_view_queues(view, &page, query);
    } else if (query->kind == QUERY_EXPORTS) {
        site_view_exports(view, &page, query);
    } else if (query->kind == QUERY_LOAD) {
        load_view_list(view, &page, query);
    } else if (query->kind == QUERY_USERS) {
        share_view_list(view, &page, query);
    } else if (query->kind == QUERY_LIMITS) {
        limit_view_list(view, &page, query);
    }
    *next = site_page_next(&page);
    return page.root;
}

int site_view_check(const struct site_view *view, struct arena *arena,
                    const struct msg_query *query, struct err *err)
{
    bool is_listing = query->kind == QUERY_LOAD || query->kind == QUERY_HOSTS;
    int *places, n_places;
    return is_listing ? view_select_hosts(view, arena, query, &places, &n_places, err)
                      : 0;
}
