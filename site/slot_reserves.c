/* SPDX-License-Identifier: Apache-2.0 */
/* slot_reserves.c: see slot_reserves.h. */
#include "site/slot_reserves.h"

#include <stdlib.h>
#include <string.h>

#include "site/halts.h"
#include "site/keep.h"
#include "site/parts.h"

/* A run that begins only when its gap is over still has to end by a limit. */
enum { GAP_MIN_MS = 1000 };

struct kept {
    struct slot_reserved shown; /* its texts are the table's own */
    struct host_slots *hosts;
    int *lent;
    char *lease;
};

/* A job that has reserved long enough for now. */
struct bar {
    uint64_t job;
    int64_t until_ms;
};

struct slot_reserves {
    struct kept *items;
    int count;
    struct bar *bars;
    int n_bars, bars_capacity;
    int64_t wake_ms;
};

struct slot_reserves *slot_reserves_new(void)
{
    struct slot_reserves *reserves = mem_alloc(1, sizeof(*reserves));
    reserves->items = mem_alloc(SLOT_RESERVATIONS_MAX, sizeof(*reserves->items));
    reserves->wake_ms = INT64_MAX;
    return reserves;
}

static void release(struct kept *kept)
{
    free(kept->hosts);
    free(kept->lent);
    keep_free(kept->lease);
}

void slot_reserves_free(struct slot_reserves *reserves)
{
    if (reserves == NULL) {
        return;
    }
    for (int i = 0; i < reserves->count; i++) {
        release(&reserves->items[i]);
    }
    free(reserves->items);
    free(reserves->bars);
    free(reserves);
}

int64_t slot_reserves_wake_ms(const struct slot_reserves *reserves)
{
    return reserves->wake_ms;
}

/* ---------------------------------------------------------------- what is told */

int slot_reserves_count(const struct slot_reserves *reserves)
{
    return reserves->count;
}

void slot_reserves_at(const struct slot_reserves *reserves, int index,
                      struct slot_reserved *reserved)
{
    *reserved = reserves->items[index].shown;
}

static int find(const struct slot_reserves *reserves, uint64_t job)
{
    int i = 0;
    while (i < reserves->count && reserves->items[i].shown.job != job) {
        i++;
    }
    return i < reserves->count ? i : -1;
}

bool slot_reserves_find(const struct slot_reserves *reserves, uint64_t job,
                        struct slot_reserved *reserved)
{
    int index = find(reserves, job);
    if (index < 0) {
        return false;
    }
    *reserved = reserves->items[index].shown;
    return true;
}

/* ---------------------------------------------------------------- whose, how long */

static void bar(struct slot_reserves *reserves, uint64_t job, int64_t until_ms)
{
    if (reserves->n_bars == reserves->bars_capacity) {
        reserves->bars_capacity = reserves->bars_capacity * 2 + 8;
        reserves->bars = mem_grow(reserves->bars, (size_t)reserves->bars_capacity,
                                  sizeof(*reserves->bars));
    }
    reserves->bars[reserves->n_bars++] = (struct bar){job, until_ms};
}

static void lift_bars(struct slot_reserves *reserves, int64_t now_ms)
{
    int n_kept = 0;
    for (int i = 0; i < reserves->n_bars; i++) {
        if (reserves->bars[i].until_ms > now_ms) {
            reserves->bars[n_kept++] = reserves->bars[i];
        }
    }
    reserves->n_bars = n_kept;
}

/* The first of the line that the job stands in; NULL: it stands in none. */
static const struct job *first_of(const struct site *site, uint64_t key)
{
    const struct job *job = jobs_find(site->jobs, key);
    int n_turns;
    return job != NULL && job->line != NULL
               ? jobs_of_turn(line_turns(job->line, &n_turns)[0])
               : NULL;
}

/* False: the reservation is over. */
static bool goes_on(struct site *site, struct kept *kept, int64_t now_ms)
{
    struct slot_reserves *reserves = site->slot_reserves;
    const struct job *first = first_of(site, kept->shown.job);
    if (first == NULL) {
        return false;
    }
    if (jobs_key(first) != kept->shown.job && find(reserves, jobs_key(first)) >= 0) {
        return false; /* that one has its own */
    }
    kept->shown.job = jobs_key(first);
    const struct queue_reserve *rule = &site->config->queues[first->queue].reserve;
    if (now_ms - kept->shown.since_ms < rule->max_ms) {
        return true;
    }
    bar(reserves, kept->shown.job, now_ms + rule->session_ms);
    return false;
}

static void drop_old(struct site *site, int64_t now_ms)
{
    struct slot_reserves *reserves = site->slot_reserves;
    lift_bars(reserves, now_ms);
    for (int i = 0; i < reserves->count;) {
        if (goes_on(site, &reserves->items[i], now_ms)) {
            i++;
            continue;
        }
        release(&reserves->items[i]);
        reserves->count--;
        memmove(&reserves->items[i], &reserves->items[i + 1],
                (size_t)(reserves->count - i) * sizeof(*reserves->items));
    }
}

/* ---------------------------------------------------------------- what is shown */

/* What a pass is shown, and what it needs to show more. */
struct shown {
    struct slot_reserve_snapshot snapshot;
    struct site *site;
    struct arena *arena;
};

static bool is_barred(void *arg, uint64_t job)
{
    const struct shown *shown = arg;
    const struct slot_reserves *reserves = shown->site->slot_reserves;
    for (int i = 0; i < reserves->n_bars; i++) {
        if (reserves->bars[i].job == job) {
            return true;
        }
    }
    return false;
}

int64_t slot_reserves_limit_ms(const struct site *site, const struct job *job)
{
    int64_t limit_ms = job->spec->run_limit_ms;
    int64_t from_ms = job->start_ms != 0 ? job->start_ms : site->now_ms;
    int64_t gap_ms = job->backfill.until_ms - from_ms;
    if (job->backfill.of == 0 || job->queue < 0 ||
        site->config->queues[job->queue].reserve.slice_ms == 0 || limit_ms <= gap_ms) {
        return limit_ms;
    }
    return gap_ms > GAP_MIN_MS ? gap_ms : GAP_MIN_MS;
}

bool slot_reserves_is_cut(const struct site *site, const struct job *job)
{
    return slot_reserves_limit_ms(site, job) != job->spec->run_limit_ms;
}

/* When it ends, as far as its run limit tells; one that stands still may stand so for
 * long. */
static int64_t end_of(const struct site *site, const struct job *job, int64_t now_ms)
{
    int64_t limit_ms = slot_reserves_limit_ms(site, job);
    if (limit_ms == 0 || job->halt.causes != 0) {
        return BACKFILL_NEVER;
    }
    int64_t ran_ms = job->start_ms != 0 ? halts_ran_ms(job, now_ms) : 0;
    return now_ms + (ran_ms < limit_ms ? limit_ms - ran_ms : 0);
}

static struct backfill_run *list_runs(void *arg, int *n_runs)
{
    const struct shown *shown = arg;
    const struct site *site = shown->site;
    const struct place_snapshot *place = shown->snapshot.place;
    int n_open = jobs_count_open(site->jobs);
    struct backfill_run *runs =
        arena_alloc(shown->arena, (size_t)n_open + 1, sizeof(*runs));
    *n_runs = 0;
    for (int i = 0; i < n_open; i++) {
        const struct job *job = jobs_open_at(site->jobs, i);
        int64_t end_ms = end_of(site, job, shown->snapshot.now_ms);
        if (end_ms == BACKFILL_NEVER) {
            continue;
        }
        struct backfill_piece *pieces =
            arena_alloc(shown->arena, (size_t)job->n_hosts + 1, sizeof(*pieces));
        struct backfill_run *run = &runs[(*n_runs)++];
        *run = (struct backfill_run){
            .key = jobs_key(job), .end_ms = end_ms, .pieces = pieces};
        for (int k = 0; k < job->n_hosts; k++) {
            int host = schedule_find_host(site, place->hosts, place->n_hosts,
                                          job->lease, job->hosts[k].host);
            if (host >= 0) {
                pieces[run->n_pieces++] =
                    (struct backfill_piece){host, job->hosts[k].n_slots};
            }
        }
    }
    return runs;
}

static struct slot_reserve_piece *piece_on(struct slot_reserve_piece *pieces,
                                           int *count, int host)
{
    for (int i = 0; i < *count; i++) {
        if (pieces[i].host == host) {
            return &pieces[i];
        }
    }
    pieces[*count] = (struct slot_reserve_piece){.host = host};
    return &pieces[(*count)++];
}

/* It runs on slots of another's reservation: one that stood still since does not. */
static bool is_lent(const struct job *job)
{
    return job->backfill.of != 0 && job->halt.causes == 0 && job->halt.resumed_ms == 0;
}

static void add_lent(const struct site *site, const struct place_snapshot *place,
                     uint64_t job, struct slot_reserve_piece *pieces, int *count)
{
    for (int i = 0; i < jobs_count_open(site->jobs); i++) {
        const struct job *borrower = jobs_open_at(site->jobs, i);
        for (int k = 0;
             borrower->backfill.of == job && is_lent(borrower) && k < borrower->n_hosts;
             k++) {
            int host = schedule_find_host(site, place->hosts, place->n_hosts,
                                          borrower->lease, borrower->hosts[k].host);
            if (host >= 0) {
                struct slot_reserve_piece *piece = piece_on(pieces, count, host);
                piece->n_lent += borrower->hosts[k].n_slots;
                if (piece->n_slots < piece->n_lent) {
                    piece->n_slots = piece->n_lent;
                }
            }
        }
    }
}

static void show_one(const struct site *site, struct arena *arena,
                     const struct place_snapshot *place, const struct kept *kept,
                     struct slot_reservation *shown)
{
    /* Lent slots may lie elsewhere: the job reserved others before a restart. */
    struct slot_reserve_piece *pieces =
        arena_alloc(arena, (size_t)place->n_hosts, sizeof(*pieces));
    const struct job *job = jobs_find(site->jobs, kept->shown.job);
    int count = 0;
    for (int i = 0; i < kept->shown.n_hosts; i++) {
        int host = schedule_find_host(site, place->hosts, place->n_hosts, kept->lease,
                                      kept->hosts[i].host);
        if (host >= 0) {
            piece_on(pieces, &count, host)->n_slots = kept->hosts[i].n_slots;
        }
    }
    add_lent(site, place, kept->shown.job, pieces, &count);
    *shown = (struct slot_reservation){.job = kept->shown.job,
                                       .line = line_index(job->line),
                                       .pieces = pieces,
                                       .n_pieces = count,
                                       .since_ms = kept->shown.since_ms};
}

static bool has_rule(const struct site *site)
{
    for (int i = 0; i < site->config->n_queues; i++) {
        if (site->config->queues[i].reserve.max_ms > 0) {
            return true;
        }
    }
    return false;
}

struct slot_reserve *slot_reserves_show(struct site *site, struct arena *arena,
                                        const struct place_snapshot *snapshot,
                                        int64_t now_ms)
{
    struct slot_reserves *reserves = site->slot_reserves;
    drop_old(site, now_ms);
    reserves->wake_ms = INT64_MAX;
    if (!has_rule(site)) {
        return NULL;
    }
    struct shown *shown = arena_alloc(arena, 1, sizeof(*shown));
    struct slot_reservation *kept =
        arena_alloc(arena, (size_t)reserves->count, sizeof(*kept));
    for (int i = 0; i < reserves->count; i++) {
        show_one(site, arena, snapshot, &reserves->items[i], &kept[i]);
    }
    shown->site = site;
    shown->arena = arena;
    shown->snapshot = (struct slot_reserve_snapshot){.place = snapshot,
                                                     .kept = kept,
                                                     .n_kept = reserves->count,
                                                     .runs = list_runs,
                                                     .is_barred = is_barred,
                                                     .arg = shown,
                                                     .now_ms = now_ms};
    return slot_reserve_new(arena, &shown->snapshot);
}

/* ---------------------------------------------------------------- afterwards */

static struct kept keep(struct arena *arena, const struct place_host *hosts,
                        const struct slot_reservation *from)
{
    struct host_slots *slots =
        arena_alloc(arena, (size_t)from->n_pieces, sizeof(*slots));
    struct slot_reserved shown = {.job = from->job,
                                  .n_hosts = from->n_pieces,
                                  .since_ms = from->since_ms,
                                  .start_ms = from->start_ms};
    int *lent = mem_alloc((size_t)from->n_pieces, sizeof(*lent));
    for (int i = 0; i < from->n_pieces; i++) {
        slots[i] = (struct host_slots){hosts[from->pieces[i].host].name,
                                       from->pieces[i].n_slots};
        lent[i] = from->pieces[i].n_lent;
    }
    struct kept kept = {shown, keep_hosts(slots, from->n_pieces), lent,
                        keep_text(hosts[from->pieces[0].host].lease)};
    kept.shown.hosts = kept.hosts;
    kept.shown.lent = kept.lent;
    kept.shown.lease = kept.lease;
    return kept;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t find_wake_ms(const struct site *site)
{
    const struct slot_reserves *reserves = site->slot_reserves;
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < reserves->count; i++) {
        const struct slot_reserved *shown = &reserves->items[i].shown;
        const struct job *job = jobs_find(site->jobs, shown->job);
        wake_ms = sooner(wake_ms, shown->since_ms +
                                      site->config->queues[job->queue].reserve.max_ms);
    }
    for (int i = 0; i < reserves->n_bars; i++) {
        wake_ms = sooner(wake_ms, reserves->bars[i].until_ms);
    }
    return wake_ms;
}

void slot_reserves_keep(struct site *site, struct arena *arena,
                        const struct place_host *hosts, struct slot_reserve *shown)
{
    struct slot_reserves *reserves = site->slot_reserves;
    int n_kept;
    if (shown == NULL) {
        return;
    }
    const struct slot_reservation *kept = slot_reserve_result(shown, &n_kept);
    for (int i = 0; i < reserves->count; i++) {
        release(&reserves->items[i]);
    }
    for (int i = 0; i < n_kept; i++) {
        reserves->items[i] = keep(arena, hosts, &kept[i]);
    }
    reserves->count = n_kept;
    reserves->wake_ms = find_wake_ms(site);
    if (slot_reserve_wants_pass(shown)) {
        schedule_mark(site->schedule);
    }
}
