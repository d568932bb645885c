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
#include "site/run/runs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/dup.h"

/* An answer takes milliseconds; a busy host must not get more requests than needed. */
static const struct resend_waits waits = {.first_ms = 2000, .last_ms = 2000};

/* The number of the control action that ends a run which is not on record. It is above
 * all others, so that the action is carried out exactly once. */
#define ORPHAN_ORDER ((uint64_t)INT64_MAX)

struct runs {
    struct runs_setting setting;
    struct host_table *hosts;
    struct run_table *table;
    runs_changed_fn on_changed;
    void *arg;
    int64_t next_ms; /* no resend is due before */
};

struct runs *runs_new(const struct runs_setting *setting, struct host_table *hosts,
                      runs_changed_fn on_changed, void *arg)
{
    struct runs *runs = mem_alloc(1, sizeof(*runs));
    runs->setting = *setting;
    runs->hosts = hosts;
    runs->table = run_table_new(setting->site, hosts);
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
    free(runs);
}

void runs_load(struct runs *runs, const struct row_run *row,
               struct submission *submission)
{
    run_table_put(runs->table, row, row->spec == NULL ? submission : NULL);
}

void runs_change_hosts(struct runs *runs, const int *places)
{
    run_table_change_hosts(runs->table, places);
}

void runs_reload(struct runs *runs, const char *lease_account,
                 const struct user_map *users, int64_t terminate_ms)
{
    runs->setting.lease_account = lease_account;
    runs->setting.users = users;
    runs->setting.terminate_ms = terminate_ms;
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

static const char *account_of(const struct runs *runs, const struct run *run)
{
    if (run->lease[0] != '\0') {
        const char *account =
            user_map_account(runs->setting.users, run->spec->user, run->id.site,
                             runs->setting.lease_account);
        /* The user's account was removed since: the host refuses root. */
        return account != NULL ? account : "root";
    }
    return runs->setting.is_root ? run->spec->user : "";
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
        .account = account_of(runs, run),
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
    run->go_session = host_table_session(runs->hosts, run->host);
    host_table_send(runs->hosts, run->host, &msg, effects);
}

static void send_control(const struct runs *runs, int host, const struct run_id *id,
                         const struct run_control *control, struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_CONTROL};
    msg.run_control.run = *id;
    msg.run_control.control = *control;
    host_table_send(runs->hosts, host, &msg, effects);
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

static void send_forget(const struct runs *runs, int host, const struct run_id *id,
                        struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_FORGET};
    msg.run.run = *id;
    host_table_send(runs->hosts, host, &msg, effects);
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
    run_table_store(run, false, effects);
    runs->on_changed(runs->arg, run, now_ms, effects);
}

/* The run was killed before it started. */
static void end_unstarted(struct runs *runs, struct run *run, int64_t now_ms,
                          struct effects *effects)
{
    struct run_exit exit = {.end = RUN_END_SIGNALLED,
                            .code = SIGKILL,
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
    if (run->is_forgotten || run->record == RUN_RECORD_ENDED || run->host < 0 ||
        !host_table_is_ready(runs->hosts, run->host)) {
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
        send_control(runs, run->host, &run->id, &run->control, effects);
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

void runs_forget(struct runs *runs, struct run *run, struct effects *effects)
{
    run_table_forget(runs->table, run, effects);
    /* An unreachable host gets the message when it lists the run. */
    if (run->host >= 0 && host_table_is_ready(runs->hosts, run->host)) {
        send_forget(runs, run->host, &run->id, effects);
    }
}

/* ---------------------------------------------------------------- from the host */

/* A run that is not on record here is ended and forgotten. */
static void end_orphan(const struct runs *runs, int host,
                       const struct msg_run_state *state, struct effects *effects)
{
    if (state->phase == RUN_WAITING || state->phase == RUN_ENDED) {
        send_forget(runs, host, &state->run, effects);
        return;
    }
    if (state->phase == RUN_UNKNOWN || state->control_done == ORPHAN_ORDER) {
        return;
    }
    effects_log(
        effects, LOG_LEVEL_WARNING,
        "host %s runs attempt %llu of %s, which is not on record here: it is killed",
        host_table_name(runs->hosts, host), (unsigned long long)state->run.attempt,
        state->run.site);
    send_control(runs, host, &state->run,
                 &(struct run_control){.number = ORPHAN_ORDER, .action = CONTROL_KILL},
                 effects);
}

static void see_waiting(struct runs *runs, struct run *run, uint64_t token,
                        int64_t now_ms, struct effects *effects)
{
    if (run->record == RUN_RECORD_TAKEN) {
        run->record = RUN_RECORD_GUARDED;
        run->token = token;
        dup_set_text(&run->boot, host_table_boot(runs->hosts, run->host));
        run_table_store(run, false, effects);
        drive(runs, run, now_ms, effects);
        return;
    }
    if (run->token != token) {
        send_forget(runs, run->host, &run->id, effects);
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
    if (run->record == RUN_RECORD_TAKEN) {
        /* The run has started, so its GUARDED row was stored once, and the journal is
         * older than that. It can only be stored again. */
        effects_log(effects, LOG_LEVEL_WARNING,
                    "attempt %llu of %s has begun without a record here: taken over",
                    (unsigned long long)run->id.attempt, run->id.site);
        run->record = RUN_RECORD_GUARDED;
        run->token = state->token;
        run_table_store(run, false, effects);
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
             "its host has no record of it", now_ms, effects);
}

void runs_host_state(struct runs *runs, int host, const struct msg_run_state *state,
                     int64_t now_ms, struct effects *effects)
{
    struct run *run = run_table_find(runs->table, &state->run);
    bool is_over = run != NULL && run->record == RUN_RECORD_ENDED;
    if (run == NULL || run->host != host || (is_over && state->phase != RUN_ENDED)) {
        end_orphan(runs, host, state, effects);
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
    return *run != NULL && (*run)->host == host && (*run)->record != RUN_RECORD_ENDED;
}

void runs_host_hello(struct runs *runs, int host)
{
    struct run *run;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        if (is_on(runs, i, host, &run)) {
            run->is_seen = false;
        }
    }
}

void runs_host_synced(struct runs *runs, int host, int64_t now_ms,
                      struct effects *effects)
{
    struct run *run;
    for (int i = 0; i < run_table_count(runs->table); i++) {
        if (is_on(runs, i, host, &run)) {
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
        if (run->record == RUN_RECORD_TAKEN) {
            lose_run(runs, run, false, "its host is unreachable", now_ms, effects);
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
