/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_match.c: see resreq_match.h.
 *
 * Resource values are in the table of the table of resources. A borrowed host that they
 * do not know has a row in a second table. Status and slots, which only the pass knows,
 * are written when the first class of the pass reads them. What jobs reserve is
 * subtracted in columns of the pass, so that reported values stay as they are. */
#include "site/pass/resreq_match.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "sched/resreq/resreq.h"
#include "site/config/resreq_config.h"
#include "site/pass/span_match.h"
#include "site/resource/host_resources.h"

/* One or two kilobytes each. Beyond that all are dropped and compiled again. */
enum { CLASSES_MAX = 20000 };

struct match_class {
    char *key; /* the strings, each with its NUL */
    struct resreq resreq;
    bool is_bad;   /* the strings are not valid any more: no host matches */
    uint64_t pass; /* the pass of `filter` */
    const struct place_filter *filter;
    uint64_t rusages_pass; /* the pass of `rusages` */
    const struct rusage_request *rusages;
    int n_rusages;
    UT_hash_handle hh;
};

struct resreq_match {
    const struct site_config *config;
    struct host_resources *host_resources;
    const struct resources *resources; /* of the table of resources */
    struct arena arena;                /* of the classes */
    uint64_t generation;               /* how often the classes were dropped */
    struct match_class *by_key;
    struct resource_table *unknown; /* hosts of unknown resources */
    /* The pass: */
    uint64_t pass;
    struct arena *pass_arena;
    struct rusage_pass *rusage_pass; /* what is left of resources */
    const struct place_host *hosts;
    int n_hosts;
    int *rows; /* by host: of the table of resources, or -1 - the unknown one's */
    bool is_in_order; /* each host's row is that of its index */
    bool has_state;   /* status, slots and maxslots stand in the tables */
    struct resreq_local local;
    /* What is left of the resources that classes of the pass name; NULL numbers: no job
     * reserves any. */
    struct resource_override *remaining;
    int n_remaining, remaining_capacity;
};

struct resreq_match *resreq_match_new(const struct site_config *config,
                                      struct host_resources *host_resources)
{
    struct resreq_match *match = mem_alloc(1, sizeof(*match));
    match->config = config;
    match->host_resources = host_resources;
    match->resources = host_resources_catalogue(host_resources);
    match->unknown = resource_table_new(match->resources);
    arena_init(&match->arena);
    return match;
}

void resreq_match_free(struct resreq_match *match)
{
    if (match == NULL) {
        return;
    }
    HASH_CLEAR(hh, match->by_key);
    resource_table_free(match->unknown);
    arena_release(&match->arena);
    free(match);
}

/* ---------------------------------------------------------------- compiled once */

static const struct application *application_of(const struct resreq_match *match,
                                                const struct job_spec *spec)
{
    return spec->app == NULL || spec->app[0] == '\0'
               ? NULL
               : application_find(match->config->applications,
                                  match->config->n_applications, spec->app);
}

static int compile(const struct resreq_match *match, struct arena *arena, int queue,
                   const struct job_spec *spec, struct resreq *resreq,
                   struct resreq_notes *notes, struct resreq_error *fault)
{
    struct resreq_rules rules = resreq_config_rules(match->config, match->resources);
    struct resreq_strings from = {
        .queue = match->config->queues[queue].res_req,
        .resrsv_limit = match->config->queues[queue].resrsv_limit,
        .strings = spec->res_reqs,
        .n_strings = spec->n_res_reqs,
    };
    const struct application *app = application_of(match, spec);
    from.application = app != NULL ? app->res_req : NULL;
    return resreq_compile(arena, &rules, &from, resreq, notes, fault);
}

/* Checks each alternative. */
static int check_ranges(const struct resreq_match *match, struct arena *arena,
                        const struct resrsv_limits *ranges, const struct resreq *resreq,
                        struct resreq_error *fault)
{
    int code = 0;
    for (; resreq != NULL && code == 0; resreq = resreq->next) {
        code = resrsv_limit_check(arena, match->resources, ranges, &resreq->rusages,
                                  fault);
    }
    return code;
}

int resreq_match_check(struct resreq_match *match, int queue,
                       const struct job_spec *spec, struct resreq_notes *notes,
                       struct resreq_error *fault)
{
    const char *range = match->config->queues[queue].resrsv_limit;
    struct resrsv_limits ranges;
    struct resreq resreq;
    int code = compile(match, notes->arena, queue, spec, &resreq, notes, fault);
    if (code != 0 || range == NULL) {
        return code;
    }
    code = resrsv_limit_parse(notes->arena, match->resources, range, &ranges, fault);
    return code != 0 ? code
                     : check_ranges(match, notes->arena, &ranges, &resreq, fault);
}

bool resreq_match_has_alternatives(struct resreq_match *match, struct arena *arena,
                                   int queue, const struct job_spec *spec)
{
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    return compile(match, arena, queue, spec, &resreq, &notes, &fault) == 0 &&
           (resreq.next != NULL || resreq.rusages.n_alternatives > 1);
}

static char *put_text(char *at, const char *text)
{
    size_t size = strlen(text) + 1;
    return (char *)memcpy(at, text, size) + size;
}

/* The key holds exactly what is compiled, so that queues with the same strings share a
 * class: "1mem > 5\0[mem=9]\0app\0swp > 15\0", with 0 for a queue without RES_REQ. In
 * the arena of the pass. */
static const char *key_of(const struct resreq_match *match, int queue,
                          const struct job_spec *spec, size_t *length)
{
    const char *of_queue = match->config->queues[queue].res_req;
    const char *range = match->config->queues[queue].resrsv_limit;
    const char *app = spec->app != NULL ? spec->app : "";
    range = range != NULL ? range : "";
    size_t size = 1 + strlen(of_queue != NULL ? of_queue : "") + 1 + strlen(range) + 1 +
                  strlen(app) + 1;
    for (int i = 0; i < spec->n_res_reqs; i++) {
        size += strlen(spec->res_reqs[i]) + 1;
    }
    char *key = arena_alloc(match->pass_arena, size, 1), *at = key;
    *at++ = of_queue != NULL ? '1' : '0';
    at = put_text(at, of_queue != NULL ? of_queue : "");
    at = put_text(at, range);
    at = put_text(at, app);
    for (int i = 0; i < spec->n_res_reqs; i++) {
        at = put_text(at, spec->res_reqs[i]);
    }
    *length = size;
    return key;
}

struct match_class *resreq_match_find(struct resreq_match *match, int queue,
                                      const struct job_spec *spec)
{
    struct match_class *class;
    size_t length;
    const char *key = key_of(match, queue, spec, &length);
    HASH_FIND(hh, match->by_key, key, length, class);
    if (class != NULL) {
        return class;
    }
    struct resreq_notes notes = {.arena = &match->arena};
    struct resreq_error fault;
    class = arena_alloc(&match->arena, 1, sizeof(*class));
    class->key = arena_copy(&match->arena, key, length);
    class->is_bad =
        compile(match, &match->arena, queue, spec, &class->resreq, &notes, &fault) != 0;
    HASH_ADD_KEYPTR(hh, match->by_key, class->key, length, class);
    return class;
}

/* ---------------------------------------------------------------- the pass */

static int row_of(const struct host_resources *host_resources, int host,
                  const struct place_host *place)
{
    return place->site[0] == '\0'
               ? host
               : host_resources_find_borrowed(host_resources, place->name);
}

static struct resreq_local local_host(const struct resreq_match *match)
{
    struct resource_table *table = host_resources_table(match->host_resources);
    int host = 0;
    while (host < match->config->n_hosts && !match->config->hosts[host].is_here) {
        host++;
    }
    host = host < match->config->n_hosts ? host : 0;
    if (match->config->n_hosts == 0) {
        return (struct resreq_local){.type = "", .model = "", .takes_unknown = true};
    }
    return (struct resreq_local){
        .type = resource_table_text(table, host, RESOURCE_TYPE),
        .model = resource_table_text(table, host, RESOURCE_MODEL),
        .takes_unknown = true,
    };
}

void resreq_match_begin_pass(struct resreq_match *match, struct arena *arena,
                             const struct place_host *hosts, int n_hosts,
                             struct rusage_pass *rusage_pass)
{
    int n_unknown = 0;
    if (HASH_COUNT(match->by_key) > CLASSES_MAX) {
        HASH_CLEAR(hh, match->by_key);
        match->by_key = NULL;
        arena_clear(&match->arena);
        match->generation++;
    }
    match->pass++;
    match->pass_arena = arena;
    match->rusage_pass = rusage_pass;
    match->hosts = hosts;
    match->n_hosts = n_hosts;
    match->is_in_order = true;
    match->has_state = false;
    match->local = local_host(match);
    match->n_remaining = match->remaining_capacity = 0;
    match->rows = arena_alloc(arena, (size_t)n_hosts, sizeof(*match->rows));
    for (int i = 0; i < n_hosts; i++) {
        match->rows[i] = row_of(match->host_resources, i, &hosts[i]);
        if (match->rows[i] < 0) {
            resource_table_resize(match->unknown, n_unknown + 1);
            resource_table_set_text(match->unknown, n_unknown, RESOURCE_HNAME,
                                    hosts[i].name);
            match->rows[i] = -1 - n_unknown++;
        }
        match->is_in_order = match->is_in_order && match->rows[i] == i;
    }
    resource_table_resize(match->unknown, n_unknown);
}

static void set_state(struct resource_table *table, int row,
                      const struct place_host *host)
{
    int n_free = host->max > host->used ? host->max - host->used : 0;
    resource_table_set_text(table, row, RESOURCE_STATUS,
                            !host->is_open ? "unavail"
                            : n_free == 0  ? "closed_Full"
                                           : "ok"); /* as `hosts` shows it */
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
    struct resource_table *known = host_resources_table(match->host_resources);
    if (match->has_state) {
        return;
    }
    match->has_state = true;
    for (int i = 0; i < match->n_hosts; i++) {
        int row = match->rows[i];
        bool is_known = row >= 0;
        set_state(is_known ? known : match->unknown, is_known ? row : -1 - row,
                  &match->hosts[i]);
    }
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
            arena_alloc(match->pass_arena, (size_t)capacity, sizeof(*grown));
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
    struct resource_override *items =
        arena_alloc(match->pass_arena, n_most, sizeof(*items));
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
    const struct resource_table *table = host_resources_table(match->host_resources);
    for (int i = 0; i < remaining->n_items && reserved->resource == NULL; i++) {
        int id = remaining->items[i].id;
        double total = resource_table_number(table, row, id);
        double taken = total - remaining->items[i].numbers[row];
        if (taken > 0) {
            reserved->resource = resources_at(match->resources, id)->name;
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
    struct place_reserved *reserved =
        arena_alloc(match->pass_arena, 1, sizeof(*reserved));
    uint8_t *hosts = arena_alloc(match->pass_arena, n_hosts, sizeof(*hosts));
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
    const struct resource_table *table = host_resources_table(match->host_resources);
    int n_rows = resource_table_rows(table), n_sorted = 0;
    int *rows = arena_alloc(match->pass_arena, (size_t)n_rows, sizeof(*rows));
    int *places = arena_alloc(match->pass_arena, (size_t)n_rows, sizeof(*places));
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

static uint8_t *run(struct resreq_match *match, const struct resreq *resreq,
                    const struct resource_table *table,
                    const struct resource_overrides *remaining)
{
    size_t n_rows = (size_t)resource_table_rows(table);
    uint8_t *matches = arena_alloc(match->pass_arena, n_rows + 1, sizeof(*matches));
    resreq_program_run(&resreq->program, table, remaining, &match->local, matches);
    return matches;
}

static const uint8_t *matches_by_host(struct resreq_match *match,
                                      const struct resreq *resreq, const uint8_t *known)
{
    if (match->is_in_order) {
        return known;
    }
    const uint8_t *unknown = run(match, resreq, match->unknown, NULL);
    uint8_t *matches = arena_alloc(match->pass_arena, (size_t)match->n_hosts, 1);
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
    int *places =
        arena_alloc(match->pass_arena, (size_t)match->n_hosts, sizeof(*places));
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
    struct span_match_hosts hosts = {.hosts = match->hosts,
                                     .n_hosts = match->n_hosts,
                                     .table =
                                         host_resources_table(match->host_resources),
                                     .rows = match->rows,
                                     .matches = matches};
    return span_match_make(match->pass_arena, &resreq->span, &hosts);
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
    const struct resource_table *table = host_resources_table(match->host_resources);
    const uint8_t *known = run(match, resreq, table, remaining);
    struct place_filter *filter = arena_alloc(match->pass_arena, 1, sizeof(*filter));
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
    return is_all ? NULL : filter;
}

static const struct place_filter *no_host(struct resreq_match *match)
{
    struct place_filter *filter = arena_alloc(match->pass_arena, 1, sizeof(*filter));
    filter->matches = arena_alloc(match->pass_arena, (size_t)match->n_hosts, 1);
    return filter;
}

static const struct place_filter *match_remaining(struct resreq_match *match,
                                                  const struct resreq *resreq)
{
    struct resource_overrides remaining = find_remaining(match, resreq);
    return match_hosts(match, resreq, &remaining);
}

uint64_t resreq_match_generation(const struct resreq_match *match)
{
    return match->generation;
}

const struct place_filter *resreq_match_filter(struct resreq_match *match,
                                               struct match_class *class)
{
    if (class->pass != match->pass) {
        class->pass = match->pass;
        class->filter =
            class->is_bad ? no_host(match) : match_remaining(match, &class->resreq);
    }
    return class->filter;
}

/* An alternative always has a filter of its own. */
static const struct place_filter *alternative_filter(struct resreq_match *match,
                                                     const struct resreq *resreq)
{
    const struct place_filter *filter = match_remaining(match, resreq);
    if (filter != NULL) {
        return filter;
    }
    struct place_filter *any = arena_alloc(match->pass_arena, 1, sizeof(*any));
    uint8_t *matches = arena_alloc(match->pass_arena, (size_t)match->n_hosts, 1);
    memset(matches, 1, (size_t)match->n_hosts);
    any->matches = matches;
    return any;
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
        arena_alloc(match->pass_arena, (size_t)*n_rusages, sizeof(*rusages));
    for (int i = 0; resreq != NULL; resreq = resreq->next) {
        const struct rusage_request *own =
            rusage_pass_requests(match->rusage_pass, &resreq->rusages);
        const struct place_filter *filter = alternative_filter(match, resreq);
        for (int k = 0; k < count_usages(resreq); k++, i++) {
            if (own != NULL) {
                rusages[i] = own[k];
            }
            rusages[i].filter = filter;
        }
    }
    return rusages;
}

const struct rusage_request *resreq_match_rusages(struct resreq_match *match,
                                                  struct match_class *class,
                                                  int *n_rusages)
{
    if (class->rusages_pass != match->pass) {
        class->rusages_pass = match->pass;
        class->n_rusages = class->is_bad ? 0 : class->resreq.rusages.n_alternatives;
        class->rusages =
            class->n_rusages == 0
                ? NULL
                : rusage_pass_requests(match->rusage_pass, &class->resreq.rusages);
        if (!class->is_bad && class->resreq.next != NULL) {
            class->rusages =
                list_alternatives(match, &class->resreq, &class->n_rusages);
        }
    }
    *n_rusages = class->n_rusages;
    return class->rusages;
}

int resreq_match_select(struct resreq_match *match, enum resreq_match_listing listing,
                        const char *string, const struct place_filter **filter,
                        struct err *err)
{
    struct resreq_rules rules = resreq_config_rules(match->config, match->resources);
    struct resreq_strings from = {.strings = &string, .n_strings = 1};
    struct resreq_notes notes = {.arena = match->pass_arena};
    struct resreq_error fault;
    struct resreq resreq;
    rules.reading = RESREQ_READ_ALL;
    rules.defaults_any = listing == RESREQ_MATCH_LOAD;
    int code =
        resreq_compile(match->pass_arena, &rules, &from, &resreq, &notes, &fault);
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
