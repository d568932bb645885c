/* SPDX-License-Identifier: Apache-2.0 */
/* Administrators of queues, of user groups and of host groups: what they may do, and
 * that they may do nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

static const char text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ SERVER\ns1 4 1\ns2 4 -\ndesk 4 0\nEnd Host\n"
    "Begin HostGroup\nGROUP_NAME GROUP_MEMBER GROUP_ADMIN\n"
    "left (s1) (hal)\nEnd HostGroup\n"
    "Begin UserGroup\nGROUP_NAME GROUP_MEMBER GROUP_ADMIN\n"
    "staff (kim lou) ()\n"
    "lab (ana bob) (gil[full] staff[usershares])\nEnd UserGroup\n"
    "Begin Parameters\nDEFAULT_QUEUE = plain\nSTRICT_UG_CONTROL = %s\nEnd Parameters\n"
    "Begin Queue\nQUEUE_NAME = plain\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = night\nADMINISTRATORS = quinn staff\nEnd Queue\n";

static void start(struct site_stage *stage, const char *is_strict)
{
    char config[2048];
    snprintf(config, sizeof(config), text, is_strict);
    site_stage_init_text(stage, config);
    site_stage_host_up(stage, "s1");
}

static uint64_t submit(struct site_stage *stage, const char *user, const char *queue,
                       const char *group)
{
    struct msg msg = {.kind = MSG_SUBMIT, .session = 4, .site = ""};
    struct peer from = site_stage_user(user);
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec(queue, "x");
    msg.submit.terms.depend = msg.submit.terms.project = "";
    msg.submit.terms.user_group = group;
    site_stage_message(stage, &from, &msg);
    assert_int_equal(site_stage_reply(stage)->code, 0);
    return (uint64_t)value_find(site_stage_reply(stage)->value, "job")->number;
}

static void test_jobs(void **state)
{
    static const struct {
        const char *why, *is_strict, *by, *owner, *queue, *group;
        bool may;
    } rows[] = {
        {"the owner", "N", "ana", "ana", "plain", "", true},
        {"another user", "N", "eve", "ana", "plain", "", false},
        {"an administrator of the queue", "N", "quinn", "eve", "night", "", true},
        {"of another queue", "N", "quinn", "eve", "plain", "", false},
        {"by a group in ADMINISTRATORS", "N", "kim", "eve", "night", "", true},
        {"of the group of the owner", "N", "gil", "ana", "plain", "", true},
        {"with other rights", "N", "lou", "bob", "plain", "", true},
        {"of a group that the owner is not in", "N", "gil", "eve", "plain", "", false},
        {"a member is no administrator", "N", "bob", "ana", "plain", "", false},
        {"strict: not submitted for the group", "Y", "gil", "ana", "plain", "", false},
        {"strict: submitted for it", "Y", "gil", "ana", "plain", "lab", true},
        {"strict: queues as before", "Y", "quinn", "eve", "night", "", true},
        {"of a host group", "N", "hal", "ana", "plain", "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        start(&stage, rows[i].is_strict);
        submit(&stage, rows[i].owner, rows[i].queue, rows[i].group);
        const struct msg_reply *reply =
            site_stage_control(&stage, rows[i].by, "1", CONTROL_SUSPEND, 0);
        if (reply->code != (rows[i].may ? 0 : ERR_DENIED)) {
            fail_msg("%s: %d %s", rows[i].why, reply->code, reply->text);
        }
        site_stage_release(&stage);
    }
}

static int close_queue(struct site_stage *stage, const char *user, const char *queue)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_QUEUE_CONTROL, .session = 4, .site = ""};
    msg.queue_control.request = ++stage->request;
    msg.queue_control.queue = queue;
    msg.queue_control.order = QUEUE_CLOSE;
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage)->code;
}

static int close_host(struct site_stage *stage, const char *user, const char *host)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_HOST_CONTROL, .session = 4, .site = ""};
    msg.host_control.request = ++stage->request;
    msg.host_control.host = host;
    msg.host_control.is_closed = true;
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage)->code;
}

static void test_queues_and_hosts(void **state)
{
    struct site_stage stage;
    (void)state;
    start(&stage, "N");
    assert_int_equal(close_queue(&stage, "quinn", "night"), 0);
    assert_int_equal(close_queue(&stage, "kim", "night"), 0);
    assert_int_equal(close_queue(&stage, "quinn", "plain"), ERR_DENIED);
    assert_int_equal(close_queue(&stage, "quinn", "none"), ERR_DENIED);
    assert_int_equal(close_queue(&stage, "root", "none"), ERR_NOT_FOUND);
    assert_int_equal(close_host(&stage, "hal", "s1"), 0);
    assert_int_equal(close_host(&stage, "hal", "s2"), ERR_DENIED);
    assert_int_equal(close_host(&stage, "gil", "s1"), ERR_DENIED);
    /* SERVER 0 is no host */
    assert_int_equal(close_host(&stage, "root", "desk"), ERR_NOT_FOUND);
    site_stage_release(&stage);
}

static int modify(struct site_stage *stage, const char *user, enum job_field field)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_MODIFY, .session = 4, .site = ""};
    msg.job_modify = (struct msg_job_modify){
        .request = ++stage->request,
        .job = "1",
        .fields = UINT64_C(1) << field,
        .to = {.spec = {.command = "id", .out_file = "x", .run_limit_ms = 60000}}};
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage)->code;
}

/* They would run it as the owner of the job. */
static void test_what_a_job_runs_is_its_owners(void **state)
{
    struct site_stage stage;
    (void)state;
    start(&stage, "N");
    assert_int_equal(close_host(&stage, "root", "s1"), 0);
    submit(&stage, "ana", "night", "");
    assert_int_equal(modify(&stage, "quinn", JOB_FIELD_RUN_LIMIT), 0);
    assert_int_equal(modify(&stage, "gil", JOB_FIELD_RUN_LIMIT), 0);
    assert_int_equal(modify(&stage, "quinn", JOB_FIELD_COMMAND), ERR_DENIED);
    assert_int_equal(modify(&stage, "gil", JOB_FIELD_OUT), ERR_DENIED);
    assert_int_equal(modify(&stage, "root", JOB_FIELD_COMMAND), 0);
    assert_int_equal(modify(&stage, "ana", JOB_FIELD_OUT), 0);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_queues_and_hosts),
        cmocka_unit_test(test_what_a_job_runs_is_its_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
