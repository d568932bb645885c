/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h: the processors of a host, and which of them the tasks of a run are bound to.
 *
 *   cpu_set       a set of processors or memory nodes, by the kernel's numbers
 *   cpu_topology  the levels of a host, as its agent reports them in one text
 *   cpu_binding   the processors of each task of a run, as its row and RUN_START have
 *                 them in one text
 *
 * A topology is written as "NODE:MIB:SOCKET=CORE;CORE/SOCKET=...|NODE:...", with the
 * kernel's numbers of the threads of each core, separated by commas. Two NUMA nodes
 * with one socket each, of two cores with two threads:
 *
 *     0:16000:0=0,4;1,5|1:16000:1=2,6;3,7
 *
 * A socket with several NUMA nodes has a part in each of them.
 *
 * A binding is written as "UNIT:CPUBIND:EXCLUSIVE:SCOPES:MEMBIND", and then for each
 * host ";HOST CPUS NODES TASK TASK...": the processors that its processes may use, the
 * memory nodes of these, and the processors that each task was given. A level that is
 * not asked for is "-".
 *
 *     core:socket:-:-:localonly;n1 0-1,4-5 0 0,4 1,5
 *
 * Units: MiB. Ownership: a parsed text points into nothing; what is parsed lives in the
 * arena. Errors: ERR_PARSE. Source: LSF, "Affinity string". Layer: model. */
#ifndef SUBLET_MODEL_CPU_H
#define SUBLET_MODEL_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
    CPU_SET_MAX = 2048,   /* processors of a host: numbers below that */
    CPU_LIST_SIZE = 8192, /* a set as text, with the NUL */
    CPU_TOPOLOGY_TEXT_MAX = 24576,
    CPU_BINDING_TEXT_MAX = 49152, /* of one run, on all of its hosts */
};

struct cpu_set {
    uint64_t bits[CPU_SET_MAX / 64];
};

bool cpu_set_has(const struct cpu_set *set, int cpu);
void cpu_set_add(struct cpu_set *set, int cpu);
void cpu_set_join(struct cpu_set *set, const struct cpu_set *more);
bool cpu_set_meets(const struct cpu_set *a, const struct cpu_set *b);
int cpu_set_count(const struct cpu_set *set);
/* "0-3,8"; "" if it is empty. Cut at CPU_LIST_SIZE, which no set of a host reaches. */
void cpu_set_format(const struct cpu_set *set, char text[CPU_LIST_SIZE]);
/* Commas between numbers and ranges; "" is the empty set. */
int cpu_set_parse(const char *text, size_t length, struct cpu_set *set,
                  struct err *err) MUST_CHECK;

/* From the whole host down to one thread. */
enum cpu_level {
    CPU_LEVEL_HOST,
    CPU_LEVEL_NUMA,
    CPU_LEVEL_SOCKET,
    CPU_LEVEL_CORE,
    CPU_LEVEL_THREAD,
    CPU_LEVELS,
};
/* "numa", "socket", "core", "thread"; "-" for the host. */
const char *cpu_level_name(enum cpu_level level);

/* One thread. */
struct cpu_unit {
    int cpu;            /* the kernel's number */
    int of[CPU_LEVELS]; /* the element of each level that it is in, counted from 0 */
    int at[CPU_LEVELS]; /* the same, counted within the element above */
};

struct cpu_node {
    int number; /* the kernel's */
    int64_t mib;
};

struct cpu_topology {
    const struct cpu_unit *units; /* threads of one element stand together */
    int n_units;
    const struct cpu_node *nodes; /* by index of the NUMA level */
    int n_of[CPU_LEVELS];         /* elements of each level */
};

int cpu_topology_parse(struct arena *arena, const char *text,
                       struct cpu_topology *topology, struct err *err) MUST_CHECK;
/* The same with those processors alone. */
void cpu_topology_keep(struct arena *arena, struct cpu_topology *topology,
                       const struct cpu_set *cpus);

enum cpu_memory { CPU_MEMORY_ANY, CPU_MEMORY_LOCALONLY, CPU_MEMORY_LOCALPREFER };
/* "-", "localonly", "localprefer". */
const char *cpu_memory_name(enum cpu_memory memory);

/* Scopes of exclusive=, added up. */
enum cpu_scope { CPU_SCOPE_INTASK = 1, CPU_SCOPE_INJOB = 2, CPU_SCOPE_ALLJOBS = 4 };

struct cpu_binding_host {
    const char *host;
    struct cpu_set cpus, nodes;
    struct cpu_set *tasks; /* what each was given */
    int n_tasks;
};

struct cpu_binding {
    enum cpu_level unit, bind, exclusive; /* HOST: none was asked for */
    unsigned scopes;
    enum cpu_memory memory;
    struct cpu_binding_host *hosts;
    int n_hosts;
};

/* In the arena; NULL if it is longer than CPU_BINDING_TEXT_MAX. */
const char *cpu_binding_format(struct arena *arena, const struct cpu_binding *binding);
int cpu_binding_parse(struct arena *arena, const char *text,
                      struct cpu_binding *binding, struct err *err) MUST_CHECK;

#endif
