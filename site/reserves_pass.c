/* SPDX-License-Identifier: Apache-2.0 */
/* reserves_pass.c: what is left of what jobs reserve, as a pass sees it (reserves.h);
 * part of reserves_parts.h.
 *
 * A resource is looked at when the first job of the pass asks for it: which pool each
 * host is in, what it has, and what open jobs take off it. */
#include <string.h>

#include "site/job/attempt.h"
#include "site/reserve_config.h"
#include "site/reserves_parts.h"

/* ---------------------------------------------------------------- what is taken */

/* It has given its slots away, and what is released with them. */
static bool is_still(const struct site *site, const struct job *job)
{
    return job->halt.causes != 0 && job->halt.yields &&
           attempt_is_suspended(site->life, job);
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

static int row_of(const struct site *site, const struct spread *spread, int index)
{
    const char *name = spread->hosts[index].host;
    return spread->lease[0] == '\0' ? host_table_find(site->hosts, name)
                                    : facts_row(site->facts, name);
}

/* What an item takes on those hosts. */
static int add_parts(const struct site *site, const struct spread *spread,
                     const struct reserves_kind *kind,
                     const struct resreq_rusage_item *item, int64_t milli,
                     struct rusage_amount *parts)
{
    int n_parts = 0;
    for (int i = 0; i < spread->n_hosts; i++) {
        int row = row_of(site, spread, i);
        int pool =
            row >= 0 && row < site->reserves->n_rows ? kind->pool_of_row[row] : -1;
        int64_t n_times =
            rusage_supply_times(item->scope, spread->hosts[i].n_slots, i == 0);
        if (pool >= 0 && n_times > 0) {
            parts[n_parts++] = (struct rusage_amount){pool, n_times * milli};
        }
    }
    return n_parts;
}

static int64_t elapsed_ms(const struct reserves *reserves, const struct job *job)
{
    return job->start_ms != 0 ? reserves->now_ms - job->start_ms : 0;
}

static void note_wake(struct reserves *reserves, const struct job *job,
                      const struct resreq_rusage_item *item)
{
    int64_t next_ms =
        resreq_rusage_next_ms(item, elapsed_ms(reserves, job), RESERVES_STEP_MS);
    if (!reserves->is_look && job->start_ms != 0 && next_ms != INT64_MAX &&
        job->start_ms + next_ms < reserves->wake_ms) {
        reserves->wake_ms = job->start_ms + next_ms;
    }
}

static void take_off(const struct site *site, const struct reserves_kind *kind,
                     const struct reserves_entry *hold)
{
    struct reserves *reserves = site->reserves;
    const struct resreq_rusage *usage = reserves_usage_of(site, hold);
    const struct job *job = hold->job;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (item->id != kind->shown.id ||
            (reserves_is_released(site, item->id) && is_still(site, job))) {
            continue;
        }
        int64_t milli = resreq_rusage_milli(item, elapsed_ms(reserves, job));
        struct rusage_amount *parts =
            arena_alloc(reserves->arena, (size_t)job->n_hosts, sizeof(*parts));
        struct spread spread = spread_of(job);
        int n_parts = add_parts(site, &spread, kind, item, milli, parts);
        rusage_supply_take(reserves->left, parts, n_parts, 1);
        note_wake(reserves, job, item);
    }
}

/* ---------------------------------------------------------------- a pass */

static void begin(const struct site *site, struct arena *arena,
                  const struct place_host *hosts, int n_hosts, int64_t now_ms)
{
    struct reserves *reserves = site->reserves;
    reserves->arena = arena;
    reserves->hosts = hosts;
    reserves->n_hosts = n_hosts;
    reserves->n_rows = resource_table_rows(facts_table(site->facts));
    reserves->rows = NULL; /* most passes need none of it */
    reserves->now_ms = now_ms;
    reserves->n_kinds = reserves->kinds_capacity = 0;
    reserves->n_pools = reserves->pools_capacity = 0;
}

void reserves_begin(const struct site *site, struct arena *arena,
                    const struct place_host *hosts, int n_hosts, int64_t now_ms)
{
    begin(site, arena, hosts, n_hosts, now_ms);
    site->reserves->is_look = false;
    site->reserves->wake_ms = INT64_MAX;
}

void reserves_begin_look(const struct site *site, struct arena *arena,
                         const struct place_host *hosts, int n_hosts)
{
    begin(site, arena, hosts, n_hosts, site->now_ms);
    site->reserves->is_look = true;
}

static void list_rows(const struct site *site)
{
    struct reserves *reserves = site->reserves;
    reserves->rows =
        arena_alloc(reserves->arena, (size_t)reserves->n_hosts, sizeof(int));
    for (int i = 0; i < reserves->n_hosts; i++) {
        const struct place_host *host = &reserves->hosts[i];
        reserves->rows[i] =
            host->site[0] == '\0' ? i : facts_row(site->facts, host->name);
    }
}

static void grow_kinds(struct reserves *reserves)
{
    int capacity = reserves->kinds_capacity * 2 + 4;
    struct reserves_kind *kinds =
        arena_alloc(reserves->arena, (size_t)capacity, sizeof(*kinds));
    if (reserves->n_kinds > 0) {
        memcpy(kinds, reserves->kinds, (size_t)reserves->n_kinds * sizeof(*kinds));
    }
    reserves->kinds = kinds;
    reserves->kinds_capacity = capacity;
}

/* The resource as the pass has it; what running jobs reserve is taken off. */
static int kind_of(const struct site *site, int id)
{
    struct reserves *reserves = site->reserves;
    for (int i = 0; i < reserves->n_kinds; i++) {
        if (reserves->kinds[i].shown.id == id) {
            return i;
        }
    }
    if (reserves->rows == NULL) {
        list_rows(site);
    }
    if (reserves->n_kinds == reserves->kinds_capacity) {
        grow_kinds(reserves);
    }
    struct reserves_kind *kind = &reserves->kinds[reserves->n_kinds];
    *kind = (struct reserves_kind){
        .shown = {.name = resources_at(facts_resources(site->facts), id)->name,
                  .id = id}};
    kind->shown.is_preemptable =
        reserve_config_is_preemptable(site->config, kind->shown.name);
    reserves_find_pools(site, kind);
    for (int i = 0; i < reserves->count; i++) {
        take_off(site, kind, reserves->items[i]);
    }
    return reserves->n_kinds++;
}

/* Reserving load, or what a lenient site takes for a resource, is never refused. */
static bool is_limited(const struct site *site, int id)
{
    const struct resource *resource = resources_at(facts_resources(site->facts), id);
    return resource->type == RESOURCE_NUMERIC && !resource->is_increasing;
}

const double *reserves_left(const struct site *site, int id)
{
    struct reserves *reserves = site->reserves;
    if (!is_limited(site, id) || !reserves_has_of(site, id)) {
        return NULL;
    }
    int index = kind_of(site, id); /* which may move them */
    const struct reserves_kind *kind = &reserves->kinds[index];
    size_t n_blocks = (size_t)reserves->n_rows / RESOURCE_BLOCK + 1;
    double *left =
        arena_alloc(reserves->arena, n_blocks * RESOURCE_BLOCK, sizeof(*left));
    for (int row = 0; row < reserves->n_rows; row++) {
        int pool = kind->pool_of_row[row];
        left[row] = pool >= 0
                        ? (double)reserves->left[pool] / 1000
                        : resource_table_number(facts_table(site->facts), row, id);
    }
    return left;
}

static enum resreq_scope scope_of(const struct site *site,
                                  const struct resreq_rusage_item *item,
                                  const struct reserves_kind *kind)
{
    if (item->scope != RESREQ_SCOPE_DEFAULT) {
        return item->scope;
    }
    enum resreq_scope scope = reserve_config_scope(site->config, kind->shown.name);
    return scope != RESREQ_SCOPE_DEFAULT ? scope
           : kind->is_shared             ? RESREQ_SCOPE_JOB
                                         : RESREQ_SCOPE_HOST;
}

static void show_alternative(const struct site *site, const struct resreq_rusage *usage,
                             struct rusage_request *asks)
{
    struct arena *arena = site->reserves->arena;
    size_t n_most = (size_t)usage->n_items;
    struct rusage_item *list = arena_alloc(arena, n_most, sizeof(*list));
    struct resreq_rusage_item *items = arena_alloc(arena, n_most, sizeof(*items));
    struct resreq_rusage *shown = arena_alloc(arena, 1, sizeof(*shown));
    for (int i = 0; i < usage->n_items; i++) {
        items[i] = usage->items[i];
        if (!is_limited(site, items[i].id)) {
            continue;
        }
        int index = kind_of(site, items[i].id);
        items[i].scope = scope_of(site, &items[i], &site->reserves->kinds[index]);
        list[asks->n_items++] = (struct rusage_item){index, items[i].scope,
                                                     resreq_rusage_milli(&items[i], 0)};
    }
    *shown = (struct resreq_rusage){.items = items, .n_items = usage->n_items};
    asks->items = list;
    asks->rusage = shown;
}

const struct rusage_request *reserves_asks(const struct site *site,
                                           const struct resreq_rusages *usages)
{
    struct rusage_request *asks = arena_alloc(
        site->reserves->arena, (size_t)usages->n_alternatives, sizeof(*asks));
    for (int i = 0; i < usages->n_alternatives; i++) {
        show_alternative(site, &usages->alternatives[i], &asks[i]);
    }
    return usages->n_alternatives > 0 ? asks : NULL;
}

/* A pool of the job's own host may be another's now, as when its place in ResourceMap
 * was taken away: then there is none, and no more of it. */
const struct rusage_request *reserves_more(const struct site *site,
                                           const struct job *job, const int *places)
{
    struct reserves *reserves = site->reserves;
    if (job->ledger == NULL) {
        return NULL;
    }
    const struct resreq_rusage *usage = reserves_usage_of(site, job->ledger);
    struct rusage_request *asks = arena_alloc(reserves->arena, 1, sizeof(*asks));
    struct rusage_item *list =
        arena_alloc(reserves->arena, (size_t)usage->n_items + 1, sizeof(*list));
    uint8_t *has = arena_alloc(reserves->arena, (size_t)reserves->n_hosts + 1, 1);
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (item->scope != RESREQ_SCOPE_JOB && is_limited(site, item->id)) {
            list[asks->n_items++] = (struct rusage_item){
                kind_of(site, item->id), item->scope,
                resreq_rusage_milli(item, elapsed_ms(reserves, job))};
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
typedef bool (*takes_fn)(const struct site *site, const struct job *job, int id);

static int list_parts(const struct site *site, const struct resreq_rusage *usage,
                      const struct job *job, const struct spread *spread,
                      takes_fn takes, const struct rusage_amount **parts)
{
    struct reserves *reserves = site->reserves;
    size_t n_most = (size_t)usage->n_items * (size_t)spread->n_hosts;
    struct rusage_amount *list = arena_alloc(reserves->arena, n_most, sizeof(*list));
    int64_t ms = job != NULL ? elapsed_ms(reserves, job) : 0;
    int n_parts = 0;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (is_limited(site, item->id) && takes(site, job, item->id)) {
            int kind = kind_of(site, item->id);
            n_parts += add_parts(site, spread, &reserves->kinds[kind], item,
                                 resreq_rusage_milli(item, ms), &list[n_parts]);
        }
    }
    *parts = list;
    return n_parts;
}

static bool gives_back(const struct site *site, const struct job *job, int id)
{
    (void)job;
    return reserves_is_released(site, id);
}

int reserves_given(const struct site *site, const struct job *job,
                   const struct rusage_amount **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL ? 0
                               : list_parts(site, reserves_usage_of(site, job->ledger),
                                            job, &spread, gives_back, parts);
}

const char *reserves_lacks(const struct site *site, struct arena *arena,
                           const struct job *job)
{
    const char *text = "";
    if (job->ledger == NULL || !is_still(site, job)) {
        return text;
    }
    int n_hosts;
    const struct place_host *hosts = capacity_hosts(
        site->capacity, arena, site->now_ms + site->utc_offset_ms, &n_hosts);
    reserves_begin_look(site, arena, hosts, n_hosts);
    const struct reserves *reserves = site->reserves;
    const struct resreq_rusage *usage = reserves_usage_of(site, job->ledger);
    struct spread spread = spread_of(job);
    for (int i = 0; i < usage->n_items; i++) {
        struct resreq_rusage one = {.items = &usage->items[i], .n_items = 1};
        const struct rusage_amount *parts;
        int n_parts = list_parts(site, &one, job, &spread, gives_back, &parts);
        if (!rusage_supply_has(reserves->left, parts, n_parts)) {
            int id = usage->items[i].id;
            text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? " " : "",
                                resources_at(facts_resources(site->facts), id)->name);
        }
    }
    return text;
}

/* Kinds that no line of the pass asks for are not looked at: nothing would come of it,
 * and the pass has begun. */
static bool would_give(const struct site *site, const struct job *job, int id)
{
    const struct reserves *reserves = site->reserves;
    for (int i = 0; i < reserves->n_kinds; i++) {
        const struct reserves_kind *kind = &reserves->kinds[i];
        if (kind->shown.id == id) {
            return kind->shown.is_preemptable &&
                   (reserves_is_released(site, id) ||
                    (site->config->preempt.queues[job->queue].terminate_when &
                     HALT_PREEMPT) != 0);
        }
    }
    return false;
}

int reserves_to_give(const struct site *site, const struct job *job,
                     const struct rusage_amount **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL ? 0
                               : list_parts(site, reserves_usage_of(site, job->ledger),
                                            job, &spread, would_give, parts);
}

static bool has_still(const struct site *site, const struct job *job, int id)
{
    const struct reserves *reserves = site->reserves;
    bool is_known = false;
    for (int i = 0; i < reserves->n_kinds && !is_known; i++) {
        is_known = reserves->kinds[i].shown.id == id;
    }
    return is_known && !(reserves_is_released(site, id) && is_still(site, job));
}

int reserves_holds(const struct site *site, const struct job *job,
                   const struct rusage_amount **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL ? 0
                               : list_parts(site, reserves_usage_of(site, job->ledger),
                                            job, &spread, has_still, parts);
}

static bool takes_all(const struct site *site, const struct job *job, int id)
{
    (void)site, (void)job, (void)id;
    return true;
}

static int parts_of_record(const struct site *site, const char *reserved,
                           const struct spread *spread,
                           const struct rusage_amount **parts)
{
    struct resreq_rusage usage;
    if (reserved[0] == '\0') {
        return 0;
    }
    resreq_rusage_read(site->reserves->arena, facts_resources(site->facts), reserved,
                       &usage);
    return list_parts(site, &usage, NULL, spread, takes_all, parts);
}

bool reserves_has(const struct site *site, const char *reserved, const char *lease,
                  const struct host_slots *hosts, int n_hosts)
{
    const struct spread spread = {lease, hosts, n_hosts};
    const struct rusage_amount *parts;
    int n_parts = parts_of_record(site, reserved, &spread, &parts);
    return rusage_supply_has(site->reserves->left, parts, n_parts);
}

void reserves_keep(const struct site *site, const char *reserved, const char *lease,
                   const struct host_slots *hosts, int n_hosts)
{
    const struct spread spread = {lease, hosts, n_hosts};
    const struct rusage_amount *parts;
    int n_parts = parts_of_record(site, reserved, &spread, &parts);
    for (int i = 0; i < n_parts; i++) {
        int64_t *left = &site->reserves->left[parts[i].supply];
        *left -= parts[i].milli < *left ? parts[i].milli : *left > 0 ? *left : 0;
    }
}

const struct rusage_supply *reserves_show(const struct site *site)
{
    struct reserves *reserves = site->reserves;
    if (reserves->n_kinds == 0) {
        return NULL;
    }
    reserves->shown = arena_alloc(reserves->arena, (size_t)reserves->n_kinds,
                                  sizeof(*reserves->shown));
    for (int i = 0; i < reserves->n_kinds; i++) {
        reserves->shown[i] = reserves->kinds[i].shown;
    }
    reserves->reserve = (struct rusage_supply){.resources = reserves->shown,
                                               .n_resources = reserves->n_kinds,
                                               .left = reserves->left,
                                               .n_supplies = reserves->n_pools};
    return &reserves->reserve;
}

const char *reserves_text(const struct site *site, struct arena *arena,
                          const struct rusage_request *asks)
{
    return asks == NULL || asks->rusage == NULL
               ? ""
               : resreq_rusage_text(arena, facts_resources(site->facts), asks->rusage);
}

int64_t reserves_wake_ms(const struct reserves *reserves)
{
    return reserves->wake_ms;
}

/* ---------------------------------------------------------------- to be seen */

/* All that jobs reserve; or, where `is_shared`, all that there is to be reserved and
 * that is shared (ResourceMap). */
static void see_kinds(const struct site *site, bool is_shared)
{
    const struct reserves *reserves = site->reserves;
    const struct resources *resources = facts_resources(site->facts);
    for (int id = RESOURCE_BUILTINS; is_shared && id < resources_count(resources);
         id++) {
        if (resources_at(resources, id)->is_consumable && is_limited(site, id)) {
            kind_of(site, id);
        }
    }
    for (int i = 0; !is_shared && i < reserves->count; i++) {
        const struct resreq_rusage *usage = reserves_usage_of(site, reserves->items[i]);
        for (int k = 0; k < usage->n_items; k++) {
            if (is_limited(site, usage->items[k].id)) {
                kind_of(site, usage->items[k].id);
            }
        }
    }
}

void reserves_see(const struct site *site, struct arena *arena, bool is_shared,
                  struct reserves_seen *seen)
{
    struct reserves *reserves = site->reserves;
    int n_hosts;
    const struct place_host *hosts = capacity_hosts(
        site->capacity, arena, site->now_ms + site->utc_offset_ms, &n_hosts);
    reserves_begin_look(site, arena, hosts, n_hosts);
    see_kinds(site, is_shared);
    struct reserves_seen_kind *kinds =
        arena_alloc(arena, (size_t)reserves->n_kinds, sizeof(*kinds));
    *seen = (struct reserves_seen){.kinds = kinds,
                                   .total = reserves->total,
                                   .left = reserves->left,
                                   .n_pools = reserves->n_pools,
                                   .hosts = hosts,
                                   .n_hosts = n_hosts};
    for (int i = 0; i < reserves->n_kinds; i++) {
        if (!is_shared || reserves->kinds[i].is_shared) {
            kinds[seen->n_kinds++] = (struct reserves_seen_kind){
                reserves->kinds[i].shown.name, reserves->kinds[i].shown.supply_of};
        }
    }
}
