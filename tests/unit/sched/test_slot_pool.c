/* SPDX-License-Identifier: Apache-2.0 */
/* test_slot_pool.c: reads tests/data/slot_pool.rows, "expected TAB input" lines, and
 * holds the allocation to them; then the order of queues, and how use fades. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/fairshare/fairshare.h"

enum { LINE_SIZE = 512, PARTS_MAX = 16, HOUR_MS = 3600000 };

static const char rows_path[] = "tests/data/slot_pool.rows";

static int read_parts(char *text, struct slot_part *parts, int *rounds)
{
    int count = 0;
    char *rest;
    *rounds = 0;
    for (char *word = strtok_r(text, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest)) {
        if (sscanf(word, "rounds=%d", rounds) == 1) {
            continue;
        }
        struct slot_part *part = &parts[count++];
        long long want = INT64_MAX;
        assert_true(count <= PARTS_MAX);
        assert_true(sscanf(word, "%d/%lld", &part->share, &want) >= 1);
        part->want = want;
        part->is_over = strchr(word, '!') != NULL;
    }
    return count;
}

static void judge_line(const char *why, int number, char *line)
{
    struct slot_part parts[PARTS_MAX];
    char actual[LINE_SIZE] = "", *input = strchr(line, '\t'), *colon;
    int rounds;
    assert_non_null(input);
    *input++ = '\0';
    int n_slots = (int)strtol(input, &colon, 10);
    assert_true(*colon == ':');
    int n_parts = read_parts(colon + 1, parts, &rounds);
    int left = slot_pool_allocate(parts, n_parts, n_slots, rounds);
    for (int i = 0; i < n_parts; i++) {
        size_t at = strlen(actual);
        snprintf(actual + at, sizeof(actual) - at, "%s%d", i > 0 ? " " : "",
                 parts[i].given);
    }
    if (left > 0) {
        size_t at = strlen(actual);
        snprintf(actual + at, sizeof(actual) - at, " +%d", left);
    }
    if (strcmp(actual, line) != 0) {
        fail_msg("%s:%d: %s\n  expected %s\n  actual   %s", rows_path, number, why,
                 line, actual);
    }
}

static void every_row_holds(void **state)
{
    FILE *file = fopen(rows_path, "r");
    char line[LINE_SIZE], why[LINE_SIZE] = "";
    int n_rows = 0;
    assert_non_null(file);
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            memcpy(why, line, sizeof(why));
        } else if (line[0] != '\0') {
            judge_line(why, number, line);
            n_rows++;
        }
    }
    fclose(file);
    assert_in_range(n_rows, 15, 1000);
}

static void least_used_for_its_share_is_first(void **state)
{
    static const struct {
        const char *why;
        double use[4];
        int share[4], order[4];
    } rows[] = {
        {"nothing used: by priority, as given", {0}, {50, 30, 20, 10}, {0, 1, 2, 3}},
        {"used as entitled: by priority", {5, 3, 2, 1}, {50, 30, 20, 10}, {0, 1, 2, 3}},
        {"the last has had least", {5, 3, 2, 0.5}, {50, 30, 20, 10}, {3, 0, 1, 2}},
        {"what is the same but for rounding: by priority",
         {1.0 / 60, -0.6 / 60, -0.4 / 60, -0.1 / 60},
         {50, 30, 20, 5},
         {1, 2, 3, 0}},
        {"by use for its share, not by use",
         {4, 3, 2, 1},
         {40, 20, 20, 20},
         {3, 0, 2, 1}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int order[4];
        slot_pool_sort(rows[i].use, rows[i].share, 4, order);
        for (int k = 0; k < 4; k++) {
            if (order[k] != rows[i].order[k]) {
                fail_msg("%s: %d %d %d %d", rows[i].why, order[0], order[1], order[2],
                         order[3]);
            }
        }
    }
}

static void who_has_had_more_than_its_share(void **state)
{
    static const struct {
        double use[3];
        int share[3];
        bool is_over[3];
    } rows[] = {
        {{0, 0, 0}, {50, 30, 20}, {false, false, false}},
        {{0.5, 0.3, 0.2}, {50, 30, 20}, {false, false, false}},
        {{6, 3, 2}, {50, 30, 20}, {true, false, false}},
        {{5, 4, 2}, {50, 30, 20}, {false, true, false}},
        {{1, 0, 0}, {10, 10, 10}, {true, false, false}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool is_over[3];
        slot_pool_mark_over(rows[i].use, rows[i].share, 3, is_over);
        assert_memory_equal(is_over, rows[i].is_over, sizeof(is_over));
    }
}

static void use_grows_and_fades(void **state)
{
    static const struct {
        const char *why;
        double use;
        int n_slots;
        double hours, hist_hours, after;
    } rows[] = {
        {"unused: a tenth after HIST_HOURS", 10, 0, 5, 5, 1},
        {"half of it after 1.505 of 5 hours", 10, 0, 1.50515, 5, 5},
        {"HIST_HOURS=0: nothing fades", 10, 2, 5, 0, 20},
        {"at its level, 3 * 5 / ln(10), it stays", 6.514417, 3, 7, 5, 6.514417},
        {"from nothing towards it: nine tenths in HIST_HOURS", 0, 3, 5, 5, 5.862976},
        {"no time has passed", 7, 100, 0, 5, 7},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double after =
            slot_pool_use(rows[i].use, rows[i].n_slots,
                          (int64_t)(rows[i].hours * HOUR_MS), rows[i].hist_hours);
        if (fabs(after - rows[i].after) > 1e-4) {
            fail_msg("%s: %f, expected %f", rows[i].why, after, rows[i].after);
        }
    }
}

/* Three queues; ahead of their shares, or behind, after so long. */
static void who_waits_saves_and_owes(void **state)
{
    static const struct {
        const char *why;
        struct slot_member members[3];
        double hours, hist_hours, ahead[3];
    } rows[] = {
        {"each has its part of the sum of shares",
         {{60, 6, true, 0, 0}, {30, 3, true, 0, 0}, {30, 3, true, 0, 0}},
         7,
         5,
         {0, 0, 0}},
        {"what is above is owed, what is below is due: 12 slots, 6 3 3 by shares",
         {{60, 4, true, 0, 0}, {30, 6, true, 0, 0}, {30, 2, true, 0, 0}},
         2,
         5,
         {-4, 6, -2}},
        {"it adds up, and does not fade while it waits",
         {{50, 0, true, 0, -3}, {50, 2, true, 0, 1}, {0, 0, false, 0, 0}},
         3,
         5,
         {-6, 4, 0}},
        {"a queue alone owes nothing, whatever it has",
         {{10, 12, true, 0, 0}, {50, 0, false, 0, 0}, {40, 0, false, 0, 0}},
         9,
         5,
         {0, 0, 0}},
        {"the slots of one that has nothing waiting are not shared out",
         {{25, 2, true, 0, 0}, {25, 4, true, 0, 0}, {50, 9, false, 0, 0}},
         1,
         5,
         {-1, 1, 0}},
        {"and what it owed fades: a tenth after HIST_HOURS",
         {{50, 3, false, 0, 10}, {50, 0, false, 0, -10}, {0, 0, false, 0, 0}},
         5,
         5,
         {1, -1, 0}},
        {"but with HIST_HOURS=0",
         {{50, 3, false, 0, 10}, {50, 0, false, 0, -10}, {0, 0, false, 0, 0}},
         5,
         0,
         {10, -10, 0}},
        {"at most 50 hours of 5 slots, for HIST_HOURS=5",
         {{50, 10, true, 0, 249}, {50, 0, true, 0, -249}, {0, 0, false, 0, 0}},
         5,
         5,
         {250, -250, 0}},
        {"and of one slot where its share is less",
         {{1, 10, true, 0, 0}, {99, 0, true, 0, 0}, {0, 0, false, 0, 0}},
         6,
         5,
         {50, -59.4, 0}},
        {"what was more before stays",
         {{50, 2, true, 0, 251}, {50, 0, true, 0, -251}, {0, 0, false, 0, 0}},
         1,
         5,
         {251, -251, 0}},
        {"no time has passed",
         {{50, 9, true, 0, 2}, {50, 0, false, 0, -3}, {0, 0, false, 0, 0}},
         0,
         5,
         {2, -3, 0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slot_member members[3];
        memcpy(members, rows[i].members, sizeof(members));
        slot_pool_advance(members, 3, (int64_t)(rows[i].hours * HOUR_MS),
                          rows[i].hist_hours);
        for (int k = 0; k < 3; k++) {
            if (fabs(members[k].balance_hours - rows[i].ahead[k]) > 1e-9) {
                fail_msg("%s: of the queue at %d %f, expected %f", rows[i].why, k,
                         members[k].balance_hours, rows[i].ahead[k]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_holds),
        cmocka_unit_test(least_used_for_its_share_is_first),
        cmocka_unit_test(who_has_had_more_than_its_share),
        cmocka_unit_test(use_grows_and_fades),
        cmocka_unit_test(who_waits_saves_and_owes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
