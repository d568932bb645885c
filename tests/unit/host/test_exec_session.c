/* SPDX-License-Identifier: Apache-2.0 */
/* test_exec_session.c: what a host says to its site and what it does about the site's
 * messages, by docs/design/safety.md and the rules of exec_session.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/exec/exec_session.h"

enum { TEXT_SIZE = 1024, BEGIN_MS = 1000000 };

/* A session, the time, and the effects of its last step as text. */
struct trial {
    struct exec_session session;
    struct effects effects;
    int64_t now_ms;
    struct host_run runs[3];
    char text[TEXT_SIZE];
};

static void write_effects(struct trial *trial)
{
    size_t used = 0;
    trial->text[0] = '\0';
    for (int i = 0; i < trial->effects.count; i++) {
        const struct effect *effect = &trial->effects.items[i];
        const struct msg *msg = &effect->send.msg;
        const char *space = used > 0 ? " " : "";
        if (effect->kind == EFFECT_RECONNECT) {
            used += (size_t)snprintf(trial->text + used, TEXT_SIZE - used,
                                     "%sreconnect", space);
        } else if (effect->kind == EFFECT_SEND && msg->kind == MSG_RUN_STATE) {
            used += (size_t)snprintf(
                trial->text + used, TEXT_SIZE - used, "%sstate:%d:%d", space,
                (int)msg->run_state.run.attempt, (int)msg->run_state.phase);
        } else if (effect->kind == EFFECT_SEND) {
            used +=
                (size_t)snprintf(trial->text + used, TEXT_SIZE - used, "%s%s%s", space,
                                 effect->send.to.kind == PEER_RUN ? "run:" : "",
                                 msg_kind_name(msg->kind));
        }
    }
}

static void step(struct trial *trial, const struct event *event)
{
    exec_session_step(&trial->session, event, &trial->effects);
}

/* Expects what has been put out since the last call, with a tick at the end. */
static void expect(struct trial *trial, const char *effects)
{
    step(trial, &(struct event){.kind = EVENT_TICK, .now_ms = trial->now_ms});
    write_effects(trial);
    assert_string_equal(trial->text, effects);
    effects_clear(&trial->effects);
}

static void expect_at(struct trial *trial, int64_t at_ms, const char *effects)
{
    assert_int_equal(exec_session_wake_ms(&trial->session), at_ms);
    trial->now_ms = at_ms;
    expect(trial, effects);
}

static void take(struct trial *trial, struct msg msg)
{
    msg.session = trial->session.number;
    step(trial,
         &(struct event){.kind = EVENT_MESSAGE, .now_ms = trial->now_ms, .msg = &msg});
}

static struct msg welcome(void)
{
    struct msg msg = {.kind = MSG_HOST_WELCOME};
    msg.welcome.is_accepted = true;
    msg.welcome.text = "";
    return msg;
}

static struct msg order(enum msg_kind kind, uint64_t attempt)
{
    struct msg msg = {.kind = kind};
    msg.run.run = (struct run_id){.site = "north", .attempt = attempt};
    return msg;
}

static void set_phase(struct trial *trial, int run, enum run_phase phase)
{
    struct guard_record record = {.phase = phase, .token = 7};
    exec_session_change(&trial->session, &trial->runs[run], &record);
}

static void add(struct trial *trial, int run, enum run_phase phase)
{
    exec_session_add(&trial->session, &trial->runs[run],
                     &(struct run_id){.site = "north", .attempt = (uint64_t)run + 1});
    if (phase != RUN_UNKNOWN) {
        set_phase(trial, run, phase);
    }
}

static int setup(void **state)
{
    struct trial *trial = calloc(1, sizeof(*trial));
    trial->now_ms = BEGIN_MS;
    effects_init(&trial->effects);
    exec_session_init(&trial->session, "h1", "boot", BEGIN_MS);
    *state = trial;
    return 0;
}

static int teardown(void **state)
{
    struct trial *trial = *state;
    struct host_run *run;
    while ((run = exec_session_next(&trial->session, NULL)) != NULL) {
        exec_session_remove(&trial->session, run);
    }
    effects_release(&trial->effects);
    free(trial);
    return 0;
}

static void begin(struct trial *trial)
{
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    take(trial, welcome());
}

/* ---- */

static void test_all_runs_before_synced(void **state)
{
    struct trial *trial = *state;
    add(trial, 0, RUN_RUNNING);
    add(trial, 1, RUN_UNKNOWN); /* its guard is being reaped */
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    set_phase(trial, 0, RUN_SUSPENDED); /* nothing is said before the WELCOME */
    expect(trial, "");
    expect_at(trial, BEGIN_MS + 1000, "HOST_HELLO"); /* not answered yet */
    take(trial, welcome());
    take(trial, welcome()); /* of the first HELLO */
    expect(trial, "state:1:3");
    set_phase(trial, 1, RUN_ENDED);
    expect(trial, "state:2:4 HOST_SYNCED HOST_LOAD");
    set_phase(trial, 0, RUN_RUNNING);
    expect(trial, "state:1:2");
}

static void test_orders(void **state)
{
    struct trial *trial = *state;
    add(trial, 0, RUN_RUNNING);
    add(trial, 1, RUN_ENDED);
    begin(trial);
    expect(trial, "state:1:2 state:2:4 HOST_SYNCED HOST_LOAD");
    take(trial, order(MSG_RUN_GO, 1));
    take(trial, order(MSG_RUN_GO, 2)); /* it has ended: its record answers */
    take(trial, order(MSG_RUN_GO, 3)); /* it is not here */
    expect(trial, "run:RUN_GO state:3:0 state:2:4");
    take(trial, order(MSG_RUN_FORGET, 1)); /* it runs */
    take(trial, order(MSG_RUN_FORGET, 2));
    take(trial, order(MSG_RUN_FORGET, 3));
    expect(trial, "run:RUN_FORGET state:1:2");
    exec_session_lose(&trial->session, &trial->runs[0], &trial->effects);
    expect(trial, "state:1:0");
    take(trial, order(MSG_RUN_GO, 1));
    expect(trial, "state:1:0");
}

/* A START that is repeated starts nothing. */
static void test_start_of_a_known_run(void **state)
{
    struct trial *trial = *state;
    struct msg start = {.kind = MSG_RUN_START};
    start.run_start.run = (struct run_id){.site = "north", .attempt = 1};
    start.run_start.job = start.run_start.lease = start.run_start.account = "";
    add(trial, 0, RUN_WAITING);
    begin(trial);
    expect(trial, "state:1:1 HOST_SYNCED HOST_LOAD");
    take(trial, start);
    expect(trial, "state:1:1");
    start.run_start.run.attempt = 2;
    take(trial, start);
    expect(trial, "run:RUN_START");
}

static void test_end_is_repeated(void **state)
{
    struct trial *trial = *state;
    begin(trial);
    expect(trial, "HOST_SYNCED HOST_LOAD");
    add(trial, 0, RUN_ENDED);
    expect(trial, "state:1:4");
    expect_at(trial, BEGIN_MS + 2000, "HOST_ALIVE");
    expect_at(trial, BEGIN_MS + 4000, "HOST_ALIVE");
    expect_at(trial, BEGIN_MS + 6000, "HOST_ALIVE state:1:4");
    exec_session_remove(&trial->session, &trial->runs[0]);
    expect_at(trial, BEGIN_MS + 8000, "HOST_ALIVE");
}

static void test_silence(void **state)
{
    struct trial *trial = *state;
    add(trial, 0, RUN_RUNNING);
    begin(trial);
    expect(trial, "state:1:2 HOST_SYNCED HOST_LOAD");
    uint64_t number = trial->session.number;
    for (int i = 1; i < 5; i++) {
        expect_at(trial, BEGIN_MS + 2000 * i, "HOST_ALIVE");
    }
    expect_at(trial, BEGIN_MS + 10000, "reconnect HOST_HELLO");
    assert_true(trial->session.number > number);
    take(trial, welcome());
    expect(trial, "state:1:2 HOST_SYNCED HOST_LOAD"); /* all over again */
}

static void test_other_sessions(void **state)
{
    struct trial *trial = *state;
    struct msg refusal = {.kind = MSG_HOST_WELCOME};
    struct msg late = order(MSG_RUN_GO, 1);
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    uint64_t number = trial->session.number;
    refusal.welcome.min_session = number + 1000;
    refusal.welcome.text = "outdated";
    take(trial, refusal);
    assert_true(trial->session.number > number + 1000);
    expect(trial, ""); /* not at once */
    expect_at(trial, BEGIN_MS + 1000, "HOST_HELLO");
    take(trial, welcome());
    expect(trial, "HOST_SYNCED HOST_LOAD");
    late.session = number;
    step(trial,
         &(struct event){.kind = EVENT_MESSAGE, .now_ms = trial->now_ms, .msg = &late});
    expect(trial, "");

    struct msg stale = {.kind = MSG_ERROR};
    stale.error.code = ERR_STALE;
    stale.error.text = "this session is not open";
    take(trial, stale); /* the site has restarted */
    expect_at(trial, BEGIN_MS + 2000, "HOST_HELLO");
}

/* A connection that takes no more: SYNCED follows the states that were not sent. */
static void test_unsent(void **state)
{
    struct trial *trial = *state;
    struct msg unsent = order(MSG_RUN_STATE, 2);
    add(trial, 0, RUN_RUNNING);
    add(trial, 1, RUN_RUNNING);
    begin(trial);
    expect(trial, "state:1:2 state:2:2 HOST_SYNCED HOST_LOAD");
    unsent.session = trial->session.number;
    exec_session_unsent(&trial->session, &unsent, trial->now_ms);
    unsent.kind = MSG_HOST_SYNCED;
    exec_session_unsent(&trial->session, &unsent, trial->now_ms);
    expect(trial, "");
    expect_at(trial, BEGIN_MS + 20, "state:2:2 HOST_SYNCED HOST_LOAD");
    exec_session_unsent(&trial->session, &unsent, trial->now_ms); /* SYNCED alone */
    expect_at(trial, BEGIN_MS + 40, "HOST_SYNCED HOST_LOAD");

    /* There is no connection at all, which is no silence. */
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    unsent = (struct msg){.kind = MSG_HOST_HELLO, .session = trial->session.number};
    for (int i = 0; i < 200; i++) {
        exec_session_unsent(&trial->session, &unsent, trial->now_ms);
        trial->now_ms = exec_session_wake_ms(&trial->session);
        step(trial, &(struct event){.kind = EVENT_TICK, .now_ms = trial->now_ms});
        write_effects(trial);
        assert_null(strstr(trial->text, "reconnect"));
        effects_clear(&trial->effects);
    }
}

/* Usage alone is part of the load. */
static void test_use(void **state)
{
    struct trial *trial = *state;
    struct guard_record record = {.phase = RUN_RUNNING,
                                  .token = 7,
                                  .cpu_ms = 500,
                                  .mem_kib = 3000,
                                  .rss_kib = 2000,
                                  .vsz_kib = 9000,
                                  .n_threads = 3};
    add(trial, 0, RUN_RUNNING);
    begin(trial);
    expect(trial, "state:1:2 HOST_SYNCED HOST_LOAD");
    exec_session_change(&trial->session, &trial->runs[0], &record);
    expect(trial, "");
    exec_session_report_load(&trial->session);
    step(trial, &(struct event){.kind = EVENT_TICK, .now_ms = trial->now_ms});
    assert_int_equal(trial->effects.count, 1);
    struct msg load = trial->effects.items[0].send.msg;
    assert_int_equal(load.host_load.n_runs, 1);
    const struct run_load *use = &load.host_load.runs[0];
    assert_int_equal(use->cpu_ms, 500);
    assert_int_equal(use->mem_kib, 3000);
    assert_int_equal(use->rss_kib, 2000);
    assert_int_equal(use->vsz_kib, 9000);
    assert_int_equal(use->n_threads, 3);
    exec_session_unsent(&trial->session, &load, trial->now_ms);
    effects_clear(&trial->effects);
    assert_int_equal(trial->session.load_ms, 0);
    assert_true(trial->runs[0].is_use_due);

    /* Memory that has changed is reported too, though no CPU time was used. */
    trial->runs[0].is_use_due = false;
    record.rss_kib = 1500;
    exec_session_change(&trial->session, &trial->runs[0], &record);
    assert_true(trial->runs[0].is_use_due);
    assert_int_equal(trial->effects.count, 0);
}

/* The site's journal was replaced by an older copy: its new run has the number of one
 * that is here. */
static void test_another_run_has_the_number(void **state)
{
    struct trial *trial = *state;
    struct msg start = {.kind = MSG_RUN_START};
    add(trial, 0, RUN_WAITING);
    trial->runs[0].nonce = 900;
    begin(trial);
    expect(trial, "state:1:1 HOST_SYNCED HOST_LOAD");
    start.run_start.run = (struct run_id){"north", 1, 901};
    start.run_start.job = "5";
    start.run_start.lease = start.run_start.account = "";
    take(trial, start);
    const struct msg *answer = &trial->effects.items[trial->effects.count - 1].send.msg;
    assert_int_equal(answer->kind, MSG_RUN_STATE);
    assert_true(answer->run_state.is_refused);
    assert_int_equal(answer->run_state.run.nonce, 901);
    expect(trial, "state:1:0");
    struct msg go = order(MSG_RUN_GO, 1), forget = order(MSG_RUN_FORGET, 1);
    go.run_go.run.nonce = forget.run.run.nonce = 901;
    take(trial, go);
    take(trial, forget);
    expect(trial, "state:1:0"); /* neither reaches the run */
    go.run_go.run.nonce = 900;
    take(trial, go);
    expect(trial, "run:RUN_GO");
    trial->runs[0].nonce = 0; /* started by an earlier version */
    take(trial, go);
    expect(trial, "run:RUN_GO");
    take(trial, start);
    expect(trial, "state:1:0");
}

/* Own runs that the journal may not have, before SYNCED. */
static void test_runs_are_described(void **state)
{
    struct trial *trial = *state;
    struct msg asks = welcome();
    add(trial, 0, RUN_RUNNING);
    add(trial, 1, RUN_RUNNING);
    add(trial, 2, RUN_RUNNING);
    trial->runs[2].is_leased = true;
    asks.welcome.lists_runs = true;
    asks.welcome.mark.attempt = 1;
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    take(trial, asks);
    expect(trial, "state:1:2 RUN_FOUND state:2:2 state:3:2 HOST_SYNCED HOST_LOAD");
    set_phase(trial, 1, RUN_SUSPENDED);
    expect(trial, "state:2:3");
    asks.welcome.mark.attempt = 9;
    asks.welcome.list_from = asks.welcome.list_to = 1; /* lost attempts */
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    take(trial, asks);
    expect(trial, "RUN_FOUND state:1:2 state:2:3 state:3:2 HOST_SYNCED HOST_LOAD");
    /* A journal that has lost commits: leased runs too. */
    asks.welcome.list_from = asks.welcome.list_to = 0;
    asks.welcome.lists_all = true;
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    take(trial, asks);
    expect(trial, "RUN_FOUND state:1:2 RUN_FOUND state:2:3 RUN_FOUND state:3:2 "
                  "HOST_SYNCED HOST_LOAD");
    /* The host itself knows of more commits. */
    asks.welcome.lists_all = false;
    trial->session.mark.commits = asks.welcome.mark.commits + 1;
    exec_session_begin(&trial->session, 0, trial->now_ms);
    expect(trial, "HOST_HELLO");
    take(trial, asks);
    expect(trial, "RUN_FOUND state:1:2 RUN_FOUND state:2:3 RUN_FOUND state:3:2 "
                  "HOST_SYNCED HOST_LOAD");
}

static void test_mark(void **state)
{
    struct trial *trial = *state;
    struct msg pong = {.kind = MSG_HOST_PONG}, start = {.kind = MSG_RUN_START};
    begin(trial);
    pong.host_alive.mark = (struct journal_mark){.commits = 7, .attempt = 3, .job = 2};
    take(trial, pong);
    start.run_start.run = (struct run_id){"north", 8, 900};
    start.run_start.job = "6[2]";
    start.run_start.lease = start.run_start.account = "";
    take(trial, start);
    start.run_start.run.attempt = 99; /* of another site's journal */
    start.run_start.lease = "north/1/south";
    take(trial, start);
    struct msg go = {.kind = MSG_RUN_GO};
    go.run_go.run = (struct run_id){"north", 8, 900};
    go.run_go.commits = 9; /* with the guard on record */
    take(trial, go);
    effects_clear(&trial->effects);
    exec_session_begin(&trial->session, 0, trial->now_ms);
    step(trial, &(struct event){.kind = EVENT_TICK, .now_ms = trial->now_ms});
    const struct msg_host_hello *hello = &trial->effects.items[0].send.msg.host_hello;
    assert_true(hello->knows_nonces);
    assert_int_equal(hello->mark.commits, 9);
    assert_int_equal(hello->mark.attempt, 8);
    assert_int_equal(hello->mark.job, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_all_runs_before_synced),
        TEST(test_orders),
        TEST(test_start_of_a_known_run),
        TEST(test_end_is_repeated),
        TEST(test_silence),
        TEST(test_other_sessions),
        TEST(test_unsent),
        TEST(test_use),
        TEST(test_another_run_has_the_number),
        TEST(test_runs_are_described),
        TEST(test_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
