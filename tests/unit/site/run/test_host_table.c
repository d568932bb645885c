/* SPDX-License-Identifier: Apache-2.0 */
/* Which connection may speak for which host, by the key it has shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/config/site_config.h"
#include "site/run/host_table.h"

static const struct site_host configured[] = {
    {.name = "here", .max = 1, .is_here = true},
    {.name = "far", .max = 1},
    {.name = "next", .max = 1},
};

static void test_proof(void **state)
{
    static const struct {
        const char *why, *name;
        struct peer from;
        const char *refusal; /* NULL: it is let in */
    } rows[] = {
        {"the site's own socket",
         "here",
         {.name = "", .roles = HOST_PROOF_LOCAL},
         NULL},
        {"it speaks for any", "far", {.name = "", .roles = HOST_PROOF_LOCAL}, NULL},
        {"its own key", "far", {.name = "far", .roles = HOST_PROOF_KEY}, NULL},
        {"another's key",
         "next",
         {.name = "far", .roles = HOST_PROOF_KEY},
         "this key is that of host far (HOST_KEYS)"},
        {"a key is no local socket",
         "here",
         {.name = "here", .roles = HOST_PROOF_KEY},
         "this name is in HOSTS_HERE, so only the site's own machine may use it"},
        {"the key of all", "next", {.name = "", .roles = HOST_PROOF_SHARED}, NULL},
        {"but of these",
         "here",
         {.name = "", .roles = HOST_PROOF_SHARED},
         "this name is in HOSTS_HERE, so only the site's own machine may use it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct host_table *hosts = host_table_new(configured, 3);
        struct effects effects;
        struct msg msg = {.kind = MSG_HOST_HELLO, .session = 7};
        struct peer from = rows[i].from;
        msg.host_hello.name = rows[i].name;
        msg.host_hello.boot_id = "b";
        from.kind = PEER_HOST;
        from.link = 5;
        effects_init(&effects);
        int index = host_table_hello(hosts, &from, &msg, 1000, &effects);
        const struct effect *answer = &effects.items[effects.count - 1];
        assert_int_equal(answer->kind, EFFECT_SEND);
        const char *text = answer->send.msg.welcome.text;
        if ((index >= 0) != (rows[i].refusal == NULL) ||
            answer->send.msg.welcome.is_accepted != (index >= 0) ||
            strcmp(text, rows[i].refusal != NULL ? rows[i].refusal : "") != 0) {
            fail_msg("%s: %d \"%s\"", rows[i].why, index, text);
        }
        effects_release(&effects);
        host_table_free(hosts);
    }
}

/* How many lines a HELLO of an unknown host adds to the log. */
static int count_logged(struct host_table *hosts, const char *name, int64_t now_ms)
{
    struct effects effects;
    struct msg msg = {.kind = MSG_HOST_HELLO, .session = 7};
    struct peer from = {.kind = PEER_HOST, .name = "", .link = 5};
    int n_logged = 0;
    msg.host_hello.name = name;
    msg.host_hello.boot_id = "b";
    effects_init(&effects);
    assert_int_equal(host_table_hello(hosts, &from, &msg, now_ms, &effects), -1);
    for (int i = 0; i < effects.count; i++) {
        n_logged += effects.items[i].kind == EFFECT_LOG;
    }
    assert_int_equal(effects.count, n_logged + 1); /* each HELLO is answered */
    effects_release(&effects);
    return n_logged;
}

/* Each name once a minute; and names that somebody makes up do not fill the log. */
static void test_unknown_hosts_in_the_log(void **state)
{
    struct host_table *hosts = host_table_new(configured, 3);
    (void)state;
    assert_int_equal(count_logged(hosts, "n9", 0), 1);
    assert_int_equal(count_logged(hosts, "n9", 2000), 0);
    assert_int_equal(count_logged(hosts, "n8", 2000), 1);
    assert_int_equal(count_logged(hosts, "n9", 59999), 0);
    assert_int_equal(count_logged(hosts, "n9", 60000), 1);
    assert_int_equal(count_logged(hosts, "n8", 61999), 0);
    assert_int_equal(count_logged(hosts, "n9", 119999), 0);
    int n_logged = 0;
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "made-up%d", i);
        n_logged += count_logged(hosts, name, 200000);
    }
    assert_int_equal(n_logged, 16);
    assert_int_equal(count_logged(hosts, "n9", 260000), 1);
    host_table_free(hosts);
}

/* While the journal is behind, a host that is not configured is awaited: if it has been
 * a host of this site, and if the sender may speak for it. */
static void test_unknown_hosts_are_awaited(void **state)
{
    static const struct {
        struct peer from;
        uint64_t commits;
        bool is_behind, is_awaited;
    } rows[] = {
        {{.name = "", .roles = HOST_PROOF_SHARED}, 5, true, true},
        {{.name = "new", .roles = HOST_PROOF_KEY}, 5, true, true},
        {{.name = "far", .roles = HOST_PROOF_KEY}, 5, true, false},
        {{.name = "", .roles = HOST_PROOF_SHARED}, 0, true, false},
        {{.name = "", .roles = HOST_PROOF_SHARED}, 5, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct host_table *hosts = host_table_new(configured, 0);
        struct effects effects;
        struct msg msg = {.kind = MSG_HOST_HELLO, .session = 7};
        struct peer from = rows[i].from;
        from.kind = PEER_HOST;
        msg.host_hello.name = "new";
        msg.host_hello.boot_id = "b";
        msg.host_hello.mark.commits = rows[i].commits;
        effects_init(&effects);
        host_table_set_mark(hosts, &(struct journal_mark){.commits = 9}, 0, 0,
                            rows[i].is_behind);
        host_table_hello(hosts, &from, &msg, 1000, &effects);
        assert_int_equal(host_table_unknown(hosts) != NULL, rows[i].is_awaited);
        host_table_tick(hosts, 60000); /* each host has had time to connect */
        assert_int_equal(host_table_is_awaiting(hosts), rows[i].is_awaited);
        effects_release(&effects);
        host_table_free(hosts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_proof),
                                       cmocka_unit_test(test_unknown_hosts_are_awaited),
                                       cmocka_unit_test(test_unknown_hosts_in_the_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
