/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: see plan.h. Each node finds its parent by a search in the sorted paths; then
 * the levels are laid out one after the other. */
#include "broker/plan/plan.h"

#include <stdlib.h>
#include <string.h>

/* A path, and the place of its node in the order given. */
struct path {
    const char *name;
    size_t length;
    int pos;
};

static int compare_names(const struct path *a, const struct path *b)
{
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->name, b->name, shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_paths(const void *left, const void *right)
{
    const struct path *a = left, *b = right;
    int order = compare_names(a, b);
    return order != 0 ? order : (a->pos > b->pos) - (a->pos < b->pos);
}

static int find_name(const void *key, const void *item)
{
    return compare_names(key, item);
}

static struct path *sort_paths(const struct plan_node *nodes, int n_nodes,
                               struct arena *arena)
{
    struct path *paths = arena_alloc(arena, (size_t)n_nodes, sizeof(*paths));
    for (int i = 0; i < n_nodes; i++) {
        paths[i] = (struct path){nodes[i].name, strlen(nodes[i].name), i};
    }
    qsort(paths, (size_t)n_nodes, sizeof(*paths), compare_paths);
    return paths;
}

/* The place of the parent in the order given, or PLAN_NO_NODE. */
static int parent_of(const char *name, const struct path *paths, int n_paths)
{
    const char *slash = strrchr(name, '/');
    if (slash == NULL || slash == name) {
        return PLAN_NO_NODE;
    }
    struct path key = {name, (size_t)(slash - name), 0};
    const struct path *found =
        bsearch(&key, paths, (size_t)n_paths, sizeof(*paths), find_name);
    return found != NULL ? found->pos : PLAN_NO_NODE;
}

/* The children of each parent, in file order. Those of parent p begin at
 * list[start[p + 1]]. The first level counts as the children of -1. */
struct families {
    int *start; /* n_nodes + 2 */
    int *list;
};

static struct families group(const int *parents, int n_nodes, struct arena *arena)
{
    struct families families = {
        arena_alloc(arena, (size_t)n_nodes + 2, sizeof(int)),
        arena_alloc(arena, (size_t)n_nodes, sizeof(int)),
    };
    for (int i = 0; i < n_nodes; i++) {
        families.start[parents[i] + 2]++;
    }
    for (int i = 0; i <= n_nodes; i++) {
        families.start[i + 1] += families.start[i];
    }
    int *at = arena_copy(arena, families.start, ((size_t)n_nodes + 2) * sizeof(int));
    for (int i = 0; i < n_nodes; i++) {
        families.list[at[parents[i] + 1]++] = i;
    }
    return families;
}

static int compare_siblings(const void *left, const void *right)
{
    const struct plan_node *a = left, *b = right;
    int order = (a->rank > b->rank) - (a->rank < b->rank);
    return order != 0 ? order : (a->pos > b->pos) - (a->pos < b->pos);
}

/* Appends the children of the node given at `pos`, in order of rank. */
static int append_family(struct plan *plan, const struct plan_node *given,
                         const struct families *families, int pos, int parent)
{
    int n_children = families->start[pos + 2] - families->start[pos + 1];
    struct plan_node *children = &plan->nodes[plan->n_nodes];
    for (int i = 0; i < n_children; i++) {
        int child = families->list[families->start[pos + 1] + i];
        children[i] = given[child];
        children[i].pos = child;
        children[i].parent = parent;
    }
    qsort(children, (size_t)n_children, sizeof(*children), compare_siblings);
    plan->n_nodes += n_children;
    return n_children;
}

static void inherit_policy(struct plan *plan, int index)
{
    struct plan_node *node = &plan->nodes[index];
    if (node->policy == PLAN_INHERITS) {
        node->policy = node->parent != PLAN_NO_NODE ? plan->nodes[node->parent].policy
                                                    : PLAN_HYBRID;
    }
}

static int64_t owned_at_top(const struct plan *plan)
{
    int64_t sum = 0;
    for (int i = 0; i < plan->n_top; i++) {
        sum += plan->nodes[i].policy != PLAN_SHARE ? plan->nodes[i].own : 0;
    }
    return sum < PLAN_SLOTS_MAX ? sum : PLAN_SLOTS_MAX;
}

void plan_build(struct plan *plan, const struct plan_settings *settings,
                const struct plan_node *nodes, int n_nodes, struct arena *arena)
{
    *plan = (struct plan){.settings = *settings, .unit = 1};
    plan->nodes = arena_alloc(arena, (size_t)n_nodes, sizeof(*plan->nodes));
    plan->by_pos = arena_alloc(arena, (size_t)n_nodes, sizeof(*plan->by_pos));
    plan->by_name = arena_alloc(arena, (size_t)n_nodes, sizeof(*plan->by_name));
    struct path *paths = sort_paths(nodes, n_nodes, arena);
    int *parents = arena_alloc(arena, (size_t)n_nodes, sizeof(*parents));
    for (int i = 0; i < n_nodes; i++) {
        parents[i] = parent_of(nodes[i].name, paths, n_nodes);
    }
    struct families families = group(parents, n_nodes, arena);
    plan->n_top = append_family(plan, nodes, &families, PLAN_NO_NODE, PLAN_NO_NODE);
    for (int i = 0; i < plan->n_nodes; i++) {
        inherit_policy(plan, i);
        plan->nodes[i].first_child = plan->n_nodes;
        plan->nodes[i].n_children =
            append_family(plan, nodes, &families, plan->nodes[i].pos, i);
        plan->by_pos[plan->nodes[i].pos] = i;
    }
    for (int i = 0; i < n_nodes; i++) {
        plan->by_name[i] = plan->by_pos[paths[i].pos];
    }
    plan->configured = settings->slots > 0 ? settings->slots : owned_at_top(plan);
}

void plan_in_hosts(const struct plan *plan, int64_t host_slots, struct plan *in_hosts,
                   struct arena *arena)
{
    *in_hosts = *plan;
    in_hosts->unit = host_slots;
    in_hosts->nodes =
        arena_copy(arena, plan->nodes, (size_t)plan->n_nodes * sizeof(*plan->nodes));
    for (int i = 0; i < plan->n_nodes; i++) {
        struct plan_node *node = &in_hosts->nodes[i];
        node->reserve /= host_slots;
        node->limit =
            node->limit == PLAN_UNLIMITED ? PLAN_UNLIMITED : node->limit / host_slots;
    }
}

int plan_find(const struct plan *plan, const char *name)
{
    int low = 0, high = plan->n_nodes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(plan->nodes[plan->by_name[middle]].name, name);
        if (order == 0) {
            return plan->by_name[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return PLAN_NO_NODE;
}

int plan_price(const struct plan *plan, int node)
{
    while (node != PLAN_NO_NODE && plan->nodes[node].price == PLAN_INHERITED) {
        node = plan->nodes[node].parent;
    }
    return node != PLAN_NO_NODE ? (int)plan->nodes[node].price : 0;
}

int64_t plan_grace_ms(const struct plan *plan, int node)
{
    int64_t grace_ms = plan->nodes[node].grace_ms;
    int64_t most_ms = plan->settings.max_grace_ms;
    return most_ms >= 0 && most_ms < grace_ms ? most_ms : grace_ms;
}
