/* SPDX-License-Identifier: Apache-2.0 */
/* What the ends of executions make of jobs: tries that are counted, over restarts;
 * limits and commands on their way to a host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
    "Begin Parameters\nJOB_TERMINATE_INTERVAL = 3\nEnd Parameters\n"
    "Begin Queue\nQUEUE_NAME = local\n%s\nEnd Queue\n"
    "Begin Application\nNAME = a\nMEMLIMIT = 7\nPOST_EXEC = app\nEnd Application\n";

static void init(struct site_stage *stage, const char *keys)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, keys);
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
}

/* Its attempt begins and ends. */
static void run(struct site_stage *stage, uint64_t id, const struct run_exit *exit)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    struct msg_run_state state = {.phase = RUN_ENDED, .exit = *exit};
    assert_true(attempt != 0);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    state.exit.start_ms = state.exit.end_ms = stage->now_ms;
    state.exit.text = exit->text != NULL ? exit->text : "";
    site_stage_run_state(stage, "s1", "south", attempt, &state);
}

static void restart(struct site_stage *stage)
{
    site_stage_restart(stage);
    site_stage_host_up(stage, "s1");
}

static void test_requeues_are_counted(void **state)
{
    static const struct run_exit again = {.end = RUN_END_EXITED, .code = 99};
    struct site_stage stage;
    (void)state;
    init(&stage, "REQUEUE_EXIT_VALUES = 99\nMAX_JOB_REQUEUE = 2");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    for (int round = 0; round < 2; round++) {
        run(&stage, id, &again);
        /* Who ends at once does not begin again at once. */
        assert_string_equal(site_stage_job_text(&stage, id, "pending"), "retry");
        site_stage_pass(&stage, 1999);
        assert_int_equal(site_stage_attempt_of(&stage, id), 0);
        site_stage_pass(&stage, 1);
        run(&stage, id, &again);
        assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
        assert_int_equal(site_stage_job_row(&stage, id)->n_requeues, 2);
        restart(&stage);
        run(&stage, id, &again);
        assert_int_equal(site_stage_state(&stage, id), JOB_PSUSP);
        assert_non_null(strstr(site_stage_job_text(&stage, id, "reason"), "2 times"));
        restart(&stage);
        assert_int_equal(site_stage_state(&stage, id), JOB_PSUSP);
        site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0); /* and anew */
    }
    run(&stage, id, &(struct run_exit){.end = RUN_END_EXITED});
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

/* LSB_EXIT_PRE_ABORT: a command before the job that exits with 99 ends it for good;
 * with another code it is tried again. */
static void test_pre_exec_aborts(void **state)
{
    static const struct {
        int code;
        enum job_state state;
    } rows[] = {{99, JOB_EXIT}, {98, JOB_PEND}, {100, JOB_PEND}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        init(&stage, "");
        uint64_t id = site_stage_submit(&stage, "local", "work");
        run(&stage, id,
            &(struct run_exit){.end = RUN_END_FAILED,
                               .cause = RUN_CAUSE_PRE_EXEC,
                               .code = rows[i].code});
        assert_int_equal(site_stage_state(&stage, id), rows[i].state);
        site_stage_release(&stage);
    }
}

/* The one host that the job has its slot on. */
static void run_on(struct site_stage *stage, const char *host, uint64_t id, int code)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    struct msg_run_state state = {.phase = RUN_ENDED};
    assert_true(attempt != 0);
    assert_string_equal(site_stage_job_row(stage, id)->hosts[0].host, host);
    site_stage_waiting(stage, host, attempt, 7);
    site_stage_running(stage, host, attempt, 7);
    state.exit = (struct run_exit){.end = RUN_END_EXITED,
                                   .code = code,
                                   .start_ms = stage->now_ms,
                                   .end_ms = stage->now_ms,
                                   .text = ""};
    site_stage_run_state(stage, host, "south", attempt, &state);
}

static void restart_two(struct site_stage *stage)
{
    restart(stage);
    site_stage_host_up(stage, "s2");
}

/* EXCLUDE: the hosts that it has exited on are on record; when there is no other it
 * waits, until a user lets it try again. */
static void test_hosts_are_avoided(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                                 "Begin Host\nHOST_NAME MXJ\ns1 1\ns2 1\nEnd Host\n"
                                 "Begin Queue\nQUEUE_NAME = local\n"
                                 "REQUEUE_EXIT_VALUES = 30 EXCLUDE(20)\nEnd Queue\n");
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    run_on(&stage, "s1", id, 30); /* here or elsewhere */
    site_stage_pass(&stage, 2000);
    assert_string_equal(site_stage_job_text(&stage, id, "avoided"), "");
    run_on(&stage, "s1", id, 20);
    assert_string_equal(site_stage_job_text(&stage, id, "avoided"), "s1");
    restart_two(&stage);
    run_on(&stage, "s2", id, 30);
    site_stage_pass(&stage, 2000);
    run_on(&stage, "s2", id, 20);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    restart_two(&stage);
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    assert_string_equal(site_stage_job_text(&stage, id, "pending"), "avoided");
    assert_non_null(
        strstr(site_stage_job_text(&stage, id, "reason"),
               "2 hosts excluded after it exited there with an EXCLUDE code"));
    assert_string_equal(site_stage_job_text(&stage, id, "avoided"), "s1 s2");

    /* another of its like is not held up by it */
    uint64_t other = site_stage_submit(&stage, "local", "work");
    run_on(&stage, "s1", other, 0);
    assert_int_equal(site_stage_state(&stage, other), JOB_DONE);

    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    run_on(&stage, "s1", id, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

static void test_pre_exec_tries(void **state)
{
    static const struct run_exit failed = {.end = RUN_END_FAILED,
                                           .cause = RUN_CAUSE_PRE_EXEC,
                                           .code = 4,
                                           .text = "\"x\" exited with code 4"};
    struct site_stage stage;
    (void)state;
    init(&stage, "PRE_EXEC = x\nMAX_PREEXEC_RETRY = 2");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    run(&stage, id, &failed);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    assert_int_equal(site_stage_attempt_of(&stage, id), 0); /* not at once */
    assert_string_equal(site_stage_job_text(&stage, id, "pending"), "retry");
    assert_string_equal(site_stage_job_text(&stage, id, "start_at"), "");
    restart(&stage);
    site_stage_pass(&stage, 3000);
    run(&stage, id, &failed);
    assert_int_equal(site_stage_state(&stage, id), JOB_PSUSP);
    assert_non_null(strstr(site_stage_job_text(&stage, id, "reason"),
                           "failed 2 times, most recently: \"x\" exited with code 4"));
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    run(&stage, id, &(struct run_exit){.end = RUN_END_EXITED, .code = 3});
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

/* A killed job ends, whatever its command before it or its exit code would have. */
static void test_killed(void **state)
{
    static const struct run_exit exits[] = {
        {.end = RUN_END_FAILED, .cause = RUN_CAUSE_PRE_EXEC, .code = 4},
        {.end = RUN_END_EXITED, .code = 99},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
        struct site_stage stage;
        init(&stage, "REQUEUE_EXIT_VALUES = 99\nPRE_EXEC = x");
        uint64_t id = site_stage_submit(&stage, "local", "work");
        site_stage_waiting(&stage, "s1", site_stage_attempt_of(&stage, id), 7);
        site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, id), 7);
        site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
        run(&stage, id, &exits[i]);
        assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
        site_stage_release(&stage);
    }
}

static void test_limit_is_named(void **state)
{
    static const struct {
        enum run_cause cause;
        const char *word;
    } rows[] = {
        {RUN_CAUSE_RUN_LIMIT, "TERM_RUNLIMIT"},
        {RUN_CAUSE_CPU_LIMIT, "TERM_CPULIMIT"},
        {RUN_CAUSE_MEM_LIMIT, "TERM_MEMLIMIT"},
        {RUN_CAUSE_SWAP_LIMIT, "TERM_SWAP"},
        {RUN_CAUSE_PROCESS_LIMIT, "TERM_PROCESSLIMIT"},
        {RUN_CAUSE_THREAD_LIMIT, "TERM_THREADLIMIT"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        init(&stage, "");
        uint64_t id = site_stage_submit(&stage, "local", "work");
        run(&stage, id,
            &(struct run_exit){
                .end = RUN_END_LIMIT, .cause = rows[i].cause, .code = 2});
        assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
        restart(&stage);
        assert_non_null(
            strstr(site_stage_job_text(&stage, id, "reason"), rows[i].word));
        assert_int_equal(site_stage_job_row(&stage, id)->exit.cause, rows[i].cause);
        site_stage_release(&stage);
    }
}

/* What the host is told, and the journal keeps of the run; the job's own record stays
 * as it was submitted. */
static void test_what_is_executed(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("local", "work");
    (void)state;
    init(&stage, "MEMLIMIT = 5 9\nPRE_EXEC = before\nPOST_EXEC = after\nNICE = 2");
    spec.app = "a";
    uint64_t id = site_stage_submit_spec(&stage, "ana", &spec);
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_non_null(start);
    const struct job_spec *told = &start->run_start.spec;
    assert_int_equal(told->n_limits, 2);
    assert_string_equal(told->limits[0], "mem=7");
    assert_string_equal(told->limits[1], "nice=2");
    assert_int_equal(told->n_pre_execs, 1);
    assert_string_equal(told->pre_execs[0], "before");
    assert_int_equal(told->n_post_execs, 2);
    assert_string_equal(told->post_execs[0], "app");
    assert_string_equal(told->post_execs[1], "after");
    assert_int_equal(start->run_start.terminate_ms, 3000);
    const struct row_run *row =
        site_stage_run_row(&stage, "south", site_stage_attempt_of(&stage, id));
    assert_int_equal(row->spec->n_post_execs, 2);
    spec.app = "nix";
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 0);
    assert_string_equal(site_stage_reply(&stage)->text,
                        "nix: No such application profile. Job not submitted.");
    site_stage_release(&stage);
}

#define MODELS(factor)                                                                 \
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"                             \
    "Begin HostModel\nMODELNAME CPUFACTOR\nSLOW 1\nFAST " factor "\nEnd HostModel\n"   \
    "Begin Host\nHOST_NAME MXJ model\ns1 4 SLOW\ns2 4 FAST\nEnd Host\n"                \
    "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"

/* The host is told what the limit is on it; the job keeps what it was given. */
static void test_cpu_limits_are_scaled(void **state)
{
    static const struct {
        const char *why, *host, *limit, *told;
    } rows[] = {
        {"the fast host", "s2", "cpu=1200000/SLOW", "cpu=300000"},
        {"the slow host", "s1", "cpu=1200000/FAST", "cpu=4800000"},
        {"a host instead of a model", "s1", "cpu=1200000/s2", "cpu=4800000"},
        {"no host", "s2", "cpu=1200000", "cpu=1200000"},
        {"after a reload", "s2", "cpu=1200000/SLOW", "cpu=600000"},
    };
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, MODELS("4"));
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_spec spec = site_stage_spec("local", "work");
        spec.hosts_asked = &rows[i].host;
        spec.n_hosts_asked = 1;
        spec.limits = &rows[i].limit;
        spec.n_limits = 1;
        if (strcmp(rows[i].why, "after a reload") == 0) {
            assert_true(site_stage_reload(&stage, MODELS("2")));
        }
        uint64_t id = site_stage_submit_spec(&stage, "ana", &spec);
        const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
        if (id == 0 || start == NULL ||
            strcmp(start->run_start.spec.limits[0], rows[i].told) != 0) {
            fail_msg("%s: %s", rows[i].why,
                     start != NULL ? start->run_start.spec.limits[0] : "not started");
        }
        const char *host = job_rlimit_host(rows[i].limit);
        if (host[0] != '\0') {
            assert_string_equal(site_stage_job_text(&stage, id, "limits.cpu_host"),
                                host);
        }
    }
    site_stage_release(&stage);
}

static void reload(struct site_stage *stage, const char *keys)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, keys);
    assert_true(site_stage_reload(stage, text));
}

static const struct job_spec *told_again(struct site_stage *stage)
{
    restart(stage);
    const struct msg *start = site_stage_sent(stage, MSG_RUN_START, 0);
    assert_non_null(start);
    return &start->run_start.spec;
}

/* What an attempt executes is what its rules made of it at its start, whatever they say
 * by the time that its host has to be told again. Where they made nothing of it, that
 * stands in the journal once, with the job. */
static void test_a_start_keeps_its_rules(void **state)
{
    static const char *const keys[] = {"MEMLIMIT = 5", "MEMLIMIT = ()"};
    for (int has_rules = 0; has_rules < 2; has_rules++) {
        struct site_stage stage;
        (void)state;
        init(&stage, keys[!has_rules]);
        uint64_t id = site_stage_submit(&stage, "local", "work");
        uint64_t attempt = site_stage_attempt_of(&stage, id);
        const struct row_run *row = site_stage_run_row(&stage, "south", attempt);
        assert_int_equal(row != NULL && row->spec != NULL, has_rules);
        reload(&stage, keys[has_rules]);
        const struct job_spec *told = told_again(&stage);
        assert_string_equal(told->command, "work");
        assert_int_equal(told->n_limits, has_rules);
        site_stage_waiting(&stage, "s1", attempt, 7); /* a row without the spec */
        told = site_stage_run_row(&stage, "south", attempt)->spec;
        assert_int_equal(told != NULL, has_rules);
        site_stage_running(&stage, "s1", attempt, 7);
        site_stage_exited(&stage, "s1", attempt, 0);
        assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
        site_stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pre_exec_aborts),
        cmocka_unit_test(test_requeues_are_counted),
        cmocka_unit_test(test_hosts_are_avoided),
        cmocka_unit_test(test_pre_exec_tries),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_limit_is_named),
        cmocka_unit_test(test_what_is_executed),
        cmocka_unit_test(test_cpu_limits_are_scaled),
        cmocka_unit_test(test_a_start_keeps_its_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
