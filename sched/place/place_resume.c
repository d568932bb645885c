/* SPDX-License-Identifier: Apache-2.0 */
/* place_resume.c: see place_pass.h: which suspended jobs go on, and what is kept for
 * those that cannot yet.
 *
 *     n1 has 4 slots; suspended: 1 (3 slots), 2 (1 slot); 1 slot is free
 *     job 1 does not fit, job 2 goes on; no slot is left to keep for job 1
 *     2 slots are free: job 2 goes on, and the other slot is kept for job 1 */
#include "sched/place/place_pass.h"
#include "sched/preempt/preempt.h"
#include "sched/reservation/reservation.h"

/* What is kept for one job on one of its hosts; or of one supply (host -1). */
struct place_kept_part {
    int host, supply;
    int64_t amount;
    bool was_used_exclusively;
};

struct place_resuming {
    bool *is_tried, *has_gone_on, *is_kept; /* by suspended job */
    bool *is_through; /* by queue: nothing is left to do before its classes */
    int n_tried;
    struct place_kept_part *parts; /* that are kept now */
    int n_parts;
};

void place_resume_init(struct place_pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    struct place_resuming *resuming = arena_alloc(pass->arena, 1, sizeof(*resuming));
    size_t n_resumes = (size_t)snapshot->n_resumes + 1, n_parts = 0;
    for (int i = 0; i < snapshot->n_resumes; i++) {
        n_parts +=
            (size_t)(snapshot->resumes[i].n_hosts + snapshot->resumes[i].n_released);
    }
    resuming->is_tried = arena_alloc(pass->arena, n_resumes, sizeof(bool));
    resuming->has_gone_on = arena_alloc(pass->arena, n_resumes, sizeof(bool));
    resuming->is_kept = arena_alloc(pass->arena, n_resumes, sizeof(bool));
    resuming->is_through =
        arena_alloc(pass->arena, (size_t)snapshot->n_queues + 1, sizeof(bool));
    resuming->parts = arena_alloc(pass->arena, n_parts + 1, sizeof(*resuming->parts));
    pass->resuming = resuming;
}

bool place_resume_is_over(const struct place_pass *pass)
{
    return pass->resuming->n_tried == pass->snapshot->n_resumes;
}

/* ---------------------------------------------------------------- order */

/* By the priority of its queue; a job whose queue is gone comes last. */
static bool is_queue_before(const struct place_pass *pass,
                            const struct place_resume *resume, int queue)
{
    const struct queue_config *queues = pass->snapshot->queues;
    if (resume->queue < 0) {
        return false;
    }
    int own = queues[resume->queue].priority, other = queues[queue].priority;
    return own != other ? own > other : resume->queue <= queue;
}

static bool may_preempt(const struct place_pass *pass, int queue,
                        const struct place_resume *resume)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    int level;
    return snapshot->preempt != NULL && resume->queue >= 0 &&
           preempt_policy_may(snapshot->preempt->policy, snapshot->queues, queue,
                              resume->queue, &level);
}

/* It would end in its gap: before the job can start whose reserved slots it used. */
static bool ends_in_gap(const struct place_resume *resume)
{
    return resume->backfill.lender != 0 && resume->end_ms <= resume->backfill.until_ms;
}

/* The suspended job comes before pending jobs of the queue; -1: they are over. */
static bool is_before(const struct place_pass *pass, const struct place_resume *resume,
                      int queue)
{
    if (queue < 0) {
        return true;
    }
    return resume->backfill.lender != 0 && !ends_in_gap(resume)
               ? is_queue_before(pass, resume, queue)
               : !may_preempt(pass, queue, resume);
}

/* ---------------------------------------------------------------- room */

static int size_of(const struct place_host *host)
{
    return host->max > host->n_resume_slots ? host->max : host->n_resume_slots;
}

/* Of its own host, closed or not: the job was here before. `n_slots`: of the job. */
static int left_on(const struct place_pass *pass, int host, int n_slots)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    int left = size_of(at) - pass->state.used[host];
    if (pass->state.is_used_exclusively[host]) {
        return 0;
    }
    bool is_too_small = at->n_resume_alone > 0 && n_slots >= at->n_resume_alone;
    if ((at->is_idle || is_too_small) && pass->state.used[host] == 0) {
        return n_slots; /* also where the host is too small for it now */
    }
    return left < 0 ? 0 : left < n_slots ? left : n_slots;
}

/* An exclusive job resumes on a host where nothing runs, of this site or of others. */
static bool has_host(const struct place_pass *pass, int host)
{
    return pass->state.used[host] == 0 && !pass->snapshot->hosts[host].has_foreign_jobs;
}

static bool fits(const struct place_pass *pass, const struct place_resume *resume)
{
    int n_processors = 0;
    for (int i = 0; i < resume->n_hosts; i++) {
        int n_slots = resume->hosts[i].n_slots;
        if (resume->indexes[i] < 0 ||
            pass->snapshot->hosts[resume->indexes[i]].is_unreported ||
            left_on(pass, resume->indexes[i], n_slots) < n_slots ||
            (resume->is_exclusive && !has_host(pass, resume->indexes[i]))) {
            return false;
        }
        const struct place_host *host = &pass->snapshot->hosts[resume->indexes[i]];
        n_processors = host->n_processors > 0    ? host->n_processors
                       : size_of(host) > n_slots ? size_of(host)
                                                 : n_slots;
    }
    if (!rusage_supply_has(pass->state.supply_left, resume->released,
                           resume->n_released)) {
        return false;
    }
    return pass->limits == NULL || resume->limit_class == NULL ||
           limits_may_resume(pass->limits, resume->limit_class, resume->hosts,
                             resume->n_hosts, n_processors);
}

/* ---------------------------------------------------------------- going on */

/* Counts the slots and resources as used that are there for the job; lists them as
 * kept where `is_kept`. */
static int take(struct place_pass *pass, const struct place_resume *resume,
                bool is_kept)
{
    struct place_resuming *resuming = pass->resuming;
    struct place_kept_part *parts = &resuming->parts[resuming->n_parts];
    int n_parts = 0, n_slots = 0;
    for (int i = 0; i < resume->n_hosts; i++) {
        int host = resume->indexes[i];
        if (host < 0) {
            continue;
        }
        bool *is_used_exclusively = &pass->state.is_used_exclusively[host];
        int left = left_on(pass, host, resume->hosts[i].n_slots);
        parts[n_parts++] =
            (struct place_kept_part){host, -1, left, *is_used_exclusively};
        pass->state.used[host] += left;
        pass->state.suspended[host] -= left;
        n_slots += left;
        /* Nothing more begins there, so that it falls idle. */
        *is_used_exclusively =
            *is_used_exclusively ||
            (resume->is_exclusive && !pass->snapshot->hosts[host].has_foreign_jobs);
    }
    for (int i = 0; i < resume->n_released; i++) {
        const struct rusage_amount *amount = &resume->released[i];
        int64_t taken = rusage_supply_take_some(
            &pass->state.supply_left[amount->supply], amount->milli);
        parts[n_parts++] = (struct place_kept_part){-1, amount->supply, taken, false};
    }
    resuming->n_parts += is_kept ? n_parts : 0;
    return n_slots;
}

/* The job fits, perhaps on slots that are reserved for others: in its gap, or for jobs
 * that its queue may preempt. */
static bool take_if_fits(struct place_pass *pass, const struct place_resume *resume)
{
    struct reservation_pass *reservations = pass->reservations;
    if (fits(pass, resume)) {
        take(pass, resume, false);
        return true;
    }
    if (reservations == NULL || resume->queue < 0) {
        return false;
    }
    int gap = ends_in_gap(resume)
                  ? reservation_find(reservations, resume->backfill.lender)
                  : -1;
    if (gap >= 0 &&
        reservation_next(reservations, resume->queue, gap - 1, resume->end_ms) == gap) {
        reservation_open(reservations, gap);
        if (fits(pass, resume)) {
            uint64_t lender;
            int64_t until_ms;
            take(pass, resume, false);
            reservation_backfill(reservations, resume->indexes, resume->hosts,
                                 resume->n_hosts, &lender, &until_ms);
            return true;
        }
        reservation_close(reservations);
    }
    if (!reservation_gives_way(reservations, resume->queue)) {
        return false;
    }
    reservation_open_for(reservations, resume->queue, -1, false);
    if (fits(pass, resume)) {
        take(pass, resume, false);
        reservation_use(reservations);
        return true;
    }
    reservation_close(reservations);
    return false;
}

static void try(struct place_pass *pass, int index, struct place_plan *plan)
{
    const struct place_resume *resume = &pass->snapshot->resumes[index];
    pass->resuming->is_tried[index] = true;
    pass->resuming->n_tried++;
    if (!take_if_fits(pass, resume)) {
        return;
    }
    pass->resuming->has_gone_on[index] = true;
    plan->resumes[plan->n_resumes++] = resume->job;
    if (pass->limits != NULL && resume->limit_class != NULL) {
        limits_tentative_yield(pass->limits, resume->limit_class, resume->hosts,
                               resume->n_hosts, false);
    }
}

/* ---------------------------------------------------------------- keeping */

/* What is kept for some suspended jobs is there for the others, while they are tried.
 */
static void lift(struct place_pass *pass)
{
    struct place_resuming *resuming = pass->resuming;
    while (resuming->n_parts > 0) {
        const struct place_kept_part *part = &resuming->parts[--resuming->n_parts];
        if (part->host < 0) {
            pass->state.supply_left[part->supply] += part->amount;
            continue;
        }
        pass->state.used[part->host] -= (int)part->amount;
        pass->state.suspended[part->host] += (int)part->amount;
        pass->state.is_used_exclusively[part->host] = part->was_used_exclusively;
    }
}

/* Keeps what is free for the jobs whose queue has the place of this one in the pass, or
 * an earlier one; -1: for the same jobs as before. */
static void keep(struct place_pass *pass, int queue, struct place_plan *plan)
{
    struct place_resuming *resuming = pass->resuming;
    const struct place_snapshot *snapshot = pass->snapshot;
    plan->n_kept = 0;
    for (int i = 0; i < snapshot->n_resumes; i++) {
        const struct place_resume *resume = &snapshot->resumes[i];
        resuming->is_kept[i] =
            resuming->is_kept[i] ||
            (queue >= 0 && resuming->is_tried[i] && !resume->keeps_nothing &&
             is_queue_before(pass, resume, queue));
        if (!resuming->is_kept[i] || resuming->has_gone_on[i]) {
            continue;
        }
        int n_slots = take(pass, resume, true);
        if (n_slots > 0) {
            plan->kept[plan->n_kept++] = (struct place_kept){resume->job, n_slots};
        }
    }
}

void place_resume_before(struct place_pass *pass, int class, struct place_plan *plan)
{
    struct place_resuming *resuming = pass->resuming;
    const struct place_snapshot *snapshot = pass->snapshot;
    int queue = class < 0 ? -1 : snapshot->classes[class].queue;
    if (snapshot->n_resumes == 0 || (queue >= 0 && resuming->is_through[queue])) {
        return;
    }
    lift(pass);
    for (int i = 0; i < snapshot->n_resumes; i++) {
        if (!resuming->is_tried[i] && is_before(pass, &snapshot->resumes[i], queue)) {
            try(pass, i, plan);
        }
    }
    keep(pass, queue, plan);
    if (queue >= 0) {
        resuming->is_through[queue] = true;
    }
}

void place_resume_count_waiting(const struct place_pass *pass, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    for (int i = 0; i < snapshot->n_resumes; i++) {
        const struct place_resume *resume = &snapshot->resumes[i];
        for (int k = 0; k < resume->n_hosts && !pass->resuming->has_gone_on[i]; k++) {
            int host = resume->indexes[k], n_slots = resume->hosts[k].n_slots;
            if (host >= 0 && left_on(pass, host, n_slots) < n_slots) {
                place_state_add_waiting(&pass->state, pass->state.group_of[host],
                                        n_slots, plan);
            }
        }
    }
}
