/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are resized while they run: what is on record before their host hears of
 * it, what a restart finds, what the answer makes of it, and which user may ask for
 * what. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 %d\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
    "Begin Application\nNAME = fixed\nRESIZABLE_JOBS = N\nEnd Application\n"
    "Begin Application\nNAME = free\nRESIZABLE_JOBS = auto\n"
    "RESIZE_NOTIFY_CMD = of the application\nEnd Application\n"
    "Begin Application\nNAME = may\nRESIZABLE_JOBS = Y\nEnd Application\n";

static void init(struct site_stage *stage, int n_slots)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, n_slots);
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
    site_stage_host_up(stage, "s2");
}

/* More slots on s2: a configuration that is read anew. */
static void widen(struct site_stage *stage, int n_slots)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, n_slots);
    assert_true(site_stage_reload(stage, text));
}

/* Time passes, and the hosts are heard of. */
static void wait(struct site_stage *stage, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        site_stage_host_alive(stage, "s1");
        site_stage_host_alive(stage, "s2");
        site_stage_pass(stage, 1000);
    }
}

static const struct msg_reply *submit_requiring(struct site_stage *stage,
                                                const char *app, int min, int max,
                                                bool is_auto, const char *notify,
                                                const char *res_req)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec("local", "work");
    msg.submit.spec.app = app;
    msg.submit.spec.n_slots = min;
    msg.submit.spec.res_reqs = &res_req;
    msg.submit.spec.n_res_reqs = res_req != NULL;
    msg.submit.terms = (struct job_terms){
        .depend = "",
        .depend_on = "",
        .project = "",
        .has_slots = true,
        .max_slots = max,
        .resizable = is_auto ? RESIZABLE_AUTO : RESIZABLE_NO,
        .resize_notify = notify,
    };
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static const struct msg_reply *submit(struct site_stage *stage, const char *app,
                                      int min, int max, bool is_auto,
                                      const char *notify)
{
    return submit_requiring(stage, app, min, max, is_auto, notify, NULL);
}

/* A job that runs on both slots of s1, and asks for two more. */
static uint64_t run_growing(struct site_stage *stage, const char *notify)
{
    init(stage, 0);
    assert_int_equal(submit(stage, "", 2, 4, true, notify)->code, 0);
    uint64_t attempt = site_stage_attempt_of(stage, 1);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    assert_int_equal(site_stage_job_int(stage, 1, "pending_slots"), 2);
    return attempt;
}

static void answer(struct site_stage *stage, uint64_t attempt, uint64_t number,
                   int code)
{
    site_stage_run_state(stage, "s1", "south", attempt,
                         &(struct msg_run_state){.phase = RUN_RUNNING,
                                                 .token = 7,
                                                 .start_ms = 5,
                                                 .resize_done = number,
                                                 .resize_code = code});
}

static const struct msg_reply *resize(struct site_stage *stage, const char *user,
                                      struct msg_job_resize order)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_RESIZE, .site = "", .job_resize = order};
    msg.job_resize.request = ++stage->request;
    msg.job_resize.job = "1";
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static void report_memory(struct site_stage *stage, const char *host, const char *mib)
{
    struct load_value mem = {.name = "mem", .value = mib};
    struct msg load = {.kind = MSG_HOST_LOAD, .site = ""};
    struct peer from = site_stage_host(host);
    load.session = stage->host_session;
    load.host_load = (struct msg_host_load){.values = &mem, .n_values = 1};
    site_stage_message(stage, &from, &load);
}

/* The slots that a running job gets need memory, too. */
static void growth_needs_its_resources(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 0);
    report_memory(&stage, "s1", "1000");
    report_memory(&stage, "s2", "250");
    assert_int_equal(
        submit_requiring(&stage, "", 2, 6, true, NULL, "rusage[mem=100/slot]")->code,
        0);
    uint64_t attempt = site_stage_attempt_of(&stage, 1);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    widen(&stage, 4);
    report_memory(&stage, "s1", "1000");
    report_memory(&stage, "s2", "250");
    wait(&stage, 2);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 4);
    site_stage_release(&stage);
}

static void growth_is_on_record_before_its_host_hears_of_it(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell 'it'");
    widen(&stage, 1);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_RESIZE, 0);
    assert_non_null(order);
    assert_int_equal(order->run_resize.number, 1);
    assert_int_equal(order->run_resize.event, RESIZE_GROW);
    assert_int_equal(order->run_resize.n_hosts, 1);
    assert_string_equal(order->run_resize.hosts[0].host, "s2");
    assert_int_equal(order->run_resize.n_all, 2);
    assert_string_equal(order->run_resize.all[0].host, "s1");
    assert_string_equal(order->run_resize.command, "tell 'it'");
    /* The slots are its own at once, and on record with the run that has them. */
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.event, RESIZE_GROW);
    assert_int_equal(site_stage_job_row(&stage, 1)->n_hosts, 2);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->n_hosts, 2);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 3);
    assert_string_equal(site_stage_job_text(&stage, 1, "resizing"), "grow");

    answer(&stage, attempt, 1, 0);
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.event, RESIZE_NONE);
    assert_int_equal(site_stage_job_int(&stage, 1, "pending_slots"), 1);
    site_stage_pass(&stage, 5000);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_RESIZE), 0); /* not again */
    assert_non_null(strstr(stage.told, "resize s1=2 s2=1 (1 slot more: s2 1)"));
    site_stage_release(&stage);
}

/* Of a host that takes all fields of now. */
static void hello(struct site_stage *stage, const char *host)
{
    struct peer from = site_stage_host(host);
    struct msg msg = {
        .kind = MSG_HOST_HELLO, .session = ++stage->host_session, .site = ""};
    msg.host_hello = (struct msg_host_hello){
        .name = host, .boot_id = "boot-1", .knows_nonces = true};
    site_stage_message(stage, &from, &msg);
}

static uint64_t commits_on_record(const struct site_stage *stage)
{
    uint64_t found = 0;
    for (int i = 0; i < stage->n_rows; i++) {
        const struct row *row = &stage->rows[i].row;
        if (row->kind == ROW_COUNTER && strcmp(row->counter.name, "commits") == 0) {
            found = row->counter.value;
        }
    }
    return found;
}

/* Its host has to notice a journal that has lost the resize, and none that has not. */
static void a_host_knows_the_commit_that_has_the_resize(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    site_stage_restart(&stage);
    hello(&stage, "s1");
    answer(&stage, attempt, 0, 0);
    site_stage_host_synced(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    uint64_t before = commits_on_record(&stage);
    widen(&stage, 1);
    const struct msg *go = site_stage_sent(&stage, MSG_RUN_GO, 0);
    assert_non_null(go);
    assert_true(go->run_go.commits > before);
    assert_int_equal(go->run_go.commits, commits_on_record(&stage));
    site_stage_release(&stage);
}

/* What the guard has done already is not done again, so that a number which the journal
 * has lost is not used again, nor the one behind it, which may be on its way. */
static void numbers_go_on_above_a_lost_resize(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    answer(&stage, attempt, 6, 0);
    widen(&stage, 1);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_RESIZE, 0);
    assert_non_null(order);
    assert_int_equal(order->run_resize.number, 8);
    site_stage_release(&stage);
}

static void a_restart_asks_the_host_again(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    widen(&stage, 1);
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    answer(&stage, attempt, 0, 0); /* its guard has not heard of it */
    site_stage_host_synced(&stage, "s1");
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_RESIZE, 0);
    assert_non_null(order);
    assert_int_equal(order->run_resize.number, 1);
    assert_string_equal(order->run_resize.command, "tell");
    assert_int_equal(order->run_resize.n_all, 2);
    answer(&stage, attempt, 1, 0);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 3);

    /* One that was answered while the site was down. */
    site_stage_host_up(&stage, "s2");
    widen(&stage, 2);
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.number, 2);
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    answer(&stage, attempt, 2, 1);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.event, RESIZE_NONE);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 3);
    site_stage_release(&stage);
}

static void a_crash_before_the_commit_gives_nothing(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "");
    widen(&stage, 1);
    answer(&stage, attempt, 1, 0);
    struct peer from = site_stage_user("root");
    struct msg msg = {.kind = MSG_JOB_RESIZE, .site = ""};
    msg.job_resize = (struct msg_job_resize){.order = JOB_RESIZE_TO, .n_slots = 2};
    msg.job_resize.job = "1";
    site_stage_lose_message(&stage, &from, &msg);
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.event, RESIZE_NONE);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 3);
    site_stage_release(&stage);
}

static void who_does_not_want_more_is_asked_later(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    widen(&stage, 1);
    answer(&stage, attempt, 1, 3);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 2);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->n_hosts, 1);
    assert_non_null(strstr(stage.told, "exited with 3"));
    wait(&stage, 59);
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.number, 1);
    wait(&stage, 2);
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.number, 2);
    site_stage_release(&stage);
}

static void who_cannot_be_told_is_asked_later(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    widen(&stage, 1);
    answer(&stage, attempt, 1, RESIZE_NOT_NOW);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 2);
    assert_non_null(strstr(
        site_stage_job_text(&stage, 1, "pending_slots_reason"),
        "it could not be notified of more slots, since a command before or after it "
        "runs, or since its host's agent is older; this is tried again"));
    wait(&stage, 61);
    answer(&stage, attempt, 2, 3);
    assert_non_null(strstr(
        site_stage_job_text(&stage, 1, "pending_slots_reason"),
        "its resize notification command refused more slots; this is tried again"));
    site_stage_release(&stage);
}

static void nothing_suspends_it_meanwhile(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    widen(&stage, 1);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    site_stage_pass(&stage, 2500);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_RESIZE), 1); /* until answered */
    /* No other order takes the place of that one, which is not given again. */
    assert_int_equal(
        site_stage_control(&stage, "ana", "1", CONTROL_SIGNAL, SIGUSR1)->code,
        ERR_STATE);
    answer(&stage, attempt, 1, 0);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_non_null(order);
    assert_int_equal(order->run_control.control.action, CONTROL_SUSPEND);
    site_stage_release(&stage);
}

static void a_kill_does_not_wait(void **state)
{
    struct site_stage stage;
    (void)state;
    run_growing(&stage, "tell");
    widen(&stage, 1);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_non_null(order);
    assert_int_equal(order->run_control.control.action, CONTROL_KILL);
    site_stage_release(&stage);
}

static void what_is_released_goes_when_its_command_agrees(void **state)
{
    static const struct host_slots gone[] = {{"s2", 0}};
    struct site_stage stage;
    (void)state;
    uint64_t attempt = run_growing(&stage, "tell");
    widen(&stage, 1);
    answer(&stage, attempt, 1, 0);
    const struct msg_job_resize order = {
        .order = JOB_RESIZE_RELEASE, .hosts = gone, .n_hosts = 1, .is_last = true};
    const struct msg_reply *reply = resize(&stage, "ana", order);
    assert_string_equal(reply->text, "Job <1> is being resized: releases s2 1");
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 3);
    assert_int_equal(resize(&stage, "ana", order)->code, ERR_STATE);
    answer(&stage, attempt, 2, 1);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 3);

    assert_int_equal(resize(&stage, "ana", order)->code, 0);
    answer(&stage, attempt, 3, 0);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 2);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->n_hosts, 1);
    assert_int_equal(site_stage_job_int(&stage, 1, "pending_slots"), -1);
    assert_string_equal(site_stage_job_text(&stage, 1, "resizing"), "");

    /* One that asks for no more slots does not ask for those either that it keeps. */
    static const struct host_slots one[] = {{"s1", 1}};
    const struct msg_job_resize less = {
        .order = JOB_RESIZE_RELEASE, .hosts = one, .n_hosts = 1};
    assert_int_equal(resize(&stage, "root", less)->code, 0);
    answer(&stage, attempt, 4, 1);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 2);
    assert_int_equal(site_stage_job_int(&stage, 1, "pending_slots"), -1);
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.max_slots, 0);
    site_stage_release(&stage);
}

static void orders_that_cannot_be_change_nothing(void **state)
{
    static const struct host_slots all[] = {{"s1", 0}}, many[] = {{"s1", 3}},
                                   none[] = {{"s2", 0}};
    static const struct {
        const char *user;
        struct msg_job_resize order;
        enum err_code code;
        const char *text;
    } rows[] = {
        {"bob", {.order = JOB_RESIZE_CANCEL}, ERR_DENIED, "it is ana's"},
        {"ana", {.order = JOB_RESIZE_TO, .n_slots = 1}, ERR_BOUNDS, "expected 2 to 4"},
        {"ana", {.order = JOB_RESIZE_TO, .n_slots = 5}, ERR_BOUNDS, "expected 2 to 4"},
        {"ana",
         {.order = JOB_RESIZE_RELEASE, .hosts = all, .n_hosts = 1},
         ERR_BOUNDS,
         "job would have 0 of 2 slots left"},
        {"root",
         {.order = JOB_RESIZE_RELEASE, .hosts = many, .n_hosts = 1},
         ERR_BOUNDS,
         "job has 2 slots on s1, not 3"},
        {"ana",
         {.order = JOB_RESIZE_RELEASE, .hosts = none, .n_hosts = 1},
         ERR_NOT_FOUND,
         "job has 0 slots on s2"},
        {"ana",
         {.order = JOB_RESIZE_KEEP, .hosts = all, .n_hosts = 1},
         ERR_STATE,
         "no slots would be released"},
    };
    struct site_stage stage;
    (void)state;
    run_growing(&stage, "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct msg_reply *reply = resize(&stage, rows[i].user, rows[i].order);
        assert_int_equal(reply->code, rows[i].code);
        if (strstr(reply->text, rows[i].text) == NULL) {
            fail_msg("\"%s\", expected \"%s\" in it", reply->text, rows[i].text);
        }
    }
    assert_int_equal(site_stage_job_row(&stage, 1)->resize.number, 0);
    assert_int_equal(resize(&stage, "ana", rows[0].order)->code, 0);
    assert_int_equal(site_stage_job_int(&stage, 1, "pending_slots"), -1);
    assert_int_equal(resize(&stage, "ana", rows[0].order)->code, ERR_STATE);
    widen(&stage, 2);
    assert_int_equal(site_stage_job_int(&stage, 1, "slots"), 2);
    /* An administrator may go below what it was submitted with. */
    assert_int_equal(resize(&stage, "root", rows[1].order)->code, 0);
    site_stage_release(&stage);
}

static void applications_say_who_is_resizable(void **state)
{
    static const struct {
        const char *app, *resizable, *notify, *refused;
        bool is_auto;
    } rows[] = {
        {"", "", "", NULL, false},
        {"", "auto", "", NULL, true},
        {"free", "auto", "", NULL, false},
        {"may", "yes", "", NULL, false},
        {"may", "auto", "", NULL, true},
        {"fixed", "", "", NULL, false},
        {"fixed", "", "", "does not allow resizable jobs", true},
        {"", "", "tell", "the job is not resizable", false},
    };
    struct site_stage stage;
    uint64_t n_jobs = 0;
    (void)state;
    init(&stage, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct msg_reply *reply =
            submit(&stage, rows[i].app, 1, 2, rows[i].is_auto, rows[i].notify);
        if (rows[i].refused != NULL) {
            assert_non_null(strstr(reply->text, rows[i].refused));
            continue;
        }
        assert_int_equal(reply->code, 0);
        assert_string_equal(site_stage_job_text(&stage, ++n_jobs, "resizable"),
                            rows[i].resizable);
    }
    site_stage_release(&stage);
}

/* What it gets counts for the limits of who would preempt after it in the pass. */
static void nobody_is_preempted_past_a_limit_that_growth_has_filled(void **state)
{
    static const char text[] =
        "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
        "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 %d\nEnd Host\n"
        "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 60\nEnd Queue\n"
        "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 50\n%sEnd Queue\n"
        "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 40\nEnd Queue\n"
        "Begin Limit\nNAME = few\nUSERS = ana\nSLOTS = 6\nEnd Limit\n";
    static const struct {
        const char *why;
        int n_slots; /* of s2, where bob's job has four */
        const char *pending;
    } rows[] = {
        {"nothing is free, and ana has two of six", 4, "preempting"},
        {"she gets two more, and has four of six", 6, "limit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        char config[1024];
        snprintf(config, sizeof(config), text, 4, "");
        site_stage_init_text(&stage, config);
        site_stage_host_up(&stage, "s2");
        struct job_spec spec = site_stage_spec("low", "work");
        spec.n_slots = 4;
        uint64_t low = site_stage_submit_spec(&stage, "bob", &spec);
        site_stage_running(&stage, "s2", site_stage_attempt_of(&stage, low), 7);
        site_stage_host_up(&stage, "s1");
        assert_int_equal(submit(&stage, "", 2, 4, true, "")->code, 0);
        site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, 2), 8);
        spec.queue = "high";
        uint64_t high = site_stage_submit_spec(&stage, "ana", &spec);
        snprintf(config, sizeof(config), text, rows[i].n_slots,
                 "PREEMPTION = PREEMPTIVE[low]\n");
        assert_true(site_stage_reload(&stage, config));
        const char *pending = site_stage_job_text(&stage, high, "pending");
        if (strcmp(pending, rows[i].pending) != 0) {
            fail_msg("%s: %s, expected %s", rows[i].why, pending, rows[i].pending);
        }
        site_stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_needs_its_resources),
        cmocka_unit_test(growth_is_on_record_before_its_host_hears_of_it),
        cmocka_unit_test(a_host_knows_the_commit_that_has_the_resize),
        cmocka_unit_test(numbers_go_on_above_a_lost_resize),
        cmocka_unit_test(a_restart_asks_the_host_again),
        cmocka_unit_test(a_crash_before_the_commit_gives_nothing),
        cmocka_unit_test(who_does_not_want_more_is_asked_later),
        cmocka_unit_test(who_cannot_be_told_is_asked_later),
        cmocka_unit_test(nothing_suspends_it_meanwhile),
        cmocka_unit_test(a_kill_does_not_wait),
        cmocka_unit_test(what_is_released_goes_when_its_command_agrees),
        cmocka_unit_test(orders_that_cannot_be_change_nothing),
        cmocka_unit_test(nobody_is_preempted_past_a_limit_that_growth_has_filled),
        cmocka_unit_test(applications_say_who_is_resizable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
