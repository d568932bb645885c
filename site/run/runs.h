/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h: executions on this site's own hosts, its own jobs' and consumers' alike: what
 * is on record about each, and what its host is to be told.
 *
 * A run is TAKEN (slots are given, a guard is asked for), GUARDED (a guard's token is
 * on record, it is told to go), ENDED (its exit is on record). The site that owns it,
 * which may be this one, decides when it is forgotten. runs.c opens with why no command
 * runs twice.
 *
 * Ownership: runs belong to the table (run_table.h); a pointer lives until runs_sweep.
 * Units: milliseconds, slots. Layer: site. */
#ifndef SUBLET_SITE_RUN_RUNS_H
#define SUBLET_SITE_RUN_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "provider/user_map.h"
#include "site/run/host_table.h"
#include "site/run/run_table.h"

/* How a run's account is found: its spec's user where the daemon is root. */
struct runs_setting {
    const char *site;
    bool is_root;
    const char *lease_account;    /* of leased jobs where there is no UserMap */
    const struct user_map *users; /* borrowed */
    int64_t terminate_ms;         /* between the signals that end a run */
};

/* A run has changed: it is as it stands there now. */
typedef void (*runs_changed_fn)(void *arg, struct run *run, int64_t now_ms,
                                struct effects *effects);

struct runs;
struct runs *runs_new(const struct runs_setting *setting, struct host_table *hosts,
                      runs_changed_fn on_changed, void *arg);
void runs_free(struct runs *runs);
/* The submission that it executes as it stands: where the row has no spec. NULL: none
 * is known. */
void runs_load(struct runs *runs, const struct row_run *row,
               struct submission *submission);
/* As run_table_change_hosts. */
void runs_change_hosts(struct runs *runs, const int *places);
/* LEASE_USER, UserMap and JOB_TERMINATE_INTERVAL, for what starts from now on.
 * Borrowed. */
void runs_reload(struct runs *runs, const char *lease_account,
                 const struct user_map *users, int64_t terminate_ms);
/* To look things up. */
const struct run_table *runs_table(const struct runs *runs);
struct run *runs_find(const struct runs *runs, const struct run_id *id);

/* A new run, TAKEN: its row, and RUN_START. It executes the row's spec; or else a
 * submission, as it stands: then the job's state says so (is_taken), and this run gets
 * a row of its own when there is more to say. */
struct run *runs_add(struct runs *runs, const struct row_run *row,
                     struct submission *submission, int64_t now_ms,
                     struct effects *effects);
/* The latest order about it. A run that never had a go is ended here and now by a kill.
 */
void runs_control(struct runs *runs, struct run *run, const struct run_control *control,
                  int64_t now_ms, struct effects *effects);
/* Its slots change: its host is told until it has answered, and until then no order to
 * stand still goes out. What comes is its own at once, and on record; what goes once
 * that is settled. */
void runs_resize(struct runs *runs, struct run *run, const struct msg_run_resize *order,
                 int64_t now_ms, struct effects *effects);
/* The same after a restart: it is on record. */
void runs_resize_again(struct run *run, const struct msg_run_resize *order);
/* It is answered, and the run has these hosts. */
void runs_settle_resize(struct runs *runs, struct run *run,
                        const struct host_slots *hosts, int n_hosts, int64_t now_ms,
                        struct effects *effects);
/* It runs, its host is there, and has done all that it was told. */
bool runs_is_settled(const struct runs *runs, const struct run *run);
/* Its slots were recalled and their time is over: it is ended, and its end says so. */
/* Its consumer is lost: likewise, and its end says that it was lost. */
void runs_evict(struct runs *runs, struct run *run, int64_t now_ms,
                struct effects *effects);
void runs_recall(struct runs *runs, struct run *run, int64_t now_ms,
                 struct effects *effects);
/* Its end is on record with its owner: row gone, RUN_FORGET. */
void runs_forget(struct runs *runs, struct run *run, struct effects *effects);

/* What the hosts say. */
void runs_host_hello(struct runs *runs, int host);
void runs_host_synced(struct runs *runs, int host, int64_t now_ms,
                      struct effects *effects);
void runs_host_state(struct runs *runs, int host, const struct msg_run_state *state,
                     int64_t now_ms, struct effects *effects);
/* Heard again after it was away, in the same session: it is asked about all its runs.
 */
void runs_host_back(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects);
void runs_host_away(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects);

void runs_tick(struct runs *runs, int64_t now_ms,
               struct effects *effects); /* resends */
void runs_sweep(struct runs *runs);      /* forgotten runs leave the table */
int64_t runs_wake_ms(const struct runs *runs);

#endif
