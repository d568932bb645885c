/* SPDX-License-Identifier: Apache-2.0 */
/* job_view.c: `jobs`: each job with its state, hosts and reasons. */
#include "site/view/view_rows.h"

#include <string.h>

#include "model/job_control.h"
#include "model/job_id.h"
#include "model/page.h"
#include "sched/resreq/resreq_text.h"
#include "site/job/job.h"
#include "site/ledger/site_ledger.h"
#include "site/load/site_load.h"
#include "site/pass/resize_requests.h"

enum {
    LISTED_RESREQ_BYTES = 500,   /* of requirements in a list */
    LISTED_COMMAND_BYTES = 1000, /* of a command in a list ... */
    SHOWN_COMMAND_BYTES = 65536, /* ... and of one job that was asked for */
    SHOWN_HOSTS_MAX = 500,       /* of a job: a row must fit a page */
    CONDENSED_BYTES = 32768, /* of its hosts and condensed groups, beside its hosts */
};

/* ---------------------------------------------------------------- why */

/* "queue normal", "queue normal, hosts n1 n2@north". */
static const char *where_text(struct arena *arena, const struct job *job)
{
    const char *text = arena_printf(arena, "queue %s", job_queue_name(job));
    for (int i = 0; i < job->spec->n_hosts_asked && i < 8; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? ", hosts " : " ",
                            job->spec->hosts_asked[i]);
    }
    return text;
}

static const char *waiting_reason(struct site_view *view, struct arena *arena,
                                  const struct job *job)
{
    if (job->attempt != 0) {
        return arena_printf(
            arena, "starting on %s%s", job->hosts[0].host,
            consumer_is_withdrawn(view->consumer, job->attempt)
                ? "; not for START_TIMEOUT, and its provider, which was asked to "
                  "withdraw it, has not answered"
                : "");
    }
    const struct pending_verdict held = {.reason = job->hold};
    const struct pending_verdict *verdict =
        job->pending_class != NULL ? job_class_verdict(job->pending_class) : &held;
    const char *hosts = pending_reason_hosts(arena, verdict);
    const char *preempts = pending_reason_preempt(arena, verdict);
    bool wants_slots = verdict->reason == REASON_BUSY ||
                       verdict->reason == REASON_SPAN ||
                       verdict->reason == REASON_EXCLUSIVE;
    return arena_printf(
        arena, "%s (%s%s%s)%s%s%s%s%s%s%s", pending_reason_text(arena, verdict),
        where_text(arena, job), hosts[0] != '\0' ? "; " : "", hosts,
        wants_slots ? reservation_view_others_text(view, arena, job) : "",
        wants_slots ? reservation_view_kept_text(view, arena, job) : "",
        reservation_view_job_text(view, arena, job), preempts[0] != '\0' ? "; " : "",
        preempts, job->reason[0] != '\0' ? "; " : "", job->reason);
}

static const char *by_text(struct arena *arena, const struct job *job)
{
    return job_id_text(arena, job_id_key_number(job->suspension.by),
                       job_id_key_index(job->suspension.by));
}

static const char *slots_text(struct arena *arena, const struct job *job)
{
    return job->n_hosts == 1
               ? arena_printf(arena, "%s", job->hosts[0].host)
               : arena_printf(arena, "%s and %d more host%s", job->hosts[0].host,
                              job->n_hosts - 1, job->n_hosts == 2 ? "" : "s");
}

static const char *overload_text(struct site_view *view, struct arena *arena,
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
static const char *suspension_text(struct site_view *view, struct arena *arena,
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
            slots_text(arena, job),
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

static void add_suspension(struct arena *arena, struct value *row,
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

static const char *why_text(struct site_view *view, struct arena *arena,
                            const struct job *job)
{
    if (job_is_kill_deferred(job) && job->suspension.causes != 0) {
        return arena_printf(
            arena,
            "%s; ends as soon as it has its slots back, since commands run after it",
            job->reason);
    }
    if (job->state == JOB_RUN && consumer_is_fetching(view->consumer, job->attempt)) {
        return arena_printf(arena, "%s%sits run has ended, its output is being fetched",
                            job->reason, job->reason[0] != '\0' ? "; " : "");
    }
    if (job->is_killed) {
        return job->reason;
    }
    switch (job->state) {
    case JOB_PEND:
        return waiting_reason(view, arena, job);
    case JOB_PSUSP:
        return job->reason[0] != '\0' ? job->reason
                                      : "suspended by a user while it waited";
    case JOB_USUSP:
    case JOB_SSUSP:
        return suspension_text(view, arena, job);
    case JOB_UNKWN:
        return job->lease[0] != '\0' ? "its provider is silent"
                                     : "its host is unreachable";
    case JOB_RUN:
    case JOB_DONE:
    case JOB_EXIT:
        break;
    }
    return job->reason;
}

/* ---------------------------------------------------------------- a job */

static void add_hosts(struct arena *arena, struct value *row, const struct job *job)
{
    if (job->attempt == 0) {
        value_add_null(arena, row, "hosts");
        return;
    }
    struct value *hosts = value_add(arena, row, "hosts", value_object(arena));
    for (int i = 0; i < job->n_hosts && i < SHOWN_HOSTS_MAX; i++) {
        value_add_int(arena, hosts, arena_str(arena, job->hosts[i].host),
                      job->hosts[i].n_slots);
    }
}

/* The slots that a job has on a condensed group are together; `*n_shown` is the number
 * of entries. Returns false if none of its hosts is of such a group. */
static bool condense(const struct groups *groups, const struct job *job,
                     struct host_slots *shown, int *n_shown)
{
    bool has_group = false;
    *n_shown = 0;
    for (int i = 0; i < job->n_hosts; i++) {
        const struct name_group *group = groups_condensed(groups, job->hosts[i].host);
        int at = group != NULL ? 0 : *n_shown; /* hosts of a job differ */
        while (at < *n_shown && shown[at].host != group->name) {
            at++;
        }
        if (at < *n_shown) {
            shown[at].n_slots += job->hosts[i].n_slots;
        } else if (at < SHOWN_HOSTS_MAX) {
            shown[at] = job->hosts[i];
            shown[at].host = group != NULL ? group->name : shown[at].host;
            ++*n_shown;
        }
        has_group = has_group || group != NULL;
    }
    return has_group;
}

/* Its slots by host and condensed group; null if all of its hosts are shown. */
static void add_condensed(struct site_view *view, struct arena *arena,
                          struct value *row, const struct job *job)
{
    struct host_slots shown[SHOWN_HOSTS_MAX];
    int n_shown;
    if (job->attempt == 0 || !condense(&view->config->groups, job, shown, &n_shown)) {
        value_add_null(arena, row, "condensed_hosts");
        return;
    }
    struct value *hosts = value_add(arena, row, "condensed_hosts", value_object(arena));
    for (int i = 0, n_bytes = 0; i < n_shown && n_bytes < CONDENSED_BYTES; i++) {
        value_add_int(arena, hosts, arena_str(arena, shown[i].host), shown[i].n_slots);
        n_bytes += (int)strlen(shown[i].host);
    }
}

static void add_use(struct arena *arena, struct value *row, const struct job *job,
                    int64_t now_ms)
{
    bool has_run = job->start_ms != 0;
    bool is_known = has_run && job_is_ended(job);
    int64_t run_ms = job_ran_ms(job, now_ms);
    value_add_duration(arena, row, "run_s", has_run ? run_ms : -1);
    bool is_reported = has_run && !is_known && job->fairshare.cpu_ms > 0;
    value_add_duration(arena, row, "cpu_s",
                       is_known      ? job->exit->cpu_ms
                       : is_reported ? job->fairshare.cpu_ms
                                     : -1);
    const struct job_usage *usage = &job->usage;
    bool is_measured = has_run && !is_known && usage->rss_kib > 0;
    value_add_known(arena, row, "mem_kib", is_known || is_measured,
                    is_known ? job->exit->mem_kib : usage->mem_kib);
    value_add_known(arena, row, "rss_kib", is_measured, usage->rss_kib);
    value_add_known(arena, row, "vsz_kib", is_measured, usage->vsz_kib);
    value_add_known(arena, row, "threads", is_measured, usage->n_threads);
}

/* Several -R joined to one as LSF does; NULL: there is none. */
static const char *resreq_text(struct arena *arena, const struct job_spec *spec,
                               bool is_asked)
{
    if (spec->n_res_reqs == 0) {
        return NULL;
    }
    return value_cut_text(arena,
                          resreq_text_join(arena, spec->res_reqs, spec->n_res_reqs),
                          is_asked ? 2 * RES_REQS_BYTES_MAX : LISTED_RESREQ_BYTES);
}

/* With the strings of its queue and its application; NULL: the queue is gone. */
static const char *combined_text(const struct site_view *view, struct arena *arena,
                                 const struct job *job, bool is_asked)
{
    const char *text = job->queue < 0 ? NULL
                                      : resreq_cache_combined(view->resreq_cache, arena,
                                                              job->queue, job->spec);
    return text == NULL ? NULL
                        : value_cut_text(arena, text,
                                         is_asked ? 4 * RES_REQS_BYTES_MAX
                                                  : LISTED_RESREQ_BYTES);
}

/* The pending reasons as LSF lists them: the sentence, then the number of hosts for
 * each reason. */
static void add_reasons(struct arena *arena, struct value *row, const struct job *job)
{
    const struct pending_verdict held = {.reason = job->hold};
    const struct pending_verdict *verdict =
        job->pending_class != NULL ? job_class_verdict(job->pending_class) : &held;
    struct pending_reason_hosts parts[REASON_HOST_GROUPS];
    int n_parts = pending_reason_list(verdict, parts);
    struct value *list = value_add(arena, row, "pending_reasons", value_array(arena));
    value_add_text(arena, list, NULL, pending_reason_text(arena, verdict));
    for (int i = 0; i < n_parts; i++) {
        value_add_text(arena, list, NULL,
                       arena_printf(arena, "%s: %d host%s", parts[i].lsf,
                                    parts[i].n_hosts,
                                    parts[i].n_hosts == 1 ? "" : "s"));
    }
    if (job->reason[0] != '\0') {
        value_add_text(arena, list, NULL, value_cut_text(arena, job->reason, TEXT_MAX));
    }
}

static const char *const interactions[] = {
    [INTERACTION_NONE] = NULL,
    [INTERACTION_PIPES] = "pipes",
    [INTERACTION_PTY] = "pty",
    [INTERACTION_SHELL] = "shell",
};

static const char *const resizables[] = {
    [RESIZABLE_NO] = NULL, [RESIZABLE_YES] = "yes", [RESIZABLE_AUTO] = "auto"};
static const char *const resize_events[] = {
    [RESIZE_NONE] = NULL, [RESIZE_GROW] = "grow", [RESIZE_SHRINK] = "shrink"};

/* Why a running job does not get the additional slots that it asks for. NULL: it is
 * being given some, or no pass has considered it yet. */
static const char *more_reason(struct site_view *view, struct arena *arena,
                               const struct job *job)
{
    const struct pending_verdict *verdict =
        resize_requests_verdict(view->resize_requests, job);
    if (job->resize.event != RESIZE_NONE) {
        return NULL;
    }
    if (job->state != JOB_RUN) {
        return "it does not run";
    }
    if (job->grow_after_ms > view->event_ms) {
        return job->is_growth_unannounced
                   ? "it could not be notified of more slots, since a "
                     "command before or after it runs, or since its host's "
                     "agent is older; this is tried again"
                   : "its resize notification command refused more slots; "
                     "this is tried again";
    }
    if (verdict == NULL || verdict->reason == REASON_STARTED) {
        return NULL;
    }
    const char *hosts = pending_reason_hosts(arena, verdict);
    const char *text =
        arena_printf(arena, "%s%s%s%s", pending_reason_text(arena, verdict),
                     hosts[0] != '\0' ? " (" : "", hosts, hosts[0] != '\0' ? ")" : "");
    bool wants_slots =
        verdict->reason == REASON_BUSY || verdict->reason == REASON_EXCLUSIVE;
    return !wants_slots || verdict->n_suspended == 0
               ? text
               : arena_printf(arena, "%s; free slots that suspended jobs need: %d",
                              text, verdict->n_suspended);
}

static void add_resize(struct site_view *view, struct arena *arena, struct value *row,
                       const struct job *job)
{
    value_add_text(arena, row, "resizable", resizables[job->terms->resizable]);
    value_add_text(arena, row, "resizing", resize_events[job->resize.event]);
    if (job->is_growing) {
        value_add_int(arena, row, "pending_slots", job_asked_slots(job));
        value_add_text(arena, row, "pending_slots_reason",
                       more_reason(view, arena, job));
    } else {
        value_add_null(arena, row, "pending_slots");
        value_add_null(arena, row, "pending_slots_reason");
    }
    value_add_text(
        arena, row, "resize_notify",
        job->terms->resize_notify[0] != '\0'
            ? value_cut_text(arena, job->terms->resize_notify, LISTED_COMMAND_BYTES)
            : NULL);
}

/* The pending reason as a word for programs, what would help, and the options of the
 * submission. */
static void add_waiting(struct site_view *view, struct arena *arena, struct value *row,
                        const struct job *job)
{
    const struct job_terms *terms = job->terms;
    bool waits = job->state == JOB_PEND && job->attempt == 0;
    enum pending_reason reason = job->pending_class != NULL
                                     ? job_class_verdict(job->pending_class)->reason
                                     : job->hold;
    value_add_text(arena, row, "pending", waits ? pending_reason_name(reason) : NULL);
    value_add_text(arena, row, "hint", waits ? pending_reason_help(reason) : NULL);
    if (waits) {
        add_reasons(arena, row, job);
    } else {
        value_add_null(arena, row, "pending_reasons");
    }
    value_add_nonempty(arena, row, "depend", terms->depend);
    value_add_instant(arena, row, "begin_at", terms->begin_ms);
    value_add_text(arena, row, "project",
                   terms->project[0] != '\0' ? terms->project : "default");
    value_add_nonempty(arena, row, "user_group", terms->user_group);
    value_add_nonempty(arena, row, "description", terms->description);
    value_add_nonempty(arena, row, "job_group", terms->job_group);
    value_add_instant(arena, row, "terminate_at", terms->terminate_ms);
    value_add_text(arena, row, "output_dir", job_output_directory(job->spec));
    value_add_bool(arena, row, "ends_orphan", terms->ends_orphan);
    value_add_nonempty(arena, row, "requeue_codes", terms->requeue_codes);
    value_add_int(arena, row, "priority", terms->priority);
    value_add_known(arena, row, "max_slots", terms->max_slots != 0, terms->max_slots);
    add_resize(view, arena, row, job);
    value_add_text(
        arena, row, "warning_action",
        job_control_find(job->spec->controls, job->spec->n_controls, JOB_CONTROL_WARN));
    value_add_bool(arena, row, "exclusive", job->spec->is_exclusive);
    value_add_text(arena, row, "interactive", interactions[job->spec->interaction]);
}

/* Its directory, its files, the hosts that it asks for. */
static void add_surroundings(struct arena *arena, struct value *row,
                             const struct job *job)
{
    const struct job_spec *spec = job->spec;
    value_add_nonempty(arena, row, "cwd", spec->cwd);
    value_add_nonempty(arena, row, "in_file", spec->in_file);
    value_add_nonempty(arena, row, "out_file", spec->out_file);
    value_add_nonempty(arena, row, "err_file", spec->err_file);
    value_add_bool(arena, row, "rerunnable", spec->is_rerunnable);
    struct value *hosts = value_add(arena, row, "ask_hosts", value_array(arena));
    for (int i = 0; i < spec->n_hosts_asked && i < SHOWN_HOSTS_MAX; i++) {
        value_add_text(arena, hosts, NULL, spec->hosts_asked[i]);
    }
}

/* LSF's names. */
static const char *const post_states[] = {
    [RUN_POST_NONE] = NULL,
    [RUN_POST_DONE] = "POST_DONE",
    [RUN_POST_ERR] = "POST_ERR",
};

static struct value *job_row(struct site_view *view, struct arena *arena,
                             const struct job *job, bool is_asked)
{
    struct value *row = value_object(arena);
    const char *reason = why_text(view, arena, job);
    int code = 0;
    bool is_leased = job->attempt != 0 && job->lease[0] != '\0';
    value_add_text(arena, row, "id", job_id_text(arena, job->id, job->index));
    value_add_text(arena, row, "name",
                   job->spec->name[0] != '\0'
                       ? job_id_element_name(arena, job->spec->name, job->index)
                       : value_cut_text(arena, job->spec->command, 60));
    value_add_text(arena, row, "state", job_state_name(job->state));
    value_add_text(arena, row, "user", job->spec->user);
    value_add_text(arena, row, "queue", job_queue_name(job));
    value_add_text(arena, row, "array", job->index != 0 ? job->spec->name : NULL);
    value_add_text(arena, row, "resreq", resreq_text(arena, job->spec, is_asked));
    value_add_text(arena, row, "combined_resreq",
                   combined_text(view, arena, job, is_asked));
    value_add_text(arena, row, "reserved", job->reserved);
    value_add_text(arena, row, "avoided",
                   job->avoided != NULL ? value_cut_text(arena, job->avoided, TEXT_MAX)
                                        : NULL);
    value_add_int(arena, row, "slots", job_slots(job));
    value_add_known(arena, row, "n_hosts", job->attempt != 0 && job->n_hosts > 0,
                    job->n_hosts);
    add_hosts(arena, row, job);
    add_condensed(view, arena, row, job);
    value_add_instant(arena, row, "submit_at", job->submit_ms);
    value_add_instant(arena, row, "start_at", job->start_ms);
    value_add_instant(arena, row, "end_at", job->end_ms);
    bool has_code = job_exit_code(job, &code);
    value_add_known(arena, row, "exit_code", has_code, code);
    value_add_text(arena, row, "post_state", post_states[job_post(job)]);
    value_add_text(arena, row, "reason",
                   reason[0] != '\0' ? value_cut_text(arena, reason, TEXT_MAX) : NULL);
    value_add_text(arena, row, "lease", is_leased ? job->lease : NULL);
    value_add_known(arena, row, "epoch", is_leased, (int64_t)job->epoch);
    value_add_known(arena, row, "attempt", job->attempt != 0, (int64_t)job->attempt);
    value_add_text(
        arena, row, "command",
        value_cut_text(arena, job->spec->command,
                       is_asked ? SHOWN_COMMAND_BYTES : LISTED_COMMAND_BYTES));
    add_surroundings(arena, row, job);
    add_use(arena, row, job, view->now_ms);
    add_suspension(arena, row, job, view->now_ms);
    value_add_instant(arena, row, "recall_at", job->recall_ms);
    reservation_view_add_job(view, arena, row, job);
    struct value *leases =
        is_asked ? pending_reason_view_leases(view, arena, job) : NULL;
    if (leases != NULL) {
        value_add(arena, row, "leases", leases);
    }
    struct value *unmet = is_asked ? pending_reason_view_unmet(view, arena, job) : NULL;
    if (unmet != NULL) {
        value_add(arena, row, "unmet", unmet);
    }
    if (is_asked) {
        affinity_view_add_job(view, arena, row, job);
    }
    add_waiting(view, arena, row, job);
    config_view_add_job_rules(arena, row, view->config, job, is_asked);
    return row;
}

static bool is_on_host(const struct job *job, const char *host)
{
    for (int i = 0; i < job->n_hosts; i++) {
        if (strcmp(job->hosts[i].host, host) == 0) {
            return true;
        }
    }
    return false;
}

/* "lisa" names a job or a whole array, "lisa[3]" an element. */
static bool has_name(struct arena *arena, const struct job *job, const char *name)
{
    size_t length = strlen(name);
    return strcmp(job->spec->name, name) == 0 ||
           (job->index != 0 && strncmp(job->spec->name, name, length) == 0 &&
            job->spec->name[length] == '[') ||
           (job->index != 0 && name[0] != '\0' && name[length - 1] == ']' &&
            strcmp(job_id_element_name(arena, job->spec->name, job->index), name) == 0);
}

static bool is_asked_for(struct arena *arena, const struct job *job,
                         const struct job_id *wanted, const struct msg_query *query)
{
    if (query->name[0] != '\0') {
        return wanted->number != 0
                   ? job->id == wanted->number && job_id_has(wanted, job->index)
                   : has_name(arena, job, query->name);
    }
    if (job_is_ended(job) && !query->with_ended) {
        return false;
    }
    return (query->user[0] == '\0' || strcmp(job->spec->user, query->user) == 0) &&
           (query->queue[0] == '\0' ||
            strcmp(job_queue_name(job), query->queue) == 0) &&
           (query->host[0] == '\0' || is_on_host(job, query->host));
}

/* The first job whose key is above; the table is sorted by keys. */
static int find_after(const struct job_table *jobs, uint64_t key)
{
    int from = 0, to = job_table_count(jobs);
    while (from < to) {
        int middle = from + (to - from) / 2;
        bool is_before = job_key(job_table_at_const(jobs, middle)) <= key;
        from = is_before ? middle + 1 : from;
        to = is_before ? to : middle;
    }
    return from;
}

void job_view_list(struct site_view *view, struct page *page,
                   const struct msg_query *query)
{
    struct job_id wanted, after;
    if (job_id_read(page->arena, query->name, &wanted, NULL) != 0) {
        wanted.number = 0;
    }
    if (job_id_read(page->arena, query->after, &after, NULL) == 0) {
        page->after =
            job_id_key(after.number, after.n_ranges > 0 ? after.ranges->first : 0);
    }
    bool is_one = job_table_lookup_const(view->jobs, query->name) != NULL;
    int first = wanted.number != 0 ? job_table_index_of(view->jobs, wanted.number) : 0;
    int place = find_after(view->jobs, page->after);
    first = place > first ? place : first;
    for (int i = first; i < job_table_count(view->jobs) && !page->is_full; i++) {
        const struct job *job = job_table_at_const(view->jobs, i);
        if (wanted.number != 0 && job->id != wanted.number) {
            break;
        }
        if (is_asked_for(page->arena, job, &wanted, query) &&
            page_wants(page, job_key(job))) {
            page_add(page, job_id_text(page->arena, job->id, job->index),
                     job_row(view, page->arena, job, is_one));
        }
    }
}
