/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_journal_history.c: what happened to jobs, as the journal keeps it: read by
 * job and by user, and forgotten when it is too old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/io/journal_fixture.h"

static struct row event(uint64_t id, int index, int64_t at_ms, enum job_event what)
{
    static const struct job_facts facts = {.is_given = true,
                                           .user = "ana",
                                           .name = "many[1-9]",
                                           .queue = "normal",
                                           .project = "p",
                                           .command = "true",
                                           .n_slots = 2};
    static const struct host_slots hosts[] = {{"n1", 2}};
    struct row row = {.kind = ROW_JOB_EVENT};
    row.job_event = (struct row_job_event){.site = "",
                                           .id = id,
                                           .index = index,
                                           .at_ms = at_ms,
                                           .event = what,
                                           .state = JOB_RUN,
                                           .lease = "",
                                           .hosts = hosts,
                                           .n_hosts = 1,
                                           .reason = "why"};
    if (what == JOB_EVENT_SUBMIT) {
        row.job_event.facts = facts;
    }
    if (what == JOB_EVENT_END) {
        row.job_event.end = (struct job_event_end){
            .is_given = true, .has_code = true, .code = 137, .cpu_ms = 900};
    }
    return row;
}

static int read_events(struct journal_fixture *fixture,
                       const struct journal_asked *asked, struct row_job_event **events,
                       bool *is_cut)
{
    struct err err;
    int n_events;
    assert_int_equal(journal_read_history(fixture->journal, asked, &fixture->arena,
                                          events, &n_events, is_cut, &err),
                     0);
    return n_events;
}

static void test_what_happened_is_read_by_job(void **state)
{
    struct journal_fixture *fixture = *state;
    struct row rows[] = {
        event(7, 0, 100, JOB_EVENT_SUBMIT), event(7, 2, 300, JOB_EVENT_END),
        event(8, 0, 150, JOB_EVENT_SUBMIT), event(7, 1, 200, JOB_EVENT_START),
        event(7, 2, 250, JOB_EVENT_START),  event(7, 3, 400, JOB_EVENT_END),
    };
    struct journal_asked asked = {
        .site = "", .id = 7, .first = 1, .last = 2, .limit = 10};
    struct row_job_event *events;
    bool is_cut;
    journal_fixture_write(fixture, rows, 6);
    journal_fixture_reopen(fixture);
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 4);
    assert_false(is_cut);
    assert_string_equal(events[0].facts.name, "many[1-9]");
    assert_int_equal(events[0].facts.n_slots, 2);
    assert_false(events[1].facts.is_given);
    assert_false(events[1].end.is_given);
    assert_int_equal(events[1].index, 1);
    assert_int_equal(events[1].at_ms, 200);
    assert_string_equal(events[1].hosts[0].host, "n1");
    assert_string_equal(events[1].reason, "why");
    assert_int_equal(events[2].event, JOB_EVENT_END); /* as it was written */
    assert_int_equal(events[2].end.code, 137);
    assert_int_equal(events[2].end.cpu_ms, 900);
    asked.last = 9;
    asked.limit = 2;
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 3);
    assert_true(is_cut);
    asked.site = "south";
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 0);
}

static void test_jobs_with_a_history_are_listed(void **state)
{
    struct journal_fixture *fixture = *state;
    struct row rows[] = {
        event(7, 0, 100, JOB_EVENT_SUBMIT), event(8, 0, 150, JOB_EVENT_SUBMIT),
        event(9, 0, 160, JOB_EVENT_SUBMIT), event(9, 0, 170, JOB_EVENT_START)};
    static const struct {
        const char *user;
        uint64_t after;
        int limit, n_ids;
        uint64_t first;
    } cases[] = {{"", 0, 10, 3, 7}, {"ana", 0, 10, 3, 7}, {"bo", 0, 10, 0, 0},
                 {"", 7, 10, 2, 8}, {"ana", 0, 2, 2, 7},  {"", 9, 10, 0, 0}};
    journal_fixture_write(fixture, rows, 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err;
        uint64_t *ids;
        int n_ids;
        assert_int_equal(journal_read_history_ids(fixture->journal, cases[i].user,
                                                  cases[i].after, cases[i].limit,
                                                  &fixture->arena, &ids, &n_ids, &err),
                         0);
        assert_int_equal(n_ids, cases[i].n_ids);
        assert_int_equal(n_ids > 0 ? ids[0] : 0, cases[i].first);
    }
}

static void test_what_is_too_old_is_forgotten(void **state)
{
    struct journal_fixture *fixture = *state;
    struct row rows[] = {event(7, 0, 100, JOB_EVENT_SUBMIT),
                         event(7, 0, 200, JOB_EVENT_START),
                         event(7, 0, 300, JOB_EVENT_SUSPEND)};
    struct row trim = {.kind = ROW_JOB_EVENT,
                       .job_event = {.is_trim = true, .at_ms = 250}};
    struct journal_asked asked = {
        .site = "", .id = 7, .first = 1, .last = 9, .limit = 10};
    struct row_job_event *events;
    bool is_cut;
    journal_fixture_write(fixture, rows, 3);
    journal_fixture_write(fixture, &trim, 1);
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 1);
    assert_int_equal(events[0].at_ms, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, journal_fixture_setup,                       \
                                    journal_fixture_teardown)
        TEST(test_what_happened_is_read_by_job),
        TEST(test_jobs_with_a_history_are_listed),
        TEST(test_what_is_too_old_is_forgotten),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
