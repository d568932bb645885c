/* SPDX-License-Identifier: Apache-2.0 */
/* contract.c: see contract.h. */
#include "consumer/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "model/dup.h"
#include "model/exported_resources.h"
#include "model/record.h"

char *contracts_provider_of(const char *lease)
{
    size_t length = strcspn(lease, "/");
    return memcpy(mem_alloc(length + 1, 1), lease, length);
}

static void free_contract(struct contract *contract)
{
    arena_release(&contract->memory);
    free(contract->provider);
    dup_free(contract->latest.lease);
    free(contract);
}

void contracts_release(struct contracts *contracts)
{
    for (int i = 0; i < contracts->count; i++) {
        free_contract(contracts->items[i]);
    }
    free(contracts->items);
    free(contracts->hosts);
    memset(contracts, 0, sizeof(*contracts));
}

static int compare(const void *lease, const void *contract)
{
    return strcmp(lease, ((const struct contract *)contract)->latest.lease);
}

struct contract *contracts_find(const struct contracts *contracts, const char *lease)
{
    return sorted_find(contracts->items, contracts->count, lease, compare);
}

static struct contract *add(struct contracts *contracts, const char *lease)
{
    struct contract *contract = mem_alloc(1, sizeof(*contract));
    arena_init_small(&contract->memory);
    contract->latest.lease = dup_text(lease);
    contract->provider = contracts_provider_of(lease);
    contracts->items = sorted_add(contracts->items, &contracts->count,
                                  &contracts->capacity, lease, compare, contract);
    return contract;
}

/* The list of all hosts, after any change of which there are. */
static void list_hosts(struct contracts *contracts)
{
    int n_hosts = 0;
    for (int i = 0; i < contracts->count; i++) {
        n_hosts += contracts->items[i]->latest.n_hosts;
    }
    free(contracts->hosts);
    contracts->hosts = mem_alloc((size_t)n_hosts, sizeof(*contracts->hosts));
    contracts->n_hosts = 0;
    for (int i = 0; i < contracts->count; i++) {
        for (int j = 0; j < contracts->items[i]->latest.n_hosts; j++) {
            contracts->hosts[contracts->n_hosts++] =
                (struct contracts_host){contracts->items[i], j};
        }
    }
}

void contracts_begin_session(struct contracts *contracts)
{
    int n_left = 0;
    for (int i = 0; i < contracts->count; i++) {
        struct contract *contract = contracts->items[i];
        if (contract->latest.state == LEASE_ENDED) {
            free_contract(contract);
            continue;
        }
        contract->is_current = false;
        contracts->items[n_left++] = contract;
    }
    contracts->count = n_left;
    list_hosts(contracts);
}

/* True if the contract gives other things than slots than before, or gives shared
 * resources to other hosts. */
static bool gives_other(const struct contract *contract,
                        const struct msg_contract *next)
{
    static const struct space nothing[SPACES];
    const struct msg_contract *before = &contract->latest;
    int n_hosts = before->n_hosts > next->n_hosts ? before->n_hosts : next->n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        bool is_same = i < before->n_hosts && i < next->n_hosts &&
                       strcmp(before->hosts[i].host, next->hosts[i].host) == 0;
        const struct space *was =
            i < before->n_hosts ? before->hosts[i].spaces : nothing;
        const struct space *is = i < next->n_hosts ? next->hosts[i].spaces : nothing;
        if (is_same ? !exported_resources_is_same_memory(was, is)
                    : next->n_resources > 0 ||
                          !exported_resources_is_same_memory(was, nothing) ||
                          !exported_resources_is_same_memory(is, nothing)) {
            return true;
        }
    }
    return !record_is_same_list(&schema_lease_resource, before->resources,
                                before->n_resources, next->resources,
                                next->n_resources);
}

/* "n1@north" */
static const char *full_name(struct arena *arena, const char *host, const char *site,
                             size_t site_length)
{
    size_t length = strlen(host);
    char *name = arena_alloc(arena, length + site_length + 2, 1);
    memcpy(name, host, length);
    name[length] = '@';
    memcpy(name + length + 1, site, site_length);
    return name;
}

/* Copies the contract into its memory; `lease` stays, as it is the key. */
static void copy(struct contract *contract, const struct msg_contract *from,
                 int64_t now_ms)
{
    struct arena *arena = &contract->memory;
    const char *lease = contract->latest.lease;
    size_t n_hosts = (size_t)from->n_hosts, n_recalls = (size_t)from->n_recalls;
    size_t provider_length = strlen(contract->provider);
    arena_clear(arena);
    record_copy(arena, &schema_lease_contract, from, &contract->latest);
    contract->latest.lease = lease;
    contract->latest.recalls = NULL;
    contract->rebalance_ms = now_ms + from->rebalance_in_ms;
    contract->names = arena_alloc(arena, n_hosts, sizeof(*contract->names));
    contract->used = arena_alloc(arena, n_hosts, sizeof(*contract->used));
    contract->yielded = arena_alloc(arena, n_hosts, sizeof(*contract->yielded));
    contract->recalls = arena_alloc(arena, n_recalls, sizeof(*contract->recalls));
    for (size_t i = 0; i < n_hosts; i++) {
        contract->names[i] =
            full_name(arena, from->hosts[i].host, contract->provider, provider_length);
    }
    for (size_t i = 0; i < n_recalls; i++) {
        contract->recalls[i] = (struct row_recall){from->recalls[i].n_held,
                                                   now_ms + from->recalls[i].left_ms};
    }
}

struct contract *contracts_set(struct contracts *contracts,
                               const struct msg_contract *from, int64_t now_ms)
{
    struct contract *contract = contracts_find(contracts, from->lease);
    bool is_listed = contract != NULL && contract->latest.n_hosts == from->n_hosts;
    if (contract == NULL) {
        contract = add(contracts, from->lease);
    } else if (contract->is_current && from->revision < contract->latest.revision) {
        return NULL;
    }
    contracts->n_changes += gives_other(contract, from);
    copy(contract, from, now_ms);
    contract->is_current = true;
    contract->n_used = 0;
    if (!is_listed) {
        list_hosts(contracts);
    }
    return contract;
}

/* The index of the host, which is looked for at `place` first; -1: the contract does
 * not have it. */
static int find_host(const struct contract *contract, const char *host, int place)
{
    int n_hosts = contract->latest.n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        int at = (place + i) % n_hosts;
        if (strcmp(contract->latest.hosts[at].host, host) == 0) {
            return at;
        }
    }
    return -1;
}

/* Adds the slots to the counts of their hosts; returns how many there are. */
static int count_slots(const struct contract *contract, int *counts,
                       const struct host_slots *hosts, int n_hosts, int *place,
                       int sign)
{
    int n_slots = 0, next = *place;
    for (int i = 0; i < n_hosts; i++) {
        int at = find_host(contract, hosts[i].host, next);
        n_slots += sign * hosts[i].n_slots;
        if (at >= 0) {
            counts[at] += sign * hosts[i].n_slots;
            *place = i == 0 ? at : *place;
            next = at + 1;
        }
    }
    return n_slots;
}

void contracts_count_use(struct contract *contract, const struct host_slots *hosts,
                         int n_hosts, int *place, int sign)
{
    contract->n_used +=
        count_slots(contract, contract->used, hosts, n_hosts, place, sign);
}

void contracts_count_yielded(struct contract *contract, const struct host_slots *hosts,
                             int n_hosts, int *place, int sign)
{
    count_slots(contract, contract->yielded, hosts, n_hosts, place, sign);
}

int contracts_used(const struct contract *contract)
{
    int n_used = contract->n_used;
    for (int j = 0; j < contract->latest.n_hosts; j++) {
        /* Two jobs on one slot, one of which is suspended, or cleans up. */
        int n_double = contract->used[j] - contract->latest.hosts[j].consumer;
        n_used -= n_double > 0 ? n_double : 0;
    }
    return n_used;
}
