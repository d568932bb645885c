/* SPDX-License-Identifier: Apache-2.0 */
/* place_fairshare.c: see place_fairshare.h. Accounts that have pending classes below
 * them are nodes. The heap of a node has its child nodes, or, for the account of a
 * user, the classes of that user. */
#include "sched/place/place_fairshare.h"

#include "sched/fairshare/fairshare.h"

struct node {
    int account, rank; /* fairshare.h */
    int parent;        /* node; -1: the root */
    double priority;
    int64_t since_ms; /* when its oldest job began to pend; 0: unknown */
    bool is_late;     /* fairshare_usage.h; true too if a node below is */
    int *heap;        /* nodes or classes */
    int count;
    bool has_classes;
};

struct place_fairshare {
    struct place_fairshare_scope *scope;
    const struct place_class *all;
    place_compare_fn compare;
    const void *arg;
    struct node *nodes;
    int n_nodes;
    int *path; /* from the root to the node of the first class */
    int n_path;
    uint64_t number; /* of the change that priorities include */
};

struct place_fairshare_scope *
place_fairshare_scope_new(struct arena *arena, const struct fairshare_tree *tree,
                          int64_t now_ms)
{
    struct place_fairshare_scope *scope = arena_alloc(arena, 1, sizeof(*scope));
    scope->tree = tree;
    scope->now_ms = now_ms;
    scope->slots =
        arena_alloc(arena, (size_t)fairshare_tree_count(tree), sizeof(*scope->slots));
    return scope;
}

/* ---------------------------------------------------------------- heaps */

static int compare(const struct place_fairshare *share, const struct node *in, int a,
                   int b)
{
    if (in->has_classes) {
        return share->compare(share->arg, a, b);
    }
    const struct node *left = &share->nodes[a], *right = &share->nodes[b];
    if (left->is_late != right->is_late) {
        return left->is_late ? -1 : 1;
    }
    if (left->priority == right->priority && left->rank > 0 && right->rank > 0) {
        return left->rank - right->rank; /* the same, and cheaper */
    }
    return fairshare_tree_compare(share->scope->tree, left->account, left->priority,
                                  right->account, right->priority);
}

static void sift(const struct place_fairshare *share, struct node *in, int at)
{
    int moved = in->heap[at];
    for (int child; (child = 2 * at + 1) < in->count; at = child) {
        if (child + 1 < in->count &&
            compare(share, in, in->heap[child + 1], in->heap[child]) < 0) {
            child++;
        }
        if (compare(share, in, moved, in->heap[child]) <= 0) {
            break;
        }
        in->heap[at] = in->heap[child];
    }
    in->heap[at] = moved;
}

static void pop(const struct place_fairshare *share, struct node *in)
{
    in->heap[0] = in->heap[--in->count];
    if (in->count > 0) {
        sift(share, in, 0);
    }
}

/* The heap of the node has to be in order. */
static bool is_late(const struct place_fairshare *share, const struct node *node)
{
    const struct place_fairshare_scope *scope = share->scope;
    if (node->count == 0 || !node->has_classes) {
        return node->count > 0 && share->nodes[node->heap[0]].is_late;
    }
    return scope->slots[node->account] == 0 && node->since_ms != 0 &&
           fairshare_tree_is_late(scope->tree, node->account, node->since_ms,
                                  scope->now_ms);
}

static void rank(const struct place_fairshare *share, struct node *node)
{
    const struct place_fairshare_scope *scope = share->scope;
    node->priority = fairshare_tree_priority(
        scope->tree, node->account, scope->slots[node->account], scope->now_ms);
    node->is_late = is_late(share, node);
}

/* Sets all priorities and orders all heaps. Children come after their parents. */
static void rank_all(struct place_fairshare *share)
{
    for (int i = share->n_nodes - 1; i >= 0; i--) {
        struct node *node = &share->nodes[i];
        for (int at = node->count / 2 - 1; at >= 0; at--) {
            sift(share, node, at);
        }
        rank(share, node);
    }
    share->number = share->scope->number;
}

/* ---------------------------------------------------------------- building */

struct builder {
    struct place_fairshare *share;
    struct arena *arena;
    int *node_of; /* by account: its node, plus 1 */
};

static int node_for(struct builder *builder, int account)
{
    struct place_fairshare *share = builder->share;
    const struct fairshare_account *at = fairshare_tree_at(share->scope->tree, account);
    if (builder->node_of[account] > 0) {
        return builder->node_of[account] - 1;
    }
    int parent = at->parent >= 0 ? node_for(builder, at->parent) : -1;
    int index = share->n_nodes++;
    share->nodes[index] =
        (struct node){.account = account, .rank = at->rank, .parent = parent};
    if (parent >= 0) {
        share->nodes[parent].count++;
    }
    builder->node_of[account] = index + 1;
    return index;
}

static int account_of(const struct builder *builder, int class)
{
    const struct fairshare_tree *tree = builder->share->scope->tree;
    return fairshare_tree_at(tree, builder->share->all[class].account)->sharing_account;
}

/* Creates the nodes and counts the elements of their heaps. */
static void count_all(struct builder *builder, const int *classes, int n_classes)
{
    struct place_fairshare *share = builder->share;
    for (int i = 0; i < n_classes; i++) {
        struct node *node =
            &share->nodes[node_for(builder, account_of(builder, classes[i]))];
        node->has_classes = true;
        node->count++;
    }
}

static void fill_all(struct builder *builder, const int *classes, int n_classes)
{
    struct place_fairshare *share = builder->share;
    for (int i = 0; i < share->n_nodes; i++) {
        struct node *node = &share->nodes[i];
        node->heap = arena_alloc(builder->arena, (size_t)node->count, sizeof(int));
        node->count = 0;
        if (node->parent >= 0) {
            struct node *parent = &share->nodes[node->parent];
            parent->heap[parent->count++] = i;
        }
    }
    for (int i = 0; i < n_classes; i++) {
        int index = builder->node_of[account_of(builder, classes[i])] - 1;
        struct node *node = &share->nodes[index];
        int64_t since_ms = share->all[classes[i]].waiting_since_ms;
        node->heap[node->count++] = classes[i];
        if (since_ms != 0 && (node->since_ms == 0 || since_ms < node->since_ms)) {
            node->since_ms = since_ms;
        }
    }
}

struct place_fairshare *
place_fairshare_new(struct arena *arena, struct place_fairshare_scope *scope,
                    const struct place_class *all, const int *classes, int n_classes,
                    place_compare_fn compare_classes, const void *arg)
{
    size_t n_accounts = (size_t)fairshare_tree_count(scope->tree);
    struct place_fairshare *share = arena_alloc(arena, 1, sizeof(*share));
    struct builder builder = {.share = share, .arena = arena};
    share->scope = scope;
    share->all = all;
    share->compare = compare_classes;
    share->arg = arg;
    share->nodes = arena_alloc(arena, n_accounts, sizeof(*share->nodes));
    share->path = arena_alloc(arena, SHARE_DEPTH_MAX + 2, sizeof(int));
    builder.node_of = arena_alloc(arena, n_accounts, sizeof(int));
    count_all(&builder, classes, n_classes);
    fill_all(&builder, classes, n_classes);
    rank_all(share);
    return share;
}

/* ---------------------------------------------------------------- the pass */

int place_fairshare_top(struct place_fairshare *share)
{
    if (share->n_nodes == 0 || share->nodes[0].count == 0) {
        return -1;
    }
    if (share->number != share->scope->number) {
        rank_all(share); /* another queue of the scope has granted slots */
    }
    int at = 0;
    share->n_path = 0;
    for (;;) {
        const struct node *node = &share->nodes[at];
        share->path[share->n_path++] = at;
        if (node->has_classes) {
            return node->heap[0];
        }
        at = node->heap[0];
    }
}

/* Granted slots count for the account of the class and for all above it. */
static void grant(struct place_fairshare *share, int class, int n_slots)
{
    struct place_fairshare_scope *scope = share->scope;
    for (int at = share->all[class].account; at >= 0;
         at = fairshare_tree_at(scope->tree, at)->parent) {
        scope->slots[at] += n_slots;
    }
    scope->number++;
    share->number = scope->number;
}

void place_fairshare_advance(struct place_fairshare *share, int n_slots,
                             bool is_through)
{
    struct node *last = &share->nodes[share->path[share->n_path - 1]];
    if (n_slots > 0) {
        grant(share, last->heap[0], n_slots);
    }
    if (is_through) {
        pop(share, last);
    } else {
        sift(share, last, 0);
    }
    for (int i = share->n_path - 1; i > 0; i--) {
        struct node *node = &share->nodes[share->path[i]];
        struct node *parent = &share->nodes[node->parent];
        bool was_late = node->is_late;
        if (node->count == 0) {
            pop(share, parent);
            continue;
        }
        if (n_slots > 0) {
            rank(share, node);
        } else {
            node->is_late = is_late(share, node);
        }
        if (n_slots == 0 && node->is_late == was_late) {
            break; /* the order is the same */
        }
        sift(share, parent, 0);
    }
}
