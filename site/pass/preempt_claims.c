/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_claims.c: see pass.h. */
#include "site/pass/pass.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "model/record.h"
#include "site/lifecycle/lifecycle.h"
#include "site/pass/capacity.h"

/* Limits the preempting jobs of one pass: the site must answer its hosts between
 * passes, and the next pass sees which jobs were suspended. */
enum { CLAIMS_PER_PASS_MAX = 200 };

struct claim {
    uint64_t job;
    char *lease;
    struct host_slots *hosts;
    int n_hosts;
    char *reserved; /* the rusage to record with the job when it starts; "": none */
    int64_t since_ms;
};

/* The index of the first host of a running job in the last snapshot. It is tried first
 * in the next one, because most jobs stay where they are. */
struct last_host {
    uint64_t attempt;
    int place;
};

struct preempt_claims {
    struct preempt_claims_parts parts;
    struct claim *items; /* in the order in which they were made */
    int count, capacity;
    struct last_host *last_hosts; /* by attempt */
    int n_last_hosts;
    struct preempt_job *running; /* of the last list; an arena would clear it first */
    int running_capacity;        /* of both */
    int64_t
        protection_ends_ms; /* when a time that protects a job from preemption ends */
    int64_t give_up_ms;
    struct kept_slots *kept; /* of the last pass */
    int n_kept;
    int64_t gap_ends_ms;  /* when a job that was resumed in a gap has to be looked at */
    int64_t keep_ends_ms; /* when a time in which slots are kept, or are not, ends */
    uint64_t n_preempted;
};

struct preempt_claims *preempt_claims_new(const struct preempt_claims_parts *parts)
{
    struct preempt_claims *claims = mem_alloc(1, sizeof(*claims));
    claims->parts = *parts;
    claims->protection_ends_ms = claims->give_up_ms = INT64_MAX;
    claims->keep_ends_ms = INT64_MAX;
    return claims;
}

void preempt_claims_reload(struct preempt_claims *claims,
                           const struct site_config *config, struct limits *limits)
{
    claims->parts.config = config;
    claims->parts.limits = limits;
}

static void claim_release(struct claim *claim)
{
    dup_free(claim->lease);
    free(claim->hosts);
    dup_free(claim->reserved);
}

void preempt_claims_free(struct preempt_claims *claims)
{
    if (claims == NULL) {
        return;
    }
    for (int i = 0; i < claims->count; i++) {
        claim_release(&claims->items[i]);
    }
    free(claims->items);
    free(claims->last_hosts);
    free(claims->running);
    free(claims->kept);
    free(claims);
}

int64_t preempt_claims_wake_ms(const struct preempt_claims *claims)
{
    int64_t wake_ms = claims->protection_ends_ms < claims->give_up_ms
                          ? claims->protection_ends_ms
                          : claims->give_up_ms;
    wake_ms = claims->keep_ends_ms < wake_ms ? claims->keep_ends_ms : wake_ms;
    return claims->gap_ends_ms < wake_ms ? claims->gap_ends_ms : wake_ms;
}

bool preempt_claims_is_empty(const struct preempt_claims *claims)
{
    return claims->count == 0 && claims->n_kept == 0;
}

uint64_t preempt_claims_count_preempted(const struct preempt_claims *claims)
{
    return claims->n_preempted;
}

/* ---------------------------------------------------------------- claims */

static int left_on(const struct place_host *host, bool is_exclusive)
{
    bool is_open = host->is_open && !host->is_used_exclusively && !host->is_held;
    if (is_exclusive && (host->used > 0 || host->is_shared)) {
        return 0;
    }
    return is_open && host->max > host->used ? host->max - host->used : 0;
}

/* NULL if the job no longer pends, may not start, or has waited for its slots for
 * PREEMPTION_WAIT_TIME. */
static struct job *claimant(const struct preempt_claims *claims,
                            const struct claim *claim, int64_t now_ms, int64_t local_ms)
{
    struct job *job = job_table_find(claims->parts.jobs, claim->job);
    bool is_waiting = job != NULL && job->pending_class != NULL && job->queue >= 0;
    bool is_late = now_ms - claim->since_ms >= claims->parts.config->preempt.wait_ms;
    return is_waiting && !is_late && job_array_room(job) > 0 &&
                   queue_table_veto(claims->parts.queues, job->queue, local_ms) ==
                       REASON_NEW
               ? job
               : NULL;
}

/* `places`: the indexes of the claim's hosts; -1: a host is gone. */
static bool is_free(const struct claim *claim, const int *places,
                    const struct place_host *hosts, bool is_exclusive)
{
    for (int i = 0; i < claim->n_hosts; i++) {
        int host = places[i];
        if (host < 0 || left_on(&hosts[host], is_exclusive) < claim->hosts[i].n_slots) {
            return false;
        }
    }
    return true;
}

/* Limits may have filled up meanwhile. */
static bool is_allowed(const struct preempt_claims *claims, const struct job *job,
                       const struct claim *claim, const int *places,
                       const struct place_host *hosts)
{
    struct limits_tentative *tentative = limits_tentative_new(claims->parts.limits);
    const struct limit *limit;
    bool may =
        limits_slots_left(tentative, job->limit_owner, &limit) >= job->spec->n_slots;
    for (int i = 0; may && i < claim->n_hosts; i++) {
        const struct place_host *at = &hosts[places[i]];
        int n_processors = at->n_processors > 0 ? at->n_processors : at->max;
        may = limits_slots_left_on(tentative, job->limit_owner, at->name, n_processors,
                                   claim->hosts, i, &limit) >= claim->hosts[i].n_slots;
    }
    limits_tentative_free(tentative);
    return may;
}

/* Counts the free slots of the claim as used; the hosts of an exclusive job as a whole.
 */
static void use_slots(const struct claim *claim, const int *places,
                      struct place_host *hosts, bool is_exclusive)
{
    for (int i = 0; i < claim->n_hosts; i++) {
        if (places[i] >= 0) {
            struct place_host *host = &hosts[places[i]];
            int left = left_on(host, false);
            host->used +=
                left < claim->hosts[i].n_slots ? left : claim->hosts[i].n_slots;
            host->is_used_exclusively = host->is_used_exclusively || is_exclusive;
        }
    }
}

static void start(struct preempt_claims *claims, struct job *job,
                  const struct claim *claim, int64_t now_ms, struct effects *effects)
{
    struct place_start start = {
        .job = claim->job,
        .lease = arena_str(&effects->arena, claim->lease),
        .hosts =
            arena_alloc(&effects->arena, (size_t)claim->n_hosts, sizeof(*start.hosts)),
        .n_hosts = claim->n_hosts,
    };
    for (int i = 0; i < claim->n_hosts; i++) {
        start.hosts[i].host = arena_str(&effects->arena, claim->hosts[i].host);
        start.hosts[i].n_slots = claim->hosts[i].n_slots;
    }
    job_dispatch_start(claims->parts.life, job, &start, claim->reserved, now_ms,
                       effects);
}

/* False if the claim is over. */
static bool update_claim(struct preempt_claims *claims, const struct claim *claim,
                         struct place_host *hosts, int n_hosts,
                         struct rusage_pass *rusage_pass, int64_t now_ms,
                         int64_t local_ms, struct effects *effects)
{
    struct job *job = claimant(claims, claim, now_ms, local_ms);
    if (job == NULL) {
        return false;
    }
    bool is_exclusive = job->spec->is_exclusive;
    const int *places =
        capacity_find_hosts(claims->parts.hosts, &effects->arena, hosts, n_hosts,
                            claim->lease, claim->hosts, claim->n_hosts);
    bool has_all = is_free(claim, places, hosts, is_exclusive) &&
                   rusage_pass_has(rusage_pass, job->limit_owner, claim->reserved,
                                   claim->lease, claim->hosts, claim->n_hosts);
    if (has_all && !is_allowed(claims, job, claim, places, hosts)) {
        return false;
    }
    use_slots(claim, places, hosts, is_exclusive);
    rusage_pass_reserve(rusage_pass, job->limit_owner, claim->reserved, claim->lease,
                        claim->hosts, claim->n_hosts);
    if (has_all) {
        start(claims, job, claim, now_ms, effects);
    }
    return !has_all;
}

static void mark_claimed(struct preempt_claims *claims, uint64_t key, bool has_claim)
{
    struct job *job = job_table_find(claims->parts.jobs, key);
    if (job != NULL) {
        job->has_claim = has_claim;
    }
}

/* ---------------------------------------------------------------- gaps */

/* The job whose reserved slots the backfill job uses, or used, still pends. */
static bool has_lender(const struct preempt_claims *claims, const struct job *job)
{
    const struct job *lender =
        job->backfill.lender != 0
            ? job_table_find(claims->parts.jobs, job->backfill.lender)
            : NULL;
    return lender != NULL && lender->state == JOB_PEND;
}

/* A run that its gap has cut short counts only the time in RUN. If it was suspended
 * meanwhile, it is suspended again when its gap is over. */
static void end_gaps(struct preempt_claims *claims, int64_t now_ms,
                     struct effects *effects)
{
    if (now_ms < claims->gap_ends_ms) {
        return;
    }
    claims->gap_ends_ms = INT64_MAX;
    /* Backwards, since a job that is terminated may end in the loop. */
    for (int i = job_table_count_open(claims->parts.jobs) - 1; i >= 0; i--) {
        struct job *job = job_table_open_at(claims->parts.jobs, i);
        int64_t until_ms = job->backfill.until_ms;
        bool is_running = job->state == JOB_RUN && !job->is_killed &&
                          !job_is_requeued(job) && job->is_decided;
        if (!is_running || !job_is_in_gap(job) || job->suspension.resumed_ms == 0 ||
            !job_is_run_limit_cut(job, now_ms) || !has_lender(claims, job)) {
            continue;
        }
        if (now_ms >= until_ms) {
            suspend_or_terminate(claims->parts.life, job, SUSPEND_PREEMPT,
                                 job->backfill.lender, now_ms, effects);
        } else if (until_ms < claims->gap_ends_ms) {
            claims->gap_ends_ms = until_ms;
        }
    }
}

void preempt_claims_note_resumed(struct preempt_claims *claims, const struct job *job)
{
    if (job->backfill.lender != 0 && job->backfill.until_ms < claims->gap_ends_ms) {
        claims->gap_ends_ms = job->backfill.until_ms;
    }
}

/* ---------------------------------------------------------------- before a pass */

void preempt_claims_begin_pass(struct preempt_claims *claims, struct place_host *hosts,
                               int n_hosts, struct rusage_pass *rusage_pass,
                               int64_t now_ms, int64_t local_ms,
                               struct effects *effects)
{
    int n_left = 0;
    claims->give_up_ms = INT64_MAX;
    end_gaps(claims, now_ms, effects);
    for (int i = 0; i < claims->count; i++) {
        struct claim claim = claims->items[i];
        if (!update_claim(claims, &claim, hosts, n_hosts, rusage_pass, now_ms, local_ms,
                          effects)) {
            mark_claimed(claims, claim.job, false);
            claim_release(&claim);
            continue;
        }
        int64_t until_ms = claim.since_ms + claims->parts.config->preempt.wait_ms;
        claims->give_up_ms =
            until_ms < claims->give_up_ms ? until_ms : claims->give_up_ms;
        claims->items[n_left++] = claim;
    }
    claims->count = n_left;
}

static void add_claim(struct preempt_claims *claims, const struct preempt_claim *from,
                      const char *reserved, int64_t now_ms)
{
    if (claims->count == claims->capacity) {
        claims->capacity = claims->capacity == 0 ? 16 : claims->capacity * 2;
        claims->items =
            mem_grow(claims->items, (size_t)claims->capacity, sizeof(*claims->items));
    }
    claims->items[claims->count++] = (struct claim){
        .job = from->job,
        .lease = dup_text(from->lease),
        .hosts = record_dup_list(&schema_run_slots, from->hosts, from->n_hosts),
        .n_hosts = from->n_hosts,
        .reserved = dup_text(reserved),
        .since_ms = now_ms};
}

/* ---------------------------------------------------------------- resumes */

struct resumable {
    const struct job *job;
    int priority;
};

static int compare_resumable(const void *left, const void *right)
{
    const struct resumable *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->job->suspension.since_ms != b->job->suspension.since_ms) {
        return a->job->suspension.since_ms < b->job->suspension.since_ms ? -1 : 1;
    }
    uint64_t a_key = job_key(a->job), b_key = job_key(b->job);
    return a_key < b_key ? -1 : a_key > b_key;
}

/* RESUME_RESERVE_TIME: slots are kept for a job for so long, then for as long none are,
 * and so on. Sets until when that lasts; INT64_MAX: nothing is kept for the job yet. */
static bool keeps_slots(const struct preempt_claims *claims, const struct job *job,
                        int64_t now_ms, int64_t *until_ms)
{
    int64_t period_ms = claims->parts.config->preempt.resume_reserve_ms;
    *until_ms = INT64_MAX;
    if (period_ms == 0 || job->kept_since_ms == 0) {
        return period_ms > 0;
    }
    int64_t n_over = (now_ms - job->kept_since_ms) / period_ms;
    *until_ms = job->kept_since_ms + (n_over + 1) * period_ms;
    return n_over % 2 == 0;
}

/* Of a backfill job that was suspended, while its reserving job still pends. */
static void show_gap(const struct preempt_claims *claims, const struct job *job,
                     int64_t now_ms, struct place_resume *resume)
{
    if (!has_lender(claims, job)) {
        return;
    }
    int64_t left_ms = job_run_limit_ms(job, now_ms) - job_ran_ms(job, now_ms);
    resume->backfill = job->backfill;
    resume->end_ms = now_ms + (left_ms > 0 ? left_ms : 0);
    if (job_is_run_limit_cut(job, now_ms) && now_ms < job->backfill.until_ms &&
        job->backfill.until_ms < resume->end_ms) {
        resume->end_ms = job->backfill.until_ms; /* it is suspended again then */
    }
}

void preempt_claims_list_resumes(struct preempt_claims *claims,
                                 struct rusage_pass *rusage_pass, struct arena *arena,
                                 struct place_snapshot *snapshot)
{
    int n_most = job_table_count_state(claims->parts.jobs, JOB_SSUSP), n_resumable = 0;
    struct resumable *resumable =
        arena_alloc(arena, (size_t)n_most + 1, sizeof(*resumable));
    for (int i = 0; n_most > 0 && i < job_table_count_open(claims->parts.jobs); i++) {
        const struct job *job = job_table_open_at(claims->parts.jobs, i);
        /* Jobs whose queue is gone come last. */
        if (lifecycle_is_resumable(claims->parts.life, job)) {
            resumable[n_resumable++] = (struct resumable){
                job,
                job->queue < 0 ? 0 : claims->parts.config->queues[job->queue].priority};
        }
    }
    qsort(resumable, (size_t)n_resumable, sizeof(*resumable), compare_resumable);
    struct place_resume *resumes =
        arena_alloc(arena, (size_t)n_resumable + 1, sizeof(*resumes));
    claims->keep_ends_ms = INT64_MAX;
    for (int i = 0; i < n_resumable; i++) {
        const struct job *job = resumable[i].job;
        resumes[i] = (struct place_resume){
            .job = job_key(job),
            .queue = job->queue,
            .hosts = job->hosts,
            .indexes = capacity_find_hosts(claims->parts.hosts, arena, snapshot->hosts,
                                           snapshot->n_hosts, job->lease, job->hosts,
                                           job->n_hosts),
            .n_hosts = job->n_hosts,
            .limit_class = job->limit_owner,
            .is_exclusive = job->spec->is_exclusive,
        };
        resumes[i].n_released =
            rusage_pass_released(rusage_pass, job, &resumes[i].released);
        show_gap(claims, job, snapshot->now_ms, &resumes[i]);
        int64_t until_ms;
        resumes[i].keeps_nothing =
            !keeps_slots(claims, job, snapshot->now_ms, &until_ms);
        claims->keep_ends_ms =
            until_ms < claims->keep_ends_ms ? until_ms : claims->keep_ends_ms;
    }
    snapshot->resumes = resumes;
    snapshot->n_resumes = n_resumable;
}

void preempt_claims_store_kept(struct preempt_claims *claims,
                               const struct place_plan *plan, int64_t now_ms)
{
    free(claims->kept);
    claims->kept = mem_alloc((size_t)plan->n_kept + 1, sizeof(*claims->kept));
    claims->n_kept = plan->n_kept;
    for (int i = 0; i < plan->n_kept; i++) {
        struct job *job = job_table_find(claims->parts.jobs, plan->kept[i].job);
        int64_t until_ms;
        job->kept_since_ms = job->kept_since_ms != 0 ? job->kept_since_ms : now_ms;
        keeps_slots(claims, job, now_ms, &until_ms);
        claims->keep_ends_ms =
            until_ms < claims->keep_ends_ms ? until_ms : claims->keep_ends_ms;
        claims->kept[i] =
            (struct kept_slots){plan->kept[i].job, plan->kept[i].n_slots, until_ms};
    }
}

const struct kept_slots *preempt_claims_kept(const struct preempt_claims *claims,
                                             int *n_kept)
{
    *n_kept = claims->n_kept;
    return claims->kept;
}

/* ---------------------------------------------------------------- running jobs */

/* True for a running job that may be suspended. An exclusive job on a borrowed host is
 * not: suspended, it would still block its provider's host. */
static bool is_preemptable(const struct job *job)
{
    return job->state == JOB_RUN && job->queue >= 0 &&
           (!job->spec->is_exclusive || job->lease[0] == '\0') &&
           job->suspension.causes == 0 && !job->is_killed && !job_is_requeued(job) &&
           job->is_decided;
}

static bool is_at(const struct place_snapshot *snapshot, const struct job *job,
                  int place)
{
    return place >= 0 && place < snapshot->n_hosts &&
           strcmp(snapshot->hosts[place].name, job->hosts[0].host) == 0 &&
           strcmp(snapshot->hosts[place].lease, job->lease) == 0;
}

/* Lists the slots of the job by host. `hint` is the expected index of its first host,
 * or -1. True if all hosts are in the snapshot. */
static bool show_pieces(const struct host_table *own,
                        const struct place_snapshot *snapshot, const struct job *job,
                        int hint, struct rusage_piece *pieces)
{
    bool has_all = true;
    for (int i = 0; i < job->n_hosts; i++) {
        int place = i == 0 && is_at(snapshot, job, hint)
                        ? hint
                        : capacity_find_host(own, snapshot->hosts, snapshot->n_hosts,
                                             job->lease, job->hosts[i].host);
        pieces[i] = (struct rusage_piece){place, job->hosts[i].n_slots};
        has_all = has_all && place >= 0;
    }
    return has_all;
}

static struct preempt_job show_job(const struct preempt_claims_parts *from,
                                   struct rusage_pass *rusage_pass, struct arena *arena,
                                   const struct place_snapshot *snapshot,
                                   const struct job *job, int hint)
{
    struct rusage_piece *pieces =
        arena_alloc(arena, (size_t)job->n_hosts + 1, sizeof(*pieces));
    bool has_all = show_pieces(from->hosts, snapshot, job, hint, pieces);
    const struct rusage_amount *parts = NULL;
    int n_parts = rusage_pass_preemptable(rusage_pass, job, &parts);
    return (struct preempt_job){
        .releases = parts,
        .n_releases = n_parts,
        .key = job_key(job),
        .queue = job->queue,
        .n_slots = msg_sum_slots(job->hosts, job->n_hosts),
        .pieces = pieces,
        .hosts = job->hosts,
        /* A job with a host that is gone frees no slots. */
        .n_pieces = has_all ? job->n_hosts : 0,
        .limit_class = job->limit_owner,
        .start_ms = job->start_ms,
        .running_since_ms = job->suspension.resumed_ms > job->start_ms
                                ? job->suspension.resumed_ms
                                : job->start_ms,
        .ran_ms = job_ran_ms(job, snapshot->now_ms),
        .suspended_ms = job->suspension.total_ms,
        .run_limit_ms = job_run_limit_ms(job, snapshot->now_ms),
        .n_preempted = job->suspension.n_preempted,
        .is_exclusive = job->spec->is_exclusive,
        .protection = preempt_policy_protection(&from->config->preempt, arena,
                                                job->queue, job->spec->app),
    };
}

/* The index that the first host of the attempt had in the last list, which is searched
 * from `*next` on; -1: unknown. */
static int last_host_of(const struct preempt_claims *claims, uint64_t attempt,
                        int *next)
{
    while (*next < claims->n_last_hosts &&
           claims->last_hosts[*next].attempt < attempt) {
        (*next)++;
    }
    bool is_known =
        *next < claims->n_last_hosts && claims->last_hosts[*next].attempt == attempt;
    return is_known ? claims->last_hosts[*next].place : -1;
}

/* Both the open jobs and the last hosts are sorted by attempt. The new list of hosts
 * overwrites the last one; where it overtakes the search, a host is looked up. */
static const struct preempt_job *list_preemptable(struct preempt_claims *claims,
                                                  struct rusage_pass *rusage_pass,
                                                  struct arena *arena,
                                                  const struct place_snapshot *snapshot,
                                                  int *n_jobs)
{
    int n_open = job_table_count_open(claims->parts.jobs), next = 0, n = 0;
    if (n_open > claims->running_capacity) {
        size_t capacity = (size_t)n_open * 2;
        claims->last_hosts =
            mem_grow(claims->last_hosts, capacity, sizeof(*claims->last_hosts));
        claims->running = mem_grow(claims->running, capacity, sizeof(*claims->running));
        claims->running_capacity = n_open * 2;
    }
    struct preempt_job *jobs = claims->running;
    for (int i = 0; i < n_open; i++) {
        const struct job *job = job_table_open_at(claims->parts.jobs, i);
        if (is_preemptable(job)) {
            int hint = last_host_of(claims, job->attempt, &next);
            jobs[n] = show_job(&claims->parts, rusage_pass, arena, snapshot, job, hint);
            int place = jobs[n].pieces[0].host;
            if (place >= 0 && snapshot->hosts[place].unit_of != 0) {
                continue;
            }
            claims->last_hosts[n] =
                (struct last_host){job->attempt, jobs[n].pieces[0].host};
            n++;
        }
    }
    claims->n_last_hosts = n;
    *n_jobs = n;
    return jobs;
}

/* ---------------------------------------------------------------- planning */

static const uint64_t *list_claims(const struct preempt_claims *claims,
                                   struct arena *arena)
{
    uint64_t *jobs = arena_alloc(arena, (size_t)claims->count, sizeof(*jobs));
    for (int i = 0; i < claims->count; i++) {
        jobs[i] = claims->items[i].job;
    }
    return jobs;
}

const struct preempt_snapshot *
preempt_claims_snapshot(struct preempt_claims *claims, struct pass_terms *terms,
                        struct arena *arena, const struct place_snapshot *place)
{
    const struct preempt_policy *policy = &claims->parts.config->preempt;
    if (!policy->is_enabled) {
        return NULL;
    }
    struct preempt_snapshot *snapshot = arena_alloc(arena, 1, sizeof(*snapshot));
    *snapshot = (struct preempt_snapshot){.policy = policy,
                                          .claims = list_claims(claims, arena),
                                          .n_claims = claims->count,
                                          .max_jobs = CLAIMS_PER_PASS_MAX};
    if (preempt_needs_jobs(place, policy)) {
        snapshot->loads = resreq_match_loads(terms->match);
        snapshot->jobs =
            list_preemptable(claims, terms->rusages, arena, place, &snapshot->n_jobs);
    }
    return snapshot;
}

/* ---------------------------------------------------------------- suspending */

static void preempt(struct preempt_claims *claims, struct job *job, uint64_t by,
                    int64_t now_ms, struct effects *effects)
{
    claims->n_preempted++;
    suspend_or_terminate(claims->parts.life, job, SUSPEND_PREEMPT, by, now_ms, effects);
}

void preempt_claims_mark_victims(struct preempt_claims *claims,
                                 const struct preempt_plan *plan, bool is_victim)
{
    for (int i = 0; plan != NULL && i < plan->n_claims; i++) {
        const struct preempt_claim *claim = &plan->claims[i];
        for (int k = 0; k < claim->n_victims; k++) {
            struct job *job =
                job_table_find(claims->parts.jobs, plan->jobs[claim->victims[k]].key);
            if (job != NULL) {
                job->is_victim = is_victim;
            }
        }
    }
}

bool preempt_claims_suspend_victims(struct preempt_claims *claims,
                                    const struct preempt_plan *plan,
                                    struct rusage_pass *rusage_pass, int64_t now_ms,
                                    struct effects *effects)
{
    claims->protection_ends_ms = INT64_MAX;
    if (plan == NULL) {
        return false;
    }
    for (int i = 0; i < plan->n_claims; i++) {
        const struct preempt_claim *claim = &plan->claims[i];
        add_claim(claims, claim,
                  rusage_pass_text(rusage_pass, &effects->arena, claim->rusage),
                  now_ms);
        mark_claimed(claims, claim->job, true);
        for (int k = 0; k < claim->n_victims; k++) {
            struct job *job =
                job_table_find(claims->parts.jobs, plan->jobs[claim->victims[k]].key);
            if (job != NULL && is_preemptable(job)) {
                preempt(claims, job, claim->job, now_ms, effects);
            }
        }
    }
    int64_t until_ms = now_ms + claims->parts.config->preempt.wait_ms;
    if (plan->n_claims > 0 && until_ms < claims->give_up_ms) {
        claims->give_up_ms = until_ms;
    }
    claims->protection_ends_ms = plan->next_ms;
    return plan->is_cut;
}
