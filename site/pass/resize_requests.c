/* SPDX-License-Identifier: Apache-2.0 */
/* resize_requests.c: see resize_requests.h. */
#include "site/pass/resize_requests.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "sched/queue/application.h"
#include "site/job/history.h"
#include "site/pass/resize_snapshot.h"
#include "site/run/allocation.h"

enum { RETRY_MS = 60000 }; /* after slots that were not wanted */

struct shown {
    uint64_t job;
    struct pending_verdict verdict;
};

struct resize_requests {
    struct resize_requests_parts parts;
    struct shown *shown; /* of the last pass, in the order of its lines */
    int n_shown, capacity;
    int first_line; /* of those, among the pass's */
    int64_t wake_ms;
};

struct resize_requests *resize_requests_new(const struct resize_requests_parts *parts)
{
    struct resize_requests *resizes = mem_alloc(1, sizeof(*resizes));
    resizes->parts = *parts;
    resizes->wake_ms = INT64_MAX;
    return resizes;
}

void resize_requests_free(struct resize_requests *resizes)
{
    if (resizes != NULL) {
        free(resizes->shown);
        free(resizes);
    }
}

int64_t resize_requests_wake_ms(const struct resize_requests *resizes)
{
    return resizes->wake_ms;
}

static struct run *run_of(const struct resize_requests *resizes, const struct job *job)
{
    return run_table_find_own(runs_table(resizes->parts.runs), job->attempt);
}

/* ---------------------------------------------------------------- in a pass */

/* It may have more now. Who waits after a refusal is looked at then. */
static bool is_due(struct resize_requests *resizes, const struct job *job,
                   int64_t now_ms)
{
    const struct run *run = run_of(resizes, job);
    if (job_wanted_slots(job) <= 0 || job->queue < 0 || run == NULL ||
        !runs_is_settled(resizes->parts.runs, run)) {
        return false;
    }
    if (job->grow_after_ms > now_ms && job->grow_after_ms < resizes->wake_ms) {
        resizes->wake_ms = job->grow_after_ms;
    }
    return job->grow_after_ms <= now_ms;
}

static void make_room(struct resize_requests *resizes, int n_shown)
{
    if (n_shown > resizes->capacity) {
        resizes->capacity = n_shown * 2;
        resizes->shown = mem_grow(resizes->shown, (size_t)resizes->capacity,
                                  sizeof(*resizes->shown));
    }
}

void resize_requests_add_classes(struct resize_requests *resizes,
                                 const struct pass_terms *terms, struct arena *arena,
                                 struct place_snapshot *snapshot, int64_t now_ms)
{
    int n_growing = job_table_count_growing(resizes->parts.jobs);
    resizes->wake_ms = INT64_MAX;
    resizes->n_shown = 0;
    resizes->first_line = snapshot->n_classes;
    if (n_growing == 0) {
        return;
    }
    size_t n_most = (size_t)snapshot->n_classes + (size_t)n_growing;
    struct place_class *lines = arena_alloc(arena, n_most, sizeof(*lines));
    if (snapshot->n_classes > 0) {
        memcpy(lines, snapshot->classes, (size_t)snapshot->n_classes * sizeof(*lines));
    }
    make_room(resizes, n_growing);
    for (int i = 0; i < n_growing; i++) {
        struct job *job = job_table_growing_at(resizes->parts.jobs, i);
        if (is_due(resizes, job, now_ms)) {
            resize_snapshot_make(resizes->parts.hosts, terms, arena, job,
                                 snapshot->n_hosts, &lines[snapshot->n_classes++]);
            resizes->shown[resizes->n_shown++].job = job_key(job);
        }
    }
    snapshot->classes = lines;
}

void resize_requests_set_verdicts(struct resize_requests *resizes,
                                  const struct pending_verdict *verdicts)
{
    for (int i = 0; i < resizes->n_shown; i++) {
        resizes->shown[i].verdict = verdicts[resizes->first_line + i];
    }
}

const struct pending_verdict *
resize_requests_verdict(const struct resize_requests *resizes, const struct job *job)
{
    for (int i = 0; i < resizes->n_shown; i++) {
        if (resizes->shown[i].job == job_key(job)) {
            return &resizes->shown[i].verdict;
        }
    }
    return NULL;
}

void resize_requests_reload(struct resize_requests *resizes,
                            const struct site_config *config)
{
    resizes->parts.config = config;
    resizes->n_shown = 0;
}

/* ---------------------------------------------------------------- carried out */

static const char *command_of(const struct resize_requests *resizes,
                              const struct job *job)
{
    const struct site_config *config = resizes->parts.config;
    const struct application *app =
        application_find(config->applications, config->n_applications, job->spec->app);
    if (job->terms->resize_notify[0] != '\0') {
        return job->terms->resize_notify;
    }
    return app != NULL ? app->resize_notify : "";
}

/* What is on record of the job's resize, as its host is told. */
static struct msg_run_resize order_of(const struct resize_requests *resizes,
                                      struct arena *arena, const struct job *job,
                                      const struct run *run)
{
    const struct job_resize *resize = &job->resize;
    struct msg_run_resize order = {
        .run = run->id,
        .number = resize->number,
        .event = resize->event,
        .hosts = resize->hosts,
        .n_hosts = resize->n_hosts,
        .all = job->hosts,
        .n_all = job->n_hosts,
        .command = command_of(resizes, job),
    };
    if (resize->event == RESIZE_SHRINK) {
        struct allocation rest = allocation_take(arena, job->hosts, job->n_hosts,
                                                 resize->hosts, resize->n_hosts);
        order.all = rest.hosts;
        order.n_all = rest.n_hosts;
    }
    return order;
}

static void begin(struct resize_requests *resizes, struct job *job,
                  const struct job_resize *resize, const struct host_slots *hosts,
                  int n_hosts, int64_t now_ms, struct effects *effects)
{
    struct run *run = run_of(resizes, job);
    job_table_resize(resizes->parts.jobs, job, hosts, n_hosts, resize);
    job_store(job, effects);
    struct msg_run_resize order = order_of(resizes, &effects->arena, job, run);
    runs_resize(resizes->parts.runs, run, &order, now_ms, effects);
}

void resize_requests_grow(struct resize_requests *resizes, struct job *job,
                          const struct place_start *more, int64_t now_ms,
                          struct effects *effects)
{
    struct allocation hosts = allocation_add(&effects->arena, job->hosts, job->n_hosts,
                                             more->hosts, more->n_hosts);
    struct job_resize resize = job->resize;
    if (job->is_victim) {
        pass_request_set(resizes->parts.pass_request); /* its slots are others' */
        return;
    }
    resize.number++;
    resize.event = RESIZE_GROW;
    resize.hosts = more->hosts;
    resize.n_hosts = more->n_hosts;
    accept_times_set(resizes->parts.accepts, more->hosts, more->n_hosts, now_ms);
    begin(resizes, job, &resize, hosts.hosts, hosts.n_hosts, now_ms, effects);
}

void resize_requests_shrink(struct resize_requests *resizes, struct job *job,
                            const struct host_slots *gone, int n_gone, int max_slots,
                            int64_t now_ms, struct effects *effects)
{
    struct job_resize resize = {.number = job->resize.number + 1,
                                .event = RESIZE_SHRINK,
                                .hosts = gone,
                                .n_hosts = n_gone,
                                .max_slots = max_slots};
    begin(resizes, job, &resize, job->hosts, job->n_hosts, now_ms, effects);
}

void resize_requests_set_max(struct resize_requests *resizes, struct job *job,
                             int max_slots, struct effects *effects)
{
    struct job_resize resize = job->resize;
    resize.max_slots = max_slots;
    job->grow_after_ms = 0;
    job_table_resize(resizes->parts.jobs, job, job->hosts, job->n_hosts, &resize);
    job_store(job, effects);
    pass_request_set(resizes->parts.pass_request);
}

void resize_requests_restore(const struct resize_requests *resizes,
                             const struct job *job, struct run *run)
{
    struct arena arena;
    if (job->resize.event == RESIZE_NONE) {
        return;
    }
    arena_init(&arena);
    struct msg_run_resize order = order_of(resizes, &arena, job, run);
    runs_resize_again(run, &order);
    arena_release(&arena);
}

/* ---------------------------------------------------------------- answered */

static const char *told(struct arena *arena, const struct job_resize *resize, int code)
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

/* What it asks for after slots that it was to give up stay its own. */
static int wish_again(const struct job *job)
{
    const struct job_resize *resize = &job->resize;
    return resize->max_slots > 0
               ? resize->max_slots + msg_sum_slots(resize->hosts, resize->n_hosts)
               : 0;
}

void resize_requests_answered(struct resize_requests *resizes, struct job *job,
                              struct run *run, int64_t now_ms, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    int code = run->resize_code;
    bool is_growth = job->resize.event == RESIZE_GROW;
    const char *what = told(arena, &job->resize, code);
    struct job_resize over = {.number = job->resize.number,
                              .max_slots = job->resize.max_slots};
    struct allocation hosts =
        allocation_take(arena, job->hosts, job->n_hosts, job->resize.hosts,
                        is_growth == (code == 0) ? 0 : job->resize.n_hosts);
    if (code != 0 && is_growth) {
        job->grow_after_ms = now_ms + RETRY_MS;
        job->is_untold = code == RESIZE_NOT_NOW;
    } else if (code != 0) {
        over.max_slots = wish_again(job);
    }
    job_table_resize(resizes->parts.jobs, job, hosts.hosts, hosts.n_hosts, &over);
    job_store(job, effects);
    history_resized(resizes->parts.history, job, what, effects);
    pass_request_set(resizes->parts.pass_request);
    /* An order that waited may end the job in the call. */
    runs_finish_resize(resizes->parts.runs, run, job->hosts, job->n_hosts, now_ms,
                       effects);
}
