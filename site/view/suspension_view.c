/* SPDX-License-Identifier: Apache-2.0 */
/* suspension_view.c: why a job is suspended, and when it resumes. */
#include "base/value.h"
#include "model/job_id.h"
#include "site/ledger/rusage_ledger.h"
#include "site/load/load_suspend.h"
#include "site/view/view_rows.h"

static const char *by_text(struct arena *arena, const struct job *job)
{
    return job_id_text(arena, job_id_key_number(job->suspension.by),
                       job_id_key_index(job->suspension.by));
}

static const char *where_text(struct arena *arena, const struct job *job)
{
    return job->n_hosts == 1
               ? arena_printf(arena, "%s", job->hosts[0].host)
               : arena_printf(arena, "%s and %d more host%s", job->hosts[0].host,
                              job->n_hosts - 1, job->n_hosts == 2 ? "" : "s");
}

static const char *overload_text(const struct site_view *view, struct arena *arena,
                                 const struct job *job)
{
    const char *hold = load_suspend_hold_reason(view->load_suspend, arena, job);
    return arena_printf(
        arena, "suspended for its host's load%s%s; %s%s",
        job->overload != NULL ? ": " : "", job->overload != NULL ? job->overload : "",
        hold != NULL ? "it resumes when that is within its thresholds again, now "
                     : "it resumes after SBD_SLEEP_TIME, since one job of a host is "
                       "resumed at a time",
        hold != NULL ? hold : "");
}

/* Each cause, and what ends it. */
const char *suspension_view_text(const struct site_view *view, struct arena *arena,
                                 const struct job *job)
{
    int causes = job->suspension.causes;
    const char *text = "";
    if (causes == 0) {
        return "being resumed";
    }
    if ((causes & SUSPEND_USER) != 0) {
        text = "suspended by a user";
    }
    if ((causes & SUSPEND_PREEMPT) != 0) {
        const char *lacks =
            rusage_pass_lacks(rusage_view_left(view, arena), arena, job);
        const char *when = arena_printf(
            arena, "it resumes as soon as its slots on %s are free%s%s",
            where_text(arena, job),
            lacks[0] != '\0'
                ? ", and enough is available of the resources that it released: "
                : "",
            lacks);
        const char *what =
            job->suspension.by == 0
                ? "other jobs use its slots"
                : arena_printf(arena, "preempted by job <%s>, %d time%s so far",
                               by_text(arena, job), job->suspension.n_preempted,
                               job->suspension.n_preempted == 1 ? "" : "s");
        text = arena_printf(arena, "%s%s%s; %s", text, text[0] != '\0' ? "; " : "",
                            what, when);
    }
    if ((causes & SUSPEND_WINDOW) != 0) {
        text = arena_printf(
            arena, "%s%ssuspended outside of the run window of its queue or host", text,
            text[0] != '\0' ? "; " : "");
    }
    if ((causes & SUSPEND_LOAD) != 0) {
        text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? "; " : "",
                            overload_text(view, arena, job));
    }
    return text;
}

void suspension_view_add_job(struct arena *arena, struct value *row,
                             const struct job *job, int64_t now_ms)
{
    const struct job_suspension *suspension = &job->suspension;
    bool is_now = (suspension->causes & SUSPEND_PREEMPT) != 0 && suspension->by != 0;
    int64_t suspended_ms = suspension->total_ms;
    if (suspension->since_ms != 0 && now_ms > suspension->since_ms) {
        suspended_ms += now_ms - suspension->since_ms;
    }
    value_add_text(arena, row, "preempted_by", is_now ? by_text(arena, job) : NULL);
    value_add_int(arena, row, "preemptions", suspension->n_preempted);
    value_add_duration(arena, row, "suspended_s", suspended_ms);
}
