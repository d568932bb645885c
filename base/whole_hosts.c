/* SPDX-License-Identifier: Apache-2.0 */
/* whole_hosts.c: see whole_hosts.h.
 *
 * Dynamic programming: for each host, and each sum up to the number requested, the
 * table has the fewest used slots with which the hosts so far make that sum. Sizes are
 * divided by their common divisor, so that hosts of equal size need only a short table.
 */
#include "base/whole_hosts.h"

#include <limits.h>
#include <stdint.h>

enum {
    NEVER = INT_MAX, /* no hosts add up to it */
    /* Cells of the table. A larger table (a thousand hosts of sizes without a common
       divisor, for four thousand slots) would take too long, so the cheapest host that
       fits is picked repeatedly. */
    CELLS_MAX = 4000000,
};

static int divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int common_size(const struct whole_host *hosts, int n_hosts)
{
    int size = 0;
    for (int i = 0; i < n_hosts; i++) {
        size = divisor(size, hosts[i].n_slots);
    }
    return size;
}

/* The host with the fewest used slots per slot, of those that fit; the last of equal
 * hosts. */
static int cheapest(const struct whole_host *hosts, int n_hosts, int n_slots)
{
    int found = -1;
    for (int i = 0; i < n_hosts; i++) {
        const struct whole_host *host = &hosts[i];
        bool fits = !host->is_picked && host->n_slots > 0 && host->n_slots <= n_slots;
        if (fits && (found < 0 || (int64_t)host->n_used * hosts[found].n_slots <=
                                      (int64_t)hosts[found].n_used * host->n_slots)) {
            found = i;
        }
    }
    return found;
}

static int pick_cheapest(struct whole_host *hosts, int n_hosts, int n_slots)
{
    int sum = 0;
    for (int i = cheapest(hosts, n_hosts, n_slots); i >= 0;
         i = cheapest(hosts, n_hosts, n_slots - sum)) {
        hosts[i].is_picked = true;
        sum += hosts[i].n_slots;
    }
    return sum;
}

/* least[i * (most + 1) + s]: of the first i hosts, for the sum s. */
static void fill_table(const struct whole_host *hosts, int n_hosts, int most, int size,
                       int *least)
{
    size_t width = (size_t)most + 1;
    for (int s = 0; s <= most; s++) {
        least[s] = s == 0 ? 0 : NEVER;
    }
    for (int i = 0; i < n_hosts; i++) {
        const int *before = &least[(size_t)i * width];
        int *now = &least[(size_t)(i + 1) * width];
        int n = hosts[i].n_slots / size;
        for (int s = 0; s <= most; s++) {
            now[s] = before[s];
            if (n > 0 && s >= n && before[s - n] != NEVER &&
                before[s - n] + hosts[i].n_used <= now[s]) {
                now[s] = before[s - n] + hosts[i].n_used;
            }
        }
    }
}

static int pick_least(struct whole_host *hosts, int n_hosts, int most, int size,
                      struct arena *arena)
{
    size_t width = (size_t)most + 1;
    int *least = arena_alloc(arena, ((size_t)n_hosts + 1) * width, sizeof(*least));
    fill_table(hosts, n_hosts, most, size, least);
    int sum = most;
    while (least[(size_t)n_hosts * width + (size_t)sum] == NEVER) {
        sum--;
    }
    int left = sum;
    for (int i = n_hosts - 1; i >= 0; i--) {
        int n = hosts[i].n_slots / size;
        const int *before = &least[(size_t)i * width];
        int cost = before[width + (size_t)left];
        hosts[i].is_picked = n > 0 && left >= n && before[left - n] != NEVER &&
                             before[left - n] + hosts[i].n_used == cost;
        left -= hosts[i].is_picked ? n : 0;
    }
    return sum * size;
}

int whole_hosts_pick(struct whole_host *hosts, int n_hosts, int n_slots,
                     struct arena *arena)
{
    int size = common_size(hosts, n_hosts);
    for (int i = 0; i < n_hosts; i++) {
        hosts[i].is_picked = false;
    }
    if (size == 0 || n_slots < size) {
        return 0;
    }
    int64_t all = 0;
    for (int i = 0; i < n_hosts; i++) {
        all += hosts[i].n_slots / size;
    }
    int most = n_slots / size < all ? n_slots / size : (int)all;
    return ((int64_t)n_hosts + 1) * ((int64_t)most + 1) <= CELLS_MAX
               ? pick_least(hosts, n_hosts, most, size, arena)
               : pick_cheapest(hosts, n_hosts, n_slots);
}
