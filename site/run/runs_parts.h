/* SPDX-License-Identifier: Apache-2.0 */
/* runs_parts.h: the state of runs, for the files that are named runs*. Layer: site. */
#ifndef SUBLET_SITE_RUN_RUNS_PARTS_H
#define SUBLET_SITE_RUN_RUNS_PARTS_H

#include "site/run/runs.h"

struct runs {
    struct runs_setting setting;
    struct host_table *hosts;
    struct run_table *table;
    struct lease_accounts *accounts;
    runs_changed_fn on_changed;
    void *arg;
    uint64_t commits;                  /* of the journal, as of the latest commit */
    bool is_vouched;                   /* see runs_host_vouch */
    uint64_t orphans_from, orphans_to; /* attempts; to 0: none */
    int64_t next_ms;                   /* no resend is due before */
};

static inline bool runs_is_killed(const struct run *run)
{
    return run->control.number != 0 && run->control.action == CONTROL_KILL;
}

static inline bool runs_has_begun(const struct run *run)
{
    return run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED;
}

/* ---------------------------------------------------------------- runs_account.c */

/* A leased run whose user has no account any more is root's: the host refuses it. The
 * text is in the effects' arena, or the configuration's. */
const char *runs_account_of(const struct runs *runs, const struct run *run,
                            int64_t now_ms, struct effects *effects);

/* ---------------------------------------------------------------- runs_order.c */

/* An answer of the host about this run is outstanding. */
bool runs_order_is_due(const struct runs *runs, const struct run *run);
/* Sends the host the next order for this run, if it owes an answer. */
void runs_order_drive(struct runs *runs, struct run *run, int64_t now_ms,
                      struct effects *effects);
void runs_order_go(const struct runs *runs, struct run *run, struct effects *effects);
void runs_order_control(const struct runs *runs, int host, const struct run_id *id,
                        const struct run_control *control, struct effects *effects);
void runs_order_forget(const struct runs *runs, int host, const struct run_id *id,
                       struct effects *effects);

/* ---------------------------------------------------------------- runs_end.c */

/* A run that exits successfully before a recall or an eviction ends it counts as done.
 */
void runs_end(struct runs *runs, struct run *run, const struct run_exit *exit,
              int64_t now_ms, struct effects *effects);
/* The run was killed before it started. */
void runs_end_unstarted(struct runs *runs, struct run *run, int64_t now_ms,
                        struct effects *effects);
void runs_end_lost(struct runs *runs, struct run *run, bool may_have_begun,
                   const char *text, int64_t now_ms, struct effects *effects);

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
