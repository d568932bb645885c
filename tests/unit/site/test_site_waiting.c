/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs wait for besides slots: other jobs, an instant, their array, an
 * administrator, a window; and how they get another place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/value.h"
#include "sched/pending/pending.h"
#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 %d\nEnd Host\n"
    "Begin Parameters\nMAX_USER_PRIORITY = 100\nEnd Parameters\n"
    "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 30\n%s\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = other\nPRIORITY = 20\nUSERS = ana\nEnd Queue\n";

static void init(struct site_stage *stage, int n_slots, const char *keys)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, n_slots, keys);
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
}

static const struct msg_reply *submit(struct site_stage *stage, const char *name,
                                      const struct job_terms *terms)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec("local", "work");
    msg.submit.spec.name = name;
    msg.submit.terms = *terms;
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static uint64_t add(struct site_stage *stage, const char *name, const char *depend)
{
    const struct job_terms terms = {.depend = depend};
    const struct msg_reply *reply = submit(stage, name, &terms);
    return reply->code == 0 ? (uint64_t)value_find(reply->value, "job")->number : 0;
}

static const struct msg_reply *move(struct site_stage *stage, const char *user,
                                    enum job_move kind, const char *queue,
                                    const char *job)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_MOVE, .site = ""};
    msg.job_move = (struct msg_job_move){.request = ++stage->request,
                                         .move = kind,
                                         .queue = queue,
                                         .jobs = &job,
                                         .n_jobs = 1};
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

/* As move, held. */
static const struct msg_reply *move_held(struct site_stage *stage, enum job_move kind,
                                         const char *job)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_JOB_MOVE, .site = ""};
    msg.job_move = (struct msg_job_move){.request = ++stage->request,
                                         .move = kind,
                                         .queue = "",
                                         .jobs = &job,
                                         .n_jobs = 1,
                                         .is_held = true};
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static const struct msg_reply *order(struct site_stage *stage, const char *user,
                                     enum queue_order kind, const char *queue)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_QUEUE_CONTROL, .site = ""};
    msg.queue_control = (struct msg_queue_control){++stage->request, kind, queue};
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static bool has_started(const struct site_stage *stage, uint64_t id)
{
    return site_stage_attempt_of(stage, id) != 0;
}

/* The job runs, and ends with this code. */
static void run(struct site_stage *stage, uint64_t id, int code)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    if (code >= 0) {
        site_stage_exited(stage, "s1", attempt, code);
    }
}

static void assert_waits(struct site_stage *stage, uint64_t id, const char *pending)
{
    assert_false(has_started(stage, id));
    assert_string_equal(site_stage_job_text(stage, id, "pending"), pending);
}

/* ---------------------------------------------------------------- once more */

/* brequeue -e, -d: an ended job is pending as at its submission, in a new process as
 * well: it has no end, and its condition counts again. */
static void test_ended_job_runs_again(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    uint64_t first = add(&stage, "a", "");
    uint64_t then = add(&stage, "b", "ended(a)");
    run(&stage, first, 3);
    run(&stage, then, 0);
    assert_int_equal(site_stage_state(&stage, first), JOB_EXIT);
    uint64_t attempt = site_stage_attempt_of(&stage, first);
    assert_int_equal(move(&stage, "ana", MOVE_RERUN, "", "1")->code, 0);
    assert_true(site_stage_attempt_of(&stage, first) > attempt);
    assert_string_equal(site_stage_job_text(&stage, first, "end_at"), "");
    assert_string_equal(site_stage_job_text(&stage, first, "exit_code"), "");
    assert_int_equal(move(&stage, "ana", MOVE_RERUN, "", "1")->code, ERR_STATE);
    assert_int_equal(move(&stage, "ana", MOVE_RERUN, "", "2")->code, 0);
    assert_waits(&stage, then, "dependency");
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_waits(&stage, then, "dependency");
    run(&stage, first, 0);
    assert_int_equal(site_stage_state(&stage, first), JOB_DONE);
    run(&stage, then, 0);
    assert_int_equal(site_stage_state(&stage, then), JOB_DONE);
    site_stage_pass(&stage, 24 * 3600000); /* both are cleaned once */
    assert_int_equal(move(&stage, "ana", MOVE_RERUN, "", "1")->code, ERR_NOT_FOUND);
    site_stage_release(&stage);
}

/* Others may not, nor is a job that runs meant. */
static void test_ended_job_of_another(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    uint64_t id = add(&stage, "a", "");
    assert_int_equal(move(&stage, "ana", MOVE_RERUN, "", "1")->code, ERR_STATE);
    run(&stage, id, 1);
    assert_int_equal(move(&stage, "bob", MOVE_RERUN, "", "1")->code, ERR_DENIED);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

/* brequeue -H: PSUSP until a user resumes it, whether it ran or had ended. */
static void test_requeued_and_held(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    uint64_t ended = add(&stage, "a", ""), running = add(&stage, "b", "");
    run(&stage, ended, 1);
    run(&stage, running, -1);
    assert_int_equal(move_held(&stage, MOVE_RERUN, "1")->code, 0);
    assert_int_equal(site_stage_state(&stage, ended), JOB_PSUSP);
    assert_int_equal(move_held(&stage, MOVE_REQUEUE, "2")->code, 0);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, running), 130);
    assert_int_equal(site_stage_state(&stage, running), JOB_PSUSP);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_int_equal(site_stage_state(&stage, ended), JOB_PSUSP);
    assert_int_equal(site_stage_state(&stage, running), JOB_PSUSP);
    site_stage_control(&stage, "ana", "2", CONTROL_RESUME, 0);
    run(&stage, running, 0);
    assert_int_equal(site_stage_state(&stage, running), JOB_DONE);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- other jobs */

static void test_done(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    uint64_t first = add(&stage, "prep", "");
    uint64_t then = add(&stage, "work", "done(\"prep\")");
    uint64_t never = add(&stage, "mend", "exit(prep)");
    assert_waits(&stage, then, "dependency");
    run(&stage, first, 0);
    assert_true(has_started(&stage, then));
    assert_waits(&stage, never, "dependency_never");
    assert_string_equal(site_stage_job_text(&stage, never, "depend"), "exit(prep)");
    site_stage_release(&stage);
}

static void test_refused(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    assert_int_equal(add(&stage, "a", "done(99)"), 0);
    assert_non_null(strstr(site_stage_reply(&stage)->text, "No matching job found"));
    assert_int_equal(add(&stage, "a", "done(\"x\" &&"), 0);
    assert_non_null(strstr(site_stage_reply(&stage)->text, "Job not submitted"));
    assert_int_equal(add(&stage, "a", ""), 1); /* nothing was used up */
    site_stage_release(&stage);
}

/* What was met stays met, whatever becomes of the other job; a condition that waits
 * keeps what it speaks of from being forgotten. */
static void test_restart_and_clean(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1, "");
    uint64_t first = add(&stage, "prep", "");
    uint64_t second = add(&stage, "more", ""); /* holds the slot after it */
    uint64_t then = add(&stage, "work", "done(1) && done(2)");
    run(&stage, first, 0);
    run(&stage, second, -1);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_pass(&stage, 2 * 3600 * 1000);
    assert_int_equal(site_stage_state(&stage, first), JOB_DONE); /* not cleaned */
    assert_waits(&stage, then, "dependency");
    site_stage_release(&stage);
}

/* [*] of a job without an index would wait for ever. */
static void test_element_of_no_array(void **state)
{
    static const struct job_terms terms = {.depend = "done(\"a[*]\")"};
    struct site_stage stage;
    (void)state;
    init(&stage, 2, "");
    add(&stage, "a[1-2]", "");
    const struct msg_reply *reply = submit(&stage, "b", &terms);
    assert_int_equal(reply->code, ERR_PARSE);
    assert_non_null(strstr(reply->text, "the job is no array"));
    site_stage_release(&stage);
}

static void test_elements(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 2, "");
    add(&stage, "a[1-2]", "");
    uint64_t then = add(&stage, "b[1-2]", "done(\"a[*]\")");
    site_stage_waiting(&stage, "s1", 1, 7);
    site_stage_running(&stage, "s1", 1, 7);
    site_stage_exited(&stage, "s1", 1, 0); /* a[1] */
    struct msg_query query = {.kind = QUERY_JOBS,
                              .name = "2",
                              .user = "",
                              .queue = "",
                              .host = "",
                              .provider = "",
                              .consumer = "",
                              .after = ""};
    const struct value *rows =
        value_find(site_stage_query(&stage, &query)->value, "jobs");
    assert_int_equal(rows->count, 2);
    assert_string_equal(value_find(rows->first, "id")->text, "2[1]");
    assert_true(value_find(rows->first, "attempt")->kind == VALUE_INT);
    assert_true(value_find(rows->first->next, "attempt")->kind == VALUE_NULL);
    assert_int_equal(then, 2);
    site_stage_release(&stage);
}

/* Both are judged by one count of the array, which is made anew for each change. */
static void test_several_wait_for_an_array(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    add(&stage, "a[1-2]", "");
    uint64_t first = add(&stage, "b", "ended(\"a\")"),
             second = add(&stage, "c", "ended(\"a\") && done(\"a[2]\")");
    for (uint64_t attempt = 1; attempt <= 2; attempt++) {
        assert_false(has_started(&stage, first) || has_started(&stage, second));
        site_stage_waiting(&stage, "s1", attempt, 7);
        site_stage_running(&stage, "s1", attempt, 7);
        site_stage_exited(&stage, "s1", attempt, 0);
    }
    assert_true(has_started(&stage, first) && has_started(&stage, second));
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- time, arrays */

static void test_begin(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    const struct job_terms terms = {.begin_ms = stage.now_ms + 60000};
    submit(&stage, "later", &terms);
    assert_waits(&stage, 1, "begin_time");
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_waits(&stage, 1, "begin_time");
    site_stage_pass(&stage, 61000); /* the host is away by then */
    site_stage_host_up(&stage, "s1");
    assert_true(has_started(&stage, 1));
    site_stage_release(&stage);
}

/* NEW_JOB_SCHED_DELAY counts from the submission: it outlives a restart, a job that is
 * requeued or moved is not new again, and a later job of another queue starts first. */
static void test_new_job_delay(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "NEW_JOB_SCHED_DELAY = 60");
    uint64_t id = add(&stage, "a", ""), moved = add(&stage, "b", "");
    int64_t due_ms = stage.now_ms + 60000; /* of the second one, or earlier */
    assert_waits(&stage, id, "new_job_delay");
    move(&stage, "ana", MOVE_SWITCH, "other", "2");
    assert_true(has_started(&stage, moved));
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_waits(&stage, id, "new_job_delay");
    site_stage_pass(&stage, due_ms - 1000 - stage.now_ms);
    site_stage_host_up(&stage, "s1");
    assert_waits(&stage, id, "new_job_delay");
    site_stage_pass(&stage, due_ms - stage.now_ms);
    assert_true(has_started(&stage, id));
    site_stage_release(&stage);
}

static int count_open(const struct site_stage *stage)
{
    int count = 0;
    for (int i = 0; i < stage->n_rows; i++) {
        const struct row *row = &stage->rows[i].row;
        count += row->kind == ROW_JOB_STATE && row->job_state.attempt != 0 &&
                 row->job_state.state != JOB_DONE;
    }
    return count;
}

static void test_array_limit(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    add(&stage, "a[1-5]%2", "");
    site_stage_waiting(&stage, "s1", 1, 7);
    site_stage_running(&stage, "s1", 1, 7);
    assert_int_equal(count_open(&stage), 2);
    site_stage_exited(&stage, "s1", 1, 0);
    assert_int_equal(count_open(&stage), 2);
    uint64_t plain = add(&stage, "b", ""); /* slots are free */
    assert_true(has_started(&stage, plain));
    site_stage_release(&stage);
}

/* Jobs in lines and held ones, and what they become. */
static void test_reasons_are_counted(void **state)
{
    struct site_stage stage;
    int64_t counts[REASONS], sum = 0;
    (void)state;
    init(&stage, 2, "");
    add(&stage, "a[1-5]", "");
    add(&stage, "b", "done(\"a\")");
    const struct job_terms terms = {.begin_ms = stage.now_ms + 60000};
    submit(&stage, "later", &terms);
    site_count_reasons(stage.site, counts);
    assert_int_equal(counts[REASON_BUSY], 3);
    assert_int_equal(counts[REASON_DEPENDENCY], 1);
    assert_int_equal(counts[REASON_BEGIN_TIME], 1);
    order(&stage, "root", QUEUE_INACTIVATE, "local");
    site_stage_restart(&stage);
    site_count_reasons(stage.site, counts);
    for (int i = 0; i < REASONS; i++) {
        sum += counts[i];
    }
    assert_int_equal(counts[REASON_QUEUE_INACTIVE], 3);
    assert_int_equal(counts[REASON_DEPENDENCY], 1);
    assert_int_equal(counts[REASON_BEGIN_TIME], 1);
    assert_int_equal(sum, 5);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- queues */

static void test_closed(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    assert_int_equal(order(&stage, "ana", QUEUE_CLOSE, "local")->code, ERR_DENIED);
    assert_int_equal(order(&stage, "root", QUEUE_CLOSE, "x")->code, ERR_NOT_FOUND);
    assert_string_equal(order(&stage, "root", QUEUE_CLOSE, "local")->text,
                        "Queue <local> is closed");
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_int_equal(add(&stage, "a", ""), 0);
    assert_string_equal(site_stage_reply(&stage)->text,
                        "local: Queue is closed. Job not submitted.");
    order(&stage, "root", QUEUE_OPEN, "local");
    assert_int_equal(add(&stage, "a", ""), 1);
    site_stage_release(&stage);
}

static void test_inactive(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "");
    order(&stage, "root", QUEUE_INACTIVATE, "local");
    uint64_t id = add(&stage, "a", "");
    assert_waits(&stage, id, "queue_inactive");
    order(&stage, "root", QUEUE_ACTIVATE, "local");
    assert_true(has_started(&stage, id));
    site_stage_release(&stage);
}

/* The stage's clock is UTC. */
static void test_window(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 4, "DISPATCH_WINDOW = 0:03-0:04");
    uint64_t id = add(&stage, "a", "");
    assert_waits(&stage, id, "queue_window");
    int64_t opens_ms = 3 * 60000;
    assert_true(stage.now_ms < opens_ms);
    site_stage_pass(&stage, opens_ms - stage.now_ms - 1000);
    site_stage_host_up(&stage, "s1");
    assert_waits(&stage, id, "queue_window");
    site_stage_pass(&stage, 1000);
    assert_true(has_started(&stage, id));
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- places */

static void test_priority_and_moves(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1, "");
    uint64_t holder = add(&stage, "hold", "");
    uint64_t a = add(&stage, "a", ""), b = add(&stage, "b", "");
    const struct job_terms urgent = {.priority = 90};
    uint64_t c =
        (uint64_t)value_find(submit(&stage, "c", &urgent)->value, "job")->number;
    const struct job_terms too_high = {.priority = 101};
    assert_int_equal(submit(&stage, "d", &too_high)->code, ERR_BOUNDS);
    assert_int_equal(move(&stage, "ana", MOVE_TOP, "", "3")->code, 0);
    assert_int_equal(move(&stage, "bob", MOVE_TOP, "", "2")->code, ERR_DENIED);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    run(&stage, holder, 0);
    assert_true(has_started(&stage, c)); /* priority before place */
    run(&stage, c, 0);
    assert_true(has_started(&stage, b)); /* put before a */
    assert_waits(&stage, a, "busy");
    site_stage_release(&stage);
}

/* JOB_PRIORITY_OVER_TIME: a job that waits for an hour passes a later one of a higher
 * priority. */
static void test_priority_over_time(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1,
         "End Queue\nBegin Parameters\nJOB_PRIORITY_OVER_TIME = 20/30\n"
         "MAX_USER_PRIORITY = 100\nEnd Parameters\nBegin Queue\nQUEUE_NAME = more");
    uint64_t holder = add(&stage, "hold", "");
    uint64_t a = add(&stage, "a", "");
    site_stage_pass(&stage, 60 * 60000);
    site_stage_host_alive(&stage, "s1");
    const struct job_terms more = {.priority = 80};
    uint64_t b = (uint64_t)value_find(submit(&stage, "b", &more)->value, "job")->number;
    run(&stage, holder, 0);
    assert_true(has_started(&stage, a)); /* 50 and 40 more, against 80 */
    assert_false(has_started(&stage, b));
    site_stage_release(&stage);
}

static void test_switch(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1, "QJOB_LIMIT = 0");
    uint64_t id = add(&stage, "a", "");
    assert_waits(&stage, id, "limit_small");
    assert_int_equal(move(&stage, "ana", MOVE_SWITCH, "x", "1")->code, ERR_NOT_FOUND);
    assert_string_equal(move(&stage, "ana", MOVE_SWITCH, "other", "1")->text,
                        "Job <1> is switched to queue <other>");
    assert_true(has_started(&stage, id));
    assert_string_equal(site_stage_job_text(&stage, id, "queue"), "other");
    site_stage_restart(&stage);
    assert_string_equal(site_stage_job_text(&stage, id, "queue"), "other");
    site_stage_release(&stage);
}

static void test_requeue(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1, "");
    uint64_t id = add(&stage, "a", "");
    run(&stage, id, -1);
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    assert_int_equal(move(&stage, "ana", MOVE_REQUEUE, "", "1")->code, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN); /* until it has ended */
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_host_synced(&stage, "s1");
    site_stage_exited(&stage, "s1", attempt, 143);
    assert_true(site_stage_attempt_of(&stage, id) > attempt); /* and it runs again */
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    site_stage_release(&stage);
}

static void test_exit_values(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1, "REQUEUE_EXIT_VALUES = 99\nSUCCESS_EXIT_VALUES = 5");
    uint64_t id = add(&stage, "a", "");
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    run(&stage, id, 99);
    site_stage_pass(&stage, 2000);
    assert_true(site_stage_attempt_of(&stage, id) > attempt);
    run(&stage, id, 5);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

static void test_starter(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, 1, "JOB_STARTER = env A=1");
    add(&stage, "a", "");
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_string_equal(start->run_start.spec.command, "env A=1 work");
    assert_string_equal(site_stage_job_text(&stage, 1, "command"), "work");
    site_stage_release(&stage);
}

/* A switch judges what a job reserves as a submission to that queue would. */
static void test_switch_and_range(void **state)
{
    static const char *const res_req = "rusage[mem=200]";
    struct job_spec spec = site_stage_spec("wide", "work");
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                                 "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
                                 "Begin Queue\nQUEUE_NAME = wide\nEnd Queue\n"
                                 "Begin Queue\nQUEUE_NAME = small\n"
                                 "RESRSV_LIMIT = [mem=10,100]\nEnd Queue\n"
                                 "Begin Queue\nQUEUE_NAME = large\n"
                                 "RESRSV_LIMIT = [mem=400]\nEnd Queue\n");
    spec.name = "lisa[1-3]";
    spec.res_reqs = &res_req;
    spec.n_res_reqs = 1;
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 1);
    const struct msg_reply *reply = move(&stage, "ana", MOVE_SWITCH, "small", "1");
    assert_int_equal(reply->code, ERR_PARSE);
    assert_string_equal(reply->text,
                        "Job <1>: Error in rusage section: The merged job-level and "
                        "application-level rusage value is outside the range set by "
                        "RESRSV_LIMIT defined in lsb.queues. RESRSV_LIMIT of the queue "
                        "allows mem=from 10 to 100");
    assert_string_equal(site_stage_job_text(&stage, 1, "queue"), "wide");
    assert_int_equal(move(&stage, "ana", MOVE_SWITCH, "large", "1")->code, 0);
    assert_int_equal(move(&stage, "ana", MOVE_SWITCH, "small", "1[2]")->code,
                     ERR_PARSE);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ended_job_runs_again),
        cmocka_unit_test(test_ended_job_of_another),
        cmocka_unit_test(test_requeued_and_held),
        cmocka_unit_test(test_done),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_restart_and_clean),
        cmocka_unit_test(test_element_of_no_array),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_several_wait_for_an_array),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_new_job_delay),
        cmocka_unit_test(test_array_limit),
        cmocka_unit_test(test_reasons_are_counted),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_inactive),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_priority_and_moves),
        cmocka_unit_test(test_priority_over_time),
        cmocka_unit_test(test_switch),
        cmocka_unit_test(test_switch_and_range),
        cmocka_unit_test(test_requeue),
        cmocka_unit_test(test_exit_values),
        cmocka_unit_test(test_starter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
