/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_resources.c: what leases give besides slots, as the provider and the
 * consumer see it in their hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/site/site_stage.h"

enum { UNKNOWN = -1 };

/* The number at that path of the host's row; UNKNOWN: null, or no such host. */
static int64_t of_host(struct site_stage *stage, const char *host, const char *path)
{
    struct msg_query query = {
        .kind = QUERY_HOSTS, .name = host, .user = "", .after = ""};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *rows = value_find(reply->value, "hosts");
    const struct value *found =
        rows != NULL && rows->first != NULL ? value_find(rows->first, path) : NULL;
    return found != NULL && found->kind == VALUE_INT ? found->number : UNKNOWN;
}

/* ---------------------------------------------------------------- as a provider */

#define PROVIDER                                                                       \
    "Begin Site\nNAME = south\nBROKER = tcp://b:1\nKEY = k\nBROKER_KEY = b\n"          \
    "SPOOL = /s\nEnd Site\n"                                                           \
    "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\nEnd Host\n"                                \
    "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"
#define POLICY(lines)                                                                  \
    "Begin HostExport\nNAME = p\nPER_HOST = s1\nSLOTS = 1\nTYPE = shared\n"            \
    "DISTRIBUTION = ([north, 1])\n" lines "\nEnd HostExport\n"

static void says_load(struct site_stage *stage, const char *mem, const char *maxmem)
{
    const struct load_value values[] = {
        {"mem", mem, false}, {"maxmem", maxmem, false}, {"maxswp", "50", false}};
    struct peer host = site_stage_host("s1");
    struct msg msg = {.kind = MSG_HOST_LOAD, .session = stage->host_session};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 3};
    site_stage_message(stage, &host, &msg);
}

static void test_what_is_exported_is_not_seen(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, PROVIDER POLICY("MEM = 300\nSWAP = 100"));
    site_stage_host_up(&stage, "s1");
    assert_int_equal(of_host(&stage, "s1", "maxmem"), UNKNOWN);
    says_load(&stage, "500", "1000");
    assert_int_equal(of_host(&stage, "s1", "maxmem"), 700);
    assert_int_equal(of_host(&stage, "s1", "load.mem"), 200);
    assert_int_equal(of_host(&stage, "s1", "maxswp"), 0); /* there are but 50 */
    says_load(&stage, "100", "1000");
    assert_int_equal(of_host(&stage, "s1", "load.mem"), 0); /* never below nothing */
    /* The policy goes: all of it is seen again. */
    says_load(&stage, "500", "1000");
    assert_true(site_stage_reload(&stage, PROVIDER));
    says_load(&stage, "500", "1000");
    assert_int_equal(of_host(&stage, "s1", "maxmem"), 1000);
    assert_int_equal(of_host(&stage, "s1", "load.mem"), 500);
    /* It is changed while it runs. */
    assert_true(site_stage_reload(&stage, PROVIDER POLICY("MEM = 1")));
    says_load(&stage, "500", "1000");
    assert_int_equal(of_host(&stage, "s1", "maxmem"), 999);
    assert_int_equal(of_host(&stage, "s1", "maxswp"), 50);
    site_stage_release(&stage);
}

#define LICENCES(location)                                                             \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"              \
    "lic Numeric () N (licences)\ntold Numeric 30 N (measured)\nEnd Resource\n"        \
    "Begin ResourceMap\nRESOURCENAME LOCATION\nlic " location                          \
    "\ntold ([all])\nEnd ResourceMap\n"
#define SHARED(name, n)                                                                \
    "Begin SharedResourceExport\nNAME = " name "\nNINSTANCES = " n                     \
    "\nDISTRIBUTION = ([north, 1])\nEnd SharedResourceExport\n"

static void test_a_pool_is_less_at_home(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, PROVIDER LICENCES("(5@[s1 s2])") POLICY("MEM = 1")
                                     SHARED("lic", "3") SHARED("told", "4"));
    site_stage_host_up(&stage, "s1");
    assert_int_equal(of_host(&stage, "s1", "values.lic"), 2);
    assert_int_equal(of_host(&stage, "s2", "values.lic"), 2); /* of the same place */
    /* What is measured, too; never below nothing. */
    const struct load_value values[] = {{"told", "9", false}};
    struct peer host = site_stage_host("s1");
    struct msg msg = {.kind = MSG_HOST_LOAD, .session = stage.host_session};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 1};
    site_stage_message(&stage, &host, &msg);
    assert_int_equal(of_host(&stage, "s2", "load.resources.told"), 5);
    assert_true(site_stage_reload(&stage, PROVIDER LICENCES("(5@[s1 s2])")
                                              POLICY("MEM = 1") SHARED("lic", "9")));
    assert_int_equal(of_host(&stage, "s1", "values.lic"), 0); /* there are but 5 */
    assert_true(site_stage_reload(&stage, PROVIDER LICENCES("(5@[s1 s2])")));
    assert_int_equal(of_host(&stage, "s1", "values.lic"), 5);
    /* Of two places only that one is less which a lease's host is in. */
    assert_true(site_stage_reload(&stage, PROVIDER LICENCES("(5@[s1] 7@[s2])")
                                              POLICY("MEM = 1") SHARED("lic", "3")));
    assert_int_equal(of_host(&stage, "s1", "values.lic"), 2);
    assert_int_equal(of_host(&stage, "s2", "values.lic"), 7);
    /* A restart knows it at once. */
    assert_true(site_stage_reload(&stage, PROVIDER LICENCES("(5@[s1 s2])")
                                              POLICY("MEM = 1") SHARED("lic", "3")));
    site_stage_restart(&stage);
    assert_int_equal(of_host(&stage, "s1", "values.lic"), 2);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- as a consumer */

static const struct lease_resource *says_resource; /* of the contracts; NULL: none */

static void says_contract(struct site_stage *stage, const char *lease, struct space mem,
                          int n_held)
{
    struct host_split split = {.host = "n1",
                               .n_slots = 4,
                               .provider = 4 - n_held,
                               .consumer = n_held,
                               .spaces = {[SPACE_MEM] = mem}};
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){
        .lease = lease,
        .revision = (uint64_t)stage->now_ms,
        .epoch = 1,
        .type = LEASE_EXCLUSIVE,
        .state = LEASE_ACTIVE,
        .is_made = true,
        .is_provider_here = true,
        .hosts = &split,
        .n_hosts = 1,
        .resources = says_resource,
        .n_resources = says_resource != NULL,
    };
    site_stage_broker(stage, &msg);
}

static void says_lease_load(struct site_stage *stage, const char *lease)
{
    const struct load_value values[] = {
        {"mem", "4000", false}, {"maxmem", "8000", false}, {"ncpus", "16", false}};
    const struct lease_load_host host = {.host = "n1", .values = values, .n_values = 3};
    struct msg msg = {.kind = MSG_LEASE_LOAD, .site = "north"};
    msg.lease_load = (struct msg_lease_load){lease, &host, 1};
    site_stage_broker(stage, &msg);
}

static void test_a_grant_is_all_there_is(void **state)
{
    const struct space none = {0}, some = {true, 100};
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    says_contract(&stage, "north/a/south", some, 2);
    /* At once, whatever the provider tells and when. */
    assert_int_equal(of_host(&stage, "n1@north", "maxmem"), 100);
    assert_int_equal(of_host(&stage, "n1@north", "load.mem"), 100);
    assert_int_equal(of_host(&stage, "n1@north", "ncpus"), UNKNOWN);
    says_lease_load(&stage, "north/a/south");
    assert_int_equal(of_host(&stage, "n1@north", "maxmem"), 100);
    assert_int_equal(of_host(&stage, "n1@north", "ncpus"), 16);
    /* Two leases of a host: together. */
    says_contract(&stage, "north/b/south", some, 1);
    assert_int_equal(of_host(&stage, "n1@north", "maxmem"), 200);
    /* One of them competes for what the provider has: on top. */
    says_contract(&stage, "north/b/south", none, 1);
    assert_int_equal(of_host(&stage, "n1@north", "maxmem"), 8100);
    assert_int_equal(of_host(&stage, "n1@north", "load.mem"), 4100);
    /* Nothing is exported any more: what the provider told is there again. */
    says_contract(&stage, "north/a/south", none, 2);
    assert_int_equal(of_host(&stage, "n1@north", "maxmem"), 8000);
    site_stage_release(&stage);
}

/* A limit of its scheduling: what selects more finds no host. */
static void test_a_grant_limits_jobs(void **state)
{
    static const char *const fits[] = {"select[mem >= 100]"};
    static const char *const exceeds[] = {"select[maxmem > 100]"};
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("lease", "work");
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    says_contract(&stage, "north/a/south", (struct space){true, 100}, 2);
    says_lease_load(&stage, "north/a/south");
    spec.n_res_reqs = 1;
    spec.res_reqs = exceeds;
    uint64_t waits = site_stage_submit_spec(&stage, "ana", &spec);
    spec.res_reqs = fits;
    uint64_t starts = site_stage_submit_spec(&stage, "ana", &spec);
    assert_int_equal(site_stage_attempt_of(&stage, waits), 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, starts), 0);
    /* More is exported: it goes too, without anything else that happens. */
    says_contract(&stage, "north/a/south", (struct space){true, 101}, 2);
    assert_int_not_equal(site_stage_attempt_of(&stage, waits), 0);
    /* A restart knows nothing until the broker tells. */
    site_stage_restart(&stage);
    assert_int_equal(of_host(&stage, "n1@north", "maxmem"), UNKNOWN);
    site_stage_release(&stage);
}

#define CONSUMER(resource)                                                             \
    "Begin Site\nNAME = south\nBROKER = tcp://b:1\nKEY = k\nBROKER_KEY = b\n"          \
    "SPOOL = /s\nEnd Site\nBegin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"                \
    "Begin Queue\nQUEUE_NAME = lease\nHOSTS = allremote\nEnd Queue\n"                  \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING CONSUMABLE\n" resource      \
    "\nEnd Resource\n"

static bool has_warned(const struct site_stage *stage, const char *text)
{
    for (int i = 0; i < stage->effects.count; i++) {
        const struct effect *effect = &stage->effects.items[i];
        if (effect->kind == EFFECT_LOG && strstr(effect->log.text, text) != NULL) {
            return true;
        }
    }
    return false;
}

/* Seen where this site defines it as the provider does, and from the hosts that have
 * it. */
static void test_instances_of_a_pool(void **state)
{
    static const struct {
        const char *why, *config;
        int traits;
        const char *hosts;
        int64_t seen;
        bool warns;
    } rows[] = {
        {"\", which is defined differently here: not used, expected in section "
         "Resource: TYPE Numeric, INTERVAL",
         CONSUMER("lic Numeric () N Y"), TRAIT_CONSUMABLE, "", 3, false},
        {"this host has it", CONSUMER("lic Numeric () N Y"), TRAIT_CONSUMABLE, "n0 n1",
         3, false},
        {"another host has it", CONSUMER("lic Numeric () N Y"), TRAIT_CONSUMABLE,
         "n10 n2", UNKNOWN, false},
        {"it grows the other way", CONSUMER("lic Numeric () Y ()"), TRAIT_CONSUMABLE,
         "", UNKNOWN, true},
        {"it is not consumed", CONSUMER("lic Numeric () N N"), TRAIT_CONSUMABLE, "",
         UNKNOWN, true},
        {"it is measured there", CONSUMER("lic Numeric () N Y"),
         TRAIT_CONSUMABLE | TRAIT_DYNAMIC, "", UNKNOWN, true},
        {"it is no number here", CONSUMER("lic String () () ()"), TRAIT_CONSUMABLE, "",
         UNKNOWN, true},
        {"nothing of it here", CONSUMER("other Numeric () N Y"), TRAIT_CONSUMABLE, "",
         UNKNOWN, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct lease_resource resource = {
            "lic", 1, 3, rows[i].traits | TRAIT_RELEASED, rows[i].hosts};
        struct site_stage stage;
        site_stage_init_text(&stage, rows[i].config);
        site_stage_broker_up(&stage);
        says_resource = &resource;
        says_contract(&stage, "north/a/south", (struct space){0}, 2);
        bool warns = has_warned(&stage, "\"lic\", which is defined differently");
        int64_t seen = of_host(&stage, "n1@north", "values.lic");
        if (seen != rows[i].seen || warns != rows[i].warns) {
            fail_msg("%s: %lld, warns %d", rows[i].why, (long long)seen, warns);
        }
        says_resource = NULL;
        site_stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_exported_is_not_seen),
        cmocka_unit_test(test_a_pool_is_less_at_home),
        cmocka_unit_test(test_instances_of_a_pool),
        cmocka_unit_test(test_a_grant_is_all_there_is),
        cmocka_unit_test(test_a_grant_limits_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
