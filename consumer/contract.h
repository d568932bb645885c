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
    struct arena memory;        /* of all that is copied, except lease and provider */
    struct msg_contract latest; /* its pointers are the contract's own */
    char *provider;
    bool is_current;          /* it was sent in this session */
    int64_t avoided_until_ms; /* an attempt was withdrawn; 0: no such time */
    const char **names;       /* "n1@north" for each host */
    int *used;                /* slots of attempts for each host */
    int *yielded;             /* of those, slots that suspended attempts have yielded */
    int n_used; /* of all attempts of the lease, also on hosts that it had before */
    struct row_recall *recalls; /* those of `latest`, by this site's clock */
    int64_t rebalance_ms;       /* when the rule is applied, likewise */
};

/* An entry of the list of all borrowed hosts. */
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

/* No contract is current until it is sent again; ended contracts are removed. */
void contracts_begin_session(struct contracts *contracts);

struct contract *contracts_find(const struct contracts *contracts, const char *lease);

/* Returns NULL if this session has sent a higher revision before. The slots that
 * attempts use must be counted again. */
struct contract *contracts_set(struct contracts *contracts,
                               const struct msg_contract *from, int64_t now_ms);

/* Slots of an attempt: in use (+1) or not any more (-1). `place` is the index in the
 * contract at which its first host was found last, which is mostly still true. */
void contracts_count_use(struct contract *contract, const struct host_slots *hosts,
                         int n_hosts, int *place, int sign);

/* Slots of an attempt that count as used: yielded (+1) or not any more (-1). */
void contracts_count_yielded(struct contract *contract, const struct host_slots *hosts,
                             int n_hosts, int *place, int sign);
/* Used slots as the provider counts them: on each host no more than are held. */
int contracts_used(const struct contract *contract);

/* The provider in a lease id, which is before the first '/'. The caller frees it. */
char *contracts_provider_of(const char *lease);

#endif
