/* SPDX-License-Identifier: Apache-2.0 */
/* test_place_unit.c: which compute units a job's slots lie on, in which order, and on
 * which first host. prop_place_span.c tries all ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/place/place_span.h"
#include "sched/place/place_state.h"

/* Units: A has a0 and a1, B has b0 and b1, C has c0; x is in none. */
enum { A0, A1, B0, B1, C0, X, HOSTS };
static const char *const names[HOSTS] = {"a0", "a1", "b0", "b1", "c0", "x"};
static const int unit_of[HOSTS] = {0, 0, 1, 1, 2, -1};

struct row {
    const char *why;
    int room[HOSTS];
    struct place_span span;
    struct place_span_units units;
    int min, max;
    const char
        *expected; /* "a0 2, b0 1", in the order of pieces; "4": only so many fit */
    int preference[HOSTS];
    bool is_first[HOSTS];
    bool is_balanced, is_reservation, is_of_any_unit;
};

#define UNITS(...)                                                                     \
    {                                                                                  \
        .unit_of = unit_of, .n_units = 3, __VA_ARGS__                                  \
    }
#define EVEN UNITS(.is_even = true)
#define PREF(p) UNITS(.pref = PLACE_SPAN_##p)

static const struct row rows[] = {
    {"a host in no unit is not used",
     {0, 0, 0, 0, 0, 9},
     {0},
     UNITS(),
     1,
     1,
     .expected = "0"},
    {"unit by unit, whatever the order of hosts",
     {1, 1, 1, 1, 9, 9},
     {0},
     UNITS(),
     3,
     3,
     .expected = "a0 1, a1 1, b0 1"},
    {"balanced within each unit",
     {2, 2, 2, 2, 2, 0},
     {0},
     UNITS(),
     5,
     5,
     .expected = "a0 2, a1 2, b0 1",
     .is_balanced = true},
    {"most free slots first",
     {1, 1, 2, 1, 4, 0},
     {0},
     PREF(MAXAVAIL),
     5,
     5,
     .expected = "c0 4, b0 1"},
    {"fewest first",
     {2, 2, 1, 1, 4, 0},
     {0},
     PREF(MINAVAIL),
     3,
     3,
     .expected = "b0 1, b1 1, a0 1"},
    {"of equal ones the first",
     {1, 1, 1, 1, 2, 0},
     {0},
     PREF(MAXAVAIL),
     1,
     1,
     .expected = "a0 1"},
    {"reservations take units as configured",
     {1, 1, 2, 1, 4, 0},
     {0},
     PREF(MAXAVAIL),
     2,
     2,
     .expected = "a0 1, a1 1",
     .is_reservation = true},
    {"the host that is preferred brings its unit forward",
     {2, 2, 2, 2, 4, 0},
     {0},
     PREF(MAXAVAIL),
     3,
     3,
     .expected = "b0 2, b1 1",
     .preference = {[B1] = 1}},
    {"at most one unit",
     {2, 1, 4, 4, 6, 0},
     {0},
     UNITS(.max_units = 1),
     8,
     8,
     .expected = "b0 4, b1 4"},
    {"two units: the first ones with room together",
     {2, 1, 4, 4, 6, 0},
     {0},
     UNITS(.max_units = 2),
     8,
     8,
     .expected = "a0 2, a1 1, b0 4, b1 1"},
    {"and A is left out where it has too little",
     {2, 1, 4, 4, 6, 0},
     {0},
     UNITS(.max_units = 2),
     12,
     12,
     .expected = "b0 4, b1 4, c0 4"},
    {"no two units have room",
     {2, 1, 4, 4, 6, 0},
     {0},
     UNITS(.max_units = 2),
     15,
     15,
     .expected = "14"},
    {"the first units that have min, and what more they have",
     {2, 1, 4, 4, 6, 0},
     {0},
     UNITS(.max_units = 1),
     3,
     8,
     .expected = "a0 2, a1 1"},
    {"at least four slots on a unit",
     {2, 1, 4, 4, 6, 0},
     {0},
     UNITS(.usable_slots = 4),
     9,
     9,
     .expected = "b0 4, b1 4, c0 1"},
    {"a unit with fewer can be the last one",
     {2, 1, 4, 0, 6, 0},
     {0},
     UNITS(.usable_slots = 4),
     13,
     13,
     .expected = "b0 4, c0 6, a0 2, a1 1"},
    {"but only the last one",
     {2, 1, 3, 0, 6, 0},
     {0},
     UNITS(.usable_slots = 4),
     10,
     10,
     .expected = "9"},
    {"a job that needs fewer has them on one unit",
     {2, 1, 4, 0, 6, 0},
     {0},
     UNITS(.usable_slots = 4),
     2,
     2,
     .expected = "a0 2"},
    {"even: one unit if there is one",
     {4, 0, 4, 4, 8, 0},
     {0},
     EVEN,
     8,
     8,
     .expected = "b0 4, b1 4"},
    {"even: two units", {4, 0, 4, 2, 6, 0}, {0}, EVEN, 8, 8, .expected = "a0 4, b0 4"},
    {"even: they differ by one slot at most",
     {3, 0, 4, 2, 0, 0},
     {0},
     EVEN,
     7,
     7,
     .expected = "a0 3, b0 4"},
    {"even: three units",
     {3, 0, 4, 2, 4, 0},
     {0},
     EVEN,
     11,
     11,
     .expected = "a0 3, b0 4, c0 4"},
    {"even: none differ by two",
     {2, 0, 4, 0, 4, 0},
     {0},
     EVEN,
     10,
     10,
     .expected = "9"},
    {"even: no more slots than min",
     {4, 4, 4, 4, 4, 0},
     {0},
     EVEN,
     4,
     8,
     .expected = "a0 4"},
    {"even by tiles of two",
     {2, 2, 2, 2, 0, 0},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 2},
     EVEN,
     6,
     6,
     .expected = "a0 2, a1 2, b0 2"},
    {"even, and most free first where several are",
     {4, 0, 2, 2, 6, 0},
     {0},
     UNITS(.is_even = true, .pref = PLACE_SPAN_MAXAVAIL),
     4,
     4,
     .expected = "c0 4"},
    {"best fit: the fullest unit that has room",
     {4, 4, 4, 1, 6, 0},
     {0},
     PREF(BESTFIT),
     5,
     5,
     .expected = "b0 4, b1 1"},
    {"best fit: as few units as will do",
     {2, 1, 4, 4, 6, 0},
     {0},
     PREF(BESTFIT),
     9,
     9,
     .expected = "a0 2, a1 1, c0 6"},
    {"one host: of the first unit that has one",
     {2, 3, 4, 4, 6, 0},
     {.kind = PLACE_SPAN_HOST},
     PREF(MAXAVAIL),
     3,
     3,
     .expected = "b0 3"},
    {"tiles, and the rest on a host of its own in the same unit",
     {4, 1, 4, 4, 1, 0},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 4},
     UNITS(.max_units = 1),
     5,
     5,
     .expected = "a0 4, a1 1"},
    {"tiles need two units",
     {4, 0, 4, 0, 4, 0},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 4},
     UNITS(.max_units = 1),
     8,
     8,
     .expected = "4"},
    {"the first host is one of those",
     {2, 2, 2, 2, 2, 2},
     {0},
     UNITS(),
     3,
     3,
     .expected = "b1 2, a0 1",
     .is_first = {[B1] = true, [C0] = true},
     .is_of_any_unit = true},
    {"the next one if that is full",
     {2, 2, 2, 0, 2, 2},
     {0},
     UNITS(),
     3,
     3,
     .expected = "c0 2, a0 1",
     .is_first = {[B1] = true, [C0] = true},
     .is_of_any_unit = true},
    {"none of them has a slot",
     {2, 2, 2, 0, 2, 2},
     {0},
     UNITS(),
     1,
     1,
     .expected = "0",
     .is_first = {[B1] = true},
     .is_of_any_unit = true},
    {"its unit is filled first",
     {2, 2, 2, 2, 2, 0},
     {0},
     UNITS(),
     5,
     5,
     .expected = "b1 2, b0 2, a0 1",
     .is_first = {[B1] = true}},
    {"its unit is one of them",
     {2, 2, 2, 2, 1, 0},
     {0},
     UNITS(.max_units = 1),
     4,
     4,
     .expected = "b1 2, b0 2",
     .is_first = {[B1] = true, [C0] = true}},
    {"the first host takes a tile, or the rest",
     {4, 4, 4, 1, 0, 0},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 4},
     UNITS(),
     9,
     9,
     .expected = "b1 1, a0 4, a1 4",
     .is_first = {[B1] = true},
     .is_of_any_unit = true},
    {"one host: the first host",
     {9, 0, 0, 4, 0, 0},
     {.kind = PLACE_SPAN_HOST},
     UNITS(),
     5,
     5,
     .expected = "4",
     .is_first = {[B1] = true},
     .is_of_any_unit = true},
};

static int room_of(void *arg, int host, const struct rusage_piece *pieces, int n_pieces)
{
    const struct row *row = arg;
    (void)pieces;
    (void)n_pieces;
    return row->room[host];
}

static void check(const struct row *row)
{
    static const int order[HOSTS] = {X, C0, A0, B0, A1, B1};
    static const int plain[HOSTS] = {A0, A1, B0, B1, C0, X};
    struct place_span span = row->span;
    struct rusage_piece pieces[HOSTS];
    bool has_first = false;
    char text[128] = "";
    for (int i = 0; i < HOSTS; i++) {
        has_first = has_first || row->is_first[i];
    }
    span.units = row->is_of_any_unit ? NULL : &row->units;
    span.is_first = has_first ? row->is_first : NULL;
    struct place_span_request request = {
        .hosts = row->is_of_any_unit ? plain : order,
        .n_hosts = HOSTS,
        .min = row->min,
        .max = row->max,
        .is_balanced = row->is_balanced,
        .is_reservation = row->is_reservation,
        .preferences = row->preference,
        .room = room_of,
        .arg = (void *)(uintptr_t)row,
        .pieces = pieces,
    };
    int n_slots = place_span_fit(&span, &request);
    for (int i = 0; i < request.n_pieces; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof(text) - at, "%s%s %d", i > 0 ? ", " : "",
                 names[pieces[i].host], pieces[i].n_slots);
    }
    if (request.n_pieces == 0) {
        snprintf(text, sizeof(text), "%d", n_slots);
    }
    if (strcmp(text, row->expected) != 0) {
        fail_msg("%s: %s, expected %s", row->why, text, row->expected);
    }
}

static void test_units(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(&rows[i]);
    }
}

/* What is on any host of a unit counts, and nothing on others; a unit is closed as a
 * whole. */
static void test_exclusive(void **state)
{
    static const int next[HOSTS] = {A1, A0, B1, B0, C0, -1};
    static const struct place_span_units units = {
        .unit_of = unit_of, .next_in_unit = next, .n_units = 3};
    (void)state;
    enum { NOTHING, USED, CLOSED, HELD, SHARED, SUSPENDED, KINDS };
    for (int kind = NOTHING; kind < KINDS; kind++) {
        struct place_host hosts[HOSTS] = {0};
        int used[HOSTS] = {[X] = 1, [B0] = kind == USED};
        bool is_closed[HOSTS] = {[B0] = kind == CLOSED};
        hosts[B0].is_held = kind == HELD;
        hosts[B0].is_shared = kind == SHARED;
        hosts[B0].n_suspended = kind == SUSPENDED;
        const struct place_snapshot snapshot = {.hosts = hosts, .n_hosts = HOSTS};
        struct place_state at = {
            .snapshot = &snapshot, .used = used, .is_used_exclusively = is_closed};
        assert_true(place_state_unit_is_empty(&at, &units, A0));
        assert_true(place_state_unit_is_empty(&at, &units, C0));
        assert_int_equal(place_state_unit_is_empty(&at, &units, B0), kind == NOTHING);
        assert_int_equal(place_state_unit_is_empty(&at, &units, B1), kind == NOTHING);
        assert_false(place_state_unit_is_empty(&at, &units, X)); /* in no unit */
        place_state_close_unit(&at, &units, A1);
        assert_true(is_closed[A0] && is_closed[A1]);
        assert_false(is_closed[B1] || is_closed[C0] || is_closed[X]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_exclusive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
