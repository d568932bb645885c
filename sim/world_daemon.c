/* SPDX-License-Identifier: Apache-2.0 */
/* world_daemon.c: a daemon's batch as STYLE calls step and shell: step the event, step
 * a tick, commit all rows, then send. A crash may fall before the commit (nothing of
 * the batch was), or after it, behind any of the sends. After each the invariants are
 * checked. */
#include "sim/world_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void world_violate(struct world *world, const char *format, ...)
{
    va_list args;
    int n;

    if (world->violation[0]) {
        return;
    }
    n = snprintf(world->violation, sizeof world->violation,
                 "seed %" PRIu64 " at %" PRId64 " ms: ", world->options.seed,
                 world->now_ms);
    va_start(args, format);
    vsnprintf(world->violation + n, sizeof world->violation - (size_t)n, format, args);
    va_end(args);
}

bool world_is_up(const struct world *world, int daemon)
{
    return daemon == BROKER ? world->broker != NULL
                            : world->sites[daemon - 1].site != NULL;
}

const char *world_daemon_name(const struct world *world, int daemon)
{
    return daemon == BROKER ? "broker" : world->sites[daemon - 1].config->name;
}

static void store_all(struct world *world, int daemon, const struct effects *effects)
{
    struct disk *disk =
        daemon == BROKER ? world->broker_disk : world->sites[daemon - 1].disk;

    for (int i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];

        if (effect->kind != EFFECT_STORE) {
            continue;
        }
        disk_store(disk, &effect->row);
        if (effect->row.kind == ROW_HISTORY &&
            effect->row.history.event == HISTORY_ACTIVE) {
            world->counts.handovers++;
        }
    }
}

static void trace_line(struct world *world, int daemon, const char *line)
{
    char text[1024];

    if (!world->trace) {
        return;
    }
    snprintf(text, sizeof text, "%s: %s", world_daemon_name(world, daemon), line);
    world->trace(world->trace_arg, world->now_ms, text);
}

static void carry_out(struct world *world, int daemon, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SEND:
        world_send(world, daemon, &effect->send.to, &effect->send.msg);
        break;
    case EFFECT_WRITE:
        agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms,
                                                        .kind = AGENDA_WRITTEN,
                                                        .to = daemon,
                                                        .number = effect->write.job});
        break;
    case EFFECT_LOG:
        trace_line(world, daemon, effect->log.text);
        break;
    case EFFECT_STORE:     /* on disk already */
    case EFFECT_RECONNECT: /* nothing is queued here that a new socket would lose */
    case EFFECT_HISTORY:   /* nobody asks for it */
    case EFFECT_SNAPSHOT:
        break;
    }
}

void world_stop_daemon(struct world *world, int daemon)
{
    if (daemon == BROKER) {
        broker_free(world->broker);
        world->broker = NULL;
    } else {
        site_free(world->sites[daemon - 1].site);
        world->sites[daemon - 1].site = NULL;
    }
}

void world_crash_daemon(struct world *world, int daemon, int64_t down_ms)
{
    if (!world_is_up(world, daemon)) {
        return;
    }
    world->counts.crashes++;
    trace_line(world, daemon, "crash");
    world_stop_daemon(world, daemon);
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms + down_ms,
                                                    .kind = AGENDA_RESTART,
                                                    .to = daemon});
}

static void check(struct world *world)
{
    struct invariants_site *sites =
        mem_alloc((size_t)world->n_sites + 1, sizeof sites[0]);
    struct executor **executors =
        mem_alloc((size_t)world->n_hosts + 1, sizeof executors[0]);
    struct invariants_view view = {world->broker, sites, world->n_sites};
    char text[512];

    for (int i = 0; i < world->n_hosts; i++) {
        executors[i] = world->hosts[i].executor;
    }
    for (int i = 0; i < world->n_sites; i++) {
        sites[i] = (struct invariants_site){
            world->sites[i].config, world->sites[i].site,
            executors + world->sites[i].first_host, world->sites[i].n_hosts};
    }
    if (!invariants_check(world->invariants, &view, text, sizeof text)) {
        world_violate(world, "%s", text);
    }
    free(executors);
    free(sites);
}

/* Commits and sends, or dies on the way. */
static void finish_batch(struct world *world, int daemon, struct effects *effects)
{
    bool is_crash = rng_below(&world->rng, 10000) < world->options.crash_in_10000;
    int n_done = effects->count;

    if (is_crash && rng_percent(&world->rng, 50)) {
        n_done = 0; /* before the commit */
    } else {
        store_all(world, daemon, effects);
        if (is_crash) {
            n_done = (int)rng_below(&world->rng, effects->count + 1);
        }
    }
    for (int i = 0; i < n_done; i++) {
        carry_out(world, daemon, &effects->items[i]);
    }
    if (is_crash) {
        world_crash_daemon(world, daemon,
                           rng_below(&world->rng, world->options.down_max_ms + 1));
    }
    check(world);
}

void world_step(struct world *world, int daemon, const struct event *event)
{
    struct event tick = {.kind = EVENT_TICK, .now_ms = world->now_ms};
    struct effects effects;

    if (!world_is_up(world, daemon)) {
        return;
    }
    world->counts.steps++;
    if (++world->steps_now > STEPS_AT_ONE_TIME) {
        world_violate(world, "%s never comes to rest",
                      world_daemon_name(world, daemon));
    }
    effects_init(&effects);
    if (daemon == BROKER) {
        if (event) {
            broker_step(world->broker, event, &effects);
        }
        broker_step(world->broker, &tick, &effects);
    } else {
        if (event) {
            site_step(world->sites[daemon - 1].site, event, &effects);
        }
        site_step(world->sites[daemon - 1].site, &tick, &effects);
    }
    finish_batch(world, daemon, &effects);
    effects_release(&effects);
}

static void load_broker(void *arg, const struct row *row)
{
    broker_load(arg, row);
}

static void load_site(void *arg, const struct row *row)
{
    site_load(arg, row);
}

void world_start_daemon(struct world *world, int daemon)
{
    struct effects effects;

    effects_init(&effects);
    if (daemon == BROKER) {
        world->broker = broker_new(world->broker_config);
        disk_load(world->broker_disk, load_broker, world->broker);
        broker_start(world->broker, world->now_ms, &effects);
    } else {
        struct world_site *site = &world->sites[daemon - 1];

        site->site = site_new(site->config);
        disk_load(site->disk, load_site, site->site);
        site_start(site->site, world->now_ms, &effects);
    }
    finish_batch(world, daemon, &effects);
    effects_release(&effects);
    for (int i = 0; daemon != BROKER && i < world->sites[daemon - 1].n_hosts; i++) {
        executor_hello(world->hosts[world->sites[daemon - 1].first_host + i].executor,
                       world->now_ms);
    }
}
