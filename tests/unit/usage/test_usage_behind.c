/* SPDX-License-Identifier: Apache-2.0 */
/* test_usage_behind.c: which runs and splits are named behind a difference of books. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "usage/usage.h"

#define UNTIL INT64_C(1000000)

struct shown {
    char text[1000];
};

static void show_run(void *arg, const struct usage_run_difference *difference)
{
    struct shown *shown = arg;
    size_t at = strlen(shown->text);
    snprintf(shown->text + at, sizeof(shown->text) - at,
             "%llu <%s> %s%s %lld in %lld-%lld%s\n",
             (unsigned long long)difference->attempt, difference->job,
             difference->consumer != NULL ? "c" : "",
             difference->provider != NULL ? "p" : "",
             (long long)difference->difference_ms, (long long)difference->from_ms,
             (long long)difference->to_ms, difference->is_shifted ? " shifted" : "");
}

static void show_split(void *arg, const struct usage_split_difference *difference)
{
    const struct usage_split *site = difference->site, *broker = difference->broker;
    struct shown *shown = arg;
    size_t at = strlen(shown->text);
    snprintf(shown->text + at, sizeof(shown->text) - at, "%s %llu: %d@%lld %d@%lld\n",
             usage_side_name(difference->side), (unsigned long long)difference->epoch,
             site != NULL ? site->n_slots : -1,
             site != NULL ? (long long)site->at_ms : -1,
             broker != NULL ? broker->n_slots : -1,
             broker != NULL ? (long long)broker->at_ms : -1);
}

static void add_run(struct usage_behind *behind, enum usage_side side, uint64_t attempt,
                    int64_t start_ms, int64_t end_ms, int64_t used_ms)
{
    bool is_open = end_ms == USAGE_OPEN;
    const struct usage_run run = {.side = side,
                                  .attempt = attempt,
                                  .job = attempt == 7 ? "7[2]" : "3",
                                  .start_ms = start_ms,
                                  .end_ms = end_ms,
                                  .used_ms = used_ms,
                                  .at_ms = is_open ? start_ms : end_ms,
                                  .n_slots = is_open ? 2 : 0};
    usage_behind_run(behind, &run);
}

/* What differs is told, by attempt, with the part of the time in which it does. */
static void test_runs(void **state)
{
    const int64_t late = UNTIL - USAGE_ON_THE_WAY_MS + 1;
    struct usage_behind *behind = usage_behind_new(UNTIL);
    struct shown shown = {""};
    (void)state;
    add_run(behind, USAGE_LENT, 9, 100, 200, 100); /* the same */
    add_run(behind, USAGE_CONSUMER, 9, 100, 200, 100);
    add_run(behind, USAGE_CONSUMER, 7, 300, 400, 100); /* a later end */
    add_run(behind, USAGE_LENT, 7, 300, 390, 90);
    add_run(behind, USAGE_LENT, 8, 500, 600, 200);     /* no record of the consumer */
    add_run(behind, USAGE_CONSUMER, 10, 700, 800, 50); /* a clock */
    add_run(behind, USAGE_LENT, 10, 750, 850, 50);
    add_run(behind, USAGE_CONSUMER, 11, 900, USAGE_OPEN, 0); /* still used by one */
    add_run(behind, USAGE_LENT, 11, 900, 1000, 200);
    add_run(behind, USAGE_CONSUMER, 12, 900, USAGE_OPEN, 0); /* by both */
    add_run(behind, USAGE_LENT, 12, 900, USAGE_OPEN, 0);
    add_run(behind, USAGE_LENT, 13, late, USAGE_OPEN, 0); /* on the way */
    add_run(behind, USAGE_CONSUMER, 14, 900, USAGE_OPEN, 0);
    add_run(behind, USAGE_LENT, 14, 900, late, 0);
    add_run(behind, USAGE_LENT, 15, 900, late, 5); /* both know its end */
    add_run(behind, USAGE_CONSUMER, 15, 900, late, 4);
    assert_int_equal(usage_behind_single(behind, 0), 8);
    assert_int_equal(usage_behind_single(behind, 8), 13);
    assert_int_equal(usage_behind_single(behind, 13), 0);
    assert_true(usage_behind_is_single(behind, 8));
    assert_false(usage_behind_is_single(behind, 7) ||
                 usage_behind_is_single(behind, 1));
    usage_behind_each_run(behind, show_run, &shown);
    assert_string_equal(shown.text, "7 <7[2]> cp 10 in 390-400\n"
                                    "8 <3> p -200 in 500-600\n"
                                    "10 <3> cp 0 in 700-850 shifted\n"
                                    "11 <3> cp 1998000 in 1000-1000000\n"
                                    "15 <3> cp -1 in 900-990001\n");
    usage_behind_free(behind);
}

static void add_split(struct usage_behind *behind, bool is_broker, enum usage_side side,
                      uint64_t epoch, int n_slots, int64_t at_ms)
{
    const struct usage_split split = {
        .side = side, .n_slots = n_slots, .epoch = epoch, .at_ms = at_ms};
    usage_behind_split(behind, is_broker, &split);
}

/* What held at the beginning is one of its slots; an epoch that changes nothing of the
 * side, or that has come just now, is none. */
static void test_splits(void **state)
{
    struct usage_behind *behind = usage_behind_new(UNTIL);
    struct shown shown = {""};
    (void)state;
    add_split(behind, false, USAGE_CONSUMER, 3, 4, 100);
    add_split(behind, true, USAGE_CONSUMER, 2, 4, 50);
    add_split(behind, false, USAGE_CONSUMER, 5, 1, 200);
    add_split(behind, true, USAGE_CONSUMER, 4, 4, 150);
    add_split(behind, true, USAGE_CONSUMER, 5, 1, 200);
    add_split(behind, false, USAGE_CONSUMER, 6, 2, 300); /* the broker never heard it */
    add_split(behind, false, USAGE_CONSUMER, 7, 3, 400);
    add_split(behind, true, USAGE_CONSUMER, 7, 3, 401);        /* another instant */
    add_split(behind, false, USAGE_CONSUMER, 8, 0, UNTIL - 5); /* on the way */
    add_split(behind, true, USAGE_PROVIDER, 9, 5, 500);
    usage_behind_each_split(behind, show_split, &shown);
    assert_string_equal(shown.text, "consumer 6: 2@300 -1@-1\n"
                                    "consumer 7: 3@400 3@401\n"
                                    "provider 9: -1@-1 5@500\n");
    usage_behind_free(behind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
