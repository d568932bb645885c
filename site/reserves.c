/* SPDX-License-Identifier: Apache-2.0 */
/* reserves.c: see reserves.h.
 *
 * The ledger is a list of open jobs that reserve something; jobs with equal texts share
 * one reading of it. Of a pass a resource is looked at when the first job asks for it:
 * which pool each host is in, what it has, and what is taken off it. */
#include "site/reserves.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "base/exported.h"
#include "site/halts.h"
#include "site/parts.h"
#include "site/reserve_config.h"

/* What some jobs reserve alike. */
struct reading {
    int n_users;
    bool is_read; /* of this catalogue */
    struct arena arena;
    struct resreq_usage usage;
    UT_hash_handle hh;
    char text[];
};

/* A job's entry. */
struct reserved {
    struct job *job;
    struct reading *reading;
    int place; /* in the list */
};

/* A resource in a pass. */
struct kind {
    struct reserve_kind shown;
    int *pool_of_row; /* by row of the facts; -1 */
    bool is_shared;   /* several hosts have it together */
};

/* A pool of instances that a provider exports. */
struct borrowed_pool {
    const char *site;
    int number, pool;
};

struct reserves {
    struct reserved **items;
    int count, capacity;
    struct reading *readings;
    int64_t wake_ms;
    /* The pass: */
    struct arena *arena;
    const struct place_host *hosts;
    int n_hosts, n_rows;
    int *rows; /* by host: of the facts, or -1 */
    int64_t now_ms;
    struct kind *kinds;
    struct reserve_kind *shown;
    int n_kinds, kinds_capacity;
    int64_t *left, *total; /* by pool */
    int n_pools, pools_capacity;
    struct reserve reserve;
};

struct reserves *reserves_new(void)
{
    struct reserves *reserves = mem_alloc(1, sizeof(*reserves));
    reserves->wake_ms = INT64_MAX;
    return reserves;
}

/* ---------------------------------------------------------------- the ledger */

static struct reading *take_reading(struct reserves *reserves, const char *text)
{
    struct reading *reading;
    HASH_FIND_STR(reserves->readings, text, reading);
    if (reading == NULL) {
        size_t length = strlen(text);
        reading = mem_alloc(1, sizeof(*reading) + length + 1);
        memcpy(reading->text, text, length + 1);
        arena_init_small(&reading->arena);
        HASH_ADD_STR(reserves->readings, text, reading);
    }
    reading->n_users++;
    return reading;
}

static void drop_reading(struct reserves *reserves, struct reading *reading)
{
    if (--reading->n_users > 0) {
        return;
    }
    HASH_DEL(reserves->readings, reading);
    arena_release(&reading->arena);
    free(reading);
}

void reserves_enter(struct reserves *reserves, struct job *job)
{
    if (job->reserved == NULL || job->ledger != NULL) {
        return;
    }
    if (reserves->count == reserves->capacity) {
        reserves->capacity = reserves->capacity * 2 + 16;
        reserves->items = mem_grow(reserves->items, (size_t)reserves->capacity,
                                   sizeof(*reserves->items));
    }
    struct reserved *hold = mem_alloc(1, sizeof(*hold));
    hold->job = job;
    hold->reading = take_reading(reserves, job->reserved);
    hold->place = reserves->count;
    reserves->items[reserves->count++] = hold;
    job->ledger = hold;
}

void reserves_leave(struct reserves *reserves, struct job *job)
{
    struct reserved *hold = job->ledger;
    if (hold == NULL) {
        return;
    }
    struct reserved *last = reserves->items[--reserves->count];
    reserves->items[hold->place] = last;
    last->place = hold->place;
    drop_reading(reserves, hold->reading);
    free(hold);
    job->ledger = NULL;
}

void reserves_forget(struct reserves *reserves)
{
    struct reading *reading, *next;
    HASH_ITER (hh, reserves->readings, reading, next) {
        arena_clear(&reading->arena);
        reading->is_read = false;
    }
}

void reserves_free(struct reserves *reserves)
{
    if (reserves == NULL) {
        return;
    }
    while (reserves->count > 0) {
        reserves_leave(reserves, reserves->items[reserves->count - 1]->job);
    }
    free(reserves->items);
    free(reserves);
}

static const struct resreq_usage *usage_of(const struct site *site,
                                           const struct reserved *hold)
{
    struct reading *reading = hold->reading;
    if (!reading->is_read) {
        reading->is_read = true;
        resreq_usage_read(&reading->arena, facts_resources(site->facts), reading->text,
                          &reading->usage);
    }
    return &reading->usage;
}

/* ---------------------------------------------------------------- pools */

static int64_t *grow(const struct reserves *reserves, const int64_t *old, int capacity)
{
    int64_t *grown = arena_alloc(reserves->arena, (size_t)capacity, sizeof(*grown));
    if (reserves->n_pools > 0) {
        memcpy(grown, old, (size_t)reserves->n_pools * sizeof(*grown));
    }
    return grown;
}

static int add_pool(struct reserves *reserves, int64_t milli)
{
    if (reserves->n_pools == reserves->pools_capacity) {
        int capacity = reserves->pools_capacity * 2 + 64;
        reserves->left = grow(reserves, reserves->left, capacity);
        reserves->total = grow(reserves, reserves->total, capacity);
        reserves->pools_capacity = capacity;
    }
    reserves->left[reserves->n_pools] = reserves->total[reserves->n_pools] = milli;
    return reserves->n_pools++;
}

static int64_t to_milli(double number)
{
    const double most = (double)RESREQ_USAGE_MILLI_MAX;
    double milli = number * 1000;
    return (int64_t)(milli > most ? most : milli < -most ? -most : milli);
}

/* The number of the pool that the host's contracts give of the resource; 0: none. */
static int exported_pool(const struct site *site, int index, const char *resource)
{
    struct consumer_host host;
    consumer_host_at(site->consumer, index, &host);
    for (int i = 0; i < host.n_resources; i++) {
        if (strcmp(host.resources[i].name, resource) == 0 &&
            exported_is_seen_from(&host.resources[i], host.host)) {
            return host.resources[i].pool;
        }
    }
    return 0;
}

/* What a resource is made of while its pools are found. */
struct finding {
    struct kind *kind;
    int *of_place; /* by place of ResourceMap; -1 */
    struct borrowed_pool *borrowed;
    int n_borrowed;
};

static int *pool_at_place(struct finding *finding, const struct site *site, int host)
{
    int place = facts_place_of(site->facts, host, finding->kind->shown.id);
    if (place < 0) {
        return NULL;
    }
    if (site->config->facts.places[place].n_hosts > 1) {
        finding->kind->is_shared = true;
    }
    return &finding->of_place[place];
}

static int *pool_of_provider(struct finding *finding, const struct site *site, int host)
{
    const char *provider = site->reserves->hosts[host].site;
    int number = exported_pool(site, host - site_hosts_count(site->hosts),
                               finding->kind->shown.name);
    if (number == 0) {
        return NULL;
    }
    finding->kind->is_shared = true;
    for (int i = finding->n_borrowed - 1; i >= 0; i--) {
        struct borrowed_pool *pool = &finding->borrowed[i];
        if (pool->number == number && strcmp(pool->site, provider) == 0) {
            return &pool->pool;
        }
    }
    struct borrowed_pool *added = &finding->borrowed[finding->n_borrowed++];
    *added = (struct borrowed_pool){provider, number, -1};
    return &added->pool;
}

/* Of a host, or of all that share it. */
static void find_pool(struct finding *finding, const struct site *site, int host,
                      int row)
{
    struct reserves *reserves = site->reserves;
    const struct resource_table *table = facts_table(site->facts);
    struct kind *kind = finding->kind;
    bool is_own = reserves->hosts[host].site[0] == '\0';
    if (kind->pool_of_row[row] >= 0 ||
        !resource_table_has(table, row, kind->shown.id)) {
        return; /* another lease of the same host; or it has none */
    }
    int *shared = is_own ? pool_at_place(finding, site, host)
                         : pool_of_provider(finding, site, host);
    int pool = shared != NULL ? *shared : -1;
    if (pool < 0) {
        pool = add_pool(reserves,
                        to_milli(resource_table_number(table, row, kind->shown.id)));
    }
    if (shared != NULL) {
        *shared = pool;
    }
    kind->pool_of_row[row] = pool;
}

static void find_pools(const struct site *site, struct kind *kind)
{
    struct reserves *reserves = site->reserves;
    struct arena *arena = reserves->arena;
    int n_places = site->config->facts.n_places;
    int *pool_of = arena_alloc(arena, (size_t)reserves->n_hosts, sizeof(*pool_of));
    struct finding finding = {.kind = kind};
    finding.of_place = arena_alloc(arena, (size_t)n_places, sizeof(int));
    finding.borrowed =
        arena_alloc(arena, (size_t)reserves->n_hosts, sizeof(*finding.borrowed));
    kind->pool_of_row = arena_alloc(arena, (size_t)reserves->n_rows, sizeof(int));
    memset(kind->pool_of_row, -1, (size_t)reserves->n_rows * sizeof(int));
    memset(finding.of_place, -1, (size_t)n_places * sizeof(int));
    for (int i = 0; i < reserves->n_hosts; i++) {
        int row = reserves->rows[i];
        if (row >= 0) {
            find_pool(&finding, site, i, row);
        }
        pool_of[i] = row >= 0 ? kind->pool_of_row[row] : -1;
    }
    kind->shown.pool_of = pool_of;
}

/* ---------------------------------------------------------------- what is taken */

/* It has given its slots away, and what is released with them. */
static bool is_still(const struct site *site, const struct job *job)
{
    return job->halt.causes != 0 && job->halt.yields && halts_is_still(site, job);
}

static bool is_released(const struct site *site, int id)
{
    return id >= RESOURCE_BUILTINS &&
           resources_at(facts_resources(site->facts), id)->is_released;
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
    return spread->lease[0] == '\0' ? site_hosts_find(site->hosts, name)
                                    : facts_row(site->facts, name);
}

/* What an item takes on those hosts. */
static int add_parts(const struct site *site, const struct spread *spread,
                     const struct kind *kind, const struct resreq_item *item,
                     int64_t milli, struct reserve_part *parts)
{
    int n_parts = 0;
    for (int i = 0; i < spread->n_hosts; i++) {
        int row = row_of(site, spread, i);
        int pool =
            row >= 0 && row < site->reserves->n_rows ? kind->pool_of_row[row] : -1;
        int64_t n_times = reserve_times(item->scope, spread->hosts[i].n_slots, i == 0);
        if (pool >= 0 && n_times > 0) {
            parts[n_parts++] = (struct reserve_part){pool, n_times * milli};
        }
    }
    return n_parts;
}

static int64_t elapsed_ms(const struct reserves *reserves, const struct job *job)
{
    return job->start_ms != 0 ? reserves->now_ms - job->start_ms : 0;
}

static void note_wake(struct reserves *reserves, const struct job *job,
                      const struct resreq_item *item)
{
    int64_t next_ms =
        resreq_usage_next_ms(item, elapsed_ms(reserves, job), RESERVES_STEP_MS);
    if (job->start_ms != 0 && next_ms != INT64_MAX &&
        job->start_ms + next_ms < reserves->wake_ms) {
        reserves->wake_ms = job->start_ms + next_ms;
    }
}

static void take_off(const struct site *site, const struct kind *kind,
                     const struct reserved *hold)
{
    struct reserves *reserves = site->reserves;
    const struct resreq_usage *usage = usage_of(site, hold);
    const struct job *job = hold->job;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_item *item = &usage->items[i];
        if (item->id != kind->shown.id ||
            (is_released(site, item->id) && is_still(site, job))) {
            continue;
        }
        int64_t milli = resreq_usage_milli(item, elapsed_ms(reserves, job));
        struct reserve_part *parts =
            arena_alloc(reserves->arena, (size_t)job->n_hosts, sizeof(*parts));
        struct spread spread = spread_of(job);
        int n_parts = add_parts(site, &spread, kind, item, milli, parts);
        reserve_take(reserves->left, parts, n_parts, 1);
        note_wake(reserves, job, item);
    }
}

/* It stood still when its host last spoke of it. While a host has to say it anew what
 * it gave back may be another's already: a pass takes care, and who looks is told the
 * truth. */
static bool was_still(const struct job *job)
{
    return job->halt.causes != 0 && job->halt.yields &&
           (job->state == JOB_SSUSP || job->state == JOB_USUSP ||
            job->state == JOB_UNKWN);
}

/* What the job reserves now on each host of an item that it has not given back. */
static void list_job(const struct site *site, const struct job *job,
                     reserves_held_fn fn, void *arg)
{
    const struct resreq_usage *usage = usage_of(site, job->ledger);
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_item *item = &usage->items[i];
        if (is_released(site, item->id) && was_still(job)) {
            continue;
        }
        int64_t ms = job->start_ms != 0 ? site->now_ms - job->start_ms : 0;
        for (int k = 0; k < job->n_hosts; k++) {
            int64_t n_times = reserve_times(item->scope, job->hosts[k].n_slots, k == 0);
            const struct reserves_held held = {
                .resource = resources_at(facts_resources(site->facts), item->id)->name,
                .host = job->hosts[k].host,
                .lease = job->lease,
                .epoch = job->epoch,
                .milli = n_times * resreq_usage_milli(item, ms),
            };
            if (held.milli > 0) {
                fn(arg, &held);
            }
        }
    }
}

bool reserves_has_any(const struct site *site)
{
    return site->reserves->count > 0;
}

void reserves_list(const struct site *site, reserves_held_fn fn, void *arg)
{
    for (int i = 0; i < jobs_count_open(site->jobs); i++) {
        const struct job *job = jobs_open_at(site->jobs, i);
        if (job->ledger != NULL) {
            list_job(site, job, fn, arg);
        }
    }
}

/* ---------------------------------------------------------------- a pass */

void reserves_begin(const struct site *site, struct arena *arena,
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
    reserves->wake_ms = INT64_MAX;
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
    struct kind *kinds = arena_alloc(reserves->arena, (size_t)capacity, sizeof(*kinds));
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
    struct kind *kind = &reserves->kinds[reserves->n_kinds];
    *kind = (struct kind){
        .shown = {.name = resources_at(facts_resources(site->facts), id)->name,
                  .id = id}};
    kind->shown.is_preemptable =
        reserve_config_is_preemptable(site->config, kind->shown.name);
    find_pools(site, kind);
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

static enum resreq_scope scope_of(const struct site *site,
                                  const struct resreq_item *item,
                                  const struct kind *kind)
{
    if (item->scope != RESREQ_SCOPE_DEFAULT) {
        return item->scope;
    }
    enum resreq_scope scope = reserve_config_scope(site->config, kind->shown.name);
    return scope != RESREQ_SCOPE_DEFAULT ? scope
           : kind->is_shared             ? RESREQ_SCOPE_JOB
                                         : RESREQ_SCOPE_HOST;
}

static void show_alternative(const struct site *site, const struct resreq_usage *usage,
                             struct reserve_asks *asks)
{
    struct arena *arena = site->reserves->arena;
    size_t n_most = (size_t)usage->n_items;
    struct reserve_ask *list = arena_alloc(arena, n_most, sizeof(*list));
    struct resreq_item *items = arena_alloc(arena, n_most, sizeof(*items));
    struct resreq_usage *shown = arena_alloc(arena, 1, sizeof(*shown));
    for (int i = 0; i < usage->n_items; i++) {
        items[i] = usage->items[i];
        if (!is_limited(site, items[i].id)) {
            continue;
        }
        int index = kind_of(site, items[i].id);
        items[i].scope = scope_of(site, &items[i], &site->reserves->kinds[index]);
        list[asks->n_items++] = (struct reserve_ask){index, items[i].scope,
                                                     resreq_usage_milli(&items[i], 0)};
    }
    *shown = (struct resreq_usage){.items = items, .n_items = usage->n_items};
    asks->items = list;
    asks->usage = shown;
}

const struct reserve_asks *reserves_asks(const struct site *site,
                                         const struct resreq_usages *usages)
{
    struct reserve_asks *asks = arena_alloc(
        site->reserves->arena, (size_t)usages->n_alternatives, sizeof(*asks));
    for (int i = 0; i < usages->n_alternatives; i++) {
        show_alternative(site, &usages->alternatives[i], &asks[i]);
    }
    return usages->n_alternatives > 0 ? asks : NULL;
}

/* What of a usage `takes` wants, so long after the job began, as parts. */
typedef bool (*takes_fn)(const struct site *site, const struct job *job, int id);

static int list_parts(const struct site *site, const struct resreq_usage *usage,
                      const struct job *job, const struct spread *spread,
                      takes_fn takes, const struct reserve_part **parts)
{
    struct reserves *reserves = site->reserves;
    size_t n_most = (size_t)usage->n_items * (size_t)spread->n_hosts;
    struct reserve_part *list = arena_alloc(reserves->arena, n_most, sizeof(*list));
    int64_t ms = job != NULL ? elapsed_ms(reserves, job) : 0;
    int n_parts = 0;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_item *item = &usage->items[i];
        if (is_limited(site, item->id) && takes(site, job, item->id)) {
            int kind = kind_of(site, item->id);
            n_parts += add_parts(site, spread, &reserves->kinds[kind], item,
                                 resreq_usage_milli(item, ms), &list[n_parts]);
        }
    }
    *parts = list;
    return n_parts;
}

static bool gives_back(const struct site *site, const struct job *job, int id)
{
    (void)job;
    return is_released(site, id);
}

int reserves_given(const struct site *site, const struct job *job,
                   const struct reserve_part **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL ? 0
                               : list_parts(site, usage_of(site, job->ledger), job,
                                            &spread, gives_back, parts);
}

/* Kinds that no line of the pass asks for are not looked at: nothing would come of it,
 * and the pass has begun. */
static bool would_give(const struct site *site, const struct job *job, int id)
{
    const struct reserves *reserves = site->reserves;
    for (int i = 0; i < reserves->n_kinds; i++) {
        const struct kind *kind = &reserves->kinds[i];
        if (kind->shown.id == id) {
            return kind->shown.is_preemptable &&
                   (is_released(site, id) ||
                    (site->config->preempt.queues[job->queue].ends & HALT_PREEMPT) !=
                        0);
        }
    }
    return false;
}

int reserves_to_give(const struct site *site, const struct job *job,
                     const struct reserve_part **parts)
{
    struct spread spread = spread_of(job);
    return job->ledger == NULL ? 0
                               : list_parts(site, usage_of(site, job->ledger), job,
                                            &spread, would_give, parts);
}

static bool takes_all(const struct site *site, const struct job *job, int id)
{
    (void)site, (void)job, (void)id;
    return true;
}

static int parts_of_record(const struct site *site, const char *reserved,
                           const struct spread *spread,
                           const struct reserve_part **parts)
{
    struct resreq_usage usage;
    resreq_usage_read(site->reserves->arena, facts_resources(site->facts), reserved,
                      &usage);
    return list_parts(site, &usage, NULL, spread, takes_all, parts);
}

bool reserves_has(const struct site *site, const char *reserved, const char *lease,
                  const struct host_slots *hosts, int n_hosts)
{
    const struct spread spread = {lease, hosts, n_hosts};
    const struct reserve_part *parts;
    int n_parts = parts_of_record(site, reserved, &spread, &parts);
    return reserve_has(site->reserves->left, parts, n_parts);
}

void reserves_keep(const struct site *site, const char *reserved, const char *lease,
                   const struct host_slots *hosts, int n_hosts)
{
    const struct spread spread = {lease, hosts, n_hosts};
    const struct reserve_part *parts;
    int n_parts = parts_of_record(site, reserved, &spread, &parts);
    for (int i = 0; i < n_parts; i++) {
        int64_t *left = &site->reserves->left[parts[i].pool];
        *left -= parts[i].milli < *left ? parts[i].milli : *left > 0 ? *left : 0;
    }
}

const struct reserve *reserves_show(const struct site *site)
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
    reserves->reserve = (struct reserve){.kinds = reserves->shown,
                                         .n_kinds = reserves->n_kinds,
                                         .left = reserves->left,
                                         .n_pools = reserves->n_pools};
    return &reserves->reserve;
}

const char *reserves_text(const struct site *site, struct arena *arena,
                          const struct reserve_asks *asks)
{
    return asks == NULL
               ? ""
               : resreq_usage_text(arena, facts_resources(site->facts), asks->usage);
}

int64_t reserves_wake_ms(const struct reserves *reserves)
{
    return reserves->wake_ms;
}

/* ---------------------------------------------------------------- to be seen */

/* All that jobs reserve; or, where `is_shared`, all that there is to be reserved and
 * that several hosts have together. */
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
        const struct resreq_usage *usage = usage_of(site, reserves->items[i]);
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
    int64_t wake_ms = reserves->wake_ms;
    int n_hosts;
    const struct place_host *hosts = schedule_hosts(site, arena, &n_hosts);
    reserves_begin(site, arena, hosts, n_hosts, site->now_ms);
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
                reserves->kinds[i].shown.name, reserves->kinds[i].shown.pool_of};
        }
    }
    reserves->wake_ms = wake_ms;
}
