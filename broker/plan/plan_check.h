/* SPDX-License-Identifier: Apache-2.0 */
/* plan_check.h: checks the rules of a plan, and reports each violation.
 *
 * It is an error if
 *     a path is malformed, occurs twice, or has no parent
 *     RESERVE <= OWNED <= LIMIT does not hold
 *     children own or reserve more than their parent owns
 *     the first level owns more than the pool has, without ALLOW_OVERCOMMIT
 *     a subtree has two policies
 *     a node with children has a site, or two leaves have the same queue of a site
 * There is a warning if
 *     the first level owns less than the pool has
 *     a limit is above that of the parent
 *     a leaf has no site
 *     a node with children has a grace
 *     HOURS of a node are above those of a node above it, which count too
 *     a node of ownership policy has HOURS
 *
 * Errors: nothing here fails; each violation goes to `complain`.
 * Source: docs/design/plans.md "Model", "Decided".
 * Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_CHECK_H
#define SUBLET_BROKER_PLAN_PLAN_CHECK_H

#include "base/conf/conf.h"
#include "broker/plan/plan.h"

struct plan_complaints {
    /* `pos`: the node's place in the order given to plan_build; PLAN_NO_NODE: the pool.
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
