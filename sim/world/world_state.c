/* SPDX-License-Identifier: Apache-2.0 */
/* world_state.c: see world_state.h. */
#include "sim/world/world_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void world_state_violate(struct world *world, const char *format, ...)
{
    va_list args;
    int n;

    if (world->violation[0]) {
        return;
    }
    n = snprintf(world->violation, sizeof world->violation,
                 "seed %" PRIu64 " at %" PRId64 " ms: ", world->options.seed,
                 world->now_ms - world->options.start_ms);
    va_start(args, format);
    vsnprintf(world->violation + n, sizeof world->violation - (size_t)n, format, args);
    va_end(args);
}

void world_state_check(struct world *world, bool holds,
                       const struct invariants_text *text)
{
    if (!holds) {
        world_state_violate(world, "%s", text->text);
    }
}

struct effects *world_state_effects(struct world *world, int daemon)
{
    struct world_batch *batch = &world->batches[daemon];

    if (!batch->sent) {
        batch->sent = agenda_new_sent(&world->agenda);
    }
    return &batch->sent->effects;
}

bool world_state_is_up(const struct world *world, int daemon)
{
    return daemon == BROKER ? world->broker != NULL
                            : world->sites[daemon - 1].site != NULL;
}

const char *world_state_daemon_name(const struct world *world, int daemon)
{
    return daemon == BROKER ? "broker" : world->sites[daemon - 1].config->name;
}

/* ---- sites and hosts */

/* The position in by_name of the first site whose name is not less than `name`. */
static int position_of(const struct world *world, const char *name, int n_sites)
{
    int low = 0, high = n_sites;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (strcmp(world->sites[world->by_name[middle]].config->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int world_state_find_site(const struct world *world, const char *name)
{
    int position = position_of(world, name, world->n_sites);

    return position < world->n_sites &&
                   !strcmp(world->sites[world->by_name[position]].config->name, name)
               ? world->by_name[position]
               : -1;
}

static int roles_of(const struct broker_config *config, const char *name)
{
    for (int i = 0; i < config->n_members; i++) {
        if (!strcmp(config->members[i].name, name)) {
            return config->members[i].roles;
        }
    }
    return 0;
}

void world_state_list_site(struct world *world, int index)
{
    world->by_name =
        mem_grow(world->by_name, (size_t)index + 1, sizeof world->by_name[0]);
    int position = position_of(world, world->sites[index].config->name, index);

    memmove(&world->by_name[position + 1], &world->by_name[position],
            (size_t)(index - position) * sizeof world->by_name[0]);
    world->by_name[position] = index;
    world->sites[index].roles =
        roles_of(world->broker_config, world->sites[index].config->name);
}

void world_state_update_roles(struct world *world)
{
    for (int i = 0; i < world->n_sites; i++) {
        world->sites[i].roles =
            roles_of(world->broker_config, world->sites[i].config->name);
    }
}

int world_state_find_host(const struct world *world, int site, const char *name)
{
    const struct world_site *of = &world->sites[site];

    for (int i = 0; i < of->n_machines; i++) {
        if (!strcmp(executor_name(world->hosts[of->machines[i]].executor), name)) {
            return of->machines[i];
        }
    }
    return -1;
}

struct invariants_view world_state_view(const struct world *world)
{
    struct invariants_site *sites =
        mem_alloc((size_t)world->n_sites + 1, sizeof sites[0]);

    for (int i = 0; i < world->n_sites; i++) {
        sites[i] =
            (struct invariants_site){world->sites[i].config, world->sites[i].site};
    }
    return (struct invariants_view){world->broker, sites, world->n_sites};
}

/* ---- notes */

void world_state_count_fault(struct world *world, enum executor_fault fault)
{
    struct world_counts *counts = &world->counts;

    counts->host_faults++;
    counts->guards += fault == EXECUTOR_FAULT_GUARD;
    counts->agents += fault == EXECUTOR_FAULT_AGENT;
    counts->machines += fault == EXECUTOR_FAULT_MACHINE;
    counts->disks += fault == EXECUTOR_FAULT_DISK;
}

void world_state_note_fault(struct world *world, int64_t until_ms)
{
    if (until_ms > world->calm_ms) {
        world->calm_ms = until_ms;
    }
}

/* A world may have ten thousand sites. The next instant of a site is computed only
 * after it was stepped. */
void world_state_note_wake(struct world *world, int daemon)
{
    if (daemon != BROKER) {
        struct world_site *site = &world->sites[daemon - 1];

        site->wake_ms = site->site ? site_wake_ms(site->site) : INT64_MAX;
    }
}

void world_state_return_host(struct world *world, int machine, int64_t down_ms)
{
    world->hosts[machine].back_ms = world->now_ms + down_ms;
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms + down_ms,
                                                    .kind = AGENDA_HOST_RETURN,
                                                    .to = machine});
}
