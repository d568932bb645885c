/* SPDX-License-Identifier: Apache-2.0 */
/* What bmod changes of a job that waits, who may, and that all checks of a submission
 * apply. Source: LSF's bmod. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/value.h"
#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nADMINS = olga\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 4\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 30\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = other\nPRIORITY = 20\nUSERS = ana\n"
    "TASKLIMIT = 2\nEnd Queue\n";

static void init(struct site_stage *stage)
{
    site_stage_init_text(stage, site_text);
    site_stage_host_up(stage, "s1");
}

/* The id, or 0 if it is refused. */
static uint64_t submit(struct site_stage *stage, const char *user,
                       const struct msg_submit *submit)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_SUBMIT, .site = "", .submit = *submit};
    msg.submit.request = ++stage->request;
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    return reply->code == 0 ? (uint64_t)value_find(reply->value, "job")->number : 0;
}

static uint64_t add(struct site_stage *stage, const char *user, const char *name,
                    const char *depend)
{
    struct msg_submit job = {.spec = site_stage_spec("local", "work"),
                             .terms = {.depend = depend}};
    job.spec.name = name;
    return submit(stage, user, &job);
}

static const struct msg_reply *modify(struct site_stage *stage, const char *user,
                                      const char *job, uint64_t fields,
                                      const struct msg_submit *to)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_MODIFY, .site = ""};
    msg.job_modify = (struct msg_job_modify){
        .request = ++stage->request, .job = job, .fields = fields, .to = *to};
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static uint64_t bit(enum job_field field)
{
    return UINT64_C(1) << field;
}

static bool has_started(const struct site_stage *stage, uint64_t id)
{
    return site_stage_attempt_of(stage, id) != 0;
}

static void end(struct site_stage *stage, uint64_t id)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    site_stage_exited(stage, "s1", attempt, 0);
}

/* What is not named stays, and the journal has the change. */
static void test_only_what_is_named_changes(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t first = add(&stage, "ana", "first", "");
    uint64_t job = add(&stage, "ana", "job", "done(first)");
    struct msg_submit to = {.spec = {.name = "else", .queue = "other", .n_slots = 2},
                            .terms = {.project = "chip", .has_slots = true}};
    const struct msg_reply *reply = modify(
        &stage, "ana", "2",
        bit(JOB_FIELD_QUEUE) | bit(JOB_FIELD_SLOTS) | bit(JOB_FIELD_PROJECT), &to);
    assert_string_equal(reply->text, "Parameters of job <2> are being changed");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(site_stage_job_text(&stage, job, "queue"), "other");
        assert_string_equal(site_stage_job_text(&stage, job, "name"), "job");
        assert_string_equal(site_stage_job_text(&stage, job, "project"), "chip");
        assert_string_equal(site_stage_job_text(&stage, job, "depend"), "done(first)");
        assert_int_equal(site_stage_job_int(&stage, job, "slots"), 2);
        site_stage_restart(&stage);
    }
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, first), 7);
    site_stage_host_synced(&stage, "s1");
    assert_false(has_started(&stage, job));
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, first), 0);
    assert_true(has_started(&stage, job));
    site_stage_release(&stage);
}

static uint64_t add_reserving(struct site_stage *stage, const char *name,
                              const char *rusage)
{
    struct msg_submit job = {.spec = site_stage_spec("local", "work")};
    job.spec.name = name;
    job.spec.res_reqs = &rusage;
    job.spec.n_res_reqs = 1;
    return submit(stage, "ana", &job);
}

static const struct msg_reply *modify_rusage(struct site_stage *stage, const char *job,
                                             const char *rusage)
{
    const struct msg_submit to = {.spec = {.res_reqs = &rusage, .n_res_reqs = 1}};
    return modify(stage, "ana", job, bit(JOB_FIELD_RES_REQS), &to);
}

/* LSF: a running job reserves what bmod -R says from then on; whether so much is there
 * does not matter to it, but to jobs that wait. What was chosen at its dispatch stays.
 */
static void test_a_job_that_runs_reserves_something_else(void **state)
{
    static const char text[] =
        "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
        "Begin Resource\nRESOURCENAME TYPE CONSUMABLE\nlic Numeric Y\ntok Numeric "
        "Y\nEnd Resource\n"
        "Begin ResourceMap\nRESOURCENAME LOCATION\nlic (3@[all])\ntok (9@[all])\nEnd "
        "ResourceMap\n"
        "Begin Host\nHOST_NAME MXJ\ns1 9\nEnd Host\n"
        "Begin Queue\nQUEUE_NAME = local\nRES_REQ = rusage[tok=1]\nEnd Queue\n";
    static const char *const refused[] = {
        "{rusage[lic=1]} || {rusage[lic=2]}", "rusage[lic=1 || lic=2]",
        "rusage[lic=1] affinity[core]", "rusage[nosuch=1]"};
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, text);
    site_stage_host_up(&stage, "s1");
    uint64_t first = add_reserving(&stage, "first", "rusage[lic=3]");
    uint64_t second = add_reserving(&stage, "second", "rusage[lic=2]");
    assert_true(has_started(&stage, first));
    assert_false(has_started(&stage, second));
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_int_equal(modify_rusage(&stage, "1", refused[i])->code, ERR_PARSE);
        assert_string_equal(site_stage_job_text(&stage, first, "resreq"),
                            "rusage[lic=3]");
    }
    assert_false(has_started(&stage, second));
    assert_int_equal(modify_rusage(&stage, "1", "rusage[lic=2]")->code, 0);
    assert_false(has_started(&stage, second)); /* one is left */
    assert_int_equal(modify_rusage(&stage, "1", "rusage[lic=1]")->code, 0);
    assert_true(has_started(&stage, second));
    assert_string_equal(site_stage_job_text(&stage, first, "reserved"),
                        "lic=1/job,tok=1/job");

    /* More than there is: nobody else gets any, also after a restart. */
    assert_int_equal(modify_rusage(&stage, "1", "rusage[lic=9]")->code, 0);
    uint64_t third = add_reserving(&stage, "third", "rusage[lic=1]");
    assert_false(has_started(&stage, third));
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, first), 7);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, second), 7);
    site_stage_host_synced(&stage, "s1");
    assert_string_equal(site_stage_job_text(&stage, first, "reserved"),
                        "lic=9/job,tok=1/job");
    assert_false(has_started(&stage, third));
    assert_int_equal(modify_rusage(&stage, "1", "rusage[lic=0]")->code, 0);
    assert_true(has_started(&stage, third));
    site_stage_release(&stage);
}

static const struct run_control *last_control(const struct site_stage *stage)
{
    const struct msg *msg = site_stage_sent(stage, MSG_RUN_CONTROL, 0);
    return msg != NULL ? &msg->run_control.control : NULL;
}

/* The host of a job that runs is told of its run limit, with each later order again;
 * an order about limits repeats a suspension that it may overtake. Nothing else of the
 * job can be changed, and no limit can be taken away. */
static void test_a_job_that_runs_takes_limits(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t job = add(&stage, "ana", "job", "");
    uint64_t attempt = site_stage_attempt_of(&stage, job);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    struct msg_submit to = {.spec = {.run_limit_ms = 60000, .queue = "other"}};
    assert_int_equal(modify(&stage, "bob", "1", bit(JOB_FIELD_RUN_LIMIT), &to)->code,
                     ERR_DENIED);
    assert_int_equal(modify(&stage, "ana", "1", bit(JOB_FIELD_QUEUE), &to)->code,
                     ERR_STATE);
    assert_int_equal(
        modify(&stage, "ana", "1", bit(JOB_FIELD_RUN_LIMIT) | bit(JOB_FIELD_QUEUE), &to)
            ->code,
        ERR_STATE);
    assert_null(last_control(&stage));
    assert_int_equal(modify(&stage, "ana", "1", bit(JOB_FIELD_RUN_LIMIT), &to)->code,
                     0);
    const struct run_control *control = last_control(&stage);
    assert_non_null(control);
    assert_int_equal(control->action, CONTROL_SIGNAL);
    assert_int_equal(control->signal, 0);
    assert_int_equal(control->run_limit_ms, 60000);
    uint64_t number = control->number;
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    control = last_control(&stage);
    assert_int_equal(control->action, CONTROL_SUSPEND);
    assert_int_equal(control->run_limit_ms, 60000);
    to.spec.run_limit_ms = 120000;
    assert_int_equal(modify(&stage, "ana", "1", bit(JOB_FIELD_RUN_LIMIT), &to)->code,
                     0);
    control = last_control(&stage);
    assert_int_equal(control->action, CONTROL_SUSPEND);
    assert_int_equal(control->number, number + 2);
    assert_int_equal(control->run_limit_ms, 120000);
    to.spec.run_limit_ms = 0;
    assert_int_equal(modify(&stage, "ana", "1", bit(JOB_FIELD_RUN_LIMIT), &to)->code,
                     ERR_STATE);
    site_stage_release(&stage);
}

/* The end of the job that the old condition names does not start it. */
static void test_another_condition(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t a = add(&stage, "ana", "a", ""), b = add(&stage, "ana", "b", "");
    uint64_t job = add(&stage, "ana", "job", "done(a)");
    struct msg_submit to = {.terms = {.depend = "done(b)"}};
    assert_int_equal(modify(&stage, "ana", "3", bit(JOB_FIELD_DEPEND), &to)->code, 0);
    end(&stage, a);
    assert_false(has_started(&stage, job));
    end(&stage, b);
    assert_true(has_started(&stage, job));
    uint64_t last = add(&stage, "ana", "last", "exit(a)"); /* never */
    assert_false(has_started(&stage, last));
    to.terms.depend = "";
    assert_int_equal(modify(&stage, "ana", "4", bit(JOB_FIELD_DEPEND), &to)->code, 0);
    assert_true(has_started(&stage, last));
    site_stage_release(&stage);
}

static void assert_refused(struct site_stage *stage, const char *user, uint64_t fields,
                           const struct msg_submit *to, int code, const char *words)
{
    const struct msg_reply *reply = modify(stage, user, "1", fields, to);
    assert_int_equal(reply->code, code);
    if (strstr(reply->text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", reply->text, words);
    }
    assert_non_null(strstr(reply->text, "Job not modified."));
}

/* As at submission, and for the job's owner, also if an administrator asks. Nothing
 * changes by halves. */
static void test_the_checks_of_a_submission(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t job = add(&stage, "bob", "job[1-3]", "");
    assert_int_equal(job, 1);
    struct msg_submit to = {.spec = {.name = "x", .queue = "other", .n_slots = 3},
                            .terms = {.has_slots = true}};
    assert_refused(&stage, "bob", bit(JOB_FIELD_QUEUE), &to, ERR_STATE, "has started");
    site_stage_release(&stage);
    init(&stage);
    add(&stage, "bob", "first", "");
    end(&stage, 1);
    assert_refused(&stage, "bob", bit(JOB_FIELD_QUEUE), &to, ERR_STATE, "finished");
    site_stage_release(&stage);
}

static void test_owners_and_administrators(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    struct msg_submit to = {.spec = {.name = "x", .queue = "other", .n_slots = 3},
                            .terms = {.has_slots = true}};
    for (int i = 0; i < 4; i++) {
        add(&stage, "bob", "fills", ""); /* all slots */
    }
    uint64_t job = add(&stage, "bob", "waits", "");
    assert_int_equal(job, 5);
    const struct msg_reply *reply =
        modify(&stage, "ana", "5", bit(JOB_FIELD_SLOTS), &to);
    assert_int_equal(reply->code, ERR_DENIED);
    reply = modify(&stage, "olga", "5", bit(JOB_FIELD_QUEUE), &to);
    assert_int_equal(reply->code, ERR_DENIED); /* the queue is not for bob */
    assert_string_equal(site_stage_job_text(&stage, job, "queue"), "local");
    reply = modify(&stage, "olga", "5", bit(JOB_FIELD_SLOTS), &to);
    assert_int_equal(reply->code, 0);
    assert_int_equal(site_stage_job_int(&stage, job, "slots"), 3);
    assert_string_equal(site_stage_job_text(&stage, job, "user"), "bob");
    end(&stage, 1);
    assert_false(has_started(&stage, job)); /* one of three slots */
    end(&stage, 2);
    end(&stage, 3);
    assert_true(has_started(&stage, job));
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_that_runs_takes_limits),
        cmocka_unit_test(test_a_job_that_runs_reserves_something_else),
        cmocka_unit_test(test_only_what_is_named_changes),
        cmocka_unit_test(test_another_condition),
        cmocka_unit_test(test_the_checks_of_a_submission),
        cmocka_unit_test(test_owners_and_administrators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
