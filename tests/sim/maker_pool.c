/* SPDX-License-Identifier: Apache-2.0 */
/* maker_pool.c: a pool, and a plan in which sites are leaves: under groups or not, with
 * all that a plan may say, within its rules. */
#include "tests/sim/maker_parts.h"

enum { GROUPS_MAX = 2, OWNED_MAX = 6, NOWHERE = 9 };

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
    maker_say(maker, "End Pool\n");
}

/* A leaf owns at most what its group has left. */
static void write_leaf(struct maker *maker, const char *group, int site, int owned)
{
    int reserve =
        owned > 0 && maker_chance(maker, 30) ? maker_between(maker, 1, owned) : 0;
    int limit = owned + maker_between(maker, 1, 10);

    maker_say(maker, "%s/l%d p %d %d ", group, site + 1, owned, reserve);
    if (maker_chance(maker, 30)) {
        maker_say(maker, "%d ", limit);
    } else {
        maker_say(maker, "- ");
    }
    maker_say(maker, "%d %ds s%d\n", maker_between(maker, 0, 2),
              maker_chance(maker, 30) ? 0 : maker_between(maker, 1, 20), site + 1);
}

void maker_write_pool(struct maker *maker, int but)
{
    int owned[SITES_MAX], group_of[SITES_MAX], sums[GROUPS_MAX] = {0};

    write_pool(maker);
    maker_say(maker, "Begin PlanNode\nNAME POOL OWNED RESERVE LIMIT RANK GRACE SITE\n");
    for (int i = 0; i < maker->n_sites; i++) {
        if (i + 1 == but) {
            group_of[i] = NOWHERE;
            continue;
        }
        owned[i] = maker_chance(maker, 70) ? maker_between(maker, 1, OWNED_MAX) : 0;
        group_of[i] = maker_between(maker, 0, GROUPS_MAX); /* the last: none */
        if (group_of[i] < GROUPS_MAX) {
            sums[group_of[i]] += owned[i];
        }
    }
    for (int k = 0; k < GROUPS_MAX; k++) {
        bool has_leaf = false;

        for (int i = 0; i < maker->n_sites; i++) {
            has_leaf |= group_of[i] == k;
        }
        if (has_leaf) {
            maker_say(maker, "/g%d p %d 0 - - - -\n", k,
                      sums[k] + maker_between(maker, 0, 3));
        }
    }
    for (int i = 0; i < maker->n_sites; i++) {
        const char *group = group_of[i] == 0 ? "/g0" : group_of[i] == 1 ? "/g1" : "";

        if (group_of[i] != NOWHERE) {
            write_leaf(maker, group, i, owned[i]);
        }
    }
    maker_say(maker, "End PlanNode\n");
}
