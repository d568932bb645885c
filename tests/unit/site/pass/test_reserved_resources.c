/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and licences that waiting jobs reserve at a site (RESOURCE_RESERVE): what is
 * told of it, when they can start where jobs use memory, and which job is lent what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/site/site_stage.h"

enum { MINUTE_MS = 60000 };

#define SITE                                                                           \
    "Begin Site\nNAME = south\nBROKER = tcp://b:1\nKEY = k\nBROKER_KEY = b\n"          \
    "SPOOL = /s\nEnd Site\n"                                                           \
    "Begin Host\nHOST_NAME MXJ\ns1 8\ns2 8\nEnd Host\n"                                \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"              \
    "lic Numeric () N (licences)\nEnd Resource\n"                                      \
    "Begin ResourceMap\nRESOURCENAME LOCATION\nlic (3@[all])\nEnd ResourceMap\n"       \
    "Begin Queue\nQUEUE_NAME = big\nPRIORITY = 40\n"                                   \
    "RESOURCE_RESERVE = MAX_RESERVE_TIME[600]\nEnd Queue\n"                            \
    "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"                     \
    "Begin Queue\nQUEUE_NAME = short\nPRIORITY = 20\nBACKFILL = Y\nEnd Queue\n"
#define URGENT                                                                         \
    "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 50\n"                                \
    "PREEMPTION = PREEMPTIVE[normal]\n"                                                \
    "SLOT_RESERVE = MAX_RESERVE_TIME[600]\nEnd Queue\n"
#define LIMITED "Begin Limit\nNAME = one\nHOSTS = s2\nSLOTS = 1\nEnd Limit\n"

static uint64_t submit(struct site_stage *stage, const char *queue, const char *res_req,
                       int limit_min)
{
    struct job_spec spec = site_stage_spec(queue, "work");
    spec.res_reqs = &res_req;
    spec.n_res_reqs = 1;
    spec.run_limit_ms = (int64_t)limit_min * MINUTE_MS;
    return site_stage_submit_spec(stage, "ana", &spec);
}

static bool is_dispatched(const struct site_stage *stage, uint64_t job)
{
    return site_stage_attempt_of(stage, job) != 0;
}

static void says_mem(struct site_stage *stage, const char *host, const char *maxmem,
                     const char *mem)
{
    const struct load_value values[] = {{"maxmem", maxmem, false}, {"mem", mem, false}};
    struct peer from = site_stage_host(host);
    struct msg msg = {.kind = MSG_HOST_LOAD, .session = stage->host_session};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 2};
    site_stage_message(stage, &from, &msg);
}

/* Only s1 is there, and tells 1000 MB. */
static void begin(struct site_stage *stage)
{
    site_stage_init_text(stage, SITE);
    site_stage_host_up(stage, "s1");
    says_mem(stage, "s1", "1000", "1000");
}

/* In minutes from now; -1: nobody knows. */
static int64_t starts_in(struct site_stage *stage, uint64_t job)
{
    const char *text = site_stage_job_text(stage, job, "start_estimate");
    for (int64_t minutes = 0; text[0] != '\0' && minutes < 10000; minutes++) {
        char at[32];
        value_format_instant(stage->now_ms + minutes * MINUTE_MS, at);
        if (strncmp(at, text, 16) == 0) {
            return minutes;
        }
    }
    return -1;
}

static void test_shown(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage);
    submit(&stage, "big", "rusage[mem=400]", 300);
    submit(&stage, "big", "rusage[mem=400]", 200);
    uint64_t third = submit(&stage, "big", "rusage[mem=500]", 300);
    assert_false(is_dispatched(&stage, third));
    assert_string_equal(site_stage_job_text(&stage, third, "pending"), "reserve");
    assert_non_null(strstr(site_stage_job_text(&stage, third, "reason"),
                           "; it has reserved 1 of 1 slots, 200 of 500 mem on s1; it "
                           "can start at about "));
    assert_int_equal(site_stage_job_int(&stage, third, "reserved_slots.s1"), 1);
    assert_int_equal(site_stage_job_int(&stage, third, "reserved_resources.s1.mem"),
                     200);
    assert_int_equal(starts_in(&stage, third), 200);
    /* Nobody else gets it but who ends in time. */
    uint64_t plain = submit(&stage, "normal", "rusage[mem=50]", 10);
    uint64_t late = submit(&stage, "short", "rusage[mem=50]", 201);
    uint64_t filler = submit(&stage, "short", "rusage[mem=50]", 200);
    uint64_t none = submit(&stage, "normal", "type==any", 0);
    assert_false(is_dispatched(&stage, plain) || is_dispatched(&stage, late));
    assert_true(is_dispatched(&stage, filler) && is_dispatched(&stage, none));
    assert_string_equal(site_stage_job_text(&stage, filler, "backfill_of"), "3");
    assert_int_equal(site_stage_job_int(&stage, third, "reserved_resources.s1.mem"),
                     150);
    /* It is made anew after a restart. */
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    says_mem(&stage, "s1", "1000", "1000");
    site_stage_pass(&stage, 1000);
    assert_int_equal(site_stage_job_int(&stage, third, "reserved_resources.s1.mem"),
                     150);
    site_stage_release(&stage);
}

/* What running jobs use is gone from what the host tells, and is there when they end.
 */
static void test_in_use(void **state)
{
    static const struct {
        const char *mem;
        int need, starts_min;
        const char *why;
    } rows[] = {
        {"1000", 600, 300, "nobody uses any: one end is enough"},
        {"600", 300, 300, "each end brings what was reserved, and as much in use"},
        {"600", 700, 400, "both ends do"},
        {"200", 1000, 400, "all of it is theirs"},
        {"100", 1000, -1, "100 are used by nobody that is known"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        char need[32];
        begin(&stage);
        submit(&stage, "big", "rusage[mem=400]", 400);
        submit(&stage, "big", "rusage[mem=400]", 300);
        says_mem(&stage, "s1", "1000", rows[i].mem);
        snprintf(need, sizeof need, "rusage[mem=%d]", rows[i].need);
        uint64_t job = submit(&stage, "big", need, 10);
        assert_false(is_dispatched(&stage, job));
        assert_int_equal(site_stage_job_int(&stage, job, "reserved_slots.s1"), 1);
        if (starts_in(&stage, job) != rows[i].starts_min) {
            fail_msg("%s: starts in %d min", rows[i].why, (int)starts_in(&stage, job));
        }
        site_stage_release(&stage);
    }
}

/* It is kept all the same; what it cannot have anywhere is not. */
static void test_nobody_knows(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage);
    submit(&stage, "normal", "rusage[mem=800]", 0);
    uint64_t big = submit(&stage, "big", "rusage[mem=500]", 10);
    uint64_t more = submit(&stage, "big", "rusage[mem=1001]", 10);
    assert_int_equal(site_stage_job_int(&stage, big, "reserved_resources.s1.mem"), 200);
    assert_non_null(strstr(site_stage_job_text(&stage, big, "reason"),
                           "depends on jobs without a run limit"));
    assert_string_equal(site_stage_job_text(&stage, more, "reserved_slots"), "");
    assert_false(is_dispatched(&stage, submit(&stage, "short", "rusage[mem=50]", 1)));
    site_stage_release(&stage);
}

/* Who selects hosts by what is left waits for the same. */
static void test_selected(void **state)
{
    struct site_stage stage;
    (void)state;
    begin(&stage);
    submit(&stage, "normal", "rusage[mem=800]", 60);
    uint64_t big = submit(&stage, "big", "select[mem>=500] rusage[mem=500]", 10);
    assert_string_equal(site_stage_job_text(&stage, big, "pending"), "spent");
    assert_int_equal(site_stage_job_int(&stage, big, "reserved_resources.s1.mem"), 200);
    assert_int_equal(starts_in(&stage, big), 60);
    assert_false(is_dispatched(&stage, submit(&stage, "normal", "rusage[mem=50]", 1)));
    site_stage_release(&stage);
}

/* A job that selects by two resources starts where enough is left of each. */
static void test_two_selected(void **state)
{
    static const struct load_value values[] = {{"maxmem", "1000", false},
                                               {"mem", "1000", false},
                                               {"maxswp", "1000", false},
                                               {"swp", "1000", false}};
    static const struct {
        const char *res_req;
        bool starts;
    } rows[] = {{"select[mem>=500 && swp>=500]", false},
                {"select[mem>=200 && swp>=901]", false},
                {"select[mem>=200 && swp>=900]", true}};
    struct site_stage stage;
    struct peer from = site_stage_host("s1");
    struct msg msg = {.kind = MSG_HOST_LOAD};
    (void)state;
    begin(&stage);
    msg.session = stage.host_session;
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 4};
    site_stage_message(&stage, &from, &msg);
    submit(&stage, "normal", "rusage[mem=800:swp=100]", 60);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t job = submit(&stage, "normal", rows[i].res_req, 10);
        assert_int_equal(is_dispatched(&stage, job), rows[i].starts);
        if (!rows[i].starts) {
            assert_non_null(strstr(site_stage_job_text(&stage, job, "reason"),
                                   "mem (1000, of which 800 are reserved)"));
        }
    }
    site_stage_release(&stage);
}

/* All hosts draw from them: a job that is lent one may run on any host. */
static void test_shared(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    submit(&stage, "normal", "rusage[lic=1]", 60);
    uint64_t big = submit(&stage, "big", "rusage[lic=3]", 10);
    assert_non_null(
        strstr(site_stage_job_text(&stage, big, "reason"), "2 of 3 lic on s"));
    assert_false(is_dispatched(&stage, submit(&stage, "normal", "rusage[lic=1]", 1)));
    uint64_t filler = submit(&stage, "short", "select[hname==s2] rusage[lic=2]", 60);
    uint64_t other = submit(&stage, "short", "rusage[lic=1]", 60);
    assert_true(is_dispatched(&stage, filler));
    assert_false(is_dispatched(&stage, other));
    assert_non_null(
        strstr(site_stage_job_text(&stage, big, "reason"), "0 of 3 lic on s"));
    site_stage_release(&stage);
}

static uint64_t submit_wide(struct site_stage *stage, const char *queue,
                            const char *res_req, int n_slots)
{
    struct job_spec spec = site_stage_spec(queue, "work");
    spec.n_slots = n_slots;
    spec.res_reqs = &res_req;
    spec.n_res_reqs = 1;
    return site_stage_submit_spec(stage, "ana", &spec);
}

/* A job for which another is being suspended asks for nothing more: as long as that
 * takes nothing changes, and no pass follows the other at once. */
static void test_preempting(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE URGENT);
    site_stage_host_up(&stage, "s1");
    says_mem(&stage, "s1", "1000", "1000");
    uint64_t normal = submit_wide(&stage, "normal", "rusage[mem=800/host]", 7);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, normal), 1);
    uint64_t big = submit(&stage, "big", "rusage[mem=500]", 10);
    assert_int_equal(site_stage_job_int(&stage, big, "reserved_resources.s1.mem"), 200);
    uint64_t urgent = submit_wide(&stage, "urgent", "type==any", 4);
    assert_string_equal(site_stage_job_text(&stage, urgent, "pending"), "preempting");
    site_stage_pass(&stage, 1000);
    assert_string_equal(site_stage_job_text(&stage, urgent, "pending"), "preempting");
    assert_true(site_wake_ms(stage.site) > stage.now_ms);
    site_stage_release(&stage);
}

/* A job that is lent slots may exceed the limits of their host, not of others. */
static void test_limited(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE LIMITED);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    submit(&stage, "normal", "select[hname==s2] rusage[lic=1]", 60);
    uint64_t big = submit(&stage, "big", "select[hname==s1] rusage[lic=3]", 10);
    assert_int_equal(site_stage_job_int(&stage, big, "reserved_resources.s1.lic"), 2);
    uint64_t away = submit(&stage, "short", "select[hname==s2] rusage[lic=1]", 10);
    assert_false(is_dispatched(&stage, away));
    assert_true(is_dispatched(&stage, submit(&stage, "short", "rusage[lic=1]", 10)));
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_nobody_knows), cmocka_unit_test(test_selected),
        cmocka_unit_test(test_shared),       cmocka_unit_test(test_limited),
        cmocka_unit_test(test_preempting),   cmocka_unit_test(test_two_selected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
