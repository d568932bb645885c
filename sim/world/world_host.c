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
                       const char *name)
{
    struct world *world = arg;
    struct invariants_text text = WORLD_TEXT(world);

    (void)host;
    world->counts.begun++;
    world_state_check(
        world, invariant_job_started(world->invariants, site, job, name, &text), &text);
}

/* What dies, of 100 faults: mostly what users see most often. */
static enum executor_fault draw_fault(struct world *world)
{
    int what = (int)rng_below(&world->rng, 100);

    return what < 40   ? EXECUTOR_FAULT_GUARD
           : what < 65 ? EXECUTOR_FAULT_AGENT
           : what < 95 ? EXECUTOR_FAULT_MACHINE
                       : EXECUTOR_FAULT_DISK;
}

static enum executor_fault host_fault(void *arg, int host)
{
    struct world *world = arg;
    const struct world_options *options = &world->options;

    if (!options->host_fail_in_10000 ||
        rng_below(&world->rng, 10000) >= options->host_fail_in_10000) {
        return EXECUTOR_FAULT_NONE;
    }
    enum executor_fault fault = draw_fault(world);

    world_state_count_fault(world, fault);
    world->counts.between++;
    if (fault != EXECUTOR_FAULT_GUARD) {
        world_state_return_host(world, host,
                                rng_below(&world->rng, options->host_down_max_ms + 1));
    }
    return fault;
}

static void host_exited(void *arg, int host, const struct run_id *run, int status)
{
    struct world *world = arg;

    (void)host;
    invariant_job_exited(world->invariants, run, status);
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

/* ---- sizes */

/* The slots of a host that are recorded for runs that have not ended. */
struct decided {
    const struct world_site *of;
    const char *host;
    int n_slots;
};

static void count_slots(struct decided *decided, const struct host_slots *hosts,
                        int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        if (!strcmp(hosts[i].host, decided->host)) {
            decided->n_slots += hosts[i].n_slots;
        }
    }
}

/* True if the run is recorded only in the state of its job. */
static bool is_only_in_job(const struct world_site *of,
                           const struct row_job_state *state)
{
    struct row run = {
        .kind = ROW_RUN,
        .run.run = {.site = of->config->name, .attempt = state->attempt},
    };

    return state->is_taken && state->state == JOB_PEND && !disk_has(of->disk, &run);
}

static void count_decided(void *arg, const struct row *row)
{
    struct decided *decided = arg;

    if (row->kind == ROW_RUN && row->run.record != RUN_RECORD_ENDED) {
        count_slots(decided, row->run.hosts, row->run.n_hosts);
    } else if (row->kind == ROW_JOB_STATE &&
               is_only_in_job(decided->of, &row->job_state)) {
        count_slots(decided, row->job_state.hosts, row->job_state.n_hosts);
    }
}

const struct site_host *world_host_config(const struct site_config *config,
                                          const char *name)
{
    for (int i = 0; i < config->n_hosts; i++) {
        if (!strcmp(config->hosts[i].name, name)) {
            return &config->hosts[i];
        }
    }
    return NULL;
}

int world_host_max(const struct world *world, int site, const struct site_host *host)
{
    int machine = world_state_find_host(world, site, host->name);

    return !host->is_counted ? host->max
           : machine >= 0    ? world->hosts[machine].n_cpus[host->cpus]
                             : 0;
}

void world_host_resize(struct world *world, int site, const char *name,
                       const struct site_host *host)
{
    struct world_site *of = &world->sites[site];
    struct decided decided = {.of = of, .host = name};

    disk_load(of->disk, count_decided, &decided);
    invariant_host_sized(world->invariants, of->config->name, name,
                         host ? world_host_max(world, site, host) : 0, decided.n_slots);
}

void world_host_set_cpus(struct world *world, int site, const struct row_cpus *row)
{
    int machine = world_state_find_host(world, site, row->host);
    const struct site_host *host =
        world_host_config(world->sites[site].config, row->host);

    if (machine >= 0) {
        int *n_cpus = world->hosts[machine].n_cpus;

        n_cpus[NCPUS_PROCS] = row->is_gone ? 0 : row->n_procs;
        n_cpus[NCPUS_CORES] = row->is_gone ? 0 : row->n_cores;
        n_cpus[NCPUS_THREADS] = row->is_gone ? 0 : row->n_threads;
    }
    if (machine >= 0 && host && host->is_counted) {
        world_host_resize(world, site, row->host, host);
    }
}

struct restored_cpus {
    const char *host;
    struct row_cpus row;
};

static void find_cpus(void *arg, const struct row *row)
{
    struct restored_cpus *found = arg;

    if (row->kind == ROW_CPUS && !strcmp(row->cpus.host, found->host)) {
        found->row = row->cpus;
    }
}

void world_host_restore_cpus(struct world *world, int site)
{
    const struct world_site *of = &world->sites[site];

    for (int i = 0; i < of->n_machines; i++) {
        const char *host = executor_name(world->hosts[of->machines[i]].executor);
        struct restored_cpus found = {host, {.host = host, .is_gone = true}};

        disk_load(of->disk, find_cpus, &found);
        world_host_set_cpus(world, site, &found.row);
    }
}

static void add_machine(struct world *world, int site, const struct site_host *host)
{
    struct executor_world calls = {.send = host_send,
                                   .end_at = host_end_at,
                                   .command = host_command,
                                   .begun = host_begun,
                                   .used = host_used,
                                   .exited = host_exited,
                                   .fault = host_fault,
                                   .arg = world,
                                   .effects = &world->host_effects,
                                   .is_calm = world->options.is_calm};
    struct world_site *of = &world->sites[site];
    int index = world->n_hosts++;

    world->hosts =
        mem_grow(world->hosts, (size_t)world->n_hosts, sizeof world->hosts[0]);
    of->machines =
        mem_grow(of->machines, (size_t)of->n_machines + 1, sizeof of->machines[0]);
    of->machines[of->n_machines++] = index;
    world->hosts[index] = (struct world_host){
        .site = site,
        .executor = executor_new(host->name, index, &calls, world->now_ms)};
    invariant_host_sized(world->invariants, of->config->name, host->name,
                         world_host_max(world, site, host), 0);
    if (!world->options.is_calm && !of->config->is_slurm) {
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
        executor_set_load(world->hosts[machine].executor, values, n_values,
                          world->now_ms);
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

void world_host_report_loads(struct world *world)
{
    for (int i = 0; i < world->n_hosts; i++) {
        if (!world->sites[world->hosts[i].site].config->is_slurm) {
            executor_report_load(world->hosts[i].executor, world->now_ms);
        }
    }
}

void world_host_mend_commands(struct world *world)
{
    for (int i = 0; i < world->n_commands; i++) {
        world->commands[i].how.code = 0;
    }
}
