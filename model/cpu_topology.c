/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_topology.c: see cpu.h. */
#include "model/cpu.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    struct cpu_unit *units;
    int n_units;
    struct cpu_node *nodes;
    int n_nodes, n_cores;
    struct cpu_set seen;
};

/* Digits; -1: none, or more than `max`. */
static int64_t take_number(struct reader *reader, int64_t max)
{
    char *end;
    if (*reader->at < '0' || *reader->at > '9') {
        return -1;
    }
    long long number = strtoll(reader->at, &end, 10);
    reader->at = end;
    return number <= max ? number : -1;
}

static bool take(struct reader *reader, char sign)
{
    bool is_there = *reader->at == sign;
    reader->at += is_there;
    return is_there;
}

static bool read_core(struct reader *reader, int socket)
{
    do {
        int64_t cpu = take_number(reader, CPU_SET_MAX - 1);
        if (cpu < 0 || cpu_set_has(&reader->seen, (int)cpu)) {
            return false;
        }
        cpu_set_add(&reader->seen, (int)cpu);
        struct cpu_unit *unit = &reader->units[reader->n_units];
        unit->cpu = (int)cpu;
        unit->of[CPU_LEVEL_NUMA] = reader->n_nodes - 1;
        unit->of[CPU_LEVEL_SOCKET] = socket;
        unit->of[CPU_LEVEL_CORE] = reader->n_cores;
        unit->of[CPU_LEVEL_THREAD] = reader->n_units++;
    } while (take(reader, ','));
    reader->n_cores++;
    return true;
}

static bool read_socket(struct reader *reader)
{
    int64_t socket = take_number(reader, CPU_SET_MAX - 1);
    if (socket < 0 || !take(reader, '=')) {
        return false;
    }
    do {
        if (!read_core(reader, (int)socket)) {
            return false;
        }
    } while (take(reader, ';'));
    return true;
}

static bool read_node(struct reader *reader)
{
    int64_t number = take_number(reader, CPU_SET_MAX - 1);
    int64_t mib = number >= 0 && take(reader, ':') ? take_number(reader, INT_MAX) : -1;
    if (mib < 0 || !take(reader, ':') || reader->n_nodes == CPU_SET_MAX) {
        return false;
    }
    reader->nodes[reader->n_nodes++] = (struct cpu_node){(int)number, mib};
    do {
        if (!read_socket(reader)) {
            return false;
        }
    } while (take(reader, '/'));
    return true;
}

/* Counts the elements of a level from 0 in their order, over the host and within the
 * element above. A socket whose parts are in several nodes is one element. */
static int count_level(struct cpu_unit *units, int n_units, enum cpu_level level)
{
    int *dense = mem_alloc(CPU_SET_MAX, sizeof(*dense)), n_elements = 0, at = 0;
    memset(dense, -1, CPU_SET_MAX * sizeof(*dense));
    for (int i = 0; i < n_units; i++) {
        int before = i > 0 ? units[i - 1].of[level] : -1,
            *to = &dense[units[i].of[level]];
        bool is_other_parent =
            i == 0 || units[i].of[level - 1] != units[i - 1].of[level - 1];
        bool is_new = *to < 0;
        *to = is_new ? n_elements++ : *to;
        units[i].of[level] = *to;
        at = is_other_parent ? 0 : units[i].of[level] != before ? at + 1 : at;
        units[i].at[level] = at;
    }
    free(dense);
    return n_elements;
}

/* The units are complete, with any numbers of their elements. */
static void number_levels(struct cpu_topology *topology, struct cpu_unit *units)
{
    topology->n_of[CPU_LEVEL_HOST] = 1;
    for (int level = CPU_LEVEL_NUMA; level < CPU_LEVELS; level++) {
        topology->n_of[level] =
            count_level(units, topology->n_units, (enum cpu_level)level);
    }
}

int cpu_topology_parse(struct arena *arena, const char *text,
                       struct cpu_topology *topology, struct err *err)
{
    size_t n_most = strlen(text) < CPU_SET_MAX ? strlen(text) : CPU_SET_MAX;
    struct reader reader = {
        .at = text,
        .units = arena_alloc(arena, n_most + 1, sizeof(*reader.units)),
        .nodes = arena_alloc(arena, n_most + 1, sizeof(*reader.nodes)),
    };
    bool is_good;
    do {
        is_good = reader.n_nodes < (int)n_most && read_node(&reader);
    } while (is_good && take(&reader, '|'));
    if (!is_good || *reader.at != '\0') {
        return err_set(err, ERR_PARSE, "bad topology of processors at \"%.40s\"",
                       reader.at);
    }
    *topology = (struct cpu_topology){
        .units = reader.units, .n_units = reader.n_units, .nodes = reader.nodes};
    number_levels(topology, reader.units);
    return 0;
}

void cpu_topology_keep(struct arena *arena, struct cpu_topology *topology,
                       const struct cpu_set *cpus)
{
    struct cpu_unit *units =
        arena_alloc(arena, (size_t)topology->n_units + 1, sizeof(*units));
    struct cpu_node *nodes =
        arena_alloc(arena, (size_t)topology->n_units + 1, sizeof(*nodes));
    int n_units = 0, n_nodes = 0, last = -1;
    for (int i = 0; i < topology->n_units; i++) {
        const struct cpu_unit *unit = &topology->units[i];
        if (!cpu_set_has(cpus, unit->cpu)) {
            continue;
        }
        units[n_units++] = *unit;
        if (unit->of[CPU_LEVEL_NUMA] != last) {
            last = unit->of[CPU_LEVEL_NUMA];
            nodes[n_nodes++] = topology->nodes[last];
        }
    }
    *topology =
        (struct cpu_topology){.units = units, .n_units = n_units, .nodes = nodes};
    number_levels(topology, units);
}
