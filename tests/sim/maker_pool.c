/* SPDX-License-Identifier: Apache-2.0 */
/* maker_pool.c: a pool, and a plan of up to three levels whose leaves are sites, with
 * all that a plan may have. */
#include <stdio.h>

#include "tests/sim/maker_parts.h"

enum { GROUPS_MAX = 2, INNER = 2, OWNED_MAX = 6, NOWHERE = 9, WINDOWS = 2 };
enum { HOURS_OF_LEAF_MAX = 8, HOURS_OF_GROUP_MAX = 15 };

/* Nodes with children: two of the first level, and one in each of these. */
static const char *const paths[] = {"/g0", "/g1", "/g0/in", "/g1/in"};
enum { PATHS = sizeof paths / sizeof paths[0] };

/* A node of the first level may have another policy in each time window. */
struct windows {
    int count; /* 1: the plan has no windows */
    int mask;  /* a bit for each group or site, and window, whose policy is ownership */
    int share; /* a bit for each group or site whose policy is share in all windows */
};

static bool is_share(const struct windows *windows, int node)
{
    return (windows->share >> node & 1) != 0;
}

static const char *policy_of(const struct windows *windows, int node, int window)
{
    bool is_owned = (windows->mask >> (node * WINDOWS + window) & 1) != 0;

    return is_share(windows, node) ? "share" : is_owned ? "ownership" : "-";
}

static void write_windows(struct maker *maker, const struct windows *windows)
{
    static const char *const names[] = {"-", "w1", "w2"};

    if (windows->count > 1) {
        int minute = maker_between(maker, 1, 3);

        maker_say(maker, "Begin TimeWindow\nNAME POOL FROM TO\n");
        maker_say(maker, "%s p 00:00 00:%02d\n%s p 00:%02d 24:00\nEnd TimeWindow\n",
                  names[1], minute, names[2], minute);
    }
}

static const char *window_name(const struct windows *windows, int window)
{
    return windows->count == 1 ? "-" : window == 0 ? "w1" : "w2";
}

static void write_pool(struct maker *maker)
{
    static const char *const placements[] = {"stacked", "balanced", "exclusive"};

    maker_say(maker, "Begin Pool\nNAME = p\nCYCLE = %ds\nPLACEMENT = %s\n",
              maker_between(maker, 2, 20), placements[maker_between(maker, 0, 2)]);
    maker_say(maker, "EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS = %s\n",
              maker_chance(maker, 30) ? "Y" : "N");
    maker_say(maker, "EGO_DISABLE_RECLAIM_HYBRID_OWN = %s\n",
              maker_chance(maker, 30) ? "Y" : "N");
    if (maker_chance(maker, 30)) {
        maker_say(maker, "ROUND = sticky\n");
    }
    if (maker_chance(maker, 30)) {
        maker_say(maker, "MAX_RECALL_PER_CYCLE = %d\n", maker_between(maker, 1, 4));
    }
    if (maker_chance(maker, 20)) {
        maker_say(maker, "MIN_HOLD = %ds\n", maker_between(maker, 1, 30));
    }
    if (maker_chance(maker, 30)) {
        maker_say(maker, "PROVIDER_LOST_AFTER = %ds\n", maker_between(maker, 0, 40));
    }
    if (maker_chance(maker, 20)) {
        maker_say(maker, "SHARING = N\n");
    }
    maker_say(maker, "End Pool\n");
}

/* 0: none. Some are used up by the first jobs, some by the last. */
static int choose_hours(struct maker *maker, int most)
{
    return maker->has_hours && maker_chance(maker, 40) ? maker_between(maker, 1, most)
                                                       : 0;
}

static int choose_price(struct maker *maker)
{
    return maker->has_hours && maker_chance(maker, 30) ? maker_between(maker, 0, 5)
                                                       : -1;
}

static void write_hours(struct maker *maker, int hours, int price)
{
    char number[16] = "-";

    if (price >= 0) {
        snprintf(number, sizeof number, "%d", price);
    }
    if (hours > 0) {
        maker_say(maker, " %d %s\n", hours, number);
    } else {
        maker_say(maker, " - %s\n", number);
    }
}

/* A leaf owns at most what its group has left. One row per window. */
static void write_leaf(struct maker *maker, const char *group, int site, int owned,
                       const struct windows *windows)
{
    int top = group[0] != '\0' ? group[2] - '0' : GROUPS_MAX + site;
    bool may_reserve = owned > 0 && !is_share(windows, top);
    int reserve =
        may_reserve && maker_chance(maker, 30) ? maker_between(maker, 1, owned) : 0;
    int limit = owned + maker_between(maker, 1, 10);

    int rank = maker_between(maker, 0, 2);
    int grace_s = maker_chance(maker, 30) ? 0 : maker_between(maker, 1, 20);
    bool has_limit = maker_chance(maker, 30);
    int hours = choose_hours(maker, HOURS_OF_LEAF_MAX), price = choose_price(maker);

    for (int w = 0; w < windows->count; w++) {
        const char *policy =
            group[0] != '\0' ? "-" : policy_of(windows, GROUPS_MAX + site, w);

        maker_say(maker, "%s/l%d p %d %d ", group, site + 1, owned, reserve);
        if (has_limit) {
            maker_say(maker, "%d ", limit);
        } else {
            maker_say(maker, "- ");
        }
        maker_say(maker, "%d %ds s%d %s %s", rank, grace_s, site + 1, policy,
                  window_name(windows, w));
        write_hours(maker, hours, price);
    }
}

/* A node with children, which own so much; it owns and reserves as much or more. Its
 * reserve may exceed its children's. */
static int write_parent(struct maker *maker, int path, int owned,
                        const struct windows *windows)
{
    int top = path % INNER;
    int own = owned + maker_between(maker, 0, 3);
    int reserve = is_share(windows, top) || !maker_chance(maker, 40)
                      ? 0
                      : maker_between(maker, 0, own);

    int hours = choose_hours(maker, HOURS_OF_GROUP_MAX), price = choose_price(maker);

    for (int w = 0; w < windows->count; w++) {
        maker_say(maker, "%s p %d %d - - - - %s %s", paths[path], own, reserve,
                  path == top ? policy_of(windows, top, w) : "-",
                  window_name(windows, w));
        write_hours(maker, hours, price);
    }
    return own;
}

/* Children before their parents, as these own what the children own. */
static void write_parents(struct maker *maker, const int *sums, const bool *has_leaf,
                          const struct windows *windows)
{
    int inner[INNER] = {0};

    for (int k = 0; k < INNER; k++) {
        if (has_leaf[INNER + k]) {
            inner[k] = write_parent(maker, INNER + k, sums[INNER + k], windows);
        }
    }
    for (int k = 0; k < INNER; k++) {
        if (has_leaf[k] || has_leaf[INNER + k]) {
            write_parent(maker, k, sums[k] + inner[k], windows);
        }
    }
}

static void choose_windows(struct maker *maker, struct windows *windows)
{
    *windows = (struct windows){.count = maker_chance(maker, 40) ? WINDOWS : 1};
    if (windows->count > 1 || maker_chance(maker, 20)) {
        windows->mask =
            maker_between(maker, 0, (1 << 2 * (GROUPS_MAX + SITES_MAX)) - 1);
    }
    if (maker_chance(maker, 25)) {
        windows->share = maker_between(maker, 0, (1 << (GROUPS_MAX + SITES_MAX)) - 1);
    }
}

void maker_write_pool(struct maker *maker, int but)
{
    int owned[SITES_MAX], path_of[SITES_MAX], sums[PATHS] = {0};
    bool has_leaf[PATHS] = {false};
    struct windows windows;

    choose_windows(maker, &windows);
    write_pool(maker);
    write_windows(maker, &windows);
    maker_say(maker, "Begin PlanNode\nNAME POOL OWNED RESERVE LIMIT RANK GRACE SITE "
                     "POLICY WINDOW HOURS PRICE\n");
    for (int i = 0; i < maker->n_sites; i++) {
        if (i + 1 == but) {
            path_of[i] = NOWHERE;
            continue;
        }
        owned[i] = maker_chance(maker, 70) ? maker_between(maker, 1, OWNED_MAX) : 0;
        path_of[i] = maker_between(maker, 0, GROUPS_MAX); /* the last one: no group */
        if (path_of[i] < GROUPS_MAX) {
            path_of[i] += maker_chance(maker, 35) ? INNER : 0;
            sums[path_of[i]] += owned[i];
            has_leaf[path_of[i]] = true;
        } else {
            path_of[i] = PATHS;
        }
    }
    write_parents(maker, sums, has_leaf, &windows);
    for (int i = 0; i < maker->n_sites; i++) {
        if (path_of[i] != NOWHERE) {
            write_leaf(maker, path_of[i] < PATHS ? paths[path_of[i]] : "", i, owned[i],
                       &windows);
        }
    }
    maker_say(maker, "End PlanNode\n");
}
