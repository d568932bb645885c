/* SPDX-License-Identifier: Apache-2.0 */
/* Which matches are carried over, and which classes share one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "site/pass/match_store.h"

enum { N_HOSTS = 11 };

static const int rows[N_HOSTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static const struct place_filter *set(struct match_store *store, int class,
                                      const struct place_filter *filter)
{
    return match_store_set(store, match_store_at(store, class), filter, false);
}

static bool is_stored(struct match_store *store, int class)
{
    return match_store_at(store, class)->generation > 0;
}

/* Classes that match the same hosts share a filter; what else a filter says must be the
 * same, too. */
static void test_shared(void **state)
{
    static const uint8_t some[N_HOSTS] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const uint8_t others[N_HOSTS] = {1};
    static const struct place_reserved mem = {others, "mem", 5000, 1000};
    static const struct place_reserved less = {others, "mem", 5000, 999};
    static const struct place_reserved total = {others, "mem", 5001, 1000};
    static const struct place_reserved swp = {others, "swp", 5000, 1000};
    static const struct place_reserved hosts = {some, "mem", 5000, 1000};
    static const int ranks[N_HOSTS] = {2, 1};
    static const int unit_of[N_HOSTS] = {0, 0}, ring[N_HOSTS] = {1, 0};
    static const struct place_span_units units = {
        .unit_of = unit_of, .next_in_unit = ring, .n_units = 1};
    static const struct place_span span = {.kind = PLACE_SPAN_HOST, .units = &units};
    static const struct place_filter filters[] = {
        {.matches = some},
        {.matches = others},
        {.matches = some, .reserved = &mem},
        {.matches = some, .reserved = &less},
        {.matches = some, .reserved = &total},
        {.matches = some, .reserved = &swp},
        {.matches = some, .reserved = &hosts},
        {.matches = some, .ranks = ranks},
        {.matches = some, .span = &span},
    };
    enum { N = sizeof(filters) / sizeof(filters[0]), N_SHARED = 3 };
    struct match_store *store = match_store_new();
    const struct place_filter *first[N];
    (void)state;
    match_store_begin(store, 1, rows, N_HOSTS);
    for (int i = 0; i < N; i++) {
        first[i] = set(store, i, &filters[i]);
        assert_ptr_not_equal(first[i], &filters[i]);
        assert_memory_equal(first[i]->matches, filters[i].matches, N_HOSTS);
        for (int k = 0; k < i; k++) {
            assert_ptr_not_equal(first[k], first[i]);
        }
    }
    assert_memory_equal(first[N - 2]->ranks, ranks, sizeof(ranks));
    assert_int_equal(first[N - 1]->span->kind, PLACE_SPAN_HOST);
    const struct place_span_units *stored = first[N - 1]->span->units;
    assert_ptr_not_equal(stored->next_in_unit, ring);
    assert_memory_equal(stored->next_in_unit, ring, sizeof(ring));
    assert_int_equal(first[2]->reserved->reserved_milli, 1000);
    for (int i = 0; i < N_SHARED; i++) {
        bool is_first = i < 2; /* of its hosts */
        bool is_shared = set(store, N + i, &filters[i]) == first[i];
        assert_int_equal(is_shared, is_first);
    }
    assert_null(set(store, 2 * N, NULL));
    assert_true(is_stored(store, 2 * N));
    match_store_free(store);
}

/* A filter goes with its last class. */
static void test_dropped(void **state)
{
    static const uint8_t some[N_HOSTS] = {1};
    static const struct place_filter filter = {.matches = some};
    static const int others[N_HOSTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1};
    struct match_store *store = match_store_new();
    (void)state;
    match_store_begin(store, 1, rows, N_HOSTS);
    set(store, 0, &filter);
    set(store, 1, &filter);
    size_t n_bytes = match_store_bytes(store);
    assert_true(n_bytes > N_HOSTS);
    set(store, 0, NULL);
    assert_int_equal(match_store_bytes(store), n_bytes);
    match_store_begin(store, 2, rows, N_HOSTS); /* the same hosts */
    assert_true(is_stored(store, 1));
    set(store, 1, NULL);
    assert_int_equal(match_store_bytes(store), 0);
    set(store, 1, &filter);
    match_store_begin(store, 3, others, N_HOSTS);
    assert_false(is_stored(store, 1));
    assert_int_equal(match_store_bytes(store), 0);
    set(store, 1, &filter);
    match_store_begin(store, 4, others, N_HOSTS - 1);
    assert_false(is_stored(store, 1));
    match_store_free(store);
}

/* Memory is bounded; classes that no pass asks for any more make room. */
static void test_bound(void **state)
{
    enum { N_MANY = 1024 * 1024, N_CLASSES = 80 };
    uint8_t *matches = mem_alloc(N_MANY, sizeof(*matches));
    int *many = mem_alloc(N_MANY, sizeof(*many));
    const struct place_filter filter = {.matches = matches};
    struct match_store *store = match_store_new();
    int n_stored = 0;
    (void)state;
    match_store_begin(store, 1, many, N_MANY);
    for (int i = 0; i < N_CLASSES; i++) {
        matches[i] = 1;
        n_stored += set(store, i, &filter) != &filter;
    }
    assert_in_range(n_stored, MATCH_STORE_BYTES / N_MANY - 1,
                    MATCH_STORE_BYTES / N_MANY + 1);
    assert_true(match_store_bytes(store) < MATCH_STORE_BYTES + 2 * N_MANY);
    assert_false(is_stored(store, N_CLASSES - 1));
    match_store_begin(store, 2, many, N_MANY);
    assert_true(is_stored(store, 5));
    match_store_begin(store, 3, many, N_MANY);
    assert_false(is_stored(store, 4));
    assert_true(is_stored(store, 5));
    assert_ptr_not_equal(set(store, N_CLASSES - 1, &filter), &filter);
    match_store_free(store);
    free(matches);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
