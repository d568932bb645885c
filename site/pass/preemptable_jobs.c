/* SPDX-License-Identifier: Apache-2.0 */
/* preemptable_jobs.c: see preemptable_jobs.h. */
#include "site/pass/preemptable_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "site/job/job.h"
#include "site/pass/capacity.h"
#include "site/pass/preempt_claims.h"

/* Where the first host of a running job stood in the last list: looked at first there
 * in the next, as thousands run on where they did. */
struct seat {
    uint64_t attempt;
    int place;
};

struct preemptable_jobs {
    struct seat *seats; /* of the last list, by attempt */
    int n_seats;
    struct seat *next; /* where those of the next are written */
    struct preempt_job *jobs;
    struct rusage_piece *firsts; /* of each of `jobs` that has one host, its piece */
    int capacity;                /* of all four */
};

struct preemptable_jobs *preemptable_jobs_new(void)
{
    return mem_alloc(1, sizeof(struct preemptable_jobs));
}

void preemptable_jobs_free(struct preemptable_jobs *preemptable)
{
    if (preemptable != NULL) {
        free(preemptable->seats);
        free(preemptable->next);
        free(preemptable->jobs);
        free(preemptable->firsts);
        free(preemptable);
    }
}

/* On a borrowed host an exclusive job stands in its provider's way too: it runs on. */
bool preemptable_jobs_is_preemptable(const struct job *job)
{
    return job->state == JOB_RUN && job->queue >= 0 &&
           (!job->spec->is_exclusive || job->lease[0] == '\0') &&
           job->halt.causes == 0 && !job->is_killed && !job_is_requeued(job) &&
           job->is_decided;
}

static bool is_at(const struct host_table *own, const struct job *job, int place)
{
    return job->lease[0] == '\0' && place >= 0 && place < host_table_count(own) &&
           strcmp(host_table_name(own, place), job->hosts[0].host) == 0;
}

/* Host by host; `hint`: where the first may stand, if it is one of the site's own; -1
 * unknown. True where all are in the snapshot. */
static bool show_pieces(const struct host_table *own,
                        const struct place_snapshot *snapshot, const struct job *job,
                        int hint, struct rusage_piece *pieces)
{
    bool has_all = true;
    for (int i = 0; i < job->n_hosts; i++) {
        int place = i == 0 && is_at(own, job, hint)
                        ? hint
                        : capacity_find_host(own, snapshot->hosts, snapshot->n_hosts,
                                             job->lease, job->hosts[i].host);
        pieces[i] = (struct rusage_piece){place, job->hosts[i].n_slots};
        has_all = has_all && place >= 0;
    }
    return has_all;
}

/* `first`: room for its pieces, if it has one. */
static struct preempt_job show_job(const struct preempt_claims_parts *from,
                                   struct rusage_pass *reserves, struct arena *arena,
                                   const struct place_snapshot *snapshot,
                                   const struct job *job, int hint,
                                   struct rusage_piece *first, int64_t now_ms)
{
    struct rusage_piece *pieces =
        job->n_hosts <= 1 ? first
                          : arena_alloc(arena, (size_t)job->n_hosts, sizeof(*pieces));
    bool has_all = show_pieces(from->hosts, snapshot, job, hint, pieces);
    const struct rusage_amount *parts = NULL;
    int n_parts =
        job->ledger != NULL ? rusage_pass_preemptable(reserves, job, &parts) : 0;
    return (struct preempt_job){
        .releases = parts,
        .n_releases = n_parts,
        .key = job_key(job),
        .queue = job->queue,
        .n_slots = msg_sum_slots(job->hosts, job->n_hosts),
        .pieces = pieces,
        .hosts = job->hosts,
        /* On a host that is gone: it gives nothing. */
        .n_pieces = has_all ? job->n_hosts : 0,
        .limit_class = job->class,
        .start_ms = job->start_ms,
        .running_since_ms =
            job->halt.resumed_ms > job->start_ms ? job->halt.resumed_ms : job->start_ms,
        .ran_ms = job_ran_ms(job, now_ms),
        .suspended_ms = job->halt.total_ms,
        .run_limit_ms = job_run_limit_ms(job, now_ms),
        .n_preempted = job->halt.n_preempted,
        .is_exclusive = job->spec->is_exclusive,
        .protection = preempt_policy_protection(&from->config->preempt, arena,
                                                job->queue, job->spec->app),
    };
}

/* The attempt's place in the last list, from seat `*next` on; -1: it was in none. */
static int last_place(const struct preemptable_jobs *last, uint64_t attempt, int *next)
{
    while (*next < last->n_seats && last->seats[*next].attempt < attempt) {
        (*next)++;
    }
    bool is_known = *next < last->n_seats && last->seats[*next].attempt == attempt;
    return is_known ? last->seats[*next].place : -1;
}

static void make_room(struct preemptable_jobs *preemptable, int n_seats)
{
    if (n_seats > preemptable->capacity) {
        size_t capacity = (size_t)n_seats * 2;
        preemptable->seats =
            mem_grow(preemptable->seats, capacity, sizeof(struct seat));
        preemptable->next = mem_grow(preemptable->next, capacity, sizeof(struct seat));
        preemptable->jobs =
            mem_grow(preemptable->jobs, capacity, sizeof(struct preempt_job));
        preemptable->firsts =
            mem_grow(preemptable->firsts, capacity, sizeof(struct rusage_piece));
        preemptable->capacity = (int)capacity;
    }
}

static void keep_seats(struct preemptable_jobs *preemptable, int n_seats)
{
    struct seat *last = preemptable->seats;
    preemptable->seats = preemptable->next;
    preemptable->n_seats = n_seats;
    preemptable->next = last;
}

/* Open jobs stand by attempt, as the seats do. */
const struct preempt_job *preemptable_jobs_list(
    struct preemptable_jobs *preemptable, const struct preempt_claims_parts *parts,
    struct rusage_pass *reserves, struct arena *arena,
    const struct place_snapshot *snapshot, int64_t now_ms, int *n_jobs)
{
    int n_open = job_table_count_open(parts->jobs), next = 0, n = 0;
    make_room(preemptable, n_open + 1);
    struct preempt_job *jobs = preemptable->jobs;
    for (int i = 0; i < n_open; i++) {
        const struct job *job = job_table_open_at(parts->jobs, i);
        if (preemptable_jobs_is_preemptable(job)) {
            int hint = last_place(preemptable, job->attempt, &next);
            jobs[n] = show_job(parts, reserves, arena, snapshot, job, hint,
                               &preemptable->firsts[n], now_ms);
            int place = job->n_hosts > 0 ? jobs[n].pieces[0].host : -1;
            preemptable->next[n++] = (struct seat){job->attempt, place};
        }
    }
    keep_seats(preemptable, n);
    *n_jobs = n;
    return jobs;
}
