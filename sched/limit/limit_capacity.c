/* SPDX-License-Identifier: Apache-2.0 */
/* limit_capacity.c: how many slots of hosts the jobs of some queues can use together:
 * what limits on hosts leave of the hosts' slots, whoever uses them.
 *
 *     h1 6 slots, h2 6 slots; PER_HOST = all, SLOTS = 4; HOSTS = h1 h2, SLOTS = 7
 *     4 4 by the first, 4 3 by the second: 7
 *
 * A limit counts here if it holds for all jobs of the queues alike: not one of some
 * users, of some projects, or of each queue. Limits of several hosts together are
 * applied from the fewest hosts to the most, and take from the last hosts first. So the
 * result is exact for groups that are disjoint or nested, and never too large. */
#include "sched/limit/limit.h"

#include <limits.h>

struct group {
    const struct limit *limit;
    int n_hosts;
};

static bool is_everyone(const struct limit_side *side)
{
    return side->mode == LIMIT_ANY || (side->mode == LIMIT_TOGETHER &&
                                       side->names.is_all && side->names.n_names == 0);
}

static bool has_all(const struct limit_side *side, const char *const *queues,
                    int n_queues)
{
    bool has_each = side->mode != LIMIT_EACH || n_queues == 1;
    for (int i = 0; i < n_queues && has_each; i++) {
        has_each = limit_side_has(side, queues[i]);
    }
    return has_each;
}

static bool counts(const struct limit *limit, const char *const *queues, int n_queues)
{
    return (limit->slots >= 0 || limit->per_processor_milli >= 0) &&
           limit->sides[LIMIT_HOSTS].mode != LIMIT_ANY &&
           is_everyone(&limit->sides[LIMIT_USERS]) &&
           is_everyone(&limit->sides[LIMIT_PROJECTS]) &&
           has_all(&limit->sides[LIMIT_QUEUES], queues, n_queues);
}

static void cap_each(const struct limit *limit, struct limit_host *hosts, int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        int most = limit_slots(limit, hosts[i].n_processors);
        if (most < hosts[i].n_slots &&
            limit_side_has(&limit->sides[LIMIT_HOSTS], hosts[i].name)) {
            hosts[i].n_slots = most;
        }
    }
}

static void cap_together(const struct limit *limit, struct limit_host *hosts,
                         int n_hosts)
{
    int64_t n_left = limit->slots;
    for (int i = 0; i < n_hosts; i++) {
        if (limit_side_has(&limit->sides[LIMIT_HOSTS], hosts[i].name)) {
            hosts[i].n_slots =
                hosts[i].n_slots < n_left ? hosts[i].n_slots : (int)n_left;
            n_left -= hosts[i].n_slots;
        }
    }
}

static int count_hosts(const struct limit *limit, const struct limit_host *hosts,
                       int n_hosts)
{
    int count = 0;
    for (int i = 0; i < n_hosts; i++) {
        count += limit_side_has(&limit->sides[LIMIT_HOSTS], hosts[i].name);
    }
    return count;
}

/* Inserted by the number of hosts, then in the order of the list. */
static void add_group(struct group *groups, int n_groups, struct group added)
{
    int at = n_groups;
    for (; at > 0 && groups[at - 1].n_hosts > added.n_hosts; at--) {
        groups[at] = groups[at - 1];
    }
    groups[at] = added;
}

int64_t limit_capacity(const struct limits *limits, struct arena *arena,
                       const char *const *queues, int n_queues,
                       struct limit_host *hosts, int n_hosts)
{
    int n_limits, n_groups = 0;
    const struct limit *list = limits_list(limits, &n_limits);
    struct group *groups = arena_alloc(arena, (size_t)n_limits + 1, sizeof(*groups));
    for (int i = 0; i < n_limits; i++) {
        if (!counts(&list[i], queues, n_queues)) {
            continue;
        }
        if (list[i].sides[LIMIT_HOSTS].mode == LIMIT_EACH) {
            cap_each(&list[i], hosts, n_hosts);
        } else {
            add_group(groups, n_groups++,
                      (struct group){&list[i], count_hosts(&list[i], hosts, n_hosts)});
        }
    }
    int64_t n_slots = 0;
    for (int i = 0; i < n_groups; i++) {
        cap_together(groups[i].limit, hosts, n_hosts);
    }
    for (int i = 0; i < n_hosts; i++) {
        n_slots += hosts[i].n_slots;
    }
    return n_slots;
}
