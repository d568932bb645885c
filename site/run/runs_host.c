/* SPDX-License-Identifier: Apache-2.0 */
/* runs_host.c: what hosts say about runs; see the rules at the top of runs.c. */
#include "site/run/runs_parts.h"

#include <string.h>

#include "model/dup.h"

/* A run that is not on record here, and whose attempt was given up, is ended and
 * forgotten. */
static void end_unknown(const struct runs *runs, int host,
                        const struct msg_run_state *state, struct effects *effects)
{
    if (state->phase == RUN_WAITING || state->phase == RUN_ENDED) {
        runs_order_forget(runs, host, &state->run, effects);
        return;
    }
    if (state->phase == RUN_UNKNOWN || state->control_done == RUN_CONTROL_LAST) {
        return;
    }
    runs_orphan_log(runs, host, state, effects);
    runs_order_control(
        runs, host, &state->run,
        &(struct run_control){.number = RUN_CONTROL_LAST, .action = CONTROL_KILL},
        effects);
}

/* The token is not on record: a guard that waits has never had a RUN_GO. */
static bool is_unguarded(const struct run *run)
{
    return run->record == RUN_RECORD_TAKEN || run->token == 0;
}

/* The batch that stores this is the next commit. */
static void record_guard(struct runs *runs, struct run *run, uint64_t token,
                         int64_t now_ms, struct effects *effects)
{
    run->record = RUN_RECORD_GUARDED;
    run->token = token;
    run->is_unconfirmed = false;
    run->order_commit = runs->commits + 1;
    run_table_store(run, false, now_ms, effects);
}

static void see_waiting(struct runs *runs, struct run *run, uint64_t token,
                        int64_t now_ms, struct effects *effects)
{
    if (is_unguarded(run)) {
        dup_set_text(&run->boot, host_table_boot(runs->hosts, run->host));
        record_guard(runs, run, token, now_ms, effects);
        runs_order_drive(runs, run, now_ms, effects);
        return;
    }
    if (run->token != token) {
        runs_order_forget(runs, run->host, &run->id, effects);
        runs_end_lost(runs, run, true, "its guard has died", now_ms, effects);
        return;
    }
    if (run->go_session != host_table_session(runs->hosts, run->host)) {
        if (runs_is_killed(run)) {
            runs_end_unstarted(runs, run, now_ms, effects);
            return;
        }
        runs_order_drive(runs, run, now_ms, effects);
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
        record_guard(runs, run, state->token, now_ms, effects);
    }
    run->start_ms = state->start_ms;
    runs->on_changed(runs->arg, run, now_ms, effects);
    if (is_new) {
        runs_order_drive(runs, run, now_ms,
                         effects); /* an order that waited for the start */
    }
}

static void see_ended(struct runs *runs, struct run *run, const struct run_exit *exit,
                      int64_t now_ms, struct effects *effects)
{
    struct run_exit copy = *exit;
    if (copy.end == RUN_END_NONE) {
        copy.end = RUN_END_LOST;
    }
    if (copy.end == RUN_END_LOST && copy.cause == RUN_CAUSE_NOT_BEGUN) {
        copy.cause = RUN_CAUSE_NONE;
        copy.start_ms = 0; /* its owner may start it again */
    } else if (copy.end == RUN_END_LOST && run->record == RUN_RECORD_GUARDED &&
               copy.start_ms == 0) {
        copy.start_ms = run->start_ms != 0 ? run->start_ms : now_ms;
    }
    runs_end(runs, run, &copy, now_ms, effects);
}

static void see_nothing(struct runs *runs, struct run *run, int64_t now_ms,
                        struct effects *effects)
{
    if (run->record != RUN_RECORD_GUARDED) {
        return; /* TAKEN: RUN_START is sent again when it is due */
    }
    bool is_same_boot = run->boot[0] != '\0' &&
                        strcmp(run->boot, host_table_boot(runs->hosts, run->host)) == 0;
    runs_end_lost(runs, run, !is_same_boot || run->start_ms != 0,
                  run->token == 0
                      ? "its host has no record of it, and the journal of its "
                        "site is older than others know"
                      : "its host has no record of it",
                  now_ms, effects);
}

/* ---- a journal that may be behind */

void runs_host_doubt(struct runs *runs, struct effects *effects)
{
    for (int i = 0; i < run_table_count(runs->table); i++) {
        struct run *run = run_table_at(runs->table, i);
        if (run != NULL && run->is_unconfirmed) {
            effects_log(effects, LOG_LEVEL_WARNING,
                        "attempt %llu of %s was about to start by this journal, and "
                        "may have ended since: it is not started again",
                        (unsigned long long)run->id.attempt, run->id.site);
            record_guard(runs, run, 0, run->use.at_ms, effects);
        }
    }
}

/* The host cannot be asked. */
static void give_up_silent(struct runs *runs, struct run *run, int64_t now_ms,
                           struct effects *effects)
{
    runs_end_lost(runs, run, false, "its host is unreachable", now_ms, effects);
}

void runs_host_vouch(struct runs *runs, int64_t now_ms, struct effects *effects)
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
        runs_end_lost(runs, run, false, "another run has its number on its host",
                      now_ms, effects);
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
    bool is_new = !runs_has_begun(run);
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

static bool is_unfinished(const struct run *run)
{
    return !run->is_orphan && !run->is_forgotten && run->record != RUN_RECORD_ENDED;
}

void runs_host_hello(struct runs *runs, int host, struct arena *arena)
{
    struct run **at = run_table_of_host(runs->table, host, arena);
    for (; *at != NULL; at++) {
        struct run *run = *at;
        run->is_seen = run->is_seen && !run->is_orphan && !is_unfinished(run);
        run->is_unconfirmed = run->is_unconfirmed && !is_unfinished(run);
    }
}

void runs_host_synced(struct runs *runs, int host, int64_t now_ms,
                      struct effects *effects)
{
    struct run **at = run_table_of_host(runs->table, host, &effects->arena);
    for (; *at != NULL; at++) {
        struct run *run = *at;
        if (run->is_forgotten) {
            continue; /* by what was done about another one */
        }
        if (run->is_orphan && !run->is_seen) {
            run->token = 0; /* a question only: the host may have lost it */
            runs_order_go(runs, run, effects);
        } else if (run->is_orphan && run->is_given_up) {
            runs_orphan_end(runs, run, effects);
        } else if (is_unfinished(run)) {
            runs_order_drive(runs, run, now_ms, effects);
        }
    }
}

void runs_host_back(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects)
{
    runs_host_hello(runs, host, &effects->arena);
    runs_host_synced(runs, host, now_ms, effects);
}

void runs_host_away(struct runs *runs, int host, int64_t now_ms,
                    struct effects *effects)
{
    struct run **at = run_table_of_host(runs->table, host, &effects->arena);
    for (; *at != NULL; at++) {
        struct run *run = *at;
        if (!is_unfinished(run)) {
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
