/* SPDX-License-Identifier: Apache-2.0 */
/* A job's life on the site's own hosts, and what its user may do to it on the way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

/* Submits and brings it to RUN; returns its attempt. */
static uint64_t run_job(struct site_stage *stage, uint64_t *id)
{
    *id = site_stage_submit(stage, "local", "work");
    uint64_t attempt = site_stage_attempt_of(stage, *id);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    assert_int_equal(site_stage_state(stage, *id), JOB_RUN);
    return attempt;
}

static void test_life(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "work");
    assert_int_equal(id, 1);
    assert_string_equal(site_stage_reply(&stage)->text,
                        "Job <1> is submitted to queue <local>.");
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "All hosts that the job may use are closed or unreachable "
                        "(queue local; 2 hosts closed or unreachable)");
    assert_non_null(site_stage_job_row(&stage, id)); /* on record with the answer */

    site_stage_host_hello(&stage, "s1");
    assert_true(site_stage_sent(&stage, MSG_HOST_WELCOME, 0)->welcome.is_accepted);
    assert_null(site_stage_sent(&stage, MSG_RUN_START, 0)); /* its runs come first */
    site_stage_host_synced(&stage, "s1");
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_non_null(start);
    assert_string_equal(start->run_start.run.site, "south");
    assert_string_equal(start->run_start.job, "1");
    assert_string_equal(start->run_start.lease, "");
    assert_string_equal(start->run_start.spec.command, "work");
    assert_string_equal(start->run_start.account, "ana"); /* the daemon is root */
    uint64_t attempt = start->run_start.run.attempt;
    assert_true(site_stage_job_row(&stage, id)->is_taken);
    assert_int_equal(site_stage_job_row(&stage, id)->attempt, attempt);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"), "starting on s1");

    site_stage_waiting(&stage, "s1", attempt, 7);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->token, 7);
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.token, 7);

    site_stage_running(&stage, "s1", attempt, 7);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    assert_int_equal(site_stage_job_int(&stage, id, "hosts.s1"), 1);

    site_stage_exited(&stage, "s1", attempt, 3);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_int_equal(site_stage_job_int(&stage, id, "exit_code"), 3);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "exited with code 3");
    assert_int_equal(site_stage_job_row(&stage, id)->state, JOB_EXIT);
    assert_null(site_stage_run_row(&stage, "south", attempt)); /* no output to keep */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    site_stage_release(&stage);
}

static void test_resends(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_pass(&stage, 5000);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 2); /* every 2 s */
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_pass(&stage, 5000);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 2);
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_host_alive(&stage, "s1");
    site_stage_pass(&stage, 5000);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    site_stage_release(&stage);
}

static void test_slots(void **state)
{
    struct site_stage stage;
    int own, consumers;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    for (int i = 0; i < 5; i++) {
        site_stage_submit(&stage, "local", "work");
    }
    site_host_used(stage.site, "s1", &own, &consumers);
    assert_int_equal(own, 2);
    site_host_used(stage.site, "s2", &own, &consumers);
    assert_int_equal(own, 2);
    assert_int_equal(site_stage_attempt_of(&stage, 5), 0);
    assert_string_equal(site_stage_job_text(&stage, 5, "reason"),
                        "All slots of the hosts that the job may use are occupied "
                        "(queue local; 2 hosts without a free slot)");
    /* Two slots each: s1 got the jobs 1 and 3. */
    uint64_t attempt = site_stage_attempt_of(&stage, 3);
    site_stage_waiting(&stage, "s1", attempt, 1);
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_int_equal(site_stage_state(&stage, 3), JOB_DONE);
    assert_int_not_equal(site_stage_attempt_of(&stage, 5), 0);
    site_stage_release(&stage);
}

static void test_parallel(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("local", "mpirun");
    int own, consumers;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    spec.n_slots = 3;
    uint64_t id = site_stage_submit_spec(&stage, "ana", &spec);
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_non_null(start);
    assert_int_equal(start->run_start.n_hosts, 2);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START),
                     1); /* the first runs it */
    site_host_used(stage.site, "s2", &own, &consumers);
    assert_int_equal(own, 1);
    assert_int_equal(site_stage_job_int(&stage, id, "hosts.s1"), 2);
    spec.n_slots = 5;
    id = site_stage_submit_spec(&stage, "ana", &spec);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "The job requests more slots than all hosts that it may use "
                        "have together (queue local)");
    site_stage_release(&stage);
}

/* More jobs wait than one tick looks at: those behind them come in the next ones. */
static void test_long_queue(void **state)
{
    enum { JOBS = 2100 };
    static const char *const asked[] = {"s1"};
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("local", "work");
    (void)state;
    site_stage_init(&stage);
    spec.hosts_asked = asked; /* which is not there */
    spec.n_hosts_asked = 1;
    for (int i = 0; i < JOBS; i++) {
        site_stage_submit_spec(&stage, "ana", &spec);
    }
    uint64_t id = site_stage_submit(&stage, "normal", "work"); /* a lower priority */
    site_stage_host_up(&stage, "s2");
    site_stage_pass(&stage, 10);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
    assert_true(site_wake_ms(stage.site) > stage.now_ms); /* and then there is rest */
    site_stage_release(&stage);
}

static void test_submit_checks(void **state)
{
    static const char *const unknown[] = {"s9"};
    static const char *const borrowed[] = {"n1@north"};
    static const char *const known[] = {"s2"};
    static const struct {
        const char *queue;
        int n_slots;
        const char *const *asked;
        int code;
        const char *says, *why;
    } rows[] = {
        {"", 1, NULL, 0, "Job <1> is submitted to queue <normal>.",
         "no queue named: the first"},
        {"x", 1, NULL, ERR_NOT_FOUND, "x: no such queue", "a queue must exist"},
        {"local", 0, NULL, ERR_BOUNDS, "0 slots: expected 1 to", "at least one slot"},
        {"local", SLOTS_MAX + 1, NULL, ERR_BOUNDS, "expected 1 to",
         "not without bound"},
        {"local", SLOTS_MAX, NULL, 0, "is submitted", "too large for us only waits"},
        {"local", 1, unknown, ERR_NOT_FOUND, "s9: no such host", "own hosts are known"},
        {"local", 1, borrowed, ERR_NOT_FOUND, "n1@north: not borrowed now",
         "borrowed ones once the lease is made"},
        {"local", 1, known, 0, "is submitted", "a known host"},
    };
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_spec spec = site_stage_spec(rows[i].queue, "work");
        int n_before = site_count_jobs(stage.site);
        spec.n_slots = rows[i].n_slots;
        spec.hosts_asked = rows[i].asked;
        spec.n_hosts_asked = rows[i].asked != NULL ? 1 : 0;
        site_stage_submit_spec(&stage, "ana", &spec);
        const struct msg_reply *reply = site_stage_reply(&stage);
        if (reply->code != rows[i].code || strstr(reply->text, rows[i].says) == NULL ||
            site_count_jobs(stage.site) != n_before + (rows[i].code == 0)) {
            fail_msg("%s: %d \"%s\"", rows[i].why, reply->code, reply->text);
        }
    }
    site_stage_release(&stage);
}

static void test_foreign_user(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    stage.config.daemon_uid = 1002; /* bob's own site */
    site_stage_restart(&stage);
    struct job_spec spec = site_stage_spec("local", "work");
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 0);
    assert_int_equal(site_stage_reply(&stage)->code, ERR_DENIED);
    assert_non_null(strstr(site_stage_reply(&stage)->text, "user ana cannot run jobs"));
    site_stage_host_up(&stage, "s1");
    assert_int_not_equal(site_stage_submit_spec(&stage, "bob", &spec), 0);
    assert_string_equal(site_stage_sent(&stage, MSG_RUN_START, 0)->run_start.account,
                        "");
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- orders */

static void test_orders_waiting(void **state)
{
    struct site_stage stage;
    const struct msg_reply *reply;
    (void)state;
    site_stage_init(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "work");
    reply = site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    assert_string_equal(reply->text, "Job <1> is being stopped");
    assert_int_equal(site_stage_state(&stage, id), JOB_PSUSP);
    site_stage_host_up(&stage, "s1");
    assert_int_equal(site_stage_attempt_of(&stage, id), 0); /* held */
    reply = site_stage_control(&stage, "ana", "1", CONTROL_SIGNAL, SIGUSR1);
    assert_int_equal(reply->code, ERR_STATE);
    reply = site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_string_equal(reply->text, "Job <1> is being resumed");
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0); /* and starts */

    struct job_spec spec = site_stage_spec("local", "work");
    spec.n_slots = 4;
    id = site_stage_submit_spec(&stage, "ana", &spec);
    reply = site_stage_control(&stage, "ana", "2", CONTROL_SIGNAL, SIGTERM);
    assert_string_equal(reply->text, "Job <2> is being terminated");
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "killed by ana before it began");
    assert_int_equal(site_stage_job_int(&stage, id, "exit_code"), -1); /* null */
    reply = site_stage_control(&stage, "ana", "2", CONTROL_KILL, 0);
    assert_int_equal(reply->code, ERR_STATE);
    assert_string_equal(reply->text, "Job <2>: job has already finished");
    site_stage_release(&stage);
}

static void test_orders_running(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    uint64_t attempt = run_job(&stage, &id);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_int_equal(order->run_control.control.action, CONTROL_SUSPEND);
    assert_int_equal(order->run_control.control.number, 1);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->control.number, 1);
    site_stage_pass(&stage, 2500);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 1); /* until done */
    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){
            .phase = RUN_SUSPENDED, .token = 7, .start_ms = 5, .control_done = 1});
    assert_int_equal(site_stage_state(&stage, id), JOB_USUSP);
    site_stage_pass(&stage, 2500);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    site_stage_running(&stage, "s1", attempt, 7); /* said before the order: late */
    assert_int_equal(site_stage_state(&stage, id), JOB_USUSP);

    /* A signal would have it go on. */
    const struct msg_reply *refused =
        site_stage_control(&stage, "ana", "1", CONTROL_SIGNAL, SIGUSR1);
    assert_int_equal(refused->code, ERR_STATE);
    assert_non_null(strstr(refused->text, "job is suspended"));
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);

    site_stage_control(&stage, "ana", "1", CONTROL_SIGNAL, SIGCONT); /* is resume */
    order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_int_equal(order->run_control.control.action, CONTROL_RESUME);
    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){
            .phase = RUN_RUNNING, .token = 7, .start_ms = 5, .control_done = 2});
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    assert_int_equal(site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0)->code,
                     ERR_STATE);

    site_stage_control(&stage, "ana", "1", CONTROL_SIGNAL, SIGUSR1);
    order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_int_equal(order->run_control.control.signal, SIGUSR1);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_int_equal(order->run_control.control.action, CONTROL_KILL);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN); /* until it has ended */
    assert_string_equal(site_stage_job_text(&stage, id, "reason"), "killed by ana");
    assert_int_equal(site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0)->code,
                     ERR_STATE);
    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){
            .phase = RUN_ENDED,
            .exit = {.end = RUN_END_SIGNALLED, .code = SIGTERM, .start_ms = 5}});
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_int_equal(site_stage_job_int(&stage, id, "exit_code"), 128 + SIGTERM);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"), "killed by ana");
    site_stage_release(&stage);
}

/* No go was ever sent: the kill needs nobody's consent, and the guard that comes up
 * after all is told to go away. */
static void test_kill_taken(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_null(site_stage_run_row(&stage, "south", attempt));
    site_stage_waiting(&stage, "s1", attempt, 7);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    site_stage_release(&stage);
}

/* An order to a job that is starting goes out when it has begun. */
static void test_stop_starting(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    site_stage_waiting(&stage, "s1", attempt, 7);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 1);
    site_stage_running(&stage, "s1", attempt, 7);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 1);
    site_stage_release(&stage);
}

static void test_whose(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_submit(&stage, "local", "a");
    site_stage_submit(&stage, "local", "b");
    struct job_spec spec = site_stage_spec("local", "c");
    site_stage_submit_spec(&stage, "bob", &spec);
    const struct msg_reply *reply =
        site_stage_control(&stage, "bob", "1", CONTROL_KILL, 0);
    assert_int_equal(reply->code, ERR_DENIED);
    assert_string_equal(reply->text, "Job <1>: user permission denied, it is ana's");
    assert_int_equal(site_stage_control(&stage, "bob", "9", CONTROL_KILL, 0)->code,
                     ERR_NOT_FOUND);
    reply = site_stage_control(&stage, "ana", "0", CONTROL_KILL, 0); /* all of ana's */
    assert_string_equal(reply->text,
                        "Job <1> is being terminated\nJob <2> is being terminated");
    assert_int_equal(site_stage_state(&stage, 3), JOB_PEND);
    assert_int_equal(site_stage_control(&stage, "ana", "0", CONTROL_KILL, 0)->code,
                     ERR_NOT_FOUND);
    reply = site_stage_control(&stage, "olga", "3", CONTROL_KILL, 0); /* of ADMINS */
    assert_int_equal(reply->code, 0);
    site_stage_submit(&stage, "normal", "true");
    reply = site_stage_control(&stage, "pia", "4", CONTROL_KILL, 0); /* of a group */
    assert_int_equal(reply->code, 0);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- waiting, cleaning */

static void test_wait(void **state)
{
    struct site_stage stage;
    struct peer ana = site_stage_user("ana"), bob = site_stage_user("bob");
    struct msg msg = {
        .kind = MSG_WAIT, .site = "", .wait = {.request = 70, .job = "1"}};
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    uint64_t attempt = run_job(&stage, &id);
    site_stage_message(&stage, &ana, &msg);
    assert_null(site_stage_sent(&stage, MSG_REPLY, 0));
    site_stage_message(&stage, &bob, &msg);
    struct event gone = {.kind = EVENT_GONE, .from = bob};
    site_stage_event(&stage, &gone);
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 1); /* bob has gone */
    const struct msg_reply *reply = &site_stage_sent(&stage, MSG_REPLY, 0)->reply;
    assert_int_equal(reply->request, 70);
    assert_string_equal(value_find(reply->value, "job")->text, "1");
    assert_string_equal(value_find(reply->value, "state")->text, "DONE");
    assert_int_equal(value_find(reply->value, "exit_code")->number, 0);
    site_stage_message(&stage, &bob, &msg); /* after the end: at once */
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 1);
    msg.wait.job = "2";
    site_stage_message(&stage, &bob, &msg);
    assert_int_equal(site_stage_sent(&stage, MSG_REPLY, 0)->reply.code, ERR_NOT_FOUND);
    site_stage_release(&stage);
}

static void test_clean(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    uint64_t attempt = run_job(&stage, &id);
    site_stage_run_state(&stage, "s1", "south", attempt,
                         &(struct msg_run_state){.phase = RUN_ENDED,
                                                 .exit = {.end = RUN_END_EXITED,
                                                          .start_ms = stage.now_ms,
                                                          .end_ms = stage.now_ms,
                                                          .out_bytes = 5}});
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 0); /* kept for peek */
    assert_non_null(site_stage_run_row(&stage, "south", attempt));
    site_stage_restart(&stage); /* and so after a restart */
    assert_non_null(site_stage_run_row(&stage, "south", attempt));
    site_stage_pass(&stage, 3590 * 1000);
    stage.host_session++;
    site_stage_host_up(&stage, "s1");
    assert_int_equal(site_count_jobs(stage.site), 1);
    site_stage_pass(&stage, 14 * 1000);
    assert_int_equal(site_count_jobs(stage.site), 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB_STATE), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_RUN), 0);
    site_stage_restart(&stage);
    assert_int_equal(site_stage_submit(&stage, "local", "next"), 2); /* never again 1 */
    site_stage_release(&stage);
}

/* bkill -C: the reason is that of the job's end, whoever asks. */
static void test_kill_has_a_reason(void **state)
{
    struct site_stage stage;
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_JOB_CONTROL, .site = ""};
    static const char *const jobs[] = {"1"};
    (void)state;
    site_stage_init(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "work");
    msg.job_control = (struct msg_job_control){.request = 77,
                                               .action = CONTROL_KILL,
                                               .jobs = jobs,
                                               .n_jobs = 1,
                                               .reason = "wrong input"};
    site_stage_message(&stage, &from, &msg);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "killed by ana (wrong input) before it began");
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_has_a_reason),
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_resends),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_long_queue),
        cmocka_unit_test(test_submit_checks),
        cmocka_unit_test(test_foreign_user),
        cmocka_unit_test(test_orders_waiting),
        cmocka_unit_test(test_orders_running),
        cmocka_unit_test(test_kill_taken),
        cmocka_unit_test(test_stop_starting),
        cmocka_unit_test(test_whose),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
