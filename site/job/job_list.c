/* SPDX-License-Identifier: Apache-2.0 */
/* job_list.c: see job_list.h. */
#include "site/job/job_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int job_list_by_id(const struct job *a, const struct job *b)
{
    int order = by_number(a->id, b->id);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

int job_list_by_attempt(const struct job *a, const struct job *b)
{
    return by_number(a->attempt, b->attempt);
}

int job_list_by_hold(const struct job *a, const struct job *b)
{
    return a->hold_ms != b->hold_ms ? (a->hold_ms < b->hold_ms ? -1 : 1)
                                    : job_list_by_id(a, b);
}

int job_list_by_expiry(const struct job *a, const struct job *b)
{
    return a->expire_ms != b->expire_ms ? (a->expire_ms < b->expire_ms ? -1 : 1)
                                        : job_list_by_id(a, b);
}

int job_list_by_clean(const struct job *a, const struct job *b)
{
    return a->clean_after_ms != b->clean_after_ms
               ? (a->clean_after_ms < b->clean_after_ms ? -1 : 1)
               : job_list_by_id(a, b);
}

int job_list_place(const struct job_list *list, const struct job *key,
                   job_list_compare_fn compare)
{
    int low = 0, high = list->count;
    if (high > 0 && compare(list->items[high - 1], key) < 0) {
        return high; /* a new job, most often */
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(list->items[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_before(const struct job *job, uint64_t id, int index)
{
    return job->id != id ? job->id < id : job->index < index;
}

/* From 0 to `last`, as if ids were spread evenly: they are given in order. */
static int guess_place(const struct job_list *list, uint64_t id, int last)
{
    uint64_t first_id = list->items[0]->id, last_id = list->items[last]->id;
    double share =
        last_id > first_id ? (double)(id - first_id) / (double)(last_id - first_id) : 0;
    return (int)(share * last);
}

/* Searches from a guess, which most often is the place or near it, in steps that
 * double. */
int job_list_place_by_id(const struct job_list *list, uint64_t id, int index)
{
    struct job *const *items = list->items;
    int low = 0, high = list->count - 1;
    if (high < 0 || !is_before(items[low], id, index)) {
        return 0;
    }
    if (is_before(items[high], id, index)) {
        return high + 1;
    }
    int at = guess_place(list, id, high);
    bool is_low = is_before(items[at], id, index), was_low = is_low;
    for (int step = 1;; step *= 2) {
        *(is_low ? &low : &high) = at;
        if (is_low != was_low || high - low <= step) {
            break;
        }
        at = is_low ? low + step : high - step;
        is_low = is_before(items[at], id, index);
    }
    while (high - low > 1) {
        at = low + (high - low) / 2;
        *(is_before(items[at], id, index) ? &low : &high) = at;
    }
    return high;
}

struct job *job_list_find(const struct job_list *list, const struct job *key,
                          job_list_compare_fn compare)
{
    int place = job_list_place(list, key, compare);
    if (place == list->count || compare(list->items[place], key) != 0) {
        return NULL;
    }
    return list->items[place];
}

void job_list_insert(struct job_list *list, struct job *job, int place)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->items =
            mem_grow(list->items, (size_t)list->capacity, sizeof(*list->items));
    }
    memmove(&list->items[place + 1], &list->items[place],
            (size_t)(list->count - place) * sizeof(*list->items));
    list->items[place] = job;
    list->count++;
}

void job_list_remove(struct job_list *list, struct job *job,
                     job_list_compare_fn compare)
{
    int place = job_list_place(list, job, compare);
    list->count--;
    memmove(&list->items[place], &list->items[place + 1],
            (size_t)(list->count - place) * sizeof(*list->items));
}

static int by_end(const struct job *a, const struct job *b)
{
    return a->end_ms != b->end_ms ? (a->end_ms < b->end_ms ? -1 : 1)
                                  : job_list_by_id(a, b);
}

/* qsort hands over places, not jobs. */
static int sort_by_attempt(const void *left, const void *right)
{
    return job_list_by_attempt(*(struct job *const *)left, *(struct job *const *)right);
}

static int sort_by_end(const void *left, const void *right)
{
    return by_end(*(struct job *const *)left, *(struct job *const *)right);
}

static void sort(struct job_list *list, int (*compare)(const void *, const void *))
{
    if (list->count > 0) {
        qsort(list->items, (size_t)list->count, sizeof(*list->items), compare);
    }
}

void job_list_sort_by_attempt(struct job_list *list)
{
    sort(list, sort_by_attempt);
}

void job_list_sort_by_end(struct job_list *list)
{
    sort(list, sort_by_end);
}
