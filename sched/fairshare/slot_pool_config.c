/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool_config.c: reads slot pools, see fairshare.h. Parameters that conflict with
 * a pool are reported at the queue that has them. */
#include "sched/fairshare/fairshare.h"

#include <limits.h>
#include <string.h>

#include "sched/fairshare/fairshare_read.h"

enum { NAME_MAX_LENGTH = 60, SHARE_MAX = 100 };

struct list {
    struct conf *conf;
    const struct groups *groups;
    const struct queue_config *queues;
    int n_queues;
    const struct fairshare *fair;
    struct conf_place *places; /* by queue: its row */
    struct slot_pool *pools;
    int n_pools;
    int *pool_of, *shares;
};

#define COMPLAIN(list, severity, queue, key, ...)                                      \
    CONF_COMPLAIN((list)->conf, severity, &(list)->places[queue], key, __VA_ARGS__)

static const char *text_of(const struct list *list, int queue, const char *key)
{
    const struct conf_row *row = list->places[queue].row;
    return row != NULL ? conf_text(row, key, NULL) : NULL;
}

static void find_rows(struct list *list)
{
    struct conf_place at = {0};
    while (conf_next_row(list->conf, "Queue", &at)) {
        const char *name = conf_text(at.row, "QUEUE_NAME", "");
        for (int i = 0; i < list->n_queues; i++) {
            if (list->places[i].row == NULL &&
                strcmp(list->queues[i].name, name) == 0) {
                list->places[i] = at;
            }
        }
    }
}

/* ---------------------------------------------------------------- one queue */

static bool check_name(const struct list *list, int queue, const char *name)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    if (strcspn(name, " \t") != strlen(name)) {
        COMPLAIN(list, CONF_ERROR, queue, "SLOT_POOL",
                 "\"%s\": a queue is in one slot pool at most, expected one name",
                 name);
        return false;
    }
    if (strspn(name, letters) != strlen(name) || strlen(name) > NAME_MAX_LENGTH) {
        COMPLAIN(list, CONF_ERROR, queue, "SLOT_POOL",
                 "\"%s\" is not the name of a slot pool, expected at most %d letters, "
                 "digits, "
                 "_ and -",
                 name, NAME_MAX_LENGTH);
        return false;
    }
    return true;
}

/* True if PREEMPTION of another queue names this one. */
static bool is_preempted_by(const struct list *list, int queue, int other)
{
    const char *text = text_of(list, other, "PREEMPTION");
    const char *at = text != NULL ? strstr(text, "PREEMPTIVE") : NULL;
    const char *name = list->queues[queue].name;
    size_t length = strlen(name);
    while (at != NULL && at[0] != '\0' && at[0] != ']') {
        at += strcspn(at, "[ \t]");
        at += strspn(at, "[ \t");
        if (strncmp(at, name, length) == 0 && strchr("+ \t]", at[length]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Reports what the seed forbids or advises against for queues of a pool. Its own
 * PREEMPTION is reported by preempt.h. */
static void check_others(const struct list *list, int queue)
{
    int scope = list->fair->scope_of[queue];
    for (int i = 0; i < list->n_queues; i++) {
        if (i != queue && is_preempted_by(list, queue, i)) {
            COMPLAIN(
                list, CONF_ERROR, i, "PREEMPTION",
                "queue \"%s\" is in slot pool \"%s\": queues of a slot pool cannot "
                "be preemptable",
                list->queues[queue].name, text_of(list, queue, "SLOT_POOL"));
        }
    }
    for (int i = 0; i < 2; i++) {
        const char *key = i == 0 ? "SLOT_RESERVE" : "RESOURCE_RESERVE";
        if (text_of(list, queue, key) != NULL) {
            COMPLAIN(list, CONF_WARNING, queue, key,
                     "slot reservation should not be configured in queues of a slot "
                     "pool");
        }
    }
    if (scope < 0) {
        return;
    }
    if (list->fair->scopes[scope].is_partition) {
        COMPLAIN(
            list, CONF_ERROR, queue, "SLOT_POOL",
            "its hosts are in host partition \"%s\", expected hosts of no partition",
            list->fair->scopes[scope].name);
        return;
    }
    for (int i = 0; i < list->n_queues; i++) {
        if (i != queue && list->fair->scope_of[i] == scope) {
            COMPLAIN(
                list, CONF_WARNING, queue, "SLOT_POOL",
                "queues of FAIRSHARE_QUEUES should not be in a slot pool: the order of "
                "users across queues can override the shares of the pool");
            return;
        }
    }
}

/* ---------------------------------------------------------------- pools */

static int find_pool(struct list *list, const char *name)
{
    for (int i = 0; i < list->n_pools; i++) {
        if (strcmp(list->pools[i].name, name) == 0) {
            return i;
        }
    }
    list->pools[list->n_pools] = (struct slot_pool){
        .name = name,
        .queues = arena_alloc(list->conf->arena, (size_t)list->n_queues, sizeof(int)),
        .max_slots = INT_MAX,
        .max_name = "",
    };
    return list->n_pools++;
}

/* By priority, then as in the file. */
static void put_queue(struct list *list, struct slot_pool *pool, int queue)
{
    int *queues = (int *)(uintptr_t)pool->queues;
    int place = pool->n_queues++;
    for (; place > 0 &&
           list->queues[queues[place - 1]].priority < list->queues[queue].priority;
         place--) {
        queues[place] = queues[place - 1];
    }
    queues[place] = queue;
}

static void read_queue(struct list *list, int queue)
{
    const char *name = text_of(list, queue, "SLOT_POOL");
    const char *share = text_of(list, queue, "SLOT_SHARE");
    int64_t percent = 0;
    if (name == NULL) {
        if (share != NULL) {
            COMPLAIN(list, CONF_WARNING, queue, "SLOT_SHARE",
                     "has no effect without SLOT_POOL");
        }
        return;
    }
    if (!check_name(list, queue, name)) {
        return;
    }
    if (share == NULL) {
        COMPLAIN(list, CONF_ERROR, queue, "SLOT_POOL",
                 "the queue has no share of the slot pool, expected SLOT_SHARE in the "
                 "same section");
        return;
    }
    if (conf_parse_int(share, 1, SHARE_MAX, &percent, NULL) != 0) {
        return; /* conf_check has reported it */
    }
    list->pool_of[queue] = find_pool(list, name);
    list->shares[queue] = (int)percent;
    put_queue(list, &list->pools[list->pool_of[queue]], queue);
    check_others(list, queue);
}

/* Reads what the first queue says of the pool as a whole; other queues must not. */
static void read_pool(struct list *list, struct slot_pool *pool)
{
    int first = pool->queues[0];
    int64_t max_slots;
    bool is_by_priority;
    struct fairshare_factors factors;
    const char *max = text_of(list, first, "MAX_SLOTS_IN_POOL");
    const char *by_priority = text_of(list, first, "USE_PRIORITY_IN_POOL");
    if (max != NULL && conf_parse_int(max, 0, INT_MAX - 1, &max_slots, NULL) == 0) {
        pool->max_slots = (int)max_slots;
        pool->max_name =
            arena_printf(list->conf->arena, "MAX_SLOTS_IN_POOL of slot pool %s (%d)",
                         pool->name, pool->max_slots);
    }
    if (by_priority != NULL &&
        conf_parse_bool(by_priority, &is_by_priority, NULL) == 0) {
        pool->is_by_priority = is_by_priority;
    }
    fairshare_read_factors(list->conf, &list->places[first], &factors);
    pool->hist_hours = factors.hist_hours;
    for (int i = 1; i < pool->n_queues; i++) {
        static const char *const keys[] = {"MAX_SLOTS_IN_POOL", "USE_PRIORITY_IN_POOL"};
        int queue = pool->queues[i];
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            if (text_of(list, queue, keys[k]) != NULL) {
                COMPLAIN(list, CONF_WARNING, queue, keys[k],
                         "is read of the slot pool's first queue, \"%s\", only",
                         list->queues[first].name);
            }
        }
        if (!queue_same_hosts(&list->queues[first], &list->queues[queue],
                              list->groups)) {
            COMPLAIN(list, CONF_ERROR, queue, "SLOT_POOL",
                     "queue \"%s\" of the slot pool has other HOSTS, expected the same "
                     "in all queues of it",
                     list->queues[first].name);
        }
    }
}

void slot_pool_config_read(struct conf *conf, const struct groups *groups,
                           const struct queue_config *queues, int n_queues,
                           const struct fairshare *fair, struct slot_pools *pools)
{
    size_t n = (size_t)n_queues;
    struct list list = {
        .conf = conf,
        .groups = groups,
        .queues = queues,
        .n_queues = n_queues,
        .fair = fair,
        .places = arena_alloc(conf->arena, n, sizeof(*list.places)),
        .pools = arena_alloc(conf->arena, n, sizeof(*list.pools)),
        .pool_of = arena_alloc(conf->arena, n, sizeof(int)),
        .shares = arena_alloc(conf->arena, n, sizeof(int)),
    };
    find_rows(&list);
    for (int i = 0; i < n_queues; i++) {
        list.pool_of[i] = -1;
        read_queue(&list, i);
    }
    for (int i = 0; i < list.n_pools; i++) {
        read_pool(&list, &list.pools[i]);
    }
    *pools = (struct slot_pools){.pools = list.pools,
                                 .n_pools = list.n_pools,
                                 .pool_of = list.pool_of,
                                 .shares = list.shares};
}
