/* SPDX-License-Identifier: Apache-2.0 */
/* allocation.c: see allocation.h. */
#include "site/run/allocation.h"

#include <stdio.h>
#include <string.h>

static struct allocation allocation_of(struct arena *arena,
                                       const struct host_slots *hosts, int n_hosts,
                                       int n_room)
{
    struct allocation copy = {
        .hosts = arena_alloc(arena, (size_t)n_room + 1, sizeof(*copy.hosts)),
        .n_hosts = n_hosts};
    for (int i = 0; i < n_hosts; i++) {
        copy.hosts[i] = hosts[i];
    }
    return copy;
}

int allocation_slots_on(const struct host_slots *hosts, int n_hosts, const char *host)
{
    for (int i = 0; i < n_hosts; i++) {
        if (strcmp(hosts[i].host, host) == 0) {
            return hosts[i].n_slots;
        }
    }
    return 0;
}

struct allocation allocation_add(struct arena *arena, const struct host_slots *hosts,
                                 int n_hosts, const struct host_slots *more, int n_more)
{
    struct allocation sum = allocation_of(arena, hosts, n_hosts, n_hosts + n_more);
    for (int i = 0; i < n_more; i++) {
        int at = 0;
        while (at < sum.n_hosts && strcmp(sum.hosts[at].host, more[i].host) != 0) {
            at++;
        }
        if (at == sum.n_hosts) {
            sum.hosts[sum.n_hosts++] = (struct host_slots){.host = more[i].host};
        }
        sum.hosts[at].n_slots += more[i].n_slots;
    }
    return sum;
}

struct allocation allocation_take(struct arena *arena, const struct host_slots *hosts,
                                  int n_hosts, const struct host_slots *gone,
                                  int n_gone)
{
    struct allocation rest = allocation_of(arena, NULL, 0, n_hosts);
    for (int i = 0; i < n_hosts; i++) {
        int n_slots =
            hosts[i].n_slots - allocation_slots_on(gone, n_gone, hosts[i].host);
        if (n_slots > 0) {
            rest.hosts[rest.n_hosts++] = (struct host_slots){hosts[i].host, n_slots};
        }
    }
    return rest;
}

struct allocation allocation_tail(struct arena *arena, const struct host_slots *hosts,
                                  int n_hosts, int n_slots)
{
    struct allocation tail = allocation_of(arena, NULL, 0, n_hosts);
    int left = n_slots, first = n_hosts;
    while (first > 0 && left > 0) {
        left -= hosts[--first].n_slots;
    }
    for (int i = first; i < n_hosts; i++) {
        int n_kept = i == first && left < 0 ? -left : 0; /* of the first, its own */
        tail.hosts[tail.n_hosts++] =
            (struct host_slots){hosts[i].host, hosts[i].n_slots - n_kept};
    }
    return tail;
}

const char *allocation_text(struct arena *arena, const struct host_slots *hosts,
                            int n_hosts)
{
    size_t size = 1, length = 0;
    for (int i = 0; i < n_hosts; i++) {
        size += strlen(hosts[i].host) + sizeof("  -2147483648");
    }
    char *text = arena_alloc(arena, size, 1);
    for (int i = 0; i < n_hosts; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s %d",
                                   i > 0 ? " " : "", hosts[i].host, hosts[i].n_slots);
    }
    return text;
}
