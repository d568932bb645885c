/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_read.h: reads share assignments and factors of fairshare, for fairshare.h.
 * Ownership: in conf's arena. Errors: diagnostics. Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_READ_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_READ_H

#include "base/conf/conf_value.h"
#include "sched/fairshare/fairshare.h"

/* Reports errors in USER_SHARES of section UserGroup, which the other functions do not.
 */
void fairshare_read_groups(struct conf *conf, const struct groups *groups);

/* Reads the cell of that key: "USER_SHARES[[ana, 1] [lab, 2]]", or "([ana, 1] [lab,
 * 2])". The key must be in the row. Assignments of groups are read along with it. */
void fairshare_read_assignments(struct conf *conf, const struct groups *groups,
                                const struct conf_place *at, const char *key,
                                const struct share_assignment **assignments,
                                int *n_assignments);

/* Reports errors in factors of the row, which fairshare_read_factors does not. */
void fairshare_read_check(struct conf *conf, const struct conf_place *at);
/* Reads factors of the row, else of section Parameters, else the defaults. */
void fairshare_read_factors(struct conf *conf, const struct conf_place *at,
                            struct fairshare_factors *factors);

#endif
