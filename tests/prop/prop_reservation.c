/* SPDX-License-Identifier: Apache-2.0 */
/* prop_reservation.c: computed starts against a twin that goes minute by minute; then
 * random sites, pass by pass, in half of which jobs reserve memory while they are
 * pending. If all jobs run up to their limits, and reserving jobs come first, each of
 * these starts at the latest at the time estimated when its slots were backfilled. In
 * any case all jobs start, no backfill job may run longer than its slots allow, no host
 * has more jobs than slots or memory, and no reservation exceeds the need of its job.
 * SEED=N repeats one run. */
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/place/place.h"
#include "sched/reservation/reservation.h"

enum {
    WORLDS = 1000,
    HOSTS = 3,
    JOBS = 24,
    RUNS = 10,
    WANTS = 3,
    SLOTS = 12, /* of all hosts */
    SPAN = 60,  /* minutes with submissions */
    LAST = 1200 /* by then all have ended */
};

static int between(struct rng *rng, int low, int high)
{
    return low + (int)rng_below(rng, high - low + 1);
}

static uint64_t seeds(uint64_t *last)
{
    const char *text = getenv("SEED");
    uint64_t first = text != NULL ? strtoull(text, NULL, 10) : 1;
    *last = text != NULL ? first : WORLDS;
    return first;
}

/* ---------------------------------------------------------------- starts */

struct supply {
    struct backfill_run runs[RUNS];
    struct rusage_piece pieces[RUNS][HOSTS];
    int n_runs, n_free[HOSTS];
    struct backfill_need wants[WANTS];
    uint8_t allowed[WANTS][HOSTS];
    int n_wants;
};

static void make_supply(struct rng *rng, struct supply *supply)
{
    memset(supply, 0, sizeof(*supply));
    supply->n_runs = between(rng, 0, RUNS);
    for (int i = 0; i < supply->n_runs; i++) {
        struct backfill_run *run = &supply->runs[i];
        run->key = (uint64_t)i + 1;
        run->end_ms = rng_percent(rng, 15) ? BACKFILL_NEVER : between(rng, 1, 30);
        run->pieces = supply->pieces[i];
        for (int host = 0; host < HOSTS; host++) {
            if (rng_percent(rng, 50)) {
                supply->pieces[i][run->n_pieces++] =
                    (struct rusage_piece){host, between(rng, 1, 3)};
            }
        }
    }
    supply->n_wants = between(rng, 1, WANTS);
    for (int i = 0; i < HOSTS; i++) {
        supply->n_free[i] = between(rng, 0, 2);
    }
    for (int i = 0; i < supply->n_wants; i++) {
        supply->wants[i].n_missing = between(rng, 0, 8);
        supply->wants[i].allowed = supply->allowed[i];
        for (int host = 0; host < HOSTS; host++) {
            supply->allowed[i][host] = rng_percent(rng, 70);
        }
    }
}

static int take(const struct backfill_need *want, int host, int *left, int missing)
{
    while (want->allowed[host] && *left > 0 && missing > 0) {
        (*left)--;
        missing--;
    }
    return missing;
}

/* Slot by slot, minute by minute, job by job in order. */
static void twin_starts(const struct supply *supply, int64_t *starts)
{
    int free_now[HOSTS], left[RUNS][HOSTS];
    memcpy(free_now, supply->n_free, sizeof(free_now));
    for (int i = 0; i < supply->n_runs; i++) {
        for (int k = 0; k < supply->runs[i].n_pieces; k++) {
            left[i][k] = supply->runs[i].pieces[k].n_slots;
        }
    }
    for (int w = 0; w < supply->n_wants; w++) {
        const struct backfill_need *want = &supply->wants[w];
        int missing = want->n_missing;
        for (int host = 0; host < HOSTS; host++) {
            missing = take(want, host, &free_now[host], missing);
        }
        starts[w] = missing == 0 ? 0 : BACKFILL_NEVER;
        for (int64_t at = 1; at <= 30 && missing > 0; at++) {
            for (int i = 0; i < supply->n_runs; i++) {
                const struct backfill_run *run = &supply->runs[i];
                for (int k = 0; run->end_ms == at && k < run->n_pieces; k++) {
                    missing = take(want, run->pieces[k].host, &left[i][k], missing);
                }
            }
            starts[w] = missing == 0 ? at : BACKFILL_NEVER;
        }
    }
}

static void test_starts_are_as_written(void **state)
{
    uint64_t last, seed = seeds(&last);
    int n_known = 0;
    (void)state;
    for (; seed <= last; seed++) {
        struct rng rng;
        struct supply supply, sorted;
        struct arena arena;
        int64_t expected[WANTS], got[WANTS];
        rng_init(&rng, seed);
        make_supply(&rng, &supply);
        twin_starts(&supply, expected);
        sorted = supply;
        arena_init(&arena);
        backfill_sort(sorted.runs, sorted.n_runs);
        struct backfill_supply *known = backfill_supply_new(
            &arena, sorted.runs, sorted.n_runs, sorted.n_free, HOSTS, NULL, 0);
        for (int i = 0; i < supply.n_wants; i++) {
            got[i] = backfill_take(known, &supply.wants[i], 0);
        }
        for (int i = 0; i < supply.n_wants; i++) {
            if (got[i] != expected[i]) {
                fail_msg("seed %" PRIu64 ": job %d starts at %" PRId64
                         ", expected %" PRId64,
                         seed, i, got[i], expected[i]);
            }
            n_known += got[i] != BACKFILL_NEVER;
        }
        arena_release(&arena);
    }
    assert_true(getenv("SEED") != NULL || n_known > WORLDS / 2);
}

/* ---------------------------------------------------------------- worlds */

enum { WIDE, PLAIN, SHORT, QUEUES, PARTS = 2 };

struct job {
    int queue, n_slots;
    int64_t submit, run; /* minutes */
    bool has_limit;
    struct rusage_item ask; /* of memory; 0: none */
    struct rusage_request asks;
    struct place_span shape; /* span NONE: none */
    struct place_filter filter;
    uint8_t matches[PARTS][HOSTS];
    struct place_filter filters[PARTS];
    struct rusage_request parts[PARTS]; /* of a compound requirement */
    int n_parts;                        /* 0: it has none */
    bool has_units;                     /* cu[excl] */
};

struct world {
    struct place_host hosts[HOSTS];
    int n_hosts;
    struct queue_config queues[QUEUES];
    struct job jobs[JOBS];
    int n_jobs;
    bool has_memory;
    int64_t memory[HOSTS];
    struct place_span_units units;
    int next_in_unit[HOSTS];
};

static const int own_pool[HOSTS] = {0, 1, 2};
static const struct rusage_resource memory_kind = {.name = "mem",
                                                   .supply_of = own_pool};

static const char *const names[HOSTS] = {"n1", "n2", "n3"};

/* n1 and n2 are one compute unit, n3 is another. */
static const int unit_of[HOSTS] = {0, 0, 1};

/* Every host has enough for one job. */
static void make_memory(struct rng *rng, struct world *world)
{
    int64_t least = 12;
    for (int i = 0; i < world->n_hosts; i++) {
        world->memory[i] = between(rng, 6, 12);
        least = world->memory[i] < least ? world->memory[i] : least;
    }
    for (int i = 0; i < world->n_jobs; i++) {
        struct job *job = &world->jobs[i];
        bool is_of_slot = rng_percent(rng, 40);
        if (rng_percent(rng, 30)) {
            continue;
        }
        job->ask = (struct rusage_item){
            .scope = is_of_slot ? RESREQ_SCOPE_SLOT : RESREQ_SCOPE_HOST,
            .milli = between(rng, 0, (int)least / (is_of_slot ? job->n_slots : 1))};
        job->asks = (struct rusage_request){.items = &job->ask, .n_items = 1};
    }
}

/* A span that idle hosts satisfy. */
static void make_shapes(struct rng *rng, struct world *world)
{
    static const uint8_t all[HOSTS] = {1, 1, 1};
    int most = 0;
    for (int i = 0; i < world->n_hosts; i++) {
        most = world->hosts[i].max > most ? world->hosts[i].max : most;
    }
    for (int i = 0; i < world->n_jobs; i++) {
        struct job *job = &world->jobs[i];
        bool fits_one = job->n_slots <= most,
             fits_each = job->n_slots <= world->n_hosts;
        if (rng_percent(rng, 40) || (!fits_one && !fits_each)) {
            continue;
        }
        job->shape.kind = !fits_one              ? PLACE_SPAN_PTILE
                          : rng_percent(rng, 70) ? PLACE_SPAN_HOST
                                                 : PLACE_SPAN_BLOCK;
        job->shape.n_slots = !fits_one ? 1 : job->n_slots;
        job->filter = (struct place_filter){.matches = all, .span = &job->shape};
    }
}

static int slots_of(const struct world *world, const uint8_t *a, const uint8_t *b)
{
    int n_slots = 0;
    for (int i = 0; i < world->n_hosts; i++) {
        n_slots += a[i] || b[i] ? world->hosts[i].max : 0;
    }
    return n_slots;
}

/* Two parts, each on some of the hosts, for which idle hosts have room. What the job
 * asks of memory, each of its parts does. */
static void make_parts(struct rng *rng, struct world *world)
{
    for (int i = 0; i < world->n_jobs; i++) {
        struct job *job = &world->jobs[i];
        int first = job->n_slots > 1 ? between(rng, 1, job->n_slots - 1) : 0;
        for (int k = 0; k < PARTS * HOSTS; k++) {
            job->matches[k / HOSTS][k % HOSTS] = rng_percent(rng, 70);
        }
        const uint8_t *a = job->matches[0], *b = job->matches[1];
        if (rng_percent(rng, 40) || first == 0 || slots_of(world, a, a) < first ||
            slots_of(world, b, b) < job->n_slots - first ||
            slots_of(world, a, b) < job->n_slots) {
            continue;
        }
        job->n_parts = PARTS;
        job->shape.kind = PLACE_SPAN_NONE;
        job->ask.scope = RESREQ_SCOPE_SLOT;
        job->ask.milli /= job->n_slots; /* even if it was for each host */
        for (int k = 0; k < PARTS; k++) {
            job->filters[k].matches = job->matches[k];
            job->parts[k] = job->asks;
            job->parts[k].filter = &job->filters[k];
            job->parts[k].is_part = true;
            job->parts[k].n_slots = k == 0 ? first : job->n_slots - first;
        }
    }
}

/* Jobs with the units for which idle ones have room. */
static void make_units(struct rng *rng, struct world *world)
{
    static const uint8_t all[HOSTS] = {1, 1, 1};
    world->units = (struct place_span_units){
        .unit_of = unit_of, .next_in_unit = world->next_in_unit, .n_units = 2};
    for (int i = 0; i < HOSTS; i++) { /* of one host: of n1 alone */
        bool has_next = i == 0 && world->n_hosts > 1;
        world->next_in_unit[i] = has_next ? 1 : i == 1 ? 0 : i;
    }
    for (int i = 0; i < world->n_jobs; i++) {
        struct job *job = &world->jobs[i];
        if (rng_percent(rng, 70) || job->n_parts > 0 || job->ask.milli > 0) {
            continue;
        }
        job->has_units = true;
        job->shape = (struct place_span){.units = &world->units};
        job->filter = (struct place_filter){.matches = all, .span = &job->shape};
    }
}

/* In file order: jobs of a queue in the order of submission. */
static void make_world(struct rng *rng, struct world *world)
{
    int n_slots = 0;
    int64_t submit = 0;
    memset(world, 0, sizeof(*world));
    world->n_hosts = between(rng, 1, HOSTS);
    for (int i = 0; i < world->n_hosts; i++) {
        world->hosts[i] = (struct place_host){.name = names[i],
                                              .site = "",
                                              .lease = "",
                                              .max = between(rng, 1, 4),
                                              .is_open = true};
        n_slots += world->hosts[i].max;
    }
    for (int i = 0; i < QUEUES; i++) {
        world->queues[i] = (struct queue_config){.name = i == WIDE    ? "wide"
                                                         : i == PLAIN ? "plain"
                                                                      : "short",
                                                 .priority = between(rng, 1, 3),
                                                 .is_balanced = rng_percent(rng, 30)};
    }
    world->queues[WIDE].reservation.max_ms = INT64_MAX / 2;
    world->queues[SHORT].reservation.is_backfill = true;
    world->n_jobs = between(rng, 3, JOBS);
    for (int i = 0; i < world->n_jobs; i++) {
        struct job *job = &world->jobs[i];
        job->queue = between(rng, 0, QUEUES - 1);
        int most = job->queue == SHORT ? (n_slots + 1) / 2 : n_slots;
        job->n_slots = between(rng, 1, most);
        job->submit = submit += between(rng, 0, 2 * SPAN / world->n_jobs);
        job->run = job->queue == SHORT ? between(rng, 1, 15) : between(rng, 5, 40);
        job->has_limit = true;
    }
    if (rng_percent(rng, 40)) {
        make_shapes(rng, world);
    }
    world->has_memory = rng_percent(rng, 50);
    if (world->has_memory) {
        make_memory(rng, world);
        world->queues[WIDE].reservation.has_resources = true;
    }
    if (rng_percent(rng, 40)) {
        make_parts(rng, world);
    }
    if (rng_percent(rng, 40)) {
        make_units(rng, world);
    }
}

/* ---------------------------------------------------------------- a play */

struct play {
    const struct world *world;
    int64_t now;
    int64_t start[JOBS]; /* -1: it waits */
    struct place_backfill backfill[JOBS];
    struct host_slots slots[JOBS][HOSTS];
    int n_slots_on[JOBS];
    struct rusage_amount amounts[JOBS][PARTS * HOSTS]; /* of memory, as it started */
    int n_amounts[JOBS];
    struct reservation kept[JOBS];
    struct reservation_piece pieces[JOBS][HOSTS];
    struct reservation_part parts[JOBS][HOSTS];
    int n_kept, n_lines;
    int n_of_parts, n_of_units; /* reservations of such jobs, of all passes */
    int line_of[JOBS];
    struct arena arena; /* of a pass */
};

static int host_of(const char *name)
{
    return name[1] - '1';
}

static bool is_running(const struct play *play, int job)
{
    return play->start[job] >= 0 &&
           play->now < play->start[job] + play->world->jobs[job].run;
}

static const struct backfill_run *list_runs(struct play *play, int *n_runs)
{
    struct backfill_run *runs = arena_alloc(&play->arena, JOBS, sizeof(*runs));
    *n_runs = 0;
    for (int i = 0; i < play->world->n_jobs; i++) {
        if (!is_running(play, i)) {
            continue;
        }
        struct rusage_piece *pieces = arena_alloc(&play->arena, HOSTS, sizeof(*pieces));
        for (int k = 0; k < play->n_slots_on[i]; k++) {
            pieces[k] = (struct rusage_piece){host_of(play->slots[i][k].host),
                                              play->slots[i][k].n_slots};
        }
        runs[(*n_runs)++] = (struct backfill_run){
            .key = (uint64_t)i + 1,
            .end_ms = play->world->jobs[i].has_limit
                          ? play->start[i] + play->world->jobs[i].run
                          : BACKFILL_NEVER,
            .pieces = pieces,
            .n_pieces = play->n_slots_on[i],
            .amounts = play->amounts[i],
            .n_amounts = play->n_amounts[i]};
    }
    backfill_sort(runs, *n_runs);
    return runs;
}

static void show_lines(struct play *play, struct place_class *lines,
                       struct job_class_entry *turns,
                       const struct job_class_entry **list)
{
    const struct world *world = play->world;
    play->n_lines = 0;
    for (int i = 0; i < world->n_jobs; i++) {
        const struct job *job = &world->jobs[i];
        play->line_of[i] = -1;
        if (play->start[i] >= 0 || job->submit > play->now) {
            continue;
        }
        int at = play->line_of[i] = play->n_lines++;
        turns[at] = (struct job_class_entry){.key = (uint64_t)i + 1};
        list[at] = &turns[at];
        lines[at] = (struct place_class){
            .queue = job->queue,
            .n_slots = job->n_slots,
            .filter =
                job->filter.matches != NULL && job->n_parts == 0 ? &job->filter : NULL,
            .is_exclusive = job->has_units,
            .rusages = job->n_parts > 0 ? job->parts : &job->asks,
            .n_rusages = job->n_parts > 0 ? job->n_parts : job->asks.n_items,
            .entries = &list[at],
            .n_entries = 1,
            .max_starts = INT_MAX,
            .backfill_ms =
                world->queues[job->queue].reservation.is_backfill && job->has_limit
                    ? job->run
                    : 0,
        };
    }
}

/* The backfill jobs determine the lent slots. */
static void show_kept(struct play *play)
{
    for (int i = 0; i < play->n_kept; i++) {
        struct reservation *kept = &play->kept[i];
        kept->class_index = play->line_of[kept->job - 1];
        if (play->pieces[i][0].n_target > 0) {
            continue; /* it reserves the available part of its need */
        }
        for (int p = 0; p < kept->n_pieces; p++) {
            struct reservation_piece *piece = &play->pieces[i][p];
            piece->n_backfilled = 0;
            for (int k = 0; k < play->world->n_jobs; k++) {
                for (int s = 0;
                     is_running(play, k) && play->backfill[k].lender == kept->job &&
                     s < play->n_slots_on[k];
                     s++) {
                    piece->n_backfilled +=
                        host_of(play->slots[k][s].host) == piece->host
                            ? play->slots[k][s].n_slots
                            : 0;
                }
            }
            piece->n_slots = piece->n_slots < piece->n_backfilled ? piece->n_backfilled
                                                                  : piece->n_slots;
        }
    }
}

/* Each part lies on hosts that it may use, with its slots. */
static void check_parts(const struct job *job, const struct place_start *start)
{
    assert_int_equal(start->n_parts, job->n_parts);
    for (int i = 0; i < start->n_parts; i++) {
        const struct place_part *part = &start->parts[i];
        int n_slots = 0;
        for (int k = 0; k < part->n_pieces; k++) {
            assert_true(job->matches[i][part->pieces[k].host]);
            n_slots += part->pieces[k].n_slots;
        }
        assert_int_equal(n_slots, job->parts[i].n_slots);
    }
}

/* The memory that it takes. */
static void take_memory(struct play *play, int job, const struct place_start *start)
{
    const struct rusage_supply reserve = {.resources = &memory_kind, .n_resources = 1};
    struct rusage_piece pieces[HOSTS];
    const struct place_part whole = {&play->world->jobs[job].asks, pieces,
                                     start->n_hosts};
    const struct place_part *parts = start->n_parts > 0 ? start->parts : &whole;
    for (int k = 0; k < start->n_hosts; k++) {
        pieces[k] = (struct rusage_piece){host_of(start->hosts[k].host),
                                          start->hosts[k].n_slots};
    }
    play->n_amounts[job] = 0;
    for (int i = 0; i < start->n_parts || i == 0; i++) {
        play->n_amounts[job] += rusage_supply_amounts(
            &reserve, parts[i].rusage, parts[i].pieces, parts[i].n_pieces,
            &play->amounts[job][play->n_amounts[job]]);
    }
}

static void begin(struct play *play, const struct place_start *start)
{
    int job = (int)start->job - 1;
    check_parts(&play->world->jobs[job], start);
    take_memory(play, job, start);
    play->start[job] = play->now;
    play->backfill[job] = start->backfill;
    play->n_slots_on[job] = start->n_hosts;
    memcpy(play->slots[job], start->hosts,
           (size_t)start->n_hosts * sizeof(*start->hosts));
    if (start->backfill.lender != 0) {
        assert_true(play->now + play->world->jobs[job].run <= start->backfill.until_ms);
    }
}

static void keep(struct play *play, struct reservation_pass *reserve)
{
    int n_kept, n_runs;
    const struct backfill_run *runs = list_runs(play, &n_runs);
    const struct reservation *kept = reservation_result(reserve, runs, n_runs, &n_kept);
    play->n_kept = 0;
    for (int from = 0; from < n_kept; from++) {
        int n_slots = 0, i = play->n_kept;
        if (play->start[kept[from].job - 1] >= 0) {
            continue; /* it has begun */
        }
        play->n_kept++;
        play->n_of_units += play->world->jobs[kept[from].job - 1].has_units;
        play->n_of_parts += play->world->jobs[kept[from].job - 1].n_parts > 0;
        play->kept[i] = kept[from];
        memcpy(play->pieces[i], kept[from].pieces,
               (size_t)kept[from].n_pieces * sizeof(*kept[from].pieces));
        play->kept[i].pieces = play->pieces[i];
        if (kept[from].n_parts > 0) {
            memcpy(play->parts[i], kept[from].parts,
                   (size_t)kept[from].n_parts * sizeof(*kept[from].parts));
        }
        play->kept[i].parts = play->parts[i];
        for (int k = 0; k < kept[from].n_pieces; k++) {
            n_slots += kept[from].pieces[k].n_slots;
        }
        bool has_hosts = kept[from].pieces[0].n_target > 0;
        const struct job *job = &play->world->jobs[kept[from].job - 1];
        assert_in_range(n_slots, !has_hosts, job->has_units ? SLOTS : job->n_slots);
        for (int k = 0; k < kept[from].n_parts; k++) {
            assert_true(kept[from].parts[k].in_hand_milli >= 0 &&
                        kept[from].parts[k].in_hand_milli <=
                            kept[from].parts[k].need_milli);
        }
    }
}

/* No other job is there. */
static void close_unit(const struct play *play, int job, int host,
                       struct place_host *hosts)
{
    for (int i = 0; i < play->world->n_hosts; i++) {
        if (unit_of[i] == unit_of[host]) {
            hosts[i].is_used_exclusively = true;
            hosts[i].unit_of = (uint64_t)job + 1;
        }
    }
    for (int i = 0; i < play->world->n_jobs; i++) {
        for (int k = 0; i != job && is_running(play, i) && k < play->n_slots_on[i];
             k++) {
            assert_int_not_equal(unit_of[host_of(play->slots[i][k].host)],
                                 unit_of[host]);
        }
    }
}

static void count_used(const struct play *play, struct place_host *hosts)
{
    memcpy(hosts, play->world->hosts, sizeof(play->world->hosts));
    for (int i = 0; i < play->world->n_jobs; i++) {
        for (int k = 0; is_running(play, i) && k < play->n_slots_on[i]; k++) {
            struct place_host *host = &hosts[host_of(play->slots[i][k].host)];
            host->used += play->slots[i][k].n_slots;
            assert_true(host->used <= host->max);
        }
    }
    for (int i = 0; i < play->world->n_jobs; i++) {
        for (int k = 0; is_running(play, i) && play->world->jobs[i].has_units &&
                        k < play->n_slots_on[i];
             k++) {
            close_unit(play, i, host_of(play->slots[i][k].host), hosts);
        }
    }
}

static void count_left(const struct play *play, int64_t *left)
{
    memcpy(left, play->world->memory, sizeof(play->world->memory));
    for (int i = 0; i < play->world->n_jobs; i++) {
        if (is_running(play, i)) {
            rusage_supply_take(left, play->amounts[i], play->n_amounts[i], 1);
        }
    }
    for (int i = 0; i < HOSTS; i++) {
        assert_true(left[i] >= 0);
    }
}

/* True if another pass may start more. */
static bool pass(struct play *play)
{
    struct place_host hosts[HOSTS];
    struct place_class lines[JOBS];
    struct job_class_entry turns[JOBS];
    const struct job_class_entry *list[JOBS];
    struct place_plan plan;
    int64_t left[HOSTS];
    const struct rusage_supply memory = {&memory_kind, 1, left, HOSTS};
    arena_init(&play->arena);
    count_used(play, hosts);
    count_left(play, left);
    show_lines(play, lines, turns, list);
    show_kept(play);
    struct place_snapshot snapshot = {.hosts = hosts,
                                      .n_hosts = play->world->n_hosts,
                                      .queues = play->world->queues,
                                      .n_queues = QUEUES,
                                      .classes = lines,
                                      .n_classes = play->n_lines,
                                      .supply =
                                          play->world->has_memory ? &memory : NULL,
                                      .now_ms = play->now,
                                      .max_starts = INT_MAX};
    struct reservation_snapshot reserved = {.reservations = play->kept,
                                            .n_reservations = play->n_kept};
    reserved.runs = list_runs(play, &reserved.n_runs);
    snapshot.reservations = &reserved;
    place_plan(&play->arena, &snapshot, &plan);
    for (int i = 0; i < plan.n_starts; i++) {
        begin(play, &plan.starts[i]);
    }
    keep(play, plan.reservations);
    bool wants_pass = reservation_wants_pass(plan.reservations);
    arena_release(&play->arena);
    return wants_pass;
}

static int n_waiting(const struct play *play)
{
    int count = 0;
    for (int i = 0; i < play->world->n_jobs; i++) {
        count += play->start[i] < 0;
    }
    return count;
}

static void run(struct play *play, const struct world *world)
{
    memset(play, 0, sizeof(*play));
    play->world = world;
    for (int i = 0; i < JOBS; i++) {
        play->start[i] = -1;
    }
    for (play->now = 0; play->now < LAST && n_waiting(play) > 0; play->now++) {
        int n_passes = 0;
        while (pass(play)) {
            assert_true(++n_passes < 2 * JOBS);
        }
    }
}

/* Also if several queues reserve, and their jobs compete. */
static void test_all_start(void **state)
{
    uint64_t last, seed = seeds(&last);
    (void)state;
    for (; seed <= last; seed++) {
        static struct play play;
        struct world world;
        struct rng rng;
        rng_init(&rng, seed);
        make_world(&rng, &world);
        world.queues[PLAIN].reservation = world.queues[WIDE].reservation;
        world.queues[SHORT].reservation.max_ms =
            rng_percent(&rng, 50) ? INT64_MAX / 2 : 0;
        for (int i = 0; i < world.n_jobs; i++) {
            world.jobs[i].has_limit = rng_percent(&rng, 85);
        }
        run(&play, &world);
        for (int i = 0; i < world.n_jobs; i++) {
            if (play.start[i] < 0) {
                fail_msg("seed %" PRIu64 ": job %d never starts", seed, i + 1);
            }
        }
    }
}

static void check_starts(const struct world *world, const struct play *play,
                         uint64_t seed)
{
    for (int i = 0; i < world->n_jobs; i++) {
        uint64_t of = play->backfill[i].lender;
        if (play->start[i] < 0) {
            fail_msg("seed %" PRIu64 ": job %d never starts", seed, i + 1);
        }
        if (of != 0 && play->start[of - 1] > play->backfill[i].until_ms) {
            fail_msg("seed %" PRIu64 ": job %d lent slots to %d until %" PRId64
                     " and starts at %" PRId64,
                     seed, (int)of, i + 1, play->backfill[i].until_ms,
                     play->start[of - 1]);
        }
    }
}

static void test_nobody_is_delayed(void **state)
{
    uint64_t last, seed = seeds(&last);
    int n_backfilled = 0, n_of_parts = 0, n_of_units = 0;
    (void)state;
    for (; seed <= last; seed++) {
        static struct play play;
        struct world world;
        struct rng rng;
        rng_init(&rng, seed);
        make_world(&rng, &world);
        world.queues[WIDE].priority = 9;
        for (int i = 0; i < world.n_jobs; i++) {
            struct job *job = &world.jobs[i];
            bool is_single =
                job->queue == WIDE && job->n_slots == 1 && job->asks.n_items == 0;
            job->queue = is_single ? PLAIN : job->queue;
        }
        run(&play, &world);
        check_starts(&world, &play, seed);
        for (int i = 0; i < world.n_jobs; i++) {
            n_backfilled += play.backfill[i].lender != 0;
        }
        n_of_parts += play.n_of_parts > 0;
        n_of_units += play.n_of_units > 0;
    }
    assert_true(getenv("SEED") != NULL ||
                (n_backfilled > WORLDS / 4 && n_of_parts > WORLDS / 10 &&
                 n_of_units > WORLDS / 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_are_as_written),
        cmocka_unit_test(test_nobody_is_delayed),
        cmocka_unit_test(test_all_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
