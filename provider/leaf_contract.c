/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_contract.c: see leaf_contract.h.
 *
 * Example: policy 1 exports 4 slots of n1 to a pool. south holds 1 of them and uses it,
 * 3 are idle. PROPOSE (south: n1 3) gains 2 of the 3: south's book has 3, the idle
 * one 1. A second one on the same epoch is late: nothing changes. */
#include "provider/leaf_contract.h"

#include <stdlib.h>
#include <string.h>

#include "provider/recall_book.h"

bool leaf_contract_is_leaf(const struct ledger_lease *book)
{
    return book->part == LEDGER_LEAF || book->part == LEDGER_OWN_LEAF;
}

/* ---------------------------------------------------------------- opening */

/* "north/1/south:/eng": the site that stands behind the leaf. */
static bool parse_site(const char *site, const char *lease, char name[NAME_SIZE])
{
    size_t length = strlen(site);
    if (strncmp(lease, site, length) != 0 || lease[length] != '/') {
        return false;
    }
    const char *slash = strchr(lease + length + 1, '/');
    const char *colon = slash != NULL ? strchr(slash, ':') : NULL;
    size_t size = colon != NULL ? (size_t)(colon - slash) : 0;
    if (colon == NULL || size > NAME_SIZE || size < 2 || colon[1] != '/') {
        return false;
    }
    memcpy(name, slash + 1, size - 1);
    name[size - 1] = '\0';
    return strchr(name, '/') == NULL;
}

struct ledger_lease *leaf_contract_open(struct ledger *ledger, const char *site,
                                        const char *lease, struct effects *effects)
{
    char consumer[NAME_SIZE];
    struct ledger_lease *book = ledger_find(ledger, lease);
    const struct ledger_lease *idle = ledger_find_idle(ledger, lease);
    bool is_open = book != NULL && !book->is_ended;
    if (is_open || (book != NULL && book->is_drained)) {
        return book;
    }
    if (idle == NULL || !parse_site(site, lease, consumer) ||
        ledger->count >= LEASES_PER_PROVIDER_MAX) {
        return book;
    }
    if (book == NULL) {
        book = ledger_add(ledger, lease, idle->policy, consumer);
    }
    ledger_set_content(book, idle->content);
    book->type = LEASE_POOL;
    book->takes_interactive = idle->takes_interactive;
    book->is_made = true;
    book->is_withdrawn = book->is_ended = book->is_frozen = false;
    book->n_recalls = book->n_due = 0;
    book->epoch++;
    book->reason[0] = '\0';
    book->is_dirty = true;
    ledger_store(book, effects);
    return book;
}

/* ---------------------------------------------------------------- proposals */

/* A leaf's slots stand on one side of the split. */
static int *side_of(const struct ledger_lease *book, struct lease_share *entry)
{
    return book->part == LEDGER_OWN_LEAF ? &entry->provider : &entry->consumer;
}

static int proposed(const struct ledger_lease *book, const struct host_split *split)
{
    return book->part == LEDGER_OWN_LEAF ? split->provider : split->consumer;
}

static const struct host_split *find_split(const struct msg_propose *msg,
                                           const char *host)
{
    for (int i = 0; i < msg->n_hosts; i++) {
        if (strcmp(msg->hosts[i].host, host) == 0) {
            return &msg->hosts[i];
        }
    }
    return NULL;
}

/* What the book has there keeps all that it uses. */
static bool fits_uses(const struct ledger_lease *book, const struct msg_propose *msg)
{
    for (int i = 0; i < book->n_hosts; i++) {
        const struct lease_share *entry = &book->hosts[i];
        const struct host_split *split = find_split(msg, entry->host->name);
        int n_slots = split != NULL ? proposed(book, split) : 0;
        if (n_slots < entry->provider_used + entry->consumer_used) {
            return false;
        }
    }
    return true;
}

/* A host's slots are all the leaf's, and what is more than it has is idle. */
static bool fits_idle(const struct ledger *ledger, const struct ledger_lease *book,
                      const struct ledger_lease *idle, const struct host_split *split)
{
    const struct ledger_host *host = ledger_find_host(ledger, split->host);
    if (host == NULL || split->n_slots != proposed(book, split) ||
        split->provider + split->consumer != split->n_slots || split->n_slots <= 0) {
        return false;
    }
    const struct lease_share *entry = ledger_find_entry(book, host);
    int gain = split->n_slots - (entry != NULL ? entry->n_slots : 0);
    if (gain <= 0) {
        return true;
    }
    const struct lease_share *source =
        idle != NULL ? ledger_find_entry(idle, host) : NULL;
    return source != NULL && source->consumer >= gain && !book->is_withdrawn;
}

static bool is_acceptable(const struct ledger *ledger, const struct ledger_lease *book,
                          const struct ledger_lease *idle,
                          const struct msg_propose *msg)
{
    int64_t n_held = 0;
    if (msg->base != book->epoch || book->is_ended || !fits_uses(book, msg)) {
        return false;
    }
    for (int i = 0; i < msg->n_hosts; i++) {
        if (!fits_idle(ledger, book, idle, &msg->hosts[i])) {
            return false;
        }
        n_held += msg->hosts[i].n_slots;
    }
    return n_held <= recall_book_limit(book) || n_held <= ledger_count_held(book);
}

/* Of one host of the proposal: slots come from the idle part, or go to it. */
static struct lease_share move_host(struct ledger *ledger,
                                    const struct ledger_lease *book,
                                    struct ledger_lease *idle,
                                    const struct host_split *split)
{
    struct ledger_host *host = ledger_add_host(ledger, split->host);
    const struct lease_share *old = ledger_find_entry(book, host);
    struct lease_share entry = old != NULL ? *old : (struct lease_share){.host = host};
    int gain = split->n_slots - entry.n_slots;
    struct lease_share *source = idle != NULL ? ledger_find_entry(idle, host) : NULL;
    entry.n_slots += gain;
    *side_of(book, &entry) += gain;
    ledger_count_consumer(&entry);
    if (source != NULL && gain > 0) {
        source->n_slots -= gain;
        source->consumer -= gain;
        idle->is_changed = true;
    }
    host->needs_reconcile |= gain < 0; /* settling takes it to the idle part */
    return entry;
}

static bool differs(const struct ledger_lease *book, const struct msg_propose *msg)
{
    bool is_other = msg->n_hosts != book->n_hosts;
    for (int i = 0; i < book->n_hosts && !is_other; i++) {
        const struct lease_share *entry = &book->hosts[i];
        const struct host_split *split = find_split(msg, entry->host->name);
        is_other = split == NULL || split->n_slots != entry->n_slots;
    }
    return is_other;
}

static void apply(struct ledger *ledger, struct ledger_lease *book,
                  struct ledger_lease *idle, const struct msg_propose *msg)
{
    struct lease_share *hosts = mem_alloc((size_t)msg->n_hosts, sizeof(*hosts));
    for (int i = 0; i < book->n_hosts; i++) {
        book->hosts[i].host->needs_reconcile |=
            find_split(msg, book->hosts[i].host->name) == NULL;
    }
    for (int i = 0; i < msg->n_hosts; i++) {
        hosts[i] = move_host(ledger, book, idle, &msg->hosts[i]);
    }
    free(book->hosts);
    book->hosts = hosts;
    book->n_hosts = msg->n_hosts;
    ledger_link(ledger);
}

/* Under its next epoch, on record. */
static void commit(struct ledger_lease *book, const char *reason,
                   struct effects *effects)
{
    book->epoch++;
    book->is_changed = false;
    book->is_dirty = true;
    memcpy(book->reason, reason, strlen(reason) + 1);
    ledger_store(book, effects);
}

bool leaf_contract_propose(struct ledger *ledger, struct ledger_lease *book,
                           const struct msg_propose *msg, struct effects *effects)
{
    struct ledger_lease *idle = ledger_find_idle(ledger, book->lease);
    if (!is_acceptable(ledger, book, idle, msg)) {
        return false;
    }
    book->is_frozen = false;
    if (differs(book, msg)) {
        apply(ledger, book, idle, msg);
        commit(book, "", effects);
    }
    if (idle != NULL && idle->is_changed) {
        commit(idle, "slots were granted", effects);
    }
    for (int i = 0; i < book->n_hosts; i++) {
        ledger_attribute(book->hosts[i].host);
    }
    return true;
}
