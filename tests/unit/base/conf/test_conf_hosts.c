/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_hosts.c: short forms of names, by LSF's manual of lsb.hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/conf/conf.h"

static struct arena arena;
static struct conf conf;

static int open_conf(void **state)
{
    arena_init(&arena);
    conf_init(&conf, &arena);
    return 0;
}

static int close_conf(void **state)
{
    arena_release(&arena);
    return 0;
}

static void check_text(const char *text)
{
    conf_read(&conf, "lsb.hosts", text, strlen(text));
    conf_check(&conf);
}

static const char *first_text(void)
{
    return conf.diags != NULL ? conf.diags->text : "";
}

static const char HOSTS[] = "Begin Host\nHOST_NAME MXJ\ndefault 2\nnode01 4\nnode02 4\n"
                            "big1 8\nEnd Host\n";

static void lists_are_expanded(void **state)
{
    static const struct {
        const char *list, *expanded;
    } rows[] = {
        {"(node[01-03])", "node01 node02 node03 "},
        {"(n[8-11])", "n8 n9 n10 n11 "}, /* no more digits than the first has */
        {"(n[08-11])", "n08 n09 n10 n11 "},
        {"(n[1:3])", "n1 n2 n3 "}, /* a colon is a hyphen */
        {"(n[1-2,5,7-8])", "n1 n2 n5 n7 n8 "},
        {"(n[3])", "n3 "},
        {"(r[1-2]n[1-2])", "r1n1 r1n2 r2n1 r2n2 "},
        {"(n[1-2]-ib)", "n1-ib n2-ib "},
        {"(a n[1-2] b)", "a n1 n2 b "},
        {"(~n[1-2] all)", "~n1 ~n2 all "},
        {"(node*)", "node01 node02 "}, /* of section Host, without the default */
        {"(*1)", "node01 big1 "},
        {"(all ~node*)", "all ~node01 ~node02 "},
        {"(*o*0*)", "node01 node02 "},
        {"(big1*)", "big1 "},
        {"(x*)", ""},
        {"(n1 n2)", "(n1 n2)"}, /* as it is */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        conf_init(&conf, &arena);
        check_text(HOSTS);
        check_text(arena_printf(&arena,
                                "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\ng %s\n"
                                "End HostGroup\n",
                                rows[i].list));
        struct conf_place at = {0};
        assert_true(conf_next_row(&conf, "HostGroup", &at));
        assert_string_equal(first_text(), "");
        assert_string_equal(conf_text(at.row, "GROUP_MEMBER", ""), rows[i].expanded);
    }
}

static void other_lists_take_no_pattern(void **state)
{
    check_text("Begin Queue\nQUEUE_NAME = q\nHOSTS = n[1-2]+3 n*\n"
               "PREEMPTION = PREEMPTIVE[a b]\nSLOT_RESERVE = MAX_RESERVE_TIME[20]\n"
               "End Queue\n");
    struct conf_place at = {0};
    assert_true(conf_next_row(&conf, "Queue", &at));
    assert_string_equal(conf_text(at.row, "HOSTS", ""), "n1+3 n2+3 n* ");
    assert_string_equal(conf_text(at.row, "PREEMPTION", ""), "PREEMPTIVE[a b]");
    assert_string_equal(conf_text(at.row, "SLOT_RESERVE", ""), "MAX_RESERVE_TIME[20]");
}

static void a_row_becomes_rows(void **state)
{
    static const char *const names[] = {"a", "n1", "n2", "n3", "z"};
    check_text("Begin Host\nHOST_NAME MXJ\na 1\nn[1-3] 7\nz 2\nEnd Host\n");
    struct conf_place at = {0};
    for (int i = 0; i < 5; i++) {
        assert_true(conf_next_row(&conf, "Host", &at));
        assert_string_equal(conf_text(at.row, "HOST_NAME", ""), names[i]);
        assert_string_equal(conf_text(at.row, "MXJ", ""), i == 0   ? "1"
                                                          : i == 4 ? "2"
                                                                   : "7");
    }
    assert_false(conf_next_row(&conf, "Host", &at));
    assert_string_equal(first_text(), "");
}

static void errors_name_the_word(void **state)
{
    static const struct {
        const char *word, *error;
    } rows[] = {
        {"n[1-", "expected [FIRST-LAST,...]"},
        {"n[]", "expected [FIRST-LAST,...]"},
        {"n[a-b]", "expected [FIRST-LAST,...]"},
        {"n[1-2-3]", "expected [FIRST-LAST,...]"},
        {"n[1,]", "expected [FIRST-LAST,...]"},
        {"n[1234567890]", "expected [FIRST-LAST,...]"},
        {"n[3-1]", "a range from 3 to 1"},
        {"n[1-10001]", "too many hosts, expected at most 10000"},
        {"n[0-99]x[0-99]y[0-99]", "too many hosts, expected at most 10000"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        conf_init(&conf, &arena);
        check_text(arena_printf(&arena, "Begin Host\nHOSTNAME MXJ\n%s 1\nEnd Host\n",
                                rows[i].word));
        assert_true(conf.n_errors > 0);
        if (strstr(first_text(), rows[i].error) == NULL &&
            strstr(first_text(), "parentheses do not pair") == NULL) {
            fail_msg("%s: %s", rows[i].word, first_text());
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_conf, close_conf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lists_are_expanded),
        TEST(other_lists_take_no_pattern),
        TEST(a_row_becomes_rows),
        TEST(errors_name_the_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
