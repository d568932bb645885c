/* SPDX-License-Identifier: Apache-2.0 */
/* test_row.c: a copied row owns all that it points to: the copy is unchanged after the
 * original is freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/view/broker_view.h"
#include "model/row.h"

static struct arena first, second;

static int open_arenas(void **state)
{
    arena_init(&first);
    arena_init(&second);
    return 0;
}

static int close_arenas(void **state)
{
    arena_release(&second);
    return 0;
}

static struct row pass(const struct row *row)
{
    struct row copy;
    row_copy(&second, row, &copy);
    arena_release(&first);
    assert_int_equal(copy.kind, row->kind);
    return copy;
}

static char *text(const char *what)
{
    return arena_str(&first, what);
}

static const struct host_split *two_splits(void)
{
    struct host_split *hosts = arena_alloc(&first, 2, sizeof(*hosts));
    hosts[0] = (struct host_split){.host = text("n1"), .n_slots = 4, .provider = 3};
    hosts[1] = (struct host_split){.host = text("n2"), .n_slots = 5, .is_down = true};
    return hosts;
}

static const struct host_slots *two_slots(void)
{
    struct host_slots *hosts = arena_alloc(&first, 2, sizeof(*hosts));
    hosts[0] = (struct host_slots){.host = text("n1@north"), .n_slots = 1};
    hosts[1] = (struct host_slots){.host = text("s1"), .n_slots = 2};
    return hosts;
}

static void assert_splits(const struct host_split *hosts, int n_hosts)
{
    assert_int_equal(n_hosts, 2);
    assert_string_equal(hosts[0].host, "n1");
    assert_int_equal(hosts[0].provider, 3);
    assert_string_equal(hosts[1].host, "n2");
    assert_true(hosts[1].is_down);
}

static void assert_slots(const struct host_slots *hosts, int n_hosts)
{
    assert_int_equal(n_hosts, 2);
    assert_string_equal(hosts[0].host, "n1@north");
    assert_string_equal(hosts[1].host, "s1");
    assert_int_equal(hosts[1].n_slots, 2);
}

static struct job_spec spec(void)
{
    const char **env = arena_alloc(&first, 2, sizeof(*env));
    env[0] = text("A=1");
    env[1] = text("B=2");
    const char **asked = arena_alloc(&first, 1, sizeof(*asked));
    asked[0] = text("n1@north");
    return (struct job_spec){
        .name = text("name"),
        .user = text("ana"),
        .queue = text("normal"),
        .command = text("true"),
        .cwd = text("/home"),
        .in_file = text("in"),
        .out_file = text("out"),
        .err_file = text("err"),
        .env = env,
        .n_env = 2,
        .hosts_asked = asked,
        .n_hosts_asked = 1,
        .res_reqs = asked,
        .n_res_reqs = 1,
        .n_slots = 3,
    };
}

static void assert_spec(const struct job_spec *copy)
{
    assert_string_equal(copy->name, "name");
    assert_string_equal(copy->user, "ana");
    assert_string_equal(copy->queue, "normal");
    assert_string_equal(copy->command, "true");
    assert_string_equal(copy->cwd, "/home");
    assert_string_equal(copy->in_file, "in");
    assert_string_equal(copy->out_file, "out");
    assert_string_equal(copy->err_file, "err");
    assert_int_equal(copy->n_env, 2);
    assert_string_equal(copy->env[1], "B=2");
    assert_string_equal(copy->hosts_asked[0], "n1@north");
    assert_string_equal(copy->res_reqs[0], "n1@north");
    assert_int_equal(copy->n_slots, 3);
}

static void test_small_rows(void **state)
{
    struct row row = {.kind = ROW_COUNTER, .counter = {text("job"), 7}};
    struct row copy = pass(&row);
    assert_string_equal(copy.counter.name, "job");
    assert_int_equal(copy.counter.value, 7);

    row = (struct row){.kind = ROW_OVERRIDE,
                       .override = {RECLAIM_LEASE, text("n/1/s"), 5000}};
    copy = pass(&row);
    assert_string_equal(copy.override.name, "n/1/s");

    row = (struct row){.kind = ROW_HIGH, .high = {text("south"), 9}};
    copy = pass(&row);
    assert_string_equal(copy.high.consumer, "south");

    row = (struct row){.kind = ROW_SITE, .site = {text("north"), true, 5}};
    copy = pass(&row);
    assert_string_equal(copy.site.name, "north");
    assert_true(copy.site.is_lost);

    row = (struct row){.kind = ROW_POOL, .pool = {text("p"), text("day"), 8, false}};
    copy = pass(&row);
    assert_string_equal(copy.pool.name, "p");
    assert_string_equal(copy.pool.window, "day");
    assert_int_equal(copy.pool.slots, 8);

    row = (struct row){.kind = ROW_KEPT, .kept = {text("p"), text("/a"), 3, false}};
    copy = pass(&row);
    assert_string_equal(copy.kept.pool, "p");
    assert_string_equal(copy.kept.node, "/a");

    row = (struct row){.kind = ROW_HOURS,
                       .hours = {text("p"), text("/a"), 1, 2, 3, 1, false}};
    copy = pass(&row);
    assert_string_equal(copy.hours.pool, "p");
    assert_string_equal(copy.hours.name, "/a");
    assert_int_equal(copy.hours.used_ms, 3);

    row = (struct row){.kind = ROW_HISTORY,
                       .history = {.lease = text("n/1/s"), .reason = text("why")}};
    copy = pass(&row);
    assert_string_equal(copy.history.lease, "n/1/s");
    assert_string_equal(copy.history.reason, "why");
}

static void test_lease(void **state)
{
    struct row row = {.kind = ROW_LEASE,
                      .lease = {.id = text("n/1/s"),
                                .provider = text("n"),
                                .policy = text("1"),
                                .consumer = text("s"),
                                .epoch = 4,
                                .reason = text("why"),
                                .hosts = two_splits(),
                                .n_hosts = 2}};
    struct row copy = pass(&row);
    assert_string_equal(copy.lease.id, "n/1/s");
    assert_string_equal(copy.lease.provider, "n");
    assert_string_equal(copy.lease.policy, "1");
    assert_string_equal(copy.lease.consumer, "s");
    assert_string_equal(copy.lease.reason, "why");
    assert_splits(copy.lease.hosts, copy.lease.n_hosts);
}

static void test_book(void **state)
{
    struct row row = {.kind = ROW_BOOK,
                      .book = {.lease = text("n/1/s"),
                               .policy = text("1"),
                               .consumer = text("s"),
                               .content = text("PER_HOST=n1"),
                               .hosts = two_splits(),
                               .n_hosts = 2}};
    struct row copy = pass(&row);
    assert_string_equal(copy.book.lease, "n/1/s");
    assert_string_equal(copy.book.policy, "1");
    assert_string_equal(copy.book.consumer, "s");
    assert_string_equal(copy.book.content, "PER_HOST=n1");
    assert_splits(copy.book.hosts, copy.book.n_hosts);
}

static void test_job(void **state)
{
    struct row row = {.kind = ROW_JOB, .job = {.id = 12, .spec = spec()}};
    struct row copy = pass(&row);
    assert_int_equal(copy.job.id, 12);
    assert_spec(&copy.job.spec);
}

static void test_job_state(void **state)
{
    struct row row = {.kind = ROW_JOB_STATE,
                      .job_state = {.lease = text("n/1/s"),
                                    .hosts = two_slots(),
                                    .n_hosts = 2,
                                    .exit = {.text = text("gone")},
                                    .reason = text("why")}};
    struct row copy = pass(&row);
    assert_string_equal(copy.job_state.lease, "n/1/s");
    assert_slots(copy.job_state.hosts, copy.job_state.n_hosts);
    assert_string_equal(copy.job_state.exit.text, "gone");
    assert_string_equal(copy.job_state.reason, "why");
}

static void test_run(void **state)
{
    struct job_spec *own = arena_alloc(&first, 1, sizeof(*own));
    *own = spec();
    struct row row = {.kind = ROW_RUN,
                      .run = {.run = {text("south"), 3},
                              .job = text("12"),
                              .lease = text("n/1/s"),
                              .hosts = two_slots(),
                              .n_hosts = 2,
                              .spec = own,
                              .exit = {.text = text("gone")}}};
    struct row copy = pass(&row);
    assert_string_equal(copy.run.run.site, "south");
    assert_int_equal(copy.run.run.attempt, 3);
    assert_string_equal(copy.run.job, "12");
    assert_string_equal(copy.run.lease, "n/1/s");
    assert_slots(copy.run.hosts, copy.run.n_hosts);
    assert_spec(copy.run.spec);
    assert_string_equal(copy.run.exit.text, "gone");
}

static void test_nothing_stays_nothing(void **state)
{
    struct row row = {.kind = ROW_RUN};
    struct row copy = pass(&row);
    assert_null(copy.run.spec);
    assert_null(copy.run.hosts);
    assert_null(copy.run.job);
}

static void test_a_row_leaves_things_as_they_are(void **state)
{
    const struct job_spec own = {0};
    const struct host_split host = {.host = "n1", .n_slots = 4};
    const struct lease_resource resource = {.name = "lic"};
    const struct row run = {.kind = ROW_RUN, .run = {.job = "12", .spec = &own}};
    const struct row lease = {.kind = ROW_LEASE,
                              .lease = {.id = "n/1/s",
                                        .hosts = &host,
                                        .n_hosts = 1,
                                        .resources = &resource,
                                        .n_resources = 1}};
    struct row row = {.kind = ROW_RUN, .run = {.job = "13"}};
    struct row merged = row_merge(&row, &run);
    assert_ptr_equal(merged.run.spec, &own);
    assert_string_equal(merged.run.job, "13");
    row = (struct row){.kind = ROW_LEASE, .lease = {.id = "n/1/s", .judged_ms = 7}};
    merged = row_merge(&row, &lease);
    assert_int_equal(merged.lease.n_hosts, 0); /* it has none any more */
    assert_int_equal(merged.lease.n_resources, 0);
    row.lease.keeps_lists = true;
    merged = row_merge(&row, &lease);
    assert_int_equal(merged.lease.judged_ms, 7);
    assert_int_equal(merged.lease.n_hosts, 1);
    assert_ptr_equal(merged.lease.hosts, &host);
    assert_int_equal(merged.lease.n_resources, 1);
    assert_ptr_equal(merged.lease.resources, &resource);
    assert_false(merged.lease.keeps_lists);
}

static void test_event_names(void **state)
{
    assert_string_equal(lease_event_name(HISTORY_REGISTERED), "lease_registered");
    assert_string_equal(lease_event_name(HISTORY_RECALL_DONE), "recall_done");
    assert_string_equal(lease_event_name(HISTORY_REBALANCE), "lease_rebalance");
    assert_string_equal(lease_event_name((enum history_event)77), "?");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arenas, close_arenas)
    const struct CMUnitTest tests[] = {
        TEST(test_small_rows),
        TEST(test_lease),
        TEST(test_book),
        TEST(test_job),
        TEST(test_job_state),
        TEST(test_run),
        TEST(test_nothing_stays_nothing),
        TEST(test_a_row_leaves_things_as_they_are),
        TEST(test_event_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
