/* SPDX-License-Identifier: Apache-2.0 */
/* test_borrowed_load.c: what a provider's hosts are, as its consumers see them. "south"
 * is consumer of north/spare/south; "north" lends n1 and n2 to south. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "site/resource/site_resource.h"
#include "tests/unit/site/site_stage.h"

#define LEASE "north/spare/south"
#define NORTH                                                                          \
    "Begin Site\nNAME = north\nSPOOL = /s\nBROKER = tcp://b:1\nKEY = k\n"              \
    "BROKER_KEY = b\nEnd Site\n"                                                       \
    "Begin Host\nHOST_NAME MXJ type model RESOURCES\nn1 4 ! EPYC (linux !bigmem)\n"    \
    "n2 4 X86_64 EPYC ()\nEnd Host\n"                                                  \
    "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"                                    \
    "Begin HostExport\nNAME = spare\nPER_HOST = n1 n2\nSLOTS = 4\nTYPE = shared\n"     \
    "DISTRIBUTION = ([south, 1])\nEnd HostExport\n"

static const struct load_value told[] = {
    {"mem", "4000", false}, {"type", "X86_64", false}, {"fast", "1", true}};

static void tell_host(struct site_stage *stage, const char *host)
{
    struct peer from = site_stage_host(host);
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    msg.host_load = (struct msg_host_load){.values = told, .n_values = 2};
    site_stage_message(stage, &from, &msg);
}

/* "name=value", "!name=value"; "" where it is not told. */
static const char *value_in(struct site_stage *stage,
                            const struct lease_load_host *host, const char *name)
{
    for (int i = 0; i < host->n_values; i++) {
        if (strcmp(host->values[i].name, name) == 0) {
            return arena_printf(&stage->arena, "%s%s",
                                host->values[i].is_exclusive ? "!" : "",
                                host->values[i].value);
        }
    }
    return "";
}

/* ---------------------------------------------------------------- the provider */

static void test_told(void **state)
{
    struct site_stage stage;
    site_stage_init_text(&stage, NORTH);
    site_stage_host_up(&stage, "n1");
    tell_host(&stage, "n1");
    site_stage_broker_up(&stage);
    const struct msg *msg = NULL;
    for (int i = 0; i < 20 && msg == NULL; i++) {
        msg = site_stage_sent(&stage, MSG_LEASE_LOAD, 0);
        if (msg == NULL) {
            site_stage_pass(&stage, 100);
        }
    }
    assert_non_null(msg); /* soon, not at the next round */
    assert_string_equal(msg->site, "south");
    assert_string_equal(msg->lease_load.lease, LEASE);
    assert_int_equal(msg->lease_load.n_hosts, 2);
    const struct lease_load_host *n1 = &msg->lease_load.hosts[0];
    assert_string_equal(n1->host, "n1");
    assert_string_equal(value_in(&stage, n1, "type"), "X86_64");
    assert_string_equal(value_in(&stage, n1, "model"), "EPYC");
    assert_string_equal(value_in(&stage, n1, "mem"), "4000");
    assert_string_equal(value_in(&stage, n1, "linux"), "1");
    assert_string_equal(value_in(&stage, n1, "bigmem"), "!1");
    assert_string_equal(value_in(&stage, n1, "hname"), ""); /* the consumer's to say */
    const struct lease_load_host *n2 = &msg->lease_load.hosts[1];
    assert_string_equal(value_in(&stage, n2, "type"),
                        "X86_64"); /* it has not come yet */
    assert_string_equal(value_in(&stage, n2, "mem"), "");
    site_stage_release(&stage);
}

static int count_told(struct site_stage *stage, int64_t ms)
{
    int count = 0;
    for (int64_t passed = 0; passed < ms; passed += 500) {
        struct msg pong = {.kind = MSG_PONG, .site = ""};
        site_stage_broker(stage, &pong); /* it lives */
        count += site_stage_count(stage, MSG_LEASE_LOAD);
        site_stage_pass(stage, 500);
        count += site_stage_count(stage, MSG_LEASE_LOAD);
    }
    return count;
}

static void test_rounds(void **state)
{
    struct site_stage stage;
    int count = 0;
    site_stage_init_text(&stage, NORTH);
    site_stage_host_up(&stage, "n1");
    site_stage_broker_up(&stage);
    count_told(&stage, 5000);
    assert_int_equal(count_told(&stage, 300000), 0); /* nothing is told, nobody wakes */
    for (int i = 0; i < 20; i++) {
        site_stage_host_alive(&stage, "n1"); /* it was silent */
        tell_host(&stage, "n1");
        count += site_stage_count(&stage, MSG_LEASE_LOAD);
        count += count_told(&stage, 14000);
    }
    assert_in_range(count, 4, 8); /* in five minutes: one each, and the first at once */
    site_stage_release(&stage);
}

static void test_asked(void **state)
{
    struct site_stage stage;
    struct msg ask = {.kind = MSG_LEASE_LOAD_ASK, .site = "south"};
    site_stage_init_text(&stage, NORTH);
    site_stage_broker_up(&stage);
    count_told(&stage, 3000);
    ask.lease_load_ask.lease = LEASE;
    site_stage_broker(&stage, &ask);
    assert_int_equal(site_stage_count(&stage, MSG_LEASE_LOAD), 1);
    ask.lease_load_ask.lease = "north/other/south";
    site_stage_broker(&stage, &ask);
    assert_int_equal(site_stage_count(&stage, MSG_LEASE_LOAD), 0);
    ask.site = "west"; /* in its own name, about another's lease */
    ask.lease_load_ask.lease = LEASE;
    site_stage_broker(&stage, &ask);
    assert_int_equal(site_stage_count(&stage, MSG_LEASE_LOAD), 0);
    ask.site = "south";
    int n_answers = 0;
    for (int i = 0; i < 200; i++) {
        site_stage_broker(&stage, &ask);
        n_answers += site_stage_count(&stage, MSG_LEASE_LOAD);
    }
    assert_in_range(n_answers, 10, 70); /* a second's worth of answers */
    site_stage_release(&stage);
}

static void tell_mem(struct site_stage *stage, const char *mem)
{
    const struct load_value values[] = {{"mem", mem, false}};
    struct peer from = site_stage_host("n1");
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 1};
    site_stage_host_alive(stage, "n1");
    site_stage_message(stage, &from, &msg);
}

/* Load that crosses a threshold of the host's is told soon, other load at the next
 * round. The thresholds go with it. */
static void test_thresholds_are_told(void **state)
{
    static const struct {
        const char *mem;
        bool is_soon;
    } rows[] = {
        {"3000", false}, {"400", true}, {"300", false},
        {"50", true},    {"200", true}, {"4000", true},
    };
    struct site_stage stage;
    (void)state;
    site_stage_init_text(
        &stage, "Begin Site\nNAME = north\nSPOOL = /s\nBROKER = tcp://b:1\nKEY = k\n"
                "BROKER_KEY = b\nEnd Site\n"
                "Begin Host\nHOST_NAME MXJ mem r1m\nn1 4 500/100 /0.25\nEnd Host\n"
                "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"
                "Begin HostExport\nNAME = spare\nPER_HOST = n1\nSLOTS = 4\n"
                "DISTRIBUTION = ([south, 1])\nEnd HostExport\n");
    site_stage_host_up(&stage, "n1");
    site_stage_broker_up(&stage);
    tell_mem(&stage, "4000");
    count_told(&stage, 5000);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tell_mem(&stage, rows[i].mem);
        if ((count_told(&stage, 3000) > 0) != rows[i].is_soon) {
            fail_msg("mem=%s", rows[i].mem);
        }
    }
    struct msg ask = {.kind = MSG_LEASE_LOAD_ASK, .site = "south"};
    ask.lease_load_ask.lease = LEASE;
    site_stage_broker(&stage, &ask);
    const struct lease_load_host *host =
        &site_stage_sent(&stage, MSG_LEASE_LOAD, 0)->lease_load.hosts[0];
    assert_int_equal(host->n_thresholds, 2); /* by their ids */
    assert_string_equal(host->thresholds[0].name, "r1m");
    assert_string_equal(host->thresholds[0].value, "/0.250000000");
    assert_string_equal(host->thresholds[1].name, "mem");
    assert_string_equal(host->thresholds[1].value, "500.000000000/100.000000000");
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- the consumer */

static void tell_lease(struct site_stage *stage, const char *from, const char *host)
{
    struct lease_load_host hosts[] = {{.host = host, .values = told, .n_values = 3},
                                      {.host = "other", .values = told, .n_values = 3}};
    struct msg msg = {.kind = MSG_LEASE_LOAD, .site = from};
    msg.lease_load = (struct msg_lease_load){LEASE, hosts, 2};
    site_stage_broker(stage, &msg);
}

/* What `load` shows of a host: an integer, -1 for null, -2 where it has no row. */
static int64_t shown_mem(struct site_stage *stage, const char *host)
{
    struct msg_query query = {.kind = QUERY_LOAD,
                              .name = host,
                              .user = "",
                              .queue = "",
                              .host = "",
                              .provider = "",
                              .consumer = "",
                              .after = ""};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *rows =
        reply->value != NULL ? value_find(reply->value, "load") : NULL;
    if (rows == NULL || rows->count == 0) {
        return -2;
    }
    const struct value *mem = value_find(rows->first, "mem");
    return mem->kind == VALUE_INT ? mem->number : -1;
}

static void test_taken(void **state)
{
    struct site_stage stage;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    assert_int_equal(shown_mem(&stage, "n1@north"), -2);
    tell_lease(&stage, "north", "n1"); /* no contract yet */
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    assert_int_equal(shown_mem(&stage, "n1@north"), -1);
    tell_lease(&stage, "west", "n1"); /* not the lease's provider */
    assert_int_equal(shown_mem(&stage, "n1@north"), -1);
    tell_lease(&stage, "north", "n1");
    assert_int_equal(shown_mem(&stage, "n1@north"), 4000);
    assert_int_equal(shown_mem(&stage, "other@north"), -2); /* not in the contract */
    site_stage_pass(&stage, 2 * BORROWED_LOAD_ASK_MS);      /* it is not forgotten */
    assert_int_equal(shown_mem(&stage, "n1@north"), 4000);
    site_stage_release(&stage);
}

static const char *shown_status(struct site_stage *stage)
{
    struct msg_query query = {.kind = QUERY_HOSTS,
                              .name = "n1@north",
                              .user = "",
                              .queue = "",
                              .host = "",
                              .provider = "",
                              .consumer = "",
                              .after = ""};
    const struct value *rows =
        value_find(site_stage_query(stage, &query)->value, "hosts");
    return value_find(rows->first, "status")->text;
}

static void tell_bounded(struct site_stage *stage, const struct load_value *thresholds,
                         int n_thresholds)
{
    const struct lease_load_host host = {.host = "n1",
                                         .values = told,
                                         .n_values = 3,
                                         .thresholds = thresholds,
                                         .n_thresholds = n_thresholds};
    struct msg msg = {.kind = MSG_LEASE_LOAD, .site = "north"};
    msg.lease_load = (struct msg_lease_load){LEASE, &host, 1};
    site_stage_broker(stage, &msg);
}

/* The host has 4000 MB. What a provider says twice, or says badly, is no threshold. */
static void test_thresholds_are_taken(void **state)
{
    static const struct load_value much[] = {
        {"mem", "5000/1000", false}, {"mem", "10/1", false}, {"ut", "0.5", false}};
    static const struct load_value little[] = {{"mem", "500/100", false}};
    static const struct load_value bad[] = {
        {"mem", "many", false},  {"mem", "", false},   {"nothing", "1/2", false},
        {"hname", "1/2", false}, {"fast", "1", false}, {"swp", "1e300/-1", false},
        {"slots", "9/9", false}};
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    tell_bounded(&stage, NULL, 0);
    assert_string_equal(shown_status(&stage), "ok");
    tell_bounded(&stage, much, 3);
    assert_string_equal(shown_status(&stage), "closed_Busy");
    tell_bounded(&stage, little, 1);
    assert_string_equal(shown_status(&stage), "ok");
    tell_bounded(&stage, much, 1);
    tell_bounded(&stage, bad, 7); /* replaces what there was */
    assert_string_equal(shown_status(&stage), "ok");
    site_stage_release(&stage);
}

static void test_asks(void **state)
{
    struct site_stage stage;
    int n_asks = 0;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    n_asks += site_stage_count(&stage, MSG_LEASE_LOAD_ASK);
    for (int i = 0; i < 24; i++) {
        site_stage_pass(&stage, 500);
        n_asks += site_stage_count(&stage, MSG_LEASE_LOAD_ASK);
        const struct msg *ask = site_stage_sent(&stage, MSG_LEASE_LOAD_ASK, 0);
        if (ask != NULL) {
            assert_string_equal(ask->site, "north");
            assert_string_equal(ask->lease_load_ask.lease, LEASE);
        }
    }
    assert_in_range(n_asks, 2, 4); /* every 5 s */
    tell_lease(&stage, "north", "n1");
    for (int i = 0; i < 24; i++) {
        site_stage_pass(&stage, 500);
        assert_int_equal(site_stage_count(&stage, MSG_LEASE_LOAD_ASK), 0);
    }
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_asks),
        cmocka_unit_test(test_thresholds_are_told),
        cmocka_unit_test(test_thresholds_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
