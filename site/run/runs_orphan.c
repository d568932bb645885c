/* SPDX-License-Identifier: Apache-2.0 */
/* runs_orphan.c: runs that hosts have and the journal does not; see runs.h. */
#include <signal.h>
#include <string.h>

#include "model/dup.h"
#include "site/run/allocation.h"
#include "site/run/runs_parts.h"

void runs_orphan_log(const struct runs *runs, int host,
                     const struct msg_run_state *state, struct effects *effects)
{
    effects_log(
        effects, LOG_LEVEL_WARNING,
        "host %s runs attempt %llu of %s, which is not on record here: it is killed",
        host_table_name(runs->hosts, host), (unsigned long long)state->run.attempt,
        state->run.site);
}

void runs_orphan_keep(struct runs *runs, uint64_t from, uint64_t to)
{
    runs->orphans_from = from;
    runs->orphans_to = to;
}

bool runs_orphan_is_kept(const struct runs *runs, const struct msg_run_state *state)
{
    return state->phase != RUN_UNKNOWN && state->phase != RUN_WAITING &&
           strcmp(state->run.site, runs->setting.site) == 0 &&
           state->run.attempt >= runs->orphans_from &&
           state->run.attempt <= runs->orphans_to;
}

static struct run *add_orphan(struct runs *runs, const struct run_id *id,
                              const char *job, const struct host_slots *hosts,
                              int n_hosts, const struct job_spec *spec,
                              const char *binding, int64_t now_ms)
{
    const struct row_run row = {
        .run = *id,
        .job = job,
        .lease = "",
        .record = RUN_RECORD_GUARDED,
        .hosts = hosts,
        .n_hosts = n_hosts,
        .spec = spec,
        .exit = {.text = ""},
        .binding = binding,
    };
    struct run *run = run_table_put(runs->table, &row, NULL);
    run->is_orphan = true;
    run->start_ms = now_ms;
    return run;
}

/* A lost attempt of this site's own: an administrator decides. */
static bool is_of_lost_part(const struct runs *runs, const struct msg_run_start *start)
{
    return strcmp(start->run.site, runs->setting.site) == 0 &&
           start->lease[0] == '\0' && start->run.attempt >= runs->orphans_from &&
           start->run.attempt <= runs->orphans_to;
}

/* The journal is of before the run grew: its slots count from now on. Slots that it
 * released since then count, too, as its host does not tell of them. */
static void grow_as_found(struct runs *runs, struct run *run,
                          const struct msg_run_start *found, int64_t now_ms,
                          struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct allocation missing =
        allocation_take(arena, found->hosts, found->n_hosts, run->hosts, run->n_hosts);
    if (missing.n_hosts == 0 || run->record == RUN_RECORD_ENDED) {
        return;
    }
    struct allocation all =
        allocation_add(arena, run->hosts, run->n_hosts, missing.hosts, missing.n_hosts);
    effects_log(effects, LOG_LEVEL_WARNING,
                "attempt %llu (job <%s>) has slots that are not on record here: %s",
                (unsigned long long)run->id.attempt, run->job,
                allocation_text(arena, missing.hosts, missing.n_hosts));
    run_table_set_hosts(runs->table, run, all.hosts, all.n_hosts);
    run_table_store(run, false, now_ms, effects);
    runs->on_changed(runs->arg, run, now_ms, effects);
}

void runs_orphan_found(struct runs *runs, int host, const struct msg_run_start *start,
                       int64_t now_ms, struct effects *effects)
{
    struct run *known = run_table_find(runs->table, &start->run);
    bool is_lost = is_of_lost_part(runs, start);
    if (strcmp(start->hosts[0].host, host_table_name(runs->hosts, host)) != 0) {
        return;
    }
    if (is_lost && known != NULL && known->is_orphan && known->job[0] == '\0') {
        run_table_forget(runs->table, known, effects); /* until now nothing was known */
        known = NULL;
    }
    if (known != NULL) {
        if (!known->is_orphan && run_table_is_own(runs->table, known)) {
            grow_as_found(runs, known, start, now_ms, effects);
        }
        return;
    }
    known = add_orphan(runs, &start->run, start->job, start->hosts, start->n_hosts,
                       &start->spec, start->binding, now_ms);
    known->is_given_up = !is_lost;
    dup_set_text(&known->orphan_lease, start->lease);
    if (is_lost) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "host %s has attempt %llu (job <%s>), which is not on record here: "
                    "it is kept, see `sublet runs --orphans`",
                    host_table_name(runs->hosts, host),
                    (unsigned long long)start->run.attempt, start->job);
    }
}

/* Its host could not say what was started: nothing else may use that host. */
struct run *runs_orphan_add_unknown(struct runs *runs, int host,
                                    const struct msg_run_state *state, int64_t now_ms)
{
    const struct host_slots all = {host_table_name(runs->hosts, host),
                                   host_table_max(runs->hosts, host)};
    return add_orphan(runs, &state->run, "", &all, 1, NULL, "", now_ms);
}

/* A consumer that still asks for it has its end, and does not start the job again
 * because the number is unknown here. */
static void report_orphan(struct runs *runs, struct run *run,
                          const struct msg_run_state *state, int64_t now_ms,
                          struct effects *effects)
{
    struct run_exit exit = state->exit;
    if (state->control_done == RUN_CONTROL_LAST) {
        exit.end = RUN_END_LOST;
        exit.text = "ended there: the journal of that site is older than others know";
    }
    if (exit.end == RUN_END_LOST && exit.start_ms == 0) {
        exit.start_ms = run->start_ms;
    }
    run_table_end(runs->table, run, &exit);
    dup_set_text(&run->lease, run->orphan_lease);
    run->is_orphan = run->is_given_up = false;
    run_table_store(run, true, now_ms, effects);
    runs->on_changed(runs->arg, run, now_ms, effects);
}

/* The host has just told of the run, so that it can be answered: it may still be
 * listing its runs. */
static void forget(struct runs *runs, struct run *run, struct effects *effects)
{
    run_table_forget(runs->table, run, effects);
    runs_order_forget(runs, run->host, &run->id, effects);
}

void runs_orphan_see(struct runs *runs, struct run *run, int host,
                     const struct msg_run_state *state, int64_t now_ms,
                     struct effects *effects)
{
    if (run->host != host) {
        return; /* two hosts have an attempt with this number and nonce: impossible */
    }
    if (run->is_given_up && !run->is_seen && state->phase != RUN_WAITING &&
        state->phase != RUN_ENDED && state->control_done != RUN_CONTROL_LAST) {
        runs_orphan_log(runs, host, state, effects);
    }
    run->is_seen = true;
    run->phase = state->phase;
    run->token = state->token;
    run->control_done = state->control_done;
    run->resize_done = state->resize_done;
    run->start_ms = state->start_ms != 0 ? state->start_ms : run->start_ms;
    if (state->phase == RUN_UNKNOWN) {
        run_table_forget(runs->table, run, effects);
    } else if (run->is_given_up && state->phase == RUN_WAITING) {
        forget(runs, run, effects);
    } else if (state->phase == RUN_ENDED && run->orphan_lease[0] != '\0') {
        report_orphan(runs, run, state, now_ms, effects);
    } else if (state->phase == RUN_ENDED) {
        if (run->record != RUN_RECORD_ENDED) {
            run_table_end(runs->table, run, &state->exit);
        }
        /* The site ended it already, and restarted before its host had forgotten it. */
        if (run->is_given_up || state->control_done == RUN_CONTROL_LAST) {
            forget(runs, run, effects);
        }
    } else if (run->is_given_up) {
        runs_orphan_end(runs, run, effects);
    }
}

void runs_orphan_adopt(struct runs *runs, struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    run->is_orphan = false;
    run->control = (struct run_control){.number = run->control_done};
    run_table_store(run, true, now_ms, effects);
    if (run->phase == RUN_SUSPENDED) {
        run_table_keep_suspended(runs->table, run, now_ms, effects);
    }
    runs->on_changed(runs->arg, run, now_ms, effects);
}

void runs_orphan_end(struct runs *runs, struct run *run, struct effects *effects)
{
    run->is_given_up = true;
    if (run->record == RUN_RECORD_ENDED) {
        runs_forget(runs, run, effects);
    } else if (run->host >= 0 && host_table_is_ready(runs->hosts, run->host) &&
               run->control_done != RUN_CONTROL_LAST) {
        /* Others may use the slots of a suspended run: it is not resumed to end. */
        runs_order_control(
            runs, run->host, &run->id,
            &(struct run_control){.number = RUN_CONTROL_LAST,
                                  .action = CONTROL_KILL,
                                  .signal = run->phase == RUN_SUSPENDED ? SIGKILL : 0},
            effects);
    }
}
