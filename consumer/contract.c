/* SPDX-License-Identifier: Apache-2.0 */
/* contract.c: see contract.h. */
#include "consumer/contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/exported_resources.h"

enum { FIRST_CAPACITY = 8 };

static char *copied(const char *text, size_t length)
{
    char *copy = mem_alloc(length + 1, 1);
    return memcpy(copy, text, length);
}

char *contracts_provider_of(const char *lease)
{
    return copied(lease, strcspn(lease, "/"));
}

static void free_hosts(struct contract *contract)
{
    for (int i = 0; i < contract->as_told.n_hosts; i++) {
        free(contract->names[i]);
    }
    free(contract->names);
    free(contract->hosts);
    free(contract->resources);
    free(contract->used);
    free(contract->yielded);
    free(contract->recalls);
    free(contract->queues);
}

static void free_contract(struct contract *contract)
{
    free_hosts(contract);
    free(contract->provider);
    free((char *)(uintptr_t)contract->as_told.lease);
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

static int place_of(const struct contracts *contracts, const char *lease)
{
    int low = 0, high = contracts->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(contracts->items[middle]->as_told.lease, lease) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct contract *contracts_find(const struct contracts *contracts, const char *lease)
{
    int at = place_of(contracts, lease);
    bool is_there = at < contracts->count &&
                    strcmp(contracts->items[at]->as_told.lease, lease) == 0;
    return is_there ? contracts->items[at] : NULL;
}

static struct contract *add(struct contracts *contracts, const char *lease)
{
    struct contract *contract = mem_alloc(1, sizeof(*contract));
    contract->as_told.lease = copied(lease, strlen(lease));
    contract->provider = contracts_provider_of(lease);
    if (contracts->count == contracts->capacity) {
        contracts->capacity =
            contracts->capacity == 0 ? FIRST_CAPACITY : contracts->capacity * 2;
        contracts->items = mem_grow(contracts->items, (size_t)contracts->capacity,
                                    sizeof(*contracts->items));
    }
    int at = place_of(contracts, lease);
    memmove(&contracts->items[at + 1], &contracts->items[at],
            (size_t)(contracts->count - at) * sizeof(struct contract *));
    contracts->items[at] = contract;
    contracts->count++;
    return contract;
}

/* The list of all hosts, after any change of which there are. */
static void list_hosts(struct contracts *contracts)
{
    int n_hosts = 0;
    for (int i = 0; i < contracts->count; i++) {
        n_hosts += contracts->items[i]->as_told.n_hosts;
    }
    free(contracts->hosts);
    contracts->hosts = mem_alloc((size_t)n_hosts, sizeof(*contracts->hosts));
    contracts->n_hosts = 0;
    for (int i = 0; i < contracts->count; i++) {
        for (int j = 0; j < contracts->items[i]->as_told.n_hosts; j++) {
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
        if (contract->as_told.state == LEASE_ENDED) {
            free_contract(contract);
            continue;
        }
        contract->is_told = false;
        contracts->items[n_left++] = contract;
    }
    contracts->count = n_left;
    list_hosts(contracts);
}

/* One block for the splits, with the names of the hosts behind them. */
static struct host_split *copy_splits(const struct host_split *hosts, int n_hosts)
{
    size_t size = (size_t)n_hosts * sizeof(*hosts);
    for (int i = 0; i < n_hosts; i++) {
        size += strlen(hosts[i].host) + 1;
    }
    struct host_split *copies = mem_alloc(size, 1);
    char *text = (char *)&copies[n_hosts];
    for (int i = 0; i < n_hosts; i++) {
        size_t length = strlen(hosts[i].host) + 1;
        copies[i] = hosts[i];
        copies[i].host = memcpy(text, hosts[i].host, length);
        text += length;
    }
    return copies;
}

static const char **copy_queues(const char *const *queues, int n_queues)
{
    size_t size = (size_t)n_queues * sizeof(*queues);
    for (int i = 0; i < n_queues; i++) {
        size += strlen(queues[i]) + 1;
    }
    const char **copies = mem_alloc(size, 1);
    char *text = (char *)&copies[n_queues];
    for (int i = 0; i < n_queues; i++) {
        size_t length = strlen(queues[i]) + 1;
        copies[i] = memcpy(text, queues[i], length);
        text += length;
    }
    return copies;
}

static struct row_recall *copy_recalls(const struct recall *recalls, int n_recalls,
                                       int64_t now_ms)
{
    struct row_recall *copies = mem_alloc((size_t)n_recalls, sizeof(*copies));
    for (int i = 0; i < n_recalls; i++) {
        copies[i] = (struct row_recall){recalls[i].n_held, now_ms + recalls[i].left_ms};
    }
    return copies;
}

static char *borrowed_name(const char *host, const char *provider)
{
    size_t size = strlen(host) + strlen(provider) + 2;
    char *name = mem_alloc(size, 1);
    snprintf(name, size, "%s@%s", host, provider);
    return name;
}

/* Whatever a contract gives besides slots, given or taken away. */
static bool gives_other(const struct contract *contract,
                        const struct msg_contract *told)
{
    static const struct space nothing[SPACES];
    const struct msg_contract *before = &contract->as_told;
    int n_hosts = before->n_hosts > told->n_hosts ? before->n_hosts : told->n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        bool is_same = i < before->n_hosts && i < told->n_hosts &&
                       strcmp(before->hosts[i].host, told->hosts[i].host) == 0;
        const struct space *was =
            i < before->n_hosts ? before->hosts[i].spaces : nothing;
        const struct space *is = i < told->n_hosts ? told->hosts[i].spaces : nothing;
        if (is_same ? !exported_resources_is_same_memory(was, is)
                    : !exported_resources_is_same_memory(was, nothing) ||
                          !exported_resources_is_same_memory(is, nothing)) {
            return true;
        }
    }
    return !exported_resources_is_same(before->resources, before->n_resources,
                                       told->resources, told->n_resources);
}

struct contract *contracts_set(struct contracts *contracts,
                               const struct msg_contract *told, int64_t now_ms)
{
    struct contract *contract = contracts_find(contracts, told->lease);
    if (contract == NULL) {
        contract = add(contracts, told->lease);
    } else if (contract->is_told && told->revision < contract->as_told.revision) {
        return NULL;
    }
    contracts->n_changes += gives_other(contract, told);
    const char *lease = contract->as_told.lease;
    size_t n_hosts = (size_t)told->n_hosts;
    free_hosts(contract);
    contract->hosts = copy_splits(told->hosts, told->n_hosts);
    contract->resources = exported_resources_dup(told->resources, told->n_resources);
    contract->names = mem_alloc(n_hosts, sizeof(*contract->names));
    contract->used = mem_alloc(n_hosts, sizeof(*contract->used));
    contract->yielded = mem_alloc(n_hosts, sizeof(*contract->yielded));
    for (int i = 0; i < told->n_hosts; i++) {
        contract->names[i] = borrowed_name(told->hosts[i].host, contract->provider);
    }
    contract->as_told = *told;
    contract->as_told.lease = lease;
    contract->as_told.hosts = contract->hosts;
    contract->queues = copy_queues(told->queues, told->n_queues);
    contract->as_told.queues = contract->queues;
    contract->recalls = copy_recalls(told->recalls, told->n_recalls, now_ms);
    contract->as_told.recalls = NULL;
    contract->as_told.resources = contract->resources;
    contract->is_told = true;
    contract->n_used = 0;
    list_hosts(contracts);
    return contract;
}

void contracts_count_use(struct contract *contract, const struct host_slots *hosts,
                         int n_hosts, int sign)
{
    for (int i = 0; i < n_hosts; i++) {
        contract->n_used += sign * hosts[i].n_slots;
        for (int j = 0; j < contract->as_told.n_hosts; j++) {
            if (strcmp(contract->hosts[j].host, hosts[i].host) == 0) {
                contract->used[j] += sign * hosts[i].n_slots;
            }
        }
    }
}

void contracts_count_yielded(struct contract *contract, const struct host_slots *hosts,
                             int n_hosts, int sign)
{
    for (int i = 0; i < n_hosts; i++) {
        for (int j = 0; j < contract->as_told.n_hosts; j++) {
            if (strcmp(contract->hosts[j].host, hosts[i].host) == 0) {
                contract->yielded[j] += sign * hosts[i].n_slots;
            }
        }
    }
}

int contracts_used(const struct contract *contract)
{
    int n_used = contract->n_used;
    for (int j = 0; j < contract->as_told.n_hosts; j++) {
        /* Two jobs on one slot, one of which is suspended, or cleans up. */
        int n_double = contract->used[j] - contract->hosts[j].consumer;
        n_used -= n_double > 0 ? n_double : 0;
    }
    return n_used;
}
