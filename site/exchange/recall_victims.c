/* SPDX-License-Identifier: Apache-2.0 */
/* recall_victims.c: see recall_victims.h.
 *
 * The set of the last queue is found sum by sum: reach[i][s] says that some of the jobs
 * from the i-th youngest on add up to s slots. Then the youngest that is part of some
 * set with the least sum is taken, and so on. */
#include "site/exchange/recall_victims.h"

#include <stdlib.h>
#include <string.h>

/* Cells of the table; with more (a thousand jobs of a queue for four thousand slots)
 * the youngest go until it is enough, but for those without which it is enough too. */
enum { CELLS_MAX = 4000000 };

static int descending(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int compare(const void *left, const void *right)
{
    const struct recall_victim *a = left, *b = right;
    int order = (int)b->is_chosen - (int)a->is_chosen;
    order =
        order != 0 ? order : (a->priority > b->priority) - (a->priority < b->priority);
    order = order != 0 ? order : descending(a->start_ms, b->start_ms);
    return order != 0 ? order : (a->number < b->number) - (a->number > b->number);
}

void recall_victims_sort(struct recall_victims *victims)
{
    qsort(victims->items, (size_t)victims->count, sizeof(*victims->items), compare);
}

static int take(struct recall_victims *victims, int i)
{
    victims->items[i].round = victims->n_rounds;
    return victims->items[i].n_slots;
}

/* ---------------------------------------------------------------- of one queue */

/* Those of one queue that are there to be taken: places among the victims. */
struct queue {
    int *places;
    int count, n_slots;
};

/* The youngest jobs until they are enough; then those that are not needed are left out
 * again, the oldest first. */
static int take_youngest(struct recall_victims *victims, const struct queue *queue,
                         int n_slots)
{
    int taken = 0;
    for (int k = 0; k < queue->count && taken < n_slots; k++) {
        taken += take(victims, queue->places[k]);
    }
    for (int k = queue->count - 1; k >= 0; k--) {
        struct recall_victim *victim = &victims->items[queue->places[k]];
        if (victim->round == victims->n_rounds && taken - victim->n_slots >= n_slots) {
            victim->round = 0;
            taken -= victim->n_slots;
        }
    }
    return taken;
}

static bool *find_sums(const struct recall_victims *victims, const struct queue *queue,
                       struct arena *arena)
{
    size_t width = (size_t)queue->n_slots + 1;
    bool *reach = arena_alloc(arena, ((size_t)queue->count + 1) * width, 1);
    reach[(size_t)queue->count * width] = true;
    for (int k = queue->count - 1; k >= 0; k--) {
        const bool *older = &reach[((size_t)k + 1) * width];
        bool *here = &reach[(size_t)k * width];
        size_t n = (size_t)victims->items[queue->places[k]].n_slots;
        for (size_t s = 0; s < width; s++) {
            here[s] = older[s] || (s >= n && older[s - n]);
        }
    }
    return reach;
}

/* n_slots is at most what they have together. */
static int take_fewest(struct recall_victims *victims, const struct queue *queue,
                       int n_slots, struct arena *arena)
{
    size_t width = (size_t)queue->n_slots + 1, sum = (size_t)n_slots;
    if (((size_t)queue->count + 1) * width > CELLS_MAX) {
        return take_youngest(victims, queue, n_slots);
    }
    const bool *reach = find_sums(victims, queue, arena);
    while (!reach[sum]) {
        sum++;
    }
    size_t left = sum;
    for (int k = 0; k < queue->count && left > 0; k++) {
        size_t n = (size_t)victims->items[queue->places[k]].n_slots;
        if (left >= n && reach[((size_t)k + 1) * width + left - n]) {
            left -= (size_t)take(victims, queue->places[k]);
        }
    }
    return (int)sum;
}

/* ---------------------------------------------------------------- rounds */

static int take_chosen(struct recall_victims *victims, int n_slots)
{
    int taken = 0;
    for (int i = 0; i < victims->count && taken < n_slots; i++) {
        const struct recall_victim *victim = &victims->items[i];
        if (victim->is_chosen && victim->round == 0) {
            taken += take(victims, i);
        }
    }
    return taken;
}

/* The next queue from `*at` on; false: there is none. */
static bool next_queue(const struct recall_victims *victims, int *at,
                       struct queue *queue)
{
    queue->count = queue->n_slots = 0;
    for (; *at < victims->count; (*at)++) {
        const struct recall_victim *victim = &victims->items[*at];
        if (victim->round != 0 || victim->n_slots <= 0) {
            continue;
        }
        if (queue->count > 0 &&
            victims->items[queue->places[0]].priority != victim->priority) {
            break;
        }
        queue->places[queue->count++] = *at;
        queue->n_slots += victim->n_slots;
    }
    return queue->count > 0;
}

int recall_victims_take(struct recall_victims *victims, int n_slots,
                        struct arena *arena)
{
    victims->n_rounds++;
    int taken = take_chosen(victims, n_slots), at = 0;
    struct queue queue = {
        .places = arena_alloc(arena, (size_t)victims->count, sizeof(*queue.places))};
    while (taken < n_slots && next_queue(victims, &at, &queue)) {
        int left = n_slots - taken;
        if (queue.n_slots > left) {
            return taken + take_fewest(victims, &queue, left, arena);
        }
        for (int k = 0; k < queue.count; k++) {
            taken += take(victims, queue.places[k]);
        }
    }
    return taken;
}

void recall_victims_take_on_host(struct recall_victims *victims, const char *host)
{
    victims->n_rounds++;
    for (int i = 0; i < victims->count; i++) {
        struct recall_victim *victim = &victims->items[i];
        for (int k = 0; k < victim->n_hosts && victim->round == 0; k++) {
            if (strcmp(victim->hosts[k].host, host) == 0) {
                take(victims, i);
            }
        }
    }
}
