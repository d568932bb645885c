/* SPDX-License-Identifier: Apache-2.0 */
/* Load thresholds: which jobs are suspended, resumed and started, as hosts tell their
 * load; over restarts and other configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

#define SITE                                                                           \
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"                             \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING\nheat Numeric 30 Y\n"       \
    "End Resource\n"                                                                   \
    "Begin Parameters\nSBD_SLEEP_TIME = 30\nEnd Parameters\n"
#define HOST(columns, values)                                                          \
    "Begin Host\nHOST_NAME MXJ " columns "\ns1 4 " values "\nEnd Host\n"
#define QUEUES(keys)                                                                   \
    "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 10\n" keys "\nEnd Queue\n"              \
    "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 50\nEnd Queue\n"

/* The host tells one index, and how long nobody was at it. */
static void tell(struct site_stage *stage, const char *name, const char *value,
                 const char *idle)
{
    struct load_value values[] = {{name, value, false}, {"it", idle, false}};
    struct peer from = site_stage_host("s1");
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 2};
    site_stage_message(stage, &from, &msg);
}

static void pass(struct site_stage *stage, int64_t ms)
{
    const int64_t beat_ms = 5000;
    while (ms > 0) {
        int64_t step_ms = ms < beat_ms ? ms : beat_ms;
        site_stage_pass(stage, step_ms);
        site_stage_host_alive(stage, "s1");
        ms -= step_ms;
    }
}

/* Time for a look, and for a turn. */
static void turn(struct site_stage *stage)
{
    pass(stage, 30000);
}

/* The host does the latest order. */
static void obey(struct site_stage *stage, uint64_t id, enum control_action action)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    assert_int_equal(row->control.action, action);
    struct msg_run_state state = {.phase = action == CONTROL_SUSPEND ? RUN_SUSPENDED
                                                                     : RUN_RUNNING,
                                  .token = 7,
                                  .start_ms = 100000,
                                  .control_done = row->control.number,
                                  .exit = {.text = ""}};
    site_stage_run_state(stage, "s1", "south", row->attempt, &state);
}

static uint64_t run_job(struct site_stage *stage, const char *queue)
{
    uint64_t id = site_stage_submit(stage, queue, "work");
    uint64_t attempt = site_stage_attempt_of(stage, id);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    assert_int_equal(site_stage_state(stage, id), JOB_RUN);
    return id;
}

/* It is told to suspend or to resume, and no other job is. */
static bool is_halted(const struct site_stage *stage, uint64_t id)
{
    return site_stage_job_row(stage, id)->suspension.causes == SUSPEND_LOAD;
}

static void begin(struct site_stage *stage, const char *text)
{
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
}

static void test_why_a_job_waits(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("heat", "50/70") QUEUES("mem = 500/100"));
    tell(&stage, "heat", "61", "9");
    uint64_t id = site_stage_submit(&stage, "high", "work");
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    assert_string_equal(site_stage_job_text(&stage, id, "pending"), "load");
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "Host load exceeds the scheduling threshold: heat 61 > 50 on "
                        "s1 (queue high; 1 host above loadSched)");
    tell(&stage, "heat", "49", "9");
    turn(&stage);
    assert_true(site_stage_attempt_of(&stage, id) != 0);
    /* A host that tells of itself, but not that: it may be beyond. */
    id = site_stage_submit(&stage, "low", "work");
    turn(&stage);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "Host load exceeds the scheduling threshold: mem is not "
                        "reported on s1 (queue low; 1 host above loadSched)");
    site_stage_release(&stage);
}

static void test_one_at_a_time(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("heat", "50/70") QUEUES(""));
    tell(&stage, "heat", "10", "9");
    uint64_t high = run_job(&stage, "high"), old = run_job(&stage, "low");
    pass(&stage, 1000);
    uint64_t young = run_job(&stage, "low");
    turn(&stage);
    tell(&stage, "heat", "71", "9");
    assert_true(is_halted(&stage, young)); /* least important, and began last */
    assert_false(is_halted(&stage, old));
    obey(&stage, young, CONTROL_SUSPEND);
    assert_int_equal(site_stage_state(&stage, young), JOB_SSUSP);
    assert_string_equal(
        site_stage_job_text(&stage, young, "reason"),
        "suspended for its host's load: heat 71 > 70 on s1; it resumes when that is "
        "within its thresholds again, now heat 71 > 70 on s1");
    pass(&stage, 29000);
    assert_false(is_halted(&stage, old)); /* the load has to show it first */
    pass(&stage, 6000);
    assert_true(is_halted(&stage, old));
    obey(&stage, old, CONTROL_SUSPEND);
    turn(&stage);
    turn(&stage);
    assert_false(is_halted(&stage, high)); /* the only one, and nobody is there */
    tell(&stage, "heat", "60", "9");       /* not within loadSched */
    turn(&stage);
    assert_true(is_halted(&stage, old));
    tell(&stage, "heat", "50", "9");
    pass(&stage, 20000);
    obey(&stage, young, CONTROL_RESUME); /* suspended longest */
    assert_true(is_halted(&stage, old));
    turn(&stage);
    obey(&stage, old, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, old), JOB_RUN);
    assert_non_null(strstr(stage.told, "its host is overloaded: heat 71 > 70 on s1"));
    assert_non_null(strstr(
        stage.told, "load is within its thresholds again, after heat 71 > 70 on s1"));
    site_stage_release(&stage);
}

/* PG_SUSP_IT, 3 minutes by default: a job that paging has suspended resumes when nobody
 * is at its host, however little it pages; one of another index does at once. */
static void test_paging_and_idle_hosts(void **state)
{
    static const struct {
        const char *parameters, *index, *first, *second;
        bool resumes_first; /* while somebody is there since 2 minutes */
        const char *why;
    } rows[] = {
        {"", "pg", "71", "10", false, "the default"},
        {"Begin Parameters\nPG_SUSP_IT = 120\nEnd Parameters\n", "pg", "71", "10", true,
         "two minutes are enough"},
        {"Begin Parameters\nPG_SUSP_IT = 0\nEnd Parameters\n", "pg", "71", "10", true,
         "never"},
        {"", "heat", "71", "10", true, "another index"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        char text[1024];
        snprintf(text, sizeof(text),
                 "%s" SITE
                 "Begin Host\nHOST_NAME MXJ %s\ns1 4 50/70\nEnd Host\n" QUEUES(""),
                 rows[i].parameters, rows[i].index);
        begin(&stage, text);
        tell(&stage, rows[i].index, "10", "9");
        uint64_t id = run_job(&stage, "low");
        run_job(&stage, "high");
        turn(&stage);
        tell(&stage, rows[i].index, rows[i].first, "0");
        assert_true(is_halted(&stage, id));
        obey(&stage, id, CONTROL_SUSPEND);
        tell(&stage, rows[i].index, rows[i].second, "2");
        turn(&stage);
        if (is_halted(&stage, id) == rows[i].resumes_first) {
            fail_msg("%s: %s", rows[i].why, site_stage_job_text(&stage, id, "reason"));
        }
        if (!rows[i].resumes_first) {
            assert_non_null(strstr(site_stage_job_text(&stage, id, "reason"),
                                   "now it 2 min, below 180 s on s1 (PG_SUSP_IT)"));
        }
        tell(&stage, rows[i].index, rows[i].second, "3");
        turn(&stage);
        assert_false(is_halted(&stage, id));
        site_stage_release(&stage);
    }
}

/* Of two hosts, both alive. */
static void pass_two(struct site_stage *stage, int64_t ms)
{
    for (const int64_t step_ms = 5000; ms > 0; ms -= step_ms) {
        pass(stage, step_ms);
        site_stage_host_alive(stage, "s2");
    }
}

static void tell_heat(struct site_stage *stage, const char *host, const char *value)
{
    struct load_value values[] = {{"heat", value, false}, {"it", "0", false}};
    struct peer from = site_stage_host(host);
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 2};
    site_stage_message(stage, &from, &msg);
}

static uint64_t run_on(struct site_stage *stage, const char *queue, const char *host,
                       int n_slots)
{
    struct job_spec spec = site_stage_spec(queue, "work");
    spec.n_slots = n_slots;
    spec.hosts_asked = &host;
    spec.n_hosts_asked = host != NULL;
    uint64_t id = site_stage_submit_spec(stage, "ana", &spec);
    const struct row_job_state *row = site_stage_job_row(stage, id);
    assert_int_equal(row->n_hosts, host != NULL ? 1 : 2);
    const char *first = row->hosts[0].host;
    uint64_t attempt = row->attempt;
    site_stage_waiting(stage, first, attempt, 7);
    site_stage_running(stage, first, attempt, 7);
    return id;
}

/* It is suspended in the interval of the host whose load it is; that is a change of the
 * other host too, whose next turn is later then. */
static void test_turns_of_parallel_jobs(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE "Begin Host\nHOST_NAME MXJ heat\ns1 4 50/70\ns2 4 50/70\n"
                       "End Host\n" QUEUES(""));
    site_stage_host_up(&stage, "s2");
    tell_heat(&stage, "s1", "10");
    tell_heat(&stage, "s2", "10");
    uint64_t old = run_on(&stage, "low", "s1", 1),
             young = run_on(&stage, "low", "s1", 1);
    uint64_t wide = run_on(&stage, "high", NULL, 5);
    pass_two(&stage, 30000);
    tell_heat(&stage, "s1", "71");
    assert_true(is_halted(&stage, young));
    pass_two(&stage, 20000);
    assert_false(is_halted(&stage, wide));
    tell_heat(&stage, "s2", "71");
    assert_true(is_halted(&stage, wide));
    pass_two(&stage, 25000);
    assert_false(is_halted(&stage, old));
    pass_two(&stage, 10000);
    assert_true(is_halted(&stage, old));
    site_stage_release(&stage);
}

static void test_somebody_is_at_the_host(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("heat", "50/70") QUEUES(""));
    tell(&stage, "heat", "10", "9");
    uint64_t id = run_job(&stage, "low");
    turn(&stage);
    tell(&stage, "heat", "80", "0");
    assert_true(is_halted(&stage, id));
    site_stage_release(&stage);
}

/* What was ordered is on record; without any threshold it is undone. */
static void test_restart_and_reload(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("it", "10/1") QUEUES(""));
    tell(&stage, "heat", "10", "30");
    uint64_t id = run_job(&stage, "low");
    turn(&stage);
    tell(&stage, "heat", "10", "0");
    obey(&stage, id, CONTROL_SUSPEND);
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    obey(&stage, id, CONTROL_SUSPEND);
    site_stage_host_synced(&stage, "s1");
    turn(&stage);
    assert_true(is_halted(&stage, id)); /* nothing is known of the host's load */
    assert_string_equal(
        site_stage_job_text(&stage, id, "reason"),
        "suspended for its host's load: it 0 < 1 on s1; it resumes when that is within "
        "its thresholds again, now s1 does not report its load");
    tell(&stage, "heat", "10", "5");
    turn(&stage);
    assert_true(is_halted(&stage, id));
    assert_true(site_stage_reload(&stage, SITE HOST("it", "()") QUEUES("")));
    turn(&stage);
    obey(&stage, id, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

/* A user's stop and load are two causes. */
static void test_causes_add_up(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("it", "10/1") QUEUES(""));
    tell(&stage, "heat", "10", "30");
    uint64_t id = run_job(&stage, "low");
    turn(&stage);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    obey(&stage, id, CONTROL_SUSPEND);
    assert_int_equal(site_stage_state(&stage, id), JOB_USUSP);
    tell(&stage, "heat", "10", "5"); /* not beyond loadStop, but beyond loadSched */
    turn(&stage);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    tell(&stage, "heat", "10", "10");
    turn(&stage);
    obey(&stage, id, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

static void test_ended(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("heat", "50/70") QUEUES("TERMINATE_WHEN = LOAD"));
    tell(&stage, "heat", "10", "9");
    run_job(&stage, "high");
    uint64_t id = run_job(&stage, "low");
    turn(&stage);
    tell(&stage, "heat", "71", "9");
    assert_int_equal(site_stage_job_row(&stage, id)->control.action, CONTROL_KILL);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, id), 130);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(
        site_stage_job_text(&stage, id, "reason"),
        "TERM_LOAD: job killed after load exceeds threshold: heat 71 > 70 on s1");
    site_stage_release(&stage);
}

/* A slot of young's, which is suspended for load, is another's; then load lets young
 * go, and it waits for slots: a job of a queue that may preempt it comes first. */
static uint64_t let_go(struct site_stage *stage, uint64_t *other)
{
    begin(stage, SITE HOST("heat", "50/70") QUEUES("PREEMPTION = PREEMPTABLE"));
    tell(stage, "heat", "10", "9");
    for (int i = 0; i < 3; i++) {
        *other = run_job(stage, "low");
    }
    pass(stage, 1000);
    uint64_t young = run_job(stage, "low");
    turn(stage);
    tell(stage, "heat", "71", "9");
    obey(stage, young, CONTROL_SUSPEND);
    tell(stage, "heat", "60", "9"); /* neither beyond loadStop nor within loadSched */
    turn(stage);
    uint64_t next = site_stage_submit(stage, "high", "work");
    tell(stage, "heat", "50", "9");
    site_stage_waiting(stage, "s1", site_stage_attempt_of(stage, next), 7);
    site_stage_running(stage, "s1", site_stage_attempt_of(stage, next), 7);
    pass(stage, 5000);
    assert_int_equal(site_stage_job_row(stage, young)->suspension.causes,
                     SUSPEND_PREEMPT);
    assert_int_equal(site_stage_job_row(stage, young)->suspension.by, 0);
    return young;
}

/* A job that waits for slots adds nothing to the load: another is suspended meanwhile.
 */
static void test_waiting_is_no_turn(void **state)
{
    struct site_stage stage;
    uint64_t other;
    (void)state;
    let_go(&stage, &other);
    tell(&stage, "heat", "71", "9");
    pass(&stage, 5000);
    assert_true(is_halted(&stage, other));
    site_stage_release(&stage);
}

/* Its hosts' turn begins once it has them. */
static void test_turn_begins_with_slots(void **state)
{
    struct site_stage stage;
    uint64_t other;
    (void)state;
    uint64_t young = let_go(&stage, &other);
    pass(&stage, 20000);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, other), 0);
    obey(&stage, young, CONTROL_RESUME);
    tell(&stage, "heat", "71", "9");
    pass(&stage, 25000);
    assert_false(is_halted(&stage, young)); /* 45 s after load let it go */
    pass(&stage, 10000);
    assert_true(is_halted(&stage, young));
    site_stage_release(&stage);
}

/* The queue's conditions; of an index that is not told none is met. */
static void test_conditions(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage, SITE HOST("RESOURCES", "(!gpu)")
                      QUEUES("RES_REQ = gpu\nSTOP_COND = heat < 5\n"
                             "RESUME_COND = select[heat > 40 && it > 2]\nheat = 50"));
    tell(&stage, "heat", "10", "9");
    uint64_t id = run_job(&stage, "low"), other = run_job(&stage, "low");
    turn(&stage);
    tell(&stage, "mem", "10", "9");
    turn(&stage);
    assert_false(is_halted(&stage, other));
    tell(&stage, "heat", "4", "9");
    assert_true(is_halted(&stage, other));
    obey(&stage, other, CONTROL_SUSPEND);
    assert_string_equal(site_stage_job_text(&stage, other, "reason"),
                        "suspended for its host's load: STOP_COND of queue low is met "
                        "on s1; it resumes when that is within its thresholds again, "
                        "now STOP_COND of queue low is met on s1");
    tell(&stage, "heat", "30", "9");
    turn(&stage);
    assert_true(is_halted(&stage, other));
    tell(&stage, "heat", "60", "9"); /* beyond loadSched, which does not count then */
    turn(&stage);
    obey(&stage, other, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_why_a_job_waits),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_paging_and_idle_hosts),
        cmocka_unit_test(test_turns_of_parallel_jobs),
        cmocka_unit_test(test_somebody_is_at_the_host),
        cmocka_unit_test(test_restart_and_reload),
        cmocka_unit_test(test_causes_add_up),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_waiting_is_no_turn),
        cmocka_unit_test(test_turn_begins_with_slots),
        cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
