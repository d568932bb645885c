/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.h: which processors of a host the tasks of a job get (section affinity of a
 * requirement).
 *
 * Units. A task gets n_units elements of the level `unit` that are free, as often as
 * `count` says, each time from one element of the level `same`. An element is free if
 * no job has any thread of it. With exclusive=(LEVEL,SCOPE) an element of that level
 *
 *     intask    is used by one of the count times of a task alone
 *     injob     is used by one task of the job alone
 *     alljobs   is used by one job alone: others neither have something in it as the
 *               job starts, nor get something before it ends
 *
 * Order. Tasks are placed one after the other. Elements are taken in the order of the
 * topology (`any`); from the element in which the job has least so far, of numa, then
 * socket, then core (`balance`); or from the smallest element that has room for all
 * tasks, of these the one with the fewest free units, else in order (`pack`). With
 * pack(LEVEL=1) all tasks are in one element of that level, or there is no room. If
 * neither `same` nor a scope of the job asks for less, the units of a task are taken
 * from as they come. An exclusive task is tried within one element before several, so
 * that it does not take two where one would do.
 *
 *     two sockets of two cores, core 0 used; affinity[core(1)] twice
 *         any, pack   cores 1 and 2 (pack: the second socket has room for both: 2 and
 * 3) balance     core 1, then core 2 of the other socket
 *
 * As tasks are placed one by one, a job that fits with n tasks fits with fewer. The
 * result is no optimum where exclusive levels and same interlock.
 *
 * Bound. Processes may use the threads of the units, or with cpubind=LEVEL those of all
 * elements of a higher level that have one of these. Memory nodes are those of the
 * units.
 *
 * Ownership: all of the caller's. Order: complete, as above; ties by the topology.
 * Source: LSF, "Affinity string"; docs/design/resreq.md "Affinity". Layer: sched. */
#ifndef SUBLET_SCHED_AFFINITY_AFFINITY_H
#define SUBLET_SCHED_AFFINITY_AFFINITY_H

#include <stdbool.h>

#include "model/cpu.h"

enum affinity_distribution {
    AFFINITY_ANY,
    AFFINITY_PACK,
    AFFINITY_PACK_ONE, /* pack(LEVEL=1) */
    AFFINITY_BALANCE,
};

enum {
    AFFINITY_UNITS_MAX = CPU_SET_MAX, /* of one task, `count` times included */
    AFFINITY_TASKS_MAX = 1024,        /* slots of a job with affinity */
};

struct affinity_request {
    bool is_given;
    enum cpu_level unit; /* NUMA or below */
    int n_units, count;
    enum cpu_level same, exclusive, bind; /* HOST: not asked for */
    unsigned scopes;
    enum cpu_memory memory;
    enum affinity_distribution distribution;
    enum cpu_level pack; /* of PACK_ONE */
};

/* Threads that jobs have, and those that no other job may get. */
struct affinity_use {
    struct cpu_set used, closed;
};

struct affinity_host {
    const struct cpu_topology *topology; /* NULL: it takes no such jobs */
    const struct affinity_use *use;      /* NULL: nothing is used */
    const uint64_t *attempts;            /* of the runs that use it */
    int n_attempts;
};

bool affinity_is_same(const struct affinity_request *a,
                      const struct affinity_request *b);
/* How many tasks fit, up to n_tasks. `tasks` become the threads of each; may be NULL.
 */
int affinity_fit(const struct cpu_topology *topology, const struct affinity_use *use,
                 const struct affinity_request *request, int n_tasks,
                 struct cpu_set *tasks);
/* What the units of a task mean to other jobs. */
void affinity_take(const struct cpu_topology *topology,
                   const struct affinity_request *request, const struct cpu_set *units,
                   struct affinity_use *use);
/* The threads that processes with these units may use, and their memory nodes. */
void affinity_bound(const struct cpu_topology *topology,
                    const struct affinity_request *request, const struct cpu_set *units,
                    struct cpu_set *cpus, struct cpu_set *nodes);
/* A binding that was read counts as its request for affinity_take. */
struct affinity_request affinity_of_binding(const struct cpu_binding *binding);

#endif
