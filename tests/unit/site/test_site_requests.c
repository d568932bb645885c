/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line asks for: listings, pages, output, and what the broker knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "site/view/site_view.h"
#include "tests/unit/site/site_stage.h"

static int64_t number(const struct value *row, const char *path)
{
    const struct value *value = value_find(row, path);
    assert_non_null(value);
    return value->kind == VALUE_INT ? value->number : -1;
}

static const char *text(const struct value *row, const char *path)
{
    const struct value *value = value_find(row, path);
    assert_non_null(value);
    return value->kind == VALUE_TEXT ? value->text : "";
}

/* The row of a listing whose `key` is `name`. */
static const struct value *row_of(struct site_stage *stage, enum query_kind kind,
                                  bool exported, const char *array, const char *key,
                                  const char *name)
{
    struct msg_query query = {.kind = kind, .exported = exported};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    assert_int_equal(reply->code, 0);
    assert_int_equal(number(reply->value, "schema_version"), 1);
    const struct value *row = value_find(reply->value, array)->first;
    while (row != NULL && strcmp(text(row, key), name) != 0) {
        row = row->next;
    }
    assert_non_null(row);
    return row;
}

static void test_hosts_and_queues(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 2, true);
    for (int i = 0; i < 3; i++) { /* two on s1, one waits */
        site_stage_submit(&stage, "local", "work");
    }
    site_stage_submit(&stage, "lease", "work");
    site_stage_waiting(&stage, "s1", site_stage_attempt_of(&stage, 1), 7);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, 1), 7);
    const struct value *row = row_of(&stage, QUERY_HOSTS, false, "hosts", "host", "s1");
    assert_string_equal(text(row, "status"), "closed_Full");
    assert_int_equal(number(row, "max"), 2);
    assert_int_equal(number(row, "njobs"), 2);
    assert_int_equal(number(row, "run"), 1);
    assert_int_equal(number(row, "rsv"), 1); /* starting */
    row = row_of(&stage, QUERY_HOSTS, false, "hosts", "host", "s2");
    assert_string_equal(text(row, "status"), "unavail");
    row = row_of(&stage, QUERY_HOSTS, false, "hosts", "host", "n1@north");
    assert_string_equal(text(row, "status"), "ok");
    assert_int_equal(number(row, "max"), 2);
    assert_int_equal(number(row, "njobs"), 1);
    assert_string_equal(text(row, "lease"), "north/spare/south");
    row = row_of(&stage, QUERY_QUEUES, false, "queues", "queue", "local");
    assert_int_equal(number(row, "priority"), 40);
    assert_int_equal(number(row, "njobs"), 3);
    assert_int_equal(number(row, "run"), 1);
    assert_int_equal(number(row, "pend"), 2);
    assert_string_equal(text(row, "hosts"), "all");
    struct msg_query query = {.kind = QUERY_HOSTS, .name = "s9"};
    assert_int_equal(site_stage_query(&stage, &query)->code, ERR_NOT_FOUND);
    site_stage_release(&stage);
}

/* A borrowed host that an exclusive job uses is closed, as an own one would be. */
static void test_a_borrowed_host_that_is_used_exclusively(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = south\nSPOOL = /s\nBROKER = tcp://b:1\n"
                         "KEY = k\nBROKER_KEY = b\nEnd Site\n"
                         "Begin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"
                         "Begin Queue\nQUEUE_NAME = lease\nHOSTS = allremote\n"
                         "EXCLUSIVE = Y\nEnd Queue\n");
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 2, true);
    spec.is_exclusive = true;
    uint64_t id = site_stage_submit_spec(&stage, "ana", &spec);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
    const struct value *row =
        row_of(&stage, QUERY_HOSTS, false, "hosts", "host", "n1@north");
    assert_string_equal(text(row, "status"), "closed_Excl");
    site_stage_release(&stage);
}

/* cu[excl] needs a queue that allows it for units of the type, or of a coarser one. */
static void test_exclusive_units(void **state)
{
    static const struct {
        const char *queue, *res_req;
        bool is_taken;
    } rows[] = {{"no", "cu[excl]", false},
                {"hosts", "cu[excl]", false},
                {"hosts", "cu[balance]", true},
                {"encl", "cu[excl]", true},
                {"encl", "cu[excl:type=rack]", false},
                {"rack", "cu[excl]", true},
                {"rack", "cu[excl:type=rack]", true}};
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = north\nSPOOL = /s\nEnd Site\n"
                         "Begin Parameters\nCOMPUTE_UNIT_TYPES = encl rack\n"
                         "End Parameters\n"
                         "Begin Host\nHOST_NAME MXJ\nn1 2\nEnd Host\n"
                         "Begin ComputeUnit\nNAME MEMBER TYPE\ne1 (n1) encl\n"
                         "r1 (e1) rack\nEnd ComputeUnit\n"
                         "Begin Queue\nQUEUE_NAME = no\nEnd Queue\n"
                         "Begin Queue\nQUEUE_NAME = hosts\nEXCLUSIVE = Y\nEnd Queue\n"
                         "Begin Queue\nQUEUE_NAME = encl\nEXCLUSIVE = CU\nEnd Queue\n"
                         "Begin Queue\nQUEUE_NAME = rack\nEXCLUSIVE = CU[rack]\n"
                         "End Queue\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_spec spec = site_stage_spec(rows[i].queue, "work");
        spec.res_reqs = &rows[i].res_req;
        spec.n_res_reqs = 1;
        assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec) != 0,
                         rows[i].is_taken);
    }
    site_stage_release(&stage);
}

static void test_exports(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = south\nSPOOL = /nowhere\nEnd Site\n"
                         "Begin Host\nHOST_NAME MXJ\ns1 4\nEnd Host\n"
                         "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
                         "Begin HostExport\nPER_HOST = s1\nSLOTS = 3\nTYPE = shared\n"
                         "DISTRIBUTION = ([east, 1])\nEnd HostExport\n");
    const struct value *row =
        row_of(&stage, QUERY_EXPORTS, false, "exports", "lease", "south/1/east");
    assert_string_equal(text(row, "policy"), "1");
    assert_string_equal(text(row, "type"), "shared");
    assert_string_equal(text(row, "consumer"), "east");
    assert_string_equal(text(row, "state"), "pending");
    assert_int_equal(number(row, "epoch"), 1);
    assert_int_equal(number(row, "slots"), 3);
    assert_int_equal(number(row, "lent"), 1);
    assert_string_equal(text(value_find(row, "hosts")->first, "host"), "s1");
    assert_int_equal(number(value_find(row, "hosts")->first, "slots"), 3);
    row = row_of(&stage, QUERY_HOSTS, true, "hosts", "host", "s1");
    assert_int_equal(number(row, "max"), 1);
    assert_int_equal(number(row, "njobs"), 0);
    site_stage_release(&stage);
}

static int64_t rendered_bytes(const struct value *value)
{
    int64_t bytes = 4;
    bytes += value->key != NULL ? (int64_t)strlen(value->key) + 4 : 0;
    bytes += value->text != NULL ? (int64_t)strlen(value->text) + 2 : 20;
    for (const struct value *at = value->first; at != NULL; at = at->next) {
        bytes += rendered_bytes(at);
    }
    return bytes;
}

/* `hosts -e`: a row for each host and consumer, over all leases that it has there. */
static void test_exported_hosts(void **state)
{
    static const char config[] =
        "Begin Site\nNAME = south\nSPOOL = /nowhere\nBROKER = tcp://127.0.0.1:1\n"
        "KEY = k\nBROKER_KEY = b\nEnd Site\n"
        "Begin Host\nHOST_NAME MXJ\ns1 4\nEnd Host\n"
        "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
        "Begin HostExport\nNAME = a\nPER_HOST = s1\nSLOTS = 2\n"
        "DISTRIBUTION = ([east, 1] [west, 1])\nEnd HostExport\n"
        "Begin HostExport\nNAME = b\nPER_HOST = s1\nSLOTS = 1\n"
        "DISTRIBUTION = ([east, 1])\nEnd HostExport\n";
    static const struct {
        const char *consumer, *lease;
        int n_leases, max, exported;
    } rows[] = {{"east", "", 2, 2, 2}, {"west", "south/a/west", 1, 1, 1}};
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, config);
    struct msg_query query = {.kind = QUERY_HOSTS, .exported = true};
    const struct msg_reply *reply = site_stage_query(&stage, &query);
    const struct value *row = value_find(reply->value, "hosts")->first;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, row = row->next) {
        assert_non_null(row);
        assert_string_equal(text(row, "host"), "s1");
        assert_string_equal(text(row, "consumer"), rows[i].consumer);
        assert_string_equal(text(row, "lease"), rows[i].lease);
        assert_int_equal(value_find(row, "leases")->count, rows[i].n_leases);
        assert_int_equal(number(row, "max"), rows[i].max);
        assert_int_equal(number(row, "exported"), rows[i].exported);
    }
    assert_null(row);
    site_stage_release(&stage);
}

static void test_pages(void **state)
{
    enum { JOBS = 700 };
    struct site_stage stage;
    struct msg_query query = {.kind = QUERY_JOBS};
    char command[3000], after[32] = "";
    int n_rows = 0, n_pages = 0;
    int64_t last = 0;
    (void)state;
    memset(command, 'x', sizeof(command));
    command[sizeof(command) - 1] = '\0';
    site_stage_init(&stage);
    for (int i = 0; i < JOBS; i++) {
        site_stage_submit(&stage, "local", command);
    }
    do {
        query.after = after;
        const struct msg_reply *reply = site_stage_query(&stage, &query);
        assert_true(rendered_bytes(reply->value) < FRAME_MAX * 3 / 4);
        for (const struct value *row = value_find(reply->value, "jobs")->first;
             row != NULL; row = row->next) {
            long id = strtol(value_find(row, "id")->text, NULL, 10);
            assert_true(id > last); /* none twice, none left out */
            last = id;
            n_rows++;
        }
        n_pages++;
        snprintf(after, sizeof(after), "%s", reply->next);
    } while (after[0] != '\0');
    assert_int_equal(n_rows, JOBS);
    assert_true(n_pages > 1);
    query.after = "";
    query.limit = 10;
    const struct msg_reply *reply = site_stage_query(&stage, &query);
    assert_int_equal(value_find(reply->value, "jobs")->count, 10);
    assert_string_equal(reply->next, "10");
    query.name = "7"; /* one job: its command in full */
    reply = site_stage_query(&stage, &query);
    assert_int_equal(strlen(text(value_find(reply->value, "jobs")->first, "command")),
                     sizeof(command) - 1);
    assert_string_equal(reply->next, "");
    site_stage_release(&stage);
}

static void test_filters(void **state)
{
    static const struct {
        struct msg_query query;
        int count;
        const char *why;
    } rows[] = {
        {{.user = "ana"}, 2, "unfinished jobs of ana"},
        {{.user = "ana", .with_ended = true}, 3, "with the one that was killed"},
        {{.queue = "lease"}, 1, "of a queue"},
        {{.host = "s1"}, 1, "on a host"},
        {{.name = "3"}, 1, "by id, though it has ended"},
        {{.name = "lisa"}, 1, "by name"},
        {{.user = "nobody"}, 0, "of nobody"},
    };
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_submit(&stage, "local", "work");
    site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_control(&stage, "ana", "3", CONTROL_KILL, 0);
    spec = site_stage_spec("local", "work");
    spec.name = "lisa";
    spec.n_slots = 2;
    site_stage_submit_spec(&stage, "bob", &spec);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct msg_reply *reply = site_stage_query(&stage, &rows[i].query);
        int count = value_find(reply->value, "jobs")->count;
        if (count != rows[i].count) {
            fail_msg("%s: %d jobs", rows[i].why, count);
        }
    }
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- output */

static const struct msg_reply *peek(struct site_stage *stage, const char *user,
                                    const char *job, enum output_stream stream,
                                    int64_t offset)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_PEEK, .site = ""};
    msg.peek = (struct msg_peek){
        .request = ++stage->request, .job = job, .stream = stream, .offset = offset};
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

static void host_gives(struct site_stage *stage, uint64_t attempt, uint64_t request,
                       const char *bytes, bool is_end)
{
    struct peer host = site_stage_host("s1");
    struct msg msg = {.kind = MSG_OUTPUT, .session = stage->host_session, .site = ""};
    msg.output = (struct msg_output){.run = {"south", attempt},
                                     .request = request,
                                     .bytes = (const uint8_t *)bytes,
                                     .n_bytes = (int)strlen(bytes),
                                     .is_end = is_end};
    site_stage_message(stage, &host, &msg);
}

static void test_peek(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_submit(&stage, "local", "work");
    assert_int_equal(peek(&stage, "ana", "1", OUTPUT_OUT, 0)->code, ERR_STATE);
    site_stage_host_up(&stage, "s1");
    uint64_t attempt = site_stage_attempt_of(&stage, 1);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    assert_int_equal(peek(&stage, "bob", "1", OUTPUT_OUT, 0)->code, ERR_DENIED);
    assert_int_equal(peek(&stage, "ana", "8", OUTPUT_OUT, 0)->code, ERR_NOT_FOUND);

    assert_null(peek(&stage, "ana", "1", OUTPUT_OUT, 10));
    const struct msg *ask = site_stage_sent(&stage, MSG_OUTPUT_ASK, 0);
    assert_int_equal(ask->output_ask.offset, 10);
    uint64_t request = ask->output_ask.request;
    host_gives(&stage, attempt, request, "hello", true);
    const struct msg_reply *reply = site_stage_reply(&stage);
    assert_int_equal(reply->n_bytes, 5);
    assert_memory_equal(reply->bytes, "hello", 5);
    assert_false(reply->is_end); /* it still runs */
    host_gives(&stage, attempt, request, "again", true);
    assert_null(site_stage_reply(&stage)); /* nobody asked */

    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){
            .phase = RUN_ENDED,
            .exit = {.end = RUN_END_EXITED, .start_ms = 1, .out_bytes = 15}});
    assert_null(peek(&stage, "ana", "1", OUTPUT_OUT, 10));
    ask = site_stage_sent(&stage, MSG_OUTPUT_ASK, 0);
    host_gives(&stage, attempt, ask->output_ask.request, "hello", true);
    assert_true(site_stage_reply(&stage)->is_end); /* nothing more, ever */
    assert_true(peek(&stage, "ana", "1", OUTPUT_OUT, 15)->is_end); /* without asking */
    assert_true(peek(&stage, "ana", "1", OUTPUT_ERR, 0)->is_end);  /* there is none */

    assert_null(peek(&stage, "ana", "1", OUTPUT_OUT, 0));
    site_stage_pass(&stage, 11000); /* the host does not answer */
    assert_int_equal(site_stage_reply(&stage)->code, ERR_AWAY);
    site_stage_release(&stage);
}

static void test_peek_file(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("local", "work");
    (void)state;
    spec.out_file = "/tmp/out.%J";
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_submit_spec(&stage, "ana", &spec);
    uint64_t attempt = site_stage_attempt_of(&stage, 1);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    const struct msg_reply *reply = peek(&stage, "ana", "1", OUTPUT_OUT, 0);
    assert_int_equal(reply->code, ERR_STATE);
    assert_string_equal(
        reply->text, "Job <1>: its output goes to the file /tmp/out.1, read it there");
    assert_true(peek(&stage, "ana", "1", OUTPUT_ERR, 0)->is_end);
    site_stage_release(&stage);
}

static void test_peek_borrowed(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    site_stage_submit(&stage, "lease", "work");
    uint64_t attempt = site_stage_attempt_of(&stage, 1);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_RUNNING);
    assert_null(peek(&stage, "ana", "1", OUTPUT_OUT, 0));
    const struct msg *ask = site_stage_sent(&stage, MSG_OUTPUT_ASK, 0);
    assert_string_equal(ask->site, "north");
    struct msg msg = {.kind = MSG_OUTPUT, .site = "north"};
    msg.output = (struct msg_output){.run = {"south", attempt},
                                     .request = ask->output_ask.request,
                                     .bytes = (const uint8_t *)"hi",
                                     .n_bytes = 2};
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_reply(&stage)->n_bytes, 2);
    struct msg_attempt_state fill = {
        .state = ATTEMPT_ENDED,
        .exit = {.end = RUN_END_EXITED, .start_ms = 5, .end_ms = 6, .out_bytes = 9}};
    site_stage_attempt(&stage, attempt, &fill);
    assert_int_equal(peek(&stage, "ana", "1", OUTPUT_OUT, 0)->code, ERR_NOT_FOUND);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- the broker's */

static void test_forward(void **state)
{
    struct site_stage stage;
    struct msg_query query = {.kind = QUERY_LEASES};
    (void)state;
    site_stage_init(&stage);
    assert_int_equal(site_stage_query(&stage, &query)->code, ERR_AWAY);
    site_stage_broker_up(&stage);
    assert_null(site_stage_query(&stage, &query));
    uint64_t first = stage.request;
    const struct msg *asked = site_stage_sent(&stage, MSG_QUERY, 0);
    assert_int_equal(asked->session, stage.session);
    uint64_t ours = asked->query.request;
    struct msg msg = {.kind = MSG_REPLY};
    msg.reply = (struct msg_reply){
        .request = ours, .text = "", .json = "{\"leases\":[]}", .next = "x"};
    struct peer broker = {.kind = PEER_BROKER, .name = ""};
    msg.site = "";
    site_stage_message(&stage, &broker, &msg); /* replies need no session */
    const struct msg_reply *reply = site_stage_reply(&stage);
    assert_int_equal(reply->request, first);
    assert_string_equal(reply->json, "{\"leases\":[]}");
    assert_string_equal(reply->next, "x");
    site_stage_message(&stage, &broker, &msg);
    assert_null(site_stage_reply(&stage)); /* answered once */

    assert_null(site_stage_query(&stage, &query));
    struct msg pong = {.kind = MSG_PONG};
    site_stage_pass(&stage, 5000);
    site_stage_broker(&stage, &pong);
    site_stage_pass(&stage, 5500);
    assert_int_equal(site_stage_reply(&stage)->code, ERR_AWAY);
    site_stage_release(&stage);
}

/* A client that asked the broker that has gone is told when the next one is there, and
 * may ask that one. */
static void test_forward_over_a_restart(void **state)
{
    struct site_stage stage;
    struct msg_query query = {.kind = QUERY_LEASES};
    struct msg stale = {.kind = MSG_ERROR};
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    assert_null(site_stage_query(&stage, &query));
    stale.error.code = ERR_STALE;
    stale.error.text = "";
    site_stage_broker(&stage, &stale);
    assert_null(site_stage_reply(&stage));
    stage.session = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    struct msg welcome = {.kind = MSG_WELCOME};
    welcome.welcome.is_accepted = true;
    welcome.welcome.text = "";
    site_stage_broker(&stage, &welcome);
    assert_non_null(site_stage_reply(&stage));
    assert_int_equal(site_stage_reply(&stage)->code, ERR_AWAY);
    assert_int_equal(site_stage_reply(&stage)->request, stage.request);
    assert_null(site_stage_query(&stage, &query));
    assert_int_equal(site_stage_count(&stage, MSG_QUERY), 1);
    site_stage_release(&stage);
}

static void test_set_reclaim(void **state)
{
    struct site_stage stage;
    struct peer ana = site_stage_user("ana"), root = site_stage_user("root");
    struct msg msg = {.kind = MSG_SET_RECLAIM, .site = ""};
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    msg.set_reclaim = (struct msg_set_reclaim){
        .request = ++stage.request, .scope = RECLAIM_ALL, .name = "", .delay_ms = 9};
    site_stage_message(&stage, &ana, &msg);
    assert_int_equal(site_stage_reply(&stage)->code, ERR_DENIED);
    site_stage_message(&stage, &root, &msg);
    assert_int_equal(site_stage_sent(&stage, MSG_SET_RECLAIM, 0)->set_reclaim.delay_ms,
                     9);
    msg.kind = MSG_FREEZE; /* not for a client to say */
    site_stage_message(&stage, &root, &msg);
    assert_int_equal(site_stage_sent(&stage, MSG_ERROR, 0)->error.code, ERR_DENIED);
    site_stage_release(&stage);
}

/* The broker's question about the site; NULL: it is not answered. */
static const struct msg_reply *ask_overview(struct site_stage *stage,
                                            enum query_kind kind)
{
    struct msg msg = {.kind = MSG_QUERY};
    msg.query = (struct msg_query){.request = ++stage->request,
                                   .kind = kind,
                                   .name = "",
                                   .user = "",
                                   .queue = "",
                                   .host = "",
                                   .after = "",
                                   .by = ""};
    site_stage_broker(stage, &msg);
    return site_stage_reply(stage);
}

#define TOLD(word)                                                                     \
    "Begin Site\nNAME = south\nSPOOL = /nowhere\nBROKER = tcp://127.0.0.1:1\n"         \
    "KEY = k\nBROKER_KEY = b\n" word                                                   \
    "End Site\nBegin Host\nHOST_NAME MXJ\nh[001-130] 1\nEnd Host\n"                    \
    "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"

/* OVERVIEW decides; lists are cut and what is left out is counted. */
static void test_overview(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, TOLD(""));
    site_stage_broker_up(&stage);
    for (int i = 0; i < 60; i++) {
        assert_int_not_equal(site_stage_submit(&stage, "normal", "work"), 0);
    }
    const struct value *told = ask_overview(&stage, QUERY_OVERVIEW)->value;
    assert_int_equal(number(told, "n_hosts"), 130);
    assert_int_equal(value_find(told, "hosts")->count, OVERVIEW_HOSTS);
    assert_string_equal(text(value_find(told, "hosts")->first, "host"), "h001");
    assert_int_equal(value_find(told, "pending")->count, 1);
    assert_string_equal(text(value_find(told, "pending")->first, "pending"), "closed");
    assert_int_equal(number(value_find(told, "pending")->first, "jobs"), 60);
    assert_int_equal(value_find(told, "jobs")->kind, VALUE_NULL);

    assert_true(site_stage_reload(&stage, TOLD("OVERVIEW = names\n")));
    told = ask_overview(&stage, QUERY_OVERVIEW)->value;
    const struct value *jobs = value_find(told, "jobs");
    assert_int_equal(jobs->count, OVERVIEW_JOBS);
    assert_string_equal(text(jobs->first, "id"), "1");
    assert_string_equal(text(jobs->first, "user"), "ana");
    assert_string_equal(text(jobs->first, "pending"), "closed");

    assert_true(site_stage_reload(&stage, TOLD("OVERVIEW = none\n")));
    assert_int_equal(ask_overview(&stage, QUERY_OVERVIEW)->code, ERR_DENIED);
    /* The broker may not read other listings. */
    assert_null(ask_overview(&stage, QUERY_JOBS));
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_and_queues),
        cmocka_unit_test(test_a_borrowed_host_that_is_used_exclusively),
        cmocka_unit_test(test_exclusive_units),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_exported_hosts),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_peek),
        cmocka_unit_test(test_peek_file),
        cmocka_unit_test(test_peek_borrowed),
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_forward_over_a_restart),
        cmocka_unit_test(test_set_reclaim),
        cmocka_unit_test(test_overview),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
