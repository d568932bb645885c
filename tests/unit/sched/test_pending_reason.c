/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of reasons: names are unique, hosts are counted by their obstacle, and
 * protection from preemption is explained. tests/unit/site/test_site_reasons.c shows
 * that each reason occurs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/pending/pending.h"

static int setup(void **state)
{
    static struct arena arena;
    arena_init(&arena);
    *state = &arena;
    return 0;
}

static int teardown(void **state)
{
    arena_release(*state);
    return 0;
}

static void test_words(void **state)
{
    for (int i = 0; i < REASONS; i++) {
        struct pending_verdict verdict = {.reason = (enum pending_reason)i,
                                          .limit = "L"};
        if (i == REASON_RUSAGE) {
            verdict.resource = "lic";
        }
        assert_int_equal(strspn(pending_reason_name((enum pending_reason)i),
                                "abcdefghijklmnopqrstuvwxyz_"),
                         strlen(pending_reason_name((enum pending_reason)i)));
        assert_true(strlen(pending_reason_text(*state, &verdict)) > 0);
        assert_null(strchr(pending_reason_text(*state, &verdict), '%'));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(pending_reason_name((enum pending_reason)i),
                                    pending_reason_name((enum pending_reason)j));
        }
    }
}

static void test_hosts(void **state)
{
    static const struct {
        struct pending_verdict verdict;
        const char *said;
    } rows[] = {
        {{.reason = REASON_BUSY, .n_full = 3, .n_closed = 1},
         "3 hosts without a free slot, 1 host closed or unreachable"},
        {{.reason = REASON_EXCLUSIVE, .n_full = 2}, "2 hosts with other jobs"},
        {{.reason = REASON_BUSY, .n_exclusive = 1}, "1 host with an exclusive job"},
        {{.reason = REASON_HOST_LIMIT, .n_limited = 2}, "2 hosts at the limit"},
        {{.reason = REASON_RUSAGE, .n_short = 2},
         "2 hosts with too little of a resource that the job reserves"},
        {{.reason = REASON_UNMET, .n_unmet = 2, .n_excluded = 1},
         "2 hosts that do not meet its resource requirements, 1 host not usable by the "
         "queue, or not in the job's host list"},
        {{.reason = REASON_AVOIDED, .n_avoided = 3},
         "3 hosts excluded after it exited there with an EXCLUDE code"},
        /* slots that are taken are not why it is too large */
        {{.reason = REASON_TOO_LARGE, .n_full = 2, .n_closed = 1},
         "1 host closed or unreachable"},
        /* whatever hosts there are */
        {{.reason = REASON_LIMIT, .n_full = 2}, ""},
        {{.reason = REASON_DEPENDENCY, .n_hosts = 2}, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(pending_reason_hosts(*state, &rows[i].verdict),
                            rows[i].said);
    }
}

static void test_preempt(void **state)
{
    static const char *const guards[REASON_PROTECTIONS] = {
        [REASON_UNPROTECTED] = "2 that would not make enough room",
        [REASON_PROTECTED_COUNT] = "2 protected by MAX_JOB_PREEMPT",
        [REASON_PROTECTED_TOTAL] = "2 protected by MAX_TOTAL_TIME_PREEMPT",
        [REASON_PROTECTED_INTERVAL] = "2 protected by NO_PREEMPT_INTERVAL",
        [REASON_PROTECTED_RUN_TIME] = "2 protected by NO_PREEMPT_RUN_TIME",
        [REASON_PROTECTED_FINISH_TIME] = "2 protected by NO_PREEMPT_FINISH_TIME",
    };
    struct pending_verdict verdict = {.reason = REASON_BUSY};
    assert_string_equal(pending_reason_preempt(*state, &verdict),
                        ""); /* it preempts nobody */
    verdict.preempt.n_queues = 1;
    assert_non_null(strstr(pending_reason_preempt(*state, &verdict),
                           "no running job on its hosts may be preempted by it"));
    for (int i = 0; i < REASON_PROTECTIONS; i++) {
        verdict.preempt = (struct pending_reason_preempt){.n_queues = 1, .n_jobs = 2};
        verdict.preempt.n_protected[i] = 2;
        const char *text = pending_reason_preempt(*state, &verdict);
        if (guards[i] == NULL || strstr(text, guards[i]) == NULL) {
            fail_msg("\"%s\" does not name guard %d", text, i);
        }
    }
    verdict.preempt.n_protected[REASON_UNPROTECTED] = 1;
    assert_non_null(strstr(pending_reason_preempt(*state, &verdict),
                           "1 that would not make enough room, 2 protected by"));
    verdict.preempt.is_delayed = true;
    assert_non_null(strstr(pending_reason_preempt(*state, &verdict), "PREEMPT_DELAY"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hosts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_preempt, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
