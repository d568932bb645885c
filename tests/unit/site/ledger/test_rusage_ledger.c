/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs reserve at a site: over restarts and reloads, as it fades, and as it is
 * seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/site/site_stage.h"

enum { NONE = -1 };

#define SITE(lic) SITE_WITH(lic "@[all]")
#define SITE_WITH(places) SITE_OF("s1 4\ns2 4\n", places)
#define SITE_OF(hosts, places)                                                         \
    "Begin Site\nNAME = south\nBROKER = tcp://b:1\nKEY = k\nBROKER_KEY = b\n"          \
    "SPOOL = /s\nEnd Site\n"                                                           \
    "Begin Host\nHOST_NAME MXJ\n" hosts "End Host\n"                                   \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"              \
    "lic Numeric () N (licences)\nEnd Resource\n"                                      \
    "Begin ResourceMap\nRESOURCENAME LOCATION\nlic (" places ")\nEnd ResourceMap\n"    \
    "Begin Queue\nQUEUE_NAME = normal\nHOSTS = all allremote\nEnd Queue\n"

static uint64_t submit(struct site_stage *stage, const char *res_req)
{
    struct job_spec spec = site_stage_spec("normal", "work");
    spec.res_reqs = &res_req;
    spec.n_res_reqs = 1;
    return site_stage_submit_spec(stage, "ana", &spec);
}

/* A number of the first row of `hosts`, or with `shared` of `hosts -s`; NONE. */
static int64_t seen(struct site_stage *stage, bool shared, const char *name,
                    const char *path)
{
    struct msg_query query = {
        .kind = QUERY_HOSTS, .name = name, .user = "", .after = "", .shared = shared};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *rows = value_find(reply->value, "hosts");
    const struct value *found =
        rows != NULL && rows->first != NULL ? value_find(rows->first, path) : NULL;
    return found != NULL && found->kind == VALUE_INT ? found->number : NONE;
}

static void says_mem(struct site_stage *stage, const char *host, const char *mem)
{
    const struct load_value value = {"mem", mem, false};
    struct peer from = site_stage_host(host);
    struct msg msg = {.kind = MSG_HOST_LOAD, .session = stage->host_session};
    msg.host_load = (struct msg_host_load){.values = &value, .n_values = 1};
    site_stage_message(stage, &from, &msg);
}

/* Hosts that say nothing are away, and what they told is gone. */
static void pass_alive(struct site_stage *stage, int64_t ms)
{
    enum { STEP_MS = 5000 };
    for (int64_t at_ms = 0; at_ms < ms; at_ms += STEP_MS) {
        site_stage_pass(stage, STEP_MS);
        site_stage_host_alive(stage, "s1");
    }
}

static bool is_dispatched(const struct site_stage *stage, uint64_t job)
{
    return site_stage_attempt_of(stage, job) != 0;
}

static void test_licences(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE("3"));
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    assert_int_equal(seen(&stage, true, "", "total"), 3);
    assert_int_equal(seen(&stage, true, "", "reserved"), 0);
    uint64_t two = submit(&stage, "rusage[lic=2]");
    uint64_t more = submit(&stage, "rusage[lic=2]");
    uint64_t one = submit(&stage, "rusage[lic=1]");
    assert_true(is_dispatched(&stage, two));
    assert_false(is_dispatched(&stage, more));
    assert_true(is_dispatched(&stage, one));
    assert_string_equal(site_stage_job_text(&stage, two, "reserved"), "lic=2/job");
    assert_string_equal(site_stage_job_text(&stage, more, "reserved"), "");
    assert_string_equal(site_stage_job_text(&stage, more, "pending"), "reserve");
    assert_non_null(
        strstr(site_stage_job_text(&stage, more, "reason"),
               "Job's resource reservation not satisfied: lic (need 2, 2 hosts of 2 "
               "lack it)"));
    assert_int_equal(seen(&stage, true, "lic", "reserved"), 3);
    assert_int_equal(seen(&stage, true, "lic", "available"), 0);
    assert_int_equal(seen(&stage, false, "s2", "reserved.lic.reserved"), 3);
    /* Neither kill -9 nor another configuration changes what is held. */
    site_stage_restart(&stage);
    assert_int_equal(seen(&stage, true, "lic", "reserved"), 3);
    site_stage_host_up(&stage, "s1");
    assert_false(is_dispatched(&stage, more));
    assert_true(site_stage_reload(&stage, SITE("4")));
    assert_int_equal(seen(&stage, true, "lic", "reserved"), 3);
    assert_int_equal(seen(&stage, true, "lic", "available"), 1);
    assert_true(site_stage_reload(&stage, SITE("5")));
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    site_stage_pass(&stage, 1000);
    assert_true(is_dispatched(&stage, more));
    site_stage_release(&stage);
}

/* A place of ResourceMap is a shared resource, also where it has one host; what each
 * host has by itself (default) is none. */
static void test_places(void **state)
{
    static const struct {
        const char *text, *reserved;
        int64_t total; /* of `hosts -s` */
    } rows[] = {
        {SITE_WITH("2@[s1]"), "lic=1/job", 2},
        {SITE_WITH("2@[default]"), "lic=1/host", NONE},
        {SITE_WITH("2@[s1] 3@[others]"), "lic=1/job", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        site_stage_init_text(&stage, rows[i].text);
        site_stage_host_up(&stage, "s1");
        uint64_t id = submit(&stage, "rusage[lic=1]");
        assert_true(is_dispatched(&stage, id));
        assert_string_equal(site_stage_job_text(&stage, id, "reserved"),
                            rows[i].reserved);
        assert_int_equal(seen(&stage, true, "", "total"), rows[i].total);
        assert_int_equal(seen(&stage, true, "", "reserved"),
                         rows[i].total == NONE ? NONE : 1);
        site_stage_release(&stage);
    }
}

/* Told memory less what is reserved, of each host by itself; from the beginning of the
 * job for its duration. */
static void test_memory(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE("3"));
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    uint64_t unknown = submit(&stage, "rusage[mem=100]");
    assert_false(is_dispatched(&stage, unknown)); /* nobody has told */
    says_mem(&stage, "s1", "150");
    assert_true(is_dispatched(&stage, unknown));
    uint64_t fades = submit(&stage, "rusage[mem=50:duration=1]");
    uint64_t next = submit(&stage, "rusage[mem=50]");
    assert_true(is_dispatched(&stage, fades));
    assert_false(is_dispatched(&stage, next));
    assert_int_equal(seen(&stage, false, "s1", "reserved.mem.available"), 0);
    assert_int_equal(seen(&stage, false, "s2", "reserved.mem.available"), NONE);
    /* It is being started: the minute has not begun. */
    pass_alive(&stage, 70000);
    assert_false(is_dispatched(&stage, next));
    site_stage_waiting(&stage, "s1", site_stage_attempt_of(&stage, fades), 7);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, fades), 7);
    pass_alive(&stage, 50000);
    assert_false(is_dispatched(&stage, next));
    pass_alive(&stage, 15000); /* the site wakes by itself */
    assert_true(is_dispatched(&stage, next));
    assert_int_equal(seen(&stage, false, "s1", "reserved.mem.reserved"), 150);
    site_stage_release(&stage);
}

/* What a job reserves is subtracted on its own host, also when the hosts are listed in
 * another order, or others before it are removed. */
static void test_hosts_move(void **state)
{
    static const char *const lists[] = {SITE_OF("s1 4\ns2 4\ns3 4\n", "3@[all]"),
                                        SITE_OF("s3 4\ns2 4\ns1 4\n", "3@[all]"),
                                        SITE_OF("s2 4\ns1 4\n", "3@[all]")};
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, lists[0]);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    says_mem(&stage, "s1", "150");
    assert_true(is_dispatched(&stage, submit(&stage, "rusage[mem=100]")));
    says_mem(&stage, "s2", "150");
    assert_true(is_dispatched(&stage, submit(&stage, "rusage[mem=60]")));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        assert_true(site_stage_reload(&stage, lists[i]));
        site_stage_pass(&stage, 1000);
        says_mem(&stage, "s1", "150");
        says_mem(&stage, "s2", "150");
        assert_int_equal(seen(&stage, false, "s1", "reserved.mem.available"), 50);
        assert_int_equal(seen(&stage, false, "s2", "reserved.mem.available"), 90);
        assert_false(is_dispatched(&stage, submit(&stage, "rusage[mem=91]")));
    }
    site_stage_release(&stage);
}

/* Borrowed: what the lease exports, whatever the provider tells. */
static void test_exported(void **state)
{
    const struct host_split split = {
        .host = "n1", .n_slots = 4, .consumer = 4, .spaces[SPACE_MEM] = {true, 100}};
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){.lease = "north/a/south",
                                         .epoch = 1,
                                         .revision = 1,
                                         .state = LEASE_ACTIVE,
                                         .is_made = true,
                                         .is_provider_here = true,
                                         .hosts = &split,
                                         .n_hosts = 1};
    site_stage_broker(&stage, &msg);
    uint64_t first = submit(&stage, "rusage[mem=60]");
    uint64_t second = submit(&stage, "rusage[mem=60]");
    uint64_t small = submit(&stage, "rusage[mem=40]");
    assert_true(is_dispatched(&stage, first));
    assert_false(is_dispatched(&stage, second));
    assert_true(is_dispatched(&stage, small));
    assert_int_equal(seen(&stage, false, "n1@north", "reserved.mem.total"), 100);
    assert_int_equal(seen(&stage, false, "n1@north", "reserved.mem.available"), 0);
    site_stage_release(&stage);
}

/* How many rows a listing has of hosts that meet the requirement. */
static int count_meeting(struct site_stage *stage, enum query_kind kind,
                         const char *res_req)
{
    struct msg_query query = {
        .kind = kind, .name = "", .user = "", .after = "", .res_req = res_req};
    const struct value *rows = value_find(site_stage_query(stage, &query)->value,
                                          kind == QUERY_LOAD ? "load" : "hosts");
    int count = 0;
    for (const struct value *row = rows->first; row != NULL; row = row->next) {
        count++;
    }
    return count;
}

/* select and order see what is left, a listing of load what hosts tell. */
static void test_selections(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE("3"));
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    says_mem(&stage, "s1", "800");
    says_mem(&stage, "s2", "400");
    uint64_t holds = submit(&stage, "order[mem] rusage[mem=600]");
    uint64_t by_mem = submit(&stage, "select[mem > 500]");
    uint64_t by_order = submit(&stage, "order[mem]");
    assert_int_equal(site_stage_job_int(&stage, holds, "hosts.s1"), 1);
    assert_string_equal(site_stage_job_text(&stage, by_mem, "pending"), "spent");
    assert_non_null(strstr(site_stage_job_text(&stage, by_mem, "reason"),
                           "mem (800, of which 600 are reserved)"));
    assert_int_equal(site_stage_job_int(&stage, by_order, "hosts.s2"), 1);
    assert_int_equal(count_meeting(&stage, QUERY_HOSTS, "mem > 500"), 0);
    assert_int_equal(count_meeting(&stage, QUERY_LOAD, "mem > 500"), 1);
    /* s2 has as much: the other host is told of beside it. */
    uint64_t by_more = submit(&stage, "select[mem > 300] rusage[mem=450]");
    assert_non_null(strstr(
        site_stage_job_text(&stage, by_more, "reason"),
        "1 host on which a resource in its select section is reserved by other jobs"));
    site_stage_waiting(&stage, "s1", site_stage_attempt_of(&stage, holds), 7);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, holds), 7);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, holds), 0);
    assert_true(is_dispatched(&stage, by_mem));
    site_stage_release(&stage);
}

/* What a job gave back with its slots others may have meanwhile: it says what it waits
 * for. */
static void test_given_back(void **state)
{
    struct site_stage stage;
    struct msg_run_state still = {
        .phase = RUN_SUSPENDED, .token = 7, .start_ms = 100000, .control_done = 1};
    (void)state;
    site_stage_init_text(&stage,
                         SITE("2") "Begin Queue\nQUEUE_NAME = fast\n"
                                   "PREEMPTION = PREEMPTIVE[normal]\nEnd Queue\n");
    site_stage_host_up(&stage, "s1");
    uint64_t job = submit(&stage, "rusage[lic=2]");
    uint64_t attempt = site_stage_attempt_of(&stage, job);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    site_stage_run_state(&stage, "s1", "south", attempt, &still);
    uint64_t other = submit(&stage, "rusage[lic=1]");
    assert_true(is_dispatched(&stage, other));
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_int_equal(site_stage_state(&stage, job), JOB_SSUSP);
    assert_non_null(strstr(site_stage_job_text(&stage, job, "reason"),
                           "its slots on s1 are free, and enough is available of the "
                           "resources that it released: lic"));
    site_stage_control(&stage, "ana", "2", CONTROL_KILL, 0);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, other), 143);
    assert_null(strstr(site_stage_job_text(&stage, job, "reason"), "lic"));
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_licences),   cmocka_unit_test(test_places),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_hosts_move),
        cmocka_unit_test(test_exported),   cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_selections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
