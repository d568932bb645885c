/* SPDX-License-Identifier: Apache-2.0 */
/* test_play.c: the time and events of a scenario, and its expectations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sim/play_stage.h"

static struct play_stage stage;

static int close_stage(void **state)
{
    play_stage_close(&stage);
    return 0;
}

/* Plays the text without any remark: its expectations hold. */
static void holds(const char *text)
{
    play_stage_play(&stage, 1, text);
    assert_string_equal(play_stage_remarks(&stage), "");
    assert_string_equal(play_violation(stage.play), "");
    assert_int_equal(stage.end, PLAY_WELL);
}

/* The events contain `parts`, in that order. */
static void check_events(const char *const *parts)
{
    const char *at = stage.events ? stage.events : "";

    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);

        if (!found) {
            fail_msg("\"%s\" is not reported in its place:\n%s", *parts, stage.events);
        }
        at = found + 1;
    }
}

/* ---- time */

static void scheduling_and_lending_take_no_time(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=10m name=a count=3\n"
                      "until 1h\n"
                      "expect at 0 job south a[2] state == RUN\n"
                      "expect at 0 job south a[3] state == RUN\n"
                      "expect at 0 job south a[3] hosts.n1@north == 1\n"
                      "expect at 0 job south a[3] start_at == 0\n"
                      "expect at 0 lease north/spare/south state == active\n"
                      "expect at 599 job south a[3] state == RUN\n"
                      "expect at 10m job south a[3] state == DONE\n"
                      "expect at 10m job south a[3] run_s == 600\n");
    check_events((const char *const[]){
        "0 job_submit south a[3]", "0 lease_made north/spare/south",
        "0 job_start south a[3]", "600 job_end south a[3]", NULL});
    assert_int_equal(play_stage_count(&stage, "lease_made"), 1);
}

static void jobs_go_where_their_requirements_are_met(void **state)
{
    holds("site north north.conf\n"
          "at 0 submit north run=10m name=a res=\"hname == n2\"\n"
          "at 0 submit north run=10m name=b res=\"select[hname == n9] order[slots]\"\n"
          "until 1h\n"
          "expect at 0 job north a hosts.n2 == 1\n"
          "expect at 30m job north a state == DONE\n"
          "expect at 30m job north b state == PEND\n");
}

static void a_lease_is_rebalanced_at_creation_plus_k_delays(void **state)
{
    /* three jobs at 90 s make it; the default delay is 10 minutes */
    holds(STAGE_SITES
          "at 90 submit south run=2h name=a count=4\n"
          "until 1h\n"
          "expect at 689 lease north/spare/south consumer.available == 1\n"
          "expect at 690 lease north/spare/south consumer.available == 8\n"
          "expect at 690 lease north/spare/south next_rebalance_at == 1290\n"
          "expect at 690 job south a[4] state == RUN\n"
          "expect at 1290 lease north/spare/south provider.available == 6\n");
    check_events((const char *const[]){"690 lease_inactive", "690 lease_active",
                                       "690 job_start south a[4]",
                                       "1290 lease_inactive", NULL});
}

static void a_changed_delay_counts_from_the_last_instant(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=2h name=a count=4\n"
                      "at 15m set reclaim_delay 3m provider=north\n"
                      "at 40m set reclaim_delay default provider=north\n"
                      "until 1h\n"
                      "expect at 15m lease north/spare/south reclaim_delay_s == 3m\n"
                      "expect at 15m lease north/spare/south next_rebalance_at == 18m\n"
                      "expect at 40m lease north/spare/south reclaim_delay_s == 10m\n");
    check_events(
        (const char *const[]){"600 lease_inactive", "900 lease_inactive", NULL});
}

static void jobs_wait_for_dependencies_and_are_moved(void **state)
{
    holds("site alone alone.conf\n"
          "at 0 submit alone run=10m name=a slots=8\n"
          "at 0 submit alone run=10m name=b slots=8\n"
          "at 0 submit alone run=10m name=c slots=8 after=\"ended(b)\" project=p\n"
          "at 0 submit alone run=10m name=d slots=8 begin=5m\n"
          "at 1m switch alone b urgent\n"
          "at 2m requeue alone a\n"
          "at 21m queue alone normal inactivate\n"
          "at 25m queue alone normal activate\n"
          "until 1h\n"
          "expect at 0 job alone c pending == dependency\n"
          "expect at 0 job alone d pending == begin_time\n"
          "expect at 2m job alone b state == RUN\n"
          "expect at 12m job alone a state == RUN\n"
          "expect at 22m job alone c pending == queue_inactive\n"
          "expect at 25m job alone c state == RUN\n"
          "expect at 35m job alone d state == RUN\n");
    check_events((const char *const[]){"120 job_requeue alone a",
                                       "120 job_start alone b", "720 job_start alone a",
                                       NULL});
}

static void a_suspended_job_that_is_requeued_does_not_resume(void **state)
{
    holds("site alone preempt.conf\n"
          "at 0 submit alone run=10m name=a slots=8\n"
          "at 1m submit alone run=10m name=u slots=8 queue=urgent\n"
          "at 2m requeue alone a\n"
          "at 20m submit alone run=20m name=v slots=8 queue=urgent\n"
          "at 22m kill alone a\n"
          "until 1h\n"
          "expect at 2m job alone a state == PEND\n"
          "expect at 22m job alone a state == EXIT\n");
    check_events((const char *const[]){
        "60 job_suspend alone a", "120 job_requeue alone a", "660 job_start alone a",
        "1200 job_suspend alone a", "1320 job_end alone a", NULL});
    assert_int_equal(play_stage_count(&stage, "job_resume"), 0);
}

static void a_value_that_does_nothing_is_refused(void **state)
{
    play_stage_play(&stage, 1,
                    "site north north.conf\n"
                    "at 1m load north n1 mem=5 ncpus=4 nothing=1\n"
                    "until 1h\n");
    assert_string_equal(
        play_stage_remarks(&stage),
        "2: at 1m load north n1 mem=5 ncpus=4 nothing=1: refused: ncpus: the site sets "
        "it itself\n"
        "2: at 1m load north n1 mem=5 ncpus=4 nothing=1: refused: nothing: the site "
        "does "
        "not define it\n");
}

static void statements_of_an_instant_come_before_scheduling(void **state)
{
    /* the urgent jobs come after the others in the file */
    holds("site alone alone.conf\n"
          "at 0 submit alone run=10m name=a slots=8\n"
          "at 10m submit alone run=10m name=b slots=8\n"
          "at 10m submit alone run=10m name=c slots=8 queue=urgent\n"
          "until 1h\n"
          "expect at 10m job alone a state == DONE\n"
          "expect at 10m job alone b state == PEND\n"
          "expect at 10m job alone c state == RUN\n"
          "expect at 20m job alone b state == RUN\n");
}

static void ends_of_an_instant_are_scheduled_together(void **state)
{
    /* eight jobs end at once: the job of eight slots, which is older, gets them */
    holds("site alone alone.conf\n"
          "at 0 submit alone run=10m name=a count=8\n"
          "at 1m submit alone run=10m name=large slots=8\n"
          "at 2m submit alone run=10m name=small count=8\n"
          "until 1h\n"
          "expect at 10m job alone large state == RUN\n"
          "expect at 10m job alone small[1] state == PEND\n");
}

/* ---- statements */

static void jobs_are_stopped_resumed_and_killed(void **state)
{
    holds("site north north.conf\n"
          "at 0 submit north run=10m name=a count=2\n"
          "at 2m stop north a[1]\n"
          "at 5m resume north a[1]\n"
          "at 6m kill north a[2]\n"
          "until 1h\n"
          "expect at 2m job north a[1] state == USUSP\n"
          "expect at 2m host north n1 ususp == 1\n"
          "expect at 5m job north a[1] state == RUN\n"
          "expect at 6m job north a[2] state == EXIT\n"
          "expect at 6m job north a[2] exit_code == 130\n"
          "expect at 779 job north a[1] state == RUN\n"
          "expect at 780 job north a[1] state == DONE\n"); /* RUN for 10 m, suspended
                                                              for 3 m */
    check_events((const char *const[]){
        "120 job_suspend north a[1] user", "300 job_resume north a[1]",
        "360 job_kill north a[2] user", "360 job_end north a[2]",
        "780 job_end north a[1]", NULL});
}

/* A job that is not rerunnable is never started again, whatever has died. */
static void hosts_fail(void **state)
{
    static const struct {
        const char *what;
        const char *state_of_job, *state_of_rerunnable; /* at 10 m */
    } rows[] = {
        {"machine 1m", "EXIT", "RUN"},
        {"disk 1m", "EXIT", "RUN"},
        {"guards", "EXIT", "RUN"},
        {"agent 1m", "DONE", "DONE"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];

        print_message("%s\n", rows[i].what);
        snprintf(text, sizeof text,
                 "site alone alone.conf\n"
                 "at 0 submit alone run=9m name=job hosts=n1\n"
                 "at 0 submit alone run=9m name=again rerun=yes hosts=n1\n"
                 "at 2m fail alone n1 %s\n"
                 "until 1h\n"
                 "expect at 1m host alone n1 run == 2\n"
                 "expect at 150 host alone n1 status == %s\n"
                 "expect at 10m job alone job state == %s\n"
                 "expect at 10m job alone again state == %s\n"
                 "expect at 20m job alone again state == DONE\n",
                 rows[i].what, strstr(rows[i].what, "1m") ? "unavail" : "ok",
                 rows[i].state_of_job, rows[i].state_of_rerunnable);
        close_stage(state);
        holds(text);
    }
}

static void hosts_are_slow(void **state)
{
    holds(
        "site alone alone.conf\n"
        "at 0 slow alone n1 3s\n"
        "at 1m submit alone run=1m name=job\n"
        "until 1h\n"
        "expect at 71 job alone job state == PEND\n" /* START, WAITING, GO, RUNNING */
        "expect at 72 job alone job state == RUN\n"
        "expect at 131 job alone job state == RUN\n" /* it began after three of them */
        "expect at 132 job alone job state == DONE\n");
}

static void names_are_known_when_batches_are_small(void **state)
{
    holds("site alone alone.conf\n"
          "at 0 batch 1\n"
          "at 1 submit alone run=10m name=a\n"
          "at 1 submit alone run=10m name=b count=2\n"
          "at 2 kill alone a\n"
          "until 1h\n"
          "expect at 2 job alone a state == EXIT\n"
          "expect at 2 job alone b[2] state == RUN\n");
}

static void a_name_refers_to_all_its_jobs(void **state)
{
    holds("site north north.conf\n"
          "at 0 submit north run=10m name=a count=12\n"
          "at 1m kill north a\n"
          "until 1h\n"
          "expect at 1m job north a[1] state == EXIT\n"
          "expect at 1m job north a[12] state == EXIT\n"
          "expect at 1m queue north normal njobs == 0\n");
    assert_int_equal(play_stage_count(&stage, "job_kill"), 12);
}

static void jobs_end_by_their_command_or_limit(void **state)
{
    holds("site north north.conf\n"
          "at 0 submit north run=10m name=well\n"
          "at 0 submit north run=10m name=badly exit=3\n"
          "at 0 submit north run=10m name=long limit=4m\n"
          "at 0 submit north run=0 name=none\n"
          "until 1h\n"
          "expect at 1h job north well exit_code == 0\n"
          "expect at 1h job north badly state == EXIT\n"
          "expect at 1h job north badly exit_code == 3\n"
          "expect at 1h job north long end_at == 4m\n"
          "expect at 1h job north long state == EXIT\n"
          "expect at 0 job north none state == DONE\n");
    check_events((const char *const[]){"0 job_start north none", "0 job_end north none",
                                       "240 job_kill north long limit",
                                       "240 job_end north long", NULL});
}

static void a_refusal_of_a_site_is_a_note(void **state)
{
    play_stage_play(&stage, 1,
                    "site north north.conf\n"
                    "at 0 submit north run=1m name=a\n"
                    "at 5m kill north a\n"
                    "at 1h submit north run=1m name=b\n"
                    "at 6m stop north b\n");
    assert_int_equal(stage.end, PLAY_WELL);
    assert_string_equal(play_stage_remarks(&stage),
                        "3: at 5m kill north a: refused: Job <1>: job has already "
                        "finished\n"
                        "5: at 6m stop north b: refused: not submitted yet\n");
}

static void a_trace_is_submitted_in_its_time(void **state)
{
    holds(
        "site north north.conf\n"
        "at 1h workload north two.swf queue=urgent scale=2\n"
        "until 2h\n"
        "expect at 1h queue north urgent run == 2\n"
        "expect at 3719 queue north urgent njobs == 0\n"
        "expect at 3720 queue north urgent run == 1\n"); /* 60 s later, twice as slow */
    check_events((const char *const[]){"3600 job_submit north two:1",
                                       "3660 job_end north two:1",
                                       "3720 job_submit north two:2", NULL});
}

/* q1 exists, q2 does not; an unknown queue is not a queue. */
static void a_trace_names_queues(void **state)
{
    holds("site north queues.conf\n"
          "at 0 workload north queues.swf\n"
          "at 2m workload north queues.swf queue=normal\n"
          "until 4m\n"
          "expect at 0 queue north q1 run == 1\n"
          "expect at 0 queue north normal run == 2\n"
          "expect at 2m queue north q1 njobs == 0\n"
          "expect at 2m queue north normal run == 3\n");
}

static void hosts_shrink_grow_and_are_removed(void **state)
{
    holds(STAGE_SITES "at 0 submit north run=30m name=a count=7\n"
                      "at 1m submit north run=30m name=r rerun=yes\n"
                      "at 5m slots north n1 2\n"
                      "at 40m slots north n2 0\n"
                      "at 45m slots north n1 6\n"
                      "until 2h\n"
                      "expect at 5m host north n1 max == 2\n"
                      "expect at 5m job north a[7] state == RUN\n" /* a smaller number
                                                                      stops nothing */
                      "expect at 30m job north r state == RUN\n"
                      "expect at 40m host north n2 max == 0\n"
                      "expect at 45m host north n1 max == 6\n"
                      "expect at 2h job north r state == DONE\n");
}

/* ---- faults */

static void a_silent_site_is_lost_and_returns(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=10m name=a count=3\n"
                      "at 5m partition south 2m\n"
                      "until 1h\n"
                      "expect at 310 site south status == ok\n"
                      "expect at 6m site south status == disc\n"
                      "expect at 6m lease north/spare/south status == disc\n"
                      "expect at 8m site south status == ok\n"
                      "expect at 20m job south a[3] state == DONE\n");
    check_events(
        (const char *const[]){"300 fault", "site_lost south", "site_back south", NULL});
}

static void statements_about_a_site_that_is_down_are_delayed(void **state)
{
    holds("site north north.conf\n"
          "at 0 submit north run=1h name=a\n"
          "at 1m crash north 10m\n"
          "at 5m submit north run=1m name=b\n"
          "at 6m kill north a\n"
          "until 1h\n"
          "expect at 11m job north b submit_at == 11m\n"
          "expect at 11m job north a state == EXIT\n");
    check_events((const char *const[]){"60 fault", "660 job_submit north b", NULL});
}

/* A smaller host, a new host, another queue; running jobs continue. A site that is down
 * restarts with the new configuration. */
static void a_site_is_reloaded(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=30m name=a count=2\n"
                      "at 10m reload south later.conf\n"
                      "at 10m submit south run=5m name=b queue=late count=3\n"
                      "until 1h\n"
                      "expect at 10m job south a[2] state == RUN\n"
                      "expect at 10m host south s1 max == 1\n"
                      "expect at 10m host south s2 status == closed_Full\n"
                      "expect at 10m job south b[3] hosts.s2 == 1\n"
                      "expect at 30m job south a[2] state == DONE\n");
    play_stage_close(&stage);
    holds(STAGE_SITES "at 1m crash south 2m\nat 2m reload south later.conf\n"
                      "until 1h\n"
                      "expect at 4m host south s2 status == ok\n");
}

/* A former member gets no new slots. */
static void members_are_reloaded(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=30m name=a count=3\n"
                      "at 10m reload broker lonely.conf\n"
                      "at 40m reload broker broker.conf\n"
                      "until 1h\n"
                      "expect at 10m lease north/spare/south state == draining\n"
                      "expect at 30m lease north/spare/south state == ended\n"
                      "expect at 40m lease north/spare/south state == pending\n");
}

/* An old journal knows neither the contract nor the run: nothing moves, and nothing of
 * it is lost, until an administrator decides. */
static void a_restored_site_is_recovered(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=3h name=a count=3\n"
                      "at 1m backup north\n"
                      "at 1m backup south\n"
                      "at 2m submit south run=2h name=b\n"
                      "at 2m submit north run=2h name=c count=6\n"
                      "at 40m restore north 1m\n"
                      "at 40m restore south 1m\n"
                      "at 50m recover north end\n"
                      "at 50m recover south adopt\n"
                      "until 2h\n"
                      "expect at 39m lease north/spare/south behind_epoch == null\n"
                      "expect at 45m lease north/spare/south behind_epoch == 1\n"
                      "expect at 55m lease north/spare/south behind_epoch == null\n");
}

static void jobs_survive_crashes_of_every_daemon(void **state)
{
    holds(STAGE_SITES "at 0 submit south run=30m name=a count=3\n"
                      "at 5m crash south 1m\n"
                      "at 6m crash north 1m\n"
                      "at 7m crash broker 1m\n"
                      "until 1h\n"
                      "expect at 10m job south a[3] state == RUN\n"
                      "expect at 30m job south a[3] state == DONE\n"
                      "expect at 30m job south a[3] run_s == 30m\n");
    assert_int_equal(play_stage_count(&stage, "job_start"), 3);
    assert_int_equal(play_counts(stage.play).crashes, 3);
}

static void a_bad_network_loses_no_job(void **state)
{
    char text[256];

    holds(STAGE_SITES
          "at 0 loss 20%\nat 0 repeat 20%\nat 0 delay 50s\nat 0 reorder 3\n"
          "at 0 crashes 1% 5s\nat 1m batch 1\n"
          "at 10 submit south run=1m name=a count=20 rerun=yes\n"
          "at 20m loss 0\nat 20m repeat 0\nat 20m delay 0\nat 20m reorder 0\n"
          "at 20m crashes 0\n"
          "until 30m\n");
    assert_true(play_settle(stage.play, 3600000, text, sizeof text));
}

/* ---- expectations */

static void an_expectation_that_fails_shows_both_values(void **state)
{
    play_stage_play(&stage, 1,
                    STAGE_SITES "at 0 submit south run=10m name=a\n"
                                "expect at 1m job south a state == DONE\n"
                                "expect at 1m job south a colour == red\n"
                                "expect at 1m lease north/none/south epoch == 1\n"
                                "expect at 0 job south a end_at != null\n");
    assert_int_equal(stage.end, PLAY_FAILED);
    const char *remarks = play_stage_remarks(&stage);
    assert_non_null(strstr(remarks,
                           "4: expect at 1m job south a state == DONE: expected "
                           "== DONE, found \"RUN\"\n"));
    assert_non_null(strstr(remarks,
                           "5: expect at 1m job south a colour == red: no such "
                           "field, expected one of id name state"));
    assert_non_null(strstr(remarks,
                           "6: expect at 1m lease north/none/south epoch == 1: "
                           "found nothing: there is none\n"));
    assert_non_null(strstr(remarks, "expected != null, found null\n"));
}

/* ---- repetition */

static const char random_text[] =
    STAGE_SITES "at 0 loss 10%\nat 0 reorder 2\nat 0 crashes 1% 5s\n"
                "at 1 submit south run=1m name=a count=20 rerun=yes\n"
                "at 2 submit north run=2m name=b count=10\n"
                "until 30m\n";

static void the_same_seed_gives_the_same_events(void **state)
{
    struct play_stage again, other;

    play_stage_play(&stage, 7, random_text);
    play_stage_play(&again, 7, random_text);
    play_stage_play(&other, 8, random_text);
    assert_string_equal(stage.events, again.events);
    assert_int_equal(play_counts(stage.play).steps, play_counts(again.play).steps);
    assert_string_not_equal(stage.events, other.events);
    play_stage_close(&again);
    play_stage_close(&other);
}

/* The site crashes while each of two commands runs. */
static void commands_of_a_job_survive_a_crash_of_its_site(void **state)
{
    holds("site around around.conf\n"
          "at 0 command /bin/in 1m\n"
          "at 0 command /bin/out 2m\n"
          "at 0 command /bin/save 30s\n"
          "at 0 submit around run=10m name=a\n"
          "at 30 crash around 20\n"
          "at 5m submit around run=1m name=b queue=urgent\n"
          "at 310 crash around 10\n"
          "until 1h\n"
          "expect at 329 job around a state == RUN\n"
          "expect at 340 job around a state == SSUSP\n"
          "expect at 340 job around b state == RUN\n"
          "expect at 400 job around a state == RUN\n"
          "expect at 839 job around a state == RUN\n"
          "expect at 840 job around a state == DONE\n");
}

static void pre_execution_commands_are_killed_with_their_job(void **state)
{
    holds("site around around.conf\n"
          "at 0 command /bin/in 1m\n"
          "at 0 command /bin/out 2m\n"
          "at 0 submit around run=10m name=a\n"
          "at 30 kill around a\n"
          "until 1h\n"
          "expect at 149 job around a state == RUN\n"
          "expect at 150 job around a state == EXIT\n");
    check_events(
        (const char *const[]){"0 job_start around a", "150 job_end around a", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(scheduling_and_lending_take_no_time, close_stage),
        cmocka_unit_test_teardown(jobs_go_where_their_requirements_are_met,
                                  close_stage),
        cmocka_unit_test_teardown(a_lease_is_rebalanced_at_creation_plus_k_delays,
                                  close_stage),
        cmocka_unit_test_teardown(a_changed_delay_counts_from_the_last_instant,
                                  close_stage),
        cmocka_unit_test_teardown(jobs_wait_for_dependencies_and_are_moved,
                                  close_stage),
        cmocka_unit_test_teardown(a_suspended_job_that_is_requeued_does_not_resume,
                                  close_stage),
        cmocka_unit_test_teardown(a_value_that_does_nothing_is_refused, close_stage),
        cmocka_unit_test_teardown(statements_of_an_instant_come_before_scheduling,
                                  close_stage),
        cmocka_unit_test_teardown(ends_of_an_instant_are_scheduled_together,
                                  close_stage),
        cmocka_unit_test_teardown(jobs_are_stopped_resumed_and_killed, close_stage),
        cmocka_unit_test_teardown(hosts_fail, close_stage),
        cmocka_unit_test_teardown(hosts_are_slow, close_stage),
        cmocka_unit_test_teardown(names_are_known_when_batches_are_small, close_stage),
        cmocka_unit_test_teardown(a_name_refers_to_all_its_jobs, close_stage),
        cmocka_unit_test_teardown(jobs_end_by_their_command_or_limit, close_stage),
        cmocka_unit_test_teardown(a_refusal_of_a_site_is_a_note, close_stage),
        cmocka_unit_test_teardown(a_trace_is_submitted_in_its_time, close_stage),
        cmocka_unit_test_teardown(a_trace_names_queues, close_stage),
        cmocka_unit_test_teardown(hosts_shrink_grow_and_are_removed, close_stage),
        cmocka_unit_test_teardown(a_silent_site_is_lost_and_returns, close_stage),
        cmocka_unit_test_teardown(statements_about_a_site_that_is_down_are_delayed,
                                  close_stage),
        cmocka_unit_test_teardown(a_site_is_reloaded, close_stage),
        cmocka_unit_test_teardown(members_are_reloaded, close_stage),
        cmocka_unit_test_teardown(a_restored_site_is_recovered, close_stage),
        cmocka_unit_test_teardown(jobs_survive_crashes_of_every_daemon, close_stage),
        cmocka_unit_test_teardown(a_bad_network_loses_no_job, close_stage),
        cmocka_unit_test_teardown(an_expectation_that_fails_shows_both_values,
                                  close_stage),
        cmocka_unit_test_teardown(commands_of_a_job_survive_a_crash_of_its_site,
                                  close_stage),
        cmocka_unit_test_teardown(pre_execution_commands_are_killed_with_their_job,
                                  close_stage),
        cmocka_unit_test_teardown(the_same_seed_gives_the_same_events, close_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
