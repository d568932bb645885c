/* SPDX-License-Identifier: Apache-2.0 */
/* runs_end.c: how a run ends, and is forgotten. */
#include "site/run/runs_parts.h"

#include <signal.h>

static const char evicted_text[] =
    "ended there: this site was lost for longer than LEASE_TERM (ON_LOST=kill)";

/* A run that exits successfully before a recall or an eviction ends it counts as done.
 */
void runs_end(struct runs *runs, struct run *run, const struct run_exit *exit,
              int64_t now_ms, struct effects *effects)
{
    struct run_exit copy = *exit;
    bool is_done = exit->end == RUN_END_EXITED && exit->code == 0;
    copy.is_recalled = run->exit.is_recalled && !is_done;
    if (run->exit.end == RUN_END_LOST && !is_done) {
        copy.end = RUN_END_LOST;
        copy.text = evicted_text;
    }
    run_table_end(runs->table, run, &copy);
    lease_accounts_touch(runs->accounts, run->id.site, run->spec->user, now_ms);
    run_table_store(run, false, now_ms, effects);
    runs->on_changed(runs->arg, run, now_ms, effects);
}

/* The run was killed before it started. */
void runs_end_unstarted(struct runs *runs, struct run *run, int64_t now_ms,
                        struct effects *effects)
{
    struct run_exit exit = {.end = RUN_END_SIGNALLED,
                            .code = run->control.signal == SIGKILL ? SIGKILL : SIGINT,
                            .end_ms = now_ms,
                            .text = "killed before it started"};
    run->control_done = run->control.number;
    runs_end(runs, run, &exit, now_ms, effects);
}

void runs_end_lost(struct runs *runs, struct run *run, bool may_have_begun,
                   const char *text, int64_t now_ms, struct effects *effects)
{
    struct run_exit exit = {.end = RUN_END_LOST, .end_ms = now_ms, .text = text};
    if (may_have_begun) {
        exit.start_ms = run->start_ms != 0 ? run->start_ms : now_ms;
    }
    runs_end(runs, run, &exit, now_ms, effects);
}
