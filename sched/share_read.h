/* SPDX-License-Identifier: Apache-2.0 */
/* share_read.h: lists of shares and factors of fairshare as they are written, for
 * share_config.h. Ownership: in conf's arena. Errors: diagnostics. Layer: sched (base
 * only). */
#ifndef SUBLET_SCHED_SHARE_READ_H
#define SUBLET_SCHED_SHARE_READ_H

#include "base/conf_value.h"
#include "sched/share_config.h"

/* Complains about USER_SHARES of section UserGroup, which the other readings do not. */
void share_read_groups(struct conf *conf, const struct groups *groups);

/* The cell of that key: "USER_SHARES[[ana, 1] [lab, 2]]", or without the word and its
 * brackets "([ana, 1] [lab, 2])". The key must be in the row. Shares of groups come
 * along. */
void share_read_lines(struct conf *conf, const struct groups *groups,
                      const struct conf_place *at, const char *key,
                      const struct share_line **lines, int *n_lines);

/* Complains about factors of the row, which the next one does not. */
void share_read_check(struct conf *conf, const struct conf_place *at);
/* Of the row, else of section Parameters, else the defaults. */
void share_read_factors(struct conf *conf, const struct conf_place *at,
                        struct share_factors *factors);

#endif
