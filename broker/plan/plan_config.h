/* SPDX-License-Identifier: Apache-2.0 */
/* plan_config.h: the Pool, PlanNode and TimeWindow sections, judged and turned into
 * plans: one for each time window of each pool.
 *
 * A row without WINDOW is for every window, except those for which the node has another
 * row. EGO_... keys outside sections are the defaults of the same keys of a pool.
 *
 * Errors become diagnostics of `conf`; each violated rule of plan_check.h has file,
 * line and key. Ownership: all in conf's arena. Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_CONFIG_H
#define SUBLET_BROKER_PLAN_PLAN_CONFIG_H

#include "base/conf.h"
#include "broker/plan/plan.h"
#include "broker/plan/plan_window.h"

struct plan_pool {
    const char *name;
    struct plan_window *windows;
    int n_windows;      /* 0: the plan is the same all day */
    struct plan *plans; /* of each window, or one */
};

struct plan_pools {
    struct plan_pool *pools; /* in file order */
    int n_pools;
};

/* True if there is any of these sections. Without errors the plans may be used. */
bool plan_config_read(struct conf *conf, struct plan_pools *pools);

/* NULL: there is none. */
const struct plan_pool *plan_config_find(const struct plan_pools *pools,
                                         const char *name);

#endif
