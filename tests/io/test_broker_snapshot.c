/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_snapshot.c: copies of the store in a loop that is late with its timers.
 *
 * The loop walks its timers anew when a handler adds one, also those that were ended in
 * the same turn (sys/wake.h): a step that is overdue is called again when its copy is
 * made. What copies say is looked at in tests/e2e/test_snapshot.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/io/snapshot.h"

enum {
    LATE_MS = 20, /* so much later than it wants to be is a step called */
    N_FETCHES = 5,
    ANSWER_MS = 60000, /* a test that waits so long has failed */
};

struct fixture {
    char directory[64], store_path[96], regular_path[96];
    struct broker_setup setup;
    zloop_t *loop;
    struct store *store;
    struct broker *broker;
    struct snapshot *snapshot;
    uint64_t ticket;
    int n_fetched;
    bool is_late;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    struct err err = {0};
    snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/sublet-snap-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->store_path, sizeof(fixture->store_path), "%s/broker.db",
             fixture->directory);
    snprintf(fixture->regular_path, sizeof(fixture->regular_path), "%s/regular.db",
             fixture->directory);
    fixture->setup = (struct broker_setup){
        .state = fixture->store_path,
        .snapshot = fixture->regular_path,
        .snapshot_interval_ms = 40,
    };
    if (store_open(fixture->store_path, false, &fixture->store, &err) < 0) {
        fail_msg("%s", err.text);
    }
    fixture->loop = zloop_new();
    fixture->broker = broker_new(&fixture->setup.config);
    fixture->snapshot =
        snapshot_new(fixture->loop, &fixture->setup, fixture->broker, fixture->store);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    snapshot_free(fixture->snapshot);
    broker_free(fixture->broker);
    store_close(fixture->store);
    zloop_destroy(&fixture->loop);
    unlink(fixture->regular_path);
    unlink(fixture->store_path);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static int on_nothing(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    (void)arg;
    return 0;
}

/* Called after the step of the same turn: it came to the loop later. */
static int on_adding(zloop_t *loop, int timer_id, void *arg)
{
    (void)timer_id;
    zloop_timer(loop, ANSWER_MS, 1, on_nothing, arg);
    return 0;
}

static int on_too_late(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct fixture *fixture = arg;
    fixture->is_late = true;
    return -1;
}

static struct msg_reply ask_snapshot(struct fixture *fixture, int64_t offset)
{
    struct msg_snapshot ask = {
        .request = 1, .ticket = fixture->ticket, .offset = offset};
    struct msg_reply reply;
    snapshot_answer(fixture->snapshot, &ask, &reply);
    if (reply.code != 0) {
        fail_msg("%s", reply.text);
    }
    return reply;
}

/* Fetches one copy after another, and keeps the loop until what it has begun is
 * overdue. */
static int on_fetch(zloop_t *loop, int timer_id, void *arg)
{
    (void)timer_id;
    struct fixture *fixture = arg;
    struct msg_reply reply = ask_snapshot(fixture, 0);
    if (reply.n_bytes > 0) {
        assert_memory_equal(reply.bytes, "SQLite format 3", 16);
        reply = ask_snapshot(fixture, INT64_MAX); /* it has all */
        assert_true(reply.is_end);
        fixture->ticket++;
        fixture->n_fetched++;
    }
    zloop_timer(loop, 1, 1, on_adding, fixture);
    zclock_sleep(LATE_MS);
    zloop_timer(loop, 1, 1, on_fetch, fixture);
    return fixture->n_fetched == N_FETCHES ? -1 : 0;
}

static void test_a_late_step_ends_a_copy_once(void **state)
{
    struct fixture *fixture = *state;
    zloop_timer(fixture->loop, ANSWER_MS, 1, on_too_late, fixture);
    zloop_timer(fixture->loop, 1, 1, on_fetch, fixture);
    while (fixture->n_fetched < N_FETCHES && !fixture->is_late) {
        zloop_start(fixture->loop);
    }
    assert_int_equal(fixture->n_fetched, N_FETCHES);
    assert_int_equal(access(fixture->regular_path, R_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_late_step_ends_a_copy_once, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
