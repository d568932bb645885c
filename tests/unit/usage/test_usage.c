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
    assert_booked(usage, "consumer 0 ,,, -20 0 -20\n"
                         "consumer 0 ana,q,p, 30 30 0\n"
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

/* ---- what others learn later */

static void take_split(struct usage *usage, int n_slots, uint64_t epoch, int64_t at_ms,
                       int64_t now_ms)
{
    const struct usage_split split = {lease, USAGE_CONSUMER, n_slots, epoch, at_ms};
    usage_split(usage, &split, now_ms);
}

static void show_split(void *arg, const struct usage_split *split)
{
    struct shown *shown = arg;
    size_t at = strlen(shown->text);
    snprintf(shown->text + at, sizeof(shown->text) - at, "%llu: %d from %lld\n",
             (unsigned long long)split->epoch, split->n_slots, (long long)split->at_ms);
}

/* A split counts from its instant on, also over the end of an hour; one of before is
 * late, and none begins before the one before it. */
static void test_a_split_that_is_learned_late(void **state)
{
    struct usage *usage = usage_new();
    struct shown shown = {""};
    const int64_t hour = USAGE_HOUR_MS;
    take_split(usage, 4, 5, hour - 100, hour - 100);
    take_split(usage, 1, 7, hour - 40, hour + 60); /* 3 fewer for 100 ms */
    take_split(usage, 4, 6, hour - 70, hour + 60);
    take_split(usage, 1, 8, hour + 70, hour + 70); /* as many as before */
    take_split(usage, 2, 9, hour - 50, hour + 80);
    usage_book(usage, hour + 100);
    assert_booked(usage, "consumer 0 ,,, 280 0 280\n"         /* 60 * 4, 40 * 1 */
                         "consumer 3600000 ,,, 130 0 130\n"); /* 70 * 1, 30 * 2 */
    usage_each_split(usage, show_split, &shown);
    assert_string_equal(shown.text, "5: 4 from 3599900\n"
                                    "7: 1 from 3599960\n"
                                    "9: 2 from 3600070\n");
    usage_clear(usage);
    shown.text[0] = '\0';
    usage_each_split(usage, show_split, &shown);
    assert_string_equal(shown.text, "");
    usage_free(usage);
}

/* A provider's clock that is ahead: by little it is believed, by more it is not. */
static void test_a_split_of_the_future(void **state)
{
    struct usage *usage = usage_new();
    take_split(usage, 1, 1, 0, 0);
    take_split(usage, 3, 2, 1000 + USAGE_CLOCKS_MS, 1000);
    usage_book(usage, 2000 + USAGE_CLOCKS_MS);
    assert_booked(usage, "consumer 0 ,,, 14000 0 14000\n"); /* 11 s * 1, 1 s * 3 */
    usage_clear(usage);
    take_split(usage, 1, 3, 3001 + 2 * USAGE_CLOCKS_MS, 3000 + USAGE_CLOCKS_MS);
    usage_book(usage, 4000 + USAGE_CLOCKS_MS);
    assert_booked(usage, "consumer 0 ,,, 4000 0 4000\n"); /* 1 s * 3, 1 s * 1 */
    usage_free(usage);
}

static struct row told(enum job_state state, int64_t used_ms, int64_t at_ms,
                       int n_slots)
{
    struct row row = state_of(7, state, 2);
    row.job_state.attempt = 31;
    row.job_state.use = (struct run_use){
        .start_ms = 1000, .at_ms = at_ms, .used_ms = used_ms, .n_slots = n_slots};
    return row;
}

static void show_run(void *arg, const struct usage_run *run)
{
    struct shown *shown = arg;
    size_t at = strlen(shown->text);
    snprintf(shown->text + at, sizeof(shown->text) - at,
             "%llu job %s side %d from %lld to %lld used %lld\n",
             (unsigned long long)run->attempt, run->job, (int)run->side,
             (long long)run->start_ms,
             run->end_ms == USAGE_OPEN ? -1 : (long long)run->end_ms,
             (long long)run->used_ms);
}

/* The consumer learns of each change later; it has been cut off while the job was
 * suspended and resumed; the job is requeued when it ends. What is booked in the end is
 * what the provider has. A row that is stored once more books nothing. */
static void test_a_job_as_its_provider_tells(void **state)
{
    struct usage *usage = usage_new();
    struct usage_jobs *jobs = usage_jobs_new(usage);
    struct shown shown = {""};
    struct row row = submission(7, "ana", "");
    usage_hold(usage, lease, USAGE_CONSUMER, 2, 0);
    usage_jobs_stored(jobs, 0, &row, 0);
    row = state_of(7, JOB_PEND, 2); /* dispatched */
    row.job_state.attempt = 31;
    usage_jobs_stored(jobs, 0, &row, 900);
    row = told(JOB_RUN, 0, 1000, 2);
    usage_jobs_stored(jobs, 0, &row, 1400);
    usage_jobs_stored(jobs, 0, &row, 1500);
    row = told(JOB_UNKWN, 0, 1000, 2);
    usage_jobs_stored(jobs, 0, &row, 2000);
    row = told(JOB_RUN, 2 * 700, 2300, 2); /* suspended from 1700 to 2300 */
    usage_jobs_stored(jobs, 0, &row, 5000);
    row = told(JOB_PEND, 2 * 700 + 2 * 900, 3200, 0);
    row.job_state.lease = "";
    row.job_state.attempt = 0;
    row.job_state.n_hosts = 0;
    usage_jobs_stored(jobs, 0, &row, 6000);
    usage_jobs_stored(jobs, 0, &row, 6500);
    usage_book(usage, 7000);
    assert_booked(usage, "consumer 0 ,,, 10800 0 10800\n"
                         "consumer 0 ana,normal,default, 3200 3200 0\n");
    usage_jobs_each_run(jobs, show_run, &shown);
    assert_string_equal(shown.text, "31 job 7 side 0 from 1000 to -1 used 800\n"
                                    "31 job 7 side 0 from 1000 to -1 used 6800\n"
                                    "31 job 7 side 0 from 1000 to -1 used 3200\n"
                                    "31 job 7 side 0 from 1000 to 3200 used 3200\n");
    usage_jobs_free(jobs);
    usage_free(usage);
}

/* Its end is told at once, before anything else was: it used its slots all the same. */
static void test_a_job_that_was_over_at_once(void **state)
{
    struct usage *usage = usage_new();
    struct usage_jobs *jobs = usage_jobs_new(usage);
    struct row row = submission(7, "ana", "");
    usage_jobs_stored(jobs, 0, &row, 0);
    row = state_of(7, JOB_PEND, 2);
    row.job_state.attempt = 31;
    usage_jobs_stored(jobs, 0, &row, 900);
    row = told(JOB_EXIT, USAGE_HOUR_MS * 2, 1000 + USAGE_HOUR_MS, 0);
    usage_jobs_stored(jobs, 0, &row, 5000 + USAGE_HOUR_MS);
    usage_book(usage, 6000 + USAGE_HOUR_MS);
    assert_booked(usage, "consumer 0 ,,, -7198000 0 -7198000\n"
                         "consumer 0 ana,normal,default, 7198000 7198000 0\n"
                         "consumer 3600000 ,,, -2000 0 -2000\n"
                         "consumer 3600000 ana,normal,default, 2000 2000 0\n");
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
        cmocka_unit_test(test_a_split_that_is_learned_late),
        cmocka_unit_test(test_a_split_of_the_future),
        cmocka_unit_test(test_a_job_as_its_provider_tells),
        cmocka_unit_test(test_a_job_that_was_over_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
