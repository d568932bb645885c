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

void admitted_release(struct admitted *admitted)
{
    for (int i = 0; i < admitted->n_runs; i++) {
        free_run(admitted->runs[i]);
    }
    for (int i = 0; i < admitted->n_highest; i++) {
        free(admitted->highest[i].consumer);
    }
    free(admitted->runs);
    free(admitted->highest);
    memset(admitted, 0, sizeof(*admitted));
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

static int run_place(const struct admitted *admitted, const struct run_id *run)
{
    int low = 0, high = admitted->n_runs;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(admitted->runs[middle], run) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct admitted_run *admitted_find(const struct admitted *admitted,
                                   const struct run_id *run)
{
    int at = run_place(admitted, run);
    bool is_there = at < admitted->n_runs && compare(admitted->runs[at], run) == 0;
    return is_there ? admitted->runs[at] : NULL;
}

/* Its slots, taken (+1) or given back (-1). */
static void count_slots(const struct admitted_run *run, int sign)
{
    for (int i = 0; i < run->n_hosts; i++) {
        struct lease_share *entry = ledger_find_entry(run->lease, run->hosts[i].host);
        if (entry != NULL) {
            int *count =
                run->is_yielded ? &entry->consumer_yielded : &entry->consumer_running;
            *count += sign * run->hosts[i].n_slots;
            ledger_count_consumer(entry);
        }
        run->hosts[i].host->needs_reconcile = true;
    }
    run->lease->is_dirty = true;
}

void admitted_add(struct admitted *admitted, struct ledger *ledger,
                  const struct run_id *id, struct ledger_lease *lease,
                  const struct host_slots *hosts, int n_hosts, bool is_ended)
{
    struct admitted_run *run = mem_alloc(1, sizeof(*run));
    run->site = copied(id->site);
    run->attempt = id->attempt;
    run->lease = lease;
    run->is_ended = is_ended;
    run->hosts = mem_alloc((size_t)n_hosts, sizeof(*run->hosts));
    run->n_hosts = n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        run->hosts[i].host = ledger_add_host(ledger, hosts[i].host);
        run->hosts[i].n_slots = hosts[i].n_slots;
    }
    if (admitted->n_runs == admitted->runs_capacity) {
        admitted->runs_capacity =
            admitted->runs_capacity == 0 ? FIRST_CAPACITY : admitted->runs_capacity * 2;
        admitted->runs = mem_grow(admitted->runs, (size_t)admitted->runs_capacity,
                                  sizeof(*admitted->runs));
    }
    int at = run_place(admitted, id);
    memmove(&admitted->runs[at + 1], &admitted->runs[at],
            (size_t)(admitted->n_runs - at) * sizeof(struct admitted_run *));
    admitted->runs[at] = run;
    admitted->n_runs++;
    if (!is_ended) {
        count_slots(run, 1);
    }
}

void admitted_set_yielded(struct admitted_run *run, bool is_yielded)
{
    if (!run->is_ended && run->is_yielded != is_yielded) {
        count_slots(run, -1);
        run->is_yielded = is_yielded;
        count_slots(run, 1);
    }
}

bool admitted_fits(const struct admitted_run *run)
{
    for (int i = 0; run->is_yielded && i < run->n_hosts; i++) {
        const struct lease_share *entry =
            ledger_find_entry(run->lease, run->hosts[i].host);
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

void admitted_remove(struct admitted *admitted, const struct run_id *id)
{
    struct admitted_run *run = admitted_find(admitted, id);
    if (run == NULL) {
        return;
    }
    admitted_end(run);
    int at = run_place(admitted, id);
    admitted->n_runs--;
    memmove(&admitted->runs[at], &admitted->runs[at + 1],
            (size_t)(admitted->n_runs - at) * sizeof(struct admitted_run *));
    free_run(run);
}

/* ------------------------------------------------------------ decided up to */

static int high_place(const struct admitted *admitted, const char *consumer)
{
    int low = 0, high = admitted->n_highest;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(admitted->highest[middle].consumer, consumer) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has_high(const struct admitted *admitted, int at, const char *consumer)
{
    return at < admitted->n_highest &&
           strcmp(admitted->highest[at].consumer, consumer) == 0;
}

uint64_t admitted_highest(const struct admitted *admitted, const char *consumer)
{
    int at = high_place(admitted, consumer);
    return has_high(admitted, at, consumer) ? admitted->highest[at].attempt : 0;
}

void admitted_set_highest(struct admitted *admitted, const char *consumer,
                          uint64_t attempt)
{
    int at = high_place(admitted, consumer);
    if (has_high(admitted, at, consumer)) {
        struct admitted_highest *high = &admitted->highest[at];
        high->attempt = attempt > high->attempt ? attempt : high->attempt;
        return;
    }
    if (admitted->n_highest == admitted->highest_capacity) {
        admitted->highest_capacity = admitted->highest_capacity == 0
                                         ? FIRST_CAPACITY
                                         : admitted->highest_capacity * 2;
        admitted->highest =
            mem_grow(admitted->highest, (size_t)admitted->highest_capacity,
                     sizeof(*admitted->highest));
    }
    memmove(&admitted->highest[at + 1], &admitted->highest[at],
            (size_t)(admitted->n_highest - at) * sizeof(*admitted->highest));
    admitted->highest[at] = (struct admitted_highest){copied(consumer), attempt};
    admitted->n_highest++;
}
