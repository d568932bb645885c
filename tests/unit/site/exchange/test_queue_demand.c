/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue_demand.c: what a site says that its waiting jobs could start with on hosts
 * of a pool: USAGE, by queue and size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

#define SITE                                                                           \
    "Begin Site\nNAME = south\nSPOOL = /nowhere\nBROKER = tcp://127.0.0.1:1\n"         \
    "KEY = k\nBROKER_KEY = b\nEnd Site\n"
#define QUEUE(name, keys)                                                              \
    "Begin Queue\nQUEUE_NAME = " name "\nHOSTS = allremote\n" keys "End Queue\n"

static struct site_stage stage;

static void open_stage(const char *queues)
{
    char text[1024];
    snprintf(text, sizeof(text), SITE "%s", queues);
    site_stage_init_text(&stage, text);
    site_stage_broker_up(&stage);
}

static void submit(const char *queue, int n_slots, int n_jobs)
{
    for (int i = 0; i < n_jobs; i++) {
        struct job_spec spec = site_stage_spec(queue, "a");
        spec.n_slots = n_slots;
        assert_int_not_equal(site_stage_submit_spec(&stage, "ana", &spec), 0);
    }
}

/* "queue:slots of size" ... as the latest USAGE says. */
static void expect(const char *expected)
{
    char got[512] = "";
    site_stage_pass(&stage, 3000);
    const struct msg *msg = NULL, *next;
    for (int i = 0; (next = site_stage_sent(&stage, MSG_USAGE, i)) != NULL; i++) {
        msg = next;
    }
    assert_non_null(msg);
    for (int i = 0; i < msg->usage.n_queues; i++) {
        const struct queue_demand *row = &msg->usage.queues[i];
        size_t used = strlen(got);
        snprintf(got + used, sizeof(got) - used, "%s%s:%d of %d", i > 0 ? " " : "",
                 row->queue, row->n_waiting, row->job_size);
    }
    assert_string_equal(got, expected);
}

static void sizes_are_listed(void **state)
{
    (void)state;
    open_stage(QUEUE("q", "") QUEUE("r", ""));
    submit("q", 4, 2);
    submit("q", 1, 3);
    submit("r", 2, 1);
    expect("q:3 of 1 q:8 of 4 r:2 of 2");
    site_stage_release(&stage);
}

static uint64_t needs_with(const char *queue, const char *rest)
{
    char text[512];
    snprintf(text, sizeof(text), QUEUE("q", "%s") "%s", queue, rest);
    open_stage(text);
    struct job_spec spec = site_stage_spec("q", "a");
    spec.app = "solver";
    assert_int_not_equal(site_stage_submit_spec(&stage, "ana", &spec), 0);
    expect("q:1 of 1");
    uint64_t needs = site_stage_sent(&stage, MSG_USAGE, 0)->usage.queues[0].needs;
    site_stage_release(&stage);
    return needs;
}

/* RES_REQ of the queue and the application decide on hosts too. */
static void other_requirements_are_other_needs(void **state)
{
    (void)state;
    const char *app = "Begin Application\nNAME = solver\nEnd Application\n";
    uint64_t plain = needs_with("", app);
    assert_int_equal(needs_with("", app), plain);
    assert_int_not_equal(needs_with("RES_REQ = mem > 4\n", app), plain);
    assert_int_not_equal(needs_with("", "Begin Application\nNAME = solver\n"
                                        "RES_REQ = mem > 4\nEnd Application\n"),
                         plain);
}

static void what_limits_leave_counts(void **state)
{
    (void)state;
    open_stage(QUEUE("q", "UJOB_LIMIT = 5\n") QUEUE("r", "QJOB_LIMIT = 3\n"));
    submit("q", 2, 10);
    submit("r", 4, 2); /* larger than its limit */
    submit("r", 1, 2);
    expect("q:4 of 2 r:2 of 1");
    site_stage_release(&stage);
}

static void a_closed_queue_wants_nothing(void **state)
{
    (void)state;
    /* The stage begins at 00:01:40. */
    open_stage(QUEUE("q", "DISPATCH_WINDOW = 1:00-2:00\n") QUEUE("r", ""));
    submit("q", 1, 10);
    submit("r", 1, 1);
    expect("r:1 of 1");
    site_stage_release(&stage);
}

static void many_sizes_are_joined(void **state)
{
    (void)state;
    open_stage(QUEUE("q", ""));
    for (int size = 1; size <= 18; size++) {
        submit("q", size, 1);
    }
    /* 16 rows; the last one has the jobs of 16, 17 and 18 slots. */
    expect("q:1 of 1 q:2 of 2 q:3 of 3 q:4 of 4 q:5 of 5 q:6 of 6 q:7 of 7 q:8 of 8 "
           "q:9 of 9 q:10 of 10 q:11 of 11 q:12 of 12 q:13 of 13 q:14 of 14 "
           "q:15 of 15 q:51 of 16");
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_listed),
        cmocka_unit_test(other_requirements_are_other_needs),
        cmocka_unit_test(what_limits_leave_counts),
        cmocka_unit_test(a_closed_queue_wants_nothing),
        cmocka_unit_test(many_sizes_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
