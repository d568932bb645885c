/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_use.c: see slurm_use.h. */
#include "slurm/slurm_use.h"

#include <stdlib.h>
#include <string.h>

static int compare_name(const void *name, const void *node)
{
    return strcmp(name, ((const struct slurm_node *)node)->name);
}

int slurm_use_find_node(const struct slurm_nodes *nodes, const char *name)
{
    const struct slurm_node *found =
        nodes->count == 0 ? NULL
                          : bsearch(name, nodes->items, (size_t)nodes->count,
                                    sizeof(*found), compare_name);
    return found != NULL ? (int)(found - nodes->items) : -1;
}

bool slurm_use_is_ours(struct arena *arena, const char *reservation, const char *site)
{
    struct slurm_reservation_name name;
    return slurm_reservation_parse_name(arena, reservation, &name) &&
           strcmp(name.site, site) == 0;
}

/* The states in which a job can start on a node, or runs there, and the flags that do
 * not change this. */
static bool is_working(const char *state)
{
    static const char *const good[] = {
        "idle",  "mixed",        "allocated", "completing", "reserved", "planned",
        "cloud", "dynamic_norm", "blocked",   "maint",      "alloc",    NULL};
    for (const char *at = state; *at != '\0';) {
        size_t length = strcspn(at, "+");
        bool is_good = false;
        for (int i = 0; good[i] != NULL; i++) {
            is_good = is_good ||
                      (strlen(good[i]) == length && strncmp(at, good[i], length) == 0);
        }
        if (!is_good) {
            return false;
        }
        at += length + (at[length] == '+');
    }
    return true;
}

struct counter {
    struct arena *arena;
    const struct slurm_terms *terms;
    const struct slurm_answers *answers;
    struct slurm_use *uses;
    bool *is_ours; /* by node: in one of the site's reservations */
};

static void use_all(const struct counter *counter, int node)
{
    counter->uses[node].n_foreign = counter->answers->nodes.items[node].cpus;
}

static void count_reservation(const struct counter *counter,
                              const struct slurm_reservation *reservation)
{
    bool is_ours =
        slurm_use_is_ours(counter->arena, reservation->name, counter->terms->site);
    bool is_soon =
        reservation->start_s < counter->terms->now_s + 2 * counter->terms->term_s;
    for (int i = 0; i < reservation->n_nodes; i++) {
        int node = slurm_use_find_node(&counter->answers->nodes, reservation->nodes[i]);
        if (node >= 0 && is_ours) {
            counter->is_ours[node] = true;
        } else if (node >= 0 && is_soon) {
            use_all(counter, node);
        }
    }
}

static void count_job(const struct counter *counter, const struct slurm_job *job)
{
    for (int i = 0; i < job->n_nodes; i++) {
        int node = slurm_use_find_node(&counter->answers->nodes, job->nodes[i]);
        if (node >= 0) {
            use_all(counter, node);
        }
    }
}

const struct slurm_use *slurm_use_count(struct arena *arena,
                                        const struct slurm_terms *terms,
                                        const struct slurm_answers *answers,
                                        slurm_use_is_run_fn is_run, void *arg)
{
    size_t n_nodes = (size_t)answers->nodes.count + 1;
    struct counter counter = {.arena = arena,
                              .terms = terms,
                              .answers = answers,
                              .uses =
                                  arena_alloc(arena, n_nodes, sizeof(struct slurm_use)),
                              .is_ours = arena_alloc(arena, n_nodes, sizeof(bool))};
    for (int i = 0; i < answers->reservations.count; i++) {
        count_reservation(&counter, &answers->reservations.items[i]);
    }
    bool *is_of_run = arena_alloc(arena, n_nodes, sizeof(bool));
    for (int i = 0; i < answers->jobs.count; i++) {
        const struct slurm_job *job = &answers->jobs.items[i];
        if (!slurm_job_has_nodes(job)) {
            continue;
        }
        bool is_known = is_run(arg, job->id) ||
                        slurm_use_is_ours(arena, job->reservation, terms->site);
        for (int k = 0; k < job->n_nodes && is_known; k++) {
            int node = slurm_use_find_node(&answers->nodes, job->nodes[k]);
            if (node >= 0) {
                is_of_run[node] = true;
            }
        }
        if (!is_known) {
            count_job(&counter, job);
        }
    }
    for (int i = 0; i < answers->nodes.count; i++) {
        const struct slurm_node *node = &answers->nodes.items[i];
        counter.uses[i].is_out = !is_working(node->state);
        if (!counter.is_ours[i] && !is_of_run[i] &&
            slurm_node_obstacle(arena, node) != NULL) {
            use_all(&counter, i);
        }
    }
    return counter.uses;
}

const char *slurm_use_find_reservation(struct arena *arena,
                                       const struct slurm_answers *answers,
                                       const char *site,
                                       const struct slurm_contract *contract,
                                       const char *account, const char *node)
{
    for (int i = 0; i < answers->reservations.count; i++) {
        const struct slurm_reservation *reservation = &answers->reservations.items[i];
        struct slurm_reservation_name name;
        if (!reservation->is_active ||
            !slurm_reservation_has_word(reservation->users, account, strlen(account)) ||
            !slurm_reservation_parse_name(arena, reservation->name, &name) ||
            strcmp(name.site, site) != 0 ||
            strcmp(name.policy, contract->policy) != 0 ||
            strcmp(name.consumer, contract->consumer) != 0 ||
            name.epoch > contract->epoch) {
            continue;
        }
        for (int k = 0; k < reservation->n_nodes; k++) {
            if (strcmp(reservation->nodes[k], node) == 0) {
                return reservation->name;
            }
        }
    }
    return NULL;
}
