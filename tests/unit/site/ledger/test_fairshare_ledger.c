/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a site: which users may submit, whose jobs start, what is on record of what
 * they used, and that nothing of it jumps with a restart or another configuration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static const char head[] = "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                           "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\nEnd Host\n";
static const char fair[] =
    "Begin Queue\nQUEUE_NAME = local\n"
    "FAIRSHARE = USER_SHARES[[ana, 1] [bob, 1]]\n%s\nEnd Queue\n";
static const char pools[] =
    "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 9\nSLOT_POOL = A\nSLOT_SHARE = 50\n"
    "End Queue\n"
    "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 1\nSLOT_POOL = A\nSLOT_SHARE = %d\n"
    "End Queue\n";

enum { HOUR_MS = 3600000 };

static void init(struct site_stage *stage, const char *queues)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s%s", head, queues);
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
    site_stage_host_up(stage, "s2");
}

static void init_fair(struct site_stage *stage, const char *keys)
{
    char text[512];
    snprintf(text, sizeof(text), fair, keys);
    init(stage, text);
}

static uint64_t submit(struct site_stage *stage, const char *user, const char *queue)
{
    struct job_spec spec = site_stage_spec(queue, "x");
    return site_stage_submit_spec(stage, user, &spec);
}

static const char *host_of(struct site_stage *stage, uint64_t id)
{
    return site_stage_job_row(stage, id)->hosts[0].host;
}

static void run(struct site_stage *stage, uint64_t id)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    assert_true(attempt != 0);
    site_stage_waiting(stage, host_of(stage, id), attempt, attempt);
    site_stage_running(stage, host_of(stage, id), attempt, attempt);
}

static void finish(struct site_stage *stage, uint64_t id)
{
    site_stage_exited(stage, host_of(stage, id), site_stage_attempt_of(stage, id), 0);
}

static const struct row_share *share_row(const struct site_stage *stage,
                                         const char *scope, const char *account)
{
    for (int i = 0; i < stage->n_rows; i++) {
        const struct row *row = &stage->rows[i].row;
        if (row->kind == ROW_SHARE && strcmp(row->share.scope, scope) == 0 &&
            strcmp(row->share.account, account) == 0) {
            return &row->share;
        }
    }
    return NULL;
}

static void test_only_who_has_a_share_may_submit(void **state)
{
    struct site_stage stage;
    (void)state;
    init_fair(&stage, "");
    assert_true(submit(&stage, "ana", "local") > 0);
    assert_true(submit(&stage, "root", "local") == 0);
    assert_non_null(
        strstr(site_stage_reply(&stage)->text, "User cannot use the queue"));
    site_stage_release(&stage);
}

/* Four slots: two each, though all jobs of one came first. */
static void test_users_take_turns(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                                 "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\nEnd Host\n"
                                 "Begin Queue\nQUEUE_NAME = local\n"
                                 "FAIRSHARE = USER_SHARES[[default, 1]]\nEnd Queue\n");
    for (int i = 0; i < 8; i++) {
        assert_true(submit(&stage, i < 4 ? "ana" : "bob", "local") > 0);
    }
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    int n_ana = 0, n_bob = 0;
    for (uint64_t id = 1; id <= 8; id++) {
        bool has_started = site_stage_attempt_of(&stage, id) != 0;
        n_ana += id <= 4 && has_started;
        n_bob += id > 4 && has_started;
    }
    assert_int_equal(n_ana, 2);
    assert_int_equal(n_bob, 2);
    site_stage_release(&stage);
}

/* ana has run for an hour, bob has not: bob's job is first, also after a restart. */
static void test_what_was_used_counts(void **state)
{
    (void)state;
    for (int restarts = 0; restarts < 2; restarts++) {
        struct site_stage stage;
        init_fair(&stage, "ENABLE_HIST_RUN_TIME = Y\nQJOB_LIMIT = 1");
        uint64_t first = submit(&stage, "ana", "local");
        run(&stage, first);
        site_stage_pass(&stage, HOUR_MS);
        uint64_t of_ana = submit(&stage, "ana", "local");
        uint64_t of_bob = submit(&stage, "bob", "local");
        if (restarts) {
            site_stage_restart(&stage);
            site_stage_host_up(&stage, "s1");
            site_stage_host_up(&stage, "s2");
            run(&stage, first);
        }
        finish(&stage, first);
        assert_true(site_stage_attempt_of(&stage, of_bob) != 0);
        assert_true(site_stage_attempt_of(&stage, of_ana) == 0);
        const struct row_share *row = share_row(&stage, "queue/local", "ana");
        assert_non_null(row);
        assert_true(fabs(row->past_ms - HOUR_MS) < HOUR_MS / 100);
        site_stage_release(&stage);
    }
}

/* A suspended job's account does not grow; its slots stay. */
static void test_suspended_time_does_not_count(void **state)
{
    struct site_stage stage;
    (void)state;
    init_fair(&stage, "ENABLE_HIST_RUN_TIME = Y");
    uint64_t id = submit(&stage, "ana", "local");
    run(&stage, id);
    site_stage_pass(&stage, HOUR_MS);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    struct msg_run_state still = {.phase = RUN_SUSPENDED,
                                  .token = site_stage_attempt_of(&stage, id),
                                  .start_ms = stage.now_ms - HOUR_MS,
                                  .control_done = 1};
    site_stage_run_state(&stage, host_of(&stage, id), "south",
                         site_stage_attempt_of(&stage, id), &still);
    site_stage_pass(&stage, 5 * HOUR_MS);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    finish(&stage, id);
    const struct row_share *row = share_row(&stage, "queue/local", "ana");
    assert_non_null(row);
    assert_true(fabs(row->past_ms - HOUR_MS) < HOUR_MS / 50);
    site_stage_release(&stage);
}

static void tell_use(struct site_stage *stage, const char *host, uint64_t attempt,
                     int64_t cpu_ms)
{
    const struct run_load use = {.run = {"south", attempt}, .cpu_ms = cpu_ms};
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    struct peer from = site_stage_host(host);
    msg.host_load = (struct msg_host_load){.runs = &use, .n_runs = 1};
    site_stage_message(stage, &from, &msg);
}

/* ana's job keeps two processors busy and runs on: bob's next one is first. Only its
 * own host is believed. */
static void test_processor_time_counts_while_a_job_runs(void **state)
{
    (void)state;
    for (int by_own_host = 0; by_own_host < 2; by_own_host++) {
        struct site_stage stage;
        init_fair(&stage, "RUN_JOB_FACTOR = 0\nRUN_TIME_FACTOR = 0\nQJOB_LIMIT = 3");
        uint64_t of_ana = submit(&stage, "ana", "local");
        run(&stage, of_ana);
        uint64_t others[2] = {submit(&stage, "bob", "local"),
                              submit(&stage, "bob", "local")};
        run(&stage, others[0]);
        run(&stage, others[1]);
        uint64_t next = submit(&stage, "ana", "local");
        uint64_t of_bob = submit(&stage, "bob", "local");
        stage.now_ms += 60000;
        const char *own = host_of(&stage, of_ana);
        tell_use(&stage,
                 by_own_host              ? own
                 : strcmp(own, "s1") == 0 ? "s2"
                                          : "s1",
                 site_stage_attempt_of(&stage, of_ana), 120000);
        finish(&stage, others[0]);
        assert_true((site_stage_attempt_of(&stage, of_bob) != 0) == by_own_host);
        assert_true((site_stage_attempt_of(&stage, next) != 0) == !by_own_host);
        site_stage_release(&stage);
    }
}

/* Rows of pools are written when slots change; a restart goes on from there. */
static void test_slot_time_of_queues(void **state)
{
    struct site_stage stage;
    char text[512];
    (void)state;
    snprintf(text, sizeof(text), pools, 50);
    init(&stage, text);
    uint64_t ids[2] = {submit(&stage, "ana", "high"), submit(&stage, "ana", "high")};
    run(&stage, ids[0]);
    run(&stage, ids[1]);
    site_stage_pass(&stage, HOUR_MS);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    run(&stage, ids[0]);
    run(&stage, ids[1]);
    finish(&stage, ids[0]);
    const struct row_share *row = share_row(&stage, "pool/A", "high");
    assert_non_null(row);
    /* Two slots for an hour, of which an early minute counts a little less. */
    double hours = row->past_ms / HOUR_MS;
    assert_true(hours > 1.55 && hours < 1.65);
    site_stage_release(&stage);
}

/* Two queues are due two slots each and wait; one has all four for an hour: it is two
 * hours ahead, whether the site was down meanwhile or not. */
static void test_who_is_ahead_is_on_record(void **state)
{
    (void)state;
    for (int restarts = 0; restarts < 2; restarts++) {
        struct site_stage stage;
        char text[512];
        snprintf(text, sizeof(text), pools, 50);
        init(&stage, text);
        uint64_t ids[4];
        for (int i = 0; i < 4; i++) {
            ids[i] = submit(&stage, "ana", "high");
            run(&stage, ids[i]);
        }
        submit(&stage, "ana", "high");
        submit(&stage, "ana", "low");
        site_stage_pass(&stage, 0);
        assert_true(share_row(&stage, "pool/A", "low")->is_waiting);
        stage.now_ms += HOUR_MS;
        if (restarts) {
            site_stage_restart(&stage);
            site_stage_host_up(&stage, "s1");
            site_stage_host_up(&stage, "s2");
            run(&stage, ids[0]);
        }
        finish(&stage, ids[0]);
        const struct row_share *high = share_row(&stage, "pool/A", "high");
        const struct row_share *low = share_row(&stage, "pool/A", "low");
        assert_true(fabs(high->ahead_ms / HOUR_MS - 2) < 0.01);
        assert_true(fabs(low->ahead_ms / HOUR_MS + 2) < 0.01);
        assert_true(high->at_ms == low->at_ms);
        site_stage_release(&stage);
    }
}

/* The queue that has had least is first, over a restart and another configuration. */
static void test_the_queue_that_had_least_is_first(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct site_stage stage;
        char text[512], whole[1024];
        snprintf(text, sizeof(text), pools, 50);
        init(&stage, text);
        uint64_t ids[4];
        for (int i = 0; i < 4; i++) {
            ids[i] = submit(&stage, "ana", "high");
            run(&stage, ids[i]);
        }
        uint64_t high = submit(&stage, "ana", "high");
        uint64_t low = submit(&stage, "ana", "low");
        site_stage_pass(&stage, HOUR_MS / 60);
        if (way == 1) {
            site_stage_restart(&stage);
            site_stage_host_up(&stage, "s1");
            site_stage_host_up(&stage, "s2");
            run(&stage, ids[0]);
        } else if (way == 2) {
            snprintf(text, sizeof(text), pools, 49);
            snprintf(whole, sizeof(whole), "%s%s", head, text);
            assert_true(site_stage_reload(&stage, whole));
        }
        finish(&stage, ids[0]);
        assert_true(site_stage_attempt_of(&stage, low) != 0);
        assert_true(site_stage_attempt_of(&stage, high) == 0);
        site_stage_release(&stage);
    }
}

/* A scope that is not configured any more is forgotten at the next start. */
static void test_rows_of_nothing_go(void **state)
{
    struct site_stage stage;
    char whole[1024];
    (void)state;
    init_fair(&stage, "ENABLE_HIST_RUN_TIME = Y");
    uint64_t id = submit(&stage, "ana", "local");
    run(&stage, id);
    site_stage_pass(&stage, HOUR_MS);
    finish(&stage, id);
    assert_non_null(share_row(&stage, "queue/local", "ana"));
    snprintf(whole, sizeof(whole), "%sBegin Queue\nQUEUE_NAME = local\nEnd Queue\n",
             head);
    assert_true(site_stage_reload(&stage, whole));
    assert_non_null(share_row(&stage, "queue/local", "ana"));
    site_stage_restart(&stage);
    assert_null(share_row(&stage, "queue/local", "ana"));
    site_stage_release(&stage);
}

/* Long ago is nothing. */
static void test_what_has_faded_is_forgotten(void **state)
{
    struct site_stage stage;
    (void)state;
    init_fair(&stage, "ENABLE_HIST_RUN_TIME = Y");
    uint64_t id = submit(&stage, "ana", "local");
    run(&stage, id);
    site_stage_pass(&stage, HOUR_MS);
    finish(&stage, id);
    stage.now_ms += (int64_t)40 * HOUR_MS; /* the machine was off */
    site_stage_restart(&stage);
    assert_null(share_row(&stage, "queue/local", "ana"));
    site_stage_release(&stage);
}

/* -G: which group a job counts for. */
static const char groups[] =
    "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nlab (ana bob)\nchem (ana)\n"
    "odd (bob)\nEnd UserGroup\n"
    "Begin Queue\nQUEUE_NAME = local\nENABLE_HIST_RUN_TIME = Y\n"
    "FAIRSHARE = USER_SHARES[[lab, 1] [chem, %d]]\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = plain\nEnd Queue\n";

static uint64_t submit_for(struct site_stage *stage, const char *user,
                           const char *queue, const char *group)
{
    struct msg msg = {.kind = MSG_SUBMIT, .session = 4, .site = ""};
    struct peer from = site_stage_user(user);
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec(queue, "x");
    msg.submit.terms.depend = msg.submit.terms.project = "";
    msg.submit.terms.user_group = group;
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    return reply->code == 0 ? (uint64_t)value_find(reply->value, "job")->number : 0;
}

static void init_groups(struct site_stage *stage, int of_chem)
{
    char text[512];
    snprintf(text, sizeof(text), groups, of_chem);
    init(stage, text);
}

static void test_who_may_submit_for_a_group(void **state)
{
    static const struct {
        const char *user, *queue, *group, *refusal; /* NULL: it is taken */
    } rows[] = {
        {"ana", "local", "chem", NULL},
        {"ana", "local", "lab", NULL},
        {"ana", "plain", "chem", NULL},
        {"ana", "local", "nope", "nope: No such user group"},
        {"bob", "local", "chem", "chem: User bob is not a member of the user group"},
        {"bob", "local", "odd", "it has no share for bob as a member of odd"},
        {"ana", "local", "~lab", "to leave groups out is not supported yet"},
    };
    struct site_stage stage;
    (void)state;
    init_groups(&stage, 9);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t id = submit_for(&stage, rows[i].user, rows[i].queue, rows[i].group);
        const char *text = site_stage_reply(&stage)->text;
        if ((id != 0) != (rows[i].refusal == NULL) ||
            (rows[i].refusal != NULL && strstr(text, rows[i].refusal) == NULL)) {
            fail_msg("%s for %s: %s", rows[i].user, rows[i].group, text);
        }
    }
    assert_string_equal(site_stage_job_text(&stage, 1, "user_group"), "chem");
    /* One for odd may wait elsewhere, and not come to where odd has no share. */
    uint64_t id = submit_for(&stage, "bob", "plain", "odd");
    char job[24];
    snprintf(job, sizeof(job), "%llu", (unsigned long long)id);
    struct msg msg = {.kind = MSG_JOB_MOVE, .session = 4, .site = ""};
    const char *const jobs[] = {job};
    struct peer from = site_stage_user("bob");
    msg.job_move = (struct msg_job_move){.request = ++stage.request,
                                         .move = MOVE_SWITCH,
                                         .queue = "local",
                                         .jobs = jobs,
                                         .n_jobs = 1};
    site_stage_message(&stage, &from, &msg);
    assert_int_not_equal(site_stage_reply(&stage)->code, 0);
    site_stage_release(&stage);
}

/* What a job of ana's for chem used is chem's; on record under its own name, also over
 * a restart. Once chem has no share it is what ana has used as a member of lab. */
static void test_a_group_is_charged(void **state)
{
    struct site_stage stage;
    char text[512], whole[1024];
    (void)state;
    init_groups(&stage, 9);
    uint64_t of_lab = submit_for(&stage, "ana", "local", "");
    uint64_t of_chem = submit_for(&stage, "ana", "local", "chem");
    run(&stage, of_lab);
    run(&stage, of_chem);
    site_stage_pass(&stage, HOUR_MS);
    finish(&stage, of_chem);
    assert_null(share_row(&stage, "queue/local", "ana"));
    const struct row_share *row = share_row(&stage, "queue/local", "chem/ana");
    assert_non_null(row);
    assert_true(fabs(row->past_ms - HOUR_MS) < HOUR_MS / 100);
    double used = row->past_ms;
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    assert_non_null(share_row(&stage, "queue/local", "chem/ana"));
    assert_string_equal(site_stage_job_text(&stage, of_chem, "user_group"), "chem");
    snprintf(text, sizeof(text), groups, 9);
    snprintf(whole, sizeof(whole), "%s%s", head, text);
    memcpy(strstr(whole, " [chem, 9]"), "          ", 10);
    assert_true(site_stage_reload(&stage, whole));
    site_stage_pass(&stage, 1000);
    assert_null(share_row(&stage, "queue/local", "chem/ana"));
    row = share_row(&stage, "queue/local", "ana");
    assert_non_null(row);
    assert_true(fabs(row->past_ms - used) < used / 100);
    site_stage_release(&stage);
}

/* A journal of another configuration: two rows are one account's now, once. */
static void test_rows_of_one_account_become_one(void **state)
{
    struct site_stage stage;
    char text[512], whole[1024];
    (void)state;
    init_groups(&stage, 9);
    for (int i = 0; i < 2; i++) {
        uint64_t id = submit_for(&stage, "ana", "local", i == 0 ? "" : "chem");
        run(&stage, id);
        site_stage_pass(&stage, HOUR_MS);
        finish(&stage, id);
    }
    double sum = share_row(&stage, "queue/local", "ana")->past_ms *
                     pow(10, -1.0 / 5) + /* HIST_HOURS */
                 share_row(&stage, "queue/local", "chem/ana")->past_ms;
    snprintf(text, sizeof(text), groups, 9);
    snprintf(whole, sizeof(whole), "%s%s", head, text);
    memcpy(strstr(whole, " [chem, 9]"), "          ", 10);
    site_stage_restart_text(&stage, whole);
    assert_null(share_row(&stage, "queue/local", "chem/ana"));
    const struct row_share *row = share_row(&stage, "queue/local", "ana");
    assert_true(fabs(row->past_ms - sum) < sum / 100);
    site_stage_restart_text(&stage, whole);
    assert_true(fabs(share_row(&stage, "queue/local", "ana")->past_ms - sum) <
                sum / 100);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_who_has_a_share_may_submit),
        cmocka_unit_test(test_users_take_turns),
        cmocka_unit_test(test_what_was_used_counts),
        cmocka_unit_test(test_suspended_time_does_not_count),
        cmocka_unit_test(test_processor_time_counts_while_a_job_runs),
        cmocka_unit_test(test_slot_time_of_queues),
        cmocka_unit_test(test_who_is_ahead_is_on_record),
        cmocka_unit_test(test_the_queue_that_had_least_is_first),
        cmocka_unit_test(test_rows_of_nothing_go),
        cmocka_unit_test(test_what_has_faded_is_forgotten),
        cmocka_unit_test(test_who_may_submit_for_a_group),
        cmocka_unit_test(test_a_group_is_charged),
        cmocka_unit_test(test_rows_of_one_account_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
