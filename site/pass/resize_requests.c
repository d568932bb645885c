/* SPDX-License-Identifier: Apache-2.0 */
/* resize_requests.c: see resize_requests.h. */
#include "site/pass/resize_requests.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/queue/queue.h"
#include "site/run/allocation.h"

enum { RETRY_MS = 60000 }; /* after slots were refused */

struct shown {
    uint64_t job;
    struct pending_verdict verdict;
};

struct resize_requests {
    struct resize_requests_parts parts;
    struct shown *shown; /* of the last pass, in the order of its classes */
    int n_shown, capacity;
    int first_class; /* index of the first of them in the pass */
    int64_t wake_ms;
};

struct resize_requests *resize_requests_new(const struct resize_requests_parts *parts)
{
    struct resize_requests *requests = mem_alloc(1, sizeof(*requests));
    requests->parts = *parts;
    requests->wake_ms = INT64_MAX;
    return requests;
}

void resize_requests_free(struct resize_requests *requests)
{
    if (requests != NULL) {
        free(requests->shown);
        free(requests);
    }
}

int64_t resize_requests_wake_ms(const struct resize_requests *requests)
{
    return requests->wake_ms;
}

static struct run *run_of(const struct resize_requests *requests, const struct job *job)
{
    return run_table_find_own(runs_table(requests->parts.runs), job->attempt);
}

/* ---------------------------------------------------------------- a request */

/* New slots are such that all slots of the job are as its requirements say: on its
 * first host (span[hosts=1]), in whole tiles on other hosts (ptile), in whole blocks
 * (block), on hosts like those that it has (same). */

static int *hosts_of(const struct host_table *own, struct arena *arena,
                     const struct job *job)
{
    int *indexes = arena_alloc(arena, (size_t)job->n_hosts + 1, sizeof(*indexes));
    for (int i = 0; i < job->n_hosts; i++) {
        indexes[i] = host_table_find(own, job->hosts[i].host);
    }
    return indexes;
}

/* A copy of the filter, to be narrowed. */
struct narrow {
    struct place_filter filter;
    uint8_t *mask;
};

static struct narrow *narrow_new(struct arena *arena, const struct place_filter *filter,
                                 int n_hosts)
{
    struct narrow *narrow = arena_alloc(arena, 1, sizeof(*narrow));
    narrow->mask = arena_alloc(arena, (size_t)n_hosts + 1, 1);
    narrow->filter = *filter;
    memcpy(narrow->mask, filter->matches, (size_t)n_hosts);
    narrow->filter.matches = narrow->mask;
    return narrow;
}

static bool has_place(const struct place_grow *grow, int host)
{
    for (int i = 0; i < grow->n_hosts; i++) {
        if (grow->indexes[i] == host) {
            return true;
        }
    }
    return false;
}

/* The group of all hosts of the job by that resource; -1: they differ. */
static int same_group_of(const struct place_span *span, int same_index,
                         const struct place_grow *grow)
{
    int group = grow->indexes[0] >= 0 ? span->same[same_index][grow->indexes[0]] : -1;
    for (int i = 1; i < grow->n_hosts; i++) {
        int host = grow->indexes[i];
        if (host < 0 || span->same[same_index][host] != group) {
            return -1;
        }
    }
    return group;
}

/* Narrows to hosts in the group of the present ones, by the first resource by which
 * these are one group. */
static void narrow_same(const struct place_span *span, const struct place_grow *grow,
                        int n_hosts, uint8_t *mask)
{
    int same_index = 0, group = -1;
    while (same_index < span->n_same &&
           (group = same_group_of(span, same_index, grow)) < 0) {
        same_index++;
    }
    for (int i = 0; i < n_hosts; i++) {
        mask[i] = mask[i] && group >= 0 && span->same[same_index][i] == group;
    }
}

/* A job that may not use units as it likes stays on those that it has. */
static void narrow_units(const struct place_span_units *units,
                         const struct place_grow *grow, int n_hosts, uint8_t *mask)
{
    if (units->max_units == 0 && units->usable_slots == 0 && !units->is_even) {
        return;
    }
    for (int i = 0; i < n_hosts; i++) {
        bool has_unit = false;
        for (int k = 0; k < grow->n_hosts; k++) {
            int host = grow->indexes[k];
            has_unit =
                has_unit || (host >= 0 && units->unit_of[host] == units->unit_of[i]);
        }
        mask[i] = mask[i] && has_unit;
    }
}

static int largest_ptile(const struct place_span *span, const uint8_t *mask,
                         int n_hosts)
{
    int most = span->ptiles == NULL ? span->n_slots : 1;
    for (int i = 0; span->ptiles != NULL && i < n_hosts; i++) {
        most = mask[i] && span->ptiles[i] > most ? span->ptiles[i] : most;
    }
    return most;
}

/* Narrows the hosts and sets the least number of slots, so that only the last tile or
 * block is incomplete. */
static void narrow_span(struct arena *arena, const struct place_grow *grow, int n_hosts,
                        struct narrow *narrow, struct place_class *class)
{
    struct place_span *span = arena_copy(arena, narrow->filter.span, sizeof(*span));
    int least = 1;
    if (span->n_same > 0) {
        narrow_same(span, grow, n_hosts, narrow->mask);
        span->n_same = 0;
    }
    if (span->units != NULL) {
        narrow_units(span->units, grow, n_hosts, narrow->mask);
        span->units = NULL;
    }
    for (int i = 0; i < n_hosts; i++) {
        bool is_out = (span->kind == PLACE_SPAN_HOST && i != grow->indexes[0]) ||
                      (span->kind == PLACE_SPAN_PTILE && has_place(grow, i));
        narrow->mask[i] = narrow->mask[i] && !is_out;
    }
    if (span->kind == PLACE_SPAN_PTILE) {
        least = largest_ptile(span, narrow->mask, n_hosts);
    } else if (span->kind == PLACE_SPAN_BLOCK) {
        least = span->n_slots;
    }
    class->n_slots = least < class->max_slots ? least : class->max_slots;
    bool is_unrestricted =
        span->kind == PLACE_SPAN_NONE || span->kind == PLACE_SPAN_HOST;
    narrow->filter.span = is_unrestricted ? NULL : span;
}

static void narrow_hosts(struct arena *arena, int n_hosts,
                         const struct place_grow *grow, struct place_class *class)
{
    if (class->filter != NULL && class->filter->span != NULL) {
        struct narrow *narrow = narrow_new(arena, class->filter, n_hosts);
        narrow_span(arena, grow, n_hosts, narrow, class);
        class->filter = &narrow->filter;
    }
}

static void show_request(const struct host_table *own, struct pass_terms *terms,
                         struct arena *arena, struct job *job, int n_hosts,
                         struct place_class *class)
{
    struct place_grow *grow = arena_alloc(arena, 1, sizeof(*grow));
    const struct job_class_entry **entries = arena_alloc(arena, 1, sizeof(*entries));
    int *indexes = hosts_of(own, arena, job);
    *grow = (struct place_grow){.hosts = job->hosts,
                                .indexes = indexes,
                                .n_hosts = job->n_hosts,
                                .is_exclusive = job->spec->is_exclusive};
    job->entry.key = job_key(job);
    job->entry.priority = job->terms->priority;
    entries[0] = &job->entry;
    *class = (struct place_class){
        .queue = job->queue,
        .account = job->fairshare.account,
        .n_slots = 1,
        .max_slots = job_wanted_slots(job),
        .scope = HOST_SCOPE_OWN,
        .host_list = host_list_cache_get(terms->host_lists, job),
        .filter = resreq_match_filter(
            terms->match, resreq_match_find(terms->match, job->queue, job->spec)),
        .entries = entries,
        .n_entries = 1,
        .limit_class = limits_have_any(job->limit_owner) ? job->limit_owner : NULL,
        .max_starts = INT_MAX,
        .veto = queue_table_veto(terms->queues, job->queue, terms->local_ms),
        .grow = grow,
    };
    narrow_hosts(arena, n_hosts, grow, class);
    class->rusages = rusage_pass_grow_request(terms->rusages, job, indexes);
    class->n_rusages = class->rusages != NULL;
    class->rusages = limit_supply_requests(terms->rusages, class->rusages,
                                           class->n_rusages, job->limit_owner);
}

/* ---------------------------------------------------------------- in a pass */

/* True if the request may be served now. */
static bool is_due(struct resize_requests *requests, const struct job *job,
                   int64_t now_ms)
{
    const struct run *run = run_of(requests, job);
    if (job_wanted_slots(job) <= 0 || job->queue < 0 || run == NULL ||
        !runs_is_settled(requests->parts.runs, run)) {
        return false;
    }
    if (job->grow_after_ms > now_ms && job->grow_after_ms < requests->wake_ms) {
        requests->wake_ms = job->grow_after_ms;
    }
    return job->grow_after_ms <= now_ms;
}

static void make_room(struct resize_requests *requests, int n_shown)
{
    if (n_shown > requests->capacity) {
        requests->capacity = n_shown * 2;
        requests->shown = mem_grow(requests->shown, (size_t)requests->capacity,
                                   sizeof(*requests->shown));
    }
}

void resize_requests_add_classes(struct resize_requests *requests,
                                 struct pass_terms *terms, struct arena *arena,
                                 struct place_snapshot *snapshot)
{
    int n_growing = job_table_count_growing(requests->parts.jobs);
    requests->wake_ms = INT64_MAX;
    requests->n_shown = 0;
    requests->first_class = snapshot->n_classes;
    if (n_growing == 0) {
        return;
    }
    size_t n_most = (size_t)snapshot->n_classes + (size_t)n_growing;
    struct place_class *classes = arena_alloc(arena, n_most, sizeof(*classes));
    if (snapshot->n_classes > 0) {
        memcpy(classes, snapshot->classes,
               (size_t)snapshot->n_classes * sizeof(*classes));
    }
    make_room(requests, n_growing);
    for (int i = 0; i < n_growing; i++) {
        struct job *job = job_table_growing_at(requests->parts.jobs, i);
        if (is_due(requests, job, snapshot->now_ms)) {
            show_request(requests->parts.hosts, terms, arena, job, snapshot->n_hosts,
                         &classes[snapshot->n_classes++]);
            requests->shown[requests->n_shown++].job = job_key(job);
        }
    }
    snapshot->classes = classes;
}

void resize_requests_set_verdicts(struct resize_requests *requests,
                                  const struct pending_verdict *verdicts)
{
    for (int i = 0; i < requests->n_shown; i++) {
        requests->shown[i].verdict = verdicts[requests->first_class + i];
    }
}

const struct pending_verdict *
resize_requests_verdict(const struct resize_requests *requests, const struct job *job)
{
    for (int i = 0; i < requests->n_shown; i++) {
        if (requests->shown[i].job == job_key(job)) {
            return &requests->shown[i].verdict;
        }
    }
    return NULL;
}

void resize_requests_reload(struct resize_requests *requests,
                            const struct site_config *config)
{
    requests->parts.config = config;
    requests->n_shown = 0;
}

/* ---------------------------------------------------------------- execution */

static const char *command_of(const struct resize_requests *requests,
                              const struct job *job)
{
    const struct site_config *config = requests->parts.config;
    const struct application *app =
        application_find(config->applications, config->n_applications, job->spec->app);
    if (job->terms->resize_notify[0] != '\0') {
        return job->terms->resize_notify;
    }
    return app != NULL ? app->resize_notify : "";
}

/* The recorded resize as a message to the host. */
static struct msg_run_resize message_of(const struct resize_requests *requests,
                                        struct arena *arena, const struct job *job,
                                        const struct run *run)
{
    const struct job_resize *resize = &job->resize;
    struct msg_run_resize message = {
        .run = run->id,
        .number = resize->number,
        .event = resize->event,
        .hosts = resize->hosts,
        .n_hosts = resize->n_hosts,
        .all = job->hosts,
        .n_all = job->n_hosts,
        .command = command_of(requests, job),
    };
    if (resize->event == RESIZE_SHRINK) {
        struct allocation rest = allocation_take(arena, job->hosts, job->n_hosts,
                                                 resize->hosts, resize->n_hosts);
        message.all = rest.hosts;
        message.n_all = rest.n_hosts;
    }
    return message;
}

static void start_resize(struct resize_requests *requests, struct job *job,
                         const struct job_resize *resize,
                         const struct host_slots *hosts, int n_hosts, int64_t now_ms,
                         struct effects *effects)
{
    struct run *run = run_of(requests, job);
    job_table_resize(requests->parts.jobs, job, hosts, n_hosts, resize);
    job_store(job, effects);
    struct msg_run_resize message = message_of(requests, &effects->arena, job, run);
    runs_resize(requests->parts.runs, run, &message, now_ms, effects);
}

void resize_requests_grow(struct resize_requests *requests, struct job *job,
                          const struct place_start *more, int64_t now_ms,
                          struct effects *effects)
{
    struct allocation hosts = allocation_add(&effects->arena, job->hosts, job->n_hosts,
                                             more->hosts, more->n_hosts);
    struct job_resize resize = job->resize;
    if (job->is_victim) {
        pass_request_set(
            requests->parts.pass_request); /* its slots are given to other jobs */
        return;
    }
    resize.number++;
    resize.event = RESIZE_GROW;
    resize.hosts = more->hosts;
    resize.n_hosts = more->n_hosts;
    accept_times_set(requests->parts.accept_times, more->hosts, more->n_hosts, now_ms);
    start_resize(requests, job, &resize, hosts.hosts, hosts.n_hosts, now_ms, effects);
}

void resize_requests_shrink(struct resize_requests *requests, struct job *job,
                            const struct host_slots *gone, int n_gone, int max_slots,
                            int64_t now_ms, struct effects *effects)
{
    struct job_resize resize = {.number = job->resize.number + 1,
                                .event = RESIZE_SHRINK,
                                .hosts = gone,
                                .n_hosts = n_gone,
                                .max_slots = max_slots};
    start_resize(requests, job, &resize, job->hosts, job->n_hosts, now_ms, effects);
}

void resize_requests_set_max(struct resize_requests *requests, struct job *job,
                             int max_slots, struct effects *effects)
{
    struct job_resize resize = job->resize;
    resize.max_slots = max_slots;
    job->grow_after_ms = 0;
    job_table_resize(requests->parts.jobs, job, job->hosts, job->n_hosts, &resize);
    job_store(job, effects);
    pass_request_set(requests->parts.pass_request);
}

void resize_requests_restore(const struct resize_requests *requests,
                             const struct job *job, struct run *run)
{
    struct arena arena;
    if (job->resize.event == RESIZE_NONE) {
        return;
    }
    arena_init(&arena);
    struct msg_run_resize message = message_of(requests, &arena, job, run);
    runs_resize_again(run, &message);
    arena_release(&arena);
}

/* ---------------------------------------------------------------- answers */

static const char *describe(struct arena *arena, const struct job_resize *resize,
                            int code)
{
    const char *hosts = allocation_text(arena, resize->hosts, resize->n_hosts);
    int n_slots = msg_sum_slots(resize->hosts, resize->n_hosts);
    const char *what =
        arena_printf(arena, "%d slot%s %s: %s", n_slots, n_slots == 1 ? "" : "s",
                     resize->event == RESIZE_GROW ? "more" : "less", hosts);
    if (code == RESIZE_NOT_NOW) {
        return arena_printf(arena, "%s: not now, the job cannot be notified", what);
    }
    return code == 0 ? what
                     : arena_printf(arena,
                                    "%s: not wanted, its resize notification command "
                                    "exited with %d",
                                    what, code);
}

/* The request after a refused shrink. */
static int wanted_after_refusal(const struct job *job)
{
    const struct job_resize *resize = &job->resize;
    return resize->max_slots > 0
               ? resize->max_slots + msg_sum_slots(resize->hosts, resize->n_hosts)
               : 0;
}

/* The host tells the code of the last resize. If the journal has lost later ones, the
 * code of this one is not known, and the job keeps all slots that it may have. */
static int code_of(const struct job *job, const struct run *run)
{
    if (run->resize_done == job->resize.number) {
        return run->resize_code;
    }
    return job->resize.event == RESIZE_GROW ? 0 : RESIZE_NOT_NOW;
}

/* Slots that the run has and that are not on record (runs_orphan_found) are the job's,
 * and no number of a lost resize is used again. */
static void keep_found(struct arena *arena, const struct job *job,
                       const struct run *run, struct allocation *hosts,
                       struct job_resize *over)
{
    struct allocation found =
        allocation_take(arena, run->hosts, run->n_hosts, job->hosts, job->n_hosts);
    *hosts =
        allocation_add(arena, hosts->hosts, hosts->n_hosts, found.hosts, found.n_hosts);
    if (found.n_hosts > 0 || run->resize_done > over->number) {
        over->number = run->resize_done + 1; /* it may be on its way to the guard */
    }
}

void resize_requests_answered(struct resize_requests *requests, struct job *job,
                              struct run *run, int64_t now_ms, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    int code = code_of(job, run);
    bool is_growth = job->resize.event == RESIZE_GROW;
    const char *what = describe(arena, &job->resize, code);
    struct job_resize over = {.number = job->resize.number,
                              .max_slots = job->resize.max_slots};
    struct allocation hosts =
        allocation_take(arena, job->hosts, job->n_hosts, job->resize.hosts,
                        is_growth == (code == 0) ? 0 : job->resize.n_hosts);
    if (code != 0 && is_growth) {
        job->grow_after_ms = now_ms + RETRY_MS;
        job->is_growth_unannounced = code == RESIZE_NOT_NOW;
    } else if (code != 0) {
        over.max_slots = wanted_after_refusal(job);
    }
    keep_found(arena, job, run, &hosts, &over);
    job_table_resize(requests->parts.jobs, job, hosts.hosts, hosts.n_hosts, &over);
    job_store(job, effects);
    history_resized(requests->parts.history, job, what, effects);
    pass_request_set(requests->parts.pass_request);
    /* A pending control may end the job in the call. */
    runs_finish_resize(requests->parts.runs, run, job->hosts, job->n_hosts, now_ms,
                       effects);
}
