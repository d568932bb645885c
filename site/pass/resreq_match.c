/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_match.c: see resreq_match.h.
 *
 * Resource values are in the table of the table of resources. Status and slots, which
 * only the pass knows, are written there when the first class of the pass reads them. A
 * borrowed host that the table does not know has a row in a table that is filled for
 * one match. What jobs reserve is subtracted in columns of the pass, so that reported
 * values stay as they are. */
#include "site/pass/resreq_match.h"

#include <limits.h>
#include <string.h>

#include "site/config/site_config.h"
#include "site/pass/span_match.h"

/* What a class means in the pass. */
struct match_result {
    bool has_filter, has_rusages;
    const struct place_filter *filter;
    const struct rusage_request *rusages;
    int n_rusages;
};

struct resreq_match {
    struct resreq_cache *cache;
    struct arena *arena;
    struct rusage_pass *rusage_pass;      /* what is left of resources */
    const struct affinity_host *affinity; /* by host; NULL: none takes such jobs */
    struct bindable_hosts *bindable;      /* by request */
    const struct place_host *hosts;
    int n_hosts;
    int *rows;     /* by host: of the table of resources, or -1 - its number among the
                      unknown ones */
    int n_unknown; /* hosts that the table of resources does not know */
    bool is_in_order; /* each host's row is that of its index */
    int64_t local_ms;
    int queue; /* of the class that is matched, if it may preempt; else -1 */
    const char *const *statuses; /* by host; NULL: not needed yet */
    const bool **preemptable;    /* by queue, by host; NULL: not needed yet */
    bool has_begun;              /* the store knows the hosts of the pass */
    bool *is_changed;            /* by block of rows: scratch */
    bool has_state;              /* status, slots and maxslots stand in the table */
    int state_queue;             /* status is as jobs of this queue see it */
    struct resreq_local local;
    /* What is left of the resources that classes of the pass name; NULL numbers: no job
     * reserves any. */
    struct resource_override *remaining;
    int n_remaining, remaining_capacity;
    struct match_result **results; /* by index of the class; NULL: not asked for yet */
    int n_results;
};

static int row_of(const struct host_resources *host_resources, int host,
                  const struct place_host *place)
{
    return place->site[0] == '\0'
               ? host
               : host_resources_find_borrowed(host_resources, place->name);
}

static struct resreq_local local_host(const struct resreq_cache *cache)
{
    const struct resource_table *table = host_resources_values(cache->host_resources);
    const struct site_config *config = cache->config;
    int host = 0;
    while (host < config->n_hosts && !config->hosts[host].is_here) {
        host++;
    }
    host = host < config->n_hosts ? host : 0;
    /* Nodes of Slurm run no own jobs, and have no type. */
    bool has_hosts = config->n_hosts > 0 && !config->is_slurm;
    return (struct resreq_local){
        .type = has_hosts ? resource_table_text(table, host, RESOURCE_TYPE) : "",
        .model = has_hosts ? resource_table_text(table, host, RESOURCE_MODEL) : "",
        .takes_unknown = true,
        .takes_all = !has_hosts, /* local is the type of the borrowed hosts */
    };
}

struct resreq_match *resreq_match_new(struct resreq_cache *cache, struct arena *arena,
                                      const struct place_host *hosts, int n_hosts,
                                      struct rusage_pass *rusage_pass,
                                      const struct affinity_host *affinity,
                                      int64_t local_ms)
{
    struct resreq_match *match = arena_alloc(arena, 1, sizeof(*match));
    match->cache = cache;
    match->arena = arena;
    match->rusage_pass = rusage_pass;
    match->affinity = affinity;
    match->hosts = hosts;
    match->n_hosts = n_hosts;
    match->is_in_order = true;
    match->local_ms = local_ms;
    match->queue = match->state_queue = -1;
    match->local = local_host(cache);
    match->rows = arena_alloc(arena, (size_t)n_hosts, sizeof(*match->rows));
    for (int i = 0; i < n_hosts; i++) {
        match->rows[i] = row_of(cache->host_resources, i, &hosts[i]);
        if (match->rows[i] < 0) {
            match->rows[i] = -1 - match->n_unknown++;
        }
        match->is_in_order = match->is_in_order && match->rows[i] == i;
    }
    return match;
}

const struct match_class *resreq_match_find(const struct resreq_match *match, int queue,
                                            const struct job_spec *spec)
{
    return resreq_cache_find(match->cache, match->arena, queue, spec);
}

static const bool *preemptable_of(struct resreq_match *match, int queue)
{
    const struct resreq_cache *cache = match->cache;
    if (match->preemptable == NULL) {
        match->preemptable = arena_alloc(match->arena, (size_t)cache->config->n_queues,
                                         sizeof(*match->preemptable));
    }
    if (match->preemptable[queue] == NULL) {
        match->preemptable[queue] = host_status_preemptable(
            cache->status, match->arena, match->hosts, match->n_hosts, queue);
    }
    return match->preemptable[queue];
}

/* As jobs of the class that is matched see the host. */
static const char *status_of(struct resreq_match *match, int host)
{
    if (match->statuses == NULL) {
        match->statuses =
            host_status_list(match->cache->status, match->arena, match->local_ms);
    }
    const char *status = match->statuses[host];
    bool is_full = match->queue >= 0 && strcmp(status, "closed_Full") == 0;
    return is_full && preemptable_of(match, match->queue)[host] ? "ok" : status;
}

static void set_state(struct resource_table *table, int row,
                      const struct place_host *host, const char *status)
{
    int n_free = host->max > host->used ? host->max - host->used : 0;
    resource_table_set_text(table, row, RESOURCE_STATUS, status);
    resource_table_set_text(table, row, RESOURCE_HNAME, host->name);
    resource_table_set_flag(table, row, RESOURCE_SERVER, true);
    resource_table_set_number(table, row, RESOURCE_SLOTS, n_free);
    resource_table_set_number(table, row, RESOURCE_MAXSLOTS, host->max);
}

/* Most requirements do not. */
static bool reads_state(const struct resreq *resreq)
{
    static const int ids[] = {RESOURCE_STATUS, RESOURCE_HNAME, RESOURCE_SERVER,
                              RESOURCE_SLOTS, RESOURCE_MAXSLOTS};
    bool reads_any = resreq->order.n_keys > 0; /* hosts that are not ok come last */
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        reads_any = reads_any || resreq_program_reads(&resreq->program, ids[i]);
        for (int k = 0; k < resreq->span.n_same; k++) {
            reads_any = reads_any || resreq->span.same[k] == ids[i];
        }
    }
    return reads_any;
}

static void set_state_columns(struct resreq_match *match)
{
    struct resource_table *table = host_resources_table(match->cache->host_resources);
    bool is_set = match->has_state && match->state_queue == match->queue;
    for (int i = 0; !is_set && i < match->n_hosts; i++) {
        if (match->rows[i] >= 0) {
            set_state(table, match->rows[i], &match->hosts[i], status_of(match, i));
        }
    }
    match->has_state = true;
    match->state_queue = match->queue;
}

/* ---------------------------------------------------------------- what is left */

static const double *remaining_of(struct resreq_match *match, int id)
{
    for (int i = 0; i < match->n_remaining; i++) {
        if (match->remaining[i].id == id) {
            return match->remaining[i].numbers;
        }
    }
    if (match->n_remaining == match->remaining_capacity) {
        int capacity = match->remaining_capacity * 2 + 8;
        struct resource_override *grown =
            arena_alloc(match->arena, (size_t)capacity, sizeof(*grown));
        if (match->n_remaining > 0) {
            memcpy(grown, match->remaining,
                   (size_t)match->n_remaining * sizeof(*grown));
        }
        match->remaining = grown;
        match->remaining_capacity = capacity;
    }
    struct resource_override *left = &match->remaining[match->n_remaining++];
    *left = (struct resource_override){id, rusage_pass_left(match->rusage_pass, id)};
    return left->numbers;
}

static void add_remaining(struct resreq_match *match, int id,
                          struct resource_override *items,
                          struct resource_overrides *remaining)
{
    const double *numbers = remaining_of(match, id);
    if (numbers != NULL && resource_table_find_override(remaining, id) == NULL) {
        items[remaining->n_items++] = (struct resource_override){id, numbers};
    }
}

/* Those of the named resources that jobs reserve. */
static struct resource_overrides find_remaining(struct resreq_match *match,
                                                const struct resreq *resreq)
{
    const struct resreq_program *program = &resreq->program;
    size_t n_most = (size_t)program->n_instrs + (size_t)resreq->order.n_keys;
    struct resource_override *items = arena_alloc(match->arena, n_most, sizeof(*items));
    struct resource_overrides remaining = {.items = items};
    for (int i = 0; i < program->n_instrs; i++) {
        if (program->instrs[i].op == RESREQ_OP_COLUMN) {
            add_remaining(match, program->instrs[i].id, items, &remaining);
        }
    }
    for (int i = 0; i < resreq->order.n_keys; i++) {
        add_remaining(match, resreq->order.keys[i].id, items, &remaining);
    }
    return remaining;
}

static int64_t to_milli(double number)
{
    return (int64_t)(number * 1000);
}

/* Explains by the first host and its first resource of which something is reserved. */
static void explain_reserved(const struct resreq_match *match,
                             const struct resource_overrides *remaining, int row,
                             struct place_reserved *reserved)
{
    const struct resource_table *table =
        host_resources_table(match->cache->host_resources);
    for (int i = 0; i < remaining->n_items && reserved->resource == NULL; i++) {
        int id = remaining->items[i].id;
        double total = resource_table_number(table, row, id);
        double taken = total - remaining->items[i].numbers[row];
        if (taken > 0) {
            reserved->resource = resources_at(match->cache->resources, id)->name;
            reserved->total_milli = to_milli(total);
            reserved->reserved_milli = to_milli(taken);
        }
    }
}

/* The hosts that match by `whole`, which ignores reservations, but not with them; NULL:
 * none. */
static const struct place_reserved *
find_reserved(const struct resreq_match *match,
              const struct resource_overrides *remaining, const uint8_t *whole,
              const uint8_t *matches)
{
    size_t n_hosts = (size_t)match->n_hosts;
    struct place_reserved *reserved = arena_alloc(match->arena, 1, sizeof(*reserved));
    uint8_t *hosts = arena_alloc(match->arena, n_hosts, sizeof(*hosts));
    for (int i = 0; i < match->n_hosts; i++) {
        int row = match->rows[i];
        hosts[i] = row >= 0 && whole[row] && !matches[i];
        if (hosts[i]) {
            explain_reserved(match, remaining, row, reserved);
        }
    }
    reserved->hosts = hosts;
    return reserved->resource != NULL ? reserved : NULL;
}

/* ---------------------------------------------------------------- matching */

/* By row of the table of resources: the rank in the requested order. */
static int *order_rows(struct resreq_match *match, const struct resreq *resreq,
                       const struct resource_overrides *remaining,
                       const uint8_t *matches)
{
    const struct resource_table *table =
        host_resources_table(match->cache->host_resources);
    int n_rows = resource_table_rows(table), n_sorted = 0;
    int *rows = arena_alloc(match->arena, (size_t)n_rows, sizeof(*rows));
    int *places = arena_alloc(match->arena, (size_t)n_rows, sizeof(*places));
    for (int row = 0; row < n_rows; row++) {
        if (matches[row]) {
            rows[n_sorted++] = row;
        }
    }
    resreq_order_sort(&resreq->order, table, remaining, rows, n_sorted);
    for (int i = 0; i < n_sorted; i++) {
        places[rows[i]] = i;
    }
    return places;
}

static uint8_t *run(const struct resreq_match *match, const struct resreq *resreq,
                    const struct resource_table *table,
                    const struct resource_overrides *remaining)
{
    size_t n_rows = (size_t)resource_table_rows(table);
    uint8_t *matches = arena_alloc(match->arena, n_rows + 1, sizeof(*matches));
    resreq_program_run(&resreq->program, table, remaining, &match->local, matches);
    return matches;
}

/* By number of the unknown host. */
static const uint8_t *match_unknown(struct resreq_match *match,
                                    const struct resreq *resreq)
{
    bool has_state = reads_state(resreq);
    struct resource_table *table = resource_table_new(match->cache->resources);
    resource_table_resize(table, match->n_unknown);
    for (int i = 0; i < match->n_hosts; i++) {
        if (has_state && match->rows[i] < 0) {
            set_state(table, -1 - match->rows[i], &match->hosts[i],
                      status_of(match, i));
        }
    }
    const uint8_t *matches = run(match, resreq, table, NULL);
    resource_table_free(table);
    return matches;
}

static const uint8_t *matches_by_host(struct resreq_match *match,
                                      const struct resreq *resreq, const uint8_t *known)
{
    if (match->is_in_order) {
        return known;
    }
    const uint8_t *unknown = match_unknown(match, resreq);
    uint8_t *matches = arena_alloc(match->arena, (size_t)match->n_hosts, 1);
    for (int i = 0; i < match->n_hosts; i++) {
        int row = match->rows[i];
        matches[i] = row >= 0 ? known[row] : unknown[-1 - row];
    }
    return matches;
}

static const int *places_by_host(struct resreq_match *match, const int *order)
{
    if (match->is_in_order) {
        return order;
    }
    int *places = arena_alloc(match->arena, (size_t)match->n_hosts, sizeof(*places));
    for (int i = 0; i < match->n_hosts; i++) {
        int row = match->rows[i];
        places[i] = row >= 0 ? order[row] : INT_MAX; /* unknown: last */
    }
    return places;
}

static const struct place_span *find_span(const struct resreq_match *match,
                                          const struct resreq *resreq,
                                          const uint8_t *matches)
{
    struct span_match_hosts hosts = {
        .hosts = match->hosts,
        .n_hosts = match->n_hosts,
        .table = host_resources_table(match->cache->host_resources),
        .units = &match->cache->config->units,
        .rows = match->rows,
        .matches = matches};
    return span_match_make(match->arena, &resreq->span, &hosts);
}

/* The hosts that match and are in a compute unit: no others are considered. */
static const uint8_t *only_in_units(struct resreq_match *match,
                                    const struct place_filter *filter)
{
    uint8_t *matches =
        arena_copy(match->arena, filter->matches, (size_t)match->n_hosts);
    for (int i = 0; i < match->n_hosts; i++) {
        matches[i] = matches[i] && filter->span->units->unit_of[i] >= 0;
    }
    return matches;
}

/* Matches by what is left (NULL: by what hosts report). NULL: all hosts, in any order.
 */
static const struct place_filter *
match_hosts(struct resreq_match *match, const struct resreq *resreq,
            const struct resource_overrides *remaining)
{
    bool has_order = resreq->order.n_keys > 0;
    if (reads_state(resreq)) {
        set_state_columns(match);
    }
    const struct resource_table *table =
        host_resources_table(match->cache->host_resources);
    const uint8_t *known = run(match, resreq, table, remaining);
    struct place_filter *filter = arena_alloc(match->arena, 1, sizeof(*filter));
    filter->matches = matches_by_host(match, resreq, known);
    filter->ranks =
        has_order ? places_by_host(match, order_rows(match, resreq, remaining, known))
                  : NULL;
    filter->span = find_span(match, resreq, filter->matches);
    bool is_all = !has_order && filter->span == NULL &&
                  memchr(filter->matches, 0, (size_t)match->n_hosts) == NULL;
    if (!is_all && remaining != NULL && remaining->n_items > 0) {
        const uint8_t *whole = run(match, resreq, table, NULL);
        filter->reserved = find_reserved(match, remaining, whole, filter->matches);
    }
    if (filter->span != NULL && filter->span->units != NULL) {
        filter->matches = only_in_units(match, filter);
    }
    return is_all ? NULL : filter;
}

static const struct place_filter *no_host(struct resreq_match *match)
{
    struct place_filter *filter = arena_alloc(match->arena, 1, sizeof(*filter));
    filter->matches = arena_alloc(match->arena, (size_t)match->n_hosts, 1);
    return filter;
}

static const struct place_filter *match_remaining(struct resreq_match *match,
                                                  const struct resreq *resreq)
{
    struct resource_overrides remaining = find_remaining(match, resreq);
    return match_hosts(match, resreq, &remaining);
}

/* ---------------------------------------------------------------- earlier passes */

/* What has changed of all that a requirement reads. */
struct changes {
    uint64_t since; /* generation */
    bool has_any, has_left;
    bool is_everywhere; /* else in the blocks of match->is_changed */
};

static void begin_store(struct resreq_match *match)
{
    struct resreq_cache *cache = match->cache;
    const struct resource_table *table = host_resources_values(cache->host_resources);
    if (!match->has_begun) {
        match->has_begun = true;
        value_watch_begin(cache->watch, table);
        match_store_begin(cache->store, value_watch_generation(cache->watch),
                          match->rows, match->n_hosts);
        match->is_changed = arena_alloc(
            match->arena, (size_t)resource_table_rows(table) / RESOURCE_BLOCK + 1, 1);
    }
}

static int count_blocks(const struct resreq_match *match)
{
    int n_rows =
        resource_table_rows(host_resources_values(match->cache->host_resources));
    return (n_rows + RESOURCE_BLOCK - 1) / RESOURCE_BLOCK;
}

static void add_change(const struct resreq_match *match, struct changes *changes,
                       struct watched_column column)
{
    if (column.changed <= changes->since) {
        return;
    }
    if (!changes->has_any) {
        memset(match->is_changed, 0, (size_t)count_blocks(match));
    }
    changes->has_any = true;
    for (int i = 0; i < count_blocks(match); i++) {
        match->is_changed[i] =
            match->is_changed[i] || column.blocks[i] > changes->since;
    }
}

/* A number, less what jobs reserve; and which of it they do (place_reserved). */
static void add_number(struct resreq_match *match, struct changes *changes, int id)
{
    struct value_watch *watch = match->cache->watch;
    const double *numbers = remaining_of(match, id);
    add_change(match, changes, value_watch_left(watch, id, numbers));
    if (numbers != NULL) {
        changes->has_left = true;
        add_change(match, changes, value_watch_column(watch, id));
    }
}

static void add_program(struct resreq_match *match, struct changes *changes,
                        const struct resreq_program *program)
{
    struct value_watch *watch = match->cache->watch;
    for (int i = 0; i < program->n_instrs; i++) {
        const struct resreq_instr *instr = &program->instrs[i];
        struct watched_column column;
        switch ((int)instr->op) {
        case RESREQ_OP_COLUMN:
            add_number(match, changes, instr->id);
            break;
        case RESREQ_OP_LOCAL: /* the local host may be of another type, to all */
            column = value_watch_column(watch, instr->id);
            changes->is_everywhere =
                changes->is_everywhere || column.changed > changes->since;
            break;
        case RESREQ_OP_FLAG:
        case RESREQ_OP_HAS:
        case RESREQ_OP_TEXT:
            add_change(match, changes, value_watch_column(watch, instr->id));
            break;
        default: /* reads no values */
            break;
        }
    }
    changes->is_everywhere =
        changes->is_everywhere ||
        (!program->takes_exclusive && value_watch_exclusive(watch) > changes->since);
}

static struct changes find_changes(struct resreq_match *match,
                                   const struct resreq *resreq, uint64_t since)
{
    struct changes changes = {.since = since};
    struct value_watch *watch = match->cache->watch;
    add_program(match, &changes, &resreq->program);
    for (int i = 0; i < resreq->order.n_keys; i++) {
        add_number(match, &changes, resreq->order.keys[i].id);
    }
    if (resreq->order.n_keys > 0) {
        add_change(match, &changes, value_watch_column(watch, RESOURCE_CPUF));
        add_change(match, &changes, value_watch_column(watch, RESOURCE_STATUS));
    }
    for (int i = 0; i < resreq->span.n_same; i++) {
        add_change(match, &changes, value_watch_column(watch, resreq->span.same[i]));
    }
    changes.has_any = changes.has_any || changes.is_everywhere;
    return changes;
}

/* What the requirement reads is all watched. */
static bool is_watched(const struct resreq_match *match,
                       const struct match_class *class)
{
    /* Status depends on the queue, tiles of '!' on the slots of hosts, and the state of
     * hosts without a row stands in no table. */
    return class->queue < 0 && class->resreq.span.kind != RESREQ_SPAN_PTILE_ALL &&
           (match->n_unknown == 0 || !reads_state(&class->resreq));
}

/* The filter before, with the changed blocks run again. */
static const struct place_filter *match_changed(struct resreq_match *match,
                                                const struct resreq *resreq,
                                                const struct place_filter *before)
{
    const struct resource_table *table =
        host_resources_values(match->cache->host_resources);
    struct resource_overrides remaining = find_remaining(match, resreq);
    struct place_filter *filter = arena_alloc(match->arena, 1, sizeof(*filter));
    size_t n_hosts = (size_t)match->n_hosts;
    /* The table may have rows of hosts that this pass does not have, behind the others.
     */
    uint8_t *matches =
        arena_alloc(match->arena, n_hosts + (size_t)resource_table_rows(table) + 1, 1);
    if (before != NULL) {
        memcpy(matches, before->matches, n_hosts);
    } else {
        memset(matches, 1, n_hosts);
    }
    for (int i = 0; i < count_blocks(match); i++) {
        if (match->is_changed[i]) {
            resreq_program_run_block(&resreq->program, table, &remaining, &match->local,
                                     i * RESOURCE_BLOCK, matches);
        }
    }
    filter->matches = matches;
    return memchr(matches, 0, n_hosts) == NULL ? NULL : filter;
}

/* Evaluates the requirement again only where it reads values that have changed since it
 * was evaluated. */
static const struct place_filter *match_class(struct resreq_match *match,
                                              const struct match_class *class)
{
    const struct resreq *resreq = &class->resreq;
    if (!is_watched(match, class)) {
        return match_remaining(match, resreq);
    }
    begin_store(match);
    if (reads_state(resreq)) {
        set_state_columns(match);
    }
    struct stored_match *stored = match_store_at(match->cache->store, class->index);
    struct changes changes = find_changes(match, resreq, stored->generation);
    bool is_stored = stored->generation > 0 && stored->has_left == changes.has_left;
    if (is_stored && !changes.has_any) {
        return match_store_filter(stored);
    }
    bool is_plain = resreq->order.n_keys == 0 && match->is_in_order &&
                    resreq->span.kind == RESREQ_SPAN_NONE && resreq->span.n_same == 0 &&
                    !resreq->span.cu.is_given;
    const struct place_filter *filter =
        is_stored && is_plain && !changes.has_left && !changes.is_everywhere
            ? match_changed(match, resreq, match_store_filter(stored))
            : match_remaining(match, resreq);
    return match_store_set(match->cache->store, stored, filter, changes.has_left);
}

/* ---------------------------------------------------------------- classes */

static struct match_result *result_of(struct resreq_match *match,
                                      const struct match_class *class)
{
    if (class->index >= match->n_results) {
        int n_results = class->index * 2 + 64;
        struct match_result **grown =
            arena_alloc(match->arena, (size_t)n_results, sizeof(*grown));
        if (match->n_results > 0) {
            memcpy(grown, match->results, (size_t)match->n_results * sizeof(*grown));
        }
        match->results = grown;
        match->n_results = n_results;
    }
    if (match->results[class->index] == NULL) {
        match->results[class->index] =
            arena_alloc(match->arena, 1, sizeof(struct match_result));
    }
    return match->results[class->index];
}

void resreq_match_set_class(struct resreq_match *match, const struct match_class *class)
{
    match->queue = class->queue;
}

const struct place_filter *resreq_match_filter(struct resreq_match *match,
                                               const struct match_class *class)
{
    struct match_result *result = result_of(match, class);
    if (!result->has_filter) {
        result->has_filter = true;
        resreq_match_set_class(match, class);
        result->filter = class->is_bad ? no_host(match) : match_class(match, class);
    }
    return result->filter;
}

/* ---------------------------------------------------------------- affinity */

/* Whether a task of the request fits on a host. */
enum bindable { BINDABLE_NEVER, BINDABLE_LATER, BINDABLE_NOW };

struct bindable_hosts {
    const struct affinity_request *request;
    uint8_t *hosts; /* enum bindable */
    struct bindable_hosts *next;
};

static enum bindable find_bindable(const struct affinity_host *host,
                                   const struct affinity_request *request)
{
    if (host->topology == NULL) {
        return BINDABLE_NEVER;
    }
    return affinity_fit(host->topology, host->use, request, 1, NULL) == 1 ? BINDABLE_NOW
           : host->use != NULL &&
                   affinity_fit(host->topology, NULL, request, 1, NULL) == 1
               ? BINDABLE_LATER
               : BINDABLE_NEVER;
}

static const uint8_t *bindable_of(struct resreq_match *match,
                                  const struct affinity_request *request)
{
    struct bindable_hosts *at = match->bindable;
    while (at != NULL && !affinity_is_same(at->request, request)) {
        at = at->next;
    }
    if (at == NULL) {
        at = arena_alloc(match->arena, 1, sizeof(*at));
        at->request = request;
        at->hosts = arena_alloc(match->arena, (size_t)match->n_hosts, 1);
        for (int i = 0; i < match->n_hosts && match->affinity != NULL; i++) {
            at->hosts[i] = (uint8_t)find_bindable(&match->affinity[i], request);
        }
        at->next = match->bindable;
        match->bindable = at;
    }
    return at->hosts;
}

/* Of the filter's hosts those where a task can be bound; the others that could have one
 * if no job were there are reserved by these. */
static const struct place_filter *only_bindable(struct resreq_match *match,
                                                const struct resreq *resreq,
                                                const struct place_filter *filter)
{
    size_t n_hosts = (size_t)match->n_hosts;
    const uint8_t *bindable = bindable_of(match, &resreq->affinity);
    struct place_filter *narrow = arena_copy(match->arena, filter, sizeof(*narrow));
    uint8_t *matches = arena_copy(match->arena, filter->matches, n_hosts);
    struct place_reserved *reserved = arena_alloc(match->arena, 1, sizeof(*reserved));
    uint8_t *hosts = arena_alloc(match->arena, n_hosts, sizeof(*hosts));
    if (filter->reserved != NULL) {
        *reserved = *filter->reserved;
        memcpy(hosts, filter->reserved->hosts, n_hosts);
    }
    for (int i = 0; i < match->n_hosts; i++) {
        if (matches[i] && bindable[i] == BINDABLE_LATER) {
            const struct affinity_host *host = &match->affinity[i];
            hosts[i] = 1;
            if (reserved->resource == NULL) {
                reserved->resource = cpu_level_name(CPU_LEVEL_THREAD);
                reserved->total_milli = host->topology->n_units * INT64_C(1000);
                reserved->reserved_milli =
                    cpu_set_count(&host->use->used) * INT64_C(1000);
            }
        }
        matches[i] = matches[i] && bindable[i] == BINDABLE_NOW;
        hosts[i] = hosts[i] && bindable[i] != BINDABLE_NEVER;
    }
    narrow->matches = matches;
    reserved->hosts = hosts;
    narrow->reserved = reserved->resource != NULL ? reserved : NULL;
    return narrow;
}

/* ---------------------------------------------------------------- alternatives */

/* An alternative always has a filter of its own. */
static const struct place_filter *alternative_filter(struct resreq_match *match,
                                                     const struct resreq *resreq)
{
    const struct place_filter *filter = match_remaining(match, resreq);
    if (filter == NULL) {
        struct place_filter *any = arena_alloc(match->arena, 1, sizeof(*any));
        uint8_t *matches = arena_alloc(match->arena, (size_t)match->n_hosts, 1);
        memset(matches, 1, (size_t)match->n_hosts);
        any->matches = matches;
        filter = any;
    }
    return resreq->affinity.is_given ? only_bindable(match, resreq, filter) : filter;
}

static int count_usages(const struct resreq *resreq)
{
    return resreq->rusages.n_alternatives > 0 ? resreq->rusages.n_alternatives : 1;
}

/* For each alternative its rusages, or one that reserves nothing. */
static const struct rusage_request *list_alternatives(struct resreq_match *match,
                                                      const struct resreq *resreq,
                                                      int *n_rusages)
{
    *n_rusages = 0;
    for (const struct resreq *at = resreq; at != NULL; at = at->next) {
        *n_rusages += count_usages(at);
    }
    struct rusage_request *rusages =
        arena_alloc(match->arena, (size_t)*n_rusages, sizeof(*rusages));
    for (int i = 0; resreq != NULL; resreq = resreq->next) {
        const struct rusage_request *own =
            rusage_pass_requests(match->rusage_pass, &resreq->rusages);
        const struct place_filter *filter = alternative_filter(match, resreq);
        for (int k = 0; k < count_usages(resreq); k++, i++) {
            if (own != NULL) {
                rusages[i] = own[k];
            }
            rusages[i].filter = filter;
            rusages[i].delay_ms = resreq->delay_ms;
            rusages[i].is_part = resreq->is_compound;
            rusages[i].n_slots = resreq->n_slots;
            rusages[i].affinity = resreq->affinity.is_given ? &resreq->affinity : NULL;
        }
    }
    return rusages;
}

const struct rusage_request *resreq_match_rusages(struct resreq_match *match,
                                                  const struct match_class *class,
                                                  int *n_rusages)
{
    struct match_result *result = result_of(match, class);
    const struct resreq *resreq = &class->resreq;
    if (!result->has_rusages && !class->is_bad) {
        resreq_match_set_class(match, class);
        result->n_rusages = resreq->rusages.n_alternatives;
        result->rusages =
            resreq->next != NULL || resreq->is_compound || resreq->affinity.is_given
                ? list_alternatives(match, resreq, &result->n_rusages)
                : rusage_pass_requests(match->rusage_pass, &resreq->rusages);
    }
    result->has_rusages = true;
    *n_rusages = result->n_rusages;
    return result->rusages;
}

int resreq_match_select(struct resreq_match *match, enum resreq_match_listing listing,
                        const char *string, const struct place_filter **filter,
                        struct err *err)
{
    struct resreq_rules rules =
        resreq_config_rules(match->cache->config, match->cache->resources);
    struct resreq_strings from = {.strings = &string, .n_strings = 1};
    struct resreq_notes notes = {.arena = match->arena};
    struct resreq_error fault;
    struct resreq resreq;
    rules.reading = RESREQ_READ_ALL;
    rules.defaults_any = listing == RESREQ_MATCH_LOAD;
    int code = resreq_compile(match->arena, &rules, &from, &resreq, &notes, &fault);
    if (code != 0) {
        return err_set(err, code, "%s Column %d: %s.", fault.text, fault.at + 1,
                       fault.hint);
    }
    if (listing == RESREQ_MATCH_LOAD && resreq.order.n_keys == 0) {
        resreq_order_default(&resreq.order);
    }
    *filter = listing == RESREQ_MATCH_LOAD ? match_hosts(match, &resreq, NULL)
                                           : match_remaining(match, &resreq);
    return 0;
}

const int *resreq_match_loads(struct resreq_match *match)
{
    struct resreq by_load = {.next = NULL};
    resreq_order_default(&by_load.order);
    struct resource_overrides remaining = find_remaining(match, &by_load);
    const struct resource_table *table =
        host_resources_values(match->cache->host_resources);
    size_t n_hosts = (size_t)match->n_hosts;
    int *rows = arena_alloc(match->arena, n_hosts, sizeof(*rows));
    int *hosts = arena_alloc(match->arena, n_hosts, sizeof(*hosts));
    int *ranks = arena_alloc(match->arena, n_hosts, sizeof(*ranks));
    int *loads = arena_alloc(match->arena, n_hosts, sizeof(*loads));
    int n_known = 0;
    for (int i = 0; i < match->n_hosts; i++) {
        loads[i] = INT_MAX;
        if (match->rows[i] >= 0 &&
            resource_table_has(table, match->rows[i], RESOURCE_R15S)) {
            hosts[n_known] = i;
            rows[n_known++] = match->rows[i];
        }
    }
    resreq_order_rank(&by_load.order, table, &remaining, rows, n_known, ranks);
    for (int i = 0; i < n_known; i++) {
        loads[hosts[i]] = ranks[i];
    }
    return loads;
}
