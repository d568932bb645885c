/* SPDX-License-Identifier: Apache-2.0 */
/* Job groups: which paths there are, which limits may stand together, who may change
 * them, and what a restart leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "site/job/job_group.h"
#include "tests/unit/site/site_stage.h"

static const char text[] = "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                           "Begin Host\nHOST_NAME MXJ\ns1 8\nEnd Host\n"
                           "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"
                           "Begin Parameters\nDEFAULT_JOBGROUP = /all/%p/%u\n"
                           "DEFAULT_PROJECT = gene\nEnd Parameters\n";

static void start(struct site_stage *stage)
{
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
}

static uint64_t submit(struct site_stage *stage, const char *user, const char *group)
{
    struct msg msg = {.kind = MSG_SUBMIT, .session = 4, .site = ""};
    struct peer from = site_stage_user(user);
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec("normal", "x");
    msg.submit.terms.depend = msg.submit.terms.project = "";
    msg.submit.terms.job_group = group;
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    return reply->code == 0 ? (uint64_t)value_find(reply->value, "job")->number : 0;
}

/* The answer's code. */
static int order(struct site_stage *stage, const char *user,
                 enum job_group_action action, const char *path, int limit)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_GROUP, .session = 4, .site = ""};
    msg.job_group = (struct msg_job_group){.request = ++stage->request,
                                           .action = action,
                                           .path = path,
                                           .has_limit = true,
                                           .limit = limit,
                                           .owner = ""};
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    return reply->code;
}

/* "GROUP OWNER NJOBS/LIMIT; ..." */
static const char *listing(struct site_stage *stage)
{
    const struct msg_query query = {
        .kind = QUERY_JOB_GROUPS, .name = "", .user = "", .after = ""};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *rows = value_find(reply->value, "jgroups");
    const char *all = "";
    for (const struct value *row = rows->first; row != NULL; row = row->next) {
        const struct value *limit = value_find(row, "limit");
        all = arena_printf(&stage->arena, "%s%s%s %s %d/%d", all,
                           all[0] != '\0' ? "; " : "", value_find(row, "group")->text,
                           value_find(row, "owner")->text,
                           (int)value_find(row, "njobs")->number,
                           limit->kind == VALUE_INT ? (int)limit->number : -1);
    }
    return all;
}

static void test_paths(void **state)
{
    static const struct {
        const char *path;
        int code;
    } rows[] = {
        {"/a", 0},           {"/a/b c", ERR_PARSE}, {"/", ERR_PARSE},
        {"a", ERR_PARSE},    {"/a/", ERR_PARSE},    {"/a//b", ERR_PARSE},
        {"/a:b", ERR_PARSE}, {"/a_b-c.d/e", 0},     {"", ERR_PARSE},
    };
    char longest[JOB_GROUP_SIZE + 1];
    struct job_groups *groups = job_groups_new();
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (job_group_check(groups, rows[i].path, &err) != rows[i].code) {
            fail_msg("\"%s\"", rows[i].path);
        }
    }
    memset(longest, 'x', sizeof(longest));
    longest[0] = '/';
    longest[JOB_GROUP_SIZE - 1] = '\0';
    assert_int_equal(job_group_check(groups, longest, &err), 0);
    longest[JOB_GROUP_SIZE - 1] = 'x';
    longest[JOB_GROUP_SIZE] = '\0';
    assert_int_equal(job_group_check(groups, longest, &err), ERR_PARSE);
    assert_true(job_group_contains("/a", "/a"));
    assert_true(job_group_contains("/a", "/a/b"));
    assert_false(job_group_contains("/a", "/ab"));
    assert_true(job_group_contains("/a/", "/a"));
    assert_false(job_group_contains("/a/", "/a/b"));
    job_groups_free(groups);
}

static void test_orders(void **state)
{
    struct site_stage stage;
    (void)state;
    start(&stage);
    assert_int_equal(order(&stage, "ana", JOB_GROUP_ADD, "/a/b", 3), 0);
    assert_string_equal(listing(&stage), "/a ana 0/-1; /a/b ana 0/3");
    assert_int_equal(order(&stage, "bob", JOB_GROUP_ADD, "/a/b", 3), ERR_STATE);
    /* anyone adds a group below, and the owner above may change it */
    assert_int_equal(order(&stage, "bob", JOB_GROUP_ADD, "/a/b/c", 4), ERR_BOUNDS);
    assert_int_equal(order(&stage, "bob", JOB_GROUP_ADD, "/a/b/c", 3), 0);
    assert_int_equal(order(&stage, "ana", JOB_GROUP_MODIFY, "/a/b/c", 2), 0);
    assert_int_equal(order(&stage, "bob", JOB_GROUP_MODIFY, "/a/b", 2), ERR_DENIED);
    assert_int_equal(order(&stage, "ana", JOB_GROUP_MODIFY, "/a/b", 1), ERR_BOUNDS);
    assert_int_equal(order(&stage, "ana", JOB_GROUP_MODIFY, "/a/b", -1), 0);
    assert_int_equal(order(&stage, "ana", JOB_GROUP_MODIFY, "/x", 1), ERR_NOT_FOUND);
    assert_int_equal(order(&stage, "bob", JOB_GROUP_DELETE, "/a", 0), ERR_DENIED);
    site_stage_restart(&stage);
    assert_string_equal(listing(&stage), "/a ana 0/-1; /a/b ana 0/-1; /a/b/c bob 0/2");
    assert_int_equal(order(&stage, "root", JOB_GROUP_DELETE, "/a", 0), 0);
    assert_string_equal(listing(&stage), "");
    site_stage_restart(&stage);
    assert_string_equal(listing(&stage), "");
    site_stage_release(&stage);
}

/* A group with jobs stays; once they have ended it may go, and does not come back with
 * their rows. */
static void test_jobs(void **state)
{
    struct site_stage stage;
    (void)state;
    start(&stage);
    uint64_t job = submit(&stage, "ana", "/a/b");
    assert_true(job != 0);
    assert_string_equal(listing(&stage), "/a ana 1/-1; /a/b ana 1/-1");
    assert_int_equal(order(&stage, "root", JOB_GROUP_DELETE, "/a", 0), ERR_STATE);
    assert_int_equal(submit(&stage, "ana", "a/b"), 0);
    assert_int_equal(order(&stage, "root", JOB_GROUP_ADD, "/hold", 0), 0);
    uint64_t held = submit(&stage, "ana", "/hold");
    assert_int_equal(site_stage_attempt_of(&stage, held), 0);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_int_equal(site_stage_attempt_of(&stage, held), 0);
    site_stage_control(&stage, "root", "2", CONTROL_KILL, 0);
    assert_int_equal(order(&stage, "root", JOB_GROUP_DELETE, "/hold", 0), 0);
    assert_string_equal(listing(&stage), "/a ana 1/-1; /a/b ana 1/-1");
    site_stage_restart(&stage);
    assert_string_equal(listing(&stage), "/a ana 1/-1; /a/b ana 1/-1");
    site_stage_host_up(&stage, "s1");
    assert_true(submit(&stage, "bob", "/hold") != 0); /* a new one, without a limit */
    assert_string_equal(listing(&stage), "/a ana 1/-1; /a/b ana 1/-1; /hold bob 2/-1");
    site_stage_release(&stage);
}

static void test_defaults(void **state)
{
    struct site_stage stage;
    (void)state;
    start(&stage);
    uint64_t job = submit(&stage, "ana", "");
    assert_string_equal(site_stage_job_text(&stage, job, "job_group"), "/all/gene/ana");
    assert_string_equal(site_stage_job_text(&stage, job, "project"), "gene");
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
