/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_config.c: the Broker and Member sections, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "broker/broker_config.h"

#define BROKER "Begin Broker\nLISTEN = tcp://*:1\nSTATE = s.db\nKEY = k\nEnd Broker\n"

static struct arena arena;
static struct conf conf;
static struct broker_setup setup;

static int open_conf(void **state)
{
    arena_init(&arena);
    return 0;
}

static int close_conf(void **state)
{
    arena_release(&arena);
    return 0;
}

static bool read_text(const char *text)
{
    conf_init(&conf, &arena);
    conf_read(&conf, "f", text, strlen(text));
    conf_check(&conf);
    return broker_config_read(&conf, &setup);
}

static void a_whole_configuration_is_read(void **state)
{
    assert_true(read_text("Begin Broker\n"
                          "LISTEN = tcp://127.0.0.1:5570\n"
                          "STATE = /var/lib/sublet/broker.db\n"
                          "KEY = keys/broker.key_secret\n"
                          "LOST_AFTER = 20\n"
                          "End Broker\n"
                          "Begin Member\n"
                          "NAME   KEY_FILE         ROLES\n"
                          "north  keys/north.key   (provider consumer)\n"
                          "ops    keys/ops.key     (admin)\n"
                          "End Member\n"
                          "Begin Member\n"
                          "NAME = south\n"
                          "KEY_FILE = keys/south.key\n"
                          "ROLES = consumer\n"
                          "End Member\n"));
    assert_int_equal(conf.n_errors, 0);
    assert_string_equal(setup.listen, "tcp://127.0.0.1:5570");
    assert_string_equal(setup.state, "/var/lib/sublet/broker.db");
    assert_string_equal(setup.key, "keys/broker.key_secret");
    assert_int_equal(setup.config.lost_after_ms, 20000);
    assert_int_equal(setup.config.n_members, 3);
    assert_string_equal(setup.config.members[0].name, "north");
    assert_int_equal(setup.config.members[0].roles, ROLE_PROVIDER | ROLE_CONSUMER);
    assert_int_equal(setup.config.members[1].roles, ROLE_ADMIN);
    assert_string_equal(setup.config.members[2].name, "south");
    assert_string_equal(setup.key_files[2], "keys/south.key");
}

static void lost_after_is_15_seconds(void **state)
{
    assert_true(read_text(BROKER));
    assert_int_equal(conf.n_errors, 0);
    assert_int_equal(setup.config.lost_after_ms, 15000);
    assert_int_equal(setup.config.n_members, 0);
}

static void without_a_broker_there_is_none(void **state)
{
    assert_false(read_text("Begin Site\nNAME = north\nSPOOL = s\nEnd Site\n"));
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text;
        const char *key;
        int line;
        const char *part, *why;
    } rows[] = {
        {"Begin Broker\nSTATE = s\nKEY = k\nEnd Broker\n", "LISTEN", 0, "missing",
         "no LISTEN"},
        {"Begin Broker\nLISTEN = l\nKEY = k\nEnd Broker\n", "STATE", 0, "missing",
         "no STATE"},
        {"Begin Broker\nLISTEN = l\nSTATE = s\nEnd Broker\n", "KEY", 0, "missing",
         "no KEY"},
        {BROKER BROKER, NULL, 6, "second section", "two brokers"},
        {BROKER "Begin Member\nNAME KEY_FILE ROLES\na ka (consumer)\na kb (consumer)\n"
                "End Member\n",
         "NAME", 9, "twice", "a member twice"},
        {BROKER "Begin Member\nNAME KEY_FILE ROLES\na k (consumer)\nb k (consumer)\n"
                "End Member\n",
         "KEY_FILE", 9, "that of \"a\"", "two members with one key"},
        {BROKER "Begin Member\nNAME KEY_FILE ROLES\na - (consumer)\nEnd Member\n",
         "KEY_FILE", 8, "missing", "no key"},
        {BROKER "Begin Member\nNAME KEY_FILE ROLES\na k (consumer boss)\nEnd Member\n",
         "ROLES", 8, "\"boss\" is not a role", "an unknown role"},
        {BROKER "Begin Member\nNAME KEY_FILE ROLES\na k -\nEnd Member\n", "ROLES", 8,
         "missing", "no role"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        read_text(rows[i].text);
        const struct conf_diag *diag = conf.diags;
        bool is_right = conf.n_errors == 1 && diag->severity == CONF_ERROR &&
                        (rows[i].line == 0 || diag->line == rows[i].line) &&
                        strstr(diag->text, rows[i].part) != NULL &&
                        (rows[i].key == NULL ? diag->key == NULL
                                             : diag->key != NULL &&
                                                   strcmp(diag->key, rows[i].key) == 0);
        if (!is_right) {
            fail_msg("%s: %d errors, line %d: %s: %s", rows[i].why, conf.n_errors,
                     diag != NULL ? diag->line : 0,
                     diag != NULL && diag->key != NULL ? diag->key : "-",
                     diag != NULL ? diag->text : "");
        }
        arena_clear(&arena);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_conf, close_conf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_configuration_is_read),
        TEST(lost_after_is_15_seconds),
        TEST(without_a_broker_there_is_none),
        TEST(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
