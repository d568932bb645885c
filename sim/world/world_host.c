/* SPDX-License-Identifier: Apache-2.0 */
/* world_host.c: the services of a world for its executors, the load of hosts, and the
 * commands that run before and after jobs. */
#include "sim/world/world_host.h"

#include <string.h>

#include "sim/world/world_net.h"

static void host_send(void *arg, int host, const struct msg *msg)
{
    world_net_send_from_host(arg, host, msg);
}

static void host_end_at(void *arg, int host, int64_t at_ms, uint64_t number)
{
    struct world *world = arg;

    agenda_add(&world->agenda, (struct agenda_item){.at_ms = at_ms,
                                                    .kind = AGENDA_RUN_END,
                                                    .to = host,
                                                    .number = number});
}

static struct world_command *find_command(const struct world *world,
                                          const char *program, size_t length)
{
    for (int i = 0; i < world->n_commands; i++) {
        const char *known = world->commands[i].program;

        if (strlen(known) == length && strncmp(known, program, length) == 0) {
            return &world->commands[i];
        }
    }
    return NULL;
}

static void host_command(void *arg, const char *text, struct executor_command *command)
{
    static const char ends[] = " \t;&|";
    const char *program = text + strspn(text, " \t");
    const struct world_command *found =
        find_command(arg, program, strcspn(program, ends));

    *command = found ? found->how : (struct executor_command){.ms = 0};
}

static void host_begun(void *arg, int host, const char *site, const char *job,
                       uint64_t attempt)
{
    struct world *world = arg;
    struct invariants_text text = WORLD_TEXT(world);

    (void)host;
    (void)attempt;
    world->counts.begun++;
    world_state_check(world, invariant_job_started(world->invariants, site, job, &text),
                      &text);
}

static void host_used(void *arg, int host, const struct executor_use *use)
{
    struct world *world = arg;
    int site = world->hosts[host].site;
    struct invariants_text text = WORLD_TEXT(world);

    world_state_check(world,
                      invariant_host_used(world->invariants,
                                          world->sites[site].config->name, use, &text),
                      &text);
    if (world->watch.used) {
        world->watch.used(world->watch.arg, site, use->lease, use->n_slots,
                          world->now_ms);
    }
}

static void add_machine(struct world *world, int site, const struct site_host *host)
{
    struct executor_world calls = {host_send,  host_end_at, host_command,
                                   host_begun, host_used,   world};
    struct world_site *of = &world->sites[site];
    int index = world->n_hosts++;

    world->hosts =
        mem_grow(world->hosts, (size_t)world->n_hosts, sizeof world->hosts[0]);
    of->machines =
        mem_grow(of->machines, (size_t)of->n_machines + 1, sizeof of->machines[0]);
    of->machines[of->n_machines++] = index;
    world->hosts[index] = (struct world_host){
        .site = site, .executor = executor_new(host->name, index, &calls)};
    invariant_host_sized(world->invariants, of->config->name, host->name, host->max, 0);
    if (!world->options.is_calm) {
        agenda_add(&world->agenda,
                   (struct agenda_item){.at_ms = world->now_ms + HOST_ALIVE_MS,
                                        .kind = AGENDA_HOST_TICK,
                                        .to = index});
    }
}

void world_host_add_all(struct world *world, int site)
{
    const struct site_config *config = world->sites[site].config;

    for (int i = 0; i < config->n_hosts; i++) {
        if (world_state_find_host(world, site, config->hosts[i].name) < 0) {
            add_machine(world, site, &config->hosts[i]);
        }
    }
}

bool world_host_set_load(struct world *world, int site, const char *host,
                         const struct load_value *values, int n_values)
{
    int machine = world_state_find_host(world, site, host);

    if (machine >= 0) {
        executor_set_load(world->hosts[machine].executor, values, n_values);
    }
    return machine >= 0;
}

void world_host_set_command(struct world *world, const char *program, int64_t ms,
                            int code)
{
    struct world_command *command = find_command(world, program, strlen(program));

    if (!command) {
        world->commands = mem_grow(world->commands, (size_t)world->n_commands + 1,
                                   sizeof world->commands[0]);
        command = &world->commands[world->n_commands++];
    }
    *command = (struct world_command){program, {.ms = ms, .code = code}};
}

void world_host_mend_commands(struct world *world)
{
    for (int i = 0; i < world->n_commands; i++) {
        world->commands[i].how.code = 0;
    }
}
