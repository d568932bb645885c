/* SPDX-License-Identifier: Apache-2.0 */
/* queue_view.c: `queues`: each queue with its slots, rules, shares, and the queues that
 * it preempts. */
#include <string.h>

#include "base/value.h"
#include "model/page.h"
#include "site/view/view_rows.h"

/* ---------------------------------------------------------------- slots */

struct queue_slots {
    int64_t pend, run, susp;
    int64_t more; /* additional slots that running jobs ask for */
};

static struct queue_slots *count_queues(struct site_view *view, struct arena *arena)
{
    struct queue_slots *slots =
        arena_alloc(arena, (size_t)view->config->n_queues, sizeof(*slots));
    for (int i = 0; i < job_table_count(view->jobs); i++) {
        const struct job *job = job_table_at_const(view->jobs, i);
        if (job->queue < 0) {
            continue;
        }
        struct queue_slots *of = &slots[job->queue];
        of->more += job->is_growing ? job_asked_slots(job) : 0;
        switch (job->state) {
        case JOB_PEND:
        case JOB_PSUSP:
            of->pend += job->spec->n_slots;
            break;
        case JOB_RUN:
        case JOB_UNKWN:
            of->run += job_slots(job);
            break;
        case JOB_USUSP:
        case JOB_SSUSP:
            of->susp += job_slots(job);
            break;
        case JOB_DONE:
        case JOB_EXIT:
            break;
        }
    }
    return slots;
}

/* ---------------------------------------------------------------- preemption */

struct relation {
    int queue, level;
};

/* Whether the jobs of `a` are preempted before those of `b`. */
static bool is_before(const struct queue_config *queues, const struct relation *a,
                      const struct relation *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    return queues[a->queue].priority < queues[b->queue].priority;
}

/* The queues that this queue preempts, in that order. */
static int list_preempted(struct site_view *view, int queue, struct relation *all)
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

static const char *preempted_text(struct site_view *view, struct arena *arena,
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

static const char *preempting_text(struct site_view *view, struct arena *arena,
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

static void add_preemption(struct site_view *view, struct arena *arena,
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

/* ---------------------------------------------------------------- rows */

/* HOSTS as in the configuration. */
static const char *hosts_text(struct arena *arena, const struct queue_config *queue)
{
    const char *text = queue->n_terms == 0 ? "all" : "";
    for (int i = 0; i < queue->n_terms; i++) {
        static const char *const words[] = {
            [QUEUE_ALL] = "all",
            [QUEUE_OTHERS] = "others",
            [QUEUE_ALL_REMOTE] = "allremote",
            [QUEUE_ALL_AT] = "all@",
            [QUEUE_HOST_AT] = "",
            [QUEUE_HOST] = "",
            [QUEUE_NOT_HOST] = "~",
            [QUEUE_GROUP] = "",
            [QUEUE_NOT_GROUP] = "~",
        };
        const struct queue_term *term = &queue->terms[i];
        bool is_none = term->kind == QUEUE_NOT_HOST && term->name[0] == '\0';
        text = arena_printf(arena, "%s%s%s%s", text, i > 0 ? " " : "",
                            is_none ? "none" : words[term->kind], term->name);
        if (term->preference != 0) {
            text = arena_printf(arena, "%s+%d", text, term->preference);
        }
    }
    return value_cut_text(arena, text, TEXT_MAX);
}

static const char *const takes[] = {
    [QUEUE_TAKES_ALL] = "yes",
    [QUEUE_TAKES_BATCH] = "no",
    [QUEUE_TAKES_INTERACTIVE] = "only",
};

void queue_view_list(struct site_view *view, struct page *page,
                     const struct msg_query *query)
{
    struct arena *arena = page->arena;
    const struct queue_slots *slots = count_queues(view, arena);
    for (int i = 0; i < view->config->n_queues && !page->is_full; i++) {
        const struct queue_config *queue = &view->config->queues[i];
        uint64_t number = (uint64_t)i + 1;
        if (!page_is_named(queue->name, query->name) || !page_wants(page, number)) {
            continue;
        }
        struct value *row = value_object(arena);
        value_add_text(arena, row, "queue", queue->name);
        value_add_int(arena, row, "priority", queue->priority);
        value_add_text(arena, row, "status",
                       queue_table_status(view->queues, i, view->local_ms));
        config_view_add_queue_limits(arena, row, view->config, queue);
        value_add_int(arena, row, "njobs",
                      slots[i].pend + slots[i].run + slots[i].susp);
        value_add_int(arena, row, "pend", slots[i].pend);
        value_add_int(arena, row, "run", slots[i].run);
        value_add_int(arena, row, "susp", slots[i].susp);
        value_add_int(arena, row, "rsv", reservation_view_queue_slots(view, i));
        value_add_int(arena, row, "pending_slots", slots[i].more);
        value_add_text(arena, row, "hosts", hosts_text(arena, queue));
        value_add_text(arena, row, "placement",
                       queue->is_balanced ? "balanced" : "stacked");
        value_add_bool(arena, row, "exclusive", queue->is_exclusive);
        value_add_duration(arena, row, "new_job_delay_s", queue->new_job_delay_ms);
        value_add_text(arena, row, "interactive", takes[queue->interactive]);
        reservation_view_add_queue(arena, row, &queue->reservation);
        share_view_add_queue(view, arena, row, i, query->name[0] != '\0');
        add_preemption(view, arena, row, i);
        load_view_add_thresholds(view, arena, row, &queue->thresholds);
        value_add_text(arena, row, "stop_cond", queue->stop_cond);
        value_add_text(arena, row, "resume_cond", queue->resume_cond);
        value_add_text(arena, row, "description",
                       queue->description != NULL
                           ? value_cut_text(arena, queue->description, TEXT_MAX)
                           : "");
        config_view_add_queue_rules(arena, row, &queue->rules);
        page_add_number(page, number, row);
    }
}
