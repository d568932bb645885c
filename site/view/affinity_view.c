/* SPDX-License-Identifier: Apache-2.0 */
/* affinity_view.c: which processors jobs have, and hosts have for them. */
#include "model/cpu.h"
#include "site/run/run_table.h"
#include "site/view/view_rows.h"

#include "site/job/job.h"

/* "/0/1/0": the element by its place in the one above, from the NUMA node on. */
static const char *element_text(struct arena *arena, const struct cpu_unit *unit,
                                enum cpu_level level)
{
    const char *text = "";
    for (int i = CPU_LEVEL_NUMA; i <= (int)level; i++) {
        text = arena_printf(arena, "%s/%d", text, unit->at[i]);
    }
    return text;
}

/* The elements of a level that a task has. */
static void add_ids(struct arena *arena, struct value *row,
                    const struct cpu_topology *topology, const struct cpu_set *task,
                    enum cpu_level level)
{
    struct value *ids = value_add(arena, row, "ids", value_array(arena));
    int last = -1;
    for (int i = 0; topology != NULL && i < topology->n_units; i++) {
        const struct cpu_unit *unit = &topology->units[i];
        if (cpu_set_has(task, unit->cpu) && unit->of[level] != last) {
            last = unit->of[level];
            value_add_text(arena, ids, NULL, element_text(arena, unit, level));
        }
    }
}

static const char *level_text(enum cpu_level level)
{
    return level != CPU_LEVEL_HOST ? cpu_level_name(level) : NULL;
}

static void add_set(struct arena *arena, struct value *row, const char *name,
                    const struct cpu_set *set)
{
    char text[CPU_LIST_SIZE];
    cpu_set_format(set, text);
    value_add_text(arena, row, name, arena_str(arena, text));
}

static void add_task(struct site_view *view, struct arena *arena, struct value *list,
                     const struct cpu_binding *binding,
                     const struct cpu_binding_host *host, int task)
{
    struct value *row = value_add(arena, list, NULL, value_object(arena));
    int index = host_table_find(view->hosts, host->host);
    value_add_text(arena, row, "host", host->host);
    value_add_text(arena, row, "type", cpu_level_name(binding->unit));
    value_add_text(arena, row, "level", level_text(binding->bind));
    value_add_text(arena, row, "exclusive", level_text(binding->exclusive));
    add_ids(arena, row, index >= 0 ? host_table_topology(view->hosts, index) : NULL,
            &host->tasks[task], binding->unit);
    add_set(arena, row, "cpus", &host->tasks[task]);
    value_add_text(arena, row, "membind",
                   binding->memory != CPU_MEMORY_ANY ? cpu_memory_name(binding->memory)
                                                     : NULL);
    add_set(arena, row, "nodes", &host->nodes);
}

void affinity_view_add_job(struct site_view *view, struct arena *arena,
                           struct value *row, const struct job *job)
{
    enum { TASKS_MAX = 256 }; /* shown: a row must fit a frame */
    const struct run *run =
        job->attempt != 0 && job->lease[0] == '\0'
            ? run_table_find_own(runs_table(view->runs), job->attempt)
            : NULL;
    struct cpu_binding binding;
    struct err err;
    int n_tasks = 0;
    if (run == NULL || run->binding[0] == '\0' ||
        cpu_binding_parse(arena, run->binding, &binding, &err) != 0) {
        value_add_null(arena, row, "processors");
        value_add_null(arena, row, "affinity");
        return;
    }
    const char *text = "";
    for (int i = 0; i < binding.n_hosts; i++) {
        char cpus[CPU_LIST_SIZE];
        cpu_set_format(&binding.hosts[i].cpus, cpus);
        text = arena_printf(arena, "%s%s%s %s", text, i > 0 ? "; " : "",
                            binding.hosts[i].host, cpus);
    }
    value_add_text(arena, row, "processors", value_cut_text(arena, text, TEXT_MAX));
    struct value *list = value_add(arena, row, "affinity", value_array(arena));
    for (int i = 0; i < binding.n_hosts; i++) {
        for (int k = 0; k < binding.hosts[i].n_tasks && n_tasks < TASKS_MAX; k++) {
            add_task(view, arena, list, &binding, &binding.hosts[i], k);
            n_tasks++;
        }
    }
}

void affinity_view_add_host(struct arena *arena, struct value *row,
                            const struct affinity_host *host)
{
    struct cpu_set cpus = {{0}}, used = {{0}};
    if (host == NULL || host->topology == NULL) {
        value_add_null(arena, row, "affinity_cpus");
        value_add_null(arena, row, "affinity_used");
        return;
    }
    for (int i = 0; i < host->topology->n_units; i++) {
        cpu_set_add(&cpus, host->topology->units[i].cpu);
    }
    if (host->use != NULL) {
        used = host->use->used;
    }
    add_set(arena, row, "affinity_cpus", &cpus);
    add_set(arena, row, "affinity_used", &used);
}
