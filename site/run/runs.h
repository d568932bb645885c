/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h: runs on this site's own hosts, of its own jobs and of consumers: what is
 * stored of each run, and the orders to its host.
 *
 * A run is TAKEN (it has slots, and a guard is asked for), GUARDED (the token of its
 * guard is stored, and the guard is told to start the command), ENDED (its exit is
 * stored). The site that owns the run, which may be this one, decides when it is
 * forgotten. runs.c explains at its top why no command is started twice.
 *
 * An orphan is a run that a host has, and that the journal does not have, because it
 * was replaced by an older copy or has lost commits. It is in the table, so that its
 * slots are in use, but it has no row. An own run of a lost attempt gets no orders
 * until an administrator has it adopted or ended. Any other (of a consumer, or of an
 * attempt that is over by the journal) is ended at once, and its slots count as used by
 * this site until its host says that it has ended.
 *
 * Ownership: runs belong to the table (run_table.h); a pointer is valid until
 * runs_sweep. Units: milliseconds, slots. Layer: site. */
#ifndef SUBLET_SITE_RUN_RUNS_H
#define SUBLET_SITE_RUN_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "provider/user_map.h"
#include "site/run/host_table.h"
#include "site/run/lease_accounts.h"
#include "site/run/run_table.h"

/* How the account of a run is found: if the daemon is root, the user of its spec. */
struct runs_setting {
    const char *site;
    bool is_root;
    const char *lease_account; /* of leased jobs where there is no UserMap; "": the
                                  daemon's own, for root one of lease_uids */
    struct uid_range lease_uids;
    const struct user_map *users; /* borrowed */
    int64_t terminate_ms;         /* between the signals that end a run */
};

/* A run has changed; it has its new state. */
typedef void (*runs_changed_fn)(void *arg, struct run *run, int64_t now_ms,
                                struct effects *effects);

struct runs;
struct runs *runs_new(const struct runs_setting *setting, struct host_table *hosts,
                      runs_changed_fn on_changed, void *arg);
void runs_free(struct runs *runs);
/* `submission`: the run executes its spec if the row has none; NULL: unknown. */
void runs_load(struct runs *runs, const struct row_run *row,
               struct submission *submission);
/* As run_table_change_hosts. */
void runs_change_hosts(struct runs *runs, const int *places);
void runs_load_account(struct runs *runs, const struct row_lease_account *row);
/* The accounts and JOB_TERMINATE_INTERVAL of runs that start from now on. `site` and
 * `is_root` stay. Borrowed. */
void runs_reload(struct runs *runs, const struct runs_setting *setting);
/* True if a job of that user of another site has an account to run as. */
bool runs_account_has(const struct runs *runs, const char *site, const char *user,
                      int64_t now_ms);
const struct run_table *runs_table(const struct runs *runs);
struct run *runs_find(const struct runs *runs, const struct run_id *id);

/* A new run, TAKEN: stores its row and sends RUN_START. If it executes the spec of a
 * submission unchanged, the state of its job records it (is_taken), and the run gets a
 * row of its own only when it changes. */
struct run *runs_add(struct runs *runs, const struct row_run *row,
                     struct submission *submission, int64_t now_ms,
                     struct effects *effects);
/* Carries out the latest control action. A kill ends a run at once if its command was
 * never started. */
void runs_control(struct runs *runs, struct run *run, const struct run_control *control,
                  int64_t now_ms, struct effects *effects);
/* Changes the slots of the run. The order is sent until the host answers; until then
 * the run is not suspended. Added slots belong to the run at once, and are stored.
 * Slots to be released belong to it until the answer. */
void runs_resize(struct runs *runs, struct run *run, const struct msg_run_resize *order,
                 int64_t now_ms, struct effects *effects);
/* The same after a restart, when the change is stored already. */
void runs_resize_again(struct run *run, const struct msg_run_resize *order);
/* The host has answered; the run has these hosts now. */
void runs_finish_resize(struct runs *runs, struct run *run,
                        const struct host_slots *hosts, int n_hosts, int64_t now_ms,
                        struct effects *effects);
/* The run is running; its host is reachable and has carried out all control actions. */
bool runs_is_settled(const struct runs *runs, const struct run *run);
/* Ends the run because its consumer is lost, or because the grace period of a recall
 * has expired; its exit says so. */
void runs_evict(struct runs *runs, struct run *run, int64_t now_ms,
                struct effects *effects);
void runs_recall(struct runs *runs, struct run *run, int64_t now_ms,
                 struct effects *effects);
/* A run of a consumer that was never told to go ends without a trace: no command of it
 * can start any more. False: it may have started, and nothing is changed. */
bool runs_withdraw(struct runs *runs, struct run *run, int64_t now_ms,
                   struct effects *effects);
/* Its owner has stored its end: deletes its row, sends RUN_FORGET. */
void runs_forget(struct runs *runs, struct run *run, struct effects *effects);

/* Own attempts that a lost part of the journal has started: their runs are orphans. */
void runs_orphan_keep(struct runs *runs, uint64_t from, uint64_t to);
/* RUN_FOUND: a run that the journal may not have, as it was started. */
void runs_orphan_found(struct runs *runs, int host, const struct msg_run_start *start,
                       int64_t now_ms, struct effects *effects);
/* Why the run is suspended is not on record: others may use its slots. */
void runs_keep_suspended(struct runs *runs, struct run *run, int64_t now_ms,
                         struct effects *effects);
/* The run has a job now: it gets a row, and is reported as any other. */
void runs_orphan_adopt(struct runs *runs, struct run *run, int64_t now_ms,
                       struct effects *effects);
/* Ends an orphan; it is forgotten as soon as its host has ended it. */
void runs_orphan_end(struct runs *runs, struct run *run, struct effects *effects);

/* A journal that may be older than others know. */
/* How many commits it has. */
void runs_set_commits(struct runs *runs, uint64_t commits);
/* It is behind: runs whose host has not connected since the start may have started. */
void runs_host_doubt(struct runs *runs, struct effects *effects);
/* Another host or the broker has a mark of it, and it is not behind that. */
void runs_host_vouch(struct runs *runs, int64_t now_ms, struct effects *effects);

/* Messages of hosts. */
/* Its mark was compared before. */
void runs_host_hello(struct runs *runs, int host, struct arena *arena);
void runs_host_synced(struct runs *runs, int host, int64_t now_ms,
                      struct effects *effects);
void runs_host_state(struct runs *runs, int host, const struct msg_run_state *state,
                     int64_t now_ms, struct effects *effects);
/* The host is reachable again in the same session: it is asked about all its runs. */
void runs_host_back(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects);
void runs_host_away(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects);

void runs_tick(struct runs *runs, int64_t now_ms,
               struct effects *effects); /* resends */
void runs_sweep(struct runs *runs);      /* frees forgotten runs */
int64_t runs_wake_ms(const struct runs *runs);

#endif
