/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_match.c: see resreq_match.h.
 *
 * Values stand in the table of the facts; a borrowed host of which nothing is known has
 * a row in a table of its own, with its name. What a pass alone knows (status, slots)
 * is put there when the first need of the pass reads it. What jobs reserve is taken off
 * in columns of the pass, so that what hosts told stays. */
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

/* Kept, a kilobyte or two each; past it all are forgotten and compiled anew. */
enum { NEEDS_MAX = 20000 };

struct match_class {
    char *key; /* strings, each with its NUL */
    struct resreq resreq;
    bool is_bad;   /* the strings are not valid (any more): no host meets them */
    uint64_t pass; /* that `filter` is of */
    const struct place_filter *filter;
    uint64_t asks_pass; /* likewise */
    const struct rusage_request *asks;
    int n_asks;
    UT_hash_handle hh;
};

struct resreq_match {
    const struct site_config *config;
    struct host_resources *facts;
    const struct resources *resources; /* of the facts */
    struct arena arena;                /* of the needs */
    uint64_t age;                      /* how often they were forgotten */
    struct match_class *by_key;
    struct resource_table *strange; /* hosts that the facts know nothing of */
    /* The pass: */
    uint64_t pass;
    struct arena *scratch;
    struct rusage_pass *reserves; /* what is left of resources */
    const struct place_host *hosts;
    int n_hosts;
    int *rows;        /* by host: of the facts, or -1 - the strange one's */
    bool is_straight; /* each host's row is that of its index */
    bool has_state;   /* status, slots and maxslots stand in the tables */
    struct resreq_local local;
    /* What is left of resources that a need of the pass names; numbers NULL: nobody
     * reserves any. */
    struct resource_override *lefts;
    int n_lefts, lefts_capacity;
};

struct resreq_match *resreq_match_new(const struct site_config *config,
                                      struct host_resources *facts)
{
    struct resreq_match *needs = mem_alloc(1, sizeof(*needs));
    needs->config = config;
    needs->facts = facts;
    needs->resources = host_resources_catalogue(facts);
    needs->strange = resource_table_new(needs->resources);
    arena_init(&needs->arena);
    return needs;
}

void resreq_match_free(struct resreq_match *needs)
{
    if (needs == NULL) {
        return;
    }
    HASH_CLEAR(hh, needs->by_key);
    resource_table_free(needs->strange);
    arena_release(&needs->arena);
    free(needs);
}

/* ---------------------------------------------------------------- compiled once */

static const struct application *application_of(const struct resreq_match *needs,
                                                const struct job_spec *spec)
{
    return spec->app == NULL || spec->app[0] == '\0'
               ? NULL
               : application_find(needs->config->applications,
                                  needs->config->n_applications, spec->app);
}

static int compile(const struct resreq_match *needs, struct arena *arena, int queue,
                   const struct job_spec *spec, struct resreq *resreq,
                   struct resreq_notes *notes, struct resreq_error *fault)
{
    struct resreq_rules rules = resreq_config_rules(needs->config, needs->resources);
    struct resreq_strings from = {
        .queue = needs->config->queues[queue].res_req,
        .resrsv_limit = needs->config->queues[queue].resrsv_limit,
        .strings = spec->res_reqs,
        .n_strings = spec->n_res_reqs,
    };
    const struct application *app = application_of(needs, spec);
    from.application = app != NULL ? app->res_req : NULL;
    return resreq_compile(arena, &rules, &from, resreq, notes, fault);
}

/* Of each alternative. */
static int check_ranges(const struct resreq_match *needs, struct arena *arena,
                        const struct resrsv_limits *ranges, const struct resreq *resreq,
                        struct resreq_error *fault)
{
    int code = 0;
    for (; resreq != NULL && code == 0; resreq = resreq->next) {
        code = resrsv_limit_check(arena, needs->resources, ranges, &resreq->rusages,
                                  fault);
    }
    return code;
}

int resreq_match_check(struct resreq_match *needs, int queue,
                       const struct job_spec *spec, struct resreq_notes *notes,
                       struct resreq_error *fault)
{
    const char *range = needs->config->queues[queue].resrsv_limit;
    struct resrsv_limits ranges;
    struct resreq resreq;
    int code = compile(needs, notes->arena, queue, spec, &resreq, notes, fault);
    if (code != 0 || range == NULL) {
        return code;
    }
    code = resrsv_limit_parse(notes->arena, needs->resources, range, &ranges, fault);
    return code != 0 ? code
                     : check_ranges(needs, notes->arena, &ranges, &resreq, fault);
}

bool resreq_match_has_alternatives(struct resreq_match *needs, struct arena *arena,
                                   int queue, const struct job_spec *spec)
{
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    return compile(needs, arena, queue, spec, &resreq, &notes, &fault) == 0 &&
           (resreq.next != NULL || resreq.rusages.n_alternatives > 1);
}

static char *put_text(char *at, const char *text)
{
    size_t size = strlen(text) + 1;
    return (char *)memcpy(at, text, size) + size;
}

/* What is compiled, and nothing else, so that queues with the same strings share it:
 * "1mem > 5\0[mem=9]\0app\0swp > 15\0", with 0 for a queue without RES_REQ. In the
 * pass's arena. */
static const char *key_of(const struct resreq_match *needs, int queue,
                          const struct job_spec *spec, size_t *length)
{
    const char *of_queue = needs->config->queues[queue].res_req;
    const char *range = needs->config->queues[queue].resrsv_limit;
    const char *app = spec->app != NULL ? spec->app : "";
    range = range != NULL ? range : "";
    size_t size = 1 + strlen(of_queue != NULL ? of_queue : "") + 1 + strlen(range) + 1 +
                  strlen(app) + 1;
    for (int i = 0; i < spec->n_res_reqs; i++) {
        size += strlen(spec->res_reqs[i]) + 1;
    }
    char *key = arena_alloc(needs->scratch, size, 1), *at = key;
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

struct match_class *resreq_match_find(struct resreq_match *needs, int queue,
                                      const struct job_spec *spec)
{
    struct match_class *need;
    size_t length;
    const char *key = key_of(needs, queue, spec, &length);
    HASH_FIND(hh, needs->by_key, key, length, need);
    if (need != NULL) {
        return need;
    }
    struct resreq_notes notes = {.arena = &needs->arena};
    struct resreq_error fault;
    need = arena_alloc(&needs->arena, 1, sizeof(*need));
    need->key = arena_copy(&needs->arena, key, length);
    need->is_bad =
        compile(needs, &needs->arena, queue, spec, &need->resreq, &notes, &fault) != 0;
    HASH_ADD_KEYPTR(hh, needs->by_key, need->key, length, need);
    return need;
}

/* ---------------------------------------------------------------- the pass */

static int row_of(const struct host_resources *facts, int host,
                  const struct place_host *place)
{
    return place->site[0] == '\0' ? host
                                  : host_resources_find_borrowed(facts, place->name);
}

static struct resreq_local local_host(const struct resreq_match *needs)
{
    struct resource_table *table = host_resources_table(needs->facts);
    int host = 0;
    while (host < needs->config->n_hosts && !needs->config->hosts[host].is_here) {
        host++;
    }
    host = host < needs->config->n_hosts ? host : 0;
    if (needs->config->n_hosts == 0) {
        return (struct resreq_local){.type = "", .model = "", .takes_unknown = true};
    }
    return (struct resreq_local){
        .type = resource_table_text(table, host, RESOURCE_TYPE),
        .model = resource_table_text(table, host, RESOURCE_MODEL),
        .takes_unknown = true,
    };
}

void resreq_match_begin_pass(struct resreq_match *needs, struct arena *arena,
                             const struct place_host *hosts, int n_hosts,
                             struct rusage_pass *reserves)
{
    int n_strange = 0;
    if (HASH_COUNT(needs->by_key) > NEEDS_MAX) {
        HASH_CLEAR(hh, needs->by_key);
        needs->by_key = NULL;
        arena_clear(&needs->arena);
        needs->age++;
    }
    needs->pass++;
    needs->scratch = arena;
    needs->reserves = reserves;
    needs->hosts = hosts;
    needs->n_hosts = n_hosts;
    needs->is_straight = true;
    needs->has_state = false;
    needs->local = local_host(needs);
    needs->n_lefts = needs->lefts_capacity = 0;
    needs->rows = arena_alloc(arena, (size_t)n_hosts, sizeof(*needs->rows));
    for (int i = 0; i < n_hosts; i++) {
        needs->rows[i] = row_of(needs->facts, i, &hosts[i]);
        if (needs->rows[i] < 0) {
            resource_table_resize(needs->strange, n_strange + 1);
            resource_table_set_text(needs->strange, n_strange, RESOURCE_HNAME,
                                    hosts[i].name);
            needs->rows[i] = -1 - n_strange++;
        }
        needs->is_straight = needs->is_straight && needs->rows[i] == i;
    }
    resource_table_resize(needs->strange, n_strange);
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

/* Most read nothing of it. */
static bool reads_state(const struct resreq *resreq)
{
    static const int ids[] = {RESOURCE_STATUS, RESOURCE_HNAME, RESOURCE_SERVER,
                              RESOURCE_SLOTS, RESOURCE_MAXSLOTS};
    bool reads_any = resreq->order.n_keys > 0; /* what is not ok comes last */
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        reads_any = reads_any || resreq_program_reads(&resreq->program, ids[i]);
        for (int k = 0; k < resreq->span.n_same; k++) {
            reads_any = reads_any || resreq->span.same[k] == ids[i];
        }
    }
    return reads_any;
}

static void set_states(struct resreq_match *needs)
{
    struct resource_table *known = host_resources_table(needs->facts);
    if (needs->has_state) {
        return;
    }
    needs->has_state = true;
    for (int i = 0; i < needs->n_hosts; i++) {
        int row = needs->rows[i];
        bool is_known = row >= 0;
        set_state(is_known ? known : needs->strange, is_known ? row : -1 - row,
                  &needs->hosts[i]);
    }
}

/* ---------------------------------------------------------------- what is left */

static const double *left_of(struct resreq_match *needs, int id)
{
    for (int i = 0; i < needs->n_lefts; i++) {
        if (needs->lefts[i].id == id) {
            return needs->lefts[i].numbers;
        }
    }
    if (needs->n_lefts == needs->lefts_capacity) {
        int capacity = needs->lefts_capacity * 2 + 8;
        struct resource_override *grown =
            arena_alloc(needs->scratch, (size_t)capacity, sizeof(*grown));
        if (needs->n_lefts > 0) {
            memcpy(grown, needs->lefts, (size_t)needs->n_lefts * sizeof(*grown));
        }
        needs->lefts = grown;
        needs->lefts_capacity = capacity;
    }
    struct resource_override *left = &needs->lefts[needs->n_lefts++];
    *left = (struct resource_override){id, rusage_pass_left(needs->reserves, id)};
    return left->numbers;
}

static void add_left(struct resreq_match *needs, int id,
                     struct resource_override *items, struct resource_overrides *lefts)
{
    const double *numbers = left_of(needs, id);
    if (numbers != NULL && resource_table_find_override(lefts, id) == NULL) {
        items[lefts->n_items++] = (struct resource_override){id, numbers};
    }
}

/* Of the resources that it names, those that jobs reserve. */
static struct resource_overrides find_lefts(struct resreq_match *needs,
                                            const struct resreq *resreq)
{
    const struct resreq_program *program = &resreq->program;
    size_t n_most = (size_t)program->n_instrs + (size_t)resreq->order.n_keys;
    struct resource_override *items =
        arena_alloc(needs->scratch, n_most, sizeof(*items));
    struct resource_overrides lefts = {.items = items};
    for (int i = 0; i < program->n_instrs; i++) {
        if (program->instrs[i].op == RESREQ_OP_COLUMN) {
            add_left(needs, program->instrs[i].id, items, &lefts);
        }
    }
    for (int i = 0; i < resreq->order.n_keys; i++) {
        add_left(needs, resreq->order.keys[i].id, items, &lefts);
    }
    return lefts;
}

static int64_t to_milli(double number)
{
    return (int64_t)(number * 1000);
}

/* The first host is told of, with the first resource of which something is reserved
 * there. */
static void tell_spent(const struct resreq_match *needs,
                       const struct resource_overrides *lefts, int row,
                       struct place_reserved *spent)
{
    const struct resource_table *table = host_resources_table(needs->facts);
    for (int i = 0; i < lefts->n_items && spent->resource == NULL; i++) {
        int id = lefts->items[i].id;
        double total = resource_table_number(table, row, id);
        double reserved = total - lefts->items[i].numbers[row];
        if (reserved > 0) {
            spent->resource = resources_at(needs->resources, id)->name;
            spent->total_milli = to_milli(total);
            spent->reserved_milli = to_milli(reserved);
        }
    }
}

/* Hosts that match without what is reserved (`whole`), and not with it; NULL: none. */
static const struct place_reserved *find_spent(const struct resreq_match *needs,
                                               const struct resource_overrides *lefts,
                                               const uint8_t *whole,
                                               const uint8_t *matches)
{
    size_t n_hosts = (size_t)needs->n_hosts;
    struct place_reserved *spent = arena_alloc(needs->scratch, 1, sizeof(*spent));
    uint8_t *hosts = arena_alloc(needs->scratch, n_hosts, sizeof(*hosts));
    for (int i = 0; i < needs->n_hosts; i++) {
        int row = needs->rows[i];
        hosts[i] = row >= 0 && whole[row] && !matches[i];
        if (hosts[i]) {
            tell_spent(needs, lefts, row, spent);
        }
    }
    spent->hosts = hosts;
    return spent->resource != NULL ? spent : NULL;
}

/* ---------------------------------------------------------------- judged once a pass
 */

/* By row of the facts: the place in the order that was asked for. */
static int *order_rows(struct resreq_match *needs, const struct resreq *resreq,
                       const struct resource_overrides *lefts, const uint8_t *matches)
{
    const struct resource_table *table = host_resources_table(needs->facts);
    int n_rows = resource_table_rows(table), n_sorted = 0;
    int *rows = arena_alloc(needs->scratch, (size_t)n_rows, sizeof(*rows));
    int *places = arena_alloc(needs->scratch, (size_t)n_rows, sizeof(*places));
    for (int row = 0; row < n_rows; row++) {
        if (matches[row]) {
            rows[n_sorted++] = row;
        }
    }
    resreq_order_sort(&resreq->order, table, lefts, rows, n_sorted);
    for (int i = 0; i < n_sorted; i++) {
        places[rows[i]] = i;
    }
    return places;
}

static uint8_t *run(struct resreq_match *needs, const struct resreq *resreq,
                    const struct resource_table *table,
                    const struct resource_overrides *lefts)
{
    size_t n_rows = (size_t)resource_table_rows(table);
    uint8_t *matches = arena_alloc(needs->scratch, n_rows + 1, sizeof(*matches));
    resreq_program_run(&resreq->program, table, lefts, &needs->local, matches);
    return matches;
}

static const uint8_t *matches_by_host(struct resreq_match *needs,
                                      const struct resreq *resreq, const uint8_t *known)
{
    if (needs->is_straight) {
        return known;
    }
    const uint8_t *strange = run(needs, resreq, needs->strange, NULL);
    uint8_t *matches = arena_alloc(needs->scratch, (size_t)needs->n_hosts, 1);
    for (int i = 0; i < needs->n_hosts; i++) {
        int row = needs->rows[i];
        matches[i] = row >= 0 ? known[row] : strange[-1 - row];
    }
    return matches;
}

static const int *places_by_host(struct resreq_match *needs, const int *order)
{
    if (needs->is_straight) {
        return order;
    }
    int *places = arena_alloc(needs->scratch, (size_t)needs->n_hosts, sizeof(*places));
    for (int i = 0; i < needs->n_hosts; i++) {
        int row = needs->rows[i];
        places[i] = row >= 0 ? order[row] : INT_MAX; /* unknown: last */
    }
    return places;
}

static const struct place_span *find_shape(const struct resreq_match *needs,
                                           const struct resreq *resreq,
                                           const uint8_t *matches)
{
    struct span_match_hosts hosts = {.hosts = needs->hosts,
                                     .n_hosts = needs->n_hosts,
                                     .table = host_resources_table(needs->facts),
                                     .rows = needs->rows,
                                     .matches = matches};
    return span_match_make(needs->scratch, &resreq->span, &hosts);
}

/* By what is left (NULL: by what hosts tell). NULL: all hosts, in whatever order. */
static const struct place_filter *judge(struct resreq_match *needs,
                                        const struct resreq *resreq,
                                        const struct resource_overrides *lefts)
{
    bool has_order = resreq->order.n_keys > 0;
    if (reads_state(resreq)) {
        set_states(needs);
    }
    const struct resource_table *table = host_resources_table(needs->facts);
    const uint8_t *known = run(needs, resreq, table, lefts);
    struct place_filter *filter = arena_alloc(needs->scratch, 1, sizeof(*filter));
    filter->matches = matches_by_host(needs, resreq, known);
    filter->ranks = has_order
                        ? places_by_host(needs, order_rows(needs, resreq, lefts, known))
                        : NULL;
    filter->span = find_shape(needs, resreq, filter->matches);
    bool is_all = !has_order && filter->span == NULL &&
                  memchr(filter->matches, 0, (size_t)needs->n_hosts) == NULL;
    if (!is_all && lefts != NULL && lefts->n_items > 0) {
        const uint8_t *whole = run(needs, resreq, table, NULL);
        filter->reserved = find_spent(needs, lefts, whole, filter->matches);
    }
    return is_all ? NULL : filter;
}

static const struct place_filter *no_host(struct resreq_match *needs)
{
    struct place_filter *filter = arena_alloc(needs->scratch, 1, sizeof(*filter));
    filter->matches = arena_alloc(needs->scratch, (size_t)needs->n_hosts, 1);
    return filter;
}

static const struct place_filter *judge_left(struct resreq_match *needs,
                                             const struct resreq *resreq)
{
    struct resource_overrides lefts = find_lefts(needs, resreq);
    return judge(needs, resreq, &lefts);
}

uint64_t resreq_match_generation(const struct resreq_match *needs)
{
    return needs->age;
}

const struct place_filter *resreq_match_filter(struct resreq_match *needs,
                                               struct match_class *need)
{
    if (need->pass != needs->pass) {
        need->pass = needs->pass;
        need->filter = need->is_bad ? no_host(needs) : judge_left(needs, &need->resreq);
    }
    return need->filter;
}

/* An alternative has a filter of its own, also where that lets all hosts through. */
static const struct place_filter *own_filter(struct resreq_match *needs,
                                             const struct resreq *resreq)
{
    const struct place_filter *filter = judge_left(needs, resreq);
    if (filter != NULL) {
        return filter;
    }
    struct place_filter *any = arena_alloc(needs->scratch, 1, sizeof(*any));
    uint8_t *matches = arena_alloc(needs->scratch, (size_t)needs->n_hosts, 1);
    memset(matches, 1, (size_t)needs->n_hosts);
    any->matches = matches;
    return any;
}

static int count_usages(const struct resreq *resreq)
{
    return resreq->rusages.n_alternatives > 0 ? resreq->rusages.n_alternatives : 1;
}

/* Of each alternative those of its rusage, or one that reserves nothing. */
static const struct rusage_request *
list_alternatives(struct resreq_match *needs, const struct resreq *resreq, int *n_asks)
{
    *n_asks = 0;
    for (const struct resreq *at = resreq; at != NULL; at = at->next) {
        *n_asks += count_usages(at);
    }
    struct rusage_request *asks =
        arena_alloc(needs->scratch, (size_t)*n_asks, sizeof(*asks));
    for (int i = 0; resreq != NULL; resreq = resreq->next) {
        const struct rusage_request *own =
            rusage_pass_requests(needs->reserves, &resreq->rusages);
        const struct place_filter *filter = own_filter(needs, resreq);
        for (int k = 0; k < count_usages(resreq); k++, i++) {
            if (own != NULL) {
                asks[i] = own[k];
            }
            asks[i].filter = filter;
        }
    }
    return asks;
}

const struct rusage_request *resreq_match_rusages(struct resreq_match *needs,
                                                  struct match_class *need, int *n_asks)
{
    if (need->asks_pass != needs->pass) {
        need->asks_pass = needs->pass;
        need->n_asks = need->is_bad ? 0 : need->resreq.rusages.n_alternatives;
        need->asks = need->n_asks == 0
                         ? NULL
                         : rusage_pass_requests(needs->reserves, &need->resreq.rusages);
        if (!need->is_bad && need->resreq.next != NULL) {
            need->asks = list_alternatives(needs, &need->resreq, &need->n_asks);
        }
    }
    *n_asks = need->n_asks;
    return need->asks;
}

int resreq_match_select(struct resreq_match *needs, enum resreq_match_listing listing,
                        const char *string, const struct place_filter **filter,
                        struct err *err)
{
    struct resreq_rules rules = resreq_config_rules(needs->config, needs->resources);
    struct resreq_strings from = {.strings = &string, .n_strings = 1};
    struct resreq_notes notes = {.arena = needs->scratch};
    struct resreq_error fault;
    struct resreq resreq;
    rules.reading = RESREQ_READ_ALL;
    rules.defaults_any = listing == RESREQ_MATCH_LOAD;
    int code = resreq_compile(needs->scratch, &rules, &from, &resreq, &notes, &fault);
    if (code != 0) {
        return err_set(err, code, "%s Column %d: %s.", fault.text, fault.at + 1,
                       fault.hint);
    }
    if (listing == RESREQ_MATCH_LOAD && resreq.order.n_keys == 0) {
        resreq_order_default(&resreq.order);
    }
    *filter = listing == RESREQ_MATCH_LOAD ? judge(needs, &resreq, NULL)
                                           : judge_left(needs, &resreq);
    return 0;
}
