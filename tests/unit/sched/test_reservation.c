/* SPDX-License-Identifier: Apache-2.0 */
/* test_reservation.c: passes without a start, one after the other, come to rest, also
 * while others are preempted for a job. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/place/place.h"
#include "sched/preempt/preempt.h"
#include "sched/reservation/reservation.h"
#include "sched/reservation/reservation_item.h"

enum { WIDE, MEMORY, LOW, QUEUES, LINES = 2, KEPT = 4, RUNNING = 9 };

static const struct queue_config queues[QUEUES] = {
    [WIDE] = {.name = "wide", .priority = 3, .reservation.max_ms = INT64_MAX / 2},
    [MEMORY] = {.name = "memory",
                .priority = 2,
                .reservation = {.max_ms = INT64_MAX / 2, .has_resources = true}},
    [LOW] = {.name = "low", .priority = 1}};

static const struct preempt_queue preempt_queues[QUEUES] = {
    [WIDE] = {.is_preemptive = true}};
static const struct preempt_policy rules = {
    .is_enabled = true, .queues = preempt_queues, .n_queues = QUEUES};

static const int own_pool[] = {0};
static const struct rusage_resource memory_kind = {.name = "mem",
                                                   .supply_of = own_pool};
static const struct rusage_item ask = {.scope = RESREQ_SCOPE_HOST, .milli = 400};
static const struct rusage_request asks = {.items = &ask, .n_items = 1};

/* n1 has 3 slots, and a job of 2 runs. Job 1 wants 2, then job 2 wants 1 and memory. */
struct stage {
    int n_used;                 /* slots of n1 */
    bool may_preempt;           /* job 1 the one that runs, */
    bool has_claim;             /* and it is doing so */
    enum pending_reason reason; /* of job 1 in the last pass */
    int n_starts;               /* in that, too */
    struct reservation kept[KEPT];
    struct reservation_piece pieces[KEPT];
    struct reservation_part parts[KEPT];
    int n_kept;
    struct arena arena; /* of a pass */
};

static const struct rusage_piece run_piece = {0, 2};
static const struct backfill_run run = {
    .key = RUNNING, .end_ms = 60000, .pieces = &run_piece, .n_pieces = 1};

static const struct rusage_piece victim_piece = {0, 2};
static const struct host_slots victim_slots = {"n1", 2};
static const struct preempt_job victim = {.key = RUNNING,
                                          .queue = LOW,
                                          .n_slots = 2,
                                          .pieces = &victim_piece,
                                          .hosts = &victim_slots,
                                          .n_pieces = 1};

static const uint64_t claim = 1;

/* Each is on one host, and of one pool. */
static void keep(struct stage *stage, struct reservation_pass *reserve)
{
    const struct reservation *kept =
        reservation_result(reserve, &run, 1, &stage->n_kept);
    for (int i = 0; i < stage->n_kept; i++) {
        assert_int_equal(kept[i].n_pieces, 1);
        stage->kept[i] = kept[i];
        stage->pieces[i] = kept[i].pieces[0];
        stage->kept[i].pieces = &stage->pieces[i];
        if (kept[i].n_parts > 0) {
            stage->parts[i] = kept[i].parts[0];
        }
        stage->kept[i].parts = &stage->parts[i];
    }
}

/* True: it wants another one. */
static bool pass(struct stage *stage)
{
    int64_t left = 1000;
    const struct rusage_supply memory = {&memory_kind, 1, &left, 1};
    const struct place_host host = {.name = "n1",
                                    .site = "",
                                    .lease = "",
                                    .max = 3,
                                    .used = stage->n_used,
                                    .is_open = true};
    struct job_class_entry turns[LINES] = {{.key = 1}, {.key = 2}};
    const struct job_class_entry *queued[LINES] = {&turns[0], &turns[1]};
    const struct place_class lines[LINES] = {{.queue = WIDE,
                                              .n_slots = 2,
                                              .entries = &queued[0],
                                              .n_entries = 1,
                                              .max_starts = INT_MAX},
                                             {.queue = MEMORY,
                                              .n_slots = 1,
                                              .rusages = &asks,
                                              .n_rusages = 1,
                                              .entries = &queued[1],
                                              .n_entries = 1,
                                              .max_starts = INT_MAX}};
    struct place_snapshot snapshot = {.hosts = &host,
                                      .n_hosts = 1,
                                      .queues = queues,
                                      .n_queues = QUEUES,
                                      .classes = lines,
                                      .n_classes = LINES,
                                      .supply = &memory,
                                      .max_starts = LINES};
    const struct reservation_snapshot reserved = {.reservations = stage->kept,
                                                  .n_reservations = stage->n_kept,
                                                  .runs = &run,
                                                  .n_runs = 1};
    const struct preempt_snapshot preempted = {.policy = &rules,
                                               .jobs = &victim,
                                               .n_jobs = stage->may_preempt,
                                               .claims = &claim,
                                               .n_claims = stage->has_claim,
                                               .max_jobs = 1};
    struct place_plan plan;
    arena_init(&stage->arena);
    snapshot.reservations = &reserved;
    snapshot.preempt = &preempted;
    place_plan(&stage->arena, &snapshot, &plan);
    stage->reason = plan.verdicts[0].reason;
    stage->n_starts = plan.n_starts;
    keep(stage, plan.reservations);
    bool wants_pass = reservation_wants_pass(plan.reservations);
    arena_release(&stage->arena);
    return wants_pass;
}

/* Job 2 keeps memory behind job 1 all along. */
static void check_rest(struct stage *stage)
{
    stage->has_claim = true;
    stage->n_used = 3; /* what was free is the claim's */
    assert_false(pass(stage));
    assert_int_equal(stage->reason, REASON_PREEMPTING);
    assert_int_equal(stage->n_starts, 0);
    assert_int_equal(stage->n_kept, 1);
    assert_int_equal(stage->kept[0].job, 2);
    assert_int_equal(stage->kept[0].parts[0].in_hand_milli, 400);
    assert_false(pass(stage));
}

/* Job 1 keeps the slot that is free until it may preempt. */
static void test_gives_up_what_it_keeps(void **state)
{
    struct stage stage = {.n_used = 2};
    (void)state;
    assert_true(pass(&stage));
    assert_int_equal(stage.reason, REASON_BUSY);
    assert_int_equal(stage.n_kept, 2);
    assert_false(pass(&stage));
    assert_int_equal(stage.n_kept, 2);
    stage.may_preempt = true;
    assert_true(pass(&stage));
    assert_int_equal(stage.reason, REASON_PREEMPTING);
    check_rest(&stage);
}

/* No slot is free, and it preempts at once. */
static void test_keeps_nothing(void **state)
{
    struct stage stage = {.n_used = 3, .may_preempt = true};
    (void)state;
    assert_true(pass(&stage)); /* job 2 has chosen its host */
    assert_int_equal(stage.reason, REASON_PREEMPTING);
    check_rest(&stage);
}

/* ---------------------------------------------------------------- one reservation */

enum { NEXT_HOST = 1, HOSTS = 3, BEYOND = 7 };

/* A job with 1 slot of n1 in hand, which can start at 10. Behind the piece, the item
 * and the run is something that is not theirs. */
struct single {
    struct reservation_piece pieces[2];
    int in_hand[2];
    struct reservation_item items[RESERVATIONS_MAX + 1];
    struct place_host hosts[HOSTS];
    int used[HOSTS], group_of[HOSTS];
    bool is_used_exclusively[HOSTS];
    struct place_class class;
    struct place_snapshot place;
    struct reservation_snapshot snapshot;
    struct place_state state;
    struct arena arena;
    struct reservation_pass pass;
};

static void single_init(struct single *single)
{
    *single = (struct single){
        .pieces = {{.host = 0, .n_slots = 1}, {.host = NEXT_HOST, .n_slots = BEYOND}},
        .in_hand = {1, BEYOND},
        .used = {1, 0, 0},
        .class = {.queue = WIDE, .n_slots = 2},
    };
    arena_init(&single->arena);
    for (int i = 0; i < HOSTS; i++) {
        single->hosts[i] =
            (struct place_host){.name = "n", .site = "", .lease = "", .max = 4};
        single->hosts[i].is_open = true;
    }
    for (int i = 0; i < 2; i++) {
        single->items[i] = (struct reservation_item){
            .reservation = {.job = (uint64_t)i + 1, .start_ms = 10},
            .pieces = single->pieces,
            .in_hand = single->in_hand,
            .n_pieces = 1,
            .n_in_hand = 1};
    }
    single->place = (struct place_snapshot){.hosts = single->hosts,
                                            .n_hosts = HOSTS,
                                            .queues = queues,
                                            .n_queues = QUEUES,
                                            .classes = &single->class,
                                            .n_classes = 1,
                                            .reservations = &single->snapshot};
    single->state =
        (struct place_state){.snapshot = &single->place,
                             .arena = &single->arena,
                             .used = single->used,
                             .group_of = single->group_of,
                             .is_used_exclusively = single->is_used_exclusively};
    single->pass = (struct reservation_pass){.snapshot = &single->snapshot,
                                             .place = &single->place,
                                             .arena = &single->arena,
                                             .state = &single->state,
                                             .items = single->items,
                                             .count = 1,
                                             .n_backfillable = 1,
                                             .open_item = -1};
}

/* A backfill job has to end by the start, at the latest with it. */
static void test_backfill_ends_with_the_start(void **state)
{
    struct single single;
    (void)state;
    single_init(&single);
    assert_int_equal(reservation_next(&single.pass, 0, -1, 10), 0);
    assert_int_equal(reservation_next(&single.pass, 0, -1, 11), -1);
    single.pass.n_backfillable = 0; /* its start is no longer known */
    assert_int_equal(reservation_next(&single.pass, 0, -1, 10), -1);
    arena_release(&single.arena);
}

/* With as many reservations as there may be, jobs keep theirs and no other job gets
 * one. */
static void test_at_most_so_many(void **state)
{
    struct single single;
    (void)state;
    single_init(&single);
    assert_true(reservation_may(&single.pass, 0, 1000));
    for (int i = 1; i < RESERVATIONS_MAX; i++) {
        single.items[i].reservation.job = (uint64_t)i + 1;
    }
    single.pass.count = RESERVATIONS_MAX;
    assert_true(reservation_may(&single.pass, 0, 1));
    assert_true(reservation_may(&single.pass, 0, RESERVATIONS_MAX));
    assert_false(reservation_may(&single.pass, 0, 1000));
    arena_release(&single.arena);
}

/* Jobs of a slot pool with a maximum do not use what their own queue has reserved. */
static void test_pool_does_not_backfill_itself(void **state)
{
    struct slot_pool pool = {.max_slots = 4};
    const int pool_of[QUEUES] = {0, 0, -1};
    const struct slot_pools pools = {.pools = &pool, .n_pools = 1, .pool_of = pool_of};
    struct single single;
    (void)state;
    single_init(&single);
    single.place.slot_pools = &pools;
    assert_int_equal(reservation_next(&single.pass, WIDE, -1, 10), -1);
    assert_int_equal(reservation_next(&single.pass, MEMORY, -1, 10), 0);
    assert_int_equal(reservation_next(&single.pass, LOW, -1, 10), 0);
    pool.max_slots = INT_MAX;
    assert_int_equal(reservation_next(&single.pass, WIDE, -1, 10), 0);
    arena_release(&single.arena);
}

/* What is reserved for a job is free to jobs of queues that may preempt it, until the
 * pass has reached that job. */
static void test_gives_way_to_those_who_may_preempt(void **state)
{
    struct preempt_snapshot preempted = {.policy = &rules};
    struct single single;
    (void)state;
    single_init(&single);
    single.class.queue = LOW;
    assert_false(reservation_gives_way(&single.pass, WIDE)); /* there is no policy */
    single.place.preempt = &preempted;
    assert_true(reservation_gives_way(&single.pass, WIDE));
    assert_false(reservation_gives_way(&single.pass, MEMORY));
    reservation_open_for(&single.pass, WIDE, -1, false);
    assert_int_equal(single.used[0], 0);
    single.used[0] = 4; /* its job takes what was reserved */
    reservation_close(&single.pass);
    assert_int_equal(single.used[0], 4);
    assert_int_equal(single.items[0].n_in_hand, 0);
    single.items[0].order = 1;
    assert_false(reservation_gives_way(&single.pass, WIDE));
    arena_release(&single.arena);
}

/* Only reservations of the pass are opened, and only slots in hand lift host limits. */
static void test_open_has_what_is_in_hand(void **state)
{
    struct single single;
    (void)state;
    single_init(&single);
    reservation_open_for(&single.pass, 0, -1, true);
    assert_int_equal(single.used[0], 0);
    reservation_close(&single.pass);
    assert_int_equal(single.used[0], 1);
    reservation_open(&single.pass, 0);
    assert_true(reservation_has_host(&single.pass, 0));
    assert_false(reservation_has_host(&single.pass, NEXT_HOST));
    single.in_hand[0] = 0; /* its slot is lent */
    assert_false(reservation_has_host(&single.pass, 0));
    assert_int_equal(single.used[NEXT_HOST], 0);
    arena_release(&single.arena);
}

static void test_result_has_its_pieces(void **state)
{
    struct single single;
    int n_kept;
    (void)state;
    single_init(&single);
    single.pieces[0].n_target = 1; /* it has chosen the host */
    const struct reservation *kept = reservation_result(&single.pass, NULL, 0, &n_kept);
    assert_int_equal(n_kept, 1);
    assert_int_equal(kept[0].n_pieces, 1);
    assert_int_equal(kept[0].pieces[0].n_slots, 1);
    arena_release(&single.arena);
}

/* After all ends the slots of all running jobs are free, and no others. */
static void test_all_ends_free_what_runs(void **state)
{
    static const struct rusage_piece pieces[] = {{0, 2}, {NEXT_HOST, 4}};
    static const struct backfill_run runs[] = {
        {.key = 1, .end_ms = BACKFILL_NEVER, .pieces = &pieces[0], .n_pieces = 1},
        {.key = 2, .end_ms = 5, .pieces = &pieces[1], .n_pieces = 1}};
    struct single single;
    int n_free[HOSTS] = {0};
    int64_t left = 0;
    (void)state;
    single_init(&single);
    single.snapshot = (struct reservation_snapshot){.runs = runs, .n_runs = 1};
    reservation_start_add_all(&single.pass, n_free, &left);
    assert_int_equal(n_free[0], 2);
    assert_int_equal(n_free[NEXT_HOST], 0);
    arena_release(&single.arena);
}

/* A parallel job chooses its hosts if it has span, or if its alternatives may use
 * different hosts, or with parts; because of resources only with RESOURCE_RESERVE. A
 * job of one slot may have any, unless it has units for itself; with -x it reserves
 * nothing. */
static void test_which_jobs_choose_hosts(void **state)
{
    static const struct place_span span = {.kind = PLACE_SPAN_HOST};
    static const int next_in_unit[HOSTS] = {0, 1, 2};
    static const struct place_span_units units = {.next_in_unit = next_in_unit};
    static const struct place_span of_units = {.units = &units};
    static const struct place_filter plain, spanned = {.span = &span},
                                            alone = {.span = &of_units};
    struct rusage_request alternative = asks;
    struct single single;
    (void)state;
    single_init(&single);
    assert_false(reservation_target_applies(&single.pass, 0));
    single.class.filter = &spanned;
    assert_true(reservation_target_applies(&single.pass, 0));
    assert_true(reservation_target_has_spans(&single.place));
    single.class.n_slots = 1;
    assert_false(reservation_target_applies(&single.pass, 0));
    assert_false(reservation_target_has_spans(&single.place));
    single.class.is_exclusive = true;
    assert_false(reservation_may(&single.pass, 0, 1));
    single.class.filter = &alone;
    assert_true(reservation_target_applies(&single.pass, 0));
    assert_true(reservation_may(&single.pass, 0, 1));
    single.class.is_exclusive = false;
    single.class.n_slots = 2;
    single.class.filter = NULL;
    single.class.rusages = &alternative;
    single.class.n_rusages = 1;
    assert_false(reservation_target_applies(&single.pass, 0));
    alternative.filter = &plain;
    assert_true(reservation_target_applies(&single.pass, 0));
    alternative.filter = NULL;
    alternative.is_part = true;
    assert_true(reservation_target_applies(&single.pass, 0));
    alternative.is_part = false;
    single.class.queue = MEMORY;
    assert_true(reservation_target_applies(&single.pass, 0));
    arena_release(&single.arena);
}

/* Another pass is wanted if a job chose other hosts, and only then. */
static void test_moves_only_to_other_hosts(void **state)
{
    static const int first = 0, second = NEXT_HOST;
    struct host_slots in_hand[HOSTS], slots = {"n", 2};
    const struct place_start start = {.job = 1, .hosts = &slots, .n_hosts = 1};
    struct single single;
    (void)state;
    for (int i = 0; i < 2; i++) {
        single_init(&single);
        single.pieces[0].n_target = 2;
        reservation_open(&single.pass, 0);
        int n = reservation_target_set(&single.pass, 0, &start,
                                       i == 0 ? &first : &second, 0, in_hand);
        assert_int_equal(n, 1);
        assert_int_equal(in_hand[0].n_slots, 2);
        assert_int_equal(single.pass.wants_pass, i == 1);
        arena_release(&single.arena);
    }
}

/* A job reserves no part of a resource of which it takes nothing: where it asks for 0,
 * or on its later hosts. Items of one supply are one part. Each part of a compound
 * requirement takes what it asks for on its own hosts. Without RESOURCE_RESERVE no
 * resource is reserved. */
static void test_parts_of_a_target(void **state)
{
    static const int supplies[HOSTS] = {0, 1, 2}, none[HOSTS] = {-1, -1, -1};
    static const struct rusage_resource resources[] = {
        {"mem", RESOURCE_MEM, supplies, false, NULL}, {"lic", 1, none, false, NULL}};
    static const int64_t left[HOSTS] = {9000, 9000, 9000};
    static const struct rusage_supply supply = {
        .resources = resources, .n_resources = 2, .left = left, .n_supplies = HOSTS};
    static const struct rusage_item items[] = {{1, RESREQ_SCOPE_SLOT, 0, 0},
                                               {0, RESREQ_SCOPE_JOB, 1000, 0},
                                               {0, RESREQ_SCOPE_SLOT, 500, 0}};
    static const struct rusage_request rusage = {.items = items, .n_items = 3},
                                       job = {.items = &items[1], .n_items = 1};
    static const struct rusage_piece both[] = {{0, 1}, {NEXT_HOST, 1}}, first = {0, 1};
    static const struct place_part parts[] = {{&job, both, 2}, {&rusage, &first, 1}};
    static const int hosts[] = {0, NEXT_HOST};
    struct host_slots slots[] = {{"n", 2}, {"n", 1}};
    struct place_start start = {
        .job = 1, .hosts = slots, .n_hosts = 2, .rusage = &rusage};
    int64_t own_left[HOSTS] = {9000, 9000, 9000};
    struct host_slots in_hand[HOSTS];
    struct single single;
    (void)state;
    single_init(&single);
    single.place.supply = &supply;
    single.state.supply_left = own_left;
    reservation_open(&single.pass, 0);
    reservation_target_set(&single.pass, 0, &start, hosts, 0, in_hand);
    const struct reservation_item *item = &single.pass.items[0];
    assert_int_equal(item->n_parts, 0);
    single.class.queue = MEMORY;
    single.class.rusages = &rusage;
    single.class.n_rusages = 1;
    reservation_open(&single.pass, 0);
    reservation_target_set(&single.pass, 0, &start, hosts, 0, in_hand);
    assert_int_equal(item->n_parts, 2);
    assert_int_equal(item->parts[0].supply, 0);
    assert_int_equal(item->parts[0].need_milli, 2000);
    assert_int_equal(item->parts[1].supply, supplies[NEXT_HOST]);
    assert_int_equal(item->parts[1].need_milli, 500);
    start.parts = parts;
    start.n_parts = 2;
    reservation_open(&single.pass, 0);
    reservation_target_set(&single.pass, 0, &start, hosts, 0, in_hand);
    assert_int_equal(item->n_parts, 1);
    assert_int_equal(item->parts[0].supply, 0);
    assert_int_equal(item->parts[0].need_milli, 1000 + 1000 + 500);
    arena_release(&single.arena);
}

/* A job that has chosen its host can start when what it lacks there becomes free. */
static void test_target_starts_with_its_host(void **state)
{
    static const struct rusage_piece ends[] = {{0, 1}, {NEXT_HOST, 4}};
    static const struct backfill_run runs[] = {
        {.key = 1, .end_ms = 5, .pieces = &ends[1], .n_pieces = 1},
        {.key = 2, .end_ms = 20, .pieces = &ends[0], .n_pieces = 1}};
    struct reservation_piece chosen = {.host = 0, .n_slots = 1, .n_target = 2};
    int in_hand = 1;
    struct single single;
    (void)state;
    single_init(&single);
    single.used[0] = single.hosts[0].max;
    single.items[0].pieces = &chosen;
    single.items[0].in_hand = &in_hand;
    reservation_start_estimate(&single.pass, runs, 2);
    assert_true(single.items[0].reservation.start_ms == 20);
    arena_release(&single.arena);
}

/* Only a pass in which a job may reserve slots needs the running jobs, whatever queues
 * there are besides. */
static void test_who_needs_the_runs(void **state)
{
    struct single single;
    (void)state;
    single_init(&single);
    assert_true(reservation_needs_runs(&single.place, &single.snapshot));
    single.place.n_queues = 1; /* without RESOURCE_RESERVE of the next one */
    assert_false(reservation_needs_runs(&single.place, &single.snapshot));
    arena_release(&single.arena);
}

/* What the first runs free is added, slots and resources each to their own. */
static void test_first_ends_free_what_is_theirs(void **state)
{
    static const struct rusage_piece piece = {0, 2};
    static const struct rusage_amount memory = {0, 300};
    static const struct backfill_run runs[] = {
        {.key = 1,
         .end_ms = 5,
         .pieces = &piece,
         .n_pieces = 1,
         .amounts = &memory,
         .n_amounts = 1},
        {.key = 2, .end_ms = 6, .pieces = &piece, .n_pieces = 1}};
    const int none = 0;
    int64_t left = 0;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    struct backfill_supply *supply =
        backfill_supply_new(&arena, runs, 2, &none, 1, &left, 1);
    assert_int_equal(backfill_supply_freed(supply, 1, 0), 2);
    assert_int_equal(backfill_supply_freed(supply, 0, 0), 0);
    backfill_supply_add_left(supply, 1, &left);
    assert_int_equal(left, 300);
    arena_release(&arena);
}

/* What is owed of a supply is paid back before a job gets anything of it. */
static void test_overcommitted_supply(void **state)
{
    static const struct rusage_amount held = {0, 300}, wanted[] = {{0, 200}, {0, 1}};
    const struct backfill_run ends = {
        .key = 1, .end_ms = 10, .amounts = &held, .n_amounts = 1};
    const int64_t left = -100;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    struct backfill_supply *supply =
        backfill_supply_new(&arena, &ends, 1, NULL, 0, &left, 1);
    for (int i = 0; i < 2; i++) {
        const struct backfill_need need = {.amounts = &wanted[i], .n_amounts = 1};
        assert_true(backfill_take(supply, &need, 0) == (i == 0 ? 10 : BACKFILL_NEVER));
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gives_up_what_it_keeps),
        cmocka_unit_test(test_keeps_nothing),
        cmocka_unit_test(test_backfill_ends_with_the_start),
        cmocka_unit_test(test_at_most_so_many),
        cmocka_unit_test(test_pool_does_not_backfill_itself),
        cmocka_unit_test(test_gives_way_to_those_who_may_preempt),
        cmocka_unit_test(test_open_has_what_is_in_hand),
        cmocka_unit_test(test_result_has_its_pieces),
        cmocka_unit_test(test_all_ends_free_what_runs),
        cmocka_unit_test(test_which_jobs_choose_hosts),
        cmocka_unit_test(test_moves_only_to_other_hosts),
        cmocka_unit_test(test_parts_of_a_target),
        cmocka_unit_test(test_target_starts_with_its_host),
        cmocka_unit_test(test_who_needs_the_runs),
        cmocka_unit_test(test_first_ends_free_what_is_theirs),
        cmocka_unit_test(test_overcommitted_supply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
