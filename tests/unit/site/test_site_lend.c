/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a consumer ("east") on this site's hosts ("south" is the provider). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

#define LENDING(more)                                                                  \
    "Begin Site\nNAME = south\nSPOOL = /nowhere\nBROKER = tcp://127.0.0.1:1\nKEY = "   \
    "k\n"                                                                              \
    "BROKER_KEY = b\nEnd Site\nBegin Parameters\n" more                                \
    "End Parameters\nBegin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\nBegin Queue\n"         \
    "QUEUE_NAME = local\nEnd Queue\nBegin HostExport\nNAME = spare\nPER_HOST = s1\n"   \
    "SLOTS = 2\nTYPE = shared\nDISTRIBUTION = ([east, 1])\nEnd HostExport\n"

static const char lending[] = "Begin Site\n"
                              "NAME = south\n"
                              "SPOOL = /nowhere\n"
                              "BROKER = tcp://127.0.0.1:1\n"
                              "KEY = k\n"
                              "BROKER_KEY = b\n"
                              "LEASE_USER = guest\n"
                              "End Site\n"
                              "Begin Host\n"
                              "HOST_NAME MXJ\n"
                              "s1 2\n"
                              "End Host\n"
                              "Begin Queue\n"
                              "QUEUE_NAME = local\n"
                              "End Queue\n"
                              "Begin HostExport\n"
                              "NAME = spare\n"
                              "PER_HOST = s1\n"
                              "SLOTS = 2\n"
                              "TYPE = shared\n"
                              "DISTRIBUTION = ([east, 1])\n"
                              "End HostExport\n";

enum { TOKEN = 7, END_WITHIN_MS = 90000 };

static void init(struct site_stage *stage)
{
    site_stage_init_text(stage, lending);
    site_stage_host_up(stage, "s1");
    site_stage_broker_up(stage);
}

static void starts_as(struct site_stage *stage, uint64_t attempt, uint64_t epoch,
                      enum interaction interaction)
{
    struct host_slots host = {"s1", 1};
    struct msg msg = {.kind = MSG_START, .site = "east"};
    msg.start = (struct msg_start){.run = {"east", attempt, stage->nonce},
                                   .lease = "south/spare/east",
                                   .epoch = epoch,
                                   .job = "44",
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .spec = site_stage_spec("q", "work"),
                                   .end_within_ms = END_WITHIN_MS};
    msg.start.spec.interaction = interaction;
    msg.start.spec.user = "eva";
    msg.start.spec.out_file = "/home/eva/out";
    msg.start.spec.err_file = "/home/eva/err";
    site_stage_broker(stage, &msg);
}

static void start(struct site_stage *stage, uint64_t attempt, uint64_t epoch)
{
    starts_as(stage, attempt, epoch, INTERACTION_NONE);
}

/* ATTEMPT_ASK or ATTEMPT_ACK. */
static void say(struct site_stage *stage, enum msg_kind kind, const char *site,
                uint64_t attempt)
{
    struct msg msg = {.kind = kind, .site = site};
    msg.attempt.run = (struct run_id){"east", attempt, stage->nonce};
    site_stage_broker(stage, &msg);
}

static void order(struct site_stage *stage, uint64_t attempt, uint64_t number,
                  enum control_action action)
{
    struct msg msg = {.kind = MSG_ATTEMPT_CONTROL, .site = "east"};
    msg.lifecycle_control.run = (struct run_id){.site = "east", .attempt = attempt};
    msg.lifecycle_control.control =
        (struct run_control){.number = number, .action = action};
    site_stage_broker(stage, &msg);
}

static void host_says(struct site_stage *stage, uint64_t attempt, enum run_phase phase)
{
    struct msg_run_state fill = {.phase = phase, .token = TOKEN};
    if (phase != RUN_WAITING) {
        fill.start_ms = 500;
    }
    if (phase == RUN_ENDED) {
        fill.exit = (struct run_exit){.end = RUN_END_EXITED,
                                      .code = 4,
                                      .start_ms = 500,
                                      .end_ms = 900,
                                      .out_bytes = 3};
    }
    site_stage_run_state(stage, "s1", "east", attempt, &fill);
}

/* The one answer of the last batch; it goes to east, in the session. */
static const struct msg_attempt_state *answer(const struct site_stage *stage)
{
    const struct msg *msg = site_stage_sent(stage, MSG_ATTEMPT_STATE, 0);
    assert_non_null(msg);
    assert_int_equal(site_stage_count(stage, MSG_ATTEMPT_STATE), 1);
    assert_string_equal(msg->site, "east");
    assert_int_equal(msg->session, stage->session);
    return &msg->attempt_state;
}

static void down(struct site_stage *stage, const char *site, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_STREAM_DOWN, .site = site};
    msg.stream_down = (struct msg_stream_down){.run = {"east", attempt},
                                               .job = "",
                                               .bytes = (const uint8_t *)"keys",
                                               .n_bytes = 4,
                                               .got_out = 9};
    site_stage_broker(stage, &msg);
}

static void up(struct site_stage *stage, const char *host, uint64_t attempt)
{
    struct peer from = site_stage_host(host);
    struct msg msg = {
        .kind = MSG_STREAM_UP, .session = stage->host_session, .site = ""};
    msg.stream_up = (struct msg_stream_up){.run = {"east", attempt},
                                           .job = "",
                                           .bytes = (const uint8_t *)"text",
                                           .n_bytes = 4,
                                           .note = ""};
    site_stage_message(stage, &from, &msg);
}

/* What a run uses of its lease: its slot from the admission to the end. */
static void test_what_a_run_uses(void **state)
{
    enum { PART = 5000 };
    struct site_stage stage;
    (void)state;
    init(&stage);
    int64_t from_ms = stage.now_ms;
    start(&stage, 5, 1);
    const struct run_use *use = &answer(&stage)->use;
    assert_in_range(use->start_ms, from_ms, stage.now_ms);
    assert_true(use->at_ms == use->start_ms && use->used_ms == 0 && use->n_slots == 1);
    from_ms = use->start_ms;
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    site_stage_pass(&stage, PART);
    host_says(&stage, 5, RUN_ENDED);
    const struct run_use *end = &answer(&stage)->use;
    assert_in_range(end->at_ms, from_ms + PART, stage.now_ms);
    assert_true(end->start_ms == from_ms && end->n_slots == 0 &&
                end->used_ms == end->at_ms - from_ms);
    site_stage_release(&stage);
}

/* A suspension by order ends it: others may have the slot, also while it is killed. */
static void test_what_a_stopped_run_uses(void **state)
{
    enum { PART = 5000 };
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    int64_t from_ms = answer(&stage)->use.at_ms;
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    site_stage_pass(&stage, PART);
    order(&stage, 5, 1, CONTROL_SUSPEND);
    const struct run_use *use = &site_stage_run_row(&stage, "east", 5)->use;
    assert_in_range(use->at_ms, from_ms + PART, stage.now_ms);
    assert_true(use->n_slots == 0 && use->used_ms == use->at_ms - from_ms);
    const struct msg_run_state stopped = {
        .phase = RUN_SUSPENDED, .token = TOKEN, .start_ms = 500, .control_done = 1};
    site_stage_run_state(&stage, "s1", "east", 5, &stopped);
    order(&stage, 5, 2, CONTROL_KILL);
    const struct row_run *row = site_stage_run_row(&stage, "east", 5);
    assert_int_equal(row->control.action, CONTROL_KILL);
    assert_int_equal(row->use.n_slots, 0);
    site_stage_release(&stage);
}

/* The terminal of a consumer's job: between its site and its host, as long as it runs;
 * nothing of another's, and nothing of a job that has no terminal. */
static void test_terminal(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    starts_as(&stage, 5, 1, INTERACTION_PTY);
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    down(&stage, "east", 5);
    const struct msg *typed = site_stage_sent(&stage, MSG_STREAM_DOWN, 0);
    assert_string_equal(typed->stream_down.run.site, "east");
    assert_memory_equal(typed->stream_down.bytes, "keys", 4);
    assert_int_equal(typed->stream_down.got_out, 9);
    down(&stage, "west", 5); /* not west's */
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0);
    down(&stage, "east", 4); /* of before, or never */
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0);

    up(&stage, "s1", 5);
    const struct msg *written = site_stage_sent(&stage, MSG_STREAM_UP, 0);
    assert_string_equal(written->site, "east");
    assert_int_equal(written->session, stage.session);
    assert_memory_equal(written->stream_up.bytes, "text", 4);
    up(&stage, "s1", 6);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);

    host_says(&stage, 5, RUN_ENDED);
    down(&stage, "east", 5);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0);
    up(&stage, "s1", 5);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);

    start(&stage, 7, 1); /* a batch job */
    host_says(&stage, 7, RUN_WAITING);
    host_says(&stage, 7, RUN_RUNNING);
    down(&stage, "east", 7);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0);
    site_stage_release(&stage);
}

static void withdraw(struct site_stage *stage, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_ATTEMPT_ASK, .site = "east"};
    msg.attempt = (struct msg_attempt){.run = {"east", attempt}, .is_withdrawn = true};
    site_stage_broker(stage, &msg);
}

/* An attempt that was not told to go never starts any more; one that was stays. */
static void test_withdrawn(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    withdraw(&stage, 5);
    assert_int_equal(answer(&stage)->state, ATTEMPT_LOST);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_null(site_stage_run_row(&stage, "east", 5));
    host_says(&stage, 5, RUN_WAITING); /* its guard came up meanwhile */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    start(&stage, 5, 1); /* a late copy */
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);

    withdraw(&stage, 7); /* its START never came, and comes late */
    assert_int_equal(answer(&stage)->state, ATTEMPT_LOST);
    start(&stage, 7, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);

    start(&stage, 8, 1); /* the slot of 5 is free again */
    host_says(&stage, 8, RUN_WAITING);
    withdraw(&stage, 8);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    host_says(&stage, 8, RUN_RUNNING);
    withdraw(&stage, 8);
    assert_int_equal(answer(&stage)->state, ATTEMPT_RUNNING);
    site_stage_release(&stage);
}

static void test_life(void **state)
{
    struct site_stage stage;
    int own, consumers;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    const struct msg *run = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_string_equal(run->run_start.run.site, "east");
    assert_string_equal(run->run_start.account, "guest"); /* never eva's, never root */
    assert_string_equal(run->run_start.lease, "south/spare/east");
    /* The host opens no file of a leased run, but keeps errors apart where one is
     * named. */
    assert_string_equal(run->run_start.spec.err_file, "/home/eva/err");
    assert_int_equal(site_stage_run_row(&stage, "east", 5)->record, RUN_RECORD_TAKEN);
    site_host_used(stage.site, "s1", &own, &consumers);
    assert_int_equal(own, 0);
    assert_int_equal(consumers, 1);

    start(&stage, 5, 1); /* repeated */
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    start(&stage, 6, 1); /* the lease has one slot there */
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);

    host_says(&stage, 5, RUN_WAITING);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 1);
    host_says(&stage, 5, RUN_RUNNING);
    assert_int_equal(answer(&stage)->state, ATTEMPT_RUNNING);
    assert_int_equal(answer(&stage)->start_ms, 500);
    start(&stage, 5, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_RUNNING);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);

    host_says(&stage, 5, RUN_ENDED);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
    assert_int_equal(answer(&stage)->exit.code, 4);
    assert_int_equal(site_stage_run_row(&stage, "east", 5)->record, RUN_RECORD_ENDED);
    site_host_used(stage.site, "s1", &own, &consumers);
    assert_int_equal(consumers, 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 0);
    site_stage_pass(&stage, 2500);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED); /* until acknowledged */

    say(&stage, MSG_ATTEMPT_ACK, "east", 5);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_null(site_stage_run_row(&stage, "east", 5));
    site_stage_pass(&stage, 2500);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_STATE), 0);
    say(&stage, MSG_ATTEMPT_ASK, "east", 5);
    assert_int_equal(answer(&stage)->state, ATTEMPT_LOST); /* decided long ago */
    say(&stage, MSG_ATTEMPT_ASK, "east", 50);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ABSENT);
    start(&stage, 5, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED); /* never twice */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    site_stage_release(&stage);
}

/* Its consumer needs the slots at a time, which goes on while the host is away. */
static void test_ends_in_time(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_START, 0)->run_start.end_within_ms,
                     END_WITHIN_MS);
    site_stage_restart(&stage);
    stage.now_ms += 30000;
    site_stage_host_up(&stage, "s1");
    assert_in_range(site_stage_sent(&stage, MSG_RUN_START, 0)->run_start.end_within_ms,
                    END_WITHIN_MS - 30100, END_WITHIN_MS - 30000);
    site_stage_restart(&stage);
    stage.now_ms += END_WITHIN_MS;
    site_stage_host_up(&stage, "s1");
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_START, 0)->run_start.end_within_ms,
                     1);
    site_stage_release(&stage);
}

static void test_restart(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    start(&stage, 5, 1); /* asked again before the host is back */
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    stage.host_session++;
    site_stage_host_hello(&stage, "s1");
    host_says(&stage, 5, RUN_RUNNING);
    assert_int_equal(answer(&stage)->state, ATTEMPT_RUNNING);
    site_stage_host_synced(&stage, "s1");
    host_says(&stage, 5, RUN_ENDED);
    site_stage_restart(&stage); /* the end is on record, unacknowledged */
    site_stage_broker_up(&stage);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
    assert_int_equal(answer(&stage)->exit.code, 4);
    say(&stage, MSG_ATTEMPT_ACK, "east", 5);
    assert_null(site_stage_run_row(&stage, "east", 5));
    start(&stage, 4, 1); /* a late one */
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);
    site_stage_release(&stage);
}

static void test_orders(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    order(&stage, 5, 1, CONTROL_SUSPEND);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 1);
    assert_int_equal(answer(&stage)->control_done, 0);
    site_stage_run_state(&stage, "s1", "east", 5,
                         &(struct msg_run_state){.phase = RUN_SUSPENDED,
                                                 .token = TOKEN,
                                                 .start_ms = 500,
                                                 .control_done = 1});
    assert_int_equal(answer(&stage)->state, ATTEMPT_SUSPENDED);
    assert_int_equal(answer(&stage)->control_done, 1);
    order(&stage, 5, 1, CONTROL_SUSPEND); /* repeated */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    order(&stage, 99, 1, CONTROL_KILL);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ABSENT);
    order(&stage, 5, 2, CONTROL_KILL);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 1);
    site_stage_release(&stage);

    init(&stage); /* before it began: here and now */
    start(&stage, 5, 1);
    order(&stage, 5, 1, CONTROL_KILL);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
    assert_int_equal(answer(&stage)->exit.start_ms, 0);
    site_stage_release(&stage);
}

static void test_others_runs(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    say(&stage, MSG_ATTEMPT_ASK, "west", 5); /* a run of east's is not west's to see */
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_STATE), 0);
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_ENDED);
    say(&stage, MSG_ATTEMPT_ACK, "west", 5);
    assert_non_null(site_stage_run_row(&stage, "east", 5));
    site_stage_release(&stage);
}

static void test_output(void **state)
{
    struct site_stage stage;
    struct msg ask = {.kind = MSG_OUTPUT_ASK, .site = "east"};
    struct peer host = site_stage_host("s1");
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    ask.output_ask = (struct msg_output_ask){.run = {"east", 5},
                                             .request = 12,
                                             .stream = OUTPUT_ERR,
                                             .offset = 3,
                                             .n_bytes = 9};
    site_stage_broker(&stage, &ask);
    const struct msg *passed = site_stage_sent(&stage, MSG_OUTPUT_ASK, 0);
    assert_int_equal(passed->session, stage.host_session);
    assert_int_equal(passed->output_ask.offset, 3);
    struct msg piece = {.kind = MSG_OUTPUT, .session = stage.host_session, .site = ""};
    piece.output = (struct msg_output){.run = {"east", 5},
                                       .request = 12,
                                       .stream = OUTPUT_ERR,
                                       .offset = 3,
                                       .bytes = (const uint8_t *)"abc",
                                       .n_bytes = 3};
    site_stage_message(&stage, &host, &piece);
    const struct msg *home = site_stage_sent(&stage, MSG_OUTPUT, 0);
    assert_string_equal(home->site, "east");
    assert_int_equal(home->output.request, 12);
    assert_memory_equal(home->output.bytes, "abc", 3);
    ask.output_ask.run.attempt = 77;
    site_stage_broker(&stage, &ask);
    assert_true(site_stage_sent(&stage, MSG_OUTPUT, 0)->output.is_gone);
    site_stage_release(&stage);
}

/* Its host goes: before the go the attempt is given back as never begun, after it the
 * provider waits for the host. */
static void test_host_away(void **state)
{
    struct site_stage stage;
    struct msg pong = {.kind = MSG_PONG};
    (void)state;
    init(&stage);
    start(&stage, 5, 1);
    for (int i = 0; i < 3; i++) {
        site_stage_pass(&stage, 5000);
        site_stage_broker(&stage, &pong);
    }
    site_stage_pass(&stage, 2500);
    const struct row_run *row = site_stage_run_row(&stage, "east", 5);
    assert_int_equal(row->record, RUN_RECORD_ENDED);
    assert_int_equal(row->exit.end, RUN_END_LOST);
    assert_int_equal(row->exit.start_ms, 0);
    site_stage_release(&stage);

    init(&stage);
    start(&stage, 5, 1);
    host_says(&stage, 5, RUN_WAITING);
    for (int i = 0; i < 4; i++) {
        site_stage_pass(&stage, 5000);
        site_stage_broker(&stage, &pong);
    }
    assert_int_equal(site_stage_run_row(&stage, "east", 5)->record, RUN_RECORD_GUARDED);
    stage.host_session++;
    site_stage_host_up(&stage, "s1");
    site_stage_run_state(
        &stage, "s1", "east", 5,
        &(struct msg_run_state){.phase = RUN_ENDED, .exit = {.end = RUN_END_LOST}});
    row = site_stage_run_row(&stage, "east", 5);
    assert_int_equal(row->exit.end, RUN_END_LOST);
    assert_int_not_equal(row->exit.start_ms, 0); /* it may have begun */
    site_stage_release(&stage);

    /* A host that knows better, as the agent of a Slurm cluster does. */
    init(&stage);
    start(&stage, 5, 1);
    host_says(&stage, 5, RUN_WAITING);
    site_stage_run_state(
        &stage, "s1", "east", 5,
        &(struct msg_run_state){
            .phase = RUN_ENDED,
            .exit = {.end = RUN_END_LOST, .cause = RUN_CAUSE_NOT_BEGUN}});
    row = site_stage_run_row(&stage, "east", 5);
    assert_int_equal(row->exit.end, RUN_END_LOST);
    assert_int_equal(row->exit.cause, RUN_CAUSE_NONE); /* that is between the two */
    assert_int_equal(row->exit.start_ms, 0);
    site_stage_release(&stage);
}

/* What the consumer holds is not the site's own to use. */
static void test_own_jobs(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    site_stage_submit(&stage, "local", "a");
    site_stage_submit(&stage, "local", "b");
    assert_int_not_equal(site_stage_attempt_of(&stage, 1), 0);
    assert_int_equal(site_stage_attempt_of(&stage, 2), 0); /* one slot is east's */
    site_stage_release(&stage);
}

static void evict(struct site_stage *stage, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_EVICT};
    msg.evict = (struct msg_evict){.lease = "south/spare/east", .attempt = attempt};
    site_stage_broker(stage, &msg);
}

static void run_for_east(struct site_stage *stage, const char *text)
{
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
    site_stage_broker_up(stage);
    start(stage, 5, 1);
    host_says(stage, 5, RUN_WAITING);
    host_says(stage, 5, RUN_RUNNING);
}

static void host_says_killed(struct site_stage *stage)
{
    struct msg_run_state fill = {.phase = RUN_ENDED, .token = TOKEN, .start_ms = 500};
    fill.exit = (struct run_exit){
        .end = RUN_END_SIGNALLED, .code = SIGKILL, .start_ms = 500, .end_ms = 900};
    site_stage_run_state(stage, "s1", "east", 5, &fill);
}

/* Its consumer is lost: what it started until then is ended, as lost, also where this
 * daemon dies between order and end. */
static void test_evicted(void **state)
{
    struct site_stage stage;
    (void)state;
    for (int is_restarted = 0; is_restarted < 2; is_restarted++) {
        run_for_east(&stage, LENDING("ON_LOST = kill\n"));
        evict(&stage, 4); /* late: from before that attempt */
        assert_null(site_stage_sent(&stage, MSG_RUN_CONTROL, 0));
        evict(&stage, 5);
        const struct msg *control = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
        assert_int_equal(control->run_control.control.action, CONTROL_KILL);
        evict(&stage, 5); /* again: nothing new */
        if (is_restarted) {
            site_stage_restart(&stage);
            site_stage_host_up(&stage, "s1");
            site_stage_broker_up(&stage);
        }
        host_says_killed(&stage);
        assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
        assert_int_equal(answer(&stage)->exit.end, RUN_END_LOST);
        assert_non_null(strstr(answer(&stage)->exit.text, "ON_LOST=kill"));
        site_stage_release(&stage);
    }
}

static void test_kept(void **state)
{
    struct site_stage stage;
    (void)state;
    run_for_east(&stage, LENDING("ON_LOST = keep\n"));
    evict(&stage, 5);
    assert_null(site_stage_sent(&stage, MSG_RUN_CONTROL, 0));
    site_stage_release(&stage);
}

/* The journal as it is when a consumer acknowledges none of so many ends. */
static void add_ended(struct site_stage *stage, int count)
{
    struct host_slots host = {"s1", 1};
    struct job_spec spec = site_stage_spec("q", "work");
    stage->rows =
        mem_grow(stage->rows, (size_t)(stage->n_rows + count), sizeof(*stage->rows));
    stage->rows_capacity = stage->n_rows + count;
    for (int i = 1; i <= count; i++) {
        struct row row = {.kind = ROW_RUN};
        row.run = (struct row_run){.run = {"east", (uint64_t)i},
                                   .job = "44",
                                   .lease = "south/spare/east",
                                   .record = RUN_RECORD_ENDED,
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .spec = &spec,
                                   .exit = {.end = RUN_END_EXITED, .text = ""}};
        struct stage_row *kept = &stage->rows[stage->n_rows++];
        arena_init(&kept->arena);
        row_copy(&kept->arena, &row, &kept->row);
    }
}

/* Ends are on record until they are acknowledged: their number is bounded. */
static void test_unacknowledged(void **state)
{
    enum { MOST = 10000 };
    struct site_stage stage;
    (void)state;
    init(&stage);
    add_ended(&stage, MOST);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_broker_up(&stage);
    start(&stage, MOST + 1, 1);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_STATE), 0);
    assert_non_null(site_stage_effect(&stage, EFFECT_LOG));
    assert_null(site_stage_run_row(&stage, "east", MOST + 1));
    /* With one that is acknowledged there is room for one. */
    say(&stage, MSG_ATTEMPT_ACK, "east", MOST / 2);
    start(&stage, MOST + 1, 1);
    assert_int_equal(answer(&stage)->run.attempt, MOST + 1);
    assert_non_null(site_stage_run_row(&stage, "east", MOST + 1));
    site_stage_release(&stage);
}

/* Nothing is dispatched to a host that has not connected since the site started. */
static void test_host_that_is_awaited(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, lending);
    site_stage_broker_up(&stage);
    start(&stage, 1, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);
    assert_string_equal(answer(&stage)->reason, "host s1 has not connected yet");
    site_stage_host_up(&stage, "s1");
    start(&stage, 2, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    start(&stage, 3, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);
    site_stage_release(&stage);
}

/* East's journal is older than what was admitted here: its new job gets the number of a
 * lost one, whose run must not be taken for the new job's. */
static void test_another_run_has_the_number(void **state)
{
    enum { OLD = 900, FRESH = 901 };
    struct site_stage stage;
    (void)state;
    init(&stage);
    stage.nonce = OLD;
    start(&stage, 5, 1);
    host_says(&stage, 5, RUN_WAITING);
    host_says(&stage, 5, RUN_RUNNING);
    stage.nonce = FRESH;
    start(&stage, 5, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);
    assert_int_equal(answer(&stage)->run.nonce, FRESH);
    assert_int_equal(answer(&stage)->mark.attempt, 5);
    assert_int_equal(answer(&stage)->mark.job, 44);
    start(&stage, 3, 1); /* never used, but below */
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);
    /* Nothing else that is said of the new run reaches the old one. */
    say(&stage, MSG_ATTEMPT_ASK, "east", 5);
    assert_int_equal(answer(&stage)->state, ATTEMPT_LOST);
    order(&stage, 5, 1, CONTROL_KILL);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    stage.nonce = OLD;
    host_says(&stage, 5, RUN_ENDED);
    stage.nonce = FRESH;
    say(&stage, MSG_ATTEMPT_ACK, "east", 5);
    assert_non_null(site_stage_run_row(&stage, "east", 5)); /* not acknowledged */
    /* The marks are on record. */
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    start(&stage, 5, 1);
    assert_int_equal(answer(&stage)->mark.attempt, 5);
    assert_int_equal(answer(&stage)->mark.job, 44);
    site_stage_release(&stage);
}

/* What east asks for after its journal was replaced. */
static void test_runs_are_described(void **state)
{
    enum { OLD = 900 };
    struct site_stage stage;
    struct msg ask = {.kind = MSG_ATTEMPT_ASK, .site = "east"};
    (void)state;
    init(&stage);
    stage.nonce = OLD;
    start(&stage, 4, 1);
    ask.attempt.run = (struct run_id){"east", 5, 0};
    ask.attempt.lists = true;
    ask.attempt.list_to = 9;
    site_stage_broker(&stage, &ask);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_FOUND), 0);
    ask.attempt.run.attempt = 2;
    site_stage_broker(&stage, &ask);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_FOUND), 1);
    const struct msg *found = site_stage_sent(&stage, MSG_ATTEMPT_FOUND, 0);
    assert_string_equal(found->site, "east");
    assert_int_equal(found->start.run.attempt, 4);
    assert_int_equal(found->start.run.nonce, OLD);
    assert_string_equal(found->start.job, "44");
    assert_string_equal(found->start.lease, "south/spare/east");
    assert_string_equal(found->start.spec.command, "work");
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- an old journal */

enum { LATER = 1000 };

/* The host has heard of more commits than the journal has. */
static void host_knows_more(struct site_stage *stage)
{
    struct peer from = site_stage_host("s1");
    struct msg msg = {.kind = MSG_HOST_HELLO, .session = ++stage->host_session};
    msg.site = "";
    msg.host_hello = (struct msg_host_hello){.name = "s1",
                                             .boot_id = "boot-1",
                                             .knows_nonces = true,
                                             .mark = {.commits = LATER}};
    site_stage_message(stage, &from, &msg);
}

/* RUN_FOUND of a run of east that the journal does not have. */
static void host_finds(struct site_stage *stage, uint64_t attempt)
{
    const struct host_slots slots = {"s1", 1};
    struct peer from = site_stage_host("s1");
    struct msg msg = {
        .kind = MSG_RUN_FOUND, .session = stage->host_session, .site = ""};
    msg.run_start = (struct msg_run_start){.run = {"east", attempt, stage->nonce},
                                           .job = "44",
                                           .lease = "south/spare/east",
                                           .hosts = &slots,
                                           .n_hosts = 1,
                                           .spec = site_stage_spec("q", "work"),
                                           .account = "guest"};
    msg.run_start.spec.user = "eva";
    site_stage_message(stage, &from, &msg);
}

/* It is ended, its slot stays in use meanwhile, and its consumer is told how it ended,
 * so that it does not start the job again for being refused. */
static void test_a_run_that_the_journal_lost_is_ended_and_reported(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, lending);
    site_stage_broker_up(&stage);
    host_knows_more(&stage);
    host_finds(&stage, 9);
    host_says(&stage, 9, RUN_RUNNING);
    site_stage_host_synced(&stage, "s1");
    const struct msg *kill = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_non_null(kill);
    assert_int_equal(kill->run_control.control.action, CONTROL_KILL);
    uint64_t number = kill->run_control.control.number;
    start(&stage, 9, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_RUNNING);
    int own, consumers;
    site_host_used(stage.site, "s1", &own, &consumers);
    assert_int_equal(own + consumers, 1);
    site_stage_run_state(
        &stage, "s1", "east", 9,
        &(struct msg_run_state){
            .phase = RUN_ENDED,
            .start_ms = 500,
            .control_done = number,
            .exit = {.end = RUN_END_SIGNALLED, .code = 9, .start_ms = 500}});
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
    assert_int_equal(answer(&stage)->exit.end, RUN_END_LOST);
    assert_int_equal(answer(&stage)->exit.start_ms, 500); /* it did begin */
    site_host_used(stage.site, "s1", &own, &consumers);
    assert_int_equal(own + consumers, 0);
    /* On record until it is acknowledged. */
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    start(&stage, 9, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
    say(&stage, MSG_ATTEMPT_ACK, "east", 9);
    assert_null(site_stage_run_row(&stage, "east", 9));
    site_stage_release(&stage);
}

/* One that has ended by itself is reported as it ended. */
static void test_an_end_that_the_journal_lost_is_reported(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, lending);
    site_stage_broker_up(&stage);
    host_knows_more(&stage);
    host_finds(&stage, 9);
    host_says(&stage, 9, RUN_ENDED);
    assert_int_equal(answer(&stage)->state, ATTEMPT_ENDED);
    assert_int_equal(answer(&stage)->exit.code, 4);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 0);
    site_stage_release(&stage);
}

/* A host that is awaited may have the run: silence, not a refusal. */
static void test_no_answer_while_a_host_is_awaited(void **state)
{
    struct site_stage stage;
    struct msg msg = {.kind = MSG_WELCOME};
    (void)state;
    site_stage_init_text(&stage, lending);
    site_stage_pass(&stage, 1000);
    stage.session = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    msg.welcome = (struct msg_welcome){
        .is_accepted = true, .text = "", .mark = {.commits = LATER}};
    site_stage_broker(&stage, &msg);
    start(&stage, 9, 1);
    say(&stage, MSG_ATTEMPT_ASK, "east", 9);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_STATE), 0);
    host_knows_more(&stage);
    site_stage_host_synced(&stage, "s1");
    say(&stage, MSG_ATTEMPT_ASK, "east", 9);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_STATE), 0);
    site_stage_settle(&stage);
    site_stage_host_alive(&stage, "s1");
    site_stage_broker_up(&stage);
    start(&stage, 9, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    site_stage_release(&stage);
}

/* A run of a consumer that the journal shows as about to start may have begun: it is
 * not withdrawn before its host has told. */
static void test_a_loaded_run_is_not_withdrawn_unasked(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    start(&stage, 1, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    withdraw(&stage, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_TAKEN);
    stage.host_session++;
    site_stage_host_up(&stage, "s1");
    withdraw(&stage, 1);
    assert_int_equal(answer(&stage)->state, ATTEMPT_LOST);
    site_stage_release(&stage);
}

/* An acknowledgement tells how far the consumer's journal was with the end on record.
 */
static void test_an_acknowledgement_raises_the_mark(void **state)
{
    struct site_stage stage;
    struct msg msg = {.kind = MSG_ATTEMPT_ACK, .site = "east"};
    (void)state;
    init(&stage);
    stage.nonce = 77;
    start(&stage, 1, 1);
    host_says(&stage, 1, RUN_WAITING);
    host_says(&stage, 1, RUN_RUNNING);
    host_says(&stage, 1, RUN_ENDED);
    msg.attempt = (struct msg_attempt){.run = {"east", 1, 77}, .commits = LATER};
    site_stage_broker(&stage, &msg);
    start(&stage, 1, 1); /* by an older copy of the consumer's journal */
    assert_int_equal(answer(&stage)->state, ATTEMPT_REFUSED);
    assert_int_equal(answer(&stage)->mark.commits, LATER);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evicted),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_host_that_is_awaited),
        cmocka_unit_test(test_what_a_run_uses),
        cmocka_unit_test(test_what_a_stopped_run_uses),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_withdrawn),
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_ends_in_time),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_others_runs),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_host_away),
        cmocka_unit_test(test_own_jobs),
        cmocka_unit_test(test_unacknowledged),
        cmocka_unit_test(test_another_run_has_the_number),
        cmocka_unit_test(test_runs_are_described),
        cmocka_unit_test(test_a_run_that_the_journal_lost_is_ended_and_reported),
        cmocka_unit_test(test_an_end_that_the_journal_lost_is_reported),
        cmocka_unit_test(test_no_answer_while_a_host_is_awaited),
        cmocka_unit_test(test_a_loaded_run_is_not_withdrawn_unasked),
        cmocka_unit_test(test_an_acknowledgement_raises_the_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
