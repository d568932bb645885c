/* SPDX-License-Identifier: Apache-2.0 */
/* test_usage.c: what is booked of levels and jobs, and how rows are summed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "usage/usage.h"

static const char lease[] = "north/1/south";

/* The rows as lines: side, start, user, queue, project, account, and slot-ms. */
struct shown {
    char text[2000];
};

static void show_row(void *arg, const struct usage_row *row)
{
    struct shown *shown = arg;
    size_t at = strlen(shown->text);
    snprintf(shown->text + at, sizeof(shown->text) - at,
             "%s %lld %s,%s,%s,%s %lld %lld %lld\n", usage_side_name(row->side),
             (long long)row->start_ms, row->owner.user, row->owner.queue,
             row->owner.project, row->owner.account, (long long)row->held_ms,
             (long long)row->used_ms, (long long)row->idle_ms);
}

static void assert_booked(struct usage *usage, const char *expected)
{
    struct shown shown = {""};
    usage_each(usage, show_row, &shown);
    assert_string_equal(shown.text, expected);
}

static struct row submission(uint64_t id, const char *user, const char *group)
{
    struct row row = {.kind = ROW_JOB};
    row.job.id = id;
    row.job.spec.user = user;
    row.job.spec.queue = "normal";
    row.job.terms.user_group = group;
    return row;
}

static struct row state_of(uint64_t id, enum job_state state, int n_slots)
{
    static struct host_slots hosts[4];
    static int n = 0;
    struct host_slots *host = &hosts[n++ % 4];
    struct row row = {.kind = ROW_JOB_STATE};
    *host = (struct host_slots){.host = "n1@north", .n_slots = n_slots};
    row.job_state.id = id;
    row.job_state.state = state;
    row.job_state.lease = lease;
    row.job_state.hosts = host;
    row.job_state.n_hosts = 1;
    row.job_state.queue = "";
    return row;
}

static void test_an_hour_ends(void **state)
{
    struct usage *usage = usage_new();
    usage_hold(usage, lease, USAGE_PROVIDER, 4, USAGE_HOUR_MS - 10);
    usage_use(usage, lease, USAGE_PROVIDER, 3, USAGE_HOUR_MS - 1);
    usage_book(usage, USAGE_HOUR_MS + 5);
    assert_booked(usage, "provider 0 ,,, 40 3 37\n"
                         "provider 3600000 ,,, 20 15 5\n");
    usage_free(usage);
}

static void test_what_is_used_above_what_is_held(void **state)
{
    struct usage *usage = usage_new();
    const struct usage_owner ana = {"ana", "q", "p", ""}, bob = {"bob", "q", "p", ""};
    usage_hold(usage, lease, USAGE_CONSUMER, 5, 0);
    usage_change(usage, lease, USAGE_CONSUMER, &bob, 4, 0);
    usage_change(usage, lease, USAGE_CONSUMER, &ana, 3, 0);
    usage_book(usage, 10);
    assert_booked(usage, "consumer 0 ana,q,p, 10 30 0\n"
                         "consumer 0 bob,q,p, 40 40 0\n");
    usage_free(usage);
}

static void test_a_clock_that_goes_back(void **state)
{
    struct usage *usage = usage_new();
    usage_hold(usage, lease, USAGE_PROVIDER, 1, 100);
    usage_hold(usage, lease, USAGE_PROVIDER, 2, 200);
    usage_hold(usage, lease, USAGE_PROVIDER, 3, 150);
    usage_book(usage, 210);
    assert_booked(usage, "provider 0 ,,, 130 0 130\n"); /* 100 * 1, 10 * 3 */
    usage_free(usage);
}

static void test_a_clock_that_was_years_ahead(void **state)
{
    struct usage *usage = usage_new();
    usage_hold(usage, lease, USAGE_PROVIDER, 1, 1000 * USAGE_DAY_MS);
    usage_book(usage, 1000 * USAGE_DAY_MS + 7);
    usage_book(usage, 20);
    usage_book(usage, 23);
    assert_booked(usage, "provider 0 ,,, 3 0 3\n"
                         "provider 86400000000 ,,, 7 0 7\n");
    usage_free(usage);
}

static void test_jobs_of_a_site(void **state)
{
    struct usage *usage = usage_new();
    struct usage_jobs *jobs = usage_jobs_new(usage);
    struct row row = submission(7, "ana", "physics");
    usage_hold(usage, lease, USAGE_CONSUMER, 4, 0);
    usage_jobs_stored(jobs, 0, &row, 0);
    row = state_of(7, JOB_RUN, 2);
    usage_jobs_stored(jobs, 0, &row, 100);
    usage_jobs_stored(jobs, 0, &row, 150); /* stored again for another reason */
    row = state_of(7, JOB_UNKWN, 2);
    usage_jobs_stored(jobs, 0, &row, 200);
    row = state_of(7, JOB_RUN, 3); /* resized */
    usage_jobs_stored(jobs, 0, &row, 300);
    row.job_state.queue = "night"; /* switched */
    usage_jobs_stored(jobs, 0, &row, 400);
    row = state_of(7, JOB_SSUSP, 3);
    usage_jobs_stored(jobs, 0, &row, 500);
    usage_book(usage, 600);
    assert_booked(usage, "consumer 0 ,,, 1400 0 1400\n"
                         "consumer 0 ana,night,default,physics 300 300 0\n"
                         "consumer 0 ana,normal,default,physics 700 700 0\n");
    usage_jobs_free(jobs);
    usage_free(usage);
}

static void test_jobs_of_two_sites_with_one_number(void **state)
{
    struct usage *usage = usage_new();
    struct usage_jobs *jobs = usage_jobs_new(usage);
    struct row row = submission(7, "ana", "");
    usage_hold(usage, lease, USAGE_CONSUMER, 2, 0);
    usage_jobs_stored(jobs, 0, &row, 0);
    row = submission(7, "bob", "");
    usage_jobs_stored(jobs, 1, &row, 0);
    row = state_of(7, JOB_RUN, 1);
    usage_jobs_stored(jobs, 0, &row, 0);
    usage_jobs_stored(jobs, 1, &row, 10);
    row.job_state.is_gone = true;
    usage_jobs_stored(jobs, 0, &row, 20);
    usage_book(usage, 30);
    assert_booked(usage, "consumer 0 ,,, 20 0 20\n"
                         "consumer 0 ana,normal,default, 20 20 0\n"
                         "consumer 0 bob,normal,default, 20 20 0\n");
    usage_jobs_free(jobs);
    usage_free(usage);
}

static void add_level(void *count, const struct usage_level *level)
{
    *(int *)count += level->n_held + 100;
}

static void test_levels_for_a_journal(void **state)
{
    struct usage *usage = usage_new();
    int count = 0;
    usage_hold(usage, lease, USAGE_PROVIDER, 2, 5);
    usage_each_level(usage, add_level, &count);
    assert_int_equal(count, 102);
    usage_clear(usage);
    count = 0;
    usage_each_level(usage, add_level, &count); /* nothing has changed */
    assert_int_equal(count, 0);
    usage_hold(usage, lease, USAGE_PROVIDER, 0, 9);
    usage_each_level(usage, add_level, &count);
    assert_int_equal(count, 100); /* that nothing is held is told once */
    usage_clear(usage);
    count = 0;
    usage_each_level(usage, add_level, &count);
    assert_int_equal(count, 0);
    usage_free(usage);
}

static void test_sums(void **state)
{
    const struct usage_row rows[] = {
        {lease,
         USAGE_CONSUMER,
         USAGE_DAY_MS,
         {"bob", "q", "p", "g"},
         700,
         700,
         0,
         0,
         0},
        {lease, USAGE_CONSUMER, 0, {"bob", "r", "", ""}, 1, 2, 3, 0, 0},
        {lease,
         USAGE_CONSUMER,
         23 * USAGE_HOUR_MS,
         {"bob", "q", "p", ""},
         40,
         50,
         60,
         0,
         0},
    };
    struct usage_sums *by_day = usage_sums_new(USAGE_BY_USER | USAGE_BY_DAY);
    struct usage_sums *by_nothing = usage_sums_new(0);
    struct shown shown = {""};
    for (int i = 0; i < 3; i++) {
        usage_sums_add(by_day, &rows[i]);
        usage_sums_add(by_nothing, &rows[i]);
    }
    usage_sums_each(by_day, show_row, &shown);
    assert_string_equal(shown.text, "consumer 0 bob,,, 41 52 63\n"
                                    "consumer 86400000 bob,,, 700 700 0\n");
    shown.text[0] = '\0';
    usage_sums_each(by_nothing, show_row, &shown);
    assert_string_equal(shown.text, "consumer 0 ,,, 741 752 63\n");
    usage_sums_free(by_nothing);
    usage_sums_free(by_day);
    assert_int_equal(usage_sums_seconds(1499), 1);
    assert_int_equal(usage_sums_seconds(1500), 2);
    const struct usage_row even = {.held_ms = 2800, .used_ms = 1400, .idle_ms = 1400};
    assert_int_equal(usage_sums_held_seconds(&even), 2); /* as the two are shown */
}

static struct row run_of(uint64_t attempt, enum run_record record,
                         enum control_action action)
{
    static const struct host_slots hosts[] = {{.host = "n1", .n_slots = 2},
                                              {.host = "n2", .n_slots = 1}};
    struct row row = {.kind = ROW_RUN};
    row.run.run = (struct run_id){.site = "south", .attempt = attempt};
    row.run.lease = lease;
    row.run.record = record;
    row.run.control.action = action;
    row.run.hosts = hosts;
    row.run.n_hosts = 2;
    return row;
}

static void add_to_sums(void *sums, const struct usage_row *row)
{
    usage_sums_add(sums, row);
}

static void keep_sum(void *sum, const struct usage_row *row)
{
    *(struct usage_row *)sum = *row;
}

/* The provider's records of a consumer's job: it uses its slots from its admission to
 * its end, unless it is suspended; a row that changes neither changes nothing. An own
 * run is no lease's. */
static void test_runs_of_a_consumer(void **state)
{
    const struct {
        int64_t at_ms;
        struct row row;
    } steps[] = {
        {1000, run_of(7, RUN_RECORD_TAKEN, CONTROL_SIGNAL)},
        {1500, run_of(7, RUN_RECORD_GUARDED, CONTROL_SIGNAL)},
        {3000, run_of(7, RUN_RECORD_GUARDED, CONTROL_SUSPEND)},
        {5000, run_of(7, RUN_RECORD_GUARDED, CONTROL_RESUME)},
        {6000, run_of(7, RUN_RECORD_ENDED, CONTROL_RESUME)},
        {7000, run_of(8, RUN_RECORD_ENDED, CONTROL_SIGNAL)},
    };
    struct usage *usage = usage_new();
    struct usage_jobs *jobs = usage_jobs_new(usage);
    struct usage_sums *sums = usage_sums_new(USAGE_BY_LEASE | USAGE_BY_SIDE);
    struct usage_row sum = {0};
    struct row own = run_of(9, RUN_RECORD_GUARDED, CONTROL_SIGNAL);
    (void)state;
    own.run.lease = "";
    usage_jobs_stored(jobs, 0, &own, 0);
    usage_price(usage, lease, USAGE_LENT, 5, 0);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (i == 3) {
            usage_price(usage, lease, USAGE_LENT, 2, 4000);
        }
        usage_jobs_stored(jobs, 0, &steps[i].row, steps[i].at_ms);
    }
    usage_book(usage, 9000);
    usage_each(usage, add_to_sums, sums);
    usage_sums_each(sums, keep_sum, &sum);
    assert_int_equal(sum.side, USAGE_LENT);
    assert_int_equal(sum.used_ms, 3 * (2000 + 1000));
    assert_int_equal(sum.cost_ms, 3 * (2000 * 5 + 1000 * 2));
    assert_int_equal(sum.n_moved, 4 * 3);
    usage_sums_free(sums);
    usage_jobs_free(jobs);
    usage_free(usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_hour_ends),
        cmocka_unit_test(test_runs_of_a_consumer),
        cmocka_unit_test(test_what_is_used_above_what_is_held),
        cmocka_unit_test(test_a_clock_that_goes_back),
        cmocka_unit_test(test_a_clock_that_was_years_ahead),
        cmocka_unit_test(test_jobs_of_a_site),
        cmocka_unit_test(test_jobs_of_two_sites_with_one_number),
        cmocka_unit_test(test_levels_for_a_journal),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
