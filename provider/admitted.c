/* SPDX-License-Identifier: Apache-2.0 */
/* admitted.c: see admitted.h. */
#include "provider/admitted.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "model/dup.h"

static void free_run(struct admitted_run *run)
{
    dup_free(run->site);
    free(run->hosts);
    free(run);
}

void admitted_release(struct admitted *admitted)
{
    for (int i = 0; i < admitted->n_runs; i++) {
        free_run(admitted->runs[i]);
    }
    for (int i = 0; i < admitted->n_highest; i++) {
        dup_free(admitted->highest[i]->consumer);
        free(admitted->highest[i]);
    }
    free(admitted->runs);
    free(admitted->highest);
    memset(admitted, 0, sizeof(*admitted));
}

/* ------------------------------------------------------------ runs */

static int compare_run(const void *key, const void *item)
{
    const struct run_id *id = key;
    const struct admitted_run *run = item;
    int order = strcmp(id->site, run->site);
    return order != 0 ? order
                      : (id->attempt > run->attempt) - (id->attempt < run->attempt);
}

struct admitted_run *admitted_find(const struct admitted *admitted,
                                   const struct run_id *run)
{
    return sorted_find(admitted->runs, admitted->n_runs, run, compare_run);
}

/* Slots of the run: in use (+1) or not any more (-1). */
static void count_slots(struct admitted_run *run, int sign)
{
    for (int i = 0; i < run->n_hosts; i++) {
        struct lease_share *entry = ledger_find_entry(run->lease, run->hosts[i].host);
        if (entry != NULL) {
            int *count =
                run->is_yielded ? &entry->consumer_yielded : &entry->consumer_running;
            *count += sign * run->hosts[i].n_slots;
            run->lease->n_running += run->is_yielded ? 0 : sign * run->hosts[i].n_slots;
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
    run->site = dup_text(id->site);
    run->attempt = id->attempt;
    run->nonce = id->nonce;
    run->lease = lease;
    run->is_ended = is_ended;
    run->hosts = mem_alloc((size_t)n_hosts, sizeof(*run->hosts));
    run->n_hosts = n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        run->hosts[i].host = ledger_add_host(ledger, hosts[i].host);
        run->hosts[i].n_slots = hosts[i].n_slots;
    }
    admitted->runs = sorted_add(admitted->runs, &admitted->n_runs,
                                &admitted->runs_capacity, id, compare_run, run);
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
    struct admitted_run *run =
        sorted_remove(admitted->runs, &admitted->n_runs, id, compare_run);
    if (run != NULL) {
        admitted_end(run);
        free_run(run);
    }
}

/* ------------------------------------------------------------ highest attempts */

static int compare_highest(const void *consumer, const void *highest)
{
    return strcmp(consumer, ((const struct admitted_highest *)highest)->consumer);
}

static struct admitted_highest *find_highest(const struct admitted *admitted,
                                             const char *consumer)
{
    return sorted_find(admitted->highest, admitted->n_highest, consumer,
                       compare_highest);
}

struct journal_mark admitted_highest(const struct admitted *admitted,
                                     const char *consumer)
{
    const struct admitted_highest *highest = find_highest(admitted, consumer);
    return highest != NULL ? highest->mark : (struct journal_mark){0};
}

struct journal_mark admitted_set_highest(struct admitted *admitted,
                                         const char *consumer,
                                         const struct journal_mark *mark)
{
    struct admitted_highest *highest = find_highest(admitted, consumer);
    if (highest == NULL) {
        highest = mem_alloc(1, sizeof(*highest));
        highest->consumer = dup_text(consumer);
        admitted->highest =
            sorted_add(admitted->highest, &admitted->n_highest,
                       &admitted->highest_capacity, consumer, compare_highest, highest);
    }
    msg_raise_mark(&highest->mark, mark);
    return highest->mark;
}
