/* SPDX-License-Identifier: Apache-2.0 */
/* test_streams.c: floods are bounded, of one site and of all; small pieces pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "broker/member/streams.h"

enum { SECONDS = 20 };

/* Bytes that pass when the site says a chunk each `step_us`. */
static int64_t flood(struct streams *all, struct streams *site, int64_t now_ms,
                     int step_us)
{
    int64_t passed = 0;
    for (int64_t us = 0; us < 1000000; us += step_us) {
        passed += streams_pass(all, site, STREAM_CHUNK_MAX, now_ms + us / 1000)
                      ? STREAM_CHUNK_MAX
                      : 0;
    }
    return passed;
}

static void test_of_one_site(void **state)
{
    struct streams all, site;
    int64_t passed = 0;
    (void)state;
    streams_init(&all, STREAMS_ALL_PER_S);
    streams_init(&site, STREAMS_SITE_PER_S);
    for (int i = 0; i < SECONDS; i++) {
        passed += flood(&all, &site, i * 1000, 400); /* 40 MB a second */
    }
    assert_in_range(passed, (SECONDS - 1) * (int64_t)STREAMS_SITE_PER_S,
                    (SECONDS + 1) * (int64_t)STREAMS_SITE_PER_S);
    assert_int_equal(site.n_bytes, passed);
    assert_true(site.n_dropped > 0);
    /* Who types is heard, though the flood has just used up its part. */
    for (int i = 0; i < 100; i++) {
        assert_true(streams_pass(&all, &site, 1, SECONDS * 1000));
    }
    /* One that is not more than it may be loses nothing. */
    uint64_t n_dropped = site.n_dropped;
    for (int i = 1; i <= SECONDS; i++) {
        flood(&all, &site, (SECONDS + 10 * i) * 1000, 4000); /* 4 MB a second */
    }
    assert_int_equal(site.n_dropped, n_dropped);
}

static void test_of_all(void **state)
{
    enum { SITES = 10 };
    struct streams all, sites[SITES];
    int64_t passed = 0;
    (void)state;
    streams_init(&all, STREAMS_ALL_PER_S);
    for (int i = 0; i < SITES; i++) {
        streams_init(&sites[i], STREAMS_SITE_PER_S);
    }
    for (int64_t ms = 0; ms < SECONDS * 1000; ms++) {
        for (int i = 0; i < SITES; i++) {
            passed += streams_pass(&all, &sites[i], STREAM_CHUNK_MAX, ms)
                          ? STREAM_CHUNK_MAX
                          : 0;
        }
    }
    assert_in_range(passed, (SECONDS - 1) * (int64_t)STREAMS_ALL_PER_S,
                    (SECONDS + 1) * (int64_t)STREAMS_ALL_PER_S);
    assert_true(streams_pass(&all, &sites[0], 1, SECONDS * 1000));
}

/* A flood of the shortest pieces is one too. */
static void test_of_small_ones(void **state)
{
    struct streams all, site;
    int passed = 0;
    (void)state;
    streams_init(&all, STREAMS_ALL_PER_S);
    streams_init(&site, STREAMS_SITE_PER_S);
    for (int i = 0; i < 100000; i++) {
        passed += streams_pass(&all, &site, 0, 0);
    }
    assert_in_range(passed, 1, 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_one_site),
        cmocka_unit_test(test_of_all),
        cmocka_unit_test(test_of_small_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
