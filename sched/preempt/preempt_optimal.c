/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_optimal.c: see preempt_optimal.h.
 *
 * Branch and bound. Each job has weight 1, divided by the number of its hosts, so that
 * a set of hosts never weighs more than the number of jobs on it. Hosts are tried in
 * order of weight per slot, first with and then without each host. A branch is cut if
 * its weight plus the least weight of the missing slots is no less than the best set.
 *
 *     4 slots each: n1 has a, b; n2 has c, d (on n3 too); n3 has d. 8 slots are wanted.
 *     d has weight 1/2 on each host, so n3 weighs 1/2, n2 3/2, n1 2. The answer is n3
 * and n2 with jobs c and d: no other two hosts weigh less.
 */
#include "sched/preempt/preempt_optimal.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { UNIT = 1000000 }; /* a job's weight; parts of it are rounded down */

struct item {
    const struct preempt_optimal_host *host;
    int place;
    int64_t weight;
};

/* What is tried next with a host of the current path. */
enum branch { BRANCH_WITH, BRANCH_WITHOUT, BRANCH_BACK };

struct search {
    struct item *items;
    int n_items;
    bool is_even;             /* all hosts have the same number of slots */
    int64_t *slots, *weights; /* sums over the items before each */
    enum branch *branches;    /* by item of the path */
    int *n_uses;              /* by job: hosts of the set so far that it is on */
    int n_jobs;               /* on hosts of the set so far */
    int64_t n_slots, weight;  /* of the set so far */
    int64_t n_wanted;
    int n_best; /* jobs of the best set */
};

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int64_t of_a = a->weight * b->host->n_slots, of_b = b->weight * a->host->n_slots;
    if (of_a != of_b) {
        return of_a < of_b ? -1 : 1;
    }
    return a->place - b->place;
}

static void weigh(struct search *search, const struct preempt_optimal_host *hosts,
                  int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        for (int k = 0; k < hosts[i].n_jobs; k++) {
            search->n_uses[hosts[i].jobs[k]]++;
        }
    }
    for (int i = 0; i < n_hosts; i++) {
        struct item *item = &search->items[search->n_items];
        *item = (struct item){.host = &hosts[i], .place = i};
        for (int k = 0; k < hosts[i].n_jobs; k++) {
            item->weight += UNIT / search->n_uses[hosts[i].jobs[k]];
        }
        search->n_items += hosts[i].n_slots > 0;
    }
    qsort(search->items, (size_t)search->n_items, sizeof(*search->items),
          compare_items);
    search->is_even = true;
    for (int i = 0; i < search->n_items; i++) {
        const struct item *item = &search->items[i];
        search->slots[i + 1] = search->slots[i] + item->host->n_slots;
        search->weights[i + 1] = search->weights[i] + item->weight;
        search->is_even =
            search->is_even && item->host->n_slots == search->items[0].host->n_slots;
    }
}

/* A lower bound for the weight of sets that add items from `at` on; -1: these have too
 * few slots. */
static int64_t least_weight(const struct search *search, int at)
{
    int64_t n_more = search->n_wanted - search->n_slots;
    int low = at, high = search->n_items;
    if (n_more <= 0) {
        return search->weight;
    }
    if (search->slots[high] - search->slots[at] < n_more) {
        return -1;
    }
    while (low < high) { /* finds the first item with which slots suffice */
        int middle = low + (high - low) / 2;
        if (search->slots[middle + 1] - search->slots[at] >= n_more) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const struct item *last = &search->items[low];
    int64_t n_of_last = n_more - (search->slots[low] - search->slots[at]);
    int64_t part =
        search->is_even ? last->weight : last->weight * n_of_last / last->host->n_slots;
    return search->weight + search->weights[low] - search->weights[at] + part;
}

/* True if the branch may lead to fewer jobs than the best set has. */
static bool is_open(const struct search *search, int at)
{
    int64_t least = least_weight(search, at);
    return least >= 0 && (least + UNIT - 1) / UNIT < search->n_best &&
           search->n_jobs < search->n_best;
}

static void set_host(struct search *search, const struct item *item, int sign)
{
    for (int i = 0; i < item->host->n_jobs; i++) {
        int *n_uses = &search->n_uses[item->host->jobs[i]];
        *n_uses += sign;
        search->n_jobs += sign > 0 ? *n_uses == 1 : -(*n_uses == 0);
    }
    search->n_slots += sign * item->host->n_slots;
    search->weight += sign * item->weight;
}

static void save_best(struct search *search, int n_jobs, bool *chosen)
{
    search->n_best = search->n_jobs;
    for (int i = 0; i < n_jobs; i++) {
        chosen[i] = search->n_uses[i] > 0;
    }
}

/* One step forward or back. Returns the next item; -1: none is left. */
static int step(struct search *search, int at)
{
    const struct item *item = &search->items[at];
    enum branch branch = search->branches[at];
    if (branch == BRANCH_BACK) {
        return at - 1;
    }
    set_host(search, item, branch == BRANCH_WITH ? 1 : -1);
    search->branches[at] = branch == BRANCH_WITH ? BRANCH_WITHOUT : BRANCH_BACK;
    if (at + 1 == search->n_items || search->n_slots >= search->n_wanted ||
        !is_open(search, at + 1)) {
        return at;
    }
    search->branches[at + 1] = BRANCH_WITH;
    return at + 1;
}

static void walk(struct search *search, int n_jobs, bool *chosen)
{
    int at = search->n_items > 0 && is_open(search, 0) ? 0 : -1;
    for (int i = 0; i < PREEMPT_OPTIMAL_STEPS_MAX && at >= 0; i++) {
        at = step(search, at);
        if (search->n_slots >= search->n_wanted && search->n_jobs < search->n_best) {
            save_best(search, n_jobs, chosen);
        }
    }
}

bool preempt_optimal_select(const struct preempt_optimal_host *hosts, int n_hosts,
                            int n_jobs, int64_t n_slots, bool *chosen)
{
    size_t n_most = (size_t)n_hosts + 1;
    struct search search = {.n_wanted = n_slots, .n_best = n_jobs + 1};
    search.items = mem_alloc(n_most, sizeof(*search.items));
    search.slots = mem_alloc(n_most, sizeof(*search.slots));
    search.weights = mem_alloc(n_most, sizeof(*search.weights));
    search.branches = mem_alloc(n_most, sizeof(*search.branches));
    search.n_uses = mem_alloc((size_t)n_jobs + 1, sizeof(*search.n_uses));
    weigh(&search, hosts, n_hosts);
    memset(search.n_uses, 0, (size_t)n_jobs * sizeof(*search.n_uses));
    walk(&search, n_jobs, chosen);
    free(search.items);
    free(search.slots);
    free(search.weights);
    free(search.branches);
    free(search.n_uses);
    return search.n_best <= n_jobs;
}
