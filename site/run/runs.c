/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c: see runs.h.
 *
 * Why no command runs twice. A guard starts its command only on RUN_GO with its own
 * token, and loses no state while its directory exists. So:
 *
 *  1. RUN_GO(token) is sent only after ROW_RUN GUARDED with that token is committed,
 * and the stored token is never replaced. A run may have several guards after repeated
 *     RUN_STARTs or restarts; at most one of them can start its command.
 *  2. No RUN_GO was ever sent for a run that is TAKEN. RUN_START may be sent again, and
 *     the run may be ended, also when its host is unreachable. A guard that still waits
 *     gets RUN_FORGET when it reports, and ends.
 *     A journal that is older than others know (a restored copy) proves nothing of the
 *     kind. RUN_GO carries the number of the commit that has the guard, the host
 *     remembers it before the guard may start, and repeats it in its HELLO. So the
 *     host's HELLO decides about a run that was TAKEN at the start: if it names no
 * later commit, no RUN_GO was sent; if it does, the run counts as GUARDED with an
 * unknown token (0): what its host lists is taken over, and otherwise it is lost and
 * may have begun. Until that HELLO the run is not withdrawn, and its host's silence
 * ends it only if somebody else has said that the journal is not behind.
 *  3. A run that is GUARDED may have started, whatever was reported since. Its host
 *     lists it, or it has an exit, or it is lost; it is never started again under this
 *     attempt. A guard with another token does not prove that the stored one did not
 *     start: the other guard gets RUN_FORGET, and the run is lost.
 *  4. A run is lost only if its host says so of this run. A run that is missing in an
 *     inventory is asked about, by RUN_GO with the stored token, which is harmless and
 *     must be answered. (An inventory is many messages, and a full queue drops some.)
 *  5. If a lost run may have started, exit.start_ms is not 0. It has not started if it
 *     was TAKEN, or if the host has no record of it in the same boot in which its guard
 *     was stored: the guard's directory records the start before the first instruction,
 *     and is lost only with a boot.
 *  6. The job is started again only under a new attempt, after the end of this one is
 *     stored, and only if this one cannot have run or the job is rerunnable.
 *
 * A killed run whose guard waits, and for which no RUN_GO was sent in this session,
 * ends here without having started. */
#include "site/run/runs_parts.h"

#include <signal.h>
#include <stdlib.h>

#include "model/dup.h"

struct runs *runs_new(const struct runs_setting *setting, struct host_table *hosts,
                      runs_changed_fn on_changed, void *arg)
{
    struct runs *runs = mem_alloc(1, sizeof(*runs));
    runs->setting = *setting;
    runs->hosts = hosts;
    runs->table = run_table_new(setting->site, hosts);
    runs->accounts = lease_accounts_new(setting->lease_uids);
    runs->on_changed = on_changed;
    runs->arg = arg;
    runs->next_ms = INT64_MAX;
    return runs;
}

void runs_free(struct runs *runs)
{
    if (runs == NULL) {
        return;
    }
    run_table_free(runs->table);
    lease_accounts_free(runs->accounts);
    free(runs);
}

void runs_load(struct runs *runs, const struct row_run *row,
               struct submission *submission)
{
    struct run *run =
        run_table_put(runs->table, row, row->spec == NULL ? submission : NULL);
    if (run != NULL) {
        run->is_unconfirmed = run->record == RUN_RECORD_TAKEN;
    }
}

void runs_change_hosts(struct runs *runs, const int *places)
{
    run_table_change_hosts(runs->table, places);
}

void runs_load_account(struct runs *runs, const struct row_lease_account *row)
{
    lease_accounts_load(runs->accounts, row);
}

void runs_reload(struct runs *runs, const struct runs_setting *setting)
{
    runs->setting.lease_account = setting->lease_account;
    runs->setting.lease_uids = setting->lease_uids;
    runs->setting.users = setting->users;
    runs->setting.terminate_ms = setting->terminate_ms;
    lease_accounts_set_range(runs->accounts, setting->lease_uids);
}

void runs_set_commits(struct runs *runs, uint64_t commits)
{
    runs->commits = commits;
}

const struct run_table *runs_table(const struct runs *runs)
{
    return runs->table;
}

struct run *runs_find(const struct runs *runs, const struct run_id *id)
{
    return run_table_find(runs->table, id);
}

struct run *runs_add(struct runs *runs, const struct row_run *row,
                     struct submission *submission, int64_t now_ms,
                     struct effects *effects)
{
    struct run *run = run_table_put(runs->table, row, submission);
    if (submission == NULL) {
        run_table_store(run, true, now_ms, effects);
    }
    runs_order_drive(runs, run, now_ms, effects);
    return run;
}

void runs_keep_suspended(struct runs *runs, struct run *run, int64_t now_ms,
                         struct effects *effects)
{
    run_table_keep_suspended(runs->table, run, now_ms, effects);
}

void runs_control(struct runs *runs, struct run *run, const struct run_control *control,
                  int64_t now_ms, struct effects *effects)
{
    if (run->record == RUN_RECORD_ENDED || control->number <= run->control.number) {
        return;
    }
    run->control = *control;
    if (runs_is_killed(run) && run->is_suspended) {
        run->control.signal = SIGKILL; /* others may use its slots: no resume */
    }
    run_table_update_suspended(runs->table, run);
    if (runs_is_killed(run) && run->record == RUN_RECORD_TAKEN) {
        runs_end_unstarted(runs, run, now_ms, effects);
        return;
    }
    if (runs_is_killed(run) &&
        (run->host < 0 || host_table_is_gone(runs->hosts, run->host))) {
        runs_end_lost(runs, run, true, "its host is not configured any more", now_ms,
                      effects);
        return;
    }
    run_table_store(run, false, now_ms, effects);
    runs_order_drive(runs, run, now_ms, effects);
}

void runs_resize(struct runs *runs, struct run *run, const struct msg_run_resize *order,
                 int64_t now_ms, struct effects *effects)
{
    if (order->event == RESIZE_GROW) {
        run_table_set_hosts(runs->table, run, order->all, order->n_all);
        run_table_store(run, false, now_ms, effects);
    }
    run_table_set_resizing(run, order);
    run->order_commit = runs->commits + 1;
    runs_order_drive(runs, run, now_ms, effects);
}

void runs_resize_again(struct run *run, const struct msg_run_resize *order)
{
    run_table_set_resizing(run, order);
}

void runs_finish_resize(struct runs *runs, struct run *run,
                        const struct host_slots *hosts, int n_hosts, int64_t now_ms,
                        struct effects *effects)
{
    run_table_set_resizing(run, NULL);
    run_table_set_hosts(runs->table, run, hosts, n_hosts);
    run_table_store(run, false, now_ms, effects);
    runs_order_drive(runs, run, now_ms,
                     effects); /* an order that waited for the answer */
}

bool runs_is_settled(const struct runs *runs, const struct run *run)
{
    return run->record == RUN_RECORD_GUARDED && run->phase == RUN_RUNNING &&
           run->is_seen && !runs_order_is_due(runs, run) && run->host >= 0 &&
           host_table_is_ready(runs->hosts, run->host);
}

void runs_evict(struct runs *runs, struct run *run, int64_t now_ms,
                struct effects *effects)
{
    struct run_control control = {.number = run_control_next(run->control.number),
                                  .action = CONTROL_KILL,
                                  .signal = SIGKILL};
    if (run->record == RUN_RECORD_ENDED || run->exit.end == RUN_END_LOST) {
        return;
    }
    run->exit.end = RUN_END_LOST; /* on record with the order */
    runs_control(runs, run, &control, now_ms, effects);
}

void runs_recall(struct runs *runs, struct run *run, int64_t now_ms,
                 struct effects *effects)
{
    struct run_control control = {.number = run_control_next(run->control.number),
                                  .action = CONTROL_KILL,
                                  .signal = SIGKILL};
    if (run->record == RUN_RECORD_ENDED || run->exit.is_recalled) {
        return;
    }
    run->exit.is_recalled = true;
    runs_control(runs, run, &control, now_ms, effects);
}

bool runs_withdraw(struct runs *runs, struct run *run, int64_t now_ms,
                   struct effects *effects)
{
    struct run_exit exit = {
        .end = RUN_END_LOST, .end_ms = now_ms, .text = "withdrawn before it started"};
    if (run->record != RUN_RECORD_TAKEN || run->is_unconfirmed) {
        return false;
    }
    run_table_end(runs->table, run, &exit);
    run->use.used_ms = run->use.n_slots = 0; /* no job has used its slots */
    run->use.at_ms = now_ms;
    lease_accounts_touch(runs->accounts, run->id.site, run->spec->user, now_ms);
    runs_forget(runs, run, effects);
    return true;
}

void runs_forget(struct runs *runs, struct run *run, struct effects *effects)
{
    run_table_forget(runs->table, run, effects);
    /* An unreachable host gets the message when it lists the run. */
    if (run->host >= 0 && host_table_is_ready(runs->hosts, run->host)) {
        runs_order_forget(runs, run->host, &run->id, effects);
    }
}

/* ---------------------------------------------------------------- time */

void runs_tick(struct runs *runs, int64_t now_ms, struct effects *effects)
{
    if (now_ms < runs->next_ms) {
        return;
    }
    runs->next_ms = INT64_MAX;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        struct run *run = run_table_at(runs->table, i);
        if (run == NULL || !runs_order_is_due(runs, run)) {
            continue;
        }
        if (now_ms >= run->order.next_ms) {
            runs_order_drive(runs, run, now_ms, effects);
        } else if (run->order.next_ms < runs->next_ms) {
            runs->next_ms = run->order.next_ms;
        }
    }
}

void runs_sweep(struct runs *runs)
{
    run_table_sweep(runs->table);
}

int64_t runs_wake_ms(const struct runs *runs)
{
    return runs->next_ms;
}
