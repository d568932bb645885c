/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that waiting jobs reserve at a site: as they are shown, over restarts, reloads
 * and changes in line; who uses them meanwhile, and what is told of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/site/site_stage.h"

enum { MINUTE_MS = 60000, NONE = -1 };

#define HEAD                                                                           \
    "Begin Site\nNAME = south\nBROKER = tcp://b:1\nKEY = k\nBROKER_KEY = b\n"          \
    "SPOOL = /s\nEnd Site\n"                                                           \
    "Begin Host\nHOST_NAME MXJ\ns1 4\nEnd Host\n"
#define WIDE                                                                           \
    "Begin Queue\nQUEUE_NAME = wide\nPRIORITY = 40\n"                                  \
    "SLOT_RESERVE = MAX_RESERVE_TIME[60]\nEnd Queue\n"
#define REST                                                                           \
    "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"                     \
    "Begin Queue\nQUEUE_NAME = short\nPRIORITY = 20\nBACKFILL = Y\nEnd Queue\n"
#define GAPS                                                                           \
    "Begin Queue\nQUEUE_NAME = gaps\nPRIORITY = 10\nBACKFILL = Y\nRUNLIMIT = 600\n"    \
    "INTERRUPTIBLE_BACKFILL = 3600\nREQUEUE_EXIT_VALUES = 99 130\nEnd Queue\n"

static uint64_t submit(struct site_stage *stage, const char *queue, int n_slots,
                       int limit_min)
{
    struct job_spec spec = site_stage_spec(queue, "work");
    spec.n_slots = n_slots;
    spec.run_limit_ms = (int64_t)limit_min * MINUTE_MS;
    return site_stage_submit_spec(stage, "ana", &spec);
}

static bool is_dispatched(const struct site_stage *stage, uint64_t job)
{
    return site_stage_attempt_of(stage, job) != 0;
}

/* The host's and the queue's RSV, but for what is starting. */
static int64_t seen(struct site_stage *stage, enum query_kind kind, const char *name,
                    const char *path)
{
    struct msg_query query = {.kind = kind, .name = name, .user = "", .after = ""};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *rows =
        value_find(reply->value, kind == QUERY_HOSTS ? "hosts" : "queues");
    const struct value *found = value_find(rows->first, path);
    return found != NULL && found->kind == VALUE_INT ? found->number : NONE;
}

static void begin(struct site_stage *stage, uint64_t *first, uint64_t *wide)
{
    site_stage_init_text(stage, HEAD WIDE REST);
    site_stage_host_up(stage, "s1");
    *first = submit(stage, "normal", 1, 120);
    site_stage_running(stage, "s1", site_stage_attempt_of(stage, *first), 1);
    *wide = submit(stage, "wide", 4, 60);
}

static void test_shown(void **state)
{
    struct site_stage stage;
    uint64_t first, wide;
    (void)state;
    begin(&stage, &first, &wide);
    assert_false(is_dispatched(&stage, wide));
    assert_int_equal(site_stage_job_int(&stage, wide, "reserved_slots.s1"), 3);
    assert_string_equal(site_stage_job_text(&stage, wide, "pending"), "busy");
    assert_non_null(strstr(site_stage_job_text(&stage, wide, "reason"),
                           "it has reserved 3 of 4 slots"));
    assert_true(site_stage_job_text(&stage, wide, "start_estimate")[0] != '\0');
    assert_int_equal(seen(&stage, QUERY_HOSTS, "s1", "rsv"), 3);
    assert_int_equal(seen(&stage, QUERY_HOSTS, "s1", "njobs"), 4);
    assert_int_equal(seen(&stage, QUERY_QUEUES, "wide", "rsv"), 3);
    assert_int_equal(seen(&stage, QUERY_QUEUES, "wide", "max_reserve_s"), 60 * 60);
    assert_int_equal(seen(&stage, QUERY_QUEUES, "short", "max_reserve_s"), NONE);
    assert_int_equal(seen(&stage, QUERY_QUEUES, "short", "rsv"), 0);
    /* Sequential jobs and queues without the key reserve nothing. */
    uint64_t single = submit(&stage, "wide", 1, 10);
    uint64_t plain = submit(&stage, "normal", 2, 10);
    assert_false(is_dispatched(&stage, single) || is_dispatched(&stage, plain));
    assert_string_equal(site_stage_job_text(&stage, single, "reserved_slots"), "");
    assert_string_equal(site_stage_job_text(&stage, plain, "reserved_slots"), "");
    const char *why = site_stage_job_text(&stage, plain, "reason");
    assert_non_null(strstr(
        why, "; slots are reserved: 3 on hosts of its queue by job <2> until about "));
    assert_null(strstr(site_stage_job_text(&stage, wide, "reason"), "are reserved:"));
    /* It has all of them when the first ends. */
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, first), 0);
    assert_true(is_dispatched(&stage, wide));
    assert_int_equal(seen(&stage, QUERY_QUEUES, "wide", "rsv"), 0);
    site_stage_release(&stage);
}

static void test_backfill(void **state)
{
    struct site_stage stage;
    uint64_t first, wide;
    (void)state;
    begin(&stage, &first, &wide);
    uint64_t endless = submit(&stage, "short", 1, 0);
    uint64_t late = submit(&stage, "short", 1, 121);
    assert_false(is_dispatched(&stage, endless) || is_dispatched(&stage, late));
    stage.told = "";
    uint64_t filler = submit(&stage, "short", 2, 60);
    assert_true(is_dispatched(&stage, filler));
    assert_non_null(strstr(stage.told, "backfill, on slots that job <2> reserves"));
    assert_string_equal(site_stage_job_text(&stage, filler, "backfill_of"), "2");
    assert_non_null(strstr(site_stage_job_text(&stage, wide, "reason"),
                           "3 of 4 slots, of which backfill jobs use 2"));
    /* What is lent is counted once. */
    assert_int_equal(seen(&stage, QUERY_QUEUES, "wide", "rsv"), 1);
    assert_int_equal(seen(&stage, QUERY_HOSTS, "s1", "njobs"), 4);
    /* It is on record whose slots they are. */
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, filler), 2);
    site_stage_restart(&stage);
    assert_string_equal(site_stage_job_text(&stage, filler, "backfill_of"), "2");
    assert_string_equal(site_stage_job_text(&stage, first, "backfill_of"), "");
    site_stage_release(&stage);
}

static void test_goes(void **state)
{
    struct site_stage stage;
    uint64_t first, wide;
    (void)state;
    begin(&stage, &first, &wide);
    uint64_t next = submit(&stage, "wide", 4, 60);
    assert_string_equal(site_stage_job_text(&stage, next, "reserved_slots"), "");
    /* It stops waiting: the next of its line has what it had. */
    site_stage_control(&stage, "ana", "2", CONTROL_SUSPEND, 0);
    assert_string_equal(site_stage_job_text(&stage, wide, "reserved_slots"), "");
    assert_int_equal(site_stage_job_int(&stage, next, "reserved_slots.s1"), 3);
    /* Another configuration without the key. */
    assert_true(site_stage_reload(&stage,
                                  HEAD "Begin Queue\nQUEUE_NAME = wide\nPRIORITY = 40\n"
                                       "End Queue\n" REST));
    site_stage_pass(&stage, 1000);
    assert_string_equal(site_stage_job_text(&stage, next, "reserved_slots"), "");
    assert_int_equal(seen(&stage, QUERY_QUEUES, "wide", "rsv"), 0);
    site_stage_release(&stage);
}

/* The first job on a shared lease makes it: its one slot is kept for nobody who cannot
 * start. What the lease holds from then on is. */
static void test_unmade_lease(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, HEAD "Begin Queue\nQUEUE_NAME = wide\nPRIORITY = 40\n"
                                      "HOSTS = allremote\nSLOT_RESERVE = "
                                      "MAX_RESERVE_TIME[60]\nEnd Queue\n"
                                      "Begin Queue\nQUEUE_NAME = away\nPRIORITY = 30\n"
                                      "HOSTS = allremote\nBACKFILL = Y\nEnd Queue\n");
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_PENDING, 1, false);
    uint64_t wide = submit(&stage, "wide", 4, 60);
    assert_string_equal(site_stage_job_text(&stage, wide, "reserved_slots"), "");
    uint64_t single = submit(&stage, "wide", 1, 60);
    assert_true(is_dispatched(&stage, single));
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 3, true);
    assert_int_equal(site_stage_job_int(&stage, wide, "reserved_slots.n1@north"), 2);
    assert_false(is_dispatched(&stage, submit(&stage, "wide", 1, 60)));
    assert_non_null(
        strstr(site_stage_job_text(&stage, wide, "reason"),
               "jobs without a run limit, or slots that its lease does not have yet"));
    /* With all that it needs there, who fills them ends in time there too. */
    site_stage_contract(&stage, 2, LEASE_ACTIVE, 4, true);
    site_stage_attempt_is(&stage, site_stage_attempt_of(&stage, single),
                          ATTEMPT_RUNNING);
    uint64_t filler = submit(&stage, "away", 1, 10);
    assert_true(is_dispatched(&stage, filler));
    assert_in_range(site_stage_sent(&stage, MSG_START, 0)->start.end_within_ms,
                    59 * MINUTE_MS, 60 * MINUTE_MS);
    site_stage_release(&stage);
}

/* The last one sent to a host; 0: it has no such time. */
static int64_t ends_within(const struct site_stage *stage)
{
    int last = site_stage_count(stage, MSG_RUN_START) - 1;
    return last >= 0
               ? site_stage_sent(stage, MSG_RUN_START, last)->run_start.end_within_ms
               : -1;
}

/* Until then counts from when it was decided, however late it begins. */
static void test_in_time(void **state)
{
    struct site_stage stage;
    uint64_t first, wide;
    (void)state;
    begin(&stage, &first, &wide);
    uint64_t filler = submit(&stage, "short", 2, 60);
    int64_t left_ms = ends_within(&stage);
    assert_in_range(left_ms, 119 * MINUTE_MS, 120 * MINUTE_MS);
    /* The host does not answer: it is told what is left by then, after a kill too. */
    site_stage_pass(&stage, 10000);
    assert_in_range(ends_within(&stage), left_ms - 10100, left_ms - 10000);
    site_stage_restart(&stage);
    stage.now_ms += 50000;
    site_stage_host_up(&stage, "s1");
    assert_in_range(ends_within(&stage), left_ms - 60100, left_ms - 60000);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, filler), 2);
    /* Nobody needs these. */
    submit(&stage, "wide", 1, 1);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, first), 0);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, filler), 0);
    assert_true(is_dispatched(&stage, wide));
    assert_int_equal(ends_within(&stage), 0);
    site_stage_release(&stage);
}

/* What a run was given stays, whatever is configured by now. */
static void test_cut_stays(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, HEAD WIDE REST GAPS);
    site_stage_host_up(&stage, "s1");
    uint64_t first = submit(&stage, "normal", 1, 120);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, first), 1);
    submit(&stage, "wide", 4, 60);
    uint64_t filler = submit(&stage, "gaps", 2, 300);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, filler), 2);
    const char *end = site_stage_job_text(&stage, filler, "backfill_end");
    char before[64];
    snprintf(before, sizeof before, "%s", end);
    assert_true(before[0] != '\0');
    assert_true(site_stage_reload(&stage,
                                  HEAD WIDE REST "Begin Queue\nQUEUE_NAME = gaps\n"
                                                 "PRIORITY = 10\nEnd Queue\n"));
    site_stage_restart(&stage);
    assert_string_equal(site_stage_job_text(&stage, filler, "backfill_end"), before);
    site_stage_release(&stage);
}

/* At s1 its run limit ended it, after that time. */
static void at_limit(struct site_stage *stage, uint64_t job, int64_t ran_ms, int code)
{
    struct msg_run_state state = {.phase = RUN_ENDED,
                                  .exit = {.end = RUN_END_LIMIT,
                                           .cause = RUN_CAUSE_RUN_LIMIT,
                                           .code = code,
                                           .start_ms = stage->now_ms,
                                           .end_ms = stage->now_ms + ran_ms}};
    stage->now_ms += ran_ms;
    site_stage_run_state(stage, "s1", "south", site_stage_attempt_of(stage, job),
                         &state);
}

static void test_gap(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, HEAD WIDE REST GAPS);
    site_stage_host_up(&stage, "s1");
    uint64_t first = submit(&stage, "normal", 1, 120);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, first), 1);
    submit(&stage, "wide", 4, 60);
    stage.told = "";
    uint64_t filler = submit(&stage, "gaps", 2, 300);
    assert_true(is_dispatched(&stage, filler));
    assert_non_null(strstr(stage.told, "that job <2> reserves, for 7"));
    assert_string_equal(
        site_stage_job_text(&stage, filler, "backfill_end"),
        arena_str(&stage.arena, site_stage_job_text(&stage, filler, "backfill_until")));
    /* What fits in whole is ended by nothing but its own limit. */
    uint64_t whole = submit(&stage, "gaps", 1, 100);
    assert_true(is_dispatched(&stage, whole));
    assert_string_equal(site_stage_job_text(&stage, whole, "backfill_end"), "");
    site_stage_release(&stage);
}

/* A gap ended it: its exit code is asked. */
static void test_again(void **state)
{
    static const struct {
        int limit_min, ran_min, code;
        bool is_again;
        const char *why;
    } rows[] = {
        {300, 119, 130, true, "SIGINT"},
        {300, 119, 99, true, "its own code for that"},
        {300, 119, 143, false, "SIGTERM, which is not one of them"},
        {60, 60, 130, false, "it had its whole time"},
        {110, 120, 130, true, "commands before it took some of its time"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        site_stage_init_text(&stage, HEAD WIDE REST GAPS);
        site_stage_host_up(&stage, "s1");
        uint64_t first = submit(&stage, "normal", 1, 120);
        site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, first), 1);
        submit(&stage, "wide", 4, 60);
        uint64_t filler = submit(&stage, "gaps", 2, rows[i].limit_min);
        site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, filler), 2);
        stage.told = "";
        at_limit(&stage, filler, (int64_t)rows[i].ran_min * MINUTE_MS, rows[i].code);
        if ((strstr(stage.told, "REQUEUE_EXIT_VALUES") != NULL) != rows[i].is_again) {
            fail_msg("%s: %s", rows[i].why, stage.told);
        }
        site_stage_release(&stage);
    }
}

/* Whoever ends, a limit on hosts leaves it too few: nothing is kept for it. */
static void test_never(void **state)
{
    static const struct {
        const char *why, *limit;
        int64_t n_kept;
    } rows[] = {
        {"a limit of the host", "HOSTS = s1\nSLOTS = 3", 0},
        {"as many as it needs", "HOSTS = s1\nSLOTS = 4", 3},
        {"of each host", "PER_HOST = all\nSLOTS = 3", 0},
        {"of its processors", "PER_HOST = all\nSLOTS_PER_PROCESSOR = 0.5", 0},
        {"of jobs there, of which it is one", "HOSTS = s1\nJOBS = 2", 3},
        {"of others", "HOSTS = s1\nUSERS = bob\nSLOTS = 3", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        char text[1024];
        snprintf(text, sizeof(text),
                 HEAD WIDE REST "Begin Limit\nNAME = few\n%s\nEnd Limit\n",
                 rows[i].limit);
        site_stage_init_text(&stage, text);
        site_stage_host_up(&stage, "s1");
        uint64_t first = submit(&stage, "normal", 1, 120);
        assert_true(is_dispatched(&stage, first));
        uint64_t wide = submit(&stage, "wide", 4, 60);
        int64_t n_kept = seen(&stage, QUERY_QUEUES, "wide", "rsv");
        if (n_kept != rows[i].n_kept) {
            fail_msg("%s: %d are kept", rows[i].why, (int)n_kept);
        }
        assert_false(is_dispatched(&stage, wide));
        site_stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),   cmocka_unit_test(test_backfill),
        cmocka_unit_test(test_goes),    cmocka_unit_test(test_gap),
        cmocka_unit_test(test_again),   cmocka_unit_test(test_unmade_lease),
        cmocka_unit_test(test_in_time), cmocka_unit_test(test_cut_stays),
        cmocka_unit_test(test_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
