/* SPDX-License-Identifier: Apache-2.0 */
/* plan_check.h: the rules that a plan must keep, each violation with what and where.
 *
 * Rules: paths are well formed, unique, and have a parent; RESERVE <= OWNED <= LIMIT;
 * what children own, and what they reserve, is no more than their parent owns; the
 * first level owns no more than the pool has (unless ALLOW_OVERCOMMIT); POLICY is one
 * for each subtree; only leaves stand for a site, and none for one that another leaf
 * stands for. Warnings: ownership is not all of the pool; a limit above the parent's; a
 * leaf without a site.
 *
 * Errors: nothing here fails; each violation goes to `complain`.
 * Source: docs/design/plans.md "Model", "Decided".
 * Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_CHECK_H
#define SUBLET_BROKER_PLAN_PLAN_CHECK_H

#include "base/conf.h"
#include "broker/plan/plan.h"

struct plan_complaints {
    /* `pos`: whose, in the order given to plan_build; PLAN_NO_NODE: the pool's.
     * `key`: as in the configuration. `text`: "what, expected ...". */
    void (*complain)(void *arg, enum conf_severity severity, int pos, const char *key,
                     const char *text);
    void *arg;
    struct arena *arena; /* the texts live in it */
};

/* Before plan_build: the paths. */
void plan_check_names(const struct plan_node *nodes, int n_nodes,
                      const struct plan_complaints *complaints);

/* Everything else. */
void plan_check(const struct plan *plan, const struct plan_complaints *complaints);

#endif
