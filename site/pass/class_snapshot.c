/* SPDX-License-Identifier: Apache-2.0 */
/* class_snapshot.c: see class_snapshot.h. */
#include "site/pass/class_snapshot.h"

#include <limits.h>
#include <stdlib.h>

#include "site/job/submission.h"

/* The first job of the class with the same index. */
struct cached_class {
    uint64_t generation; /* of the class; 0: unused */
    const struct job *first;
    const struct match_class *match; /* NULL: not looked up yet */
    bool has_own_terms;    /* it has -m, -R, an application or avoided hosts */
    bool is_array_limited; /* its array limits the number of open jobs */
    int64_t ends_in_ms; /* it must end before the run window closes; 0: it need not */
};

/* What the classes of a queue have in common, unless they have terms of their own. */
struct queue_terms {
    bool is_known;
    enum pending_reason veto;
    const struct place_filter *filter;
    const struct rusage_request *rusages;
    int n_rusages;
};

struct class_snapshot {
    struct cached_class *cached;
    struct place_class *classes;
    int capacity;
};

struct class_snapshot *class_snapshot_new(void)
{
    return mem_alloc(1, sizeof(struct class_snapshot));
}

void class_snapshot_free(struct class_snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    free(snapshot->cached);
    free(snapshot->classes);
    free(snapshot);
}

void class_snapshot_forget_matches(struct class_snapshot *snapshot)
{
    for (int i = 0; i < snapshot->capacity; i++) {
        snapshot->cached[i].match = NULL;
    }
}

static void make_room(struct class_snapshot *snapshot, int n_classes)
{
    int capacity = snapshot->capacity == 0 ? 8 : snapshot->capacity;
    if (n_classes <= snapshot->capacity) {
        return;
    }
    while (capacity < n_classes) {
        capacity *= 2;
    }
    snapshot->cached =
        mem_grow(snapshot->cached, (size_t)capacity, sizeof(*snapshot->cached));
    snapshot->classes =
        mem_grow(snapshot->classes, (size_t)capacity, sizeof(*snapshot->classes));
    for (int i = snapshot->capacity; i < capacity; i++) {
        snapshot->cached[i].generation = 0;
    }
    snapshot->capacity = capacity;
}

/* How long a job may run in a gap, wherever it starts; 0: it does not use gaps, or has
 * no run limit. */
static int64_t backfill_ms_of(const struct job *job, const struct site_config *config)
{
    struct job_rules_stack stack =
        site_config_rules_stack(config, job->queue, job->spec->app);
    return config->queues[job->queue].reservation.is_backfill
               ? job_rules_run_limit(&stack, job->spec, job->terms,
                                     site_config_least_cpu_factor(config))
               : 0;
}

/* How long a job may run where a closing window would interrupt it, on the slowest
 * host: its run limit, or else its CPU limit if it uses all its slots; 0: unknown. */
static int64_t ends_in_ms_of(const struct job *job, const struct site_config *config)
{
    struct job_rules_stack stack =
        site_config_rules_stack(config, job->queue, job->spec->app);
    double factor = site_config_least_cpu_factor(config);
    struct job_spec spec = *job->spec;
    struct job_rlimits limits;
    struct arena arena;
    if (!queue_table_has_deadline(&config->queues[job->queue])) {
        return 0;
    }
    int64_t ends_in_ms = job_rules_run_limit(&stack, job->spec, job->terms, factor);
    if (ends_in_ms > 0) {
        return ends_in_ms;
    }
    arena_init(&arena);
    job_rules_apply(&arena, &stack, factor, &spec);
    if (job_rlimits_read(spec.limits, spec.n_limits, &limits, NULL) == 0 &&
        limits.values[JOB_RLIMIT_CPU] != JOB_RLIMIT_NONE) {
        ends_in_ms = limits.values[JOB_RLIMIT_CPU] / spec.n_slots;
    }
    arena_release(&arena);
    return ends_in_ms;
}

/* Reads what does not change while that job is the first: a job leaves its class before
 * it changes (job_parts.h). */
static void read_first(struct cached_class *cached, struct place_class *class,
                       const struct job_class_view *view,
                       const struct site_config *config)
{
    const struct job *first = job_of_entry(view->entries[0]);
    const struct job_spec *spec = first->spec;
    cached->generation = view->generation;
    cached->first = first;
    cached->match = NULL;
    cached->has_own_terms = spec->n_hosts_asked > 0 || spec->n_res_reqs > 0 ||
                            first->avoided != NULL || spec->app[0] != '\0';
    cached->is_array_limited = first->submission->max_open > 0;
    cached->ends_in_ms = ends_in_ms_of(first, config);
    *class = (struct place_class){
        .queue = first->queue,
        .account = first->fairshare.account,
        .n_slots = spec->n_slots,
        .max_slots = first->terms->max_slots,
        .scope = job_reads_file(spec)                    ? HOST_SCOPE_OWN
                 : spec->interaction != INTERACTION_NONE ? HOST_SCOPE_INTERACTIVE
                                                         : HOST_SCOPE_ANY,
        .limit_class = limits_have_any(first->limit_owner) ? first->limit_owner : NULL,
        .max_starts = INT_MAX,
        .app = spec->app,
        .waiting_since_ms = first->submit_ms,
        .backfill_ms = backfill_ms_of(first, config),
        .backfill_slice_ms = config->queues[first->queue].reservation.backfill_slice_ms,
    };
}

/* `first` is the first job of a class without own terms. */
static const struct queue_terms *
terms_of(struct queue_terms *all, struct pass_terms *from, const struct job *first)
{
    struct queue_terms *terms = &all[first->queue];
    if (!terms->is_known) {
        terms->is_known = true;
        terms->veto = queue_table_veto(from->queues, first->queue, from->local_ms);
        const struct match_class *match =
            resreq_match_find(from->match, first->queue, first->spec);
        terms->filter = resreq_match_filter(from->match, match);
        terms->rusages = resreq_match_rusages(from->match, match, &terms->n_rusages);
    }
    return terms;
}

static void read_own_terms(struct cached_class *cached, struct place_class *class,
                           struct pass_terms *from)
{
    const struct job *first = cached->first;
    if (cached->match == NULL) {
        cached->match = resreq_match_find(from->match, first->queue, first->spec);
    }
    class->veto = queue_table_veto(from->queues, first->queue, from->local_ms);
    class->host_list = host_list_cache_get(from->host_lists, first);
    class->filter = resreq_match_filter(from->match, cached->match);
    class->rusages =
        resreq_match_rusages(from->match, cached->match, &class->n_rusages);
}

static void read_queue_terms(const struct cached_class *cached,
                             struct place_class *class, struct queue_terms *queues,
                             struct pass_terms *from)
{
    const struct queue_terms *common = queues[class->queue].is_known
                                           ? &queues[class->queue]
                                           : terms_of(queues, from, cached->first);
    class->veto = common->veto;
    class->filter = common->filter;
    class->rusages = common->rusages;
    class->n_rusages = common->n_rusages;
}

const struct place_class *class_snapshot_update(struct class_snapshot *snapshot,
                                                const struct job_table *jobs,
                                                const struct site_config *config,
                                                struct pass_terms *terms,
                                                struct arena *arena, int *n_classes)
{
    const struct job_class_set *all = job_table_classes(jobs);
    const struct job_class_view *views = job_class_set_views(all);
    struct queue_terms *queues =
        arena_alloc(arena, (size_t)config->n_queues, sizeof(*queues));
    *n_classes = job_class_set_count(all);
    make_room(snapshot, *n_classes);
    host_list_cache_begin_pass(terms->host_lists);
    for (int i = 0; i < *n_classes; i++) {
        struct cached_class *cached = &snapshot->cached[i];
        struct place_class *class = &snapshot->classes[i];
        if (cached->generation != views[i].generation) {
            read_first(cached, class, &views[i], config);
        }
        class->entries = (const struct job_class_entry *const *)views[i].entries;
        class->n_entries = views[i].n_entries;
        if (cached->is_array_limited) {
            class->max_starts = job_array_room(cached->first);
        }
        if (cached->has_own_terms) {
            read_own_terms(cached, class, terms);
        } else {
            read_queue_terms(cached, class, queues, terms);
        }
        if (class->veto == REASON_NEW && cached->ends_in_ms > 0 &&
            cached->ends_in_ms >
                queue_table_closes_ms(terms->queues, class->queue, terms->local_ms) -
                    terms->local_ms) {
            class->veto = REASON_DEADLINE;
        }
        class->is_exclusive = cached->first->spec->is_exclusive ||
                              (class->filter != NULL &&
                               place_span_exclusive_units(class->filter->span) != NULL);
        class->rusages =
            limit_supply_requests(terms->rusages, class->rusages, class->n_rusages,
                                  cached->first->limit_owner);
    }
    return snapshot->classes;
}
