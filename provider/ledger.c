/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c: see ledger.h. */
#include "provider/ledger.h"

#include <string.h>

#include "base/sorted.h"
#include "model/dup.h"
#include "model/record.h"

void ledger_release(struct ledger *ledger)
{
    for (int i = 0; i < ledger->count; i++) {
        struct ledger_lease *lease = ledger->items[i];
        dup_free(lease->lease);
        dup_free(lease->policy);
        dup_free(lease->consumer);
        dup_free(lease->content);
        free(lease->hosts);
        free(lease->resources);
        free(lease->wanted);
        free(lease);
    }
    HASH_CLEAR(hh, ledger->table);
    for (int i = 0; i < ledger->n_hosts; i++) {
        dup_free(ledger->hosts[i]->name);
        free(ledger->hosts[i]->links);
        free(ledger->hosts[i]);
    }
    free(ledger->items);
    free(ledger->hosts);
    memset(ledger, 0, sizeof(*ledger));
}

/* ------------------------------------------------------------ ledger */

static int compare_lease(const void *id, const void *lease)
{
    return strcmp(id, ((const struct ledger_lease *)lease)->lease);
}

struct ledger_lease *ledger_find(const struct ledger *ledger, const char *id)
{
    return sorted_find(ledger->items, ledger->count, id, compare_lease);
}

/* "PROVIDER/POLICY/": its length. */
static size_t policy_length(const char *id)
{
    const char *first = strchr(id, '/');
    const char *second = first != NULL ? strchr(first + 1, '/') : NULL;
    return second != NULL ? (size_t)(second - id) + 1 : 0;
}

/* Only a pool's parts have a ':' in their ids. */
static enum ledger_part part_of(const char *id, const char *consumer)
{
    const char *last = id + policy_length(id);
    size_t length = strlen(consumer);
    if (strncmp(consumer, "pool:", 5) == 0) {
        return LEDGER_IDLE;
    }
    if (strchr(last, ':') == NULL) {
        return LEDGER_WHOLE;
    }
    bool is_own = strncmp(id, consumer, length) == 0 && id[length] == '/';
    return is_own ? LEDGER_OWN_LEAF : LEDGER_LEAF;
}

struct ledger_lease *ledger_find_idle(const struct ledger *ledger, const char *id)
{
    char prefix[LEASE_ID_SIZE];
    size_t length = policy_length(id);
    if (length == 0 || length >= sizeof(prefix)) {
        return NULL;
    }
    memcpy(prefix, id, length);
    prefix[length] = '\0';
    for (int i = sorted_place(ledger->items, ledger->count, prefix, compare_lease);
         i < ledger->count && strncmp(ledger->items[i]->lease, prefix, length) == 0;
         i++) {
        if (ledger->items[i]->part == LEDGER_IDLE && !ledger->items[i]->is_withdrawn) {
            return ledger->items[i];
        }
    }
    return NULL;
}

const struct host_split *ledger_find_split(const struct msg_propose *msg, int place,
                                           const char *host)
{
    if (place < msg->n_hosts && strcmp(msg->hosts[place].host, host) == 0) {
        return &msg->hosts[place];
    }
    for (int i = 0; i < msg->n_hosts; i++) {
        if (strcmp(msg->hosts[i].host, host) == 0) {
            return &msg->hosts[i];
        }
    }
    return NULL;
}

bool ledger_is_same_policy(const struct ledger_lease *a, const struct ledger_lease *b)
{
    return strcmp(a->policy, b->policy) == 0;
}

int ledger_count_held(const struct ledger_lease *lease)
{
    int64_t n_held = 0;
    for (int i = 0; i < lease->n_hosts; i++) {
        n_held += lease->hosts[i].n_slots;
    }
    return n_held < INT32_MAX ? (int)n_held : INT32_MAX;
}

struct ledger_lease *ledger_add(struct ledger *ledger, const char *id,
                                const char *policy, const char *consumer)
{
    struct ledger_lease *lease = mem_alloc(1, sizeof(*lease));
    lease->part = part_of(id, consumer);
    lease->lease = dup_text(id);
    lease->policy = dup_text(policy);
    lease->consumer = dup_text(consumer);
    lease->content = dup_text("");
    lease->sent_ms = INT64_MIN / 2; /* never, and long ago */
    lease->paced_ms = INT64_MIN / 2;
    ledger->items = sorted_add(ledger->items, &ledger->count, &ledger->capacity, id,
                               compare_lease, lease);
    return lease;
}

void ledger_set_content(struct ledger_lease *lease, const char *content)
{
    dup_set_text(&lease->content, content);
}

static bool set_resources(struct lease_resource **old, int *n_old,
                          const struct lease_resource *resources, int n_resources)
{
    if (record_is_same_list(&schema_lease_resource, *old, *n_old, resources,
                            n_resources)) {
        return false;
    }
    struct lease_resource *copies =
        record_dup_list(&schema_lease_resource, resources, n_resources);
    free(*old);
    *old = copies;
    *n_old = n_resources;
    return true;
}

bool ledger_set_resources(struct ledger_lease *lease,
                          const struct lease_resource *resources, int n_resources)
{
    return set_resources(&lease->resources, &lease->n_resources, resources,
                         n_resources);
}

bool ledger_want_resources(struct ledger_lease *lease,
                           const struct lease_resource *resources, int n_resources)
{
    return set_resources(&lease->wanted, &lease->n_wanted, resources, n_resources);
}

/* ------------------------------------------------------------ hosts */

static int compare_host(const void *name, const void *host)
{
    return strcmp(name, ((const struct ledger_host *)host)->name);
}

struct ledger_host *ledger_find_host(const struct ledger *ledger, const char *name)
{
    struct ledger_host *host;
    HASH_FIND_STR(ledger->table, name, host);
    return host;
}

struct ledger_host *ledger_add_host(struct ledger *ledger, const char *name)
{
    struct ledger_host *host = ledger_find_host(ledger, name);
    if (host != NULL) {
        return host;
    }
    host = mem_alloc(1, sizeof(*host));
    host->name = dup_text(name);
    for (int i = 0; i < SPACES; i++) {
        host->spaces_mib[i] = -1;
    }
    ledger->hosts = sorted_add(ledger->hosts, &ledger->n_hosts, &ledger->hosts_capacity,
                               name, compare_host, host);
    HASH_ADD_KEYPTR(hh, ledger->table, host->name, strlen(host->name), host);
    return host;
}

struct lease_share *ledger_find_entry(const struct ledger_lease *lease,
                                      const struct ledger_host *host)
{
    for (int i = 0; i < host->n_links; i++) {
        if (host->links[i].lease == lease) {
            return &lease->hosts[host->links[i].index];
        }
    }
    return NULL;
}

void ledger_link(struct ledger *ledger)
{
    for (int i = 0; i < ledger->n_hosts; i++) {
        ledger->hosts[i]->n_links = 0;
    }
    for (int i = 0; i < ledger->count; i++) {
        for (int j = 0; j < ledger->items[i]->n_hosts; j++) {
            struct ledger_host *host = ledger->items[i]->hosts[j].host;
            host->links = mem_room(host->links, host->n_links, &host->links_capacity,
                                   sizeof(*host->links));
            host->links[host->n_links++] = (struct ledger_link){ledger->items[i], j};
        }
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

void ledger_count_consumer(struct lease_share *entry)
{
    int n_used = entry->consumer_running + entry->consumer_yielded;
    entry->consumer_used = entry->host->is_whole && n_used > 0
                               ? entry->consumer
                               : least(entry->consumer, n_used);
}

bool ledger_is_owed(const struct ledger_lease *lease)
{
    return lease->part == LEDGER_OWN_LEAF &&
           (lease->is_withdrawn || lease->n_recalls > 0);
}

/* Attributes used slots to leases that are owed, or to the others. Returns how many
 * are left. */
static int64_t attribute_to(struct ledger_host *host, bool is_owed, int64_t left)
{
    for (int i = 0; i < host->n_links; i++) {
        struct ledger_lease *lease = host->links[i].lease;
        if (ledger_is_owed(lease) != is_owed) {
            continue;
        }
        struct lease_share *entry = &lease->hosts[host->links[i].index];
        int bound = lease->is_frozen ? least(entry->provider_used, entry->provider)
                                     : entry->provider;
        bool is_all = left > 0 && host->is_whole;
        int used = lease->is_frozen && entry->is_unheld ? entry->provider
                   : left < bound && !is_all            ? (int)left
                                                        : bound;
        lease->is_dirty = lease->is_dirty || used != entry->provider_used;
        /* Slots that a leaf no longer uses may be owed to the pool. */
        host->needs_reconcile |=
            lease->part == LEDGER_OWN_LEAF && used != entry->provider_used;
        entry->provider_used = used;
        left -= used;
    }
    return left;
}

/* Owed slots come last: the site ends its own jobs on them, and none must be ended that
 * fits on other slots. Returns how many used slots fit nowhere. */
static int64_t attribute_once(struct ledger_host *host)
{
    int64_t left = (int64_t)host->local_used + host->local_yielded;
    if (host->is_known) {
        int64_t own = host->max; /* slots that no lease has */
        for (int i = 0; i < host->n_links; i++) {
            own -= host->links[i].lease->hosts[host->links[i].index].n_slots;
        }
        left -= own > 0 ? own : 0;
    }
    left = attribute_to(host, false, left > 0 ? left : 0);
    left = attribute_to(host, true, left);
    return left - host->local_yielded; /* need no slot until they resume */
}

void ledger_thaw(struct ledger_lease *lease)
{
    lease->is_frozen = lease->is_preparing = false;
    for (int i = 0; i < lease->n_hosts; i++) {
        lease->hosts[i].is_unheld = false;
    }
}

/* Thaws leases whose slots on the host are needed; true if there was one. */
static bool thaw_needed(struct ledger_host *host)
{
    bool has_thawed = false;
    for (int i = 0; i < host->n_links; i++) {
        struct ledger_lease *lease = host->links[i].lease;
        const struct lease_share *entry = &lease->hosts[host->links[i].index];
        if (lease->is_frozen && entry->provider > entry->provider_used) {
            ledger_thaw(lease);
            lease->is_dirty = true;
            has_thawed = true;
        }
    }
    return has_thawed;
}

void ledger_attribute(struct ledger_host *host)
{
    if (attribute_once(host) > 0 && thaw_needed(host)) {
        attribute_once(host);
    }
}

/* ------------------------------------------------------------ epochs */

void ledger_begin_epoch(const struct ledger *ledger, struct ledger_lease *lease)
{
    lease->epoch++;
    lease->commits = ledger->commits + 1;
    lease->split_ms = ledger->now_ms;
}

void ledger_doubt(struct ledger *ledger, uint64_t lost_to, struct effects *effects)
{
    for (int i = 0; i < ledger->count; i++) {
        struct ledger_lease *lease = ledger->items[i];
        bool is_first = lease->lost_to == 0 || lease->commits > lease->lost_to;
        lease->lost_from = is_first ? lease->commits : lease->lost_from;
        lease->lost_to = lost_to;
        lease->is_dirty = true;
        ledger_store(lease, effects);
    }
}

/* ------------------------------------------------------------ on disk */

void ledger_store(const struct ledger_lease *lease, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct host_split *hosts =
        arena_alloc(arena, (size_t)lease->n_hosts, sizeof(*hosts));
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        hosts[i].host = arena_str(arena, entry->host->name);
        hosts[i].n_slots = entry->n_slots;
        hosts[i].provider = entry->provider;
        hosts[i].consumer = entry->consumer;
        memcpy(hosts[i].spaces, entry->spaces, sizeof(entry->spaces));
    }
    struct row row = {
        .kind = ROW_BOOK,
        .book = {.lease = arena_str(arena, lease->lease),
                 .policy = arena_str(arena, lease->policy),
                 .consumer = arena_str(arena, lease->consumer),
                 .content = arena_str(arena, lease->content),
                 .type = lease->type,
                 .epoch = lease->epoch,
                 .is_made = lease->is_made,
                 .is_withdrawn = lease->is_withdrawn,
                 .is_ended = lease->is_ended,
                 .is_drained = lease->is_drained,
                 .drain = lease->drain,
                 .hosts = hosts,
                 .n_hosts = lease->n_hosts,
                 .resources = record_copy_list(arena, &schema_lease_resource,
                                               lease->resources, lease->n_resources),
                 .n_resources = lease->n_resources,
                 .recall = lease->recall,
                 .is_whole = lease->is_whole,
                 .n_recalls = lease->n_recalls,
                 .commits = lease->commits,
                 .lost_from = lease->lost_from,
                 .lost_to = lease->lost_to,
                 .split_ms = lease->split_ms},
    };
    row.book.recalls = arena_copy(arena, lease->recalls,
                                  (size_t)lease->n_recalls * sizeof(*lease->recalls));
    effects_store(effects, &row);
}

void ledger_load(struct ledger *ledger, const struct row_book *row)
{
    struct ledger_lease *lease =
        ledger_add(ledger, row->lease, row->policy, row->consumer);
    ledger_set_content(lease, row->content);
    lease->type = row->type;
    lease->epoch = row->epoch;
    lease->is_made = row->is_made;
    lease->is_withdrawn = row->is_withdrawn;
    lease->is_ended = row->is_ended;
    lease->is_drained = row->is_drained;
    lease->drain = row->drain;
    lease->recall = row->recall;
    lease->is_whole = row->is_whole;
    lease->commits = row->commits;
    lease->lost_from = row->lost_from;
    lease->lost_to = row->lost_to;
    lease->split_ms = row->split_ms;
    for (int i = 0; i < row->n_recalls && i < RECALLS_MAX; i++) {
        lease->recalls[lease->n_recalls++] = row->recalls[i];
    }
    lease->is_dirty = true;
    lease->hosts = mem_alloc((size_t)row->n_hosts, sizeof(*lease->hosts));
    lease->n_hosts = row->n_hosts;
    for (int i = 0; i < row->n_hosts; i++) {
        const struct host_split *split = &row->hosts[i];
        lease->hosts[i] = (struct lease_share){
            .host = ledger_add_host(ledger, split->host),
            .n_wanted = split->n_slots,
            .n_slots = split->n_slots,
            .provider = split->provider,
            .consumer = split->consumer,
        };
        memcpy(lease->hosts[i].wanted, split->spaces, sizeof(split->spaces));
        memcpy(lease->hosts[i].spaces, split->spaces, sizeof(split->spaces));
    }
    ledger_set_resources(lease, row->resources, row->n_resources);
    ledger_want_resources(lease, row->resources, row->n_resources);
    ledger_link(ledger);
}
