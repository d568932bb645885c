/* SPDX-License-Identifier: Apache-2.0 */
/* running_slots.c: see running_slots.h. */
#include "site/pass/running_slots.h"

#include <string.h>

#include "site/job/job.h"
#include "site/job/lifecycle.h"
#include "site/pass/capacity.h"
#include "site/pass/reservation_table.h"

static int64_t end_of(const struct job *job, int64_t now_ms)
{
    int64_t limit_ms = job_run_limit_ms(job, now_ms);
    if (limit_ms == 0 || job->halt.causes != 0) {
        return BACKFILL_NEVER;
    }
    int64_t ran_ms = job->start_ms != 0 ? job_ran_ms(job, now_ms) : 0;
    return now_ms + (ran_ms < limit_ms ? limit_ms - ran_ms : 0);
}

static bool has_slots(const struct lifecycle *life, const struct job *job)
{
    return job->halt.causes == 0 || !job->halt.yields ||
           !lifecycle_is_suspended(life, job);
}

/* The same amounts, to be added to. */
static struct rusage_amount *copy_parts(struct rusage_pass *reserves,
                                        struct arena *arena, const struct job *job,
                                        int *n_parts)
{
    const struct rusage_amount *parts;
    *n_parts = rusage_pass_held(reserves, job, &parts);
    return *n_parts > 0 ? arena_copy(arena, parts, (size_t)*n_parts * sizeof(*parts))
                        : NULL;
}

static void list_run(const struct reservation_table_parts *parts,
                     struct rusage_pass *reserves, struct arena *arena,
                     const struct place_snapshot *place, const struct job *job,
                     struct backfill_run *run)
{
    struct rusage_piece *pieces =
        arena_alloc(arena, (size_t)job->n_hosts + 1, sizeof(*pieces));
    *run = (struct backfill_run){
        .key = job_key(job), .end_ms = end_of(job, place->now_ms), .pieces = pieces};
    run->parts = copy_parts(reserves, arena, job, &run->n_parts);
    for (int k = 0; has_slots(parts->life, job) && k < job->n_hosts; k++) {
        int host = capacity_find_host(parts->hosts, place->hosts, place->n_hosts,
                                      job->lease, job->hosts[k].host);
        if (host >= 0) {
            pieces[run->n_pieces++] =
                (struct rusage_piece){host, job->hosts[k].n_slots};
        }
    }
}

/* What is in use is somebody's: `used`, by pool, becomes what nobody explains. */
static void add_used(struct backfill_run *runs, int n_runs, int64_t *used)
{
    for (int i = 0; i < n_runs; i++) {
        struct rusage_amount *parts = (struct rusage_amount *)(uintptr_t)runs[i].parts;
        for (int k = 0; k < runs[i].n_parts; k++) {
            int64_t *left = &used[parts[k].supply];
            int64_t n = parts[k].milli < *left ? parts[k].milli : *left;
            parts[k].milli += n;
            *left -= n;
        }
    }
}

/* Nobody's end brings it; it is there all the same. */
static void list_rest(struct arena *arena, const int64_t *used, int n_pools,
                      struct backfill_run *run)
{
    struct rusage_amount *parts = arena_alloc(arena, (size_t)n_pools, sizeof(*parts));
    *run = (struct backfill_run){
        .key = UINT64_MAX, .end_ms = BACKFILL_NEVER, .parts = parts};
    for (int i = 0; i < n_pools; i++) {
        if (used[i] > 0) {
            parts[run->n_parts++] = (struct rusage_amount){i, used[i]};
        }
    }
}

struct backfill_run *running_slots_list(const struct reservation_table_parts *parts,
                                        struct rusage_pass *reserves,
                                        struct arena *arena,
                                        const struct place_snapshot *place, int *n_runs)
{
    int n_open = job_table_count_open(parts->jobs);
    int n_pools = place->supply != NULL ? place->supply->n_supplies : 0;
    struct backfill_run *runs = arena_alloc(arena, (size_t)n_open + 1, sizeof(*runs));
    for (int i = 0; i < n_open; i++) {
        list_run(parts, reserves, arena, place, job_table_open_at(parts->jobs, i),
                 &runs[i]);
    }
    backfill_sort(runs, n_open);
    *n_runs = n_open;
    if (n_pools > 0) {
        int64_t *used = supply_map_in_use(reserves, arena);
        add_used(runs, n_open, used);
        list_rest(arena, used, n_pools, &runs[(*n_runs)++]);
    }
    return runs;
}
