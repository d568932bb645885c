/* SPDX-License-Identifier: Apache-2.0 */
/* limit_supply.c: limits on resources (MEM, RESOURCE and others of section Limit) as
 * supplies of a pass (site_ledger.h); part of rusage_ledger_parts.h.
 *
 * What a limit allows is a supply from which its jobs reserve, beside that of their
 * hosts: one for all hosts, or one for each host of PER_HOST. A job that reserves the
 * resource asks for its amount once more, from that supply. So placing, reservations,
 * backfill and preemption treat a limit like any resource that hosts share.
 *
 *     Limit: PER_USER = all, MEM = 100     ana's jobs reserve 60; she asks for 50
 *     her supply has 40 left, so that the job waits; bo's has 100
 *
 * A host to which a limit does not apply has a supply without end there. A job counts
 * with the amount that it was dispatched with: LSF's limits hold after the duration of
 * a reservation, and are not lowered by its decay. */
#include <string.h>

#include "base/fnv1a.h"
#include "site/config/site_config.h"
#include "site/ledger/rusage_ledger_parts.h"

enum { BUCKETS = 256 };

#define WITHOUT_END (INT64_MAX / 2)

/* What the owners with a key may reserve. */
struct limit_supply {
    const struct limit_share *share;
    int resource; /* index in the pass */
    int together; /* the supply, unless each host has its own; -1 */
    struct limit_supply *next;
};

/* What has been made of requests for an owner. */
struct limit_requests {
    const struct rusage_request *from, *made;
    const struct limit_owner *owner;
    struct limit_requests *next;
};

/* ---------------------------------------------------------------- supplies */

static size_t bucket_of(const struct limit_share *share)
{
    return fnv1a(FNV1A_START, share->key, strlen(share->key)) % BUCKETS;
}

static struct limit_supply *find_supply(const struct rusage_pass *pass,
                                        const struct limit_share *share)
{
    struct limit_supply *at =
        pass->limit_supplies != NULL ? pass->limit_supplies[bucket_of(share)] : NULL;
    while (at != NULL && (at->share->amount != share->amount ||
                          strcmp(at->share->key, share->key) != 0)) {
        at = at->next;
    }
    return at;
}

/* What there is of it on each host of the limit. */
static int64_t amount_on(const struct rusage_pass *pass,
                         const struct limit_amount *amount, int row)
{
    int id = resources_find(host_resources_catalogue(pass->from.host_resources),
                            amount->resource, strlen(amount->resource));
    int64_t milli =
        amount->is_percent ? supply_map_maximum(pass, row, id) : amount->milli;
    return !amount->is_percent ? milli : milli > 0 ? milli / 100 * amount->percent : 0;
}

static void find_hosts(struct rusage_pass *pass, struct limit_supply *supply)
{
    const struct limit_share *share = supply->share;
    const struct limit_side *side = &share->limit->sides[LIMIT_HOSTS];
    struct rusage_pass_resource *resource = &pass->resources[supply->resource];
    int *supply_of =
        arena_alloc(pass->arena, (size_t)pass->n_hosts, sizeof(*supply_of));
    for (int i = 0; i < pass->n_hosts; i++) {
        int row = pass->rows[i];
        supply_of[i] = supply->together >= 0 ? supply->together : pass->unlimited;
        if (!limit_side_has(side, pass->hosts[i].name)) {
            supply_of[i] = pass->unlimited;
        } else if (row >= 0 && supply->together < 0) {
            int *of_row = &resource->supply_of_row[row];
            if (*of_row < 0) {
                *of_row = supply_map_add(pass, amount_on(pass, share->amount, row));
            }
            supply_of[i] = *of_row;
        }
    }
    resource->shown.supply_of = supply_of;
}

static struct limit_supply *add_supply(struct rusage_pass *pass,
                                       const struct limit_share *share)
{
    struct limit_supply *supply = arena_alloc(pass->arena, 1, sizeof(*supply));
    struct rusage_pass_resource *resource = supply_map_add_resource(pass);
    bool is_each = share->limit->sides[LIMIT_HOSTS].mode == LIMIT_EACH;
    size_t n_rows = (size_t)pass->n_rows, bucket = bucket_of(share);
    if (pass->unlimited < 0) {
        pass->unlimited = supply_map_add(pass, WITHOUT_END);
    }
    resource->shown = (struct rusage_resource){
        .name = share->amount->name,
        .id = -1,
        .limit = share->amount->name,
        .is_preemptable =
            rusage_config_is_preemptable(pass->from.config, share->amount->resource),
    };
    resource->supply_of_row = arena_alloc(pass->arena, n_rows, sizeof(int));
    memset(resource->supply_of_row, -1, n_rows * sizeof(int));
    *supply = (struct limit_supply){
        .share = share,
        .resource = (int)(resource - pass->resources),
        .together = is_each ? -1 : supply_map_add(pass, share->amount->milli),
        .next = pass->limit_supplies[bucket],
    };
    pass->limit_supplies[bucket] = supply;
    find_hosts(pass, supply);
    return supply;
}

/* ---------------------------------------------------------------- parts */

static const char *name_of(const struct rusage_pass *pass, int id)
{
    return resources_at(host_resources_catalogue(pass->from.host_resources), id)->name;
}

/* The supply of jobs on the host with that row (-1: it is gone); -1: none. */
static int supply_of(const struct rusage_pass *pass, const struct limit_supply *supply,
                     int row)
{
    bool has_row = row >= 0 && row < pass->n_rows;
    return supply->together >= 0 ? supply->together
           : has_row             ? pass->resources[supply->resource].supply_of_row[row]
                                 : -1;
}

/* The supply from which a job reserves on the host; -1: none. */
static int supply_on(const struct rusage_pass *pass, const struct limit_supply *supply,
                     const char *lease, const char *host)
{
    return limit_side_has(&supply->share->limit->sides[LIMIT_HOSTS], host)
               ? supply_of(pass, supply, supply_map_row(pass, lease, host))
               : -1;
}

int limit_supply_most(const struct limit_owner *owner)
{
    int n_shares = 0;
    if (owner != NULL) {
        limits_shares(owner, &n_shares);
    }
    return n_shares;
}

int limit_supply_parts(struct rusage_pass *pass, const struct limit_owner *owner,
                       const struct resreq_rusage_item *item, const char *lease,
                       const struct host_slots *hosts, int n_hosts,
                       struct rusage_amount *parts)
{
    int n_shares = 0, n_parts = 0;
    const struct limit_share *shares =
        owner != NULL ? limits_shares(owner, &n_shares) : NULL;
    for (int i = 0; i < n_shares; i++) {
        const struct limit_supply *supply =
            strcmp(shares[i].amount->resource, name_of(pass, item->id)) == 0
                ? find_supply(pass, &shares[i])
                : NULL;
        for (int k = 0; supply != NULL && k < n_hosts; k++) {
            int index = supply_on(pass, supply, lease, hosts[k].host);
            int64_t n_times = rusage_supply_times_on(item, k, hosts[k].n_slots);
            if (index >= 0 && n_times > 0) {
                parts[n_parts++] = (struct rusage_amount){
                    index, n_times * resreq_rusage_milli(item, 0)};
            }
        }
    }
    return n_parts;
}

/* ---------------------------------------------------------------- running jobs */

static void add_running(struct rusage_pass *pass, const struct rusage_entry *entry)
{
    const struct job *job = entry->job;
    int n_shares = 0;
    const struct limit_share *shares =
        job->limit_owner != NULL ? limits_shares(job->limit_owner, &n_shares) : NULL;
    for (int i = 0; i < n_shares; i++) {
        if (find_supply(pass, &shares[i]) == NULL) {
            add_supply(pass, &shares[i]);
        }
    }
    size_t n_most = (size_t)n_shares * (size_t)job->n_hosts;
    struct rusage_amount *parts = arena_alloc(pass->arena, n_most, sizeof(*parts));
    for (int i = 0; n_shares > 0 && i < entry->usage->n_items; i++) {
        const struct resreq_rusage_item *item = &entry->usage->items[i];
        if (!supply_map_is_released(pass, job, item->id)) {
            int n_parts = limit_supply_parts(pass, job->limit_owner, item, job->lease,
                                             job->hosts, job->n_hosts, parts);
            rusage_supply_take(pass->left, parts, n_parts, 1);
        }
    }
}

void limit_supply_begin(struct rusage_pass *pass)
{
    const struct site_config *config = pass->from.config;
    bool has_any = false;
    for (int i = 0; i < config->n_limits && !has_any; i++) {
        has_any = config->limits[i].n_amounts > 0;
    }
    pass->unlimited = -1;
    if (has_any) {
        pass->limit_supplies =
            arena_alloc(pass->arena, BUCKETS, sizeof(*pass->limit_supplies));
        pass->limit_requests =
            arena_alloc(pass->arena, BUCKETS, sizeof(*pass->limit_requests));
    }
    for (int i = 0; has_any && i < pass->from.ledger->count; i++) {
        add_running(pass, pass->from.ledger->items[i]);
    }
}

/* ---------------------------------------------------------------- pending jobs */

static const struct rusage_item *find_item(const struct rusage_pass *pass,
                                           const struct rusage_request *request, int id)
{
    for (int i = 0; i < request->n_items; i++) {
        if (pass->resources[request->items[i].resource].shown.id == id) {
            return &request->items[i];
        }
    }
    return NULL;
}

static void make_request(struct rusage_pass *pass, const struct limit_share *shares,
                         int n_shares, struct rusage_request *request)
{
    const struct resreq_rusage *usage = request->rusage;
    size_t n_most = (size_t)request->n_items * ((size_t)n_shares + 1);
    struct rusage_item *items = arena_alloc(pass->arena, n_most, sizeof(*items));
    int n_items = request->n_items;
    if (n_items > 0) {
        memcpy(items, request->items, (size_t)n_items * sizeof(*items));
    }
    for (int i = 0; usage != NULL && i < usage->n_items; i++) {
        const struct resreq_rusage_item *of = &usage->items[i];
        const struct rusage_item *item = find_item(pass, request, of->id);
        for (int k = 0; item != NULL && k < n_shares; k++) {
            if (strcmp(shares[k].amount->resource, name_of(pass, of->id)) == 0) {
                struct limit_supply *supply = find_supply(pass, &shares[k]);
                supply = supply != NULL ? supply : add_supply(pass, &shares[k]);
                items[n_items++] = (struct rusage_item){supply->resource, item->scope,
                                                        resreq_rusage_milli(of, 0), 0};
            }
        }
    }
    request->items = items;
    request->n_items = n_items;
}

const struct rusage_request *
limit_supply_requests(struct rusage_pass *pass, const struct rusage_request *requests,
                      int n_requests, const struct limit_owner *owner)
{
    int n_shares = 0;
    const struct limit_share *shares =
        requests != NULL ? limits_shares(owner, &n_shares) : NULL;
    if (n_shares == 0) {
        return requests;
    }
    const void *key[] = {requests, owner};
    size_t bucket = fnv1a(FNV1A_START, key, sizeof(key)) % BUCKETS;
    struct limit_requests *at = pass->limit_requests[bucket];
    while (at != NULL && (at->from != requests || at->owner != owner)) {
        at = at->next;
    }
    if (at != NULL) {
        return at->made;
    }
    struct rusage_request *made =
        arena_copy(pass->arena, requests, (size_t)n_requests * sizeof(*made));
    for (int i = 0; i < n_requests; i++) {
        make_request(pass, shares, n_shares, &made[i]);
    }
    at = arena_alloc(pass->arena, 1, sizeof(*at));
    *at = (struct limit_requests){requests, made, owner, pass->limit_requests[bucket]};
    pass->limit_requests[bucket] = at;
    return made;
}

/* ---------------------------------------------------------------- listings */

int64_t limit_supply_used(struct rusage_pass *pass, const struct limit_share *share,
                          const char *host, int64_t *limit_milli)
{
    const struct limit_supply *supply = find_supply(pass, share);
    int row = -1;
    for (int i = 0; host != NULL && supply != NULL && i < pass->n_hosts; i++) {
        row = strcmp(pass->hosts[i].name, host) == 0 ? pass->rows[i] : row;
    }
    int index = supply != NULL ? supply_of(pass, supply, row) : -1;
    *limit_milli = !share->amount->is_percent ? share->amount->milli
                   : row >= 0                 ? amount_on(pass, share->amount, row)
                                              : -1;
    return index >= 0 ? pass->total[index] - pass->left[index] : 0;
}
