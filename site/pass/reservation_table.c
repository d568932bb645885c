/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_table.c: see reservation_table.h. */
#include "site/pass/reservation_table.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/pass/capacity.h"
#include "site/pass/running_slots.h"

struct kept {
    struct reserved_job shown; /* its texts are the table's own */
    struct host_slots *hosts;
    int *lent, *targets; /* by host */
    struct reserved_amount *parts;
    char *lease;
};

/* A job that has reserved long enough for now. */
struct bar {
    uint64_t job;
    int64_t until_ms;
};

struct reservation_table {
    struct reservation_table_parts parts;
    struct kept *items;
    int count;
    struct bar *bars;
    int n_bars, bars_capacity;
    int64_t wake_ms;
};

struct reservation_table *
reservation_table_new(const struct reservation_table_parts *parts)
{
    struct reservation_table *reserves = mem_alloc(1, sizeof(*reserves));
    reserves->parts = *parts;
    reserves->wake_ms = INT64_MAX;
    return reserves;
}

void reservation_table_reload(struct reservation_table *reserves,
                              const struct site_config *config)
{
    reserves->parts.config = config;
}

static void release(struct kept *kept)
{
    free(kept->hosts);
    free(kept->lent);
    free(kept->targets);
    for (int i = 0; i < kept->shown.n_parts; i++) {
        dup_free((char *)(uintptr_t)kept->parts[i].resource);
        dup_free((char *)(uintptr_t)kept->parts[i].host);
    }
    free(kept->parts);
    dup_free(kept->lease);
}

void reservation_table_free(struct reservation_table *reserves)
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

int64_t reservation_table_wake_ms(const struct reservation_table *reserves)
{
    return reserves->wake_ms;
}

/* ---------------------------------------------------------------- what is told */

int reservation_table_count(const struct reservation_table *reserves)
{
    return reserves->count;
}

void reservation_table_at(const struct reservation_table *reserves, int index,
                          struct reserved_job *reserved)
{
    *reserved = reserves->items[index].shown;
}

static int find(const struct reservation_table *reserves, uint64_t job)
{
    int i = 0;
    while (i < reserves->count && reserves->items[i].shown.job != job) {
        i++;
    }
    return i < reserves->count ? i : -1;
}

bool reservation_table_find(const struct reservation_table *reserves, uint64_t job,
                            struct reserved_job *reserved)
{
    int index = find(reserves, job);
    if (index < 0) {
        return false;
    }
    *reserved = reserves->items[index].shown;
    return true;
}

/* ---------------------------------------------------------------- whose, how long */

static void bar(struct reservation_table *reserves, uint64_t job, int64_t until_ms)
{
    if (reserves->n_bars == reserves->bars_capacity) {
        reserves->bars_capacity = reserves->bars_capacity * 2 + 8;
        reserves->bars = mem_grow(reserves->bars, (size_t)reserves->bars_capacity,
                                  sizeof(*reserves->bars));
    }
    reserves->bars[reserves->n_bars++] = (struct bar){job, until_ms};
}

static void lift_bars(struct reservation_table *reserves, int64_t now_ms)
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
static const struct job *first_of(const struct reservation_table *reserves,
                                  uint64_t key)
{
    const struct job *job = job_table_find(reserves->parts.jobs, key);
    int n_turns;
    return job != NULL && job->line != NULL
               ? job_of_entry(job_class_entries(job->line, &n_turns)[0])
               : NULL;
}

/* False: the reservation is over. */
static bool goes_on(struct reservation_table *reserves, struct kept *kept,
                    int64_t now_ms)
{
    const struct job *first = first_of(reserves, kept->shown.job);
    if (first == NULL) {
        return false;
    }
    if (job_key(first) != kept->shown.job && find(reserves, job_key(first)) >= 0) {
        return false; /* that one has its own */
    }
    kept->shown.job = job_key(first);
    const struct reservation_config *rule =
        &reserves->parts.config->queues[first->queue].reservation;
    if (now_ms - kept->shown.since_ms < rule->max_ms) {
        return true;
    }
    bar(reserves, kept->shown.job, now_ms + rule->session_ms);
    return false;
}

static void drop_old(struct reservation_table *reserves, int64_t now_ms)
{
    lift_bars(reserves, now_ms);
    for (int i = 0; i < reserves->count;) {
        if (goes_on(reserves, &reserves->items[i], now_ms)) {
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

static const uint64_t *list_barred(const struct reservation_table *reserves,
                                   struct arena *arena)
{
    uint64_t *barred = arena_alloc(arena, (size_t)reserves->n_bars, sizeof(*barred));
    for (int i = 0; i < reserves->n_bars; i++) {
        barred[i] = reserves->bars[i].job;
    }
    return barred;
}

/* Of one reservation, while it is shown. */
struct pieces {
    struct reservation_piece *items;
    int count;
    int *at; /* by host: 1 and its place among them; 0: it has none */
};

static struct reservation_piece *piece_on(struct pieces *pieces, int host)
{
    if (pieces->at[host] == 0) {
        pieces->items[pieces->count++] = (struct reservation_piece){.host = host};
        pieces->at[host] = pieces->count;
    }
    return &pieces->items[pieces->at[host] - 1];
}

/* A job that runs on slots of another's reservation. */
struct borrower {
    uint64_t of;
    const struct job *job;
};

struct borrowers {
    struct borrower *items; /* by reservation, then attempt */
    int count;
};

static int compare_borrowers(const void *left, const void *right)
{
    const struct borrower *a = left, *b = right;
    if (a->of != b->of) {
        return a->of < b->of ? -1 : 1;
    }
    return a->job->attempt < b->job->attempt ? -1 : a->job->attempt > b->job->attempt;
}

/* One that stood still since is none. */
static bool is_lent(const struct job *job)
{
    return job->backfill.lender != 0 && job->halt.causes == 0 &&
           job->halt.resumed_ms == 0;
}

static struct borrowers list_borrowers(const struct reservation_table *reserves,
                                       struct arena *arena)
{
    struct borrowers borrowers = {.count = 0};
    int n_open = reserves->count > 0 ? job_table_count_open(reserves->parts.jobs) : 0;
    borrowers.items = arena_alloc(arena, (size_t)n_open, sizeof(*borrowers.items));
    for (int i = 0; i < n_open; i++) {
        const struct job *job = job_table_open_at(reserves->parts.jobs, i);
        if (is_lent(job)) {
            borrowers.items[borrowers.count++] =
                (struct borrower){job->backfill.lender, job};
        }
    }
    qsort(borrowers.items, (size_t)borrowers.count, sizeof(*borrowers.items),
          compare_borrowers);
    return borrowers;
}

/* The first that has slots of that job's. */
static int find_borrower(const struct borrowers *borrowers, uint64_t job)
{
    int low = 0, high = borrowers->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (borrowers->items[middle].of < job) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int count_lent_hosts(const struct borrowers *borrowers, uint64_t job)
{
    int n_hosts = 0;
    for (int i = find_borrower(borrowers, job);
         i < borrowers->count && borrowers->items[i].of == job; i++) {
        n_hosts += borrowers->items[i].job->n_hosts;
    }
    return n_hosts;
}

static void add_lent(const struct reservation_table *reserves,
                     const struct place_snapshot *place,
                     const struct borrowers *borrowers, uint64_t job,
                     struct pieces *pieces)
{
    for (int i = find_borrower(borrowers, job);
         i < borrowers->count && borrowers->items[i].of == job; i++) {
        const struct job *borrower = borrowers->items[i].job;
        for (int k = 0; k < borrower->n_hosts; k++) {
            int host =
                capacity_find_host(reserves->parts.hosts, place->hosts, place->n_hosts,
                                   borrower->lease, borrower->hosts[k].host);
            if (host >= 0) {
                struct reservation_piece *piece = piece_on(pieces, host);
                piece->n_backfilled += borrower->hosts[k].n_slots;
                if (piece->n_slots < piece->n_backfilled) {
                    piece->n_slots = piece->n_backfilled;
                }
            }
        }
    }
}

/* The kind that the pass knows it by; -1: no line asks for it any more. */
static int find_kind(const struct place_snapshot *place, const char *resource)
{
    int n_kinds = place->supply != NULL ? place->supply->n_resources : 0;
    int i = 0;
    while (i < n_kinds && strcmp(place->supply->resources[i].name, resource) != 0) {
        i++;
    }
    return i < n_kinds ? i : -1;
}

static void show_parts(const struct reservation_table *reserves, struct arena *arena,
                       const struct place_snapshot *place, const struct kept *kept,
                       struct reservation *shown)
{
    struct reservation_part *parts =
        arena_alloc(arena, (size_t)kept->shown.n_parts, sizeof(*parts));
    shown->parts = parts;
    for (int i = 0; i < kept->shown.n_parts; i++) {
        const struct reserved_amount *part = &kept->parts[i];
        int kind = find_kind(place, part->resource);
        int host = capacity_find_host(reserves->parts.hosts, place->hosts,
                                      place->n_hosts, kept->lease, part->host);
        int pool = kind >= 0 && host >= 0
                       ? place->supply->resources[kind].supply_of[host]
                       : -1;
        if (pool >= 0) {
            parts[shown->n_parts++] = (struct reservation_part){
                kind, host, pool, part->milli, part->need_milli};
        }
    }
}

static void show_one(const struct reservation_table *reserves, struct arena *arena,
                     const struct place_snapshot *place,
                     const struct borrowers *borrowers, const struct kept *kept,
                     int *at, struct reservation *shown)
{
    /* Lent slots may lie elsewhere: the job reserved others before a restart. */
    bool has_lent = kept->shown.n_hosts > 0 && kept->targets[0] == 0;
    int n_most = kept->shown.n_hosts +
                 (has_lent ? count_lent_hosts(borrowers, kept->shown.job) : 0);
    struct pieces pieces = {.at = at};
    const struct job *job = job_table_find(reserves->parts.jobs, kept->shown.job);
    pieces.items = arena_alloc(arena, (size_t)n_most, sizeof(*pieces.items));
    for (int i = 0; i < kept->shown.n_hosts; i++) {
        int host = capacity_find_host(reserves->parts.hosts, place->hosts,
                                      place->n_hosts, kept->lease, kept->hosts[i].host);
        if (host >= 0) {
            struct reservation_piece *piece = piece_on(&pieces, host);
            piece->n_slots = kept->hosts[i].n_slots;
            piece->n_target = kept->targets[i];
        }
    }
    if (has_lent) {
        add_lent(reserves, place, borrowers, kept->shown.job, &pieces);
    }
    for (int i = 0; i < pieces.count; i++) {
        at[pieces.items[i].host] = 0; /* for the next one */
    }
    *shown = (struct reservation){.job = kept->shown.job,
                                  .class_index = job_class_index(job->line),
                                  .pieces = pieces.items,
                                  .n_pieces = pieces.count,
                                  .since_ms = kept->shown.since_ms};
    show_parts(reserves, arena, place, kept, shown);
}

static bool has_rule(const struct reservation_table *reserves)
{
    for (int i = 0; i < reserves->parts.config->n_queues; i++) {
        if (reserves->parts.config->queues[i].reservation.max_ms > 0) {
            return true;
        }
    }
    return false;
}

const struct reservation_snapshot *
reservation_table_snapshot(struct reservation_table *reserves, struct rusage_pass *left,
                           struct arena *arena, const struct place_snapshot *place)
{
    drop_old(reserves, place->now_ms);
    reserves->wake_ms = INT64_MAX;
    if (!has_rule(reserves)) {
        return NULL;
    }
    struct reservation_snapshot *snapshot = arena_alloc(arena, 1, sizeof(*snapshot));
    struct reservation *kept =
        arena_alloc(arena, (size_t)reserves->count, sizeof(*kept));
    struct borrowers borrowers = list_borrowers(reserves, arena);
    int *at = arena_alloc(arena, (size_t)place->n_hosts, sizeof(*at));
    for (int i = 0; i < reserves->count; i++) {
        show_one(reserves, arena, place, &borrowers, &reserves->items[i], at, &kept[i]);
    }
    *snapshot = (struct reservation_snapshot){.reservations = kept,
                                              .n_reservations = reserves->count,
                                              .barred = list_barred(reserves, arena),
                                              .n_barred = reserves->n_bars};
    if (reservation_needs_runs(place, snapshot)) {
        snapshot->runs =
            running_slots_list(&reserves->parts, left, arena, place, &snapshot->n_runs);
    }
    return snapshot;
}

/* ---------------------------------------------------------------- afterwards */

static struct reserved_amount *keep_parts(const struct place_snapshot *place,
                                          const struct reservation *from)
{
    struct reserved_amount *parts = mem_alloc((size_t)from->n_parts, sizeof(*parts));
    for (int i = 0; i < from->n_parts; i++) {
        const struct reservation_part *part = &from->parts[i];
        parts[i] = (struct reserved_amount){
            dup_text(place->supply->resources[part->kind].name),
            dup_text(place->hosts[part->host].name), part->milli, part->need_milli};
    }
    return parts;
}

static struct kept keep(struct arena *arena, const struct place_snapshot *place,
                        const struct reservation *from)
{
    const struct place_host *hosts = place->hosts;
    size_t n_pieces = (size_t)from->n_pieces;
    struct host_slots *slots = arena_alloc(arena, n_pieces, sizeof(*slots));
    int *lent = mem_alloc(n_pieces, sizeof(*lent));
    int *targets = mem_alloc(n_pieces, sizeof(*targets));
    for (int i = 0; i < from->n_pieces; i++) {
        const struct reservation_piece *piece = &from->pieces[i];
        slots[i] = (struct host_slots){hosts[piece->host].name, piece->n_slots};
        lent[i] = piece->n_backfilled;
        targets[i] = piece->n_target;
    }
    struct kept kept = {.hosts = dup_hosts(slots, from->n_pieces),
                        .lent = lent,
                        .targets = targets,
                        .parts = keep_parts(place, from),
                        .lease = dup_text(hosts[from->pieces[0].host].lease)};
    kept.shown = (struct reserved_job){.job = from->job,
                                       .lease = kept.lease,
                                       .hosts = kept.hosts,
                                       .lent = kept.lent,
                                       .n_hosts = from->n_pieces,
                                       .parts = kept.parts,
                                       .n_parts = from->n_parts,
                                       .since_ms = from->since_ms,
                                       .start_ms = from->start_ms};
    return kept;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t find_wake_ms(const struct reservation_table *reserves)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < reserves->count; i++) {
        const struct reserved_job *shown = &reserves->items[i].shown;
        const struct job *job = job_table_find(reserves->parts.jobs, shown->job);
        wake_ms = sooner(
            wake_ms, shown->since_ms +
                         reserves->parts.config->queues[job->queue].reservation.max_ms);
    }
    for (int i = 0; i < reserves->n_bars; i++) {
        wake_ms = sooner(wake_ms, reserves->bars[i].until_ms);
    }
    return wake_ms;
}

void reservation_table_store(struct reservation_table *reserves,
                             struct rusage_pass *left, struct arena *arena,
                             const struct place_snapshot *snapshot,
                             struct reservation_pass *shown)
{
    const struct backfill_run *runs = NULL;
    int n_kept, n_runs = 0;
    if (shown == NULL) {
        return;
    }
    if (!reservation_is_idle(shown)) {
        runs = running_slots_list(&reserves->parts, left, arena, snapshot, &n_runs);
    }
    const struct reservation *kept = reservation_result(shown, runs, n_runs, &n_kept);
    for (int i = 0; i < reserves->count; i++) {
        release(&reserves->items[i]);
    }
    if (n_kept > 0 && reserves->items == NULL) { /* at most sites nobody reserves */
        reserves->items = mem_alloc(RESERVATIONS_MAX, sizeof(*reserves->items));
    }
    for (int i = 0; i < n_kept; i++) {
        reserves->items[i] = keep(arena, snapshot, &kept[i]);
    }
    reserves->count = n_kept;
    reserves->wake_ms = find_wake_ms(reserves);
    if (reservation_wants_pass(shown)) {
        pass_request_set(reserves->parts.pass_request);
    }
}
