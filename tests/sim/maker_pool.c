/* SPDX-License-Identifier: Apache-2.0 */
/* maker_pool.c: a pool, and a plan whose leaves are sites, with or without groups, and
 * with all that a plan may have. */
#include "tests/sim/maker_parts.h"

enum { GROUPS_MAX = 2, OWNED_MAX = 6, NOWHERE = 9, WINDOWS = 2 };

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

    for (int w = 0; w < windows->count; w++) {
        const char *policy =
            group[0] != '\0' ? "-" : policy_of(windows, GROUPS_MAX + site, w);

        maker_say(maker, "%s/l%d p %d %d ", group, site + 1, owned, reserve);
        if (has_limit) {
            maker_say(maker, "%d ", limit);
        } else {
            maker_say(maker, "- ");
        }
        maker_say(maker, "%d %ds s%d %s %s\n", rank, grace_s, site + 1, policy,
                  window_name(windows, w));
    }
}

void maker_write_pool(struct maker *maker, int but)
{
    int owned[SITES_MAX], group_of[SITES_MAX], sums[GROUPS_MAX] = {0};

    struct windows windows = {.count = maker_chance(maker, 40) ? WINDOWS : 1};

    if (windows.count > 1 || maker_chance(maker, 20)) {
        windows.mask = maker_between(maker, 0, (1 << 2 * (GROUPS_MAX + SITES_MAX)) - 1);
    }
    if (maker_chance(maker, 25)) {
        windows.share = maker_between(maker, 0, (1 << (GROUPS_MAX + SITES_MAX)) - 1);
    }
    write_pool(maker);
    write_windows(maker, &windows);
    maker_say(maker, "Begin PlanNode\nNAME POOL OWNED RESERVE LIMIT RANK GRACE SITE "
                     "POLICY WINDOW\n");
    for (int i = 0; i < maker->n_sites; i++) {
        if (i + 1 == but) {
            group_of[i] = NOWHERE;
            continue;
        }
        owned[i] = maker_chance(maker, 70) ? maker_between(maker, 1, OWNED_MAX) : 0;
        group_of[i] = maker_between(maker, 0, GROUPS_MAX); /* the last one: no group */
        if (group_of[i] < GROUPS_MAX) {
            sums[group_of[i]] += owned[i];
        }
    }
    for (int k = 0; k < GROUPS_MAX; k++) {
        bool has_leaf = false;

        for (int i = 0; i < maker->n_sites; i++) {
            has_leaf |= group_of[i] == k;
        }
        int owned_more = maker_between(maker, 0, 3);
        int reserve = is_share(&windows, k) || !maker_chance(maker, 30)
                          ? 0
                          : maker_between(maker, 0, sums[k] + owned_more);

        for (int w = 0; w < windows.count && has_leaf; w++) {
            maker_say(maker, "/g%d p %d %d - - - - %s %s\n", k, sums[k] + owned_more,
                      reserve, policy_of(&windows, k, w), window_name(&windows, w));
        }
    }
    for (int i = 0; i < maker->n_sites; i++) {
        const char *group = group_of[i] == 0 ? "/g0" : group_of[i] == 1 ? "/g1" : "";

        if (group_of[i] != NOWHERE) {
            write_leaf(maker, group, i, owned[i], &windows);
        }
    }
    maker_say(maker, "End PlanNode\n");
}
