/* SPDX-License-Identifier: Apache-2.0 */
/* contract.h: the contracts as the broker last sent them, and how many of their slots
 * this site's own attempts use.
 *
 * A contract counts for the session in which it was sent. In a new session it is only
 * shown, and nothing starts on it, until it is sent again. Within a session the highest
 * revision counts.
 *
 * Ownership: copied. Order: by lease id; hosts in the contract's order.
 * Source: docs/design/safety.md [5]. Layer: consumer. */
#ifndef SUBLET_CONSUMER_CONTRACT_H
#define SUBLET_CONSUMER_CONTRACT_H

#include "consumer/consumer.h"

struct contract {
    struct msg_contract as_told; /* its pointers are the contract's own */
    char *provider;
    bool is_told; /* in this session */
    struct host_split *hosts;
    struct lease_resource *resources;
    char **names; /* "n1@north" for each host */
    int *used;    /* slots of attempts for each host */
    int *yielded; /* of those, of attempts that have yielded them */
    int n_used;   /* of all attempts of the lease, also on hosts that it had before */
    struct row_recall *recalls; /* as_told's, by this site's clock */
    const char **queues;        /* as_told's; one block with the names */
};

/* One line of the list of all borrowed hosts. */
struct contracts_host {
    const struct contract *contract;
    int index;
};

struct contracts {
    struct contract **items;
    int count, capacity;
    struct contracts_host *hosts; /* of all contracts */
    int n_hosts;
    uint64_t n_changes; /* of what they give besides slots */
};

void contracts_release(struct contracts *contracts);

/* None counts any more; ended contracts are removed. */
void contracts_begin_session(struct contracts *contracts);

struct contract *contracts_find(const struct contracts *contracts, const char *lease);

/* NULL where it is late (a lower revision than in this session before). What attempts
 * use of it must be counted anew. */
struct contract *contracts_set(struct contracts *contracts,
                               const struct msg_contract *told, int64_t now_ms);

/* An attempt's slots: taken (+1) or given back (-1). */
void contracts_count_use(struct contract *contract, const struct host_slots *hosts,
                         int n_hosts, int sign);

/* Slots of an attempt that are counted as used: yielded (+1), or not any more (-1). */
void contracts_count_yielded(struct contract *contract, const struct host_slots *hosts,
                             int n_hosts, int sign);
/* Used as the provider counts: no more than is held on a host. */
int contracts_used(const struct contract *contract);

/* The provider of a lease id, copied: what stands before the first '/'. */
char *contracts_provider_of(const char *lease);

#endif
