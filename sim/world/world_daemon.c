/* SPDX-License-Identifier: Apache-2.0 */
/* world_daemon.c: a daemon's batch, as in a real shell: step the events, step a tick,
 * commit all rows, then send. A crash may come before the commit, so that the batch is
 * lost, or after it and any of the sends. The invariants are checked after each batch.
 */
#include "sim/world/world_daemon.h"
#include "sim/world/world_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/world/world_net.h"
#include "sim/world/world_slurm.h"

/* It leads, and another broker does, too: what it stores is lost. */
static bool is_deposed(const struct world *world, int daemon)
{
    return daemon == BROKER && world->deposed.is_in_place;
}

static void store_all(struct world *world, int daemon, const struct effects *effects)
{
    struct disk *disk =
        daemon == BROKER ? world->broker_disk : world->sites[daemon - 1].disk;

    invariants_set_now(world->invariants, world->now_ms);
    for (int i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];

        if (effect->kind != EFFECT_STORE) {
            continue;
        }
        disk_store(disk, &effect->row);
        if (is_deposed(world, daemon)) {
            continue;
        }
        if (effect->row.kind == ROW_CPUS) {
            world_host_set_cpus(world, daemon - 1, &effect->row.cpus);
        }
        struct invariants_text text = WORLD_TEXT(world);
        world_state_check(
            world,
            invariant_ledger_stored(
                world->invariants, daemon - 1,
                daemon == BROKER ? NULL : world->sites[daemon - 1].config->name,
                &effect->row, world->now_ms, &text),
            &text);
        int64_t hour_ms = world->broker_config->hour_ms; /* all have the same */
        world_state_check(world,
                          invariant_hours_stored(world->invariants, daemon == BROKER,
                                                 &effect->row, hour_ms, &text),
                          &text);
        if (daemon != BROKER) {

            world_state_check(world,
                              invariant_job_stored(world->invariants,
                                                   world->sites[daemon - 1].config,
                                                   &effect->row, world->now_ms, &text),
                              &text);
        }
        if (world->watch.stored) {
            world->watch.stored(world->watch.arg, daemon - 1, &effect->row,
                                world->now_ms);
        }
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
    snprintf(text, sizeof text, "%s: %s", world_state_daemon_name(world, daemon), line);
    world->trace(world->trace_arg, world->now_ms - world->options.start_ms, text);
}

static void carry_out(struct world *world, int daemon, const struct effect *effect,
                      struct sent *sent)
{
    switch (effect->kind) {
    case EFFECT_SEND:
        world_net_send(world, daemon, effect, sent);
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
    case EFFECT_STORE:     /* already committed */
    case EFFECT_RECONNECT: /* there is no socket */
    case EFFECT_HISTORY:   /* no simulated client requests it */
    case EFFECT_SNAPSHOT:
    case EFFECT_RELOAD: /* see world_reload_site */
    case EFFECT_STEP_DOWN:
        break;
    }
}

void world_daemon_stop(struct world *world, int daemon)
{
    if (daemon == BROKER) {
        broker_free(world->broker);
        world->broker = NULL;
    } else {
        if (world->sites[daemon - 1].slurm != NULL) {
            world_slurm_stop(world, daemon - 1);
        }
        site_free(world->sites[daemon - 1].site);
        world->sites[daemon - 1].site = NULL;
    }
    world_state_note_wake(world, daemon);
}

void world_daemon_crash(struct world *world, int daemon, int64_t down_ms)
{
    struct world_batch *batch = &world->batches[daemon];

    if (!world_state_is_up(world, daemon)) {
        return;
    }
    world->counts.crashes++;
    trace_line(world, daemon, "crash");
    if (world->watch.crashed) {
        world->watch.crashed(world->watch.arg, daemon - 1, world->now_ms);
    }
    world_state_note_fault(world, world->now_ms + down_ms);
    *(daemon == BROKER ? &world->broker_back_ms : &world->sites[daemon - 1].back_ms) =
        world->now_ms + down_ms;
    world_daemon_stop(world, daemon);
    agenda_release_sent(&world->agenda, batch->sent);
    batch->sent = NULL;
    batch->is_open = batch->wants_tick = false;
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms + down_ms,
                                                    .kind = AGENDA_RESTART,
                                                    .to = daemon});
}

static void check(struct world *world, int daemon, bool is_restarted)
{
    struct invariants_text text = WORLD_TEXT(world);

    if (!world_state_is_up(world, daemon) || is_deposed(world, daemon)) {
        return;
    }
    if (daemon != BROKER) {
        struct invariants_site site = {world->sites[daemon - 1].config,
                                       world->sites[daemon - 1].site};

        world_state_check(
            world, invariants_check_site(world->invariants, &site, is_restarted, &text),
            &text);
        return;
    }
    struct invariants_view view = world_state_view(world);

    world_state_check(world,
                      invariants_check_broker(world->invariants, &view, world->calm_ms,
                                              world->now_ms, &text),
                      &text);
    free(view.sites);
}

/* Commits and sends, or crashes in between. */
static void finish_batch(struct world *world, int daemon, bool is_restarted)
{
    struct world_batch *batch = &world->batches[daemon];
    struct effects *effects = world_state_effects(world, daemon);
    struct sent *sent = batch->sent;
    bool is_crash = rng_below(&world->rng, 10000) < world->options.crash_in_10000 &&
                    !is_deposed(world, daemon);
    int n_done = effects->count;

    effects_trim(effects);
    /* its messages may begin the next batch */
    batch->sent = NULL;
    batch->is_open = false;
    batch->n_events = 0;
    if (is_crash && rng_percent(&world->rng, 50)) {
        n_done = 0; /* before the commit */
    } else {
        store_all(world, daemon, effects);
        if (is_crash) {
            n_done = (int)rng_below(&world->rng, effects->count + 1);
        }
    }
    for (int i = 0; i < n_done; i++) {
        carry_out(world, daemon, &effects->items[i], sent);
    }
    if (is_crash) {
        world_daemon_crash(world, daemon,
                           rng_below(&world->rng, world->options.down_max_ms + 1));
    }
    agenda_release_sent(&world->agenda, sent);
    world_state_note_wake(world, daemon);
    check(world, daemon, is_restarted);
}

static void step(struct world *world, int daemon, const struct event *event)
{
    struct effects *effects = world_state_effects(world, daemon);

    world->counts.steps++;
    if (daemon == BROKER) {
        broker_step(world->broker, event, effects);
    } else {
        site_step(world->sites[daemon - 1].site, event, effects);
    }
}

void world_daemon_step(struct world *world, int daemon, const struct event *event)
{
    struct world_batch *batch = &world->batches[daemon];

    if (world_state_is_up(world, daemon)) {
        batch->is_open = true;
        batch->n_events++;
        step(world, daemon, event);
    }
}

void world_daemon_bound_batch(struct world *world, int daemon)
{
    if (world->options.batch_max > 0 &&
        world->batches[daemon].n_events >= world->options.batch_max) {
        world_daemon_end_batch(world, daemon, true);
    }
}

void world_daemon_take(struct world *world, int daemon, const struct event *event)
{
    world_daemon_step(world, daemon, event);
    world_daemon_bound_batch(world, daemon);
}

void world_daemon_end_batch(struct world *world, int daemon, bool with_tick)
{
    struct world_batch *batch = &world->batches[daemon];

    if (!world_state_is_up(world, daemon) || (!with_tick && !batch->is_open)) {
        return;
    }
    if (++world->batches_now > BATCHES_AT_ONE_TIME) {
        world_state_violate(world, "%s never becomes idle",
                            world_state_daemon_name(world, daemon));
    }
    batch->wants_tick = !with_tick;
    if (with_tick) {
        step(world, daemon,
             &(struct event){.kind = EVENT_TICK,
                             .now_ms = world->now_ms,
                             .utc_offset_ms = world->options.utc_offset_ms});
    }
    finish_batch(world, daemon, false);
}

void world_daemon_reload(struct world *world, int daemon)
{
    world_daemon_end_batch(world, daemon, false);
    if (!world_state_is_up(world, daemon)) {
        return; /* it restarts with the new one */
    }
    world->batches[daemon].is_open = true;
    if (daemon == BROKER) {
        broker_reload(world->broker, world->broker_config, world->now_ms);
    } else {
        site_reload(world->sites[daemon - 1].site, world->sites[daemon - 1].config,
                    world->now_ms, world_state_effects(world, daemon));
    }
    world_daemon_end_batch(world, daemon, true);
}

static void load_broker(void *arg, const struct row *row)
{
    broker_load(arg, row);
}

static void load_site(void *arg, const struct row *row)
{
    site_load(arg, row);
}

struct event world_daemon_client_event(struct world *world, const char *user,
                                       const struct msg *msg)
{
    return (struct event){.kind = EVENT_MESSAGE,
                          .now_ms = world->now_ms,
                          .nonce = rng_next(&world->nonces) >> 1,
                          .msg = msg,
                          .from = {.kind = PEER_CLIENT,
                                   .name = user,
                                   .link = 1,
                                   .roles = ROLE_ADMIN,
                                   .uid = 1000,
                                   .gid = 1000}};
}

/* Reconnects the users of interactive jobs after a restart of their site. */
static void return_users(struct world *world, int site)
{
    for (int i = 0;
         world_state_is_up(world, site + 1) && /* unless it has crashed again */
         i < site_count_jobs(world->sites[site].site);
         i++) {
        struct site_job job;
        char id[40];
        struct msg msg = {.kind = MSG_STREAM_DOWN, .site = ""};
        struct event event = world_daemon_client_event(world, "user", &msg);

        site_job_at(world->sites[site].site, i, &job);
        if (job.is_interactive && job.state != JOB_DONE && job.state != JOB_EXIT) {
            snprintf(id, sizeof id, "%" PRIu64, job.id);
            msg.stream_down = (struct msg_stream_down){.run.site = "",
                                                       .job = id,
                                                       .bytes = (const uint8_t *)"",
                                                       .is_again = true};
            world_daemon_step(world, site + 1, &event);
        }
    }
}

void world_daemon_start(struct world *world, int daemon)
{
    struct effects *effects = world_state_effects(world, daemon);

    if (daemon == BROKER) {
        world->broker = broker_new(world->broker_config);
        disk_load(world->broker_disk, load_broker, world->broker);
        broker_start(world->broker, world->now_ms, effects);
    } else {
        struct world_site *site = &world->sites[daemon - 1];

        site->is_restored = false;
        site->site = site_new(site->config);
        disk_load(site->disk, load_site, site->site);
        site_start(site->site, world->now_ms, effects);
    }
    finish_batch(world, daemon, true);
    if (daemon != BROKER) {
        return_users(world, daemon - 1);
    }
    if (daemon != BROKER && world->sites[daemon - 1].slurm != NULL) {
        if (world_state_is_up(world, daemon)) {
            world_slurm_start(world, daemon - 1);
        }
        return;
    }
    for (int i = 0; daemon != BROKER && i < world->sites[daemon - 1].n_machines; i++) {
        executor_hello(world->hosts[world->sites[daemon - 1].machines[i]].executor,
                       world->now_ms);
    }
}
