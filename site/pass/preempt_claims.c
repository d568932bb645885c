/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_claims.c: see preempt_claims.h. */
#include "site/pass/preempt_claims.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "model/job_id.h"
#include "site/job/lifecycle.h"
#include "site/pass/capacity.h"
#include "site/pass/preemptable_jobs.h"

/* Jobs that begin to preempt in one tick: a site must answer its hosts in between, and
 * who was suspended is seen by the next pass. */
enum { PREEMPTS_MAX = 200 };

struct claim {
    uint64_t job;
    char *lease;
    struct host_slots *hosts;
    int *places; /* the same as indexes of the last pass's hosts; -1: it is gone */
    int n_hosts;
    char *reserved; /* what it reserves there, as it will be on record; "" */
    int64_t since_ms;
};

struct preempt_claims {
    struct preempt_claims_parts parts;
    struct claim *claims; /* in the order in which they were made */
    int n_claims, capacity;
    struct preemptable_jobs *preemptable;
    int64_t guard_ms; /* something that stood against preemption is over then */
    int64_t give_up_ms;
    uint64_t n_preempted;
};

struct preempt_claims *preempt_claims_new(const struct preempt_claims_parts *parts)
{
    struct preempt_claims *preempts = mem_alloc(1, sizeof(*preempts));
    preempts->parts = *parts;
    preempts->preemptable = preemptable_jobs_new();
    preempts->guard_ms = preempts->give_up_ms = INT64_MAX;
    return preempts;
}

void preempt_claims_reload(struct preempt_claims *preempts,
                           const struct site_config *config, struct limits *limits)
{
    preempts->parts.config = config;
    preempts->parts.limits = limits;
}

static void claim_release(struct claim *claim)
{
    dup_free(claim->lease);
    free(claim->hosts);
    free(claim->places);
    dup_free(claim->reserved);
}

void preempt_claims_free(struct preempt_claims *preempts)
{
    if (preempts == NULL) {
        return;
    }
    for (int i = 0; i < preempts->n_claims; i++) {
        claim_release(&preempts->claims[i]);
    }
    free(preempts->claims);
    preemptable_jobs_free(preempts->preemptable);
    free(preempts);
}

int64_t preempt_claims_wake_ms(const struct preempt_claims *preempts)
{
    return preempts->guard_ms < preempts->give_up_ms ? preempts->guard_ms
                                                     : preempts->give_up_ms;
}

uint64_t preempt_claims_count_preempted(const struct preempt_claims *preempts)
{
    return preempts->n_preempted;
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

/* It waits in line, and nothing but slots stands against it. */
static struct job *claimant(const struct preempt_claims *preempts,
                            const struct claim *claim, int64_t now_ms, int64_t local_ms)
{
    struct job *job = job_table_find(preempts->parts.jobs, claim->job);
    bool is_waiting = job != NULL && job->line != NULL && job->queue >= 0;
    bool is_late = now_ms - claim->since_ms >= preempts->parts.config->preempt.wait_ms;
    return is_waiting && !is_late && job_array_room(job) > 0 &&
                   queue_table_veto(preempts->parts.queues, job->queue, local_ms) ==
                       REASON_NEW
               ? job
               : NULL;
}

/* Most are where they were in the last pass. */
static void find_places(const struct preempt_claims *preempts,
                        const struct claim *claim, const struct place_host *hosts,
                        int n_hosts)
{
    for (int i = 0; i < claim->n_hosts; i++) {
        int place = claim->places[i];
        if (place < 0 || place >= n_hosts ||
            strcmp(hosts[place].name, claim->hosts[i].host) != 0 ||
            strcmp(hosts[place].lease, claim->lease) != 0) {
            claim->places[i] = capacity_find_host(preempts->parts.hosts, hosts, n_hosts,
                                                  claim->lease, claim->hosts[i].host);
        }
    }
}

static bool is_free(const struct claim *claim, const struct place_host *hosts,
                    bool is_exclusive)
{
    for (int i = 0; i < claim->n_hosts; i++) {
        int host = claim->places[i];
        if (host < 0 || left_on(&hosts[host], is_exclusive) < claim->hosts[i].n_slots) {
            return false;
        }
    }
    return true;
}

/* Limits may have filled up meanwhile. */
static bool is_allowed(const struct preempt_claims *preempts, const struct job *job,
                       const struct claim *claim, const struct place_host *hosts)
{
    struct limits_tentative *draft = limits_tentative_new(preempts->parts.limits);
    const struct limit *limit;
    bool may = limits_slots_left(draft, job->class, &limit) >= job->spec->n_slots;
    for (int i = 0; may && i < claim->n_hosts; i++) {
        const struct place_host *at = &hosts[claim->places[i]];
        int n_processors = at->n_processors > 0 ? at->n_processors : at->max;
        may = limits_slots_left_on(draft, job->class, at->name, n_processors,
                                   claim->hosts, i, &limit) >= claim->hosts[i].n_slots;
    }
    limits_tentative_free(draft);
    return may;
}

/* The job's slots are its own, or are kept for it as they fall free; an exclusive job's
 * hosts as a whole. */
static void use_slots(const struct claim *claim, struct place_host *hosts,
                      bool is_exclusive)
{
    for (int i = 0; i < claim->n_hosts; i++) {
        int host = claim->places[i];
        int left = host < 0 ? 0 : left_on(&hosts[host], false);
        if (left > 0) {
            hosts[host].used +=
                left < claim->hosts[i].n_slots ? left : claim->hosts[i].n_slots;
        }
        if (host >= 0) {
            hosts[host].is_used_exclusively =
                hosts[host].is_used_exclusively || is_exclusive;
        }
    }
}

static void start(struct preempt_claims *preempts, struct job *job,
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
    job_dispatch_start(preempts->parts.life, job, &start, claim->reserved, now_ms,
                       effects);
}

/* True where the claim stays. */
static bool settle(struct preempt_claims *preempts, const struct claim *claim,
                   struct place_host *hosts, int n_hosts, struct rusage_pass *reserves,
                   int64_t now_ms, int64_t local_ms, struct effects *effects)
{
    struct job *job = claimant(preempts, claim, now_ms, local_ms);
    if (job == NULL) {
        return false;
    }
    bool is_exclusive = job->spec->is_exclusive;
    find_places(preempts, claim, hosts, n_hosts);
    bool has_all = is_free(claim, hosts, is_exclusive) &&
                   rusage_pass_has(reserves, claim->reserved, claim->lease,
                                   claim->hosts, claim->n_hosts);
    if (has_all && !is_allowed(preempts, job, claim, hosts)) {
        return false;
    }
    use_slots(claim, hosts, is_exclusive);
    rusage_pass_reserve(reserves, claim->reserved, claim->lease, claim->hosts,
                        claim->n_hosts);
    if (has_all) {
        start(preempts, job, claim, now_ms, effects);
    }
    return !has_all;
}

static void set_claim(const struct preempt_claims *preempts, uint64_t key,
                      bool has_claim)
{
    struct job *job = job_table_find(preempts->parts.jobs, key);
    if (job != NULL) {
        job->has_claim = has_claim;
    }
}

void preempt_claims_begin_pass(struct preempt_claims *preempts,
                               struct place_host *hosts, int n_hosts,
                               struct rusage_pass *reserves, int64_t now_ms,
                               int64_t local_ms, struct effects *effects)
{
    int n_kept = 0;
    preempts->give_up_ms = INT64_MAX;
    for (int i = 0; i < preempts->n_claims; i++) {
        struct claim claim = preempts->claims[i];
        if (!settle(preempts, &claim, hosts, n_hosts, reserves, now_ms, local_ms,
                    effects)) {
            set_claim(preempts, claim.job, false);
            claim_release(&claim);
            continue;
        }
        int64_t until_ms = claim.since_ms + preempts->parts.config->preempt.wait_ms;
        preempts->give_up_ms =
            until_ms < preempts->give_up_ms ? until_ms : preempts->give_up_ms;
        preempts->claims[n_kept++] = claim;
    }
    preempts->n_claims = n_kept;
}

static void add_claim(struct preempt_claims *preempts, const struct preempt_claim *from,
                      const char *reserved, int64_t now_ms)
{
    if (preempts->n_claims == preempts->capacity) {
        preempts->capacity = preempts->capacity == 0 ? 16 : preempts->capacity * 2;
        preempts->claims = mem_grow(preempts->claims, (size_t)preempts->capacity,
                                    sizeof(*preempts->claims));
    }
    preempts->claims[preempts->n_claims++] =
        (struct claim){.job = from->job,
                       .lease = dup_text(from->lease),
                       .hosts = dup_hosts(from->hosts, from->n_hosts),
                       .places = mem_alloc((size_t)from->n_hosts + 1, sizeof(int)),
                       .n_hosts = from->n_hosts,
                       .reserved = dup_text(reserved),
                       .since_ms = now_ms};
}

/* ---------------------------------------------------------------- who goes on */

struct ready {
    const struct job *job;
    int priority;
};

static int compare_ready(const void *left, const void *right)
{
    const struct ready *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->job->queue != b->job->queue) {
        return a->job->queue < b->job->queue ? -1 : 1;
    }
    if (a->job->halt.since_ms != b->job->halt.since_ms) {
        return a->job->halt.since_ms < b->job->halt.since_ms ? -1 : 1;
    }
    uint64_t a_key = job_key(a->job), b_key = job_key(b->job);
    return a_key < b_key ? -1 : a_key > b_key;
}

static int *places_of(const struct preempt_claims *preempts, struct arena *arena,
                      const struct place_snapshot *snapshot, const struct job *job)
{
    int *places = arena_alloc(arena, (size_t)job->n_hosts + 1, sizeof(*places));
    for (int i = 0; i < job->n_hosts; i++) {
        places[i] =
            capacity_find_host(preempts->parts.hosts, snapshot->hosts,
                               snapshot->n_hosts, job->lease, job->hosts[i].host);
    }
    return places;
}

void preempt_claims_list_resumes(struct preempt_claims *preempts,
                                 struct rusage_pass *reserves, struct arena *arena,
                                 struct place_snapshot *snapshot)
{
    int n_most = job_table_count_state(preempts->parts.jobs, JOB_SSUSP), n_ready = 0;
    struct ready *ready = arena_alloc(arena, (size_t)n_most + 1, sizeof(*ready));
    for (int i = 0; n_most > 0 && i < job_table_count_open(preempts->parts.jobs); i++) {
        const struct job *job = job_table_open_at(preempts->parts.jobs, i);
        /* A queue that is gone: behind all others. */
        if (lifecycle_is_resumable(preempts->parts.life, job)) {
            ready[n_ready++] = (struct ready){
                job, job->queue < 0
                         ? 0
                         : preempts->parts.config->queues[job->queue].priority};
        }
    }
    qsort(ready, (size_t)n_ready, sizeof(*ready), compare_ready);
    struct place_resume *returns =
        arena_alloc(arena, (size_t)n_ready + 1, sizeof(*returns));
    for (int i = 0; i < n_ready; i++) {
        const struct job *job = ready[i].job;
        returns[i] = (struct place_resume){
            .job = job_key(job),
            .queue = job->queue,
            .hosts = job->hosts,
            .indexes = places_of(preempts, arena, snapshot, job),
            .n_hosts = job->n_hosts,
            .limit_class = job->class,
            .is_exclusive = job->spec->is_exclusive,
        };
        returns[i].n_released =
            rusage_pass_released(reserves, job, &returns[i].released);
    }
    snapshot->resumes = returns;
    snapshot->n_resumes = n_ready;
}

/* ---------------------------------------------------------------- planning */

/* Least loaded first by r15s, then pg; nothing is measured in a simulated world. */
static const int *loads_of(const struct preempt_claims *preempts,
                           struct resreq_match *needs)
{
    const struct place_filter *filter = NULL;
    struct err err;
    if (preempts->parts.config->patience > 1 ||
        resreq_match_select(needs, RESREQ_MATCH_HOSTS, "order[r15s:pg]", &filter,
                            &err) != 0) {
        return NULL;
    }
    return filter != NULL ? filter->ranks : NULL;
}

static const uint64_t *list_claims(const struct preempt_claims *preempts,
                                   struct arena *arena)
{
    uint64_t *claims = arena_alloc(arena, (size_t)preempts->n_claims, sizeof(*claims));
    for (int i = 0; i < preempts->n_claims; i++) {
        claims[i] = preempts->claims[i].job;
    }
    return claims;
}

const struct preempt_snapshot *
preempt_claims_snapshot(struct preempt_claims *preempts, const struct pass_terms *terms,
                        struct arena *arena, const struct place_snapshot *place)
{
    const struct preempt_policy *policy = &preempts->parts.config->preempt;
    if (!policy->is_enabled) {
        return NULL;
    }
    struct preempt_snapshot *snapshot = arena_alloc(arena, 1, sizeof(*snapshot));
    *snapshot = (struct preempt_snapshot){.policy = policy,
                                          .claims = list_claims(preempts, arena),
                                          .n_claims = preempts->n_claims,
                                          .max_jobs = PREEMPTS_MAX};
    if (preempt_needs_jobs(place, policy)) {
        snapshot->loads = loads_of(preempts, terms->needs);
        snapshot->jobs = preemptable_jobs_list(preempts->preemptable, &preempts->parts,
                                               terms->reserves, arena, place,
                                               place->now_ms, &snapshot->n_jobs);
    }
    return snapshot;
}

/* ---------------------------------------------------------------- ordering */

static void preempt(struct preempt_claims *preempts, struct job *job, uint64_t by,
                    int64_t now_ms, struct effects *effects)
{
    preempts->n_preempted++;
    suspend_or_terminate(preempts->parts.life, job, HALT_PREEMPT, by, now_ms, effects);
}

void preempt_claims_mark_victims(struct preempt_claims *preempts,
                                 const struct preempt_plan *plan, bool is_victim)
{
    for (int i = 0; plan != NULL && i < plan->n_claims; i++) {
        const struct preempt_claim *claim = &plan->claims[i];
        for (int k = 0; k < claim->n_victims; k++) {
            struct job *job =
                job_table_find(preempts->parts.jobs, plan->jobs[claim->victims[k]].key);
            if (job != NULL) {
                job->is_victim = is_victim;
            }
        }
    }
}

bool preempt_claims_suspend_victims(struct preempt_claims *preempts,
                                    const struct preempt_plan *plan,
                                    struct rusage_pass *reserves, int64_t now_ms,
                                    struct effects *effects)
{
    preempts->guard_ms = INT64_MAX;
    if (plan == NULL) {
        return false;
    }
    for (int i = 0; i < plan->n_claims; i++) {
        const struct preempt_claim *claim = &plan->claims[i];
        add_claim(preempts, claim,
                  rusage_pass_text(reserves, &effects->arena, claim->rusage), now_ms);
        set_claim(preempts, claim->job, true);
        for (int k = 0; k < claim->n_victims; k++) {
            struct job *job =
                job_table_find(preempts->parts.jobs, plan->jobs[claim->victims[k]].key);
            if (job != NULL && preemptable_jobs_is_preemptable(job)) {
                preempt(preempts, job, claim->job, now_ms, effects);
            }
        }
    }
    int64_t until_ms = now_ms + preempts->parts.config->preempt.wait_ms;
    if (plan->n_claims > 0 && until_ms < preempts->give_up_ms) {
        preempts->give_up_ms = until_ms;
    }
    preempts->guard_ms = plan->next_ms;
    return plan->is_cut;
}
