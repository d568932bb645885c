/* SPDX-License-Identifier: Apache-2.0 */
/* test_fairshare_usage.c: reads tests/data/share.rows, "expected TAB input" lines, and
 * holds dynamic priorities to them; then that jobs leave no trace but what they have
 * spent.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/fairshare/fairshare_usage.h"

enum { LINE_SIZE = 512 };

static const double hour = 3600000;
/* As wall clocks have it. */
static const int64_t now_ms = 1800000000000;
static const char rows_path[] = "tests/data/share.rows";

struct row_case {
    struct fairshare_factors factors;
    int shares, n_slots;
    double run, cpu, past, ago, limit;
};

static void read_word(const char *word, struct row_case *row)
{
    struct {
        const char *name;
        double *value;
    } const values[] = {
        {"run=", &row->run},
        {"cpu=", &row->cpu},
        {"past=", &row->past},
        {"ago=", &row->ago},
        {"limit=", &row->limit},
        {"CPU=", &row->factors.cpu_time},
        {"RUN=", &row->factors.run_time},
        {"JOB=", &row->factors.run_job},
        {"COMMITTED=", &row->factors.committed},
        {"HIST=", &row->factors.hist_hours},
    };
    if (strcmp(word, "history") == 0) {
        row->factors.has_history = true;
        return;
    }
    if (strcmp(word, "decay") == 0) {
        row->factors.has_decay = true;
        return;
    }
    if (sscanf(word, "slots=%d", &row->n_slots) == 1) {
        return;
    }
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        size_t length = strlen(values[i].name);
        if (strncmp(word, values[i].name, length) == 0) {
            *values[i].value = strtod(word + length, NULL);
            return;
        }
    }
    fail_msg("no word: \"%s\"", word);
}

static double priority_of(const struct row_case *row)
{
    struct fairshare_usage use = {0};
    struct fairshare_terms terms;
    fairshare_usage_add_finished(&use, &row->factors, row->cpu * hour, row->past * hour,
                                 now_ms - (int64_t)(row->ago * hour));
    if (row->n_slots > 0) {
        struct fairshare_job job = {.n_slots = row->n_slots,
                                    .start_ms = now_ms - (int64_t)(row->run * hour),
                                    .run_limit_ms = (int64_t)(row->limit * hour)};
        job.start_ms = row->run > 0 ? job.start_ms : 0;
        fairshare_usage_count(&use, &row->factors, &job, 1, now_ms);
    }
    fairshare_usage_terms(&use, &row->factors, now_ms, &terms);
    return fairshare_usage_priority(&row->factors, row->shares, &terms, 0);
}

static void judge_line(const char *why, int number, char *line)
{
    struct row_case row = {
        .factors = {.cpu_time = 0.7, .run_time = 0.7, .run_job = 3, .hist_hours = 5}};
    char *input = strchr(line, '\t'), *rest, actual[32];
    assert_non_null(input);
    *input++ = '\0';
    char *word = strtok_r(input, " :", &rest);
    row.shares = (int)strtol(word, NULL, 10);
    while ((word = strtok_r(NULL, " :", &rest)) != NULL) {
        read_word(word, &row);
    }
    snprintf(actual, sizeof(actual), "%.3f", priority_of(&row));
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
    assert_in_range(n_rows, 20, 1000);
}

static void assert_near(double actual, double expected, double by)
{
    if (!(fabs(actual - expected) <= by)) {
        fail_msg("%.9g, expected %.9g", actual, expected);
    }
}

static double run_hours(const struct fairshare_usage *use,
                        const struct fairshare_factors *factors, int64_t at_ms)
{
    struct fairshare_terms terms;
    fairshare_usage_terms(use, factors, at_ms, &terms);
    return terms.run_hours;
}

/* The run time of a suspended job does not grow, and goes on from there when it is
 * resumed. */
static void paused_jobs_do_not_grow(void **state)
{
    const struct fairshare_factors factors = {.run_time = 1, .hist_hours = 5};
    struct fairshare_usage use = {0};
    struct fairshare_job job = {.n_slots = 2, .start_ms = now_ms};
    const int64_t hour_ms = (int64_t)hour;
    fairshare_usage_count(&use, &factors, &job, 1, now_ms);
    assert_near(run_hours(&use, &factors, now_ms + hour_ms), 1, 1e-9);
    fairshare_usage_count(&use, &factors, &job, -1, now_ms + hour_ms);
    job.suspended_since_ms = now_ms + hour_ms;
    fairshare_usage_count(&use, &factors, &job, 1, now_ms + hour_ms);
    assert_near(run_hours(&use, &factors, now_ms + 3 * hour_ms), 1, 1e-9);
    assert_int_equal(use.n_slots, 2);
    fairshare_usage_count(&use, &factors, &job, -1, now_ms + 3 * hour_ms);
    job.suspended_since_ms = 0;
    job.suspended_ms = 2 * hour_ms;
    fairshare_usage_count(&use, &factors, &job, 1, now_ms + 3 * hour_ms);
    assert_near(run_hours(&use, &factors, now_ms + 4 * hour_ms), 2, 1e-9);
}

static void per_slot_with_lsb_ncpu_enforce(void **state)
{
    const struct fairshare_factors factors = {.run_time = 1, .is_per_slot = true};
    struct fairshare_usage use = {0};
    struct fairshare_job job = {.n_slots = 4, .start_ms = now_ms};
    fairshare_usage_count(&use, &factors, &job, 1, now_ms);
    assert_near(run_hours(&use, &factors, now_ms + (int64_t)hour), 4, 1e-9);
    assert_near(fairshare_usage_job_weight_ms(&factors, &job, now_ms + (int64_t)hour),
                4 * hour, 1e-3);
}

/* RUN_TIME_DECAY: the sum that fades is that of the jobs by themselves. */
static void faded_run_times_add_up(void **state)
{
    const struct fairshare_factors factors = {
        .run_time = 1, .hist_hours = 5, .has_decay = true};
    struct fairshare_usage use = {0};
    int64_t at_ms = now_ms;
    struct fairshare_job jobs[5];
    for (int i = 0; i < 5; i++) {
        at_ms += (i + 1) * 1000000;
        jobs[i] = (struct fairshare_job){.n_slots = 1, .start_ms = at_ms};
        fairshare_usage_count(&use, &factors, &jobs[i], 1, at_ms);
    }
    at_ms += 4 * (int64_t)hour;
    double sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += fairshare_usage_job_weight_ms(&factors, &jobs[i], at_ms);
    }
    assert_near(run_hours(&use, &factors, at_ms), sum / hour, 1e-6);
    fairshare_usage_count(&use, &factors, &jobs[2], -1, at_ms);
    sum -= fairshare_usage_job_weight_ms(&factors, &jobs[2], at_ms);
    assert_near(run_hours(&use, &factors, at_ms), sum / hour, 1e-6);
}

/* Jobs that come and go in any order, and are looked at in any state, leave nothing. */
static void nothing_is_left_of_jobs_that_left(void **state)
{
    enum { JOBS = 40 };
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng rng;
        struct fairshare_job jobs[JOBS];
        rng_init(&rng, seed);
        struct fairshare_factors factors = {.run_time = 1,
                                            .committed = 1,
                                            .hist_hours = 5,
                                            .has_decay = seed % 2 == 0,
                                            .is_per_slot = seed % 3 == 0};
        struct fairshare_usage use = {0};
        int64_t at_ms = now_ms;
        for (int i = 0; i < JOBS; i++) {
            at_ms += rng_below(&rng, 100000);
            jobs[i] = (struct fairshare_job){.n_slots = 1 + (int)rng_below(&rng, 8)};
            jobs[i].start_ms = rng_below(&rng, 4) == 0 ? 0 : at_ms;
            jobs[i].run_limit_ms = rng_below(&rng, 2) == 0 ? 0 : 3600000;
            jobs[i].suspended_since_ms =
                rng_below(&rng, 3) == 0 && jobs[i].start_ms > 0 ? at_ms : 0;
            fairshare_usage_count(&use, &factors, &jobs[i], 1, at_ms);
        }
        for (int i = 0; i < JOBS; i++) {
            at_ms += rng_below(&rng, 100000);
            fairshare_usage_count(&use, &factors, &jobs[i], -1, at_ms);
        }
        struct fairshare_terms terms;
        fairshare_usage_terms(&use, &factors, at_ms, &terms);
        if (terms.n_slots != 0 || terms.run_hours != 0 || terms.committed_hours != 0 ||
            use.n_growing != 0) {
            fail_msg("seed %d: %lld slots, %g hours", (int)seed,
                     (long long)terms.n_slots, terms.run_hours);
        }
    }
}

/* An hour of a processor and a half, over an hour's run: told at once or at its end,
 * and faded meanwhile, it is the same; paused, it only fades. */
static void processor_time_of_jobs_that_run(void **state)
{
    const struct fairshare_factors factors = {.cpu_time = 1, .hist_hours = 5};
    const int64_t start_ms = 1700000000000, hour_ms = (int64_t)hour;
    struct fairshare_job job = {.n_slots = 2, .start_ms = start_ms, .busy_milli = 1500};
    struct fairshare_usage use = {0}, late = {0};
    struct fairshare_terms terms;
    (void)state;
    fairshare_usage_count(&use, &factors, &job, 1, start_ms);
    fairshare_usage_terms(&use, &factors, start_ms + hour_ms, &terms);
    double level = 1.5 * 5 / log(10), due = level * (1 - pow(10, -0.2));
    assert_true(fabs(terms.cpu_hours - due) < 1e-9);
    /* Known only after half an hour. */
    job.busy_milli = 0;
    fairshare_usage_count(&late, &factors, &job, 1, start_ms);
    fairshare_usage_count(&late, &factors, &job, -1, start_ms + hour_ms / 2);
    job.busy_milli = 1500;
    fairshare_usage_count(&late, &factors, &job, 1, start_ms + hour_ms / 2);
    fairshare_usage_terms(&late, &factors, start_ms + hour_ms, &terms);
    assert_true(fabs(terms.cpu_hours - due) < 1e-9);
    /* It ends: nothing jumps. */
    fairshare_usage_add_finished(
        &late, &factors,
        fairshare_usage_job_cpu_ms(&factors, &job, 3 * hour_ms / 2, start_ms + hour_ms),
        0, start_ms + hour_ms);
    fairshare_usage_count(&late, &factors, &job, -1, start_ms + hour_ms);
    fairshare_usage_terms(&late, &factors, start_ms + hour_ms, &terms);
    assert_true(fabs(terms.cpu_hours - due) < 1e-9);
    /* The other is paused for five hours. */
    fairshare_usage_count(&use, &factors, &job, -1, start_ms + hour_ms);
    job.suspended_since_ms = start_ms + hour_ms;
    fairshare_usage_count(&use, &factors, &job, 1, start_ms + hour_ms);
    fairshare_usage_terms(&use, &factors, start_ms + 6 * hour_ms, &terms);
    assert_true(fabs(terms.cpu_hours - due / 10) < 1e-9);
}

static void who_waits_too_long_is_late(void **state)
{
    static const struct {
        const char *why;
        struct fairshare_factors factors;
        int64_t n_slots;
        int waited_h,
            last_h; /* ago: since when jobs wait, and it had slots; 0: never */
        bool is_late;
    } rows[] = {
        {"ten times HIST_hour_msS", {.run_job = 3, .hist_hours = 5}, 0, 50, 0, true},
        {"not yet", {.run_job = 3, .hist_hours = 5}, 0, 49, 0, false},
        {"it has a slot", {.run_job = 3, .hist_hours = 5}, 1, 99, 0, false},
        {"it had one", {.run_job = 3, .hist_hours = 5}, 0, 99, 49, false},
        {"and since then nothing", {.run_job = 3, .hist_hours = 5}, 0, 99, 50, true},
        {"it is the queue's", {.run_job = 3, .hist_hours = 1}, 0, 10, 0, true},
        {"nothing fades: as with the default", {.run_job = 3}, 0, 50, 0, true},
        {"a fixed order was asked for", {.hist_hours = 5}, 0, 99, 0, false},
    };
    const int64_t hour_ms = (int64_t)hour;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fairshare_usage use = {.n_slots = rows[i].n_slots};
        use.at_ms = rows[i].last_h > 0 ? now_ms - rows[i].last_h * hour_ms : 0;
        if (fairshare_usage_is_late(&use, &rows[i].factors,
                                    now_ms - rows[i].waited_h * hour_ms,
                                    now_ms) != rows[i].is_late) {
            fail_msg("%s", rows[i].why);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_holds),
        cmocka_unit_test(paused_jobs_do_not_grow),
        cmocka_unit_test(per_slot_with_lsb_ncpu_enforce),
        cmocka_unit_test(faded_run_times_add_up),
        cmocka_unit_test(nothing_is_left_of_jobs_that_left),
        cmocka_unit_test(processor_time_of_jobs_that_run),
        cmocka_unit_test(who_waits_too_long_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
