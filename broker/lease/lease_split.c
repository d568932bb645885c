/* SPDX-License-Identifier: Apache-2.0 */
/* lease_split.c: see lease.h. */
#include "broker/lease/lease.h"

#include <string.h>

#include "base/arena.h"
#include "model/exported_resources.h"

static void add(struct lease_split_side *side, int held, int used, bool is_down)
{
    int available = is_down ? used : held;
    side->available += available;
    side->used += used;
    side->idle += available - used;
}

struct lease_split lease_split_sum(const struct host_split *hosts, int n_hosts)
{
    struct lease_split split = {0};
    for (int i = 0; i < n_hosts; i++) {
        const struct host_split *host = &hosts[i];
        add(&split.provider, host->provider, host->provider_used, host->is_down);
        add(&split.consumer, host->consumer, host->consumer_used, host->is_down);
    }
    return split;
}

static bool is_sound(const struct host_split *host)
{
    return host->n_slots >= 0 && host->n_slots <= SLOTS_MAX && host->provider >= 0 &&
           host->consumer >= 0 && host->provider <= host->n_slots &&
           host->consumer == host->n_slots - host->provider &&
           host->provider_used >= 0 && host->provider_used <= host->provider &&
           host->consumer_used >= 0 && host->consumer_used <= host->consumer;
}

int lease_split_check(const struct host_split *hosts, int n_hosts, struct err *err)
{
    if (n_hosts < 0 || n_hosts > HOSTS_MAX) {
        return err_set(err, ERR_BOUNDS, "%d hosts, expected at most %d", n_hosts,
                       HOSTS_MAX);
    }
    for (int i = 0; i < n_hosts; i++) {
        const struct host_split *host = &hosts[i];
        if (!is_sound(host)) {
            return err_set(err, ERR_BOUNDS,
                           "host \"%s\": %d slots, provider %d of %d in use, consumer "
                           "%d of %d: does not add up",
                           host->host, host->n_slots, host->provider_used,
                           host->provider, host->consumer_used, host->consumer);
        }
    }
    return 0;
}

bool lease_split_has_same_hosts(const struct host_split *a, int n_a,
                                const struct host_split *b, int n_b)
{
    if (n_a != n_b) {
        return false;
    }
    for (int i = 0; i < n_a; i++) {
        if (strcmp(a[i].host, b[i].host) != 0) {
            return false;
        }
    }
    return true;
}

bool lease_split_is_same(const struct host_split *a, int n_a,
                         const struct host_split *b, int n_b)
{
    if (!lease_split_has_same_hosts(a, n_a, b, n_b)) {
        return false;
    }
    for (int i = 0; i < n_a; i++) {
        if (a[i].n_slots != b[i].n_slots || a[i].provider != b[i].provider ||
            a[i].consumer != b[i].consumer ||
            !exported_resources_is_same_memory(a[i].spaces, b[i].spaces)) {
            return false;
        }
    }
    return true;
}

bool lease_split_is_same_down(const struct host_split *a, const struct host_split *b,
                              int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        if (a[i].is_down != b[i].is_down) {
            return false;
        }
    }
    return true;
}

struct host_split *lease_split_dup(const struct host_split *hosts, int n_hosts)
{
    if (n_hosts == 0) {
        return NULL;
    }
    size_t table = (size_t)n_hosts * sizeof(*hosts), names = 0;
    for (int i = 0; i < n_hosts; i++) {
        names += strlen(hosts[i].host) + 1;
    }
    struct host_split *copies = mem_alloc(1, table + names);
    char *name = (char *)copies + table;
    for (int i = 0; i < n_hosts; i++) {
        size_t size = strlen(hosts[i].host) + 1;
        copies[i] = hosts[i];
        copies[i].host = memcpy(name, hosts[i].host, size);
        name += size;
    }
    return copies;
}

void lease_split_show_side(struct arena *arena, struct value *row, const char *key,
                           const char *site, const struct lease_split_side *side)
{
    struct value *shown = value_add(arena, row, key, value_object(arena));
    if (site != NULL) {
        value_add_text(arena, shown, "site", site);
    }
    value_add_int(arena, shown, "available", side->available);
    value_add_int(arena, shown, "used", side->used);
}
