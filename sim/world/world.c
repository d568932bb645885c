/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: what happens next, and to whom: the loop, and the hosts' work. */
#include "sim/world/world_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct world_command *world_find_command(const struct world *world, const char *program,
                                         size_t length)
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
        world_find_command(arg, program, strcspn(program, ends));

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

static void happen(struct world *world, const struct agenda_item *item)
{
    struct event written = {.kind = EVENT_WRITTEN, .now_ms = world->now_ms};

    switch (item->kind) {
    case AGENDA_MESSAGE:
    case AGENDA_TO_HOST:
    case AGENDA_FROM_HOST:
        world_deliver(world, item);
        break;
    case AGENDA_RUN_END:
        executor_run_end(world->hosts[item->to].executor, item->number, world->now_ms);
        break;
    case AGENDA_WRITTEN:
        written.written.job = item->number;
        world_daemon_take(world, item->to, &written);
        break;
    case AGENDA_RESTART:
        if (!world_state_is_up(world, item->to)) {
            world_daemon_start(world, item->to);
        }
        break;
    case AGENDA_HOST_TICK:
        executor_tick(world->hosts[item->to].executor, world->now_ms);
        agenda_add(&world->agenda,
                   (struct agenda_item){.at_ms = world->now_ms + HOST_ALIVE_MS,
                                        .kind = AGENDA_HOST_TICK,
                                        .to = item->to});
        break;
    }
}

/* A site is asked when it has been stepped, and not for each instant of ten thousand
 * others. */
void world_state_note_wake(struct world *world, int daemon)
{
    if (daemon != BROKER) {
        struct world_site *site = &world->sites[daemon - 1];

        site->wake_ms = site->site ? site_wake_ms(site->site) : INT64_MAX;
    }
}

static int64_t wake_ms(const struct world *world, int daemon)
{
    if (daemon != BROKER) {
        return world->sites[daemon - 1].wake_ms;
    }
    return world->broker ? broker_wake_ms(world->broker) : INT64_MAX;
}

/* ---- one instant
 * --------------------------------------------------------------------- */

static void take_due(struct world *world)
{
    struct agenda_item item;

    while (!world->violation[0] && agenda_next_ms(&world->agenda) <= world->now_ms &&
           agenda_take(&world->agenda, &item)) {
        happen(world, &item);
        free(item.bytes);
    }
}

/* Ends the batches of the sites and sends what the broker has to say to what reached
 * it; true where there was anything. */
static bool end_batches(struct world *world)
{
    bool is_any = false;

    for (int i = BROKER + 1; i <= world->n_sites; i++) {
        if (world->batches[i].is_open || wake_ms(world, i) <= world->now_ms) {
            world_daemon_end_batch(world, i, true);
            is_any = true;
        }
    }
    if (world->batches[BROKER].is_open) {
        world_daemon_end_batch(world, BROKER, false);
        is_any = true;
    }
    return is_any;
}

static bool tick_broker(struct world *world)
{
    if (!world->batches[BROKER].wants_tick && wake_ms(world, BROKER) > world->now_ms) {
        return false;
    }
    world_daemon_end_batch(world, BROKER, true);
    return true;
}

static void finish_instant(struct world *world)
{
    do {
        take_due(world);
    } while (!world->violation[0] && (end_batches(world) || tick_broker(world)));
}

static int64_t next_instant(const struct world *world)
{
    int64_t least_ms = agenda_next_ms(&world->agenda);

    for (int i = 0; i <= world->n_sites; i++) {
        if (wake_ms(world, i) < least_ms) {
            least_ms = wake_ms(world, i);
        }
    }
    return least_ms;
}

void world_advance(struct world *world, int64_t now_ms)
{
    if (now_ms > world->now_ms) {
        world->now_ms = now_ms;
        world->batches_now = 0;
    }
}

bool world_run(struct world *world, int64_t until_ms)
{
    if (world->now_ms <= until_ms) {
        finish_instant(world);
    }
    while (!world->violation[0] && next_instant(world) <= until_ms) {
        world_advance(world, next_instant(world));
        finish_instant(world);
    }
    if (!world->violation[0]) {
        world_advance(world, until_ms);
    }
    return !world->violation[0];
}

/* ---- making one
 * ---------------------------------------------------------------------- */

struct world *world_new(const struct world_options *options,
                        const struct broker_config *broker)
{
    struct world *world = mem_alloc(1, sizeof *world);

    world->options = *options;
    world->now_ms = options->start_ms;
    rng_init(&world->rng, options->seed);
    world->batches = mem_alloc(1, sizeof world->batches[0]);
    effects_init(&world->batches[BROKER].effects);
    world->broker_config = broker;
    world->broker_disk = disk_new();
    world->invariants = invariants_new();
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = options->start_ms,
                                                    .kind = AGENDA_RESTART,
                                                    .to = BROKER});
    return world;
}

void world_free(struct world *world)
{
    if (!world) {
        return;
    }
    for (int i = 0; i <= world->n_sites; i++) {
        if (world_state_is_up(world, i)) {
            world_daemon_stop(world, i);
        }
        effects_release(&world->batches[i].effects);
    }
    for (int i = 0; i < world->n_sites; i++) {
        disk_free(world->sites[i].disk);
        free(world->sites[i].machines);
    }
    world->watch = (struct world_watch){.arg = NULL}; /* ends that are none */
    for (int i = 0; i < world->n_hosts; i++) {
        executor_free(world->hosts[i].executor);
    }
    disk_free(world->broker_disk);
    disk_free(world->backup);
    invariants_free(world->invariants);
    agenda_release(&world->agenda);
    free(world->batches);
    free(world->sites);
    free(world->by_name);
    free(world->hosts);
    free(world->commands);
    free(world);
}

/* The place in by_name of the first site that is not before `name`. */
static int place_of(const struct world *world, const char *name, int n_sites)
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
    int place = place_of(world, name, world->n_sites);

    return place < world->n_sites &&
                   !strcmp(world->sites[world->by_name[place]].config->name, name)
               ? world->by_name[place]
               : -1;
}

static void list_site(struct world *world, int index)
{
    world->by_name =
        mem_grow(world->by_name, (size_t)index + 1, sizeof world->by_name[0]);
    int place = place_of(world, world->sites[index].config->name, index);

    memmove(&world->by_name[place + 1], &world->by_name[place],
            (size_t)(index - place) * sizeof world->by_name[0]);
    world->by_name[place] = index;
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

int world_add_site(struct world *world, const struct site_config *config)
{
    int index = world->n_sites++;

    world->sites =
        mem_grow(world->sites, (size_t)world->n_sites, sizeof world->sites[0]);
    world->batches =
        mem_grow(world->batches, (size_t)index + 2, sizeof world->batches[0]);
    world->batches[index + 1] = (struct world_batch){.is_open = false};
    effects_init(&world->batches[index + 1].effects);
    world->sites[index] =
        (struct world_site){.config = config,
                            .disk = disk_new(),
                            .roles = roles_of(world->broker_config, config->name),
                            .wake_ms = INT64_MAX};
    list_site(world, index);
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms,
                                                    .kind = AGENDA_RESTART,
                                                    .to = index + 1});
    world_host_add_all(world, index);
    return index;
}

static bool has_faults(const struct world_options *options)
{
    return options->loss_in_10000 || options->repeat_in_10000 || options->delay_ms ||
           options->delay_max_ms || options->crash_in_10000;
}

void world_state_note_fault(struct world *world, int64_t until_ms)
{
    if (until_ms > world->calm_ms) {
        world->calm_ms = until_ms;
    }
}

void world_fault_set_random(struct world *world, const struct world_options *options)
{
    struct world_options old = world->options;

    world->options = *options;
    world->options.seed = old.seed;
    world->options.start_ms = old.start_ms;
    world->options.is_calm = old.is_calm;
    if (has_faults(options)) {
        world_state_note_fault(world, INT64_MAX);
    } else if (has_faults(&old)) {
        world->calm_ms = world->now_ms + old.delay_ms + old.delay_max_ms;
    }
}

/* ---- looking in
 * ---------------------------------------------------------------------- */

bool world_is_settled(struct world *world, char *text, int size)
{
    struct invariants_site *sites =
        mem_alloc((size_t)world->n_sites + 1, sizeof sites[0]);
    struct invariants_view view = {world->broker, sites, world->n_sites};
    struct invariants_text said = {text, size};
    bool is_settled;

    for (int i = 0; i < world->n_sites; i++) {
        sites[i] =
            (struct invariants_site){world->sites[i].config, world->sites[i].site};
    }
    is_settled = invariants_settled(world->invariants, &view, &said);
    free(sites);
    return is_settled;
}

int64_t world_now_ms(const struct world *world)
{
    return world->now_ms;
}

const char *world_violation(const struct world *world)
{
    return world->violation;
}

const struct broker *world_broker(const struct world *world)
{
    return world->broker;
}

const struct site *world_site(const struct world *world, int site)
{
    return world->sites[site].site;
}

struct world_counts world_counts(const struct world *world)
{
    return world->counts;
}

void world_set_watch(struct world *world, const struct world_watch *watch)
{
    world->watch = *watch;
}

void world_set_patience(struct world *world, int64_t patience_ms)
{
    invariants_set_patience(world->invariants, patience_ms);
}

void world_set_trace(struct world *world, world_trace_fn fn, void *arg)
{
    world->trace = fn;
    world->trace_arg = arg;
}
