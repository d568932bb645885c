/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_contract.c: see leaf_contract.h.
 *
 * Example: policy 1 exports 4 slots of n1 to a pool. south holds 1 of them and uses it,
 * 3 are idle. PROPOSE (south: n1 3) gains 2 of the 3: south's lease has 3, the idle
 * one 1. A second one on the same epoch is late: nothing changes. */
#include "provider/leaf_contract.h"

#include <stdlib.h>
#include <string.h>

#include "provider/lease_recall.h"

bool leaf_contract_is_leaf(const struct ledger_lease *lease)
{
    return lease->part == LEDGER_LEAF || lease->part == LEDGER_OWN_LEAF;
}

/* ---------------------------------------------------------------- opening */

/* The site of the leaf, "south" in "north/1/south:/eng". */
static bool parse_site(const char *site, const char *id, char name[NAME_SIZE])
{
    size_t length = strlen(site);
    if (strncmp(id, site, length) != 0 || id[length] != '/') {
        return false;
    }
    const char *slash = strchr(id + length + 1, '/');
    const char *colon = slash != NULL ? strchr(slash, ':') : NULL;
    size_t size = colon != NULL ? (size_t)(colon - slash) : 0;
    if (colon == NULL || size > NAME_SIZE || size < 2 || colon[1] != '/') {
        return false;
    }
    memcpy(name, slash + 1, size - 1);
    name[size - 1] = '\0';
    return strchr(name, '/') == NULL;
}

/* Nothing of the contract is left here, and that of the broker has ended: the next
 * epoch follows both. */
static void continue_above(struct ledger_lease *lease, uint64_t above)
{
    if (above != 0) {
        lease->lost_from = lease->lost_to = 0;
    }
    if (above > lease->epoch && above <= TOLD_NUMBER_MAX) {
        lease->epoch = above;
    }
}

struct ledger_lease *leaf_contract_open(struct ledger *ledger, const char *site,
                                        const struct msg_lease_open *msg,
                                        struct effects *effects)
{
    char consumer[NAME_SIZE];
    const char *id = msg->lease;
    struct ledger_lease *lease = ledger_find(ledger, id);
    const struct ledger_lease *idle = ledger_find_idle(ledger, id);
    bool is_open = lease != NULL && !lease->is_ended;
    if (is_open || (lease != NULL && lease->is_drained)) {
        return lease;
    }
    if (idle == NULL || !parse_site(site, id, consumer) ||
        ledger->count >= LEASES_PER_PROVIDER_MAX) {
        return lease;
    }
    if (lease == NULL) {
        lease = ledger_add(ledger, id, idle->policy, consumer);
    }
    ledger_set_content(lease, idle->content);
    lease->type = LEASE_POOL;
    lease->terms.takes_interactive = idle->terms.takes_interactive;
    lease->is_made = true;
    lease->is_withdrawn = lease->is_ended = false;
    ledger_thaw(lease);
    lease->n_recalls = lease->n_due = 0;
    continue_above(lease, msg->above);
    ledger_begin_epoch(ledger, lease);
    lease->reason[0] = '\0';
    lease->is_dirty = true;
    ledger_store(lease, effects);
    return lease;
}

/* ---------------------------------------------------------------- proposals */

/* A leaf has slots on one side of the split only. */
static int *side_of(const struct ledger_lease *lease, struct lease_share *entry)
{
    return lease->part == LEDGER_OWN_LEAF ? &entry->provider : &entry->consumer;
}

static int proposed(const struct ledger_lease *lease, const struct host_split *split)
{
    return lease->part == LEDGER_OWN_LEAF ? split->provider : split->consumer;
}

/* The proposal leaves the lease all slots that it uses. */
static bool fits_uses(const struct ledger_lease *lease, const struct msg_propose *msg)
{
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        const struct host_split *split = ledger_find_split(msg, i, entry->host->name);
        int n_slots = split != NULL ? proposed(lease, split) : 0;
        if (n_slots < entry->provider_used + entry->consumer_used) {
            return false;
        }
    }
    return true;
}

/* All slots of the host are the leaf's, and those that it gains are idle. */
static bool fits_idle(const struct ledger *ledger, const struct ledger_lease *lease,
                      const struct ledger_lease *idle, const struct host_split *split)
{
    const struct ledger_host *host = ledger_find_host(ledger, split->host);
    if (host == NULL || split->n_slots != proposed(lease, split) ||
        split->provider + split->consumer != split->n_slots || split->n_slots <= 0) {
        return false;
    }
    const struct lease_share *entry = ledger_find_entry(lease, host);
    int gain = split->n_slots - (entry != NULL ? entry->n_slots : 0);
    if (gain <= 0) {
        return true;
    }
    const struct lease_share *source =
        idle != NULL ? ledger_find_entry(idle, host) : NULL;
    return source != NULL && source->consumer >= gain && !lease->is_withdrawn;
}

static bool is_acceptable(const struct ledger *ledger, const struct ledger_lease *lease,
                          const struct ledger_lease *idle,
                          const struct msg_propose *msg)
{
    int64_t n_held = 0;
    if (msg->base != lease->epoch || lease->is_ended || !fits_uses(lease, msg)) {
        return false;
    }
    for (int i = 0; i < msg->n_hosts; i++) {
        if (!fits_idle(ledger, lease, idle, &msg->hosts[i])) {
            return false;
        }
        n_held += msg->hosts[i].n_slots;
    }
    return n_held <= lease_recall_limit(lease) || n_held <= ledger_count_held(lease);
}

/* Moves slots of one host from the idle ones to the leaf, or back. */
static struct lease_share move_host(struct ledger *ledger,
                                    const struct ledger_lease *lease,
                                    struct ledger_lease *idle,
                                    const struct host_split *split)
{
    struct ledger_host *host = ledger_add_host(ledger, split->host);
    const struct lease_share *old = ledger_find_entry(lease, host);
    struct lease_share entry = old != NULL ? *old : (struct lease_share){.host = host};
    int gain = split->n_slots - entry.n_slots;
    struct lease_share *source = idle != NULL ? ledger_find_entry(idle, host) : NULL;
    entry.n_slots += gain;
    *side_of(lease, &entry) += gain;
    ledger_count_consumer(&entry);
    if (source != NULL && gain > 0) {
        source->n_slots -= gain;
        source->consumer -= gain;
        idle->is_changed = true;
    }
    host->needs_reconcile |= gain < 0; /* which gives them to the pool */
    return entry;
}

static bool differs(const struct ledger_lease *lease, const struct msg_propose *msg)
{
    bool is_other = msg->n_hosts != lease->n_hosts;
    for (int i = 0; i < lease->n_hosts && !is_other; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        const struct host_split *split = ledger_find_split(msg, i, entry->host->name);
        is_other = split == NULL || split->n_slots != entry->n_slots;
    }
    return is_other;
}

static void apply(struct ledger *ledger, struct ledger_lease *lease,
                  struct ledger_lease *idle, const struct msg_propose *msg)
{
    struct lease_share *hosts = mem_alloc((size_t)msg->n_hosts, sizeof(*hosts));
    for (int i = 0; i < lease->n_hosts; i++) {
        lease->hosts[i].host->needs_reconcile |=
            ledger_find_split(msg, i, lease->hosts[i].host->name) == NULL;
    }
    for (int i = 0; i < msg->n_hosts; i++) {
        hosts[i] = move_host(ledger, lease, idle, &msg->hosts[i]);
    }
    free(lease->hosts);
    lease->hosts = hosts;
    lease->n_hosts = msg->n_hosts;
    ledger_link(ledger);
}

/* Stores the lease under its next epoch. */
static void commit(const struct ledger *ledger, struct ledger_lease *lease,
                   const char *reason, struct effects *effects)
{
    ledger_begin_epoch(ledger, lease);
    lease->is_changed = false;
    lease->is_dirty = true;
    memcpy(lease->reason, reason, strlen(reason) + 1);
    ledger_store(lease, effects);
}

bool leaf_contract_propose(struct ledger *ledger, struct ledger_lease *lease,
                           const struct msg_propose *msg, struct effects *effects)
{
    struct ledger_lease *idle = ledger_find_idle(ledger, lease->lease);
    if (!is_acceptable(ledger, lease, idle, msg)) {
        return false;
    }
    ledger_thaw(lease);
    if (differs(lease, msg)) {
        apply(ledger, lease, idle, msg);
        commit(ledger, lease, "", effects);
    }
    if (idle != NULL && idle->is_changed) {
        commit(ledger, idle, "slots were granted", effects);
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        ledger_attribute(lease->hosts[i].host);
    }
    return true;
}
