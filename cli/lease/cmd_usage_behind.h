/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_behind.h: the runs and splits behind a difference that `sublet usage
 * --reconcile` has found. Layer: cli. */
#ifndef SUBLET_CLI_LEASE_CMD_USAGE_BEHIND_H
#define SUBLET_CLI_LEASE_CMD_USAGE_BEHIND_H

#include <jansson.h>
#include <stdint.h>

#include "cli/connect.h"
#include "usage/usage.h"

/* A page of the books of `book` ("site", "other", "broker"), of the lease and time of
 * the query; `by` and `after` as in model/ledger_page.h. */
int cmd_usage_behind_page(struct connect *connect, struct msg_query query,
                          const char *book, json_t **page, struct err *err) MUST_CHECK;

/* What is asked: a difference of that time, of books that were read at `until_ms`. */
struct cmd_usage_behind {
    struct connect *connect;
    const char *lease;
    const char *provider, *consumer; /* its sites */
    int64_t from_ms, to_ms, until_ms;
};
/* Adds to the difference: "runs", of USAGE_LENT, or "splits". `book`: that of the site
 * whose side it is. "is_cut": there is more than is asked for. */
int cmd_usage_behind_runs(const struct cmd_usage_behind *what, json_t *difference,
                          struct err *err) MUST_CHECK;
int cmd_usage_behind_splits(const struct cmd_usage_behind *what, enum usage_side side,
                            const char *book, json_t *difference,
                            struct err *err) MUST_CHECK;
/* A line for each of them. */
void cmd_usage_behind_print(const json_t *difference);

#endif
