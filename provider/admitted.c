/* SPDX-License-Identifier: Apache-2.0 */
/* admitted.c: see admitted.h. */
#include "provider/admitted.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

static char *copied(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size, 1), text, size);
}

static void free_run(struct admitted_run *run)
{
    free(run->site);
    free(run->hosts);
    free(run);
}

void admitted_release(struct taken *taken)
{
    for (int i = 0; i < taken->n_runs; i++) {
        free_run(taken->runs[i]);
    }
    for (int i = 0; i < taken->n_highs; i++) {
        free(taken->highs[i].consumer);
    }
    free(taken->runs);
    free(taken->highs);
    memset(taken, 0, sizeof(*taken));
}

/* ------------------------------------------------------------ runs */

static int compare(const struct admitted_run *left, const struct run_id *right)
{
    int order = strcmp(left->site, right->site);
    if (order != 0) {
        return order;
    }
    return (left->attempt > right->attempt) - (left->attempt < right->attempt);
}

static int run_place(const struct taken *taken, const struct run_id *run)
{
    int low = 0, high = taken->n_runs;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(taken->runs[middle], run) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct admitted_run *admitted_find(const struct taken *taken, const struct run_id *run)
{
    int at = run_place(taken, run);
    bool is_there = at < taken->n_runs && compare(taken->runs[at], run) == 0;
    return is_there ? taken->runs[at] : NULL;
}

/* Its slots, taken (+1) or given back (-1). */
static void count_slots(const struct admitted_run *run, int sign)
{
    for (int i = 0; i < run->n_hosts; i++) {
        struct lease_share *entry = ledger_find_entry(run->book, run->hosts[i].host);
        if (entry != NULL) {
            int *count =
                run->is_still ? &entry->consumer_still : &entry->consumer_running;
            *count += sign * run->hosts[i].n_slots;
            ledger_count_consumer(entry);
        }
        run->hosts[i].host->is_unsettled = true;
    }
    run->book->is_dirty = true;
}

void admitted_add(struct taken *taken, struct ledger *books, const struct run_id *id,
                  struct ledger_lease *book, const struct host_slots *hosts,
                  int n_hosts, bool is_ended)
{
    struct admitted_run *run = mem_alloc(1, sizeof(*run));
    run->site = copied(id->site);
    run->attempt = id->attempt;
    run->book = book;
    run->is_ended = is_ended;
    run->hosts = mem_alloc((size_t)n_hosts, sizeof(*run->hosts));
    run->n_hosts = n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        run->hosts[i].host = ledger_add_host(books, hosts[i].host);
        run->hosts[i].n_slots = hosts[i].n_slots;
    }
    if (taken->n_runs == taken->runs_capacity) {
        taken->runs_capacity =
            taken->runs_capacity == 0 ? FIRST_CAPACITY : taken->runs_capacity * 2;
        taken->runs =
            mem_grow(taken->runs, (size_t)taken->runs_capacity, sizeof(*taken->runs));
    }
    int at = run_place(taken, id);
    memmove(&taken->runs[at + 1], &taken->runs[at],
            (size_t)(taken->n_runs - at) * sizeof(struct admitted_run *));
    taken->runs[at] = run;
    taken->n_runs++;
    if (!is_ended) {
        count_slots(run, 1);
    }
}

void admitted_set_yielded(struct admitted_run *run, bool is_still)
{
    if (!run->is_ended && run->is_still != is_still) {
        count_slots(run, -1);
        run->is_still = is_still;
        count_slots(run, 1);
    }
}

bool admitted_fits(const struct admitted_run *run)
{
    for (int i = 0; run->is_still && i < run->n_hosts; i++) {
        const struct lease_share *entry =
            ledger_find_entry(run->book, run->hosts[i].host);
        if (entry != NULL &&
            run->hosts[i].n_slots > entry->consumer - entry->consumer_running) {
            return false;
        }
    }
    return true;
}

void admitted_end(struct admitted_run *run)
{
    if (!run->is_ended) {
        run->is_ended = true;
        count_slots(run, -1);
    }
}

void admitted_remove(struct taken *taken, const struct run_id *id)
{
    struct admitted_run *run = admitted_find(taken, id);
    if (run == NULL) {
        return;
    }
    admitted_end(run);
    int at = run_place(taken, id);
    taken->n_runs--;
    memmove(&taken->runs[at], &taken->runs[at + 1],
            (size_t)(taken->n_runs - at) * sizeof(struct admitted_run *));
    free_run(run);
}

/* ------------------------------------------------------------ decided up to */

static int high_place(const struct taken *taken, const char *consumer)
{
    int low = 0, high = taken->n_highs;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(taken->highs[middle].consumer, consumer) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has_high(const struct taken *taken, int at, const char *consumer)
{
    return at < taken->n_highs && strcmp(taken->highs[at].consumer, consumer) == 0;
}

uint64_t admitted_highest(const struct taken *taken, const char *consumer)
{
    int at = high_place(taken, consumer);
    return has_high(taken, at, consumer) ? taken->highs[at].attempt : 0;
}

void admitted_set_highest(struct taken *taken, const char *consumer, uint64_t attempt)
{
    int at = high_place(taken, consumer);
    if (has_high(taken, at, consumer)) {
        struct admitted_highest *high = &taken->highs[at];
        high->attempt = attempt > high->attempt ? attempt : high->attempt;
        return;
    }
    if (taken->n_highs == taken->highs_capacity) {
        taken->highs_capacity =
            taken->highs_capacity == 0 ? FIRST_CAPACITY : taken->highs_capacity * 2;
        taken->highs = mem_grow(taken->highs, (size_t)taken->highs_capacity,
                                sizeof(*taken->highs));
    }
    memmove(&taken->highs[at + 1], &taken->highs[at],
            (size_t)(taken->n_highs - at) * sizeof(*taken->highs));
    taken->highs[at] = (struct admitted_highest){copied(consumer), attempt};
    taken->n_highs++;
}
