/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_pending_bounds.c: MAX_PEND_JOBS of users and of the site: what counts,
 * whose row it is, and that a refusal says so and changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

#define SITE                                                                           \
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"                             \
    "Begin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"                                      \
    "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"                                     \
    "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nteam (ana bob)\nEnd UserGroup\n"

static uint64_t submit(struct site_stage *stage, const char *user, const char *name)
{
    struct job_spec spec = site_stage_spec("local", "work");
    spec.name = name;
    spec.uid = (int)site_stage_user(user).uid;
    return site_stage_submit_spec(stage, user, &spec);
}

static void open_with(struct site_stage *stage, const char *parameters,
                      const char *users)
{
    char text[2048];
    snprintf(text, sizeof(text),
             SITE "Begin Parameters\nMAX_JOB_ARRAY_SIZE = 200000\n%s\nEnd Parameters\n"
                  "Begin User\nUSER_NAME MAX_PEND_JOBS\n%s\nEnd User\n",
             parameters, users);
    site_stage_init_text(stage, text);
}

static void expect_refused(struct site_stage *stage, const char *text)
{
    const struct msg_reply *reply = site_stage_reply(stage);
    assert_int_equal(reply->code, ERR_FULL);
    assert_string_equal(reply->text, text);
}

static void test_elements_of_arrays_count(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "ana 5");
    assert_true(submit(&stage, "ana", "a[1-3]") > 0);
    assert_int_equal(submit(&stage, "ana", "b[1-3]"), 0);
    expect_refused(&stage,
                   "user ana has 3 pending jobs, and with 3 more there are more than "
                   "the 5 of MAX_PEND_JOBS; try again when some have started. Job not "
                   "submitted.");
    assert_int_equal(site_count_jobs(stage.site), 3);
    assert_true(submit(&stage, "ana", "c[1-2]") > 0);
    assert_int_equal(submit(&stage, "ana", "d"), 0);
    assert_true(submit(&stage, "bob", "d") > 0); /* another user */
    site_stage_release(&stage);
}

static void test_jobs_that_start_or_end_count_no_more(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "ana 2");
    assert_int_equal(submit(&stage, "ana", "a[1-2]"), 1);
    assert_int_equal(submit(&stage, "ana", "b"), 0);
    site_stage_control(&stage, "ana", "1[2]", CONTROL_KILL, 0);
    assert_int_equal(submit(&stage, "ana", "b"), 2);
    site_stage_restart(&stage); /* and after a restart, as many */
    assert_int_equal(submit(&stage, "ana", "c"), 0);
    site_stage_host_up(&stage, "s1");
    site_stage_pass(&stage, 1000);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, 2), 1);
    assert_int_equal(submit(&stage, "ana", "c"), 3);
    site_stage_release(&stage);
}

/* The row of the user, else the smallest of the user's groups, else the default. */
static void test_whose_row_counts(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "default 1\nteam@ 3\nana 2");
    assert_int_equal(submit(&stage, "ana", "a[1-3]"), 0);
    assert_true(submit(&stage, "ana", "a[1-2]") > 0);
    assert_int_equal(submit(&stage, "bob", "a[1-4]"), 0);
    assert_true(submit(&stage, "bob", "a[1-3]") > 0);
    assert_int_equal(submit(&stage, "root", "a[1-2]"), 0);
    assert_true(submit(&stage, "root", "a") > 0);
    site_stage_release(&stage);
}

/* The answer says whose bound it is, and when to try again. */
static void test_when_to_try_again(void **state)
{
    static const struct {
        const char *parameters, *rows, *key, *name;
        int retry_s;
    } rows[] = {
        {"", "ana 2", "user", "ana", 60},
        {"SUB_TRY_INTERVAL = 5", "team 2", "group", "team", 5},
        {"MAX_PEND_JOBS = 2", "default 9", "site", "south", 60},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        open_with(&stage, rows[i].parameters, rows[i].rows);
        assert_true(submit(&stage, "ana", "a[1-2]") > 0);
        assert_int_equal(submit(&stage, "ana", "b"), 0);
        const struct msg_reply *reply = site_stage_reply(&stage);
        assert_int_equal(reply->code, ERR_FULL);
        assert_int_equal(value_find(reply->value, "retry_s")->number, rows[i].retry_s);
        assert_string_equal(value_find(reply->value, rows[i].key)->text, rows[i].name);
        site_stage_release(&stage);
    }
}

/* A group as a whole; a user's own row or its default counts as well. */
static void test_of_groups(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "team 5\nana 4");
    assert_true(submit(&stage, "ana", "a[1-3]") > 0);
    assert_true(submit(&stage, "olga", "a[1-9]") > 0); /* not of the group */
    assert_int_equal(submit(&stage, "bob", "a[1-3]"), 0);
    expect_refused(&stage,
                   "the users of group team have 3 pending jobs, and with 3 more there "
                   "are more than the 5 of MAX_PEND_JOBS; try again when some have "
                   "started. Job not submitted.");
    assert_true(submit(&stage, "bob", "a[1-2]") > 0);
    assert_int_equal(submit(&stage, "ana", "b"), 0);
    site_stage_control(&stage, "bob", "0", CONTROL_KILL, 0);
    assert_true(submit(&stage, "ana", "b") > 0);
    assert_int_equal(submit(&stage, "ana", "c"), 0); /* the row of ana */
    site_stage_release(&stage);
}

/* The column of section UserGroup; the smaller one counts. */
static void test_column_of_groups(void **state)
{
    struct site_stage stage;
    open_with(&stage, "",
              "team 5\nEnd User\n"
              "Begin UserGroup\nGROUP_NAME GROUP_MEMBER MAX_PEND_JOBS\n"
              "more (team olga) 6\nall (ana olga) 2\nEnd UserGroup\n"
              "Begin User\nUSER_NAME MAX_PEND_JOBS\nall 9");
    assert_int_equal(submit(&stage, "olga", "a[1-3]"), 0);
    assert_true(submit(&stage, "olga", "a[1-2]") > 0);
    assert_int_equal(submit(&stage, "bob", "a[1-5]"), 0); /* 7 of more */
    assert_true(submit(&stage, "bob", "a[1-4]") > 0);
    assert_int_equal(submit(&stage, "bob", "a"), 0);
    site_stage_release(&stage);
}

static void test_100000_by_default(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "bob 1");
    assert_int_equal(submit(&stage, "ana", "a[1-100001]"), 0);
    assert_non_null(strstr(site_stage_reply(&stage)->text, "100000 of MAX_PEND_JOBS"));
    assert_true(submit(&stage, "ana", "a[1-100000]") > 0);
    site_stage_release(&stage);
}

/* Administrators have room where the site is full. */
static void test_of_the_site(void **state)
{
    struct site_stage stage;
    open_with(&stage, "MAX_PEND_JOBS = 4", "default 3");
    assert_true(submit(&stage, "ana", "a[1-3]") > 0);
    assert_int_equal(submit(&stage, "bob", "a[1-2]"), 0);
    expect_refused(&stage,
                   "the site has 3 pending jobs, and with 2 more there are more than "
                   "the 4 of MAX_PEND_JOBS; try again when some have started. Job not "
                   "submitted.");
    assert_true(submit(&stage, "bob", "a") > 0);
    assert_true(submit(&stage, "root", "a") > 0);
    site_stage_release(&stage);
}

static uint64_t submit_slots(struct site_stage *stage, const char *user,
                             const char *name, int n_slots)
{
    struct job_spec spec = site_stage_spec("local", "work");
    spec.name = name;
    spec.n_slots = n_slots;
    spec.uid = (int)site_stage_user(user).uid;
    return site_stage_submit_spec(stage, user, &spec);
}

/* MAX_PEND_SLOTS beside MAX_PEND_JOBS: by user, group and site; a job that has started
 * counts no more, nor does one that was killed; after a restart as many. */
static void test_slots(void **state)
{
    struct site_stage stage;
    open_with(&stage, "MAX_PEND_SLOTS = 20",
              "ana 3\nEnd User\nBegin User\nUSER_NAME MAX_PEND_SLOTS\nana 8\nteam 12\n"
              "default 10");
    assert_int_equal(submit_slots(&stage, "ana", "a[1-3]", 3), 0);
    assert_int_equal(site_stage_reply(&stage)->code, ERR_BOUNDS); /* of no use later */
    assert_string_equal(site_stage_reply(&stage)->text,
                        "9 pending slots at once are more than the 8 of MAX_PEND_SLOTS "
                        "that user ana may have. Job not submitted.");
    assert_null(site_stage_reply(&stage)->value);
    assert_true(submit_slots(&stage, "ana", "a[1-2]", 4) > 0);
    assert_int_equal(submit_slots(&stage, "ana", "b", 1), 0);
    assert_int_equal(submit_slots(&stage, "bob", "a", 5), 0);
    expect_refused(
        &stage, "the users of group team have 8 pending slots, and with 5 more there "
                "are more than the 12 of MAX_PEND_SLOTS; try again when some have "
                "started. Job not submitted.");
    assert_true(submit_slots(&stage, "bob", "a", 4) > 0);
    assert_int_equal(submit_slots(&stage, "olga", "a", 9), 0);
    expect_refused(
        &stage, "the site has 12 pending slots, and with 9 more there are more than "
                "the 20 of MAX_PEND_SLOTS; try again when some have started. Job not "
                "submitted.");
    assert_true(submit_slots(&stage, "olga", "a", 8) > 0);
    site_stage_restart(&stage);
    assert_int_equal(submit_slots(&stage, "bob", "b", 1), 0);
    site_stage_control(&stage, "ana", "1[2]", CONTROL_KILL, 0);
    assert_true(submit_slots(&stage, "bob", "b", 4) > 0);
    assert_int_equal(submit_slots(&stage, "bob", "c", 1), 0); /* 12 of team again */
    site_stage_release(&stage);
}

static int modify_slots(struct site_stage *stage, const char *user, const char *job,
                        int n_slots)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_MODIFY, .site = ""};
    msg.job_modify.request = ++stage->request;
    msg.job_modify.job = job;
    msg.job_modify.fields = UINT64_C(1) << JOB_FIELD_SLOTS;
    msg.job_modify.to.spec.n_slots = n_slots;
    msg.job_modify.to.terms.has_slots = true;
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage)->code;
}

/* A job that is to have more slots counts by what it asks for more, each element of an
 * array that waits; with fewer it is never refused. An administrator's change counts
 * for the owner. */
static void test_slots_of_modified_jobs(void **state)
{
    struct site_stage stage;
    open_with(&stage, "MAX_PEND_SLOTS = 20",
              "ana 3\nEnd User\nBegin User\nUSER_NAME MAX_PEND_SLOTS\nana 8\n"
              "default 100");
    assert_true(submit_slots(&stage, "ana", "a[1-2]", 3) > 0);
    assert_int_equal(modify_slots(&stage, "ana", "1", 4), 0);
    assert_int_equal(modify_slots(&stage, "ana", "1", 5), ERR_FULL);
    expect_refused(&stage,
                   "Job <1>: user ana has 8 pending slots, and with 2 more there are "
                   "more than the 8 of MAX_PEND_SLOTS; try again when some have "
                   "started. Job not modified.");
    assert_int_equal(modify_slots(&stage, "root", "1", 5), ERR_FULL);
    assert_int_equal(submit_slots(&stage, "ana", "b", 1), 0);
    assert_int_equal(modify_slots(&stage, "ana", "1", 2), 0);
    assert_true(submit_slots(&stage, "ana", "b", 4) > 0);
    site_stage_control(&stage, "ana", "1[2]", CONTROL_KILL, 0);
    assert_int_equal(modify_slots(&stage, "ana", "1", 5), ERR_FULL);
    assert_int_equal(modify_slots(&stage, "ana", "1", 4), 0);
    site_stage_release(&stage);
}

/* One request reaches 2,000 jobs; the next one reaches the others first. */
/* ---------------------------------------------------------------- USER_JOBS_SIZE */

enum { LARGE = 60000, LARGE_PER_MB = 17 };

static uint64_t submit_large(struct site_stage *stage, const char *user)
{
    static char command[LARGE];
    struct job_spec spec = site_stage_spec("local", "work");
    memset(command, 'x', LARGE - 1);
    spec.command = command;
    spec.uid = (int)site_stage_user(user).uid;
    return site_stage_submit_spec(stage, user, &spec);
}

static void fill(struct site_stage *stage)
{
    open_with(stage, "USER_JOBS_SIZE = 1\nCLEAN_PERIOD = 60", "");
    for (int i = 0; i < LARGE_PER_MB; i++) {
        assert_true(submit_large(stage, "ana") > 0);
    }
}

/* 100,000 jobs with an environment of 100 KB are 10 GB, which no MAX_PEND_JOBS bounds.
 */
static void test_jobs_of_a_user_take_so_much(void **state)
{
    struct site_stage stage;
    fill(&stage);
    assert_int_equal(submit_large(&stage, "ana"), 0);
    expect_refused(&stage,
                   "the jobs of user ana take 0 MB, with those that have ended within "
                   "CLEAN_PERIOD, and with this one more than the 1 of USER_JOBS_SIZE; "
                   "try again when some have been cleaned. Job not submitted.");
    assert_true(submit(&stage, "ana", "small") > 0);
    assert_true(submit_large(&stage, "bob") > 0);
    assert_true(submit_large(&stage, "root") > 0);
    site_stage_release(&stage);
}

/* Jobs that were killed take as much as others until they are cleaned. */
static void test_ended_jobs_take_it_until_they_are_cleaned(void **state)
{
    struct site_stage stage;
    fill(&stage);
    site_stage_control(&stage, "ana", "0", CONTROL_KILL, 0);
    assert_int_equal(submit_large(&stage, "ana"), 0);
    site_stage_restart(&stage); /* the sum is made again */
    assert_int_equal(submit_large(&stage, "ana"), 0);
    site_stage_pass(&stage, 70000);
    assert_int_equal(site_count_jobs(stage.site), 0);
    for (int i = 0; i < LARGE_PER_MB; i++) {
        assert_true(submit_large(&stage, "ana") > 0);
    }
    site_stage_release(&stage);
}

/* An array has one specification, but jobs take memory too. */
static void test_elements_take_their_memory(void **state)
{
    struct site_stage stage;
    open_with(&stage, "USER_JOBS_SIZE = 1", "");
    assert_true(submit(&stage, "ana", "a[1-1000]") > 0);
    assert_int_equal(submit(&stage, "ana", "b[1-100]"), 0);
    site_stage_release(&stage);
}

static void test_all_jobs_of_a_user_in_some_requests(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "default 30000");
    assert_true(submit(&stage, "ana", "a[1-2001]") > 0);
    assert_true(submit(&stage, "bob", "b") > 0);
    const struct msg_reply *reply =
        site_stage_control(&stage, "ana", "0", CONTROL_KILL, 0);
    assert_int_equal(reply->code, ERR_FULL);
    reply = site_stage_control(&stage, "ana", "0", CONTROL_KILL, 0);
    assert_int_equal(reply->code, 0);
    reply = site_stage_control(&stage, "ana", "0", CONTROL_KILL, 0);
    assert_int_equal(reply->code, ERR_NOT_FOUND);
    reply = site_stage_control(&stage, "bob", "0", CONTROL_KILL, 0);
    assert_int_equal(reply->code, 0);
    site_stage_release(&stage);
}

/* Each page begins where the last one ended, and none is left out. */
static void test_pages_of_jobs(void **state)
{
    struct site_stage stage;
    open_with(&stage, "", "default 30000");
    assert_true(submit(&stage, "ana", "a[1-2500]") > 0);
    assert_true(submit(&stage, "ana", "b[1-10]") > 0);
    struct msg_query query = {.kind = QUERY_JOBS, .name = "", .after = ""};
    char after[32] = "";
    int count = 0, n_pages = 0;
    do {
        query.after = after;
        const struct msg_reply *reply = site_stage_query(&stage, &query);
        assert_int_equal(reply->code, 0);
        count += value_find(reply->value, "jobs")->count;
        snprintf(after, sizeof(after), "%s", reply->next);
    } while (after[0] != '\0' && ++n_pages < 100);
    assert_int_equal(count, 2510);
    assert_in_range(n_pages, 4, 50);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_arrays_count),
        cmocka_unit_test(test_jobs_that_start_or_end_count_no_more),
        cmocka_unit_test(test_whose_row_counts),
        cmocka_unit_test(test_of_groups),
        cmocka_unit_test(test_when_to_try_again),
        cmocka_unit_test(test_column_of_groups),
        cmocka_unit_test(test_100000_by_default),
        cmocka_unit_test(test_of_the_site),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_slots_of_modified_jobs),
        cmocka_unit_test(test_jobs_of_a_user_take_so_much),
        cmocka_unit_test(test_ended_jobs_take_it_until_they_are_cleaned),
        cmocka_unit_test(test_elements_take_their_memory),
        cmocka_unit_test(test_all_jobs_of_a_user_in_some_requests),
        cmocka_unit_test(test_pages_of_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
