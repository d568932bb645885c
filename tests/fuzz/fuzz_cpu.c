/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cpu.c: topologies that hosts report, and bindings of runs. The first byte says
 * which. What is taken is within its bounds; a binding is written as it was read, and a
 * topology gives each task of a job processors of its own. */
#include <string.h>

#include "sched/affinity/affinity.h"
#include "tests/fuzz/input.h"

enum { SIZE_MAX_READ = 4096, TASKS = 8 };

static void take_topology(struct arena *arena, const char *text)
{
    struct cpu_topology topology;
    struct cpu_set tasks[TASKS], seen = {{0}};
    struct err err;
    if (cpu_topology_parse(arena, text, &topology, &err) != 0) {
        return;
    }
    const struct affinity_request request = {
        .is_given = true,
        .unit = (enum cpu_level)(1 + strlen(text) % CPU_LEVEL_THREAD),
        .n_units = 1,
        .count = 1,
        .distribution = (enum affinity_distribution)(strlen(text) / 4 % 4),
        .pack = CPU_LEVEL_NUMA,
    };
    int n_fit = affinity_fit(&topology, NULL, &request, TASKS, tasks);
    for (int i = 0; i < n_fit; i++) {
        if (cpu_set_count(&tasks[i]) == 0 || cpu_set_meets(&tasks[i], &seen)) {
            input_fail("task %d has nothing of its own", i);
        }
        cpu_set_join(&seen, &tasks[i]);
    }
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (topology.n_of[level] < 1 || topology.n_of[level] > topology.n_units) {
            input_fail("%d elements of level %d", topology.n_of[level], level);
        }
    }
}

static void take_binding(struct arena *arena, const char *text)
{
    struct cpu_binding binding;
    struct err err;
    if (cpu_binding_parse(arena, text, &binding, &err) != 0) {
        return;
    }
    const char *once = cpu_binding_format(arena, &binding);
    if (once == NULL || cpu_binding_parse(arena, once, &binding, &err) != 0) {
        input_fail("\"%s\" cannot be written", text);
    }
    if (strcmp(once, cpu_binding_format(arena, &binding)) != 0) {
        input_fail("\"%s\" is written in two ways", text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    if (size < 1 || size > SIZE_MAX_READ) {
        return 0;
    }
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)data + 1, size - 1);
    if (data[0] % 2 == 0) {
        take_topology(&arena, text);
    } else {
        take_binding(&arena, text);
    }
    arena_release(&arena);
    return 0;
}
