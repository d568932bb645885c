/* SPDX-License-Identifier: Apache-2.0 */
/* row.c: see row.h. Each kind of row has one function that makes the copy's
 * pointers its own. */
#include "model/row.h"

#include <string.h>

#include "model/exported_resources.h"

const char *row_history_name(enum history_event event)
{
    static const char *const names[] = {
        [HISTORY_REGISTERED] = "registered", [HISTORY_MADE] = "made",
        [HISTORY_INACTIVE] = "inactive",     [HISTORY_ACTIVE] = "active",
        [HISTORY_CHANGED] = "changed",       [HISTORY_DRAINING] = "draining",
        [HISTORY_ENDED] = "ended",           [HISTORY_SITE_LOST] = "lost",
        [HISTORY_SITE_BACK] = "back",        [HISTORY_QUOTA] = "quota",
        [HISTORY_RECALL] = "recall",         [HISTORY_RECALL_DONE] = "recall_done",
    };
    size_t index = (size_t)event;
    return index < sizeof(names) / sizeof(names[0]) ? names[index] : "?";
}

const char *row_event_name(const char *history_name)
{
    static const char *const names[][2] = {
        {"registered", "lease_registered"},
        {"made", "lease_made"},
        {"inactive", "lease_inactive"},
        {"active", "lease_active"},
        {"changed", "lease_changed"},
        {"draining", "lease_drain"},
        {"ended", "lease_end"},
        {"lost", "site_lost"},
        {"back", "site_back"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i][0], history_name) == 0) {
            return names[i][1];
        }
    }
    return history_name;
}

const char *row_requeue_name(enum requeue_cause cause)
{
    static const char *const names[REQUEUE_CAUSES] = {
        [REQUEUE_NONE] = "",         [REQUEUE_LOST] = "lost",
        [REQUEUE_USER] = "user",     [REQUEUE_EXIT] = "exit",
        [REQUEUE_RECALL] = "recall", [REQUEUE_PREEMPT] = "preempt",
        [REQUEUE_WINDOW] = "window", [REQUEUE_LOAD] = "load",
    };
    return (unsigned)cause < REQUEUE_CAUSES ? names[cause] : "?";
}

const char *row_job_event_name(enum job_event event)
{
    static const char *const names[JOB_EVENTS] = {
        [JOB_EVENT_SUBMIT] = "submit",   [JOB_EVENT_DISPATCH] = "dispatch",
        [JOB_EVENT_ACCEPT] = "accept",   [JOB_EVENT_START] = "start",
        [JOB_EVENT_SUSPEND] = "suspend", [JOB_EVENT_RESUME] = "resume",
        [JOB_EVENT_KILL] = "kill",       [JOB_EVENT_REQUEUE] = "requeue",
        [JOB_EVENT_SWITCH] = "switch",   [JOB_EVENT_MOVE] = "move",
        [JOB_EVENT_END] = "end",         [JOB_EVENT_RUN_END] = "run_end",
        [JOB_EVENT_UNKNOWN] = "unknown", [JOB_EVENT_KNOWN] = "known",
        [JOB_EVENT_RESIZE] = "resize",
    };
    return (unsigned)event < JOB_EVENTS ? names[event] : "?";
}

bool row_exit_code(const struct run_exit *exit, int *code)
{
    switch (exit->end) {
    case RUN_END_EXITED:
    case RUN_END_LIMIT:
        *code = exit->code;
        return true;
    case RUN_END_SIGNALLED:
        *code = 128 + exit->code;
        return true;
    case RUN_END_NONE:
    case RUN_END_FAILED:
    case RUN_END_LOST:
        break;
    }
    return false;
}

static void own_text(struct arena *arena, const char **text)
{
    *text = arena_str(arena, *text);
}

static void own_texts(struct arena *arena, const char *const **texts, int n_texts)
{
    if (n_texts == 0) {
        *texts = NULL;
        return;
    }
    const char **copies = arena_alloc(arena, (size_t)n_texts, sizeof(*copies));
    for (int i = 0; i < n_texts; i++) {
        copies[i] = arena_str(arena, (*texts)[i]);
    }
    *texts = copies;
}

static void own_splits(struct arena *arena, const struct host_split **hosts,
                       int n_hosts)
{
    if (n_hosts == 0) {
        *hosts = NULL;
        return;
    }
    struct host_split *copies =
        arena_copy(arena, *hosts, (size_t)n_hosts * sizeof(*copies));
    for (int i = 0; i < n_hosts; i++) {
        own_text(arena, &copies[i].host);
    }
    *hosts = copies;
}

static void own_slots(struct arena *arena, const struct host_slots **hosts, int n_hosts)
{
    if (n_hosts == 0) {
        *hosts = NULL;
        return;
    }
    struct host_slots *copies =
        arena_copy(arena, *hosts, (size_t)n_hosts * sizeof(*copies));
    for (int i = 0; i < n_hosts; i++) {
        own_text(arena, &copies[i].host);
    }
    *hosts = copies;
}

static void own_spec(struct arena *arena, struct job_spec *spec)
{
    own_text(arena, &spec->name);
    own_text(arena, &spec->user);
    own_text(arena, &spec->queue);
    own_text(arena, &spec->command);
    own_text(arena, &spec->cwd);
    own_text(arena, &spec->in_file);
    own_text(arena, &spec->out_file);
    own_text(arena, &spec->err_file);
    own_texts(arena, &spec->env, spec->n_env);
    own_texts(arena, &spec->hosts_asked, spec->n_hosts_asked);
    own_texts(arena, &spec->res_reqs, spec->n_res_reqs);
    own_text(arena, &spec->app);
    own_texts(arena, &spec->limits, spec->n_limits);
    own_texts(arena, &spec->pre_execs, spec->n_pre_execs);
    own_texts(arena, &spec->post_execs, spec->n_post_execs);
    own_texts(arena, &spec->controls, spec->n_controls);
}

static void own_lease(struct arena *arena, struct row_lease *lease)
{
    own_text(arena, &lease->id);
    own_text(arena, &lease->provider);
    own_text(arena, &lease->policy);
    own_text(arena, &lease->consumer);
    own_text(arena, &lease->reason);
    own_splits(arena, &lease->hosts, lease->n_hosts);
    lease->resources =
        exported_resources_copy(arena, lease->resources, lease->n_resources);
}

static void own_history(struct arena *arena, struct row_history *history)
{
    own_text(arena, &history->lease);
    own_text(arena, &history->site);
    own_text(arena, &history->reason);
    own_text(arena, &history->pool);
    own_text(arena, &history->node);
}

static void own_book(struct arena *arena, struct row_book *book)
{
    own_text(arena, &book->lease);
    own_text(arena, &book->policy);
    own_text(arena, &book->consumer);
    own_text(arena, &book->content);
    own_splits(arena, &book->hosts, book->n_hosts);
    book->recalls = book->n_recalls > 0
                        ? arena_copy(arena, book->recalls,
                                     (size_t)book->n_recalls * sizeof(*book->recalls))
                        : NULL;
    book->resources =
        exported_resources_copy(arena, book->resources, book->n_resources);
}

static void own_terms(struct arena *arena, struct job_terms *terms)
{
    own_text(arena, &terms->depend);
    own_text(arena, &terms->depend_on);
    own_text(arena, &terms->project);
    own_text(arena, &terms->user_group);
    own_text(arena, &terms->resize_notify);
}

static void own_job_state(struct arena *arena, struct row_job_state *state)
{
    own_text(arena, &state->lease);
    own_slots(arena, &state->hosts, state->n_hosts);
    own_text(arena, &state->exit.text);
    own_text(arena, &state->reason);
    own_text(arena, &state->queue);
    own_text(arena, &state->overload);
    own_text(arena, &state->reserved);
    own_text(arena, &state->avoided);
    own_slots(arena, &state->resize.hosts, state->resize.n_hosts);
}

static void own_run(struct arena *arena, struct row_run *run)
{
    own_text(arena, &run->run.site);
    own_text(arena, &run->job);
    own_text(arena, &run->lease);
    own_slots(arena, &run->hosts, run->n_hosts);
    own_text(arena, &run->exit.text);
    if (run->spec != NULL) {
        struct job_spec *spec = arena_copy(arena, run->spec, sizeof(*spec));
        own_spec(arena, spec);
        run->spec = spec;
    }
}

static void own_job_event(struct arena *arena, struct row_job_event *event)
{
    own_text(arena, &event->site);
    own_text(arena, &event->lease);
    own_slots(arena, &event->hosts, event->n_hosts);
    own_text(arena, &event->reason);
    own_text(arena, &event->exit.text);
    if (event->facts != NULL) {
        struct job_facts *facts = arena_copy(arena, event->facts, sizeof(*facts));
        own_text(arena, &facts->user);
        own_text(arena, &facts->name);
        own_text(arena, &facts->queue);
        own_text(arena, &facts->project);
        own_text(arena, &facts->command);
        event->facts = facts;
    }
}

void row_copy(struct arena *arena, const struct row *from, struct row *to)
{
    *to = *from;
    switch (to->kind) {
    case ROW_COUNTER:
        own_text(arena, &to->counter.name);
        break;
    case ROW_OVERRIDE:
        own_text(arena, &to->override.name);
        break;
    case ROW_LEASE:
        own_lease(arena, &to->lease);
        break;
    case ROW_SITE:
        own_text(arena, &to->site.name);
        break;
    case ROW_POOL:
        own_text(arena, &to->pool.name);
        own_text(arena, &to->pool.window);
        break;
    case ROW_KEPT:
        own_text(arena, &to->kept.pool);
        own_text(arena, &to->kept.node);
        break;
    case ROW_HISTORY:
        own_history(arena, &to->history);
        break;
    case ROW_BOOK:
        own_book(arena, &to->book);
        break;
    case ROW_HIGH:
        own_text(arena, &to->high.consumer);
        break;
    case ROW_QUEUE:
        own_text(arena, &to->queue.name);
        break;
    case ROW_JOB:
        own_spec(arena, &to->job.spec);
        own_terms(arena, &to->job.terms);
        break;
    case ROW_JOB_STATE:
        own_job_state(arena, &to->job_state);
        break;
    case ROW_RUN:
        own_run(arena, &to->run);
        break;
    case ROW_CLOSED:
        own_text(arena, &to->closed.host);
        break;
    case ROW_PICK:
        own_text(arena, &to->pick.policy);
        own_text(arena, &to->pick.content);
        own_text(arena, &to->pick.hosts);
        break;
    case ROW_SHARE:
        own_text(arena, &to->share.scope);
        own_text(arena, &to->share.account);
        break;
    case ROW_JOB_EVENT:
        own_job_event(arena, &to->job_event);
        break;
    case ROW_KINDS:
        break;
    }
}
