/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs on borrowed hosts: "south" is the consumer of north/spare/south. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "model/job_id.h"
#include "tests/unit/site/site_stage.h"

static void init(struct site_stage *stage)
{
    site_stage_init(stage);
    site_stage_broker_up(stage);
}

/* A job on the lease, its START sent; returns the attempt. */
static uint64_t start_job(struct site_stage *stage, const struct job_spec *spec,
                          uint64_t *id)
{
    init(stage);
    site_stage_contract(stage, 1, LEASE_PENDING, 1, false);
    *id = site_stage_submit_spec(stage, "ana", spec);
    return site_stage_attempt_of(stage, *id);
}

static void says_ended(struct site_stage *stage, uint64_t attempt, enum run_end end,
                       int code, int64_t start_ms, int64_t out_bytes)
{
    struct msg_attempt_state fill = {.state = ATTEMPT_ENDED,
                                     .exit = {.end = end,
                                              .code = code,
                                              .start_ms = start_ms,
                                              .end_ms = stage->now_ms,
                                              .cpu_ms = 1500,
                                              .mem_kib = 2048,
                                              .out_bytes = out_bytes,
                                              .text = "it does not exist any more"}};
    site_stage_attempt(stage, attempt, &fill);
}

static void test_life(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    const struct msg *start = site_stage_sent(&stage, MSG_START, 0);
    assert_non_null(start);
    assert_string_equal(start->site, "north");
    assert_int_equal(start->session, stage.session);
    assert_int_equal(start->start.run.attempt, attempt);
    assert_string_equal(start->start.run.site, "south");
    assert_string_equal(start->start.lease, "north/spare/south");
    assert_int_equal(start->start.epoch, 1);
    assert_string_equal(start->start.hosts[0].host, "n1"); /* the provider's name */
    assert_int_equal(site_stage_job_row(&stage, id)->attempt, attempt);
    assert_false(site_stage_job_row(&stage, id)->is_decided);

    site_stage_attempt_is(&stage, attempt, ATTEMPT_TAKEN);
    assert_true(site_stage_job_row(&stage, id)->is_decided);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    assert_int_equal(site_stage_job_int(&stage, id, "hosts.n1@north"), 1);
    assert_string_equal(site_stage_job_text(&stage, id, "lease"), "north/spare/south");
    assert_int_equal(site_stage_job_int(&stage, id, "epoch"), 1);
    says_ended(&stage, attempt, RUN_END_EXITED, 0, 50, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    assert_int_equal(site_stage_job_int(&stage, id, "mem_kib"), 2048);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 1);
    site_stage_restart(&stage); /* told again, and all that is forgotten here */
    site_stage_broker_up(&stage);
    says_ended(&stage, attempt, RUN_END_EXITED, 0, 50, 0);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 1);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

/* The order of candidates: an own host first, whatever is borrowed. */
static void test_own_first(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    for (int i = 0; i < 4; i++) {
        site_stage_submit(&stage, "normal", "work");
    }
    assert_string_equal(site_stage_job_text(&stage, 1, "lease"), "");
    assert_string_equal(site_stage_job_text(&stage, 2, "lease"), "");
    assert_string_equal(site_stage_job_text(&stage, 3, "lease"), "north/spare/south");
    assert_int_equal(site_stage_attempt_of(&stage, 4), 0);
    /* More of the lease comes over: it starts. */
    site_stage_contract(&stage, 2, LEASE_ACTIVE, 2, true);
    assert_int_equal(site_stage_sent(&stage, MSG_START, 0)->start.epoch, 2);
    site_stage_release(&stage);
}

/* Slots of the lease that are its provider's now may come over: who fits into all of
 * them waits for these, and is not too large. */
static void test_slots_that_may_come(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    (void)state;
    init(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 0, true);
    spec.n_slots = 4;
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 1);
    assert_string_equal(site_stage_job_text(&stage, 1, "pending"), "busy");
    spec.n_slots = 5;
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 2);
    assert_string_equal(site_stage_job_text(&stage, 2, "pending"), "too_large");
    site_stage_release(&stage);
}

/* Its input file is nowhere but here. */
static void test_input_file(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("normal", "work");
    (void)state;
    init(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    spec.in_file = "/home/ana/in";
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 1);
    assert_int_equal(site_stage_attempt_of(&stage, 1), 0);
    spec.in_file = "/dev/null";
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 2);
    assert_non_null(site_stage_sent(&stage, MSG_START, 0));
    spec.in_file = "/home/ana/in";
    spec.queue = "lease";
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 0);
    assert_string_equal(
        site_stage_reply(&stage)->text,
        "-i /home/ana/in: input files are read on the site's own "
        "hosts, and queue <lease> has none of them. Job not submitted.");
    site_stage_host_up(&stage, "s1");
    assert_true(site_stage_attempt_of(&stage, 1) != 0);
    assert_string_equal(site_stage_job_text(&stage, 1, "lease"), "");
    site_stage_release(&stage);
}

static void test_named_host(void **state)
{
    static const char *const asked[] = {"n1@north"};
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("normal", "work");
    (void)state;
    spec.hosts_asked = asked;
    spec.n_hosts_asked = 1;
    init(&stage);
    site_stage_contract(&stage, 1, LEASE_PENDING, 1, false);
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 0);
    assert_int_equal(site_stage_reply(&stage)->code, ERR_NOT_FOUND);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 1);
    assert_non_null(site_stage_sent(&stage, MSG_START, 0));
    site_stage_release(&stage);
}

static void test_refused(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    struct msg_attempt_state fill = {.state = ATTEMPT_REFUSED, .reason = "frozen"};
    site_stage_attempt(&stage, attempt, &fill);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    assert_int_equal(site_stage_attempt_of(&stage, id), 0); /* not at once again */
    assert_string_equal(site_stage_job_row(&stage, id)->reason,
                        "refused by north/spare/south: frozen");
    site_stage_pass(&stage, 1200);
    uint64_t second = site_stage_attempt_of(&stage, id);
    assert_true(second > attempt);
    site_stage_attempt(&stage, second, &fill);
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    site_stage_contract(&stage, 2, LEASE_ACTIVE, 1, true); /* it has changed: now */
    assert_true(site_stage_attempt_of(&stage, id) > second);
    site_stage_release(&stage);
}

static void test_lost(void **state)
{
    static const struct {
        const char *why;
        bool has_run, is_rerunnable;
        enum attempt_state said; /* or ENDED with a loss */
        int64_t start_ms;
        enum job_state state;
    } rows[] = {
        {"never known to run", false, false, ATTEMPT_LOST, 0, JOB_PEND},
        {"was running", true, false, ATTEMPT_LOST, 0, JOB_EXIT},
        {"was running, rerunnable", true, true, ATTEMPT_LOST, 0, JOB_PEND},
        {"admitted by a journal that was lost", false, false, ATTEMPT_ABSENT, 0,
         JOB_EXIT},
        {"the same, rerunnable", false, true, ATTEMPT_ABSENT, 0, JOB_PEND},
        {"its host went before it began", false, false, ATTEMPT_ENDED, 0, JOB_PEND},
        {"the provider knows that it may have begun", false, false, ATTEMPT_ENDED, 9,
         JOB_EXIT},
        {"it may have begun, rerunnable", false, true, ATTEMPT_ENDED, 9, JOB_PEND},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        struct job_spec spec = site_stage_spec("lease", "work");
        uint64_t id;
        spec.is_rerunnable = rows[i].is_rerunnable;
        uint64_t attempt = start_job(&stage, &spec, &id);
        site_stage_attempt_is(&stage, attempt, ATTEMPT_TAKEN);
        if (rows[i].has_run) {
            site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
        }
        if (rows[i].said == ATTEMPT_ENDED) {
            says_ended(&stage, attempt, RUN_END_LOST, 0, rows[i].start_ms, 0);
            assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 1);
        } else {
            site_stage_attempt_is(&stage, attempt, rows[i].said);
        }
        if (site_stage_state(&stage, id) != rows[i].state) {
            fail_msg("%s: state %d", rows[i].why, (int)site_stage_state(&stage, id));
        }
        if (rows[i].state == JOB_PEND) {
            assert_true(site_stage_attempt_of(&stage, id) > attempt);
        }
        site_stage_release(&stage);
    }
}

/* A kill while nobody has decided: it goes out with the decision, or is the end. */
static void test_kill_undecided(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_CONTROL), 0);
    assert_true(site_stage_job_row(&stage, id)->is_killed);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_TAKEN);
    const struct msg *order = site_stage_sent(&stage, MSG_ATTEMPT_CONTROL, 0);
    assert_non_null(order);
    assert_int_equal(order->lifecycle_control.control.action, CONTROL_KILL);
    says_ended(&stage, attempt, RUN_END_SIGNALLED, 9, 0, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"), "killed by ana");
    site_stage_release(&stage);

    attempt = start_job(&stage, &spec, &id);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_REFUSED);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_pass(&stage, 3000);
    assert_int_equal(site_stage_count(&stage, MSG_START), 0);
    site_stage_release(&stage);
}

static void test_stop_and_resume(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    const struct msg *order = site_stage_sent(&stage, MSG_ATTEMPT_CONTROL, 0);
    assert_int_equal(order->lifecycle_control.control.number, 1);
    struct msg_attempt_state fill = {
        .state = ATTEMPT_SUSPENDED, .start_ms = 50, .control_done = 1};
    site_stage_attempt(&stage, attempt, &fill);
    assert_int_equal(site_stage_state(&stage, id), JOB_USUSP);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    fill = (struct msg_attempt_state){
        .state = ATTEMPT_RUNNING, .start_ms = 50, .control_done = 2};
    site_stage_attempt(&stage, attempt, &fill);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    /* Refused while it is to be held: it waits, held. */
    site_stage_release(&stage);
    attempt = start_job(&stage, &spec, &id);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_REFUSED);
    assert_int_equal(site_stage_state(&stage, id), JOB_PSUSP);
    site_stage_release(&stage);
}

/* Silence and restarts: the same attempt is asked for, never a second one. */
static void test_restart_undecided(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_PENDING, 1, false);
    site_stage_pass(&stage, 2000);
    bool is_asked = false;
    for (int i = 0; i < site_stage_count(&stage, MSG_START); i++) {
        const struct msg *start = site_stage_sent(&stage, MSG_START, i);
        assert_int_equal(start->start.run.attempt, attempt);
        assert_string_equal(start->start.spec.command, "work");
        is_asked = true;
    }
    is_asked = is_asked || site_stage_count(&stage, MSG_ATTEMPT_ASK) > 0;
    assert_true(is_asked);
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

/* Only the provider of its lease may speak of an attempt. */
static void test_wrong_provider(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    struct msg msg = {.kind = MSG_ATTEMPT_STATE, .site = "west"};
    msg.attempt_state = (struct msg_attempt_state){.run = {"south", attempt},
                                                   .state = ATTEMPT_RUNNING,
                                                   .exit = {.text = ""},
                                                   .reason = ""};
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    msg.site = "north";
    msg.attempt_state.run.site = "east";
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    msg.attempt_state.run.site = "south";
    stage.session--; /* of an earlier session */
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    site_stage_release(&stage);
}

static void test_output_comes_home(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    spec.out_file = "out.%J";
    spec.uid = 1001;
    uint64_t attempt = start_job(&stage, &spec, &id);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    says_ended(&stage, attempt, RUN_END_EXITED, 0, 50, 5);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN); /* not before it is here */
    const struct msg *ask = site_stage_sent(&stage, MSG_OUTPUT_ASK, 0);
    assert_non_null(ask);
    struct msg piece = {.kind = MSG_OUTPUT, .site = "north"};
    piece.output = (struct msg_output){.run = {"south", attempt},
                                       .request = ask->output_ask.request,
                                       .stream = OUTPUT_OUT,
                                       .bytes = (const uint8_t *)"hello",
                                       .n_bytes = 5,
                                       .is_end = true};
    site_stage_broker(&stage, &piece);
    const struct effect *effect = site_stage_effect(&stage, EFFECT_WRITE);
    assert_non_null(effect);
    assert_string_equal(effect->write.path, "/home/ana/out.1");
    assert_int_equal(effect->write.uid, 1001);
    assert_int_equal(effect->write.n_bytes, 5);
    assert_memory_equal(effect->write.bytes, "hello", 5);
    struct event written = {.kind = EVENT_WRITTEN,
                            .written = {.job = job_id_key(id, 0)}};
    site_stage_event(&stage, &written);
    site_stage_pass(&stage, 100);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

/* Users pay for the time of their runs with their shares, and ended jobs are cleaned by
 * their age: a provider with another clock, or that lies, changes neither. */
static void test_times_of_a_provider_are_bounded(void **state)
{
    enum { PAST = 5000, HOUR = 3600000 };
    static const struct {
        const char *why;
        int64_t start_ms, end_ms; /* since the dispatch */
        int64_t ran_ms;
    } rows[] = {
        {"as it was", 1000, 4000, 3000},
        {"an hour behind", 1000 - HOUR, 4000 - HOUR, 3000},
        {"an hour ahead", 1000 + HOUR, 4000 + HOUR, 3000},
        {"since long before it was submitted", -HOUR, 4000, 4000},
        {"for longer than it can have", -HOUR, 4000 + HOUR, PAST},
        {"it ended before it began", 4000, 1000, 0},
        {"until the end of time", 1000, TOLD_NUMBER_MAX, PAST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        struct job_spec spec = site_stage_spec("lease", "work");
        uint64_t id;
        uint64_t attempt = start_job(&stage, &spec, &id);
        int64_t from_ms = stage.now_ms;
        site_stage_pass(&stage, PAST);
        struct msg_attempt_state fill = {
            .state = ATTEMPT_ENDED,
            .exit = {.end = RUN_END_EXITED,
                     .start_ms = from_ms + rows[i].start_ms,
                     .end_ms = from_ms + rows[i].end_ms,
                     .text = ""}};
        site_stage_attempt(&stage, attempt, &fill);
        const struct row_job_state *row = site_stage_job_row(&stage, id);
        assert_non_null(row); /* it is not cleaned */
        int64_t ran_ms = row->exit.end_ms - row->exit.start_ms;
        if (ran_ms < rows[i].ran_ms - 10 || ran_ms > rows[i].ran_ms + 10 ||
            row->exit.start_ms < from_ms - 10 || row->exit.end_ms > stage.now_ms) {
            fail_msg("%s: from %lld for %lld ms", rows[i].why,
                     (long long)(row->exit.start_ms - from_ms), (long long)ran_ms);
        }
        site_stage_release(&stage);
    }
}

/* What the ledger takes over from a provider: within the time since the dispatch, but
 * for ten seconds by which clocks may differ, and no more slots than the job has. */
static void test_what_a_provider_says_was_used_is_bounded(void **state)
{
    enum { PAST = 5000, SLACK = 10000, FAR = 3600000 };
    static const struct {
        const char *why;
        struct run_use said, is; /* since the dispatch */
    } rows[] = {
        {"as it was", {1000, 4000, 3000, 1}, {1000, 4000, 3000, 1}},
        {"a clock that is ahead by little",
         {PAST + 9000, PAST + 9000, 0, 1},
         {PAST + 9000, PAST + 9000, 0, 1}},
        {"far ahead", {FAR, FAR, 0, 1}, {PAST + SLACK, PAST + SLACK, 0, 1}},
        {"far behind", {-50000, -50000, 0, 1}, {-SLACK, -SLACK, 0, 1}},
        {"more than it can have used", {0, 4000, FAR, 1}, {0, 4000, 4000 + SLACK, 1}},
        {"more slots", {0, 4000, 4000, 9}, {0, 4000, 4000, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        struct job_spec spec = site_stage_spec("lease", "work");
        uint64_t id;
        uint64_t attempt = start_job(&stage, &spec, &id);
        int64_t from_ms = stage.now_ms, slack_ms = 20; /* steps of the stage */
        const struct run_use *said = &rows[i].said, *is = &rows[i].is;
        site_stage_pass(&stage, PAST);
        struct msg_attempt_state fill = {.state = ATTEMPT_RUNNING,
                                         .start_ms = from_ms,
                                         .use = {from_ms + said->start_ms,
                                                 from_ms + said->at_ms, said->used_ms,
                                                 said->n_slots}};
        site_stage_attempt(&stage, attempt, &fill);
        const struct run_use *use = &site_stage_job_row(&stage, id)->use;
        if (llabs(use->start_ms - from_ms - is->start_ms) > slack_ms ||
            llabs(use->at_ms - from_ms - is->at_ms) > slack_ms ||
            llabs(use->used_ms - is->used_ms) > slack_ms ||
            use->n_slots != is->n_slots) {
            fail_msg("%s: from %lld until %lld %lld, then %d", rows[i].why,
                     (long long)(use->start_ms - from_ms),
                     (long long)(use->at_ms - from_ms), (long long)use->used_ms,
                     use->n_slots);
        }
        site_stage_release(&stage);
    }
}

static void test_start_times_are_bounded_while_it_runs(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    int64_t from_ms = stage.now_ms;
    struct msg_attempt_state fill = {.state = ATTEMPT_RUNNING, .start_ms = 1};
    site_stage_attempt(&stage, attempt, &fill);
    assert_in_range(site_stage_job_row(&stage, id)->start_ms, from_ms - 10,
                    stage.now_ms);
    site_stage_release(&stage);
}

/* A run that has ended cannot be killed; what it has written may have no end. */
static void test_a_kill_ends_the_fetching(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    spec.out_file = "out.%J";
    uint64_t attempt = start_job(&stage, &spec, &id);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    says_ended(&stage, attempt, RUN_END_EXITED, 3, 50, 5);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "its run has ended, its output is being fetched");
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_string_equal(
        site_stage_job_text(&stage, id, "reason"),
        "killed by ana; its run has ended, its output is being fetched");
    site_stage_pass(&stage, 9000);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_pass(&stage, 1000);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

static void test_provider_silent(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    uint64_t id;
    (void)state;
    uint64_t attempt = start_job(&stage, &spec, &id);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    for (int i = 0; i < 10; i++) {
        struct msg pong = {.kind = MSG_PONG};
        site_stage_pass(&stage, 4000);
        site_stage_broker(&stage, &pong);
    }
    assert_int_equal(site_stage_state(&stage, id), JOB_UNKWN);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "its provider is silent");
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

static void provider_is(struct site_stage *stage, bool is_here)
{
    struct host_split split = {
        .host = "n1", .n_slots = 4, .provider = 3, .consumer = 1};
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){
        .lease = "north/spare/south",
        .revision = (uint64_t)stage->now_ms + 1,
        .epoch = 1,
        .type = LEASE_SHARED,
        .state = LEASE_ACTIVE,
        .is_made = true,
        .is_provider_here = is_here,
        .hosts = &split,
        .n_hosts = 1,
    };
    site_stage_broker(stage, &msg);
}

/* Its provider is out of reach when a job is suspended for another: it is not resumed
 * because the other cannot begin there now. */
static void test_preempted(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(
        &stage, "Begin Site\nNAME = south\nSPOOL = /tmp/x\nBROKER = tcp://127.0.0.1:1\n"
                "KEY = k\nBROKER_KEY = b\nEnd Site\n"
                "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
                "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 90\nHOSTS = allremote\n"
                "PREEMPTION = PREEMPTIVE\nEnd Queue\n"
                "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 10\nHOSTS = allremote\n"
                "End Queue\n");
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    uint64_t low = site_stage_submit(&stage, "low", "work");
    site_stage_attempt_is(&stage, site_stage_attempt_of(&stage, low), ATTEMPT_RUNNING);
    uint64_t high = site_stage_submit(&stage, "high", "work");
    uint64_t number = site_stage_job_row(&stage, low)->control.number;
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_SUSPEND);
    provider_is(&stage, false);
    struct msg_attempt_state still = {
        .state = ATTEMPT_SUSPENDED, .start_ms = 50, .control_done = number};
    site_stage_attempt(&stage, site_stage_attempt_of(&stage, low), &still);
    assert_int_equal(site_stage_state(&stage, low), JOB_SSUSP);
    assert_int_equal(site_stage_attempt_of(&stage, high), 0);
    provider_is(&stage, true);
    assert_int_not_equal(site_stage_attempt_of(&stage, high), 0);
    assert_int_equal(site_stage_job_row(&stage, low)->control.number, number);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_own_first),
        cmocka_unit_test(test_slots_that_may_come),
        cmocka_unit_test(test_input_file),
        cmocka_unit_test(test_named_host),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_kill_undecided),
        cmocka_unit_test(test_stop_and_resume),
        cmocka_unit_test(test_restart_undecided),
        cmocka_unit_test(test_wrong_provider),
        cmocka_unit_test(test_times_of_a_provider_are_bounded),
        cmocka_unit_test(test_what_a_provider_says_was_used_is_bounded),
        cmocka_unit_test(test_start_times_are_bounded_while_it_runs),
        cmocka_unit_test(test_output_comes_home),
        cmocka_unit_test(test_a_kill_ends_the_fetching),
        cmocka_unit_test(test_provider_silent),
        cmocka_unit_test(test_preempted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
