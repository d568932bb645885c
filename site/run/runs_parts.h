/* SPDX-License-Identifier: Apache-2.0 */
/* runs_parts.h: the state of runs, for runs.c, runs_orphan.c and runs_order.c. Layer:
 * site. */
#ifndef SUBLET_SITE_RUN_RUNS_PARTS_H
#define SUBLET_SITE_RUN_RUNS_PARTS_H

#include "site/run/runs.h"

/* The number of the control action that ends a run which is not on record. It is above
 * all others, so that the action is carried out exactly once. */
#define RUNS_ORPHAN_ORDER ((uint64_t)INT64_MAX)

struct runs {
    struct runs_setting setting;
    struct host_table *hosts;
    struct run_table *table;
    struct lease_accounts *accounts;
    runs_changed_fn on_changed;
    void *arg;
    uint64_t commits;                  /* of the journal, as of the latest commit */
    bool is_vouched;                   /* see runs_vouch */
    uint64_t orphans_from, orphans_to; /* attempts; to 0: none */
    int64_t next_ms;                   /* no resend is due before */
};

/* ---------------------------------------------------------------- runs_order.c */

void runs_order_control(const struct runs *runs, int host, const struct run_id *id,
                        const struct run_control *control, struct effects *effects);
void runs_order_forget(const struct runs *runs, int host, const struct run_id *id,
                       struct effects *effects);

/* ---------------------------------------------------------------- runs_orphan.c */

/* A run that no RUN_FOUND has described: it is of a lost attempt of this site's own. */
bool runs_orphan_is_kept(const struct runs *runs, const struct msg_run_state *state);
struct run *runs_orphan_add_unknown(struct runs *runs, int host,
                                    const struct msg_run_state *state, int64_t now_ms);
/* RUN_STATE of an orphan. */
void runs_orphan_see(struct runs *runs, struct run *run, int host,
                     const struct msg_run_state *state, int64_t now_ms,
                     struct effects *effects);
void runs_orphan_log(const struct runs *runs, int host,
                     const struct msg_run_state *state, struct effects *effects);

#endif
