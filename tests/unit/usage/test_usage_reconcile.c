/* SPDX-License-Identifier: Apache-2.0 */
/* test_usage_reconcile.c: which differences between a site's books and the broker's are
 * named, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "usage/usage.h"

#define H USAGE_HOUR_MS
#define S INT64_C(1000)

struct shown {
    char text[1000];
};

static void show(void *arg, const struct usage_difference *difference)
{
    static const char *const causes[] = {"unknown", "young", "away", "clock"};
    struct shown *shown = arg;
    size_t at = strlen(shown->text);
    snprintf(shown->text + at, sizeof(shown->text) - at, "%s %lld+%lld %lld %s\n",
             usage_side_name(difference->side), (long long)(difference->start_ms / H),
             (long long)((difference->end_ms - difference->start_ms) / H),
             (long long)((difference->site_ms - difference->broker_ms) / S),
             causes[difference->cause]);
}

static void check(struct usage_reconcile *reconcile, int n_unknown,
                  const char *expected)
{
    struct shown shown = {""};
    assert_int_equal(usage_reconcile_each(reconcile, show, &shown), n_unknown);
    assert_string_equal(shown.text, expected);
    usage_reconcile_free(reconcile);
}

/* Two slots of the consumer from hour 48 to 72, in both books. */
static struct usage_reconcile *two_slots(int64_t merged_ms)
{
    struct usage_reconcile *reconcile = usage_reconcile_new(72 * H, merged_ms);
    for (int64_t hour = 48; hour < 72; hour++) {
        usage_reconcile_site(reconcile, USAGE_CONSUMER, hour * H, 2 * H);
        usage_reconcile_broker(reconcile, USAGE_CONSUMER, hour * H, 2 * H, 0, 2);
    }
    return reconcile;
}

static void test_equal_books_balance(void **state)
{
    (void)state;
    check(two_slots(0), 0, "");
}

static void test_a_slot_millisecond_counts_if_nothing_has_changed(void **state)
{
    (void)state;
    struct usage_reconcile *reconcile = two_slots(0);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 50 * H, 1);
    check(reconcile, 1, "consumer 50+1 0 unknown\n");
    reconcile = two_slots(0);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 50 * H, -37 * S);
    usage_reconcile_site(reconcile, USAGE_PROVIDER, 51 * H,
                         9 * S); /* in no other book */
    check(reconcile, 2, "consumer 50+1 -37 unknown\nprovider 51+1 9 unknown\n");
}

/* Each change is on the way for 10 s at most, with the slots of the side: those that it
 * has, or had in the hour before. An hour that is over for that long is exact. */
static void test_a_change_is_on_the_way(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct usage_reconcile *reconcile = usage_reconcile_new(72 * H - 1, 0);
        usage_reconcile_site(reconcile, USAGE_CONSUMER, 70 * H, 2 * H);
        usage_reconcile_broker(reconcile, USAGE_CONSUMER, 70 * H, 2 * H, 0, 2);
        usage_reconcile_broker(reconcile, USAGE_CONSUMER, 71 * H, 0, 1, 0);
        usage_reconcile_site(reconcile, USAGE_CONSUMER, 71 * H, 2 * 2 * 10 * S + late);
        check(reconcile, late, late ? "consumer 71+1 40 unknown\n" : "");
        reconcile = usage_reconcile_new(72 * H + 10 * S - late, 0);
        usage_reconcile_broker(reconcile, USAGE_CONSUMER, 71 * H, 3 * 1800 * S, 1, 5);
        usage_reconcile_site(reconcile, USAGE_CONSUMER, 71 * H, 3 * 1800 * S - S);
        check(reconcile, !late, late ? "" : "consumer 71+1 -1 unknown\n");
    }
}

static void test_the_last_hour_may_be_read_at_two_instants(void **state)
{
    (void)state;
    struct usage_reconcile *reconcile = usage_reconcile_new(48 * H + 1800 * S, 0);
    usage_reconcile_broker(reconcile, USAGE_PROVIDER, 48 * H, 4 * 1800 * S, 0, 4);
    usage_reconcile_site(reconcile, USAGE_PROVIDER, 48 * H, 4 * 1808 * S);
    check(reconcile, 0, "");
}

static void test_days_are_compared_where_hours_were_merged(void **state)
{
    (void)state;
    struct usage_reconcile *reconcile = usage_reconcile_new(96 * H, 72 * H);
    usage_reconcile_site(reconcile, USAGE_PROVIDER, 48 * H, 24 * H);
    for (int64_t hour = 48; hour < 72; hour++) {
        usage_reconcile_broker(reconcile, USAGE_PROVIDER, hour * H, H, 0, 1);
    }
    check(reconcile, 0, "");
    reconcile = two_slots(72 * H);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 55 * H, 3 * S);
    check(reconcile, 1, "consumer 48+24 3 unknown\n");
}

static void test_causes(void **state)
{
    (void)state;
    /* The site has booked from hour 50 on, the broker from 48 on. */
    struct usage_reconcile *reconcile = two_slots(0);
    usage_reconcile_begin(reconcile, USAGE_CONSUMER, 50 * H, 48 * H + 7);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 50 * H, -100 * S);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 51 * H, -100 * S);
    check(reconcile, 1, "consumer 50+1 -100 young\nconsumer 51+1 -100 unknown\n");
    /* Both begin in the same hour: that explains nothing. */
    reconcile = two_slots(0);
    usage_reconcile_begin(reconcile, USAGE_CONSUMER, 48 * H, 48 * H + 7);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 48 * H, -100 * S);
    check(reconcile, 1, "consumer 48+1 -100 unknown\n");
    /* Away at the end of hour 52, and the other side's site. */
    reconcile = two_slots(0);
    usage_reconcile_away(reconcile, USAGE_CONSUMER, 53 * H - 1, 54 * H);
    usage_reconcile_away(reconcile, USAGE_PROVIDER, 60 * H, 61 * H);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 51 * H, 60 * S);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 52 * H, 60 * S);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 60 * H, 60 * S);
    check(
        reconcile, 2,
        "consumer 51+1 60 unknown\nconsumer 52+1 60 away\nconsumer 60+1 60 unknown\n");
    /* Two hours ahead: what is missing in some hours is in others. */
    reconcile = two_slots(0);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 48 * H, -2 * H);
    usage_reconcile_site(reconcile, USAGE_CONSUMER, 72 * H, 2 * H);
    check(reconcile, 0, "consumer 48+1 -7200 clock\nconsumer 72+1 7200 clock\n");
}

/* A job of four slots that ran from hour 48 to 50 by both sites. By the consumer it
 * ended some seconds later than by the provider, or there is another job of which one
 * of them knows nothing: each is named to the slot-millisecond. */
static void test_what_jobs_used(void **state)
{
    static const struct {
        int64_t late_ms, more_ms;
        const char *expected;
    } rows[] = {
        {0, 0, ""},
        {10 * S, 0, "lent 50+1 40 unknown\n"},
        {0, 1, "lent 55+1 0 unknown\n"},
        {0, 90 * S, "lent 55+1 90 unknown\n"},
        {0, -90 * S, "lent 55+1 -90 unknown\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct usage_reconcile *reconcile = two_slots(0);
        usage_reconcile_used(reconcile, true, 48 * H, 4 * H, 4);
        usage_reconcile_used(reconcile, true, 49 * H, 4 * H, 0);
        usage_reconcile_used(reconcile, true, 50 * H, 0, 4);
        usage_reconcile_used(reconcile, false, 48 * H, 4 * H, 4);
        usage_reconcile_used(reconcile, false, 49 * H, 4 * H, 0);
        usage_reconcile_used(reconcile, false, 50 * H, 4 * rows[i].late_ms, 4);
        usage_reconcile_used(reconcile, rows[i].more_ms < 0, 55 * H,
                             rows[i].more_ms < 0 ? -rows[i].more_ms : rows[i].more_ms,
                             0);
        check(reconcile, rows[i].expected[0] != '\0', rows[i].expected);
    }
}

static void keep(void *last, const struct usage_difference *difference)
{
    *(struct usage_difference *)last = *difference;
}

/* Whichever of the two was away; the latest absence is told. */
static void test_what_jobs_used_while_a_site_was_away(void **state)
{
    (void)state;
    for (int side = 0; side < USAGE_SIDES; side++) {
        struct usage_reconcile *reconcile = two_slots(0);
        usage_reconcile_used(reconcile, false, 50 * H, H, 1);
        usage_reconcile_away(reconcile, (enum usage_side)side, 47 * H, 50 * H + 3);
        usage_reconcile_away(reconcile, (enum usage_side)side, 50 * H + 7, 50 * H + 9);
        struct usage_difference last = {0};
        assert_int_equal(usage_reconcile_each(reconcile, keep, &last), 0);
        assert_true(last.away_from_ms == 50 * H + 7 && last.away_to_ms == 50 * H + 9);
        check(reconcile, 0, "lent 50+1 3600 away\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_books_balance),
        cmocka_unit_test(test_what_jobs_used),
        cmocka_unit_test(test_what_jobs_used_while_a_site_was_away),
        cmocka_unit_test(test_a_slot_millisecond_counts_if_nothing_has_changed),
        cmocka_unit_test(test_a_change_is_on_the_way),
        cmocka_unit_test(test_the_last_hour_may_be_read_at_two_instants),
        cmocka_unit_test(test_days_are_compared_where_hours_were_merged),
        cmocka_unit_test(test_causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
