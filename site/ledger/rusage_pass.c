/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_pass.c: what is left of what jobs reserve, as a pass sees it
 * (rusage_ledger.h); part of rusage_ledger_parts.h.
 *
 * A resource is looked at when the first job of the pass asks for it: which pool each
 * host is in, what it has, and what open jobs take off it. */
#include <string.h>

#include "site/config/rusage_config.h"
#include "site/job/lifecycle.h"
#include "site/ledger/rusage_ledger_parts.h"

/* ---------------------------------------------------------------- what is taken */

/* It has given its slots away, and what is released with them. */
static bool is_still(struct rusage_pass *pass, const struct job *job)
{
    return job->halt.causes != 0 && job->halt.yields &&
           lifecycle_is_suspended(pass->from.life, job);
}

/* The hosts that something is reserved on. */
struct spread {
    const char *lease; /* "": own hosts */
    const struct host_slots *hosts;
    int n_hosts;
};

static struct spread spread_of(const struct job *job)
{
    return (struct spread){job->lease, job->hosts, job->n_hosts};
}

static int row_of(struct rusage_pass *pass, const struct spread *spread, int index)
{
    const char *name = spread->hosts[index].host;
    return spread->lease[0] == '\0'
               ? host_table_find(pass->from.hosts, name)
               : host_resources_find_borrowed(pass->from.facts, name);
}

/* What an item takes on those hosts. */
static int add_parts(struct rusage_pass *pass, const struct spread *spread,
                     const struct rusage_pass_resource *kind,
                     const struct resreq_rusage_item *item, int64_t milli,
                     struct rusage_amount *parts)
{
    int n_parts = 0;
    for (int i = 0; i < spread->n_hosts; i++) {
        int row = row_of(pass, spread, i);
        int pool = row >= 0 && row < pass->n_rows ? kind->pool_of_row[row] : -1;
        int64_t n_times =
            rusage_supply_times(item->scope, spread->hosts[i].n_slots, i == 0);
        if (pool >= 0 && n_times > 0) {
            parts[n_parts++] = (struct rusage_amount){pool, n_times * milli};
        }
    }
    return n_parts;
}

static int64_t elapsed_ms(struct rusage_pass *pass, const struct job *job)
{
    return job->start_ms != 0 ? pass->now_ms - job->start_ms : 0;
}

static void note_wake(struct rusage_pass *pass, const struct job *job,
                      const struct resreq_rusage_item *item)
{
    int64_t next_ms =
        resreq_rusage_next_ms(item, elapsed_ms(pass, job), RUSAGE_LEDGER_STEP_MS);
    if (job->start_ms != 0 && next_ms != INT64_MAX &&
        job->start_ms + next_ms < pass->wake_ms) {
        pass->wake_ms = job->start_ms + next_ms;
    }
}

static void take_off(struct rusage_pass *pass, const struct rusage_pass_resource *kind,
                     const struct rusage_entry *hold)
{
    const struct resreq_rusage *usage = rusage_ledger_usage(pass->from.ledger, hold);
    const struct job *job = hold->job;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (item->id != kind->shown.id ||
            (rusage_ledger_is_released(pass->from.ledger, item->id) &&
             is_still(pass, job))) {
            continue;
        }
        int64_t milli = resreq_rusage_milli(item, elapsed_ms(pass, job));
        struct rusage_amount *parts =
            arena_alloc(pass->arena, (size_t)job->n_hosts, sizeof(*parts));
        struct spread spread = spread_of(job);
        int n_parts = add_parts(pass, &spread, kind, item, milli, parts);
        rusage_supply_take(pass->left, parts, n_parts, 1);
        note_wake(pass, job, item);
    }
}

/* ---------------------------------------------------------------- a pass */

struct rusage_pass *rusage_pass_new(const struct rusage_sources *from,
                                    struct arena *arena, const struct place_host *hosts,
                                    int n_hosts, int64_t now_ms)
{
    struct rusage_pass *pass = arena_alloc(arena, 1, sizeof(*pass));
    pass->from = *from;
    pass->arena = arena;
    pass->hosts = hosts;
    pass->n_hosts = n_hosts;
    pass->n_rows = resource_table_rows(host_resources_table(from->facts));
    pass->now_ms = now_ms;
    pass->wake_ms = INT64_MAX;
    return pass;
}

/* When first needed: most passes need none of it. */
static void list_rows(struct rusage_pass *pass)
{
    pass->rows = arena_alloc(pass->arena, (size_t)pass->n_hosts, sizeof(int));
    for (int i = 0; i < pass->n_hosts; i++) {
        const struct place_host *host = &pass->hosts[i];
        pass->rows[i] =
            host->site[0] == '\0'
                ? i
                : host_resources_find_borrowed(pass->from.facts, host->name);
    }
}

static void grow_kinds(struct rusage_pass *pass)
{
    int capacity = pass->kinds_capacity * 2 + 4;
    struct rusage_pass_resource *kinds =
        arena_alloc(pass->arena, (size_t)capacity, sizeof(*kinds));
    if (pass->n_kinds > 0) {
        memcpy(kinds, pass->kinds, (size_t)pass->n_kinds * sizeof(*kinds));
    }
    pass->kinds = kinds;
    pass->kinds_capacity = capacity;
}

/* The resource as the pass has it; what running jobs reserve is taken off. */
static int kind_of(struct rusage_pass *pass, int id)
{
    for (int i = 0; i < pass->n_kinds; i++) {
        if (pass->kinds[i].shown.id == id) {
            return i;
        }
    }
    if (pass->rows == NULL) {
        list_rows(pass);
    }
    if (pass->n_kinds == pass->kinds_capacity) {
        grow_kinds(pass);
    }
    struct rusage_pass_resource *kind = &pass->kinds[pass->n_kinds];
    *kind = (struct rusage_pass_resource){
        .shown = {
            .name = resources_at(host_resources_catalogue(pass->from.facts), id)->name,
            .id = id}};
    kind->shown.is_preemptable =
        rusage_config_is_preemptable(pass->from.config, kind->shown.name);
    supply_map_find(pass, kind);
    for (int i = 0; i < pass->from.ledger->count; i++) {
        take_off(pass, kind, pass->from.ledger->items[i]);
    }
    return pass->n_kinds++;
}

/* Reserving load, or what a lenient site takes for a resource, is never refused. */
static bool is_limited(struct rusage_pass *pass, int id)
{
    const struct resource *resource =
        resources_at(host_resources_catalogue(pass->from.facts), id);
    return resource->type == RESOURCE_NUMERIC && !resource->is_increasing;
}

const double *rusage_pass_left(struct rusage_pass *pass, int id)
{
    if (!is_limited(pass, id) || !rusage_ledger_has(pass->from.ledger, id)) {
        return NULL;
    }
    int index = kind_of(pass, id); /* which may move them */
    const struct rusage_pass_resource *kind = &pass->kinds[index];
    size_t n_blocks = (size_t)pass->n_rows / RESOURCE_BLOCK + 1;
    double *left = arena_alloc(pass->arena, n_blocks * RESOURCE_BLOCK, sizeof(*left));
    for (int row = 0; row < pass->n_rows; row++) {
        int pool = kind->pool_of_row[row];
        left[row] = pool >= 0 ? (double)pass->left[pool] / 1000
                              : resource_table_number(
                                    host_resources_table(pass->from.facts), row, id);
    }
    return left;
}

static enum resreq_scope scope_of(struct rusage_pass *pass,
                                  const struct resreq_rusage_item *item,
                                  const struct rusage_pass_resource *kind)
{
    if (item->scope != RESREQ_SCOPE_DEFAULT) {
        return item->scope;
    }
    enum resreq_scope scope = rusage_config_scope(pass->from.config, kind->shown.name);
    return scope != RESREQ_SCOPE_DEFAULT ? scope
           : kind->is_shared             ? RESREQ_SCOPE_JOB
                                         : RESREQ_SCOPE_HOST;
}

static void show_alternative(struct rusage_pass *pass,
                             const struct resreq_rusage *usage,
                             struct rusage_request *asks)
{
    struct arena *arena = pass->arena;
    size_t n_most = (size_t)usage->n_items;
    struct rusage_item *list = arena_alloc(arena, n_most, sizeof(*list));
    struct resreq_rusage_item *items = arena_alloc(arena, n_most, sizeof(*items));
    struct resreq_rusage *shown = arena_alloc(arena, 1, sizeof(*shown));
    for (int i = 0; i < usage->n_items; i++) {
        items[i] = usage->items[i];
        if (!is_limited(pass, items[i].id)) {
            continue;
        }
        int index = kind_of(pass, items[i].id);
        items[i].scope = scope_of(pass, &items[i], &pass->kinds[index]);
        list[asks->n_items++] = (struct rusage_item){index, items[i].scope,
                                                     resreq_rusage_milli(&items[i], 0)};
    }
    *shown = (struct resreq_rusage){.items = items, .n_items = usage->n_items};
    asks->items = list;
    asks->rusage = shown;
}

const struct rusage_request *rusage_pass_requests(struct rusage_pass *pass,
                                                  const struct resreq_rusages *usages)
{
    struct rusage_request *asks =
        arena_alloc(pass->arena, (size_t)usages->n_alternatives, sizeof(*asks));
    for (int i = 0; i < usages->n_alternatives; i++) {
        show_alternative(pass, &usages->alternatives[i], &asks[i]);
    }
    return usages->n_alternatives > 0 ? asks : NULL;
}

/* A pool of the job's own host may be another's now, as when its place in ResourceMap
 * was taken away: then there is none, and no more of it. */
const struct rusage_request *rusage_pass_grow_request(struct rusage_pass *pass,
                                                      const struct job *job,
                                                      const int *places)
{
    if (job->ledger == NULL) {
        return NULL;
    }
    const struct resreq_rusage *usage =
        rusage_ledger_usage(pass->from.ledger, job->ledger);
    struct rusage_request *asks = arena_alloc(pass->arena, 1, sizeof(*asks));
    struct rusage_item *list =
        arena_alloc(pass->arena, (size_t)usage->n_items + 1, sizeof(*list));
    uint8_t *has = arena_alloc(pass->arena, (size_t)pass->n_hosts + 1, 1);
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (item->scope != RESREQ_SCOPE_JOB && is_limited(pass, item->id)) {
            list[asks->n_items++] =
                (struct rusage_item){kind_of(pass, item->id), item->scope,
                                     resreq_rusage_milli(item, elapsed_ms(pass, job))};
        }
    }
    for (int i = 0; i < job->n_hosts; i++) {
        if (places[i] >= 0) {
            has[places[i]] = 1;
        }
    }
    asks->items = list;
    asks->rusage = usage;
    asks->has = has;
    return asks->n_items > 0 ? asks : NULL;
}

/* What of a usage `takes` wants, so long after the job began, as parts. */
typedef bool (*takes_fn)(struct rusage_pass *pass, const struct job *job, int id);

static int list_parts(struct rusage_pass *pass, const struct resreq_rusage *usage,
                      const struct job *job, const struct spread *spread,
                      takes_fn takes, const struct rusage_amount **parts)
{
    size_t n_most = (size_t)usage->n_items * (size_t)spread->n_hosts;
    struct rusage_amount *list = arena_alloc(pass->arena, n_most, sizeof(*list));
    int64_t ms = job != NULL ? elapsed_ms(pass, job) : 0;
    int n_parts = 0;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (is_limited(pass, item->id) && takes(pass, job, item->id)) {
            int kind = kind_of(pass, item->id);
            n_parts += add_parts(pass, spread, &pass->kinds[kind], item,
                                 resreq_rusage_milli(item, ms), &list[n_parts]);
        }
    }
    *parts = list;
    return n_parts;
}

static bool gives_back(struct rusage_pass *pass, const struct job *job, int id)
{
    (void)job;
    return rusage_ledger_is_released(pass->from.ledger, id);
}

int rusage_pass_released(struct rusage_pass *pass, const struct job *job,
                         const struct rusage_amount **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL
               ? 0
               : list_parts(pass, rusage_ledger_usage(pass->from.ledger, job->ledger),
                            job, &spread, gives_back, parts);
}

const char *rusage_pass_lacks(struct rusage_pass *pass, struct arena *arena,
                              const struct job *job)
{
    const char *text = "";
    if (job->ledger == NULL || !is_still(pass, job)) {
        return text;
    }
    const struct resreq_rusage *usage =
        rusage_ledger_usage(pass->from.ledger, job->ledger);
    struct spread spread = spread_of(job);
    for (int i = 0; i < usage->n_items; i++) {
        struct resreq_rusage one = {.items = &usage->items[i], .n_items = 1};
        const struct rusage_amount *parts;
        int n_parts = list_parts(pass, &one, job, &spread, gives_back, &parts);
        if (!rusage_supply_has(pass->left, parts, n_parts)) {
            int id = usage->items[i].id;
            text = arena_printf(
                arena, "%s%s%s", text, text[0] != '\0' ? " " : "",
                resources_at(host_resources_catalogue(pass->from.facts), id)->name);
        }
    }
    return text;
}

/* Kinds that no line of the pass asks for are not looked at: nothing would come of it,
 * and the pass has begun. */
static bool would_give(struct rusage_pass *pass, const struct job *job, int id)
{
    for (int i = 0; i < pass->n_kinds; i++) {
        const struct rusage_pass_resource *kind = &pass->kinds[i];
        if (kind->shown.id == id) {
            return kind->shown.is_preemptable &&
                   (rusage_ledger_is_released(pass->from.ledger, id) ||
                    (pass->from.config->preempt.queues[job->queue].terminate_when &
                     HALT_PREEMPT) != 0);
        }
    }
    return false;
}

int rusage_pass_preemptable(struct rusage_pass *pass, const struct job *job,
                            const struct rusage_amount **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL
               ? 0
               : list_parts(pass, rusage_ledger_usage(pass->from.ledger, job->ledger),
                            job, &spread, would_give, parts);
}

static bool has_still(struct rusage_pass *pass, const struct job *job, int id)
{
    bool is_known = false;
    for (int i = 0; i < pass->n_kinds && !is_known; i++) {
        is_known = pass->kinds[i].shown.id == id;
    }
    return is_known &&
           !(rusage_ledger_is_released(pass->from.ledger, id) && is_still(pass, job));
}

int rusage_pass_held(struct rusage_pass *pass, const struct job *job,
                     const struct rusage_amount **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL
               ? 0
               : list_parts(pass, rusage_ledger_usage(pass->from.ledger, job->ledger),
                            job, &spread, has_still, parts);
}

static bool takes_all(struct rusage_pass *pass, const struct job *job, int id)
{
    (void)pass, (void)job, (void)id;
    return true;
}

static int parts_of_record(struct rusage_pass *pass, const char *reserved,
                           const struct spread *spread,
                           const struct rusage_amount **parts)
{
    struct resreq_rusage usage;
    if (reserved[0] == '\0') {
        return 0;
    }
    resreq_rusage_read(pass->arena, host_resources_catalogue(pass->from.facts),
                       reserved, &usage);
    return list_parts(pass, &usage, NULL, spread, takes_all, parts);
}

bool rusage_pass_has(struct rusage_pass *pass, const char *reserved, const char *lease,
                     const struct host_slots *hosts, int n_hosts)
{
    const struct spread spread = {lease, hosts, n_hosts};
    const struct rusage_amount *parts;
    int n_parts = parts_of_record(pass, reserved, &spread, &parts);
    return rusage_supply_has(pass->left, parts, n_parts);
}

void rusage_pass_reserve(struct rusage_pass *pass, const char *reserved,
                         const char *lease, const struct host_slots *hosts, int n_hosts)
{
    const struct spread spread = {lease, hosts, n_hosts};
    const struct rusage_amount *parts;
    int n_parts = parts_of_record(pass, reserved, &spread, &parts);
    for (int i = 0; i < n_parts; i++) {
        int64_t *left = &pass->left[parts[i].supply];
        *left -= parts[i].milli < *left ? parts[i].milli : *left > 0 ? *left : 0;
    }
}

const struct rusage_supply *rusage_pass_supply(struct rusage_pass *pass)
{
    if (pass->n_kinds == 0) {
        return NULL;
    }
    pass->shown = arena_alloc(pass->arena, (size_t)pass->n_kinds, sizeof(*pass->shown));
    for (int i = 0; i < pass->n_kinds; i++) {
        pass->shown[i] = pass->kinds[i].shown;
    }
    pass->reserve = (struct rusage_supply){.resources = pass->shown,
                                           .n_resources = pass->n_kinds,
                                           .left = pass->left,
                                           .n_supplies = pass->n_pools};
    return &pass->reserve;
}

const char *rusage_pass_text(struct rusage_pass *pass, struct arena *arena,
                             const struct rusage_request *asks)
{
    return asks == NULL || asks->rusage == NULL
               ? ""
               : resreq_rusage_text(arena, host_resources_catalogue(pass->from.facts),
                                    asks->rusage);
}

int64_t rusage_pass_wake_ms(const struct rusage_pass *pass)
{
    return pass->wake_ms;
}

/* ---------------------------------------------------------------- to be seen */

/* All that jobs reserve; or, where `is_shared`, all that there is to be reserved and
 * that is shared (ResourceMap). */
static void see_kinds(struct rusage_pass *pass, bool is_shared)
{
    const struct resources *resources = host_resources_catalogue(pass->from.facts);
    for (int id = RESOURCE_BUILTINS; is_shared && id < resources_count(resources);
         id++) {
        if (resources_at(resources, id)->is_consumable && is_limited(pass, id)) {
            kind_of(pass, id);
        }
    }
    for (int i = 0; !is_shared && i < pass->from.ledger->count; i++) {
        const struct resreq_rusage *usage =
            rusage_ledger_usage(pass->from.ledger, pass->from.ledger->items[i]);
        for (int k = 0; k < usage->n_items; k++) {
            if (is_limited(pass, usage->items[k].id)) {
                kind_of(pass, usage->items[k].id);
            }
        }
    }
}

void rusage_pass_totals(struct rusage_pass *pass, bool is_shared,
                        struct rusage_totals *seen)
{
    see_kinds(pass, is_shared);
    struct rusage_totals_resource *kinds =
        arena_alloc(pass->arena, (size_t)pass->n_kinds, sizeof(*kinds));
    *seen = (struct rusage_totals){.kinds = kinds,
                                   .total = pass->total,
                                   .left = pass->left,
                                   .n_pools = pass->n_pools,
                                   .hosts = pass->hosts,
                                   .n_hosts = pass->n_hosts};
    for (int i = 0; i < pass->n_kinds; i++) {
        if (!is_shared || pass->kinds[i].is_shared) {
            kinds[seen->n_kinds++] = (struct rusage_totals_resource){
                pass->kinds[i].shown.name, pass->kinds[i].shown.supply_of};
        }
    }
}
