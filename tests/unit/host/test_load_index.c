/* SPDX-License-Identifier: Apache-2.0 */
/* test_load_index.c: rates between readings, smoothed over LSF's periods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "host/load/load_index.h"

/* A machine that does nothing, and tells all. */
static struct load_sample idle_at(int64_t now_ms)
{
    return (struct load_sample){
        .now_ms = now_ms,
        .has_cpu = true,
        .has_average = true,
        .has_memory = true,
        .has_pages = true,
        .has_disks = true,
        .has_tmp = true,
        .has_users = true,
        .cpu = {.busy_ticks = 1000,
                .all_ticks = 1000 + (uint64_t)now_ms,
                .n_running = 1},
        .minute = 0.5,
        .quarter = 0.25,
        .memory = {.all_kib = 4 << 20, .free_kib = 3 << 20, .free_swap_kib = 2047},
        .tmp_mib = 99,
        .n_users = 2,
        .idle_s = 179,
    };
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 0.001) {
        fail_msg("got %g, expected %g", got, wanted);
    }
}

static void test_levels(void **state)
{
    struct load_index index;
    struct load_sample sample = idle_at(1000);
    load_index_init(&index);
    for (int i = 0; i < LOAD_INDICES; i++) {
        assert_true(index.values[i] == LOAD_INDEX_UNKNOWN);
    }
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_R15S], 0); /* who reads it does not count */
    assert_near(index.values[LOAD_R1M], 0.5);
    assert_near(index.values[LOAD_R15M], 0.25);
    assert_near(index.values[LOAD_MEM], 3072);
    assert_near(index.values[LOAD_SWP], 1);
    assert_near(index.values[LOAD_TMP], 99);
    assert_near(index.values[LOAD_LS], 2);
    assert_near(index.values[LOAD_IT], 2);
    /* A rate needs two readings. */
    assert_true(index.values[LOAD_UT] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_PG] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_IO] == LOAD_INDEX_UNKNOWN);
}

static void test_rates(void **state)
{
    struct load_index index;
    struct load_sample sample = idle_at(0);
    load_index_init(&index);
    load_index_take(&index, &sample);
    sample.now_ms = 5000;
    sample.cpu.busy_ticks += 250;
    sample.cpu.all_ticks += 1000;
    sample.n_pages += 50;
    sample.disk_kib += 5000;
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_UT], 0.25); /* the first is taken as it is */
    assert_near(index.values[LOAD_PG], 10);
    assert_near(index.values[LOAD_IO], 1000);
    sample.now_ms = 65000; /* a minute of nothing: 1/e of it is left */
    sample.cpu.all_ticks += 12000;
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_UT], 0.25 * exp(-1));
    assert_near(index.values[LOAD_PG], 10 * exp(-1));
    assert_near(index.values[LOAD_IO], 1000 * exp(-1));
}

static void test_run_queue(void **state)
{
    struct load_index index;
    struct load_sample sample = idle_at(0);
    load_index_init(&index);
    sample.cpu.n_running = 3; /* this one, and two */
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_R15S], 2);
    sample.now_ms = 5000;
    sample.cpu.n_running = 4;
    sample.cpu.n_blocked = 2;
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_R15S],
                2.0 * exp(-5.0 / 15) + 5.0 * (1 - exp(-5.0 / 15)));
    sample.cpu.n_running = 0; /* a container may not see even itself */
    sample.cpu.n_blocked = 0;
    sample.now_ms = 10000000;
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_R15S], 0);
}

static void test_counters_that_go_back(void **state)
{
    struct load_index index;
    struct load_sample sample = idle_at(0);
    load_index_init(&index);
    sample.n_pages = 1000;
    sample.disk_kib = 1000;
    load_index_take(&index, &sample);
    sample.now_ms = 5000;
    sample.n_pages = 1010;
    sample.disk_kib = 10; /* a disk was taken away */
    sample.cpu.all_ticks -= 1;
    load_index_take(&index, &sample);
    assert_near(index.values[LOAD_PG], 2);
    assert_true(index.values[LOAD_IO] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_UT] == LOAD_INDEX_UNKNOWN);
    load_index_take(&index, &sample); /* at the same instant: no rate */
    assert_near(index.values[LOAD_PG], 2);
}

static void test_what_is_not_told(void **state)
{
    struct load_index index;
    struct load_sample sample = idle_at(0);
    load_index_init(&index);
    load_index_take(&index, &sample);
    sample = (struct load_sample){.now_ms = 5000};
    load_index_take(&index, &sample);
    assert_true(index.values[LOAD_R1M] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_MEM] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_SWP] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_TMP] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_LS] == LOAD_INDEX_UNKNOWN);
    assert_true(index.values[LOAD_IT] == LOAD_INDEX_UNKNOWN);
    sample = idle_at(10000);
    sample.idle_s = -1;
    load_index_take(&index, &sample);
    assert_true(index.values[LOAD_IT] == LOAD_INDEX_UNKNOWN);
    assert_near(index.values[LOAD_LS], 2);
}

static void test_names(void **state)
{
    assert_string_equal(load_index_name(LOAD_R15S), "r15s");
    assert_string_equal(load_index_name(LOAD_MEM), "mem");
    assert_true(load_index_is_name("io"));
    assert_false(load_index_is_name("ncpus"));
    assert_false(load_index_is_name(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_run_queue),
        cmocka_unit_test(test_counters_that_go_back),
        cmocka_unit_test(test_what_is_not_told),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
