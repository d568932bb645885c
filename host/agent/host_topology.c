/* SPDX-License-Identifier: Apache-2.0 */
/* host_topology.c: see host_topology.h. */
#include "host/agent/host_topology.h"

#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/cpu.h"
#include "sys/log.h"

/* A thread, by hwloc's numbers of what it is in. */
struct thread {
    unsigned node, socket, core, cpu, place;
};

static int compare(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    const unsigned x[] = {a->node, a->socket, a->core, a->place};
    const unsigned y[] = {b->node, b->socket, b->core, b->place};
    for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0; /* no two are the same */
}

static hwloc_obj_t node_of(hwloc_topology_t topology, unsigned cpu)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) !=
           NULL) {
        if (hwloc_bitmap_isset(node->cpuset, cpu) != 0) {
            return node;
        }
    }
    return hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, 0);
}

static struct thread thread_of(hwloc_topology_t topology, hwloc_obj_t unit)
{
    hwloc_obj_t node = node_of(topology, unit->os_index);
    hwloc_obj_t socket =
        hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, unit);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    return (struct thread){
        .node = node != NULL ? node->logical_index : 0,
        .socket = socket != NULL ? socket->logical_index : 0,
        .core = core != NULL ? core->logical_index : unit->logical_index,
        .cpu = unit->os_index,
        .place = unit->logical_index,
    };
}

static void put_node(FILE *to, hwloc_topology_t topology, unsigned index)
{
    hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, index);
    fprintf(to, "%u:%" PRIu64 ":", node != NULL ? node->os_index : 0,
            node != NULL ? (uint64_t)node->attr->numanode.local_memory >> 20
                         : UINT64_C(0));
}

static void put_threads(FILE *to, hwloc_topology_t topology,
                        const struct thread *threads, int n_threads)
{
    for (int i = 0; i < n_threads; i++) {
        const struct thread *at = &threads[i], *last = i > 0 ? at - 1 : NULL;
        bool is_node = last == NULL || last->node != at->node;
        bool is_socket = is_node || last->socket != at->socket;
        if (is_node) {
            fputs(last != NULL ? "|" : "", to);
            put_node(to, topology, at->node);
        } else if (is_socket) {
            fputc('/', to);
        }
        if (is_socket) {
            fprintf(to, "%u=", at->socket);
        } else {
            fputc(last->core != at->core ? ';' : ',', to);
        }
        fprintf(to, "%u", at->cpu);
    }
}

static char *format(hwloc_topology_t topology)
{
    int n_threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    struct thread *threads =
        mem_alloc((size_t)(n_threads > 0 ? n_threads : 0) + 1, sizeof(*threads));
    if (to == NULL) {
        abort(); /* out of memory */
    }
    for (int i = 0; i < n_threads; i++) {
        threads[i] = thread_of(
            topology, hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)i));
    }
    qsort(threads, (size_t)(n_threads > 0 ? n_threads : 0), sizeof(*threads), compare);
    put_threads(to, topology, threads, n_threads);
    if (fclose(to) != 0) {
        abort(); /* out of memory */
    }
    free(threads);
    return text;
}

/* Where hwloc describes this machine, and no other by its variables. */
static void restrict_to_own(hwloc_topology_t topology)
{
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    if (own != NULL && hwloc_topology_is_thissystem(topology) != 0 &&
        hwloc_get_cpubind(topology, own, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_topology_restrict(topology, own, 0);
    }
    hwloc_bitmap_free(own);
}

char *host_topology_read(void)
{
    hwloc_topology_t topology;
    char *text = NULL;
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0) {
            restrict_to_own(topology);
            text = format(topology);
        }
        hwloc_topology_destroy(topology);
    }
    if (text == NULL || text[0] == '\0' || strlen(text) > CPU_TOPOLOGY_TEXT_MAX) {
        log_line(LOG_LEVEL_WARNING,
                 "no jobs with affinity: the processors of this machine %s",
                 text == NULL || text[0] == '\0' ? "cannot be found"
                                                 : "are too many to be described");
        free(text);
        text = mem_alloc(1, 1);
    }
    return text;
}
