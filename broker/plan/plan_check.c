/* SPDX-License-Identifier: Apache-2.0 */
/* plan_check.c: see plan_check.h. */
#include "broker/plan/plan_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void complain(const struct plan_complaints *to, enum conf_severity severity,
                     int pos, const char *key, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void complain(const struct plan_complaints *to, enum conf_severity severity,
                     int pos, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    to->complain(to->arg, severity, pos, key, arena_vprintf(to->arena, format, args));
    va_end(args);
}

/* ---------------------------------------------------------------- paths */

/* "/a/b": one or more names, a slash before each. */
static bool is_path(const char *name)
{
    size_t length = strlen(name);
    if (length >= PLAN_PATH_SIZE || name[0] != '/') {
        return false;
    }
    while (*name == '/') {
        char part[PLAN_PATH_SIZE];
        size_t n = strcspn(++name, "/");
        memcpy(part, name, n);
        part[n] = '\0';
        if (conf_parse_name(part, NULL) < 0) {
            return false;
        }
        name += n;
    }
    return true;
}

struct named {
    const char *name;
    int pos;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->pos > b->pos) - (a->pos < b->pos);
}

static int find_named(const void *key, const void *item)
{
    return strcmp(key, ((const struct named *)item)->name);
}

static bool has_parent(const char *name, const struct named *all, int count)
{
    char parent[PLAN_PATH_SIZE];
    size_t length = (size_t)(strrchr(name, '/') - name);
    memcpy(parent, name, length);
    parent[length] = '\0';
    return length == 0 ||
           bsearch(parent, all, (size_t)count, sizeof(*all), find_named) != NULL;
}

/* Well-formed ones, sorted. */
static int collect_names(const struct plan_node *nodes, int n_nodes,
                         const struct plan_complaints *to, struct named *all)
{
    int count = 0;
    for (int i = 0; i < n_nodes; i++) {
        if (is_path(nodes[i].name)) {
            all[count++] = (struct named){nodes[i].name, i};
        } else {
            complain(to, CONF_ERROR, i, "NAME",
                     "\"%.60s\" is not a path, expected names with / before each, as "
                     "/eng/sim, at most %d bytes",
                     nodes[i].name, PLAN_PATH_SIZE - 1);
        }
    }
    qsort(all, (size_t)count, sizeof(*all), compare_named);
    return count;
}

void plan_check_names(const struct plan_node *nodes, int n_nodes,
                      const struct plan_complaints *to)
{
    struct named *all = arena_alloc(to->arena, (size_t)n_nodes, sizeof(*all));
    int count = collect_names(nodes, n_nodes, to, all);
    for (int i = 0; i < count; i++) {
        if (i > 0 && strcmp(all[i].name, all[i - 1].name) == 0) {
            complain(to, CONF_ERROR, all[i].pos, "NAME",
                     "\"%s\" twice, expected each node once in a pool and window",
                     all[i].name);
        } else if (!has_parent(all[i].name, all, count)) {
            complain(to, CONF_ERROR, all[i].pos, "NAME",
                     "\"%s\" has no parent, expected a node \"%.*s\" too", all[i].name,
                     (int)(strrchr(all[i].name, '/') - all[i].name), all[i].name);
        }
    }
}

/* ---------------------------------------------------------------- numbers */

static void check_bounds(const struct plan_node *node, const struct plan_complaints *to)
{
    if (node->policy == PLAN_SHARE && node->reserve > 0) {
        complain(to, CONF_ERROR, node->pos, "RESERVE",
                 "\"%s\" is of share policy and owns nothing, expected no RESERVE",
                 node->name);
    } else if (node->reserve > node->own) {
        complain(to, CONF_ERROR, node->pos, "RESERVE",
                 "%" PRId64 " reserved of %" PRId64 " owned, expected at most OWNED",
                 node->reserve, node->own);
    }
    if (node->own > node->limit && node->policy != PLAN_SHARE) {
        complain(to, CONF_ERROR, node->pos, "LIMIT",
                 "%" PRId64 " is below the %" PRId64
                 " owned, expected at least OWNED, or - for none",
                 node->limit, node->own);
    }
}

static void check_children(const struct plan *plan, const struct plan_node *node,
                           const struct plan_complaints *to)
{
    int64_t own = 0, reserve = 0;
    for (int i = 0; i < node->n_children; i++) {
        const struct plan_node *child = &plan->nodes[node->first_child + i];
        own += child->own;
        reserve += child->reserve;
        if (child->limit > node->limit && child->limit != PLAN_UNLIMITED) {
            complain(to, CONF_WARNING, child->pos, "LIMIT",
                     "%" PRId64 " is above its parent's %" PRId64
                     ", which counts, expected no more than that",
                     child->limit, node->limit);
        }
    }
    if (own > node->own && node->policy != PLAN_SHARE) {
        complain(to, CONF_ERROR, node->pos, "OWNED",
                 "the children of \"%s\" own %" PRId64
                 " together, expected at most its %" PRId64,
                 node->name, own, node->own);
    }
    if (reserve > node->own && node->policy != PLAN_SHARE) {
        complain(to, CONF_ERROR, node->pos, "RESERVE",
                 "the children of \"%s\" reserve %" PRId64
                 " together, expected at most its %" PRId64 " owned",
                 node->name, reserve, node->own);
    }
}

static void check_pool(const struct plan *plan, const struct plan_complaints *to)
{
    int64_t own = 0;
    bool has_share = false;
    for (int i = 0; i < plan->n_top; i++) {
        const struct plan_node *node = &plan->nodes[i];
        bool is_orphan = strrchr(node->name, '/') != node->name;
        own += is_orphan || node->policy == PLAN_SHARE ? 0 : node->own;
        has_share = has_share || node->policy == PLAN_SHARE;
    }
    if (own > plan->configured && !plan->settings.may_overcommit) {
        complain(to, CONF_ERROR, PLAN_NO_NODE, "SLOTS",
                 "the first level owns %" PRId64 " of %" PRId64
                 ", expected at most SLOTS, or ALLOW_OVERCOMMIT = Y",
                 own, plan->configured);
    } else if (own != plan->configured && !has_share) {
        complain(to, CONF_WARNING, PLAN_NO_NODE, "SLOTS",
                 "the first level owns %" PRId64 " of %" PRId64
                 ", expected all of them, so that none is without an owner",
                 own, plan->configured);
    }
}

/* ---------------------------------------------------------------- policy and sites */

static const char *policy_name(enum plan_policy policy)
{
    static const char *const names[] = {[PLAN_HYBRID] = "hybrid",
                                        [PLAN_OWNERSHIP] = "ownership",
                                        [PLAN_SHARE] = "share"};
    return names[policy];
}

static void check_policy(const struct plan *plan, const struct plan_node *node,
                         const struct plan_complaints *to)
{
    int top = node->parent;
    while (top != PLAN_NO_NODE && plan->nodes[top].parent != PLAN_NO_NODE) {
        top = plan->nodes[top].parent;
    }
    if (top != PLAN_NO_NODE && plan->nodes[top].policy != node->policy) {
        complain(to, CONF_ERROR, node->pos, "POLICY",
                 "%s below \"%s\", which is %s, expected the same, or - for it",
                 policy_name(node->policy), plan->nodes[top].name,
                 policy_name(plan->nodes[top].policy));
    }
}

static void check_grace(const struct plan_node *node, const struct plan_complaints *to)
{
    if (!plan_is_leaf(node) && node->grace_ms > 0) {
        complain(to, CONF_WARNING, node->pos, "GRACE",
                 "\"%s\" has children, and has no jobs of its own, expected GRACE at "
                 "leaves only",
                 node->name);
    }
}

/* The nearest node above it that has HOURS; PLAN_NO_NODE: none has. */
static int find_hours_above(const struct plan *plan, const struct plan_node *node)
{
    int above = node->parent;
    while (above != PLAN_NO_NODE && plan->nodes[above].hours == 0) {
        above = plan->nodes[above].parent;
    }
    return above;
}

static void check_hours(const struct plan *plan, const struct plan_node *node,
                        const struct plan_complaints *to)
{
    int above = find_hours_above(plan, node);
    if (above != PLAN_NO_NODE && node->hours > plan->nodes[above].hours) {
        complain(to, CONF_WARNING, node->pos, "HOURS",
                 "%" PRId64 " are above the %" PRId64
                 " of \"%s\", which count, expected no more than that",
                 node->hours, plan->nodes[above].hours, plan->nodes[above].name);
    }
    if (node->hours > 0 && node->policy == PLAN_OWNERSHIP) {
        complain(to, CONF_WARNING, node->pos, "HOURS",
                 "\"%s\" is of ownership policy, so that what it owns stays idle when "
                 "its hours are used up, expected HOURS at nodes of another policy",
                 node->name);
    }
}

static void check_site(const struct plan_node *node, const struct plan_complaints *to)
{
    if (!plan_is_leaf(node) && node->site != NULL) {
        complain(to, CONF_ERROR, node->pos, "SITE",
                 "\"%s\" has children, expected sites at leaves only", node->name);
    } else if (node->n_queues > 0 && node->site == NULL) {
        complain(to, CONF_ERROR, node->pos, "QUEUES",
                 "queues without a site, expected SITE too");
    } else if (plan_is_leaf(node) && node->site == NULL) {
        complain(to, CONF_WARNING, node->pos, "SITE",
                 "\"%s\" has no SITE and so gets nothing, expected one", node->name);
    }
}

/* A queue of a site that a leaf has; NULL: all queues. */
struct source {
    const char *site, *queue, *node;
    int pos;
};

static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    int order = strcmp(a->site, b->site);
    if (order == 0 && (a->queue == NULL || b->queue == NULL)) {
        order = (a->queue != NULL) - (b->queue != NULL);
    } else if (order == 0) {
        order = strcmp(a->queue, b->queue);
    }
    return order != 0 ? order : (a->pos > b->pos) - (a->pos < b->pos);
}

static int collect_sources(const struct plan *plan, struct source *sources)
{
    int count = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        for (int k = 0; node->site != NULL && k < plan_max(node->n_queues, 1); k++) {
            const char *queue = node->n_queues > 0 ? node->queues[k] : NULL;
            sources[count++] =
                (struct source){node->site, queue, node->name, node->pos};
        }
    }
    qsort(sources, (size_t)count, sizeof(*sources), compare_sources);
    return count;
}

/* The sources of a site are consecutive, "all queues" before the others. */
static void check_sources(const struct plan *plan, const struct plan_complaints *to)
{
    size_t n_sources = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        n_sources += (size_t)plan->nodes[i].n_queues + 1;
    }
    struct source *sources = arena_alloc(to->arena, n_sources, sizeof(*sources));
    int count = collect_sources(plan, sources);
    const struct source *all = NULL; /* the leaf that has all queues of the site */
    for (int i = 0; i < count; i++) {
        const struct source *source = &sources[i];
        if (all != NULL && strcmp(all->site, source->site) != 0) {
            all = NULL;
        }
        const struct source *before = i > 0 ? &sources[i - 1] : NULL;
        bool is_twice = before != NULL && source->queue != NULL &&
                        before->queue != NULL &&
                        strcmp(before->site, source->site) == 0 &&
                        strcmp(before->queue, source->queue) == 0;
        const struct source *other = all != NULL ? all : is_twice ? before : NULL;
        if (other != NULL) {
            complain(
                to, CONF_ERROR, source->pos, source->queue ? "QUEUES" : "SITE",
                "%s%s%s of site \"%s\" belong%s to node \"%s\" already, expected each "
                "queue in one leaf",
                source->queue ? "queue \"" : "all queues",
                source->queue ? source->queue : "", source->queue ? "\"" : "",
                source->site, source->queue ? "s" : "", other->node);
        }
        all = source->queue == NULL && all == NULL ? source : all;
    }
}

/* SHARING = N is for nodes of ownership policy alone. */
static void check_sharing(const struct plan *plan, const struct plan_complaints *to)
{
    bool has_ownership = !plan->settings.keeps_idle;
    for (int i = 0; i < plan->n_top && !has_ownership; i++) {
        has_ownership = plan->nodes[i].policy == PLAN_OWNERSHIP;
    }
    if (!has_ownership) {
        complain(
            to, CONF_WARNING, PLAN_NO_NODE, "SHARING",
            "no node is of ownership policy, and the others always share, expected "
            "it with POLICY = ownership");
    }
}

void plan_check(const struct plan *plan, const struct plan_complaints *to)
{
    check_pool(plan, to);
    check_sharing(plan, to);
    for (int pos = 0; pos < plan->n_nodes; pos++) {
        const struct plan_node *node = &plan->nodes[plan->by_pos[pos]];
        check_bounds(node, to);
        check_policy(plan, node, to);
        check_grace(node, to);
        check_hours(plan, node, to);
        check_site(node, to);
        check_children(plan, node, to);
    }
    check_sources(plan, to);
}
