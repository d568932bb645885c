/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_table.c: see pass.h. */
#include "site/pass/pass.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "model/record.h"
#include "site/lifecycle/lifecycle.h"
#include "site/pass/capacity.h"

struct entry {
    struct reserved_job shown; /* its texts belong to the table */
    struct host_slots *hosts;
    int *lent, *targets;   /* by host */
    int64_t not_before_ms; /* as in the reservation */
    struct reserved_amount *parts;
    char *lease;
};

/* A job that may not reserve until then. */
struct pause {
    uint64_t job;
    int64_t until_ms;
};

struct reservation_table {
    struct reservation_table_parts parts;
    struct entry *items;
    int count;
    struct pause *pauses;
    int n_pauses, pauses_capacity;
    int64_t wake_ms;
};

struct reservation_table *
reservation_table_new(const struct reservation_table_parts *parts)
{
    struct reservation_table *table = mem_alloc(1, sizeof(*table));
    table->parts = *parts;
    table->wake_ms = INT64_MAX;
    return table;
}

void reservation_table_reload(struct reservation_table *table,
                              const struct site_config *config)
{
    table->parts.config = config;
}

static void release(struct entry *entry)
{
    free(entry->hosts);
    free(entry->lent);
    free(entry->targets);
    for (int i = 0; i < entry->shown.n_parts; i++) {
        dup_free(entry->parts[i].resource);
        dup_free(entry->parts[i].host);
    }
    free(entry->parts);
    dup_free(entry->lease);
}

void reservation_table_free(struct reservation_table *table)
{
    if (table == NULL) {
        return;
    }
    for (int i = 0; i < table->count; i++) {
        release(&table->items[i]);
    }
    free(table->items);
    free(table->pauses);
    free(table);
}

int64_t reservation_table_wake_ms(const struct reservation_table *table)
{
    return table->wake_ms;
}

/* ---------------------------------------------------------------- listings */

int reservation_table_count(const struct reservation_table *table)
{
    return table->count;
}

void reservation_table_at(const struct reservation_table *table, int index,
                          struct reserved_job *reserved)
{
    *reserved = table->items[index].shown;
}

static int find(const struct reservation_table *table, uint64_t job)
{
    int i = 0;
    while (i < table->count && table->items[i].shown.job != job) {
        i++;
    }
    return i < table->count ? i : -1;
}

bool reservation_table_find(const struct reservation_table *table, uint64_t job,
                            struct reserved_job *reserved)
{
    int index = find(table, job);
    if (index < 0) {
        return false;
    }
    *reserved = table->items[index].shown;
    return true;
}

/* ---------------------------------------------------------------- expiry */

static void pause(struct reservation_table *table, uint64_t job, int64_t until_ms)
{
    if (table->n_pauses == table->pauses_capacity) {
        table->pauses_capacity = table->pauses_capacity * 2 + 8;
        table->pauses = mem_grow(table->pauses, (size_t)table->pauses_capacity,
                                 sizeof(*table->pauses));
    }
    table->pauses[table->n_pauses++] = (struct pause){job, until_ms};
}

static void drop_paused(struct reservation_table *table, int64_t now_ms)
{
    int n_kept = 0;
    for (int i = 0; i < table->n_pauses; i++) {
        if (table->pauses[i].until_ms > now_ms) {
            table->pauses[n_kept++] = table->pauses[i];
        }
    }
    table->n_pauses = n_kept;
}

/* The first job of the job's class; NULL: it does not pend. */
static const struct job *first_of(const struct reservation_table *table, uint64_t key)
{
    const struct job *job = job_table_find_const(table->parts.jobs, key);
    int n_entries;
    return job != NULL && job->pending_class != NULL
               ? job_of_entry(job_class_entries(job->pending_class, &n_entries)[0])
               : NULL;
}

/* Moves the reservation to the first job of its class. False if it has ended. */
static bool is_still_valid(struct reservation_table *table, struct entry *entry,
                           int64_t now_ms)
{
    const struct job *first = first_of(table, entry->shown.job);
    if (first == NULL) {
        return false;
    }
    if (job_key(first) != entry->shown.job && find(table, job_key(first)) >= 0) {
        return false; /* the first job has its own reservation */
    }
    entry->shown.job = job_key(first);
    const struct reservation_config *rule =
        &table->parts.config->queues[first->queue].reservation;
    if (now_ms - entry->shown.since_ms < rule->max_ms) {
        return true;
    }
    pause(table, entry->shown.job, now_ms + rule->session_ms);
    return false;
}

static void drop_old(struct reservation_table *table, int64_t now_ms)
{
    drop_paused(table, now_ms);
    for (int i = 0; i < table->count;) {
        if (is_still_valid(table, &table->items[i], now_ms)) {
            i++;
            continue;
        }
        release(&table->items[i]);
        table->count--;
        memmove(&table->items[i], &table->items[i + 1],
                (size_t)(table->count - i) * sizeof(*table->items));
    }
}

/* ---------------------------------------------------------------- running jobs */

/* What the open jobs release when they end, and when that is as far as run limits say.
 * The start of a job with a reservation is computed from it
 * (sched/reservation/backfill.h). The end of a suspended job is unknown, and a yielded
 * job releases no slots. A host reports free memory, swap space and /tmp: each job is
 * assumed to use as much as it reserves, the jobs that end first before the others.
 * What no job explains is assumed to stay in use. */

static int64_t end_of(const struct job *job, int64_t now_ms)
{
    int64_t limit_ms = job_run_limit_ms(job, now_ms);
    if (limit_ms == 0 || job->suspension.causes != 0) {
        return BACKFILL_NEVER;
    }
    int64_t ran_ms = job->start_ms != 0 ? job_ran_ms(job, now_ms) : 0;
    int64_t end_ms = now_ms + (ran_ms < limit_ms ? limit_ms - ran_ms : 0);
    bool is_cut = job_is_in_gap(job) && job_is_run_limit_cut(job, now_ms);
    return is_cut && job->backfill.until_ms < end_ms ? job->backfill.until_ms : end_ms;
}

static bool has_slots(const struct lifecycle *life, const struct job *job)
{
    return job->suspension.causes == 0 || !job->suspension.yields ||
           !lifecycle_is_suspended(life, job);
}

static void list_run(const struct reservation_table_parts *parts,
                     struct rusage_pass *rusage_pass, struct arena *arena,
                     const struct place_snapshot *place, const struct job *job,
                     struct backfill_run *run)
{
    struct rusage_piece *pieces =
        arena_alloc(arena, (size_t)job->n_hosts + 1, sizeof(*pieces));
    *run = (struct backfill_run){.key = job_key(job),
                                 .attempt = job->attempt,
                                 .end_ms = end_of(job, place->now_ms),
                                 .pieces = pieces};
    run->n_amounts = rusage_pass_held(rusage_pass, job, &run->amounts);
    for (int k = 0; has_slots(parts->life, job) && k < job->n_hosts; k++) {
        int host = capacity_find_host(parts->hosts, place->hosts, place->n_hosts,
                                      job->lease, job->hosts[k].host);
        if (host >= 0) {
            pieces[run->n_pieces++] =
                (struct rusage_piece){host, job->hosts[k].n_slots};
        }
    }
}

/* Adds what is in use (`used`, by supply) to the jobs; what no job explains remains in
 * `used`. */
static void add_used(struct arena *arena, struct backfill_run *runs, int n_runs,
                     int64_t *used)
{
    for (int i = 0; i < n_runs; i++) {
        if (runs[i].n_amounts == 0) {
            continue;
        }
        struct rusage_amount *parts = arena_copy(
            arena, runs[i].amounts, (size_t)runs[i].n_amounts * sizeof(*parts));
        for (int k = 0; k < runs[i].n_amounts; k++) {
            int64_t *rest = &used[parts[k].supply];
            int64_t n = parts[k].milli < *rest ? parts[k].milli : *rest;
            parts[k].milli += n;
            *rest -= n;
        }
        runs[i].amounts = parts;
    }
}

/* A run without an end that holds what no job explains. */
static void list_rest(struct arena *arena, const int64_t *used, int n_supplies,
                      struct backfill_run *run)
{
    struct rusage_amount *parts =
        arena_alloc(arena, (size_t)n_supplies, sizeof(*parts));
    *run = (struct backfill_run){
        .key = UINT64_MAX, .end_ms = BACKFILL_NEVER, .amounts = parts};
    for (int i = 0; i < n_supplies; i++) {
        if (used[i] > 0) {
            parts[run->n_amounts++] = (struct rusage_amount){i, used[i]};
        }
    }
}

static struct backfill_run *list_runs(const struct reservation_table_parts *parts,
                                      struct rusage_pass *rusage_pass,
                                      struct arena *arena,
                                      const struct place_snapshot *place, int *n_runs)
{
    int n_open = job_table_count_open(parts->jobs);
    int n_supplies = place->supply != NULL ? place->supply->n_supplies : 0;
    struct backfill_run *runs = arena_alloc(arena, (size_t)n_open + 1, sizeof(*runs));
    for (int i = 0; i < n_open; i++) {
        list_run(parts, rusage_pass, arena, place,
                 job_table_open_at_const(parts->jobs, i), &runs[i]);
    }
    backfill_sort(runs, n_open);
    *n_runs = n_open;
    if (n_supplies > 0) {
        int64_t *used = supply_map_in_use(rusage_pass, arena);
        add_used(arena, runs, n_open, used);
        list_rest(arena, used, n_supplies, &runs[(*n_runs)++]);
    }
    return runs;
}

/* ---------------------------------------------------------------- snapshot */

static const uint64_t *list_paused(const struct reservation_table *table,
                                   struct arena *arena)
{
    uint64_t *barred = arena_alloc(arena, (size_t)table->n_pauses, sizeof(*barred));
    for (int i = 0; i < table->n_pauses; i++) {
        barred[i] = table->pauses[i].job;
    }
    return barred;
}

/* The slots of one reservation by host. */
struct pieces {
    struct reservation_piece *items;
    int count;
    int *at; /* by host: the index of its piece plus 1; 0: it has none */
};

static struct reservation_piece *piece_on(struct pieces *pieces, int host)
{
    if (pieces->at[host] == 0) {
        pieces->items[pieces->count++] = (struct reservation_piece){.host = host};
        pieces->at[host] = pieces->count;
    }
    return &pieces->items[pieces->at[host] - 1];
}

/* A job that runs on slots that another job has reserved. */
struct borrower {
    uint64_t lender;
    const struct job *job;
};

struct borrowers {
    struct borrower *items; /* by reservation, then attempt */
    int count;
};

static int compare_borrowers(const void *left, const void *right)
{
    const struct borrower *a = left, *b = right;
    if (a->lender != b->lender) {
        return a->lender < b->lender ? -1 : 1;
    }
    return a->job->attempt < b->job->attempt ? -1 : a->job->attempt > b->job->attempt;
}

static struct borrowers list_borrowers(const struct reservation_table *table,
                                       struct arena *arena)
{
    struct borrowers borrowers = {.count = 0};
    int n_open = table->count > 0 ? job_table_count_open(table->parts.jobs) : 0;
    borrowers.items = arena_alloc(arena, (size_t)n_open, sizeof(*borrowers.items));
    for (int i = 0; i < n_open; i++) {
        const struct job *job = job_table_open_at_const(table->parts.jobs, i);
        if (job_is_in_gap(job)) {
            borrowers.items[borrowers.count++] =
                (struct borrower){job->backfill.lender, job};
        }
    }
    qsort(borrowers.items, (size_t)borrowers.count, sizeof(*borrowers.items),
          compare_borrowers);
    return borrowers;
}

/* The index of the first borrower from that job. */
static int find_borrower(const struct borrowers *borrowers, uint64_t job)
{
    int low = 0, high = borrowers->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (borrowers->items[middle].lender < job) {
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
         i < borrowers->count && borrowers->items[i].lender == job; i++) {
        n_hosts += borrowers->items[i].job->n_hosts;
    }
    return n_hosts;
}

static void add_lent(const struct reservation_table *table,
                     const struct place_snapshot *place,
                     const struct borrowers *borrowers, uint64_t job,
                     struct pieces *pieces)
{
    for (int i = find_borrower(borrowers, job);
         i < borrowers->count && borrowers->items[i].lender == job; i++) {
        const struct job *borrower = borrowers->items[i].job;
        for (int k = 0; k < borrower->n_hosts; k++) {
            int host =
                capacity_find_host(table->parts.hosts, place->hosts, place->n_hosts,
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

/* The index of the resource in the pass; -1: no pending job asks for it any more. */
static int find_resource(const struct place_snapshot *place, const char *resource)
{
    int n_resources = place->supply != NULL ? place->supply->n_resources : 0;
    int i = 0;
    while (i < n_resources && strcmp(place->supply->resources[i].name, resource) != 0) {
        i++;
    }
    return i < n_resources ? i : -1;
}

static void show_parts(const struct reservation_table *table, struct arena *arena,
                       const struct place_snapshot *place, const struct entry *entry,
                       struct reservation *shown)
{
    struct reservation_part *parts =
        arena_alloc(arena, (size_t)entry->shown.n_parts, sizeof(*parts));
    shown->parts = parts;
    for (int i = 0; i < entry->shown.n_parts; i++) {
        const struct reserved_amount *part = &entry->parts[i];
        int resource = find_resource(place, part->resource);
        int host = capacity_find_host(table->parts.hosts, place->hosts, place->n_hosts,
                                      entry->lease, part->host);
        int supply = resource >= 0 && host >= 0
                         ? place->supply->resources[resource].supply_of[host]
                         : -1;
        if (supply >= 0) {
            parts[shown->n_parts++] = (struct reservation_part){
                resource, host, supply, part->milli, part->need_milli};
        }
    }
}

static void show_one(const struct reservation_table *table, struct arena *arena,
                     const struct place_snapshot *place,
                     const struct borrowers *borrowers, const struct entry *entry,
                     int *at, struct reservation *shown)
{
    /* After a restart the lent slots may be on other hosts than the reserved ones. */
    bool has_lent = entry->shown.n_hosts > 0 && entry->targets[0] == 0;
    int n_most = entry->shown.n_hosts +
                 (has_lent ? count_lent_hosts(borrowers, entry->shown.job) : 0);
    struct pieces pieces = {.at = at};
    const struct job *job = job_table_find_const(table->parts.jobs, entry->shown.job);
    pieces.items = arena_alloc(arena, (size_t)n_most, sizeof(*pieces.items));
    for (int i = 0; i < entry->shown.n_hosts; i++) {
        int host = capacity_find_host(table->parts.hosts, place->hosts, place->n_hosts,
                                      entry->lease, entry->hosts[i].host);
        if (host >= 0) {
            struct reservation_piece *piece = piece_on(&pieces, host);
            piece->n_slots = entry->hosts[i].n_slots;
            piece->n_target = entry->targets[i];
        }
    }
    if (has_lent) {
        add_lent(table, place, borrowers, entry->shown.job, &pieces);
    }
    for (int i = 0; i < pieces.count; i++) {
        at[pieces.items[i].host] = 0; /* cleared for the next reservation */
    }
    *shown = (struct reservation){.job = entry->shown.job,
                                  .class_index = job_class_index(job->pending_class),
                                  .pieces = pieces.items,
                                  .n_pieces = pieces.count,
                                  .since_ms = entry->shown.since_ms,
                                  .not_before_ms = entry->not_before_ms};
    show_parts(table, arena, place, entry, shown);
}

static bool has_slot_reserve(const struct reservation_table *table)
{
    for (int i = 0; i < table->parts.config->n_queues; i++) {
        if (table->parts.config->queues[i].reservation.max_ms > 0) {
            return true;
        }
    }
    return false;
}

const struct reservation_snapshot *
reservation_table_snapshot(struct reservation_table *table,
                           struct rusage_pass *rusage_pass, struct arena *arena,
                           const struct place_snapshot *place)
{
    drop_old(table, place->now_ms);
    table->wake_ms = INT64_MAX;
    if (!has_slot_reserve(table)) {
        return NULL;
    }
    struct reservation_snapshot *snapshot = arena_alloc(arena, 1, sizeof(*snapshot));
    struct reservation *entry =
        arena_alloc(arena, (size_t)table->count, sizeof(*entry));
    struct borrowers borrowers = list_borrowers(table, arena);
    int *at = arena_alloc(arena, (size_t)place->n_hosts, sizeof(*at));
    for (int i = 0; i < table->count; i++) {
        show_one(table, arena, place, &borrowers, &table->items[i], at, &entry[i]);
    }
    *snapshot = (struct reservation_snapshot){.reservations = entry,
                                              .n_reservations = table->count,
                                              .barred = list_paused(table, arena),
                                              .n_barred = table->n_pauses};
    if (reservation_needs_runs(place, snapshot)) {
        snapshot->runs =
            list_runs(&table->parts, rusage_pass, arena, place, &snapshot->n_runs);
    }
    return snapshot;
}

/* ---------------------------------------------------------------- result of a pass */

static struct reserved_amount *copy_parts_of(const struct place_snapshot *place,
                                             const struct reservation *from)
{
    struct reserved_amount *parts = mem_alloc((size_t)from->n_parts, sizeof(*parts));
    for (int i = 0; i < from->n_parts; i++) {
        const struct reservation_part *part = &from->parts[i];
        parts[i] = (struct reserved_amount){
            dup_text(place->supply->resources[part->resource].name),
            dup_text(place->hosts[part->host].name), part->in_hand_milli,
            part->need_milli};
    }
    return parts;
}

static struct entry copy_entry(struct arena *arena, const struct place_snapshot *place,
                               const struct reservation *from)
{
    const struct place_host *hosts = place->hosts;
    size_t n_pieces = (size_t)from->n_pieces;
    struct host_slots *slots = arena_alloc(arena, n_pieces, sizeof(*slots));
    int *lent = mem_alloc(n_pieces, sizeof(*lent));
    int *targets = mem_alloc(n_pieces, sizeof(*targets)), n_wanted = 0;
    for (int i = 0; i < from->n_pieces; i++) {
        const struct reservation_piece *piece = &from->pieces[i];
        slots[i] = (struct host_slots){hosts[piece->host].name, piece->n_slots};
        lent[i] = piece->n_backfilled;
        targets[i] = piece->n_target;
        n_wanted += piece->n_target;
    }
    struct entry entry = {.hosts =
                              record_dup_list(&schema_run_slots, slots, from->n_pieces),
                          .lent = lent,
                          .targets = targets,
                          .not_before_ms = from->not_before_ms,
                          .parts = copy_parts_of(place, from),
                          .lease = dup_text(hosts[from->pieces[0].host].lease)};
    entry.shown = (struct reserved_job){.job = from->job,
                                        .lease = entry.lease,
                                        .hosts = entry.hosts,
                                        .lent = entry.lent,
                                        .n_hosts = from->n_pieces,
                                        .n_wanted = n_wanted,
                                        .parts = entry.parts,
                                        .n_parts = from->n_parts,
                                        .since_ms = from->since_ms,
                                        .start_ms = from->start_ms};
    return entry;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t find_wake_ms(const struct reservation_table *table)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < table->count; i++) {
        const struct reserved_job *shown = &table->items[i].shown;
        const struct job *job = job_table_find_const(table->parts.jobs, shown->job);
        wake_ms = sooner(
            wake_ms, shown->since_ms +
                         table->parts.config->queues[job->queue].reservation.max_ms);
    }
    for (int i = 0; i < table->n_pauses; i++) {
        wake_ms = sooner(wake_ms, table->pauses[i].until_ms);
    }
    return wake_ms;
}

void reservation_table_store(struct reservation_table *table,
                             struct rusage_pass *rusage_pass, struct arena *arena,
                             const struct place_snapshot *snapshot,
                             struct reservation_pass *shown)
{
    const struct backfill_run *runs = NULL;
    int n_kept, n_runs = 0;
    if (shown == NULL) {
        return;
    }
    if (!reservation_is_idle(shown)) {
        runs = list_runs(&table->parts, rusage_pass, arena, snapshot, &n_runs);
    }
    const struct reservation *entry = reservation_result(shown, runs, n_runs, &n_kept);
    for (int i = 0; i < table->count; i++) {
        release(&table->items[i]);
    }
    if (n_kept > 0 && table->items == NULL) { /* few sites have any */
        table->items = mem_alloc(RESERVATIONS_MAX, sizeof(*table->items));
    }
    for (int i = 0; i < n_kept; i++) {
        table->items[i] = copy_entry(arena, snapshot, &entry[i]);
    }
    table->count = n_kept;
    table->wake_ms = find_wake_ms(table);
    if (reservation_wants_pass(shown)) {
        pass_request_set(table->parts.pass_request);
    }
}
