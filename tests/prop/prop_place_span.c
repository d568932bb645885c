/* SPDX-License-Identifier: Apache-2.0 */
/* prop_place_span.c: random hosts and spans against a twin that tries all distributions
 * of slots: a result exists if and only if a distribution does, it is one of them, and
 * has as many slots as place_span.h demands. With compute units that are limited, which
 * of several distributions is chosen is for test_place_unit.c, and of tiles and blocks
 * only that the result is one. SEED=N repeats one world. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/place/place_span.h"

enum { HOSTS = 5, ROOM_MAX = 6, WORLDS = 20000, SLOTS_MOST = HOSTS * ROOM_MAX };

struct trial {
    uint64_t seed;
    struct rng rng;
    int room[HOSTS], order[HOSTS], tiles[HOSTS], kinds[2][HOSTS];
    int n_hosts, unit_of[HOSTS];
    bool is_first[HOSTS];
    struct place_span shape;
    struct place_span_units units;
    struct place_span_request ground;
    struct rusage_piece pieces[HOSTS];
};

static int between(struct trial *trial, int low, int high)
{
    return low + (int)rng_below(&trial->rng, high - low + 1);
}

static int room_of(void *arg, int host, const struct rusage_piece *pieces, int n_pieces)
{
    const struct trial *trial = arg;
    for (int i = 0; i < n_pieces; i++) {
        assert_int_not_equal(pieces[i].host, host); /* those elsewhere */
    }
    return trial->room[host];
}

static void make_units(struct trial *trial)
{
    for (int i = 0; i < trial->n_hosts; i++) {
        trial->unit_of[i] = rng_percent(&trial->rng, 10) ? -1 : between(trial, 0, 2);
        trial->is_first[i] = rng_percent(&trial->rng, 30);
    }
    if (rng_percent(&trial->rng, 50)) {
        trial->units = (struct place_span_units){
            .unit_of = trial->unit_of,
            .n_units = 3,
            .pref = (enum place_span_pref)between(trial, PLACE_SPAN_CONFIG,
                                                  PLACE_SPAN_BESTFIT),
            .max_units = rng_percent(&trial->rng, 50) ? between(trial, 1, 3) : 0,
        };
        if (rng_percent(&trial->rng, 30)) {
            trial->units.usable_slots = between(trial, 1, 6);
        } else {
            trial->units.is_even = rng_percent(&trial->rng, 30);
        }
        trial->shape.units = &trial->units;
    }
    trial->shape.is_first = rng_percent(&trial->rng, 30) ? trial->is_first : NULL;
}

static void make(struct trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof(*trial));
    trial->seed = seed;
    rng_init(&trial->rng, seed);
    trial->n_hosts = between(trial, 1, HOSTS);
    for (int i = 0; i < trial->n_hosts; i++) {
        trial->room[i] = between(trial, 0, ROOM_MAX);
        trial->order[i] = i;
        trial->tiles[i] = between(trial, 0, 4);
        for (int k = 0; k < 2; k++) {
            trial->kinds[k][i] = between(trial, -1, 2);
        }
    }
    for (int i = trial->n_hosts - 1; i > 0; i--) {
        int other = between(trial, 0, i), host = trial->order[i];
        trial->order[i] = trial->order[other];
        trial->order[other] = host;
    }
    struct place_span *shape = &trial->shape;
    shape->kind =
        (enum place_span_kind)between(trial, PLACE_SPAN_NONE, PLACE_SPAN_STRIPE);
    bool is_any = shape->kind == PLACE_SPAN_STRIPE && rng_percent(&trial->rng, 50);
    shape->n_slots = is_any ? 0 : between(trial, 1, 5);
    shape->ptiles = rng_percent(&trial->rng, 30) ? trial->tiles : NULL;
    shape->n_same = rng_percent(&trial->rng, 50) ? between(trial, 1, 2) : 0;
    for (int k = 0; k < shape->n_same; k++) {
        shape->same[k] = trial->kinds[k];
        shape->n_same_groups[k] = 3;
    }
    make_units(trial);
    int min = between(trial, 1, 12);
    trial->ground = (struct place_span_request){
        .hosts = trial->order,
        .n_hosts = trial->n_hosts,
        .min = min,
        .max = rng_percent(&trial->rng, 50) ? min : between(trial, min, 14),
        .is_balanced = rng_percent(&trial->rng, 50),
        .room = room_of,
        .arg = trial,
        .pieces = trial->pieces,
    };
}

/* ---------------------------------------------------------------- the twin */

static int tile_of(const struct trial *trial, int host)
{
    const struct place_span *shape = &trial->shape;
    return shape->kind == PLACE_SPAN_PTILE && shape->ptiles != NULL
               ? shape->ptiles[host]
               : shape->n_slots;
}

static bool has_tiles(const struct trial *trial)
{
    return trial->shape.kind == PLACE_SPAN_PTILE ||
           trial->shape.kind == PLACE_SPAN_BLOCK;
}

/* True if the slots satisfy the compute units. */
static bool is_way_of_units(const struct trial *trial, const int *slots)
{
    const struct place_span_units *units = trial->shape.units;
    int of_unit[3] = {0}, n_units = 0, n_small = 0, least = SLOTS_MOST, most = 0;
    for (int i = 0; i < trial->n_hosts; i++) {
        if (slots[i] > 0 && trial->unit_of[i] < 0) {
            return false;
        }
        of_unit[trial->unit_of[i] < 0 ? 0 : trial->unit_of[i]] += slots[i];
    }
    for (int i = 0; i < 3; i++) {
        int n = of_unit[i];
        n_units += n > 0;
        n_small += n > 0 && n < units->usable_slots;
        least = n > 0 && n < least ? n : least;
        most = n > most ? n : most;
    }
    return (units->max_units == 0 || n_units <= units->max_units) && n_small <= 1 &&
           (!units->is_even || trial->shape.kind == PLACE_SPAN_HOST ||
            most - least <= (has_tiles(trial) ? trial->shape.n_slots : 1));
}

/* One of the hosts with slots may be the first. */
static bool has_first(const struct trial *trial, const int *slots)
{
    bool has_any = trial->shape.is_first == NULL;
    for (int i = 0; i < trial->n_hosts; i++) {
        has_any = has_any || (slots[i] > 0 && trial->is_first[i]);
    }
    return has_any;
}

/* True if the slots satisfy the span; `is_whole`: only whole tiles or blocks. */
static bool is_way(const struct trial *trial, const int *slots, bool *is_whole)
{
    int n_hosts = 0, n_parts = 0;
    for (int i = 0; i < trial->n_hosts; i++) {
        int tile = tile_of(trial, i);
        if (slots[i] == 0) {
            continue;
        }
        n_hosts++;
        if (trial->shape.kind == PLACE_SPAN_PTILE) {
            if (slots[i] > tile) {
                return false;
            }
            n_parts += slots[i] < tile;
        } else if (trial->shape.kind == PLACE_SPAN_BLOCK) {
            n_parts += slots[i] % tile != 0;
        } else if (trial->shape.kind == PLACE_SPAN_STRIPE && tile > 0 &&
                   slots[i] > tile) {
            return false;
        }
    }
    *is_whole = n_parts == 0;
    return n_parts <= 1 && (trial->shape.kind != PLACE_SPAN_HOST || n_hosts <= 1) &&
           (trial->shape.units == NULL || is_way_of_units(trial, slots)) &&
           has_first(trial, slots);
}

/* The numbers of slots that can be distributed on hosts of one kind; `kinds` NULL: all.
 */
static void find_ways(const struct trial *trial, const int *kinds, int kind, bool *any,
                      bool *whole)
{
    int slots[HOSTS] = {0};
    memset(any, 0, SLOTS_MOST + 1);
    memset(whole, 0, SLOTS_MOST + 1);
    for (int i = 0; i < trial->n_hosts;) {
        int sum = 0;
        bool is_whole, is_one = true;
        for (int k = 0; k < trial->n_hosts; k++) {
            sum += slots[k];
            is_one = is_one && (slots[k] == 0 || kinds == NULL || kinds[k] == kind);
        }
        if (is_one && is_way(trial, slots, &is_whole)) {
            any[sum] = true;
            whole[sum] = whole[sum] || is_whole;
        }
        for (i = 0; i < trial->n_hosts && slots[i] == trial->room[i]; i++) {
            slots[i] = 0;
        }
        if (i < trial->n_hosts) {
            slots[i]++;
        }
    }
}

/* The slots that the job gets on those hosts; 0: it does not fit. */
static int count_on(const struct trial *trial, const int *kinds, int kind)
{
    bool any[SLOTS_MOST + 1], whole[SLOTS_MOST + 1];
    int min = trial->ground.min, max = trial->ground.max;
    find_ways(trial, kinds, kind, any, whole);
    /* Which hosts have slots may be open for some numbers alone. */
    for (int n = max; n >= min && !any[min]; n--) {
        if (any[n] || n == min) {
            return any[n] ? n : 0;
        }
    }
    if (trial->shape.kind == PLACE_SPAN_HOST) {
        for (int i = 0; i < trial->n_hosts; i++) {
            int host = trial->order[i], room = trial->room[host];
            if (room >= min && (kinds == NULL || kinds[host] == kind)) {
                return room < max ? room : max;
            }
        }
    }
    for (int n = max; n > min; n--) {
        if (n == max ? any[n] : whole[n]) {
            return n;
        }
    }
    return min;
}

static int count(const struct trial *trial)
{
    const struct place_span *shape = &trial->shape;
    int n_slots = shape->n_same == 0 ? count_on(trial, NULL, 0) : 0;
    for (int way = 0; way < shape->n_same && n_slots == 0; way++) {
        for (int i = 0; i < trial->n_hosts && n_slots == 0; i++) {
            int kind = shape->same[way][trial->order[i]];
            n_slots = kind >= 0 ? count_on(trial, shape->same[way], kind) : 0;
        }
    }
    return n_slots;
}

/* ---------------------------------------------------------------- compared */

static void expect(const struct trial *trial, bool is_so, const char *what)
{
    if (is_so) {
        return;
    }
    char text[512] = "";
    for (int i = 0; i < trial->n_hosts; i++) {
        size_t at = strlen(text);
        int host = trial->order[i];
        snprintf(text + at, sizeof(text) - at,
                 " h%d room %d tile %d kind %d/%d unit %d%s;", host, trial->room[host],
                 tile_of(trial, host), trial->kinds[0][host], trial->kinds[1][host],
                 trial->unit_of[host], trial->is_first[host] ? "!" : "");
    }
    const struct place_span_units *units = &trial->units;
    fail_msg("SEED=%" PRIu64
             ": %s: span %d of %d, %d ways, -n %d,%d, units %d (pref %d, "
             "at most %d, usable %d, even %d), first %d:%s",
             trial->seed, what, (int)trial->shape.kind, trial->shape.n_slots,
             trial->shape.n_same, trial->ground.min, trial->ground.max,
             trial->shape.units != NULL, (int)units->pref, units->max_units,
             units->usable_slots, units->is_even, trial->shape.is_first != NULL, text);
}

static void check_pieces(const struct trial *trial, int n_slots)
{
    int slots[HOSTS] = {0}, sum = 0, n_alike = 0;
    bool is_whole;
    for (int i = 0; i < trial->ground.n_pieces; i++) {
        const struct rusage_piece *piece = &trial->pieces[i];
        expect(trial, slots[piece->host] == 0, "a host twice");
        slots[piece->host] = piece->n_slots;
        sum += piece->n_slots;
        expect(trial, piece->n_slots > 0 && piece->n_slots <= trial->room[piece->host],
               "more than there is room for");
    }
    expect(trial, sum == n_slots, "other slots than it says");
    expect(trial, is_way(trial, slots, &is_whole), "the slots lie otherwise");
    for (int k = 0; k < trial->shape.n_same; k++) {
        int kind = trial->kinds[k][trial->pieces[0].host];
        bool is_alike = kind >= 0;
        for (int i = 0; i < trial->ground.n_pieces; i++) {
            is_alike = is_alike && trial->kinds[k][trial->pieces[i].host] == kind;
        }
        n_alike += is_alike;
    }
    expect(trial, trial->shape.n_same == 0 || n_alike > 0, "hosts are not alike");
    expect(trial,
           trial->shape.is_first == NULL || trial->is_first[trial->pieces[0].host],
           "another host is the first");
}

/* Which of several results it is depends on the order of units or of first hosts. */
static bool is_exact(const struct trial *trial)
{
    const struct place_span_units *units = trial->shape.units;
    return trial->shape.is_first == NULL &&
           (units == NULL || (units->max_units == 0 && units->usable_slots == 0 &&
                              !units->is_even && units->pref != PLACE_SPAN_BESTFIT &&
                              trial->shape.kind != PLACE_SPAN_HOST));
}

/* Several combinations of units are tried, not all of them; and the unit of the first
 * host is not the last one, which alone may have fewer slots than it must. */
static bool is_tried(const struct trial *trial)
{
    bool has_units = trial->shape.units != NULL,
         has_first = trial->shape.is_first != NULL;
    return (has_tiles(trial) && (has_units || has_first)) ||
           (has_first && has_units && trial->units.usable_slots > 0);
}

static void check_world(uint64_t seed)
{
    struct trial trial;
    make(&trial, seed);
    int n_slots = place_span_fit(&trial.shape, &trial.ground), n_best = count(&trial);
    if (n_slots < trial.ground.min && is_tried(&trial)) {
        return;
    }
    if (n_best == 0) {
        expect(&trial, n_slots < trial.ground.min && trial.ground.n_pieces == 0,
               "there is no way");
        return;
    }
    expect(&trial, n_slots >= trial.ground.min, "there is a way");
    expect(&trial, n_slots <= trial.ground.max, "more than it may have");
    expect(&trial, !is_exact(&trial) || n_slots == n_best,
           "not as many as it may have");
    check_pieces(&trial, n_slots);
}

static void shapes_are_met_where_they_can_be(void **state)
{
    (void)state;
    const char *seed = getenv("SEED");
    if (seed != NULL) {
        check_world(strtoull(seed, NULL, 10));
        return;
    }
    for (uint64_t i = 1; i <= WORLDS; i++) {
        check_world(i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_met_where_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
