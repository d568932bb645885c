/* SPDX-License-Identifier: Apache-2.0 */
/* test_usage_ask.c: periods and words of a query of the ledger, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/usage_ask.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)

static void test_dates(void **state)
{
    static const struct {
        const char *text;
        int64_t at_ms; /* -1: it is none */
    } rows[] = {
        {"1970-01-01", 0},
        {"1970-01-02", DAY_MS},
        {"1970-01-02T05:00", DAY_MS + 5 * HOUR_MS},
        {"1970-01-02T05:00Z", DAY_MS + 5 * HOUR_MS},
        {"2024-02-29",
         INT64_C(19782) * DAY_MS}, /* `date -u -d 2024-02-29 +%s` / 86400 */
        {"1970-01-02T05:30", -1},
        {"1970-01-02T05", -1},
        {"1970-01-02T05:00+1", -1},
        {"1970-13-01", -1},
        {"yesterday", -1},
        {"1969-12-31", -1},
        {"", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t at_ms = -1;
        struct err err = {0};
        int rc = usage_ask_date(rows[i].text, &at_ms, &err);
        if (at_ms != rows[i].at_ms || (rc == 0) != (rows[i].at_ms >= 0)) {
            fail_msg("\"%s\": %d, %lld", rows[i].text, rc, (long long)at_ms);
        }
        if (rc < 0) {
            assert_int_equal(rc, ERR_PARSE);
            assert_non_null(strstr(err.text, "2026-11-23T08:00"));
        }
    }
}

static void test_words(void **state)
{
    int words;
    struct err err;
    (void)state;
    assert_int_equal(usage_ask_by("", &words, &err), 0);
    assert_int_equal(words, 0);
    assert_int_equal(usage_ask_by("lease,day", &words, &err), 0);
    assert_int_equal(words, 1 << USAGE_WORD_LEASE | 1 << USAGE_WORD_DAY);
    assert_int_equal(
        usage_ask_by("site,node,user,queue,project,account,hour,lent", &words, &err),
        0);
    assert_int_equal(words, (1 << USAGE_WORDS) - 1 -
                                (1 << USAGE_WORD_LEASE | 1 << USAGE_WORD_DAY));
    static const char *const wrong[] = {"lea",       "leases", "Lease",
                                        "day,,hour", ",",      "lease colour"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(usage_ask_by(wrong[i], &words, &err), ERR_PARSE);
        assert_non_null(strstr(err.text, "expected lease, site, node, user"));
    }
}

static void test_period(void **state)
{
    struct msg_query query = {0};
    int64_t from_ms, to_ms;
    (void)state;
    usage_ask_period(&query, 50 * DAY_MS, &from_ms, &to_ms);
    assert_int_equal(to_ms, 50 * DAY_MS + 1); /* the hour that begins now is in it */
    assert_int_equal(from_ms, 20 * DAY_MS + 1);
    query.to_ms = 40 * DAY_MS;
    usage_ask_period(&query, 50 * DAY_MS, &from_ms, &to_ms);
    assert_int_equal(from_ms, 10 * DAY_MS);
    query.from_ms = 39 * DAY_MS;
    usage_ask_period(&query, 50 * DAY_MS, &from_ms, &to_ms);
    assert_int_equal(from_ms, 39 * DAY_MS);
    assert_int_equal(to_ms, 40 * DAY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
