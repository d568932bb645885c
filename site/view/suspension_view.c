/* SPDX-License-Identifier: Apache-2.0 */
/* suspension_view.c: preemption as it is shown: which queues preempt which, who gave
 * way to whom, and when a suspended job may go on. */
#include "base/value.h"
#include "model/job_id.h"
#include "site/overloads.h"
#include "site/reserves.h"
#include "site/view/view_rows.h"

/* ---------------------------------------------------------------- queues */

struct relation {
    int queue, level;
};

/* In the order in which they are preempted. */
static bool is_before(const struct queue_config *queues, const struct relation *a,
                      const struct relation *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    return queues[a->queue].priority < queues[b->queue].priority;
}

/* Whom the queue preempts, in that order. */
static int list_preempted(const struct site_view *view, int queue, struct relation *all)
{
    const struct site_config *config = view->config;
    int count = 0;
    for (int i = 0; i < config->n_queues; i++) {
        struct relation found = {.queue = i};
        if (preempt_policy_may(&config->preempt, config->queues, queue, i,
                               &found.level)) {
            int at = count++;
            for (; at > 0 && is_before(config->queues, &found, &all[at - 1]); at--) {
                all[at] = all[at - 1];
            }
            all[at] = found;
        }
    }
    return count;
}

static const char *preempted_text(const struct site_view *view, struct arena *arena,
                                  const struct relation *all, int count)
{
    const char *text = NULL;
    for (int i = 0; i < count; i++) {
        text = arena_printf(arena, "%s%s%s", text != NULL ? text : "",
                            text != NULL ? " " : "",
                            view->config->queues[all[i].queue].name);
        if (all[i].level > 0) {
            text = arena_printf(arena, "%s+%d", text, all[i].level);
        }
    }
    return text;
}

static const char *preempting_text(const struct site_view *view, struct arena *arena,
                                   int queue)
{
    const struct site_config *config = view->config;
    const char *text = NULL;
    int level;
    for (int i = 0; i < config->n_queues; i++) {
        if (preempt_policy_may(&config->preempt, config->queues, i, queue, &level)) {
            text = arena_printf(arena, "%s%s%s", text != NULL ? text : "",
                                text != NULL ? " " : "", config->queues[i].name);
        }
    }
    return text;
}

void suspension_view_queue_preempts(const struct site_view *view, struct arena *arena,
                                    struct value *row, int queue)
{
    bool has_any = view->config->preempt.is_enabled;
    struct relation *all =
        arena_alloc(arena, (size_t)view->config->n_queues + 1, sizeof(*all));
    int count = has_any ? list_preempted(view, queue, all) : 0;
    value_add_text(arena, row, "preempts", preempted_text(view, arena, all, count));
    value_add_text(arena, row, "preempted_by",
                   has_any ? preempting_text(view, arena, queue) : NULL);
    struct value *list = value_add(arena, row, "preemption", value_array(arena));
    for (int i = 0; i < count; i++) {
        struct value *item = value_add(arena, list, NULL, value_object(arena));
        value_add_text(arena, item, "queue", view->config->queues[all[i].queue].name);
        value_add_int(arena, item, "preference", all[i].level);
    }
}

/* ---------------------------------------------------------------- jobs */

static const char *by_text(struct arena *arena, const struct job *job)
{
    return job_id_text(arena, job_id_key_number(job->halt.by),
                       job_id_key_index(job->halt.by));
}

static const char *where_text(struct arena *arena, const struct job *job)
{
    return job->n_hosts == 1
               ? arena_printf(arena, "%s", job->hosts[0].host)
               : arena_printf(arena, "%s and %d more host%s", job->hosts[0].host,
                              job->n_hosts - 1, job->n_hosts == 2 ? "" : "s");
}

static const char *overloaded(const struct site_view *view, struct arena *arena,
                              const struct job *job)
{
    const char *hold = overloads_hold(view->site, arena, job);
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
    int causes = job->halt.causes;
    const char *text = "";
    if (causes == 0) {
        return "being resumed";
    }
    if ((causes & HALT_USER) != 0) {
        text = "suspended by a user";
    }
    if ((causes & HALT_PREEMPT) != 0) {
        const char *lacks = reserves_lacks(view->site, arena, job);
        const char *when = arena_printf(
            arena, "it resumes as soon as its slots on %s are free%s%s",
            where_text(arena, job),
            lacks[0] != '\0'
                ? ", and enough is available of the resources that it released: "
                : "",
            lacks);
        const char *what =
            job->halt.by == 0
                ? "other jobs use its slots"
                : arena_printf(arena, "preempted by job <%s>, %d time%s so far",
                               by_text(arena, job), job->halt.n_preempted,
                               job->halt.n_preempted == 1 ? "" : "s");
        text = arena_printf(arena, "%s%s%s; %s", text, text[0] != '\0' ? "; " : "",
                            what, when);
    }
    if ((causes & HALT_WINDOW) != 0) {
        text = arena_printf(
            arena, "%s%ssuspended outside of the run window of its queue or host", text,
            text[0] != '\0' ? "; " : "");
    }
    if ((causes & HALT_LOAD) != 0) {
        text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? "; " : "",
                            overloaded(view, arena, job));
    }
    return text;
}

void suspension_view_add_job(struct arena *arena, struct value *row,
                             const struct job *job, int64_t now_ms)
{
    const struct job_halt *halt = &job->halt;
    bool is_now = (halt->causes & HALT_PREEMPT) != 0 && halt->by != 0;
    int64_t still_ms = halt->total_ms;
    if (halt->since_ms != 0 && now_ms > halt->since_ms) {
        still_ms += now_ms - halt->since_ms;
    }
    value_add_text(arena, row, "preempted_by", is_now ? by_text(arena, job) : NULL);
    value_add_int(arena, row, "preemptions", halt->n_preempted);
    value_add_duration(arena, row, "suspended_s", still_ms);
}
