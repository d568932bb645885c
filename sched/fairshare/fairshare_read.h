/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_read.h: lists of shares and factors of fairshare as they are written, for
 * fairshare.h. Ownership: in conf's arena. Errors: diagnostics. Layer: sched (base
 * only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_READ_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_READ_H

#include "base/conf_value.h"
#include "sched/fairshare/fairshare.h"

/* Complains about USER_SHARES of section UserGroup, which the other readings do not. */
void fairshare_read_groups(struct conf *conf, const struct groups *groups);

/* The cell of that key: "USER_SHARES[[ana, 1] [lab, 2]]", or without the word and its
 * brackets "([ana, 1] [lab, 2])". The key must be in the row. Shares of groups come
 * along. */
void fairshare_read_assignments(struct conf *conf, const struct groups *groups,
                                const struct conf_place *at, const char *key,
                                const struct share_assignment **lines, int *n_lines);

/* Complains about factors of the row, which the next one does not. */
void fairshare_read_check(struct conf *conf, const struct conf_place *at);
/* Of the row, else of section Parameters, else the defaults. */
void fairshare_read_factors(struct conf *conf, const struct conf_place *at,
                            struct fairshare_factors *factors);

#endif
