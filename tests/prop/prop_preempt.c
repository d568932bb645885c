/* SPDX-License-Identifier: Apache-2.0 */
/* prop_preempt.c: random small sites in which one job does not fit, against a twin that
 * tries all subsets of the running jobs.
 *
 * The twin ignores orders: a subset serves if each job in it may be preempted by the
 * definition (docs/design/scheduling.md "Which queue preempts which") and is not
 * protected, and if the job then fits on allowed hosts of one group and into its user's
 * limit. Checked: a plan preempts if and only if some subset serves, with one that
 * serves and hosts that have the room; under OPTIMAL_MINI_JOB it is as small as the
 * smallest; under MINI_JOB, and if the job or all victims have one slot, no victim is
 * superfluous.
 *
 * In half of the worlds the job reserves licences, for itself or for each slot, of one
 * kind, or of another where the first does not do (||); the own hosts share some, the
 * lease's others, and jobs that run hold some of either. There none of those who are
 * taken can be spared, and with an earlier alternative nobody could be preempted. In a
 * third some jobs are exclusive, with PREEMPT_JOBTYPE or without. In a fifth the job
 * has a compound requirement of two parts, each with hosts and licences of its own
 * kind. SEED=N repeats one world. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/preempt/preempt.h"

/* The largest limit never binds, since the minimum is promised only without limits. */
enum {
    HOSTS = 4,
    SIDES = 2,
    PARTS = 2,
    KINDS = 2, /* of resources, and alternatives at most */
    JOBS = 7,
    QUEUES = 4,
    USERS = 2,
    WORLDS = 40000,
    NOW_MS = 100000,
    LIMIT_MAX = 30
};

static const char *const host_names[HOSTS] = {"n1", "n2", "b1@x", "b2@x"};
static const char *const user_names[USERS] = {"ana", "bo"};
static const char *const queue_names[QUEUES] = {"q0", "q1", "q2", "q3"};

static const int lic_pools[HOSTS] = {0, 0, 1, 1}, seat_pools[HOSTS] = {2, 2, 3, 3};
static const struct rusage_resource kinds[KINDS] = {
    {"lic", RESOURCE_BUILTINS, lic_pools, true, NULL},
    {"seat", RESOURCE_BUILTINS + 1, seat_pools, true, NULL},
};

struct trial {
    uint64_t seed;
    struct rng rng;
    struct place_host hosts[HOSTS];
    struct queue_config queues[QUEUES];
    struct queue_term terms[2];
    struct preempt_policy rules;
    struct preempt_queue rule_of[QUEUES];
    struct preempt_target targets[QUEUES][QUEUES];
    int by[QUEUES][QUEUES];
    struct preempt_job jobs[JOBS];
    struct rusage_piece pieces[JOBS][HOSTS];
    struct host_slots slots[JOBS][HOSTS];
    int user_of[JOBS + 1];
    struct limit_owner *classes[JOBS + 1];
    int n_jobs;
    int exclusive_percent;
    struct limit limit;
    struct limits *limits;
    uint8_t matches[HOSTS];
    struct place_filter filter;
    struct place_class line;
    struct job_class_entry turn;
    const struct job_class_entry *turns;
    /* Licences of either kind, by kind and side; no alternatives: it reserves none. */
    int64_t left[KINDS * SIDES];
    struct rusage_amount parts[JOBS];
    struct rusage_item ask_of[KINDS];
    struct rusage_request asks[KINDS];
    int n_asks;
    struct rusage_supply reserve;
    bool has_parts; /* part i reserves licences of kind i, where it reserves any */
    int part_slots[PARTS];
    uint8_t part_matches[PARTS][HOSTS];
    struct place_filter part_filters[PARTS];
    struct rusage_request requests[PARTS];
};

static int between(struct trial *trial, int low, int high)
{
    return low + (int)rng_below(&trial->rng, high - low + 1);
}

/* ---------------------------------------------------------------- a world */

static void make_rules(struct trial *trial)
{
    static const int reasons[] = {0, PREEMPT_FOR_MINI_JOB, PREEMPT_FOR_OPTIMAL_MINI_JOB,
                                  PREEMPT_FOR_LEAST_RUN_TIME};
    trial->terms[0] = (struct queue_term){.kind = QUEUE_ALL, .name = ""};
    trial->terms[1] = (struct queue_term){.kind = QUEUE_ALL_REMOTE, .name = ""};
    for (int i = 0; i < QUEUES; i++) {
        struct preempt_queue *rule = &trial->rule_of[i];
        trial->queues[i] = (struct queue_config){.name = queue_names[i],
                                                 .priority = between(trial, 1, 9),
                                                 .terms = trial->terms,
                                                 .n_terms = 2};
        rule->is_preemptive = rng_percent(&trial->rng, 60);
        rule->is_preemptable = rng_percent(&trial->rng, 40);
        rule->targets = trial->targets[i];
        rule->preemptable_by = trial->by[i];
        for (int k = 0; k < QUEUES; k++) {
            if (k != i && rng_percent(&trial->rng, 20)) {
                trial->targets[i][rule->n_targets++] =
                    (struct preempt_target){k, between(trial, 0, 2)};
            }
            if (k != i && rng_percent(&trial->rng, 20)) {
                trial->by[i][rule->n_preemptable_by++] = k;
            }
        }
        rule->protection.max_count = rng_percent(&trial->rng, 30) ? 1 : 0;
    }
    trial->rules =
        (struct preempt_policy){.is_enabled = true,
                                .queues = trial->rule_of,
                                .n_queues = QUEUES,
                                .preempt_for = reasons[between(trial, 0, 3)]};
}

static void make_job(struct trial *trial, int index)
{
    struct preempt_job *job = &trial->jobs[index];
    int first = rng_percent(&trial->rng, 50) ? 0 : 2; /* own hosts, or the lease */
    bool is_exclusive = rng_percent(&trial->rng, trial->exclusive_percent);
    *job = (struct preempt_job){
        .key = (uint64_t)index + 1,
        .queue = between(trial, 0, QUEUES - 1),
        .pieces = trial->pieces[index],
        .hosts = trial->slots[index],
        .start_ms = between(trial, 0, 3),
        .ran_ms = between(trial, 1, 5),
        .n_preempted = between(trial, 0, 3),
        .is_exclusive = is_exclusive,
    };
    for (int i = first; i < first + 2; i++) {
        bool may = !trial->hosts[i].is_used_exclusively &&
                   (!is_exclusive || trial->hosts[i].used == 0);
        int n_slots = rng_percent(&trial->rng, 75) ? between(trial, 1, 3) : 0;
        int left = trial->hosts[i].max - trial->hosts[i].used;
        n_slots = n_slots < left ? n_slots : left;
        if (may && n_slots > 0) {
            trial->hosts[i].is_used_exclusively = is_exclusive;
            trial->pieces[index][job->n_pieces] = (struct rusage_piece){i, n_slots};
            trial->slots[index][job->n_pieces++] =
                (struct host_slots){host_names[i], n_slots};
            trial->hosts[i].used += n_slots;
            job->n_slots += n_slots;
        }
    }
    trial->user_of[index] = between(trial, 0, USERS - 1);
    trial->classes[index] =
        limits_join(trial->limits, user_names[trial->user_of[index]], "q", "default");
    job->limit_class = trial->classes[index];
    limits_count(trial->limits, job->limit_class, job->hosts, job->n_pieces, false, 1);
}

static int pool_at(int of_kind, int side)
{
    return of_kind * SIDES + side;
}

static void make_licences(struct trial *trial)
{
    if (!rng_percent(&trial->rng, 50)) {
        return;
    }
    trial->n_asks = between(trial, 1, KINDS);
    for (int i = 0; i < trial->n_jobs; i++) {
        struct preempt_job *job = &trial->jobs[i];
        if (job->n_pieces > 0 && rng_percent(&trial->rng, 60)) {
            int of_kind = between(trial, 0, trial->n_asks - 1);
            trial->parts[i] = (struct rusage_amount){
                pool_at(of_kind, job->pieces[0].host / 2), between(trial, 1, 3)};
            job->releases = &trial->parts[i];
            job->n_releases = 1;
        }
    }
    for (int i = 0; i < KINDS * SIDES; i++) {
        trial->left[i] = between(trial, -1, 4);
    }
    for (int i = 0; i < trial->n_asks; i++) {
        bool is_of_job = rng_percent(&trial->rng, 50);
        trial->ask_of[i] = (struct rusage_item){
            .resource = i,
            .scope = is_of_job ? RESREQ_SCOPE_JOB : RESREQ_SCOPE_SLOT,
            .milli = between(trial, 1, is_of_job ? 5 : 2)};
        trial->asks[i] =
            (struct rusage_request){.items = &trial->ask_of[i], .n_items = 1};
    }
    trial->reserve = (struct rusage_supply){.resources = kinds,
                                            .n_resources = KINDS,
                                            .left = trial->left,
                                            .n_supplies = KINDS * SIDES};
    trial->line.rusages = trial->asks;
    trial->line.n_rusages = trial->n_asks;
}

/* Instead of one requirement, or of alternatives. */
static void make_parts(struct trial *trial)
{
    if (trial->line.n_slots < PARTS || !rng_percent(&trial->rng, 20)) {
        return;
    }
    trial->has_parts = true;
    trial->part_slots[0] = between(trial, 1, trial->line.n_slots - 1);
    trial->part_slots[1] = trial->line.n_slots - trial->part_slots[0];
    memset(trial->matches, 0, sizeof(trial->matches));
    for (int i = 0; i < PARTS; i++) {
        for (int k = 0; k < HOSTS; k++) {
            trial->part_matches[i][k] = rng_percent(&trial->rng, 75);
            trial->matches[k] = trial->matches[k] || trial->part_matches[i][k];
        }
        trial->part_filters[i].matches = trial->part_matches[i];
        if (i < trial->n_asks) {
            trial->requests[i] = trial->asks[i];
        }
        trial->requests[i].filter = &trial->part_filters[i];
        trial->requests[i].is_part = true;
        trial->requests[i].n_slots = trial->part_slots[i];
    }
    trial->line.rusages = trial->requests;
    trial->line.n_rusages = PARTS;
}

static void make(struct trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof(*trial));
    trial->seed = seed;
    rng_init(&trial->rng, seed);
    for (int i = 0; i < HOSTS; i++) {
        trial->hosts[i] = (struct place_host){
            .name = host_names[i],
            .site = i < 2 ? "" : "x",
            .lease = i < 2 ? "" : "x/1/here",
            .max = between(trial, 1, 5),
            .is_open = rng_percent(&trial->rng, 90),
        };
        trial->matches[i] = rng_percent(&trial->rng, 85);
    }
    make_rules(trial);
    trial->exclusive_percent = rng_percent(&trial->rng, 33) ? 40 : 0;
    trial->rules.has_exclusive = rng_percent(&trial->rng, 60);
    trial->limit = (struct limit){.name = "each user",
                                  .slots = between(trial, 3, LIMIT_MAX),
                                  .jobs = -1,
                                  .per_processor_milli = -1,
                                  .counts_yielded = rng_percent(&trial->rng, 30)};
    trial->limit.sides[LIMIT_USERS] =
        (struct limit_side){.mode = LIMIT_EACH, .names = {.is_all = true}};
    trial->limits = limits_new(&trial->limit, 1);
    int n_wanted = between(trial, 3, JOBS);
    while (trial->n_jobs < n_wanted) {
        make_job(trial, trial->n_jobs++);
    }
    trial->user_of[JOBS] = between(trial, 0, USERS - 1);
    trial->classes[JOBS] =
        limits_join(trial->limits, user_names[trial->user_of[JOBS]], "q", "default");
    trial->turn.key = 1000;
    trial->turns = &trial->turn;
    trial->filter.matches = trial->matches;
    trial->line = (struct place_class){.queue = between(trial, 0, QUEUES - 1),
                                       .n_slots = between(trial, 1, 6),
                                       .filter = &trial->filter,
                                       .entries = &trial->turns,
                                       .n_entries = 1,
                                       .max_starts = 1,
                                       .limit_class = trial->classes[JOBS]};
    trial->line.is_exclusive = rng_percent(&trial->rng, trial->exclusive_percent);
    make_licences(trial);
    make_parts(trial);
}

static void clear(struct trial *trial)
{
    for (int i = 0; i < trial->n_jobs; i++) {
        limits_leave(trial->limits, trial->classes[i]);
    }
    limits_leave(trial->limits, trial->classes[JOBS]);
    limits_free(trial->limits);
}

/* ---------------------------------------------------------------- the twin */

static bool names(const struct preempt_target *targets, int n_targets, int queue)
{
    for (int i = 0; i < n_targets; i++) {
        if (targets[i].queue == queue) {
            return true;
        }
    }
    return false;
}

static bool may_be_taken(const struct trial *trial, const struct preempt_job *job)
{
    int high = trial->line.queue, low = job->queue;
    const struct preempt_queue *above = &trial->rule_of[high];
    const struct preempt_queue *below = &trial->rule_of[low];
    bool is_named = false;
    for (int i = 0; i < below->n_preemptable_by; i++) {
        is_named = is_named || below->preemptable_by[i] == high;
    }
    bool is_target =
        above->is_preemptive &&
        (above->n_targets == 0 || names(above->targets, above->n_targets, low));
    bool is_open = below->is_preemptable && (below->n_preemptable_by == 0 || is_named);
    return trial->queues[high].priority > trial->queues[low].priority &&
           (is_target || is_open) &&
           !(below->protection.max_count > 0 &&
             job->n_preempted > below->protection.max_count);
}

/* True if that side has the licences of that kind for so many slots. */
static bool has_kind(const struct trial *trial, unsigned subset, int side, int with,
                     int n_slots)
{
    const struct rusage_item *ask = &trial->ask_of[with];
    int64_t n_left = trial->left[pool_at(with, side)];
    int64_t n_times = ask->scope == RESREQ_SCOPE_SLOT ? n_slots : 1;
    for (int i = 0; i < trial->n_jobs; i++) {
        bool gives = (subset & 1U << i) != 0 && trial->jobs[i].n_releases > 0 &&
                     trial->parts[i].supply == pool_at(with, side);
        n_left += gives ? trial->parts[i].milli : 0;
    }
    return n_left >= n_times * ask->milli;
}

/* True if that side has what the job reserves with an alternative, or its parts. */
static bool has_licences(const struct trial *trial, unsigned subset, int side, int with)
{
    bool has_all = true;
    if (!trial->has_parts) {
        return trial->n_asks == 0 ||
               has_kind(trial, subset, side, with, trial->line.n_slots);
    }
    for (int i = 0; i < trial->n_asks; i++) {
        has_all = has_all && has_kind(trial, subset, side, i, trial->part_slots[i]);
    }
    return has_all;
}

static int count_alternatives(const struct trial *trial)
{
    return trial->has_parts ? 1 : trial->n_asks;
}

/* True if the job, with that alternative, or one of its parts, may use the host and
 * reserves licences of that kind. */
static bool wants_kind(const struct trial *trial, int host, int kind, int with)
{
    return trial->has_parts ? kind < trial->n_asks && trial->part_matches[kind][host]
                            : kind == with && trial->n_asks > 0;
}

/* Free slots of the host with that subset suspended; on the site's side an exclusive
 * job needs the whole host. */
static int free_without(const struct trial *trial, unsigned subset, int host)
{
    int n_used = 0;
    bool is_taken = false;
    for (int i = 0; i < trial->n_jobs; i++) {
        const struct preempt_job *job = &trial->jobs[i];
        bool is_still = (subset & 1U << i) != 0 &&
                        (!job->is_exclusive || trial->rules.has_exclusive);
        for (int k = 0; k < job->n_pieces && !is_still; k++) {
            bool is_here = trial->pieces[i][k].host == host;
            n_used += is_here ? trial->pieces[i][k].n_slots : 0;
            is_taken = is_taken || (is_here && job->is_exclusive);
        }
    }
    bool is_of_use = !trial->line.is_exclusive || (n_used == 0 && host < 2);
    return is_of_use && !is_taken ? trial->hosts[host].max - n_used : 0;
}

/* Slots for all of the job, or all of its parts, are free on that side. */
static bool has_room(const struct trial *trial, unsigned subset, int side)
{
    int n_free = 0, of_part[PARTS] = {0};
    for (int i = 2 * side; i < 2 * side + 2; i++) {
        bool is_allowed = trial->hosts[i].is_open && trial->matches[i];
        int n = is_allowed ? free_without(trial, subset, i) : 0;
        n_free += n;
        for (int k = 0; k < PARTS; k++) {
            of_part[k] += trial->part_matches[k][i] ? n : 0;
        }
    }
    return n_free >= trial->line.n_slots && of_part[0] >= trial->part_slots[0] &&
           of_part[1] >= trial->part_slots[1];
}

static bool fits_without(const struct trial *trial, unsigned subset, int with)
{
    int n_user = trial->line.n_slots;
    for (int i = 0; i < trial->n_jobs; i++) {
        bool is_still = (subset & 1U << i) != 0;
        bool counts = !is_still || trial->limit.counts_yielded;
        n_user += trial->user_of[i] == trial->user_of[JOBS] && counts
                      ? trial->jobs[i].n_slots
                      : 0;
    }
    return n_user <= trial->limit.slots &&
           ((has_room(trial, subset, 0) && has_licences(trial, subset, 0, with)) ||
            (has_room(trial, subset, 1) && has_licences(trial, subset, 1, with)));
}

/* With that alternative, all jobs may be preempted, and all are on one side, since a
 * job starts on own hosts or on those of a lease. */
static bool serves(const struct trial *trial, unsigned subset, int with)
{
    int side = -1;
    for (int i = 0; i < trial->n_jobs; i++) {
        if ((subset & 1U << i) == 0) {
            continue;
        }
        const struct preempt_job *job = &trial->jobs[i];
        bool gives = false;
        for (int k = 0; k < job->n_pieces; k++) {
            int host = trial->pieces[i][k].host;
            gives = gives || (trial->matches[host] && trial->hosts[host].is_open);
        }
        int own = job->n_pieces > 0 ? trial->pieces[i][0].host / 2 : -1;
        for (int k = 2 * own; own >= 0 && k < 2 * own + 2; k++) {
            bool is_allowed = trial->matches[k] && trial->hosts[k].is_open;
            for (int kind = 0; kind < KINDS; kind++) {
                gives = gives || (is_allowed && wants_kind(trial, k, kind, with) &&
                                  job->n_releases > 0 &&
                                  trial->parts[i].supply == pool_at(kind, own));
            }
        }
        if (!gives || !may_be_taken(trial, job) || (side >= 0 && side != own)) {
            return false;
        }
        side = own;
    }
    if (!fits_without(trial, subset, with)) {
        return false;
    }
    /* The job fits on the side of the preempted jobs. */
    return side < 0 ||
           (has_room(trial, subset, side) && has_licences(trial, subset, side, with));
}

static int count(unsigned subset)
{
    int n = 0;
    for (; subset != 0; subset &= subset - 1) {
        n++;
    }
    return n;
}

/* The least number of jobs that serve with that alternative; -1: no subset does. */
static int least(const struct trial *trial, int with)
{
    int best = -1;
    for (unsigned subset = 1; subset < 1U << trial->n_jobs; subset++) {
        if ((best < 0 || count(subset) < best) && serves(trial, subset, with)) {
            best = count(subset);
        }
    }
    return best;
}

/* ---------------------------------------------------------------- the plan */

#define HOLD(trial, condition)                                                         \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fail_msg("SEED=%" PRIu64 ": %s", (trial)->seed, #condition);               \
        }                                                                              \
    } while (0)

static void judge_hosts(const struct trial *trial, const struct preempt_claim *claim,
                        unsigned subset)
{
    int n_slots = 0, others[PARTS] = {0};
    for (int i = 0; i < claim->n_hosts; i++) {
        int host = 0;
        while (strcmp(host_names[host], claim->hosts[i].host) != 0) {
            host++;
        }
        HOLD(trial, claim->hosts[i].n_slots <= free_without(trial, subset, host));
        HOLD(trial, trial->matches[host] && trial->hosts[host].is_open);
        HOLD(trial, strcmp(claim->lease, trial->hosts[host].lease) == 0);
        n_slots += claim->hosts[i].n_slots;
        for (int k = 0; k < PARTS; k++) {
            others[k] += trial->part_matches[k][host] ? 0 : claim->hosts[i].n_slots;
        }
    }
    HOLD(trial, n_slots == trial->line.n_slots);
    for (int k = 0; trial->has_parts && k < PARTS; k++) {
        HOLD(trial, n_slots - others[k] >= trial->part_slots[k]);
    }
}

static void judge(const struct trial *trial, const struct preempt_plan *plan)
{
    bool may = !trial->line.is_exclusive || trial->rules.has_exclusive;
    int with = 0, best = may ? least(trial, 0) : 0;
    while (may && best <= 0 && with + 1 < count_alternatives(trial)) {
        best = least(trial, ++with); /* the first alternative that any subset serves */
    }
    HOLD(trial, (plan->n_claims == 1) == (best > 0));
    if (plan->n_claims == 0) {
        return;
    }
    const struct preempt_claim *claim = &plan->claims[0];
    HOLD(trial, trial->has_parts ||
                    claim->rusage == (trial->n_asks > 0 ? &trial->asks[with] : NULL));
    unsigned subset = 0;
    bool is_serial = true;
    for (int i = 0; i < claim->n_victims; i++) {
        subset |= 1U << claim->victims[i];
        is_serial = is_serial && trial->jobs[claim->victims[i]].n_slots == 1;
    }
    HOLD(trial, serves(trial, subset, with));
    judge_hosts(trial, claim, subset);
    if (trial->rules.preempt_for == PREEMPT_FOR_OPTIMAL_MINI_JOB &&
        trial->limit.slots == LIMIT_MAX && trial->n_asks == 0 && !trial->has_parts) {
        HOLD(trial, claim->n_victims == best);
    }
    if (trial->rules.preempt_for == PREEMPT_FOR_MINI_JOB || is_serial ||
        trial->line.is_exclusive || trial->line.n_slots == 1 || trial->n_asks > 0 ||
        trial->has_parts) {
        for (int i = 0; i < claim->n_victims && claim->n_victims > 1; i++) {
            HOLD(trial, !serves(trial, subset & ~(1U << claim->victims[i]), with));
        }
    }
}

/* Counts the job if it preempts, and again if it has parts. */
static void run(uint64_t seed, int *n_claims, int *n_of_parts)
{
    struct trial trial;
    struct arena arena;
    struct place_plan placed;
    arena_init(&arena);
    make(&trial, seed);
    struct place_snapshot place = {
        .hosts = trial.hosts,
        .n_hosts = HOSTS,
        .queues = trial.queues,
        .n_queues = QUEUES,
        .classes = &trial.line,
        .n_classes = 1,
        .limits = trial.limits,
        .supply = trial.n_asks > 0 ? &trial.reserve : NULL,
        .now_ms = NOW_MS,
        .max_starts = 1,
    };
    const struct preempt_snapshot snapshot = {
        .policy = &trial.rules,
        .jobs = trial.jobs,
        .n_jobs = trial.n_jobs,
        .max_jobs = 1,
    };
    place.preempt = &snapshot;
    place_plan(&arena, &place, &placed);
    const struct preempt_plan *plan = placed.preempt;
    *n_claims += plan->n_claims;
    *n_of_parts += trial.has_parts ? plan->n_claims : 0;
    if (placed.n_starts == 0) {
        judge(&trial, plan);
    } else {
        HOLD(&trial, plan->n_claims == 0);
    }
    clear(&trial);
    arena_release(&arena);
}

static void test_worlds(void **state)
{
    const char *text = getenv("SEED");
    int n_claims = 0, n_of_parts = 0;
    (void)state;
    if (text != NULL) {
        run(strtoull(text, NULL, 10), &n_claims, &n_of_parts);
        return;
    }
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        run(seed, &n_claims, &n_of_parts);
    }
    /* Otherwise too little was tested. */
    assert_true(n_claims > WORLDS / 20 && n_of_parts > WORLDS / 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worlds)};
    return cmocka_run_group_tests_name("preempt", tests, NULL, NULL);
}
