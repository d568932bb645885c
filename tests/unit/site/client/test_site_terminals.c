/* SPDX-License-Identifier: Apache-2.0 */
/* Interactive jobs and the connections of their users: which users may have one, what
 * passes through it, and what its end does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>

#include "base/err.h"
#include "base/value.h"
#include "site/client/site_client.h"
#include "tests/unit/site/site_stage.h"

enum { LINK = 77, TOKEN = 5 };

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nBROKER = tcp://127.0.0.1:1\nKEY = k\n"
    "BROKER_KEY = b\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 30\nRERUNNABLE = yes\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = batch\nPRIORITY = 20\nINTERACTIVE = NO\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = desk\nPRIORITY = 20\nINTERACTIVE = ONLY\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = away\nPRIORITY = 20\nHOSTS = allremote\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = all\nPRIORITY = 20\nHOSTS = all allremote\nEnd Queue\n";

static struct peer user(const char *name, uint64_t link)
{
    struct peer peer = site_stage_user(name);
    peer.link = link;
    return peer;
}

static void init(struct site_stage *stage)
{
    site_stage_init_text(stage, site_text);
    site_stage_host_up(stage, "s1");
}

static const struct msg_reply *submit(struct site_stage *stage, const char *queue,
                                      const struct job_spec *like)
{
    struct peer from = user("ana", LINK);
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec(queue, "work");
    msg.submit.spec.interaction = like->interaction;
    msg.submit.spec.is_rerunnable = like->is_rerunnable;
    msg.submit.spec.name = like->name != NULL ? like->name : "";
    msg.submit.terms.depend = "";
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static uint64_t start(struct site_stage *stage)
{
    const struct job_spec like = {.interaction = INTERACTION_PTY};
    const struct msg_reply *reply = submit(stage, "local", &like);
    assert_int_equal(reply->code, 0);
    uint64_t id = (uint64_t)value_find(reply->value, "job")->number;
    uint64_t attempt = site_stage_attempt_of(stage, id);
    site_stage_waiting(stage, "s1", attempt, TOKEN);
    site_stage_running(stage, "s1", attempt, TOKEN);
    return id;
}

static void down(struct site_stage *stage, const struct peer *from, const char *job,
                 uint64_t attempt)
{
    struct msg msg = {.kind = MSG_STREAM_DOWN, .site = ""};
    msg.stream_down = (struct msg_stream_down){.run = {"", attempt},
                                               .job = job,
                                               .bytes = (const uint8_t *)"keys",
                                               .n_bytes = 4,
                                               .n_rows = 20,
                                               .n_columns = 70};
    site_stage_message(stage, from, &msg);
}

static void up(struct site_stage *stage, const char *site, uint64_t attempt)
{
    struct peer from = site_stage_host("s1");
    struct msg msg = {
        .kind = MSG_STREAM_UP, .session = stage->host_session, .site = ""};
    msg.stream_up = (struct msg_stream_up){.run = {site, attempt},
                                           .job = "",
                                           .bytes = (const uint8_t *)"text",
                                           .n_bytes = 4,
                                           .got_in = 4,
                                           .note = ""};
    site_stage_message(stage, &from, &msg);
}

static void gone(struct site_stage *stage, uint64_t link)
{
    struct event event = {
        .kind = EVENT_GONE, .now_ms = stage->now_ms, .from = user("ana", link)};
    site_stage_event(stage, &event);
}

static void test_what_is_taken(void **state)
{
    static const struct {
        const char *why, *queue;
        struct job_spec like;
        const char *refused; /* a part of the sentence; NULL: taken */
    } rows[] = {
        {"a plain job", "local", {.interaction = INTERACTION_NONE}, NULL},
        {"pipes", "local", {.interaction = INTERACTION_PIPES}, NULL},
        {"a queue without",
         "batch",
         {.interaction = INTERACTION_PTY},
         "does not accept interactive"},
        {"for nothing else",
         "desk",
         {.interaction = INTERACTION_NONE},
         "only accepts interactive"},
        {"where it belongs", "desk", {.interaction = INTERACTION_SHELL}, NULL},
        {"whatever is lent", "away", {.interaction = INTERACTION_PTY}, NULL},
        {"rerunnable",
         "local",
         {.interaction = INTERACTION_PTY, .is_rerunnable = true},
         "rerunnable"},
        {"an array",
         "local",
         {.interaction = INTERACTION_PTY, .name = "a[1-2]"},
         "array"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        init(&stage);
        const struct msg_reply *reply = submit(&stage, rows[i].queue, &rows[i].like);
        bool is_right = rows[i].refused == NULL
                            ? reply->code == 0
                            : strstr(reply->text, rows[i].refused) != NULL;
        if (!is_right || (reply->code == 0) != (rows[i].refused == NULL)) {
            fail_msg("%s: %d %s", rows[i].why, reply->code, reply->text);
        }
        site_stage_release(&stage);
    }
}

/* The user is told where it begins; what he types goes to that host, what the job
 * writes to his connection, and neither to or from anybody else. */
static void test_what_passes(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id = start(&stage), attempt = site_stage_attempt_of(&stage, id);
    const struct msg *note = site_stage_sent(&stage, MSG_STREAM_UP, 0);
    assert_string_equal(note->stream_up.note, "<<Starting on s1>>");
    assert_int_equal(note->stream_up.run.attempt, attempt);
    assert_false(site_stage_job_row(&stage, id)->is_killed);

    struct peer ana = user("ana", LINK), other = user("ana", LINK + 1);
    struct peer root = user("root", LINK + 2);
    down(&stage, &ana, "1", attempt);
    const struct msg *typed = site_stage_sent(&stage, MSG_STREAM_DOWN, 0);
    assert_string_equal(typed->stream_down.run.site, "south");
    assert_int_equal(typed->stream_down.run.attempt, attempt);
    assert_memory_equal(typed->stream_down.bytes, "keys", 4);
    down(&stage, &ana, "1", attempt + 1); /* of a run that is not this one */
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0);
    struct msg again = {.kind = MSG_STREAM_DOWN, .site = ""};
    again.stream_down = (struct msg_stream_down){
        .run = {"", 0}, .job = "1", .bytes = (const uint8_t *)"", .is_again = true};
    site_stage_message(&stage, &ana, &again); /* the note was lost */
    assert_int_equal(site_stage_sent(&stage, MSG_STREAM_UP, 0)->stream_up.run.attempt,
                     attempt);
    down(&stage, &other, "1", attempt);
    assert_int_equal(site_stage_sent(&stage, MSG_ERROR, 0)->error.code, ERR_EXISTS);
    down(&stage, &root, "1", attempt); /* nor an administrator */
    assert_int_equal(site_stage_sent(&stage, MSG_ERROR, 0)->error.code, ERR_DENIED);
    down(&stage, &ana, "2", attempt);
    assert_int_equal(site_stage_sent(&stage, MSG_ERROR, 0)->error.code, ERR_NOT_FOUND);

    up(&stage, "south", attempt);
    const struct msg *written = site_stage_sent(&stage, MSG_STREAM_UP, 0);
    assert_string_equal(written->stream_up.job, "1");
    assert_memory_equal(written->stream_up.bytes, "text", 4);
    up(&stage, "south", attempt + 1);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);
    up(&stage, "north", attempt); /* a site of the same name it is not */
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);
    site_stage_release(&stage);
}

static void contract_in(struct site_stage *stage, uint64_t epoch,
                        bool takes_interactive, enum lease_state state)
{
    struct host_split split = {.host = "n1", .n_slots = 4, .consumer = 4};
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){.lease = "north/spare/south",
                                         .revision = (uint64_t)++stage->now_ms,
                                         .epoch = epoch,
                                         .type = LEASE_SHARED,
                                         .state = state,
                                         .is_made = true,
                                         .is_provider_here = true,
                                         .takes_interactive = takes_interactive,
                                         .hosts = &split,
                                         .n_hosts = 1};
    site_stage_broker(stage, &msg);
}

static void contract(struct site_stage *stage, uint64_t epoch, bool takes_interactive)
{
    contract_in(stage, epoch, takes_interactive, LEASE_ACTIVE);
}

/* Why the only job of that id does not go to the only lease. */
static void assert_reason(struct site_stage *stage, const char *id, const char *reason)
{
    const struct msg_query query = {.kind = QUERY_JOBS, .name = id};
    const struct msg_reply *shown = site_stage_query(stage, &query);
    const struct value *row = value_find(shown->value, "jobs")->first;
    const struct value *lease = value_find(row, "leases")->first;
    assert_string_equal(value_find(lease, "reason")->text, reason);
}

static void up_from(struct site_stage *stage, const char *provider, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_STREAM_UP, .site = provider};
    msg.stream_up = (struct msg_stream_up){.run = {"south", attempt},
                                           .job = "",
                                           .bytes = (const uint8_t *)"text",
                                           .n_bytes = 4,
                                           .note = ""};
    site_stage_broker(stage, &msg);
}

/* On a borrowed host its terminal goes by its provider, and nobody else. */
static void test_borrowed(void **state)
{
    static const struct job_spec like = {.interaction = INTERACTION_PTY};
    struct site_stage stage;
    (void)state;
    init(&stage);
    site_stage_broker_up(&stage);
    contract(&stage, 1, true);
    uint64_t id =
        (uint64_t)value_find(submit(&stage, "away", &like)->value, "job")->number;
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    struct peer ana = user("ana", LINK), host = site_stage_host("s1");
    down(&stage, &ana, "1", attempt);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0); /* not begun */
    struct msg_attempt_state fill = {.state = ATTEMPT_RUNNING, .start_ms = 500};
    site_stage_attempt(&stage, attempt, &fill);
    assert_string_equal(site_stage_sent(&stage, MSG_STREAM_UP, 0)->stream_up.note,
                        "<<Starting on n1@north>>");
    down(&stage, &ana, "1", attempt);
    const struct msg *typed = site_stage_sent(&stage, MSG_STREAM_DOWN, 0);
    assert_string_equal(typed->site, "north");
    assert_int_equal(typed->session, stage.session);
    assert_string_equal(typed->stream_down.run.site, "south");
    assert_int_equal(typed->stream_down.run.attempt, attempt);
    assert_memory_equal(typed->stream_down.bytes, "keys", 4);

    up_from(&stage, "north", attempt);
    assert_memory_equal(site_stage_sent(&stage, MSG_STREAM_UP, 0)->stream_up.bytes,
                        "text", 4);
    up_from(&stage, "west", attempt); /* it is not west's run */
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);
    up_from(&stage, "north", attempt + 1);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);
    struct msg own = {.kind = MSG_STREAM_UP, .session = stage.host_session, .site = ""};
    own.stream_up = (struct msg_stream_up){
        .run = {"south", attempt}, .job = "", .bytes = (const uint8_t *)"", .note = ""};
    site_stage_message(&stage, &host, &own); /* nor a host's of ours */
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_UP), 0);
    gone(&stage, LINK);
    const struct msg *hangup = site_stage_sent(&stage, MSG_ATTEMPT_CONTROL, 0);
    const struct msg *end = site_stage_sent(&stage, MSG_ATTEMPT_CONTROL, 1);
    assert_int_equal(hangup->lifecycle_control.control.signal, SIGHUP);
    assert_int_equal(end->lifecycle_control.control.action, CONTROL_KILL);
    site_stage_release(&stage);
}

static const char *note_at(const struct site_stage *stage)
{
    const struct msg *up = site_stage_sent(stage, MSG_STREAM_UP, 0);
    return up != NULL ? up->stream_up.note : "";
}

static void tell_contract(struct site_stage *stage, enum lease_state state,
                          const struct recall *recall)
{
    struct host_split split = {.host = "n1", .n_slots = 4, .consumer = 4};
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){.lease = "north/spare/south",
                                         .revision = (uint64_t)++stage->now_ms,
                                         .epoch = 1,
                                         .type = LEASE_POOL,
                                         .state = state,
                                         .is_made = true,
                                         .is_provider_here = true,
                                         .takes_interactive = true,
                                         .recalls = recall,
                                         .n_recalls = recall != NULL,
                                         .hosts = &split,
                                         .n_hosts = 1};
    site_stage_broker(stage, &msg);
}

/* Its lease is drained, its slots are wanted back: connected users are told, once. */
static void test_wishes(void **state)
{
    static const struct job_spec like = {.interaction = INTERACTION_PTY};
    static const struct recall recall = {.n_held = 0, .left_ms = 90000};
    struct site_stage stage;
    (void)state;
    init(&stage);
    site_stage_broker_up(&stage);
    tell_contract(&stage, LEASE_ACTIVE, NULL);
    uint64_t id =
        (uint64_t)value_find(submit(&stage, "away", &like)->value, "job")->number;
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    struct msg_attempt_state fill = {.state = ATTEMPT_RUNNING, .start_ms = 500};
    site_stage_attempt(&stage, attempt, &fill);
    tell_contract(&stage, LEASE_DRAINING, NULL);
    assert_string_equal(note_at(&stage),
                        "<<Its lease is being drained: it keeps running, "
                        "nothing new starts there>>");
    tell_contract(&stage, LEASE_DRAINING, NULL);
    assert_string_equal(note_at(&stage), "");
    tell_contract(&stage, LEASE_ACTIVE, NULL);
    assert_string_equal(note_at(&stage), "<<Its lease is no longer being drained>>");
    assert_string_equal(site_stage_job_text(&stage, id, "recall_at"), "");
    tell_contract(&stage, LEASE_ACTIVE, &recall);
    assert_string_equal(note_at(&stage), "<<Its slots are recalled: in 90 s it is "
                                         "ended, and waits again>>");
    assert_string_not_equal(site_stage_job_text(&stage, id, "recall_at"), "");
    tell_contract(&stage, LEASE_ACTIVE, NULL);
    assert_string_equal(note_at(&stage), "<<Its slots are no longer recalled>>");
    site_stage_release(&stage);
}

/* The broker is silent: connected users are told, and again when it is back. */
static void test_cut(void **state)
{
    static const struct job_spec like = {.interaction = INTERACTION_PTY};
    struct site_stage stage;
    const char *note = NULL;
    (void)state;
    init(&stage);
    site_stage_broker_up(&stage);
    contract(&stage, 1, true);
    uint64_t id =
        (uint64_t)value_find(submit(&stage, "away", &like)->value, "job")->number;
    struct msg_attempt_state fill = {.state = ATTEMPT_RUNNING, .start_ms = 500};
    site_stage_attempt(&stage, site_stage_attempt_of(&stage, id), &fill);
    for (int i = 0; i < 20 && note == NULL; i++) {
        site_stage_pass(&stage, 500);
        const struct msg *up = site_stage_sent(&stage, MSG_STREAM_UP, 0);
        note = up != NULL ? up->stream_up.note : NULL;
    }
    assert_non_null(note);
    assert_string_equal(note,
                        "<<The broker cannot be reached: the session waits for it>>");
    site_stage_broker_up(&stage);
    assert_string_equal(site_stage_sent(&stage, MSG_STREAM_UP, 0)->stream_up.note,
                        "<<Connected again>>");
    site_stage_release(&stage);
}

/* A provider that takes none: refused where nothing else could take it; it stays at
 * home where there is one, until the provider thinks better of it. */
static void test_unwanted(void **state)
{
    static const struct job_spec like = {.interaction = INTERACTION_PTY};
    struct site_stage stage;
    (void)state;
    init(&stage);
    site_stage_broker_up(&stage);
    contract(&stage, 1, false);
    const struct msg_reply *reply = submit(&stage, "away", &like);
    assert_int_equal(reply->code, ERR_STATE);
    assert_non_null(strstr(
        reply->text, ": all its hosts are borrowed, and their providers accept no "
                     "interactive jobs; see `sublet queues -l` for other queues"));
    for (int i = 0; i < 2; i++) { /* s1 is full */
        start(&stage);
    }
    uint64_t id =
        (uint64_t)value_find(submit(&stage, "all", &like)->value, "job")->number;
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    assert_reason(&stage, "3", "its provider accepts no interactive jobs");
    contract_in(&stage, 1, false, LEASE_INACTIVE); /* which passes, and hides nothing */
    assert_reason(&stage, "3", "its provider accepts no interactive jobs");
    contract(&stage, 1, false);
    uint64_t batch = site_stage_submit(&stage, "all", "work");
    assert_true(site_stage_attempt_of(&stage, batch) != 0);
    contract(&stage, 1, true);
    site_stage_pass(&stage, 1000);
    assert_true(site_stage_attempt_of(&stage, id) != 0);
    site_stage_release(&stage);
}

static void test_the_users_end(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id = start(&stage), attempt = site_stage_attempt_of(&stage, id);
    gone(&stage, LINK + 1); /* somebody else's */
    assert_false(site_stage_job_row(&stage, id)->is_killed);
    gone(&stage, LINK);
    const struct msg *hangup = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_int_equal(hangup->run_control.control.signal, SIGHUP);
    assert_int_equal(
        site_stage_sent(&stage, MSG_RUN_CONTROL, 1)->run_control.control.action,
        CONTROL_KILL);
    site_stage_exited(&stage, "s1", attempt, 1);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "killed by the end of its user's connection");
    site_stage_release(&stage);
}

static void test_a_waiting_one(void **state)
{
    static const struct job_spec like = {.interaction = INTERACTION_PIPES};
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, site_text); /* no host is up */
    uint64_t id =
        (uint64_t)value_find(submit(&stage, "local", &like)->value, "job")->number;
    gone(&stage, LINK);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

/* After a restart the user's side comes back, and is told where the job is; or it does
 * not, and the job ends. */
static void test_restart(void **state)
{
    for (int comes_back = 0; comes_back < 2; comes_back++) {
        struct site_stage stage;
        (void)state;
        init(&stage);
        uint64_t id = start(&stage), attempt = site_stage_attempt_of(&stage, id);
        struct peer ana = user("ana", 1);
        site_stage_restart(&stage);
        site_stage_host_hello(&stage, "s1");
        site_stage_running(&stage, "s1", attempt, TOKEN);
        site_stage_host_synced(&stage, "s1");
        if (comes_back != 0) {
            down(&stage, &ana, "1", attempt);
            assert_int_equal(
                site_stage_sent(&stage, MSG_STREAM_UP, 0)->stream_up.run.attempt,
                attempt);
            assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 1);
        }
        for (int ms = 0; ms <= TERMINALS_PATIENCE_MS; ms += 2000) {
            site_stage_pass(&stage, 2000);
            site_stage_host_alive(&stage, "s1");
        }
        assert_int_equal(site_stage_job_row(&stage, id)->is_killed, comes_back == 0);
        site_stage_release(&stage);
    }
}

/* The run is gone, the connection stays: the user hears why, and of the next one. */
static void test_requeued(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id = start(&stage), attempt = site_stage_attempt_of(&stage, id);
    struct peer ana = user("ana", LINK);
    const char *job = "1";
    struct msg msg = {.kind = MSG_JOB_MOVE, .site = ""};
    msg.job_move = (struct msg_job_move){
        .request = 9, .move = MOVE_REQUEUE, .queue = "", .jobs = &job, .n_jobs = 1};
    site_stage_message(&stage, &ana, &msg);
    site_stage_exited(&stage, "s1", attempt, 130);
    const struct msg *note = site_stage_sent(&stage, MSG_STREAM_UP, 0);
    assert_string_equal(note->stream_up.note, "<<Waiting again: requeued by ana>>");
    assert_int_equal(note->stream_up.run.attempt, 0);
    uint64_t next = site_stage_attempt_of(&stage, id);
    assert_true(next > attempt);
    down(&stage, &ana, "1", attempt);
    assert_int_equal(site_stage_count(&stage, MSG_STREAM_DOWN), 0);
    site_stage_waiting(&stage, "s1", next, TOKEN);
    site_stage_running(&stage, "s1", next, TOKEN);
    assert_int_equal(site_stage_sent(&stage, MSG_STREAM_UP, 0)->stream_up.run.attempt,
                     next);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_taken), cmocka_unit_test(test_what_passes),
        cmocka_unit_test(test_the_users_end), cmocka_unit_test(test_a_waiting_one),
        cmocka_unit_test(test_restart),       cmocka_unit_test(test_requeued),
        cmocka_unit_test(test_borrowed),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_wishes),        cmocka_unit_test(test_unwanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
