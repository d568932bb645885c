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
    struct job_class_entry *queued[LINES] = {&turns[0], &turns[1]};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gives_up_what_it_keeps),
        cmocka_unit_test(test_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
