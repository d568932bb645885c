/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_pass.c: what is left of what jobs reserve, as a pass sees it
 * (site_ledger.h); part of rusage_ledger_parts.h.
 *
 * A resource is looked at when the first job of the pass requests for it: which supply
 * each host is in, what it has, and what open jobs take off it. */
#include <string.h>

#include "site/config/site_config.h"
#include "site/ledger/rusage_ledger_parts.h"

/* ---------------------------------------------------------------- amounts */

/* The hosts that something is reserved on. */
struct hosts_used {
    const char *lease; /* "": own hosts */
    const struct host_slots *hosts;
    int n_hosts;
    int *first_row; /* where to look for the first host; NULL: not known */
};

static struct hosts_used hosts_of(const struct job *job)
{
    return (struct hosts_used){job->lease, job->hosts, job->n_hosts,
                               job->rusage != NULL ? &job->rusage->row : NULL};
}

/* The first host of most jobs is an own host, which has kept its row since the pass
 * before. */
static int row_of(const struct rusage_pass *pass, const struct hosts_used *hosts_used,
                  int index)
{
    const struct host_table *hosts = pass->from.hosts;
    const char *host = hosts_used->hosts[index].host;
    bool is_own = hosts_used->lease[0] == '\0';
    int *row = is_own && index == 0 ? hosts_used->first_row : NULL;
    if (row != NULL && *row >= 0 && *row < host_table_count(hosts) &&
        strcmp(host_table_name(hosts, *row), host) == 0) {
        return *row;
    }
    int found = supply_map_row(pass, hosts_used->lease, host);
    if (row != NULL) {
        *row = found;
    }
    return found;
}

/* What an item takes on those hosts. */
static int add_parts(const struct rusage_pass *pass,
                     const struct hosts_used *hosts_used,
                     const struct rusage_pass_resource *resource,
                     const struct resreq_rusage_item *item, int64_t milli,
                     struct rusage_amount *parts)
{
    int n_parts = 0;
    for (int i = 0; i < hosts_used->n_hosts; i++) {
        int row = row_of(pass, hosts_used, i);
        int supply = row >= 0 && row < pass->n_rows ? resource->supply_of_row[row] : -1;
        int64_t n_times = rusage_supply_times_on(item, i, hosts_used->hosts[i].n_slots);
        if (supply >= 0 && n_times > 0) {
            parts[n_parts++] = (struct rusage_amount){supply, n_times * milli};
        }
    }
    return n_parts;
}

static int64_t elapsed_ms(const struct rusage_pass *pass, const struct job *job)
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

/* What a host has is not known until its provider has told, as after a restart. Until
 * then an item of a job there counts for each supply that the provider exports. */
static void take_where_unknown(struct rusage_pass *pass,
                               const struct hosts_used *hosts_used,
                               const struct rusage_pass_resource *resource,
                               const struct resreq_rusage_item *item, int64_t milli)
{
    size_t n_site = strcspn(hosts_used->lease, "/");
    for (int i = 0; i < hosts_used->n_hosts && n_site > 0; i++) {
        int row = row_of(pass, hosts_used, i);
        int64_t n_times = rusage_supply_times_on(item, i, hosts_used->hosts[i].n_slots);
        bool is_known =
            row >= 0 && row < pass->n_rows && resource->supply_of_row[row] >= 0;
        for (int k = 0; k < resource->n_exported && !is_known && n_times > 0; k++) {
            const struct exported_supply *exported = &resource->exported[k];
            if (strlen(exported->site) == n_site &&
                strncmp(exported->site, hosts_used->lease, n_site) == 0) {
                rusage_supply_take(
                    pass->left,
                    &(struct rusage_amount){exported->supply, n_times * milli}, 1, 1);
            }
        }
    }
}

static void subtract(struct rusage_pass *pass,
                     const struct rusage_pass_resource *resource,
                     const struct rusage_entry *entry)
{
    const struct resreq_rusage *usage = entry->usage;
    const struct job *job = entry->job;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (item->id != resource->shown.id ||
            supply_map_is_released(pass, job, item->id)) {
            continue;
        }
        int64_t milli = resreq_rusage_milli(item, elapsed_ms(pass, job));
        struct rusage_amount *parts =
            arena_alloc(pass->arena, (size_t)job->n_hosts, sizeof(*parts));
        struct hosts_used hosts_used = hosts_of(job);
        int n_parts = add_parts(pass, &hosts_used, resource, item, milli, parts);
        rusage_supply_take(pass->left, parts, n_parts, 1);
        take_where_unknown(pass, &hosts_used, resource, item, milli);
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
    pass->n_rows = resource_table_rows(host_resources_values(from->host_resources));
    pass->now_ms = now_ms;
    pass->wake_ms = INT64_MAX;
    limit_supply_begin(pass);
    return pass;
}

/* The index of a resource that the pass has looked at; -1. */
static int find_resource(const struct rusage_pass *pass, int id)
{
    return pass->index_of != NULL ? pass->index_of[id] - 1 : -1;
}

/* The index of the resource in the pass, with the amounts of running jobs subtracted.
 */
static int resource_of(struct rusage_pass *pass, int id)
{
    int index = find_resource(pass, id);
    if (index >= 0) {
        return index;
    }
    if (pass->index_of == NULL) {
        int n_ids =
            resources_count(host_resources_catalogue(pass->from.host_resources));
        pass->index_of =
            arena_alloc(pass->arena, (size_t)n_ids, sizeof(*pass->index_of));
    }
    struct rusage_pass_resource *resource = supply_map_add_resource(pass);
    pass->index_of[id] = pass->n_resources;
    *resource = (struct rusage_pass_resource){
        .shown = {.name = resources_at(
                              host_resources_catalogue(pass->from.host_resources), id)
                              ->name,
                  .id = id}};
    resource->shown.is_preemptable =
        rusage_config_is_preemptable(pass->from.config, resource->shown.name);
    supply_map_find(pass, resource);
    for (int i = 0; i < pass->from.ledger->count; i++) {
        subtract(pass, resource, pass->from.ledger->items[i]);
    }
    return pass->n_resources - 1;
}

/* Reserving load, or a resource that a lenient site does not know, is never refused. */
static bool is_limited(const struct rusage_pass *pass, int id)
{
    const struct resource *known =
        resources_at(host_resources_catalogue(pass->from.host_resources), id);
    return known->type == RESOURCE_NUMERIC && !known->is_increasing;
}

const double *rusage_pass_left(struct rusage_pass *pass, int id)
{
    if (!is_limited(pass, id) || !rusage_ledger_has(pass->from.ledger, id)) {
        return NULL;
    }
    int index = resource_of(pass, id); /* may move the array */
    const struct rusage_pass_resource *resource = &pass->resources[index];
    size_t n_blocks = (size_t)pass->n_rows / RESOURCE_BLOCK + 1;
    double *left = arena_alloc(pass->arena, n_blocks * RESOURCE_BLOCK, sizeof(*left));
    for (int row = 0; row < pass->n_rows; row++) {
        int supply = resource->supply_of_row[row];
        left[row] = supply >= 0 ? (double)pass->left[supply] / 1000
                                : resource_table_number(
                                      host_resources_values(pass->from.host_resources),
                                      row, id);
    }
    return left;
}

static enum resreq_scope scope_of(const struct rusage_pass *pass,
                                  const struct resreq_rusage_item *item,
                                  const struct rusage_pass_resource *resource)
{
    if (item->scope != RESREQ_SCOPE_DEFAULT) {
        return item->scope;
    }
    enum resreq_scope scope =
        rusage_config_scope(pass->from.config, resource->shown.name);
    return scope != RESREQ_SCOPE_DEFAULT ? scope
           : resource->is_shared         ? RESREQ_SCOPE_JOB
                                         : RESREQ_SCOPE_HOST;
}

static void show_alternative(struct rusage_pass *pass,
                             const struct resreq_rusage *usage,
                             struct rusage_request *requests)
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
        int index = resource_of(pass, items[i].id);
        items[i].scope = scope_of(pass, &items[i], &pass->resources[index]);
        list[requests->n_items++] = (struct rusage_item){
            index, items[i].scope, resreq_rusage_milli(&items[i], 0),
            items[i].threshold_milli};
    }
    *shown = (struct resreq_rusage){.items = items, .n_items = usage->n_items};
    requests->items = list;
    requests->rusage = shown;
}

const struct rusage_request *rusage_pass_requests(struct rusage_pass *pass,
                                                  const struct resreq_rusages *usages)
{
    struct rusage_request *requests =
        arena_alloc(pass->arena, (size_t)usages->n_alternatives, sizeof(*requests));
    for (int i = 0; i < usages->n_alternatives; i++) {
        show_alternative(pass, &usages->alternatives[i], &requests[i]);
    }
    return usages->n_alternatives > 0 ? requests : NULL;
}

/* A supply of an own host may have gone with its place in ResourceMap: then nothing
 * more of it can be had. */
const struct rusage_request *rusage_pass_grow_request(struct rusage_pass *pass,
                                                      const struct job *job,
                                                      const int *places)
{
    if (job->rusage == NULL) {
        return NULL;
    }
    const struct resreq_rusage *usage = job->rusage->usage;
    struct rusage_request *requests = arena_alloc(pass->arena, 1, sizeof(*requests));
    struct rusage_item *list =
        arena_alloc(pass->arena, (size_t)usage->n_items + 1, sizeof(*list));
    uint8_t *has = arena_alloc(pass->arena, (size_t)pass->n_hosts + 1, 1);
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (item->scope != RESREQ_SCOPE_JOB && is_limited(pass, item->id)) {
            list[requests->n_items++] = (struct rusage_item){
                resource_of(pass, item->id), item->scope,
                resreq_rusage_milli(item, elapsed_ms(pass, job)), 0};
        }
    }
    for (int i = 0; i < job->n_hosts; i++) {
        if (places[i] >= 0) {
            has[places[i]] = 1;
        }
    }
    requests->items = list;
    requests->rusage = usage;
    requests->has = has;
    return requests->n_items > 0 ? requests : NULL;
}

/* What of a usage `takes` wants, so long after the job began, as parts. */
typedef bool (*takes_fn)(const struct rusage_pass *pass, const struct job *job, int id);

static int list_parts(struct rusage_pass *pass, const struct resreq_rusage *usage,
                      const struct job *job, const struct limit_owner *owner,
                      const struct hosts_used *hosts_used, takes_fn takes,
                      const struct rusage_amount **parts)
{
    size_t n_most = (size_t)usage->n_items * (size_t)hosts_used->n_hosts *
                    ((size_t)limit_supply_most(owner) + 1);
    struct rusage_amount *list = arena_alloc(pass->arena, n_most, sizeof(*list));
    int64_t ms = job != NULL ? elapsed_ms(pass, job) : 0;
    int n_parts = 0;
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (is_limited(pass, item->id) && takes(pass, job, item->id)) {
            int resource = resource_of(pass, item->id);
            n_parts += add_parts(pass, hosts_used, &pass->resources[resource], item,
                                 resreq_rusage_milli(item, ms), &list[n_parts]);
            n_parts += limit_supply_parts(pass, owner, item, hosts_used->lease,
                                          hosts_used->hosts, hosts_used->n_hosts,
                                          &list[n_parts]);
        }
    }
    *parts = list;
    return n_parts;
}

static bool is_given_back(const struct rusage_pass *pass, const struct job *job, int id)
{
    (void)job;
    return rusage_ledger_is_released(pass->from.ledger, id);
}

int rusage_pass_released(struct rusage_pass *pass, const struct job *job,
                         const struct rusage_amount **parts)
{
    struct hosts_used hosts_used = hosts_of(job);
    return job->rusage == NULL
               ? 0
               : list_parts(pass, job->rusage->usage, job, job->limit_owner,
                            &hosts_used, is_given_back, parts);
}

const char *rusage_pass_lacks(struct rusage_pass *pass, struct arena *arena,
                              const struct job *job)
{
    const char *text = "";
    if (job->rusage == NULL || !supply_map_is_yielded(pass, job)) {
        return text;
    }
    const struct resreq_rusage *usage = job->rusage->usage;
    struct hosts_used hosts_used = hosts_of(job);
    for (int i = 0; i < usage->n_items; i++) {
        struct resreq_rusage one = {.items = &usage->items[i], .n_items = 1};
        const struct rusage_amount *parts;
        int n_parts = list_parts(pass, &one, job, job->limit_owner, &hosts_used,
                                 is_given_back, &parts);
        if (!rusage_supply_has(pass->left, parts, n_parts)) {
            int id = usage->items[i].id;
            text = arena_printf(
                arena, "%s%s%s", text, text[0] != '\0' ? " " : "",
                resources_at(host_resources_catalogue(pass->from.host_resources), id)
                    ->name);
        }
    }
    return text;
}

/* Resources that no class of the pass asks for are ignored: they would not help, and
 * the pass has begun. */
static bool is_given_to_preemptor(const struct rusage_pass *pass, const struct job *job,
                                  int id)
{
    int index = find_resource(pass, id);
    return index >= 0 && pass->resources[index].shown.is_preemptable &&
           (rusage_ledger_is_released(pass->from.ledger, id) ||
            (pass->from.config->preempt.queues[job->queue].terminate_when &
             SUSPEND_PREEMPT) != 0);
}

int rusage_pass_preemptable(struct rusage_pass *pass, const struct job *job,
                            const struct rusage_amount **parts)
{
    struct hosts_used hosts_used = hosts_of(job);
    return job->rusage == NULL
               ? 0
               : list_parts(pass, job->rusage->usage, job, job->limit_owner,
                            &hosts_used, is_given_to_preemptor, parts);
}

static bool is_held(const struct rusage_pass *pass, const struct job *job, int id)
{
    return find_resource(pass, id) >= 0 && !supply_map_is_released(pass, job, id);
}

int rusage_pass_held(struct rusage_pass *pass, const struct job *job,
                     const struct rusage_amount **parts)
{
    struct hosts_used hosts_used = hosts_of(job);
    return job->rusage == NULL
               ? 0
               : list_parts(pass, job->rusage->usage, job, job->limit_owner,
                            &hosts_used, is_held, parts);
}

static bool takes_all(const struct rusage_pass *pass, const struct job *job, int id)
{
    (void)pass, (void)job, (void)id;
    return true;
}

static int parts_of_record(struct rusage_pass *pass, const struct limit_owner *owner,
                           const char *reserved, const struct hosts_used *hosts_used,
                           const struct rusage_amount **parts)
{
    struct resreq_rusage usage;
    if (reserved[0] == '\0') {
        return 0;
    }
    resreq_rusage_read(pass->arena, host_resources_catalogue(pass->from.host_resources),
                       reserved, &usage);
    return list_parts(pass, &usage, NULL, owner, hosts_used, takes_all, parts);
}

bool rusage_pass_has(struct rusage_pass *pass, const struct limit_owner *owner,
                     const char *reserved, const char *lease,
                     const struct host_slots *hosts, int n_hosts)
{
    const struct hosts_used hosts_used = {lease, hosts, n_hosts, NULL};
    const struct rusage_amount *parts;
    int n_parts = parts_of_record(pass, owner, reserved, &hosts_used, &parts);
    return rusage_supply_has(pass->left, parts, n_parts);
}

void rusage_pass_reserve(struct rusage_pass *pass, const struct limit_owner *owner,
                         const char *reserved, const char *lease,
                         const struct host_slots *hosts, int n_hosts)
{
    const struct hosts_used hosts_used = {lease, hosts, n_hosts, NULL};
    const struct rusage_amount *parts;
    int n_parts = parts_of_record(pass, owner, reserved, &hosts_used, &parts);
    for (int i = 0; i < n_parts; i++) {
        int64_t *left = &pass->left[parts[i].supply];
        *left -= parts[i].milli < *left ? parts[i].milli : *left > 0 ? *left : 0;
    }
}

const struct rusage_supply *rusage_pass_supply(struct rusage_pass *pass)
{
    if (pass->n_resources == 0) {
        return NULL;
    }
    pass->shown =
        arena_alloc(pass->arena, (size_t)pass->n_resources, sizeof(*pass->shown));
    for (int i = 0; i < pass->n_resources; i++) {
        pass->shown[i] = pass->resources[i].shown;
    }
    pass->reserve = (struct rusage_supply){.resources = pass->shown,
                                           .n_resources = pass->n_resources,
                                           .left = pass->left,
                                           .n_supplies = pass->n_supplies};
    return &pass->reserve;
}

const char *rusage_pass_text(struct rusage_pass *pass, struct arena *arena,
                             const struct rusage_request *requests)
{
    return requests == NULL || requests->rusage == NULL
               ? ""
               : resreq_rusage_text(arena,
                                    host_resources_catalogue(pass->from.host_resources),
                                    requests->rusage);
}

int64_t rusage_pass_wake_ms(const struct rusage_pass *pass)
{
    return pass->wake_ms;
}

/* ---------------------------------------------------------------- listings */

/* All that jobs reserve; or, where `is_shared`, all that there is to be reserved and
 * that is shared (ResourceMap). */
static void add_all_resources(struct rusage_pass *pass, bool is_shared)
{
    const struct resources *resources =
        host_resources_catalogue(pass->from.host_resources);
    for (int id = RESOURCE_BUILTINS; is_shared && id < resources_count(resources);
         id++) {
        if (resources_at(resources, id)->is_consumable && is_limited(pass, id)) {
            resource_of(pass, id);
        }
    }
    for (int i = 0; !is_shared && i < pass->from.ledger->count; i++) {
        const struct resreq_rusage *usage = pass->from.ledger->items[i]->usage;
        for (int k = 0; k < usage->n_items; k++) {
            if (is_limited(pass, usage->items[k].id)) {
                resource_of(pass, usage->items[k].id);
            }
        }
    }
}

void rusage_pass_totals(struct rusage_pass *pass, bool is_shared,
                        struct rusage_totals *totals)
{
    add_all_resources(pass, is_shared);
    struct rusage_totals_resource *resources =
        arena_alloc(pass->arena, (size_t)pass->n_resources, sizeof(*resources));
    *totals = (struct rusage_totals){.resources = resources,
                                     .total = pass->total,
                                     .left = pass->left,
                                     .n_supplies = pass->n_supplies,
                                     .hosts = pass->hosts,
                                     .n_hosts = pass->n_hosts};
    for (int i = 0; i < pass->n_resources; i++) {
        if (pass->resources[i].shown.limit == NULL &&
            (!is_shared || pass->resources[i].is_shared)) {
            resources[totals->n_resources++] = (struct rusage_totals_resource){
                pass->resources[i].shown.name, pass->resources[i].shown.supply_of};
        }
    }
}
