/* SPDX-License-Identifier: Apache-2.0 */
/* limit_usage.c: see limit_usage.h. */
#include "sched/limit/limit_usage.h"

#include <string.h>

#include "sched/limit/limit_parts.h"

/* "3|ana||gene|n1": the parts of a count's key. A project may have a | in its name, so
 * hosts, which have none, are sought from the end. */
static struct limit_usage use_of(const struct limits *limits, struct arena *arena,
                                 const struct limit_count *count)
{
    static const int order[] = {LIMIT_USERS, LIMIT_QUEUES, LIMIT_PROJECTS, LIMIT_HOSTS};
    struct limit_usage use = {.n_slots = count->slots, .n_jobs = count->jobs};
    const char *at = strchr(count->key, '|') + 1;
    use.limit = (int)strtol(count->key, NULL, 10);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        int side = order[i];
        const char *end = side == LIMIT_HOSTS      ? at + strlen(at)
                          : side == LIMIT_PROJECTS ? strrchr(at, '|')
                                                   : strchr(at, '|');
        if (limits->list[use.limit].sides[side].mode == LIMIT_EACH) {
            use.each[side] = arena_strn(arena, at, (size_t)(end - at));
        }
        at = end + 1;
    }
    return use;
}

static int by_limit(const void *left, const void *right)
{
    const struct limit_usage *a = left, *b = right;
    int order = (a->limit > b->limit) - (a->limit < b->limit);
    for (int i = 0; order == 0 && i < LIMIT_SIDES; i++) {
        order = a->each[i] != NULL ? strcmp(a->each[i], b->each[i]) : 0;
    }
    return order;
}

int limit_usage_list(const struct limits *limits, struct arena *arena,
                     const struct limit_usage **uses)
{
    struct limit_usage *list =
        arena_alloc(arena, HASH_COUNT(limits->counts), sizeof(*list));
    const struct limit_count *count;
    int n_uses = 0;
    for (count = limits->counts; count != NULL; count = count->hh.next) {
        list[n_uses++] = use_of(limits, arena, count);
    }
    if (n_uses > 1) {
        qsort(list, (size_t)n_uses, sizeof(*list), by_limit);
    }
    *uses = list;
    return n_uses;
}
