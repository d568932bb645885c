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
#include <string.h>

#include "model/dup.h"

/* An answer takes milliseconds; a busy host must not get more requests than needed. */
static const struct resend_waits waits = {.first_ms = 2000, .last_ms = 2000};

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

const struct run_table *runs_table(const struct runs *runs)
{
    return runs->table;
}

struct run *runs_find(const struct runs *runs, const struct run_id *id)
{
    return run_table_find(runs->table, id);
}

/* ---------------------------------------------------------------- to the host */

/* The pair has a run on record; user NULL: a host has not reported its runs. */
static bool is_account_used(void *arg, const char *site, const char *user)
{
    const struct runs *runs = arg;
    for (int i = 0; user == NULL && i < host_table_count(runs->hosts); i++) {
        if (!host_table_is_ready(runs->hosts, i)) {
            return true;
        }
    }
    for (int i = 0; user != NULL && i < run_table_count(runs->table); i++) {
        const struct run *run = run_table_at(runs->table, i);
        if (run != NULL && run->lease[0] != '\0' && strcmp(run->id.site, site) == 0 &&
            strcmp(run->spec->user, user) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL: none; "": the daemon's own, or one of lease_uids. */
static const char *configured_account(const struct runs *runs, const char *site,
                                      const char *user)
{
    return user_map_account(runs->setting.users, user, site,
                            runs->setting.lease_account);
}

bool runs_has_account(const struct runs *runs, const char *site, const char *user,
                      int64_t now_ms)
{
    const char *account = configured_account(runs, site, user);
    return account != NULL &&
           (account[0] != '\0' || !runs->setting.is_root ||
            lease_accounts_has(runs->accounts, site, user, is_account_used,
                               (void *)(uintptr_t)runs, now_ms));
}

/* A leased run whose user has no account any more is root's: the host refuses it. */
static const char *account_of(const struct runs *runs, const struct run *run,
                              int64_t now_ms, struct effects *effects)
{
    const char *user = run->spec->user;
    if (run->lease[0] == '\0') {
        return runs->setting.is_root ? user : "";
    }
    const char *account = configured_account(runs, run->id.site, user);
    if (account == NULL || account[0] != '\0' || !runs->setting.is_root) {
        return account != NULL ? account : "root";
    }
    int64_t uid =
        lease_accounts_take(runs->accounts, run->id.site, user, is_account_used,
                            (void *)(uintptr_t)runs, now_ms, effects);
    return uid != 0 ? lease_accounts_name(&effects->arena, uid) : "root";
}

static void send_start(const struct runs *runs, const struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_START};
    msg.run_start = (struct msg_run_start){
        .run = run->id,
        .job = run->job,
        .lease = run->lease,
        .hosts = run->hosts,
        .n_hosts = run->n_hosts,
        .spec = *run->spec,
        .account = account_of(runs, run, now_ms, effects),
        .terminate_ms = runs->setting.terminate_ms,
        .end_within_ms = msg_end_within_ms(run->end_by_ms, now_ms),
    };
    host_table_send(runs->hosts, run->host, &msg, effects);
}

static void send_go(const struct runs *runs, struct run *run, struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_GO};
    msg.run_go.run = run->id;
    msg.run_go.token = run->token;
    msg.run_go.commits =
        run->guard_commit > runs->commits ? run->guard_commit : runs->commits;
    run->go_session = host_table_session(runs->hosts, run->host);
    host_table_send(runs->hosts, run->host, &msg, effects);
}

static void send_resize(const struct runs *runs, const struct run *run,
                        struct effects *effects)
{
    const struct run_resizing *resizing = &run->resizing;
    struct msg msg = {.kind = MSG_RUN_RESIZE};
    msg.run_resize = (struct msg_run_resize){
        .run = run->id,
        .number = resizing->number,
        .event = resizing->event,
        .hosts = resizing->hosts,
        .n_hosts = resizing->n_hosts,
        .all = resizing->all,
        .n_all = resizing->n_all,
        .command = resizing->command,
    };
    host_table_send(runs->hosts, run->host, &msg, effects);
}

/* ---------------------------------------------------------------- state changes */

static const char evicted_text[] =
    "ended there: this site was lost for longer than LEASE_TERM (ON_LOST=kill)";

/* A run that exits successfully before a recall or an eviction ends it counts as done.
 */
static void end_run(struct runs *runs, struct run *run, const struct run_exit *exit,
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
    run_table_store(run, false, effects);
    runs->on_changed(runs->arg, run, now_ms, effects);
}

/* The run was killed before it started. */
static void end_unstarted(struct runs *runs, struct run *run, int64_t now_ms,
                          struct effects *effects)
{
    struct run_exit exit = {.end = RUN_END_SIGNALLED,
                            .code = run->control.signal == SIGKILL ? SIGKILL : SIGINT,
                            .end_ms = now_ms,
                            .text = "killed before it started"};
    run->control_done = run->control.number;
    end_run(runs, run, &exit, now_ms, effects);
}

static void lose_run(struct runs *runs, struct run *run, bool may_have_begun,
                     const char *text, int64_t now_ms, struct effects *effects)
{
    struct run_exit exit = {.end = RUN_END_LOST, .end_ms = now_ms, .text = text};
    if (may_have_begun) {
        exit.start_ms = run->start_ms != 0 ? run->start_ms : now_ms;
    }
    end_run(runs, run, &exit, now_ms, effects);
}

static bool is_killed(const struct run *run)
{
    return run->control.number != 0 && run->control.action == CONTROL_KILL;
}

static bool has_begun(const struct run *run)
{
    return run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED;
}

/* An answer of the host about this run is outstanding. */
static bool is_due(const struct runs *runs, const struct run *run)
{
    if (run->is_forgotten || run->is_orphan || run->record == RUN_RECORD_ENDED ||
        run->host < 0 || !host_table_is_ready(runs->hosts, run->host)) {
        return false;
    }
    return run->record == RUN_RECORD_TAKEN || !run->is_seen || !has_begun(run) ||
           run->control.number > run->control_done || run->resizing.number != 0;
}

/* A run is not suspended while its command is notified of a change of its slots. */
static bool is_suspend_delayed(const struct run *run)
{
    return run->resizing.number != 0 && run->control.action == CONTROL_SUSPEND;
}

static void expect_answer(struct runs *runs, struct run *run, int64_t now_ms)
{
    resend_sent(&run->order, waits, now_ms);
    if (run->order.next_ms < runs->next_ms) {
        runs->next_ms = run->order.next_ms;
    }
}

/* Sends the host the next order for this run. */
static void drive(struct runs *runs, struct run *run, int64_t now_ms,
                  struct effects *effects)
{
    if (!is_due(runs, run)) {
        return;
    }
    expect_answer(runs, run, now_ms);
    if (run->record == RUN_RECORD_TAKEN) {
        send_start(runs, run, now_ms, effects);
        return;
    }
    bool is_open = !run->is_seen || !has_begun(run);
    if (is_open) {
        send_go(runs, run, effects);
    }
    if (!is_open && run->resizing.number != 0) {
        send_resize(runs, run, effects);
    }
    if (run->control.number > run->control_done && !is_suspend_delayed(run) &&
        (!is_open || is_killed(run))) {
        runs_order_control(runs, run->host, &run->id, &run->control, effects);
    }
}

struct run *runs_add(struct runs *runs, const struct row_run *row,
                     struct submission *submission, int64_t now_ms,
                     struct effects *effects)
{
    struct run *run = run_table_put(runs->table, row, submission);
    if (submission == NULL) {
        run_table_store(run, true, effects);
    }
    if (is_due(runs, run)) {
        expect_answer(runs, run, now_ms);
        send_start(runs, run, now_ms, effects);
    }
    return run;
}

void runs_keep_suspended(struct runs *runs, struct run *run, struct effects *effects)
{
    run_table_keep_suspended(runs->table, run, effects);
}

void runs_control(struct runs *runs, struct run *run, const struct run_control *control,
                  int64_t now_ms, struct effects *effects)
{
    if (run->record == RUN_RECORD_ENDED || control->number <= run->control.number) {
        return;
    }
    run->control = *control;
    if (is_killed(run) && run->is_suspended) {
        run->control.signal = SIGKILL; /* others may use its slots: no resume */
    }
    run_table_update_suspended(runs->table, run);
    if (is_killed(run) && run->record == RUN_RECORD_TAKEN) {
        end_unstarted(runs, run, now_ms, effects);
        return;
    }
    if (is_killed(run) &&
        (run->host < 0 || host_table_is_gone(runs->hosts, run->host))) {
        lose_run(runs, run, true, "its host is not configured any more", now_ms,
                 effects);
        return;
    }
    run_table_store(run, false, effects);
    drive(runs, run, now_ms, effects);
}

void runs_resize(struct runs *runs, struct run *run, const struct msg_run_resize *order,
                 int64_t now_ms, struct effects *effects)
{
    if (order->event == RESIZE_GROW) {
        run_table_set_hosts(runs->table, run, order->all, order->n_all);
        run_table_store(run, false, effects);
    }
    run_table_set_resizing(run, order);
    drive(runs, run, now_ms, effects);
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
    run_table_store(run, false, effects);
    drive(runs, run, now_ms, effects); /* an order that waited for the answer */
}

bool runs_is_settled(const struct runs *runs, const struct run *run)
{
    return run->record == RUN_RECORD_GUARDED && run->phase == RUN_RUNNING &&
           run->is_seen && !is_due(runs, run) && run->host >= 0 &&
           host_table_is_ready(runs->hosts, run->host);
}

void runs_evict(struct runs *runs, struct run *run, int64_t now_ms,
                struct effects *effects)
{
    struct run_control control = {
        .number = run->control.number + 1, .action = CONTROL_KILL, .signal = SIGKILL};
    if (run->record == RUN_RECORD_ENDED || run->exit.end == RUN_END_LOST) {
        return;
    }
    run->exit.end = RUN_END_LOST; /* on record with the order */
    runs_control(runs, run, &control, now_ms, effects);
}

void runs_recall(struct runs *runs, struct run *run, int64_t now_ms,
                 struct effects *effects)
{
    struct run_control control = {
        .number = run->control.number + 1, .action = CONTROL_KILL, .signal = SIGKILL};
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

/* ---------------------------------------------------------------- from the host */

/* A run that is not on record here, and whose attempt was given up, is ended and
 * forgotten. */
static void end_unknown(const struct runs *runs, int host,
                        const struct msg_run_state *state, struct effects *effects)
{
    if (state->phase == RUN_WAITING || state->phase == RUN_ENDED) {
        runs_order_forget(runs, host, &state->run, effects);
        return;
    }
    if (state->phase == RUN_UNKNOWN || state->control_done == RUNS_ORPHAN_ORDER) {
        return;
    }
    runs_orphan_log(runs, host, state, effects);
    runs_order_control(
        runs, host, &state->run,
        &(struct run_control){.number = RUNS_ORPHAN_ORDER, .action = CONTROL_KILL},
        effects);
}

/* The token is not on record: a guard that waits has never had a RUN_GO. */
static bool is_unguarded(const struct run *run)
{
    return run->record == RUN_RECORD_TAKEN || run->token == 0;
}

/* The batch that stores this is the next commit. */
static void record_guard(struct runs *runs, struct run *run, uint64_t token,
                         struct effects *effects)
{
    run->record = RUN_RECORD_GUARDED;
    run->token = token;
    run->is_unconfirmed = false;
    run->guard_commit = runs->commits + 1;
    run_table_store(run, false, effects);
}

static void see_waiting(struct runs *runs, struct run *run, uint64_t token,
                        int64_t now_ms, struct effects *effects)
{
    if (is_unguarded(run)) {
        dup_set_text(&run->boot, host_table_boot(runs->hosts, run->host));
        record_guard(runs, run, token, effects);
        drive(runs, run, now_ms, effects);
        return;
    }
    if (run->token != token) {
        runs_order_forget(runs, run->host, &run->id, effects);
        lose_run(runs, run, true, "its guard has died", now_ms, effects);
        return;
    }
    if (run->go_session != host_table_session(runs->hosts, run->host)) {
        if (is_killed(run)) {
            end_unstarted(runs, run, now_ms, effects);
            return;
        }
        drive(runs, run, now_ms, effects);
    }
}

static void see_begun(struct runs *runs, struct run *run,
                      const struct msg_run_state *state, bool is_new, int64_t now_ms,
                      struct effects *effects)
{
    if (is_unguarded(run)) {
        /* The run has started, so its GUARDED row was stored once, and the journal is
         * older than that. It can only be stored again. */
        effects_log(effects, LOG_LEVEL_WARNING,
                    "attempt %llu of %s has begun without a record here: taken over",
                    (unsigned long long)run->id.attempt, run->id.site);
        record_guard(runs, run, state->token, effects);
    }
    run->start_ms = state->start_ms;
    runs->on_changed(runs->arg, run, now_ms, effects);
    if (is_new) {
        drive(runs, run, now_ms, effects); /* an order that waited for the start */
    }
}

static void see_ended(struct runs *runs, struct run *run, const struct run_exit *exit,
                      int64_t now_ms, struct effects *effects)
{
    struct run_exit copy = *exit;
    if (copy.end == RUN_END_NONE) {
        copy.end = RUN_END_LOST;
    }
    if (copy.end == RUN_END_LOST && run->record == RUN_RECORD_GUARDED &&
        copy.start_ms == 0) {
        copy.start_ms = run->start_ms != 0 ? run->start_ms : now_ms;
    }
    end_run(runs, run, &copy, now_ms, effects);
}

static void see_nothing(struct runs *runs, struct run *run, int64_t now_ms,
                        struct effects *effects)
{
    if (run->record != RUN_RECORD_GUARDED) {
        return; /* TAKEN: RUN_START is sent again when it is due */
    }
    bool is_same_boot = run->boot[0] != '\0' &&
                        strcmp(run->boot, host_table_boot(runs->hosts, run->host)) == 0;
    lose_run(runs, run, !is_same_boot || run->start_ms != 0,
             run->token == 0 ? "its host has no record of it, and the journal of its "
                               "site is older than others know"
                             : "its host has no record of it",
             now_ms, effects);
}

/* ---- a journal that may be behind */

void runs_set_commits(struct runs *runs, uint64_t commits)
{
    runs->commits = commits;
}

void runs_doubt(struct runs *runs, struct effects *effects)
{
    for (int i = 0; i < run_table_count(runs->table); i++) {
        struct run *run = run_table_at(runs->table, i);
        if (run != NULL && run->is_unconfirmed) {
            effects_log(effects, LOG_LEVEL_WARNING,
                        "attempt %llu of %s was about to start by this journal, and "
                        "may have ended since: it is not started again",
                        (unsigned long long)run->id.attempt, run->id.site);
            record_guard(runs, run, 0, effects);
        }
    }
}

/* The host cannot be asked. */
static void give_up_silent(struct runs *runs, struct run *run, int64_t now_ms,
                           struct effects *effects)
{
    lose_run(runs, run, false, "its host is unreachable", now_ms, effects);
}

void runs_vouch(struct runs *runs, int64_t now_ms, struct effects *effects)
{
    runs->is_vouched = true;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        struct run *run = run_table_at(runs->table, i);
        if (run != NULL && run->is_unconfirmed && run->is_away) {
            give_up_silent(runs, run, now_ms, effects);
        }
    }
}

/* It is about another run with the same number. A run that was guarded by an earlier
 * version has no nonce, but its token tells it. */
static bool is_of_another(const struct runs *runs, const struct run *run, int host,
                          const struct msg_run_state *state)
{
    bool is_without =
        state->run.nonce == 0 && (run->record != RUN_RECORD_TAKEN ||
                                  !host_table_knows_nonces(runs->hosts, host));
    return state->run.nonce != run->id.nonce && !is_without;
}

/* The host has another run with this number. This one has not begun, and its job gets
 * another number. */
static void refuse_run(struct runs *runs, struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    if (run->record == RUN_RECORD_TAKEN) {
        lose_run(runs, run, false, "another run has its number on its host", now_ms,
                 effects);
    }
}

void runs_host_state(struct runs *runs, int host, const struct msg_run_state *state,
                     int64_t now_ms, struct effects *effects)
{
    struct run *run = run_table_find(runs->table, &state->run);
    if (run != NULL && is_of_another(runs, run, host, state)) {
        run = NULL;
    }
    if (run == NULL && runs_orphan_is_kept(runs, state)) {
        run = runs_orphan_add_unknown(runs, host, state, now_ms);
    }
    if (run != NULL && run->is_orphan) {
        runs_orphan_see(runs, run, host, state, now_ms, effects);
        return;
    }
    if (run != NULL && state->is_refused) {
        refuse_run(runs, run, now_ms, effects);
        return;
    }
    bool is_over = run != NULL && run->record == RUN_RECORD_ENDED;
    if (run == NULL || run->host != host || (is_over && state->phase != RUN_ENDED)) {
        end_unknown(runs, host, state, effects);
        return;
    }
    run->is_seen = true;
    run->is_away = false;
    if (is_over) {
        return;
    }
    bool is_new = !has_begun(run);
    if (state->control_done < run->control_done && state->phase != RUN_ENDED &&
        state->phase != RUN_UNKNOWN) {
        return; /* older than the report that the order was carried out */
    }
    run->control_done = state->control_done;
    run->resize_done = state->resize_done;
    run->resize_code = state->resize_code;
    run->phase = state->phase;
    run_table_update_suspended(runs->table, run);
    switch (state->phase) {
    case RUN_WAITING:
        see_waiting(runs, run, state->token, now_ms, effects);
        break;
    case RUN_RUNNING:
    case RUN_SUSPENDED:
        see_begun(runs, run, state, is_new, now_ms, effects);
        break;
    case RUN_ENDED:
        see_ended(runs, run, &state->exit, now_ms, effects);
        break;
    case RUN_UNKNOWN:
        see_nothing(runs, run, now_ms, effects);
        break;
    }
}

static bool is_on(const struct runs *runs, int index, int host, struct run **run)
{
    *run = run_table_at(runs->table, index);
    return *run != NULL && (*run)->host == host && !(*run)->is_orphan &&
           (*run)->record != RUN_RECORD_ENDED;
}

static bool is_orphan_on(const struct runs *runs, int index, int host, struct run **run)
{
    *run = run_table_at(runs->table, index);
    return *run != NULL && (*run)->host == host && (*run)->is_orphan;
}

void runs_host_hello(struct runs *runs, int host)
{
    struct run *run;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        if (is_orphan_on(runs, i, host, &run)) {
            run->is_seen = false;
        } else if (is_on(runs, i, host, &run)) {
            run->is_seen = false;
            run->is_unconfirmed = false;
        }
    }
}

void runs_host_synced(struct runs *runs, int host, int64_t now_ms,
                      struct effects *effects)
{
    struct run *run;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        if (is_orphan_on(runs, i, host, &run) && !run->is_seen) {
            run->token = 0; /* a question only: the host may have lost it */
            send_go(runs, run, effects);
        } else if (is_orphan_on(runs, i, host, &run) && run->is_given_up) {
            runs_orphan_end(runs, run, effects);
        } else if (is_on(runs, i, host, &run)) {
            drive(runs, run, now_ms, effects);
        }
    }
}

void runs_host_back(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects)
{
    runs_host_hello(runs, host);
    runs_host_synced(runs, host, now_ms, effects);
}

void runs_host_away(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects)
{
    struct run *run;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        if (!is_on(runs, i, host, &run)) {
            continue;
        }
        if (run->record == RUN_RECORD_TAKEN &&
            (!run->is_unconfirmed || runs->is_vouched)) {
            give_up_silent(runs, run, now_ms, effects);
        } else {
            run->is_seen = false;
            run->is_away = true;
            runs->on_changed(runs->arg, run, now_ms, effects);
        }
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
        if (run == NULL || !is_due(runs, run)) {
            continue;
        }
        if (now_ms >= run->order.next_ms) {
            drive(runs, run, now_ms, effects);
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
