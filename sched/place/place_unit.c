/* SPDX-License-Identifier: Apache-2.0 */
/* place_unit.c: see place_unit.h.
 *
 * What a unit has room for is measured alone. Units are then chosen in order, the first
 * ones with which the rest of the job can have room on those with most; that is exact
 * for single slots, as rooms add up. The choice is filled to see that it fits: rooms of
 * tiles and blocks are bounds, and limits or resources may make room on two units less
 * than the sum.
 *
 *     rooms A 3, B 8, C 6, two units for 12 slots: A and 8 are 11, so not A; B and 6
 *     are 14, so B; of the other 4, C has room */
#include "sched/place/place_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct unit {
    int number;    /* as configured */
    int from, end; /* its hosts, by place */
    int preference;
    int n_free;
    int room; /* slots of the job that it could have alone, or more with tiles */
};

/* The units of the hosts of a layout, in order, and those that are chosen of them. */
struct units {
    struct place_layout *layout;
    struct unit *items;
    int count;
    int *by_room; /* indexes, most room first */
    int *chosen;  /* indexes, in order */
    int *quotas;  /* by place among the chosen; of is_even */
    int n_chosen, max_units;
    int n_tries;
};

static int compare_units(const struct place_layout *layout, const struct unit *a,
                         const struct unit *b)
{
    enum place_span_pref pref =
        layout->request->is_reservation ? PLACE_SPAN_CONFIG : layout->span->units->pref;
    if (layout->has_first_host && (a->from == 0) != (b->from == 0)) {
        return a->from == 0 ? -1 : 1;
    }
    if (a->preference != b->preference) {
        return a->preference > b->preference ? -1 : 1;
    }
    if (pref != PLACE_SPAN_CONFIG && a->n_free != b->n_free) {
        return (a->n_free > b->n_free) == (pref == PLACE_SPAN_MAXAVAIL) ? -1 : 1;
    }
    return a->number - b->number;
}

/* Insertion: there are few units, and most are in order. */
static void sort_units(struct units *units)
{
    for (int i = 1; i < units->count; i++) {
        struct unit moved = units->items[i];
        int at = i;
        for (;
             at > 0 && compare_units(units->layout, &moved, &units->items[at - 1]) < 0;
             at--) {
            units->items[at] = units->items[at - 1];
        }
        units->items[at] = moved;
    }
    for (int i = 0; i < units->count; i++) {
        int at = i;
        for (;
             at > 0 && units->items[units->by_room[at - 1]].room < units->items[i].room;
             at--) {
            units->by_room[at] = units->by_room[at - 1];
        }
        units->by_room[at] = i;
    }
}

/* Groups the hosts of the layout by unit; within a unit they keep their order. Returns
 * the number of hosts that are in one. */
static int group_by_unit(struct units *units)
{
    struct place_layout *layout = units->layout;
    const struct place_span_units *of = layout->span->units;
    size_t n_most =
        (size_t)(layout->n_hosts > of->n_units ? layout->n_hosts : of->n_units);
    int *first = mem_alloc(n_most + 1, sizeof(*first));
    int *next = mem_alloc(n_most + 1, sizeof(*next));
    int *hosts = mem_alloc(n_most + 1, sizeof(*hosts));
    int n_hosts = 0;
    for (int i = layout->n_hosts - 1; i >= 0; i--) {
        int unit = of->unit_of[layout->hosts[i]];
        if (unit >= 0) {
            next[i] = first[unit];
            first[unit] = i + 1;
        }
    }
    for (int i = 0; i < layout->n_hosts; i++) {
        int unit = of->unit_of[layout->hosts[i]];
        if (unit < 0 || first[unit] != i + 1) {
            continue;
        }
        struct unit *item = &units->items[units->count++];
        *item = (struct unit){.number = unit, .from = n_hosts};
        for (int at = i + 1; at > 0; at = next[at - 1]) {
            hosts[n_hosts++] = layout->hosts[at - 1];
        }
        item->end = n_hosts;
    }
    memcpy(layout->hosts, hosts, (size_t)n_hosts * sizeof(*hosts));
    free(first);
    free(next);
    free(hosts);
    return n_hosts;
}

/* Adds whole tiles or blocks of the unit, or single slots, up to that number in all. */
static void fill_unit(struct place_layout *layout, const struct unit *unit, int wanted)
{
    int n_hosts = layout->n_hosts, max = layout->max;
    layout->from = unit->from;
    layout->n_hosts = unit->end;
    layout->max = wanted;
    if (layout->span->kind == PLACE_SPAN_PTILE) {
        place_layout_fill_tiles(layout, wanted);
    } else if (layout->span->kind == PLACE_SPAN_BLOCK) {
        place_layout_fill_blocks(layout, wanted);
    } else {
        place_layout_fill_spread(layout);
    }
    layout->from = 0;
    layout->n_hosts = n_hosts;
    layout->max = max;
}

static bool has_tiles(const struct place_layout *layout)
{
    return layout->span->kind == PLACE_SPAN_PTILE ||
           layout->span->kind == PLACE_SPAN_BLOCK;
}

/* Puts what is less than a tile or block on the first unit that has room for all of it.
 */
static bool fill_rest_of_units(struct units *units, const int *indexes, int n_indexes,
                               int wanted)
{
    struct place_layout *layout = units->layout;
    int n_hosts = layout->n_hosts;
    for (int i = 0; i < n_indexes && layout->n_slots < wanted; i++) {
        layout->from = units->items[indexes[i]].from;
        layout->n_hosts = units->items[indexes[i]].end;
        place_layout_fill_with_rest(layout, wanted);
    }
    layout->from = 0;
    layout->n_hosts = n_hosts;
    return layout->n_slots >= wanted;
}

static void measure_units(struct units *units)
{
    struct place_layout *layout = units->layout;
    const int *preferences = layout->request->preferences;
    for (int i = 0; i < units->count; i++) {
        struct unit *unit = &units->items[i];
        unit->preference =
            preferences != NULL ? preferences[layout->hosts[unit->from]] : 0;
        place_layout_empty(layout);
        for (int at = unit->from; at < unit->end; at++) {
            int preference = preferences != NULL ? preferences[layout->hosts[at]] : 0;
            unit->n_free += place_layout_room(layout, at);
            unit->preference =
                preference > unit->preference ? preference : unit->preference;
        }
        fill_unit(layout, unit, layout->max);
        if (has_tiles(layout) && layout->n_slots < layout->max) {
            int n_hosts = layout->n_hosts;
            layout->from = unit->from;
            layout->n_hosts = unit->end;
            place_layout_fill_rest(layout, layout->max);
            layout->from = 0;
            layout->n_hosts = n_hosts;
        }
        unit->room = layout->n_slots;
    }
    place_layout_empty(layout);
}

/* The most room that so many of the units from that index on have. */
static int most_room(const struct units *units, int from, int n_units)
{
    int room = 0, max = units->layout->max;
    for (int i = 0; i < units->count && n_units > 0 && room < max; i++) {
        if (units->by_room[i] >= from) {
            room += units->items[units->by_room[i]].room;
            n_units--;
        }
    }
    return room < max ? room : max;
}

/* At most one of the chosen units, the last one that has slots, has fewer than it
 * must. */
static bool is_usable(const struct units *units)
{
    const struct place_layout *layout = units->layout;
    int n_small = 0;
    for (int i = 0; i < units->n_chosen; i++) {
        const struct unit *unit = &units->items[units->chosen[i]];
        int n_slots = 0;
        for (int at = unit->from; at < unit->end; at++) {
            int piece = layout->piece_of[at];
            n_slots += piece >= 0 ? layout->request->pieces[piece].n_slots : 0;
        }
        if (n_slots > 0 && n_small > 0) {
            return false;
        }
        n_small += n_slots > 0 && n_slots < layout->span->units->usable_slots;
    }
    return true;
}

/* Fills the chosen units, each to its quota if there are quotas. */
static bool fill_chosen(struct units *units, bool has_quotas)
{
    struct place_layout *layout = units->layout;
    place_layout_empty(layout);
    for (int i = 0; i < units->n_chosen; i++) {
        const struct unit *unit = &units->items[units->chosen[i]];
        int wanted = has_quotas ? layout->n_slots + units->quotas[i] : layout->max;
        fill_unit(layout, unit, wanted);
        if (has_quotas && has_tiles(layout)) {
            fill_rest_of_units(units, &units->chosen[i], 1, wanted);
        }
    }
    if (has_tiles(layout) && !has_quotas &&
        !fill_rest_of_units(units, units->chosen, units->n_chosen, layout->max) &&
        layout->n_slots < layout->min) {
        fill_rest_of_units(units, units->chosen, units->n_chosen, layout->min);
    }
    units->n_tries++;
    return layout->n_slots >= layout->min && is_usable(units);
}

static bool is_chosen(const struct units *units, int index)
{
    for (int i = 0; i < units->n_chosen; i++) {
        if (units->chosen[i] == index) {
            return true;
        }
    }
    return false;
}

/* The most slots that so many more units can have, if one of them comes before that
 * index. */
static int bound(const struct units *units, int from, int n_units)
{
    return units->layout->span->units->usable_slots == 0
               ? most_room(units, from, n_units)
               : most_room(units, from, n_units - 1) + most_room(units, 0, 1);
}

static bool choose_units(struct units *units, int from, int n_slots);

/* The unit, and then others behind it. */
static bool choose_unit(struct units *units, int index, int n_slots)
{
    units->chosen[units->n_chosen++] = index;
    bool is_found = choose_units(units, index + 1, n_slots - units->items[index].room);
    units->n_chosen -= !is_found;
    units->n_tries++;
    return is_found;
}

/* Chooses of the units from that index on the first ones in order that have room for
 * so many slots more. The last one may have less than the others must, and so may come
 * before them. */
static bool choose_units(struct units *units, int from, int n_slots)
{
    int usable = units->layout->span->units->usable_slots;
    int n_left = units->max_units - units->n_chosen;
    bool has_first = units->layout->has_first_host && units->n_chosen == 0;
    if (n_slots <= 0) {
        return fill_chosen(units, false);
    }
    for (int i = from;
         i < (has_first ? 1 : units->count) && n_left > 0 &&
         bound(units, i, n_left) >= n_slots && units->n_tries < PLACE_SPAN_TRIES_MAX;
         i++) {
        int room = units->items[i].room;
        if (room > 0 && (room >= usable || room >= n_slots) &&
            choose_unit(units, i, n_slots)) {
            return true;
        }
    }
    for (int i = 0;
         i < from && usable > 0 && n_left > 0 && units->n_tries < PLACE_SPAN_TRIES_MAX;
         i++) {
        if (!is_chosen(units, i) && units->items[i].room >= n_slots &&
            choose_unit(units, i, n_slots)) {
            return true;
        }
    }
    return false;
}

/* ---- slots lie evenly on units */

/* How many slots each of so many units has, more first. */
static void find_quotas(struct units *units, int n_units)
{
    const struct place_layout *layout = units->layout;
    int tile = has_tiles(layout) ? layout->span->n_slots : 1;
    int n_tiles = (layout->min + tile - 1) / tile;
    for (int i = 0; i < n_units; i++) {
        units->quotas[i] = (n_tiles / n_units + (i < n_tiles % n_units)) * tile;
    }
    int last = n_tiles % n_units > 0 ? n_tiles % n_units - 1 : n_units - 1;
    units->quotas[last] -= n_tiles * tile - layout->min;
}

/* True if the chosen units, and of the others from that index on those with most room,
 * have room for the quotas. */
static bool can_have_quotas(const struct units *units, int from, int n_units)
{
    int n_others = n_units - units->n_chosen, n_taken = 0;
    for (int i = 0; i < units->count; i++) {
        int index = units->by_room[i];
        if (!is_chosen(units, index) && (index < from || n_others-- <= 0)) {
            continue;
        }
        if (units->items[index].room < units->quotas[n_taken++]) {
            return false;
        }
    }
    return n_taken == n_units;
}

/* Gives the larger quotas to the units with most room. */
static void assign_quotas(struct units *units)
{
    int *quotas = mem_alloc((size_t)units->n_chosen + 1, sizeof(*quotas));
    int n_given = 0;
    for (int i = 0; i < units->count; i++) {
        for (int k = 0; k < units->n_chosen; k++) {
            if (units->chosen[k] == units->by_room[i]) {
                quotas[k] = units->quotas[n_given++];
            }
        }
    }
    memcpy(units->quotas, quotas, (size_t)units->n_chosen * sizeof(*quotas));
    free(quotas);
}

static bool choose_even(struct units *units)
{
    struct place_layout *layout = units->layout;
    for (int n_units = 1; n_units <= units->max_units && n_units <= layout->min;
         n_units++) {
        find_quotas(units, n_units);
        units->n_chosen = 0;
        for (int i = 0; i < units->count && units->n_chosen < n_units &&
                        (i == 0 || !layout->has_first_host || units->n_chosen > 0);
             i++) {
            units->chosen[units->n_chosen++] = i;
            units->n_chosen -= !can_have_quotas(units, i + 1, n_units);
        }
        if (units->n_chosen == n_units) {
            assign_quotas(units);
            if (fill_chosen(units, true)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- all of it */

static bool choose_few(struct units *units, int n_slots)
{
    int max_units = units->max_units;
    bool is_found = false;
    units->max_units = 0;
    while (!is_found && units->max_units < max_units) {
        units->max_units++;
        is_found = choose_units(units, 0, n_slots);
    }
    return is_found;
}

static bool fill_units_of(struct units *units)
{
    struct place_layout *layout = units->layout;
    const struct place_span_units *of = layout->span->units;
    bool is_few = of->pref == PLACE_SPAN_BESTFIT && !layout->request->is_reservation;
    if (of->is_even && layout->span->kind != PLACE_SPAN_HOST) {
        layout->max = layout->min;
        return choose_even(units);
    }
    if (of->max_units == 0 && of->usable_slots == 0 && !is_few) {
        for (int i = 0; i < units->count; i++) {
            units->chosen[i] = i;
        }
        units->n_chosen = units->count;
        return fill_chosen(units, false);
    }
    /* As close to max as possible, but for max_units: the first that do. */
    return (of->max_units == 0 && layout->max > layout->min &&
            choose_units(units, 0, layout->max)) ||
           (is_few ? choose_few(units, layout->min)
                   : choose_units(units, 0, layout->min));
}

/* The hosts in the order of their units, for a span that needs one host alone. */
static void order_hosts(struct units *units)
{
    struct place_layout *layout = units->layout;
    int *hosts = mem_alloc((size_t)layout->n_hosts + 1, sizeof(*hosts));
    int n_hosts = 0;
    for (int i = 0; i < units->count; i++) {
        for (int at = units->items[i].from; at < units->items[i].end; at++) {
            hosts[n_hosts++] = layout->hosts[at];
        }
    }
    memcpy(layout->hosts, hosts, (size_t)n_hosts * sizeof(*hosts));
    free(hosts);
}

void place_unit_fill(struct place_layout *layout)
{
    size_t n_most = (size_t)layout->span->units->n_units + 1;
    struct units units = {.layout = layout,
                          .items = mem_alloc(n_most, sizeof(*units.items)),
                          .by_room = mem_alloc(n_most, sizeof(int)),
                          .chosen = mem_alloc(n_most, sizeof(int)),
                          .quotas = mem_alloc(n_most, sizeof(int))};
    int first_host = layout->n_hosts > 0 ? layout->hosts[0] : -1;
    layout->n_hosts = group_by_unit(&units);
    bool has_first = !layout->has_first_host ||
                     (layout->n_hosts > 0 && layout->hosts[0] == first_host);
    measure_units(&units);
    sort_units(&units);
    int max_units = layout->span->units->max_units;
    units.max_units =
        max_units > 0 && max_units < units.count ? max_units : units.count;
    if (!has_first) { /* the first host is in no unit */
        layout->n_slots = 0;
    } else if (layout->span->kind == PLACE_SPAN_HOST) {
        order_hosts(&units);
        place_layout_fill_host(layout);
    } else if (!fill_units_of(&units)) {
        int room = most_room(&units, 0, units.max_units);
        place_layout_empty(layout);
        layout->n_slots = room < layout->min ? room : layout->min - 1;
    }
    free(units.items);
    free(units.by_room);
    free(units.chosen);
    free(units.quotas);
}
