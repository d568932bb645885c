/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.c: see affinity.h. Threads are looked at by their place in the topology. */
#include "sched/affinity/affinity.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* An element of a level. */
struct element {
    int first, last; /* its threads are among these */
    int n_threads;   /* of them */
    int n_taken;     /* threads that cannot be had any more */
    int n_tasks;     /* of the job that have something in it */
    bool has_others; /* other jobs have */
    int task, times; /* that took something of it last; -1: none did */
};

struct fit {
    const struct cpu_topology *topology;
    const struct affinity_request *request;
    struct element *elements[CPU_LEVELS];
    bool *is_taken;    /* by thread */
    bool *is_of_task;  /* by thread: of the task that is placed now */
    int *chosen;       /* scratch: first threads of units */
    enum cpu_level in; /* all tasks are in this element; HOST: of the whole host */
    int in_element;
};

static void fit_init(struct fit *fit, const struct cpu_topology *topology,
                     const struct affinity_request *request)
{
    *fit = (struct fit){.topology = topology, .request = request};
    for (int level = 0; level < CPU_LEVELS; level++) {
        fit->elements[level] =
            mem_alloc((size_t)topology->n_of[level] + 1, sizeof(*fit->elements[level]));
    }
    size_t n_threads = (size_t)topology->n_units + 1;
    fit->is_taken = mem_alloc(n_threads, sizeof(*fit->is_taken));
    fit->is_of_task = mem_alloc(n_threads, sizeof(*fit->is_of_task));
    fit->chosen = mem_alloc(n_threads, sizeof(*fit->chosen));
}

static void fit_release(struct fit *fit)
{
    for (int level = 0; level < CPU_LEVELS; level++) {
        free(fit->elements[level]);
    }
    free(fit->is_taken);
    free(fit->is_of_task);
    free(fit->chosen);
}

static struct element *element_at(const struct fit *fit, enum cpu_level level,
                                  int thread)
{
    return &fit->elements[level][fit->topology->units[thread].of[level]];
}

/* As things are before the job. */
static void begin(struct fit *fit, const struct affinity_use *use)
{
    for (int level = 0; level < CPU_LEVELS; level++) {
        for (int i = 0; i < fit->topology->n_of[level]; i++) {
            fit->elements[level][i] =
                (struct element){.first = INT_MAX, .task = -1, .times = -1};
        }
    }
    for (int i = 0; i < fit->topology->n_units; i++) {
        int cpu = fit->topology->units[i].cpu;
        bool is_used = use != NULL && cpu_set_has(&use->used, cpu);
        fit->is_taken[i] = is_used || (use != NULL && cpu_set_has(&use->closed, cpu));
        for (int level = 0; level < CPU_LEVELS; level++) {
            struct element *at = element_at(fit, (enum cpu_level)level, i);
            at->first = i < at->first ? i : at->first;
            at->last = i;
            at->n_threads++;
            at->n_taken += fit->is_taken[i];
            at->has_others = at->has_others || is_used;
        }
    }
}

/* ---------------------------------------------------------------- one task */

static bool allows(const struct fit *fit, int thread, int task, int times)
{
    const struct affinity_request *request = fit->request;
    if (request->exclusive == CPU_LEVEL_HOST) {
        return true;
    }
    const struct element *at = element_at(fit, request->exclusive, thread);
    bool is_own = at->task == task;
    return !((request->scopes & CPU_SCOPE_ALLJOBS) != 0 && at->has_others) &&
           !((request->scopes & CPU_SCOPE_INJOB) != 0 && at->task >= 0 && !is_own) &&
           !((request->scopes & CPU_SCOPE_INTASK) != 0 && is_own && at->times != times);
}

/* The first thread of a free unit in that element. */
static bool is_free(const struct fit *fit, int thread, enum cpu_level in, int element)
{
    const struct element *unit = element_at(fit, fit->request->unit, thread);
    const int *of = fit->topology->units[thread].of;
    return unit->first == thread && unit->n_taken == 0 && of[in] == element &&
           of[fit->in] == fit->in_element;
}

/* Less of the job's tasks come before more; -1, 0, 1. */
static int compare_use(const struct fit *fit, int a, int b)
{
    for (int level = CPU_LEVEL_NUMA; level < CPU_LEVELS; level++) {
        int left = element_at(fit, (enum cpu_level)level, a)->n_tasks;
        int right = element_at(fit, (enum cpu_level)level, b)->n_tasks;
        if (left != right) {
            return left < right ? -1 : 1;
        }
    }
    return 0;
}

static void mark(struct fit *fit, int task, int times, const int *chosen, int n_chosen,
                 struct cpu_set *to)
{
    for (int i = 0; i < n_chosen; i++) {
        enum cpu_level unit = fit->request->unit;
        const struct element *at = element_at(fit, unit, chosen[i]);
        int which = fit->topology->units[chosen[i]].of[unit];
        for (int t = at->first; t <= at->last; t++) {
            if (fit->topology->units[t].of[unit] != which) {
                continue;
            }
            fit->is_taken[t] = fit->is_of_task[t] = true;
            for (int level = 0; level < CPU_LEVELS; level++) {
                struct element *of = element_at(fit, (enum cpu_level)level, t);
                of->n_taken++;
                of->task = task;
                of->times = times;
            }
            if (to != NULL) {
                cpu_set_add(to, fit->topology->units[t].cpu);
            }
        }
    }
}

/* The units of one time from one element. False: they are not there. */
static bool take_from(struct fit *fit, int task, int times, enum cpu_level in,
                      int element, struct cpu_set *to)
{
    const struct element *domain = &fit->elements[in][element];
    bool is_balanced = fit->request->distribution == AFFINITY_BALANCE;
    int n_chosen = 0, n_wanted = fit->request->n_units;
    for (int t = domain->first; t <= domain->last; t++) {
        if (!is_free(fit, t, in, element) || !allows(fit, t, task, times)) {
            continue;
        }
        int place = n_chosen;
        while (is_balanced && place > 0 &&
               compare_use(fit, t, fit->chosen[place - 1]) < 0) {
            place--;
        }
        if (place == n_wanted) {
            continue;
        }
        n_chosen += n_chosen < n_wanted;
        memmove(&fit->chosen[place + 1], &fit->chosen[place],
                (size_t)(n_chosen - 1 - place) * sizeof(*fit->chosen));
        fit->chosen[place] = t;
        if (!is_balanced && n_chosen == n_wanted) {
            break;
        }
    }
    if (n_chosen == n_wanted) {
        mark(fit, task, times, fit->chosen, n_chosen, to);
    }
    return n_chosen == n_wanted;
}

/* The same from one element of a level, in order. */
static bool take_from_one(struct fit *fit, int task, int times, enum cpu_level level,
                          struct cpu_set *to)
{
    bool is_balanced = fit->request->distribution == AFFINITY_BALANCE;
    int n_elements = fit->topology->n_of[level];
    bool *is_tried = mem_alloc((size_t)n_elements + 1, sizeof(*is_tried));
    bool is_taken = false;
    for (int i = 0; i < n_elements && !is_taken; i++) {
        int best = -1;
        for (int k = 0; k < n_elements && (best < 0 || is_balanced); k++) {
            if (!is_tried[k] &&
                (best < 0 || compare_use(fit, fit->elements[level][k].first,
                                         fit->elements[level][best].first) < 0)) {
                best = k;
            }
        }
        is_tried[best] = true;
        is_taken = take_from(fit, task, times, level, best, to);
    }
    free(is_tried);
    return is_taken;
}

static bool take_times(struct fit *fit, int task, int times, struct cpu_set *to)
{
    const struct affinity_request *request = fit->request;
    if (request->same != CPU_LEVEL_HOST) {
        return take_from_one(fit, task, times, request->same, to);
    }
    return (request->exclusive != CPU_LEVEL_HOST &&
            request->exclusive <= request->unit &&
            take_from_one(fit, task, times, request->exclusive, to)) ||
           take_from(fit, task, times, CPU_LEVEL_HOST, 0, to);
}

/* The task counts in each element that it has a part of, once. */
static void count_task(struct fit *fit)
{
    for (int level = 0; level < CPU_LEVELS; level++) {
        const struct element *last = NULL;
        for (int t = 0; t < fit->topology->n_units; t++) {
            struct element *at = element_at(fit, (enum cpu_level)level, t);
            at->n_tasks += fit->is_of_task[t] && at != last;
            last = fit->is_of_task[t] ? at : last;
        }
    }
}

static int place(struct fit *fit, int n_tasks, struct cpu_set *tasks)
{
    for (int task = 0; task < n_tasks; task++) {
        struct cpu_set *to = tasks != NULL ? &tasks[task] : NULL;
        memset(fit->is_of_task, 0, (size_t)fit->topology->n_units);
        if (to != NULL) {
            *to = (struct cpu_set){{0}};
        }
        for (int times = 0; times < fit->request->count; times++) {
            if (!take_times(fit, task, times, to)) {
                return task;
            }
        }
        if (fit->request->distribution == AFFINITY_BALANCE) {
            count_task(fit);
        }
    }
    return n_tasks;
}

/* ---------------------------------------------------------------- packed */

static int count_free(const struct fit *fit, enum cpu_level in, int element)
{
    int n_free = 0;
    const struct element *at = &fit->elements[in][element];
    for (int t = at->first; t <= at->last; t++) {
        n_free += is_free(fit, t, in, element);
    }
    return n_free;
}

/* The element of the level in which most tasks fit, of these the one with the fewest
 * free units. Returns how many fit. */
static int find_element(struct fit *fit, const struct affinity_use *use,
                        enum cpu_level level, int n_tasks, int *element)
{
    int most = 0, fewest = INT_MAX,
        n_units = fit->request->n_units * fit->request->count;
    bool is_begun = false;
    *element = -1;
    for (int i = 0; i < fit->topology->n_of[level]; i++) {
        fit->in = CPU_LEVEL_HOST;
        fit->in_element = 0;
        if (!is_begun) {
            begin(fit, use);
            is_begun = true;
        }
        int n_free = count_free(fit, level, i);
        if (n_free / n_units < most || n_free < n_units) {
            continue;
        }
        fit->in = level;
        fit->in_element = i;
        int n_fit = place(fit, n_tasks, NULL);
        is_begun = false;
        if (n_fit > most || (n_fit == most && n_fit > 0 && n_free < fewest)) {
            most = n_fit;
            fewest = n_free;
            *element = i;
        }
    }
    return most;
}

/* Sets the element that tasks are packed into. */
static void pack(struct fit *fit, const struct affinity_use *use, int n_tasks)
{
    const struct affinity_request *request = fit->request;
    int element = -1, level = (int)request->unit;
    if (request->distribution == AFFINITY_PACK_ONE) {
        level = (int)request->pack;
        (void)find_element(fit, use, request->pack, n_tasks, &element);
    }
    for (; request->distribution == AFFINITY_PACK && level > CPU_LEVEL_HOST; level--) {
        if (find_element(fit, use, (enum cpu_level)level, n_tasks, &element) ==
            n_tasks) {
            break;
        }
        element = -1;
    }
    bool is_whole = element < 0 && request->distribution == AFFINITY_PACK;
    fit->in = is_whole ? CPU_LEVEL_HOST : (enum cpu_level)level;
    fit->in_element = is_whole ? 0 : element; /* -1: no element has room */
}

bool affinity_is_same(const struct affinity_request *a,
                      const struct affinity_request *b)
{
    return a->unit == b->unit && a->n_units == b->n_units && a->count == b->count &&
           a->same == b->same && a->exclusive == b->exclusive && a->bind == b->bind &&
           a->scopes == b->scopes && a->memory == b->memory &&
           a->distribution == b->distribution && a->pack == b->pack;
}

int affinity_fit(const struct cpu_topology *topology, const struct affinity_use *use,
                 const struct affinity_request *request, int n_tasks,
                 struct cpu_set *tasks)
{
    struct fit fit;
    fit_init(&fit, topology, request);
    if (request->distribution == AFFINITY_PACK ||
        request->distribution == AFFINITY_PACK_ONE) {
        pack(&fit, use, n_tasks);
    }
    begin(&fit, use);
    int n_fit = place(&fit, n_tasks, tasks);
    fit_release(&fit);
    return n_fit;
}

/* ---------------------------------------------------------------- what it means */

/* Adds all threads of the elements of a level that have one of the units. */
static void widen(const struct cpu_topology *topology, enum cpu_level level,
                  const struct cpu_set *units, struct cpu_set *to)
{
    bool *has_it = mem_alloc((size_t)topology->n_of[level] + 1, sizeof(*has_it));
    for (int i = 0; i < topology->n_units; i++) {
        const struct cpu_unit *unit = &topology->units[i];
        has_it[unit->of[level]] =
            has_it[unit->of[level]] || cpu_set_has(units, unit->cpu);
    }
    for (int i = 0; i < topology->n_units; i++) {
        if (has_it[topology->units[i].of[level]]) {
            cpu_set_add(to, topology->units[i].cpu);
        }
    }
    free(has_it);
}

void affinity_take(const struct cpu_topology *topology,
                   const struct affinity_request *request, const struct cpu_set *units,
                   struct affinity_use *use)
{
    cpu_set_join(&use->used, units);
    if ((request->scopes & CPU_SCOPE_ALLJOBS) != 0 &&
        request->exclusive != CPU_LEVEL_HOST) {
        widen(topology, request->exclusive, units, &use->closed);
    }
}

void affinity_bound(const struct cpu_topology *topology,
                    const struct affinity_request *request, const struct cpu_set *units,
                    struct cpu_set *cpus, struct cpu_set *nodes)
{
    *cpus = *units;
    if (request->bind != CPU_LEVEL_HOST && request->bind < request->unit) {
        widen(topology, request->bind, units, cpus);
    }
    *nodes = (struct cpu_set){{0}};
    for (int i = 0; i < topology->n_units; i++) {
        const struct cpu_unit *unit = &topology->units[i];
        if (cpu_set_has(units, unit->cpu)) {
            cpu_set_add(nodes, topology->nodes[unit->of[CPU_LEVEL_NUMA]].number);
        }
    }
}

struct affinity_request affinity_of_binding(const struct cpu_binding *binding)
{
    return (struct affinity_request){.is_given = true,
                                     .unit = binding->unit,
                                     .n_units = 1,
                                     .count = 1,
                                     .exclusive = binding->exclusive,
                                     .bind = binding->bind,
                                     .scopes = binding->scopes,
                                     .memory = binding->memory};
}
