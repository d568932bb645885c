/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: the loop: at each instant, delivers what is due and ends the batches. */
#include "sim/world/world.h"

#include <stdlib.h>

#include "sim/world/world_daemon.h"
#include "sim/world/world_deposed.h"
#include "sim/world/world_host.h"
#include "sim/world/world_slurm.h"

static struct peer sender(const struct world *world, const struct agenda_item *item)
{
    struct peer from = {.kind = PEER_BROKER, .name = "broker", .link = 1};

    if (item->kind == AGENDA_FROM_HOST) {
        from.kind = PEER_HOST;
        from.name = executor_name(world->hosts[item->from].executor);
        from.link = (uint64_t)item->from + 1;
    } else if (item->from != BROKER) {
        from.kind = PEER_SITE;
        from.name = world_state_daemon_name(world, item->from);
        from.link = (uint64_t)item->from;
        from.roles = world->sites[item->from - 1].roles;
    }
    return from;
}

static void deliver(struct world *world, const struct agenda_item *item)
{
    const struct msg *msg = item->msg;

    if (item->kind == AGENDA_TO_HOST &&
        world->sites[world->hosts[item->to].site].slurm != NULL) {
        world_slurm_take(world, world->hosts[item->to].site,
                         executor_name(world->hosts[item->to].executor), msg);
        return;
    }
    if (item->kind == AGENDA_TO_HOST) {
        executor_message(world->hosts[item->to].executor, msg, world->now_ms);
        return;
    }
    if (item->is_to_deposed && !world->deposed.exists) {
        return;
    }
    if (item->is_to_deposed) {
        world_deposed_swap(world);
    }
    world_daemon_take(world, item->to,
                      &(struct event){.kind = EVENT_MESSAGE,
                                      .now_ms = world->now_ms,
                                      .from = sender(world, item),
                                      .msg = msg});
    if (item->is_to_deposed) {
        world_deposed_swap(world);
    }
}

static void happen(struct world *world, const struct agenda_item *item)
{
    struct event written = {.kind = EVENT_WRITTEN, .now_ms = world->now_ms};

    switch (item->kind) {
    case AGENDA_MESSAGE:
    case AGENDA_TO_HOST:
    case AGENDA_FROM_HOST:
        deliver(world, item);
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
    case AGENDA_HOST_RETURN:
        if (world->hosts[item->to].back_ms <= world->now_ms) {
            executor_return(world->hosts[item->to].executor, world->now_ms);
        }
        break;
    case AGENDA_LEAVE_DEPOSED:
        world_deposed_leave(world, item->to);
        break;
    case AGENDA_DEPOSED_END:
        world_deposed_end(world);
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

static int64_t wake_ms(const struct world *world, int daemon)
{
    if (daemon != BROKER) {
        return world->sites[daemon - 1].wake_ms;
    }
    return world->broker ? broker_wake_ms(world->broker) : INT64_MAX;
}

/* ---- one instant */

static void take_due(struct world *world)
{
    struct agenda_item item;

    while (!world->violation[0] && agenda_next_ms(&world->agenda) <= world->now_ms &&
           agenda_take(&world->agenda, &item)) {
        happen(world, &item);
        agenda_release_sent(&world->agenda, item.sent);
    }
}

/* Ends the batches of the sites, then that of the broker. True if there was any. */
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
    return world_deposed_end_batch(world) || is_any;
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
    } while (!world->violation[0] &&
             (end_batches(world) || tick_broker(world) || world_slurm_step(world)));
}

static int64_t next_instant(const struct world *world)
{
    int64_t least_ms = agenda_next_ms(&world->agenda);

    if (world_deposed_wake_ms(world) < least_ms) {
        least_ms = world_deposed_wake_ms(world);
    }
    if (world_slurm_wake_ms(world) < least_ms) {
        least_ms = world_slurm_wake_ms(world);
    }
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

/* ---- making one */

struct world *world_new(const struct world_options *options,
                        const struct broker_config *broker)
{
    struct world *world = mem_alloc(1, sizeof *world);

    world->options = *options;
    world->now_ms = options->start_ms;
    rng_init(&world->rng, options->seed);
    rng_init(&world->nonces, ~options->seed);
    world->batches = mem_alloc(1, sizeof world->batches[0]);
    world->broker_config = broker;
    world->broker_disk = disk_new();
    world->invariants = invariants_new();
    executor_effects_init(&world->host_effects);
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
    world_deposed_end(world);
    for (int i = 0; i <= world->n_sites; i++) {
        if (world_state_is_up(world, i)) {
            world_daemon_stop(world, i);
        }
        agenda_release_sent(&world->agenda, world->batches[i].sent);
    }
    for (int i = 0; i < world->n_sites; i++) {
        disk_free(world->sites[i].disk);
        disk_free(world->sites[i].backup);
        world_slurm_free(world->sites[i].slurm);
        free(world->sites[i].machines);
    }
    world->watch =
        (struct world_watch){.arg = NULL}; /* runs that end here are not reported */
    for (int i = 0; i < world->n_hosts; i++) {
        executor_free(world->hosts[i].executor);
    }
    executor_effects_release(&world->host_effects);
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

int world_add_site(struct world *world, const struct site_config *config)
{
    int index = world->n_sites++;

    world->sites =
        mem_grow(world->sites, (size_t)world->n_sites, sizeof world->sites[0]);
    world->batches =
        mem_grow(world->batches, (size_t)index + 2, sizeof world->batches[0]);
    world->batches[index + 1] = (struct world_batch){.is_open = false};
    world->sites[index] =
        (struct world_site){.config = config, .disk = disk_new(), .wake_ms = INT64_MAX};
    world_state_list_site(world, index);
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms,
                                                    .kind = AGENDA_RESTART,
                                                    .to = index + 1});
    world_host_add_all(world, index);
    if (config->is_slurm) {
        world_slurm_add(world, index);
    }
    return index;
}

/* ---- looking in */

bool world_is_settled(struct world *world, char *text, int size)
{
    struct invariants_view view = world_state_view(world);
    struct invariants_text reason = {text, size};
    bool is_settled = invariants_settled(world->invariants, &view, &reason);

    free(view.sites);
    return is_settled;
}

int64_t world_now_ms(const struct world *world)
{
    return world->now_ms;
}

int64_t world_back_ms(const struct world *world, int site)
{
    return world_state_is_up(world, site + 1) ? world->now_ms
           : site < 0                         ? world->broker_back_ms
                                              : world->sites[site].back_ms;
}

const char *world_violation(const struct world *world)
{
    return world->violation;
}

const struct broker *world_broker(const struct world *world)
{
    return world->broker;
}

struct site *world_site(const struct world *world, int site)
{
    return world->sites[site].site;
}

bool world_site_is_restored(const struct world *world, int site)
{
    return world->sites[site].is_restored;
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
