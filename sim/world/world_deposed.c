/* SPDX-License-Identifier: Apache-2.0 */
/* world_deposed.c: see world_deposed.h. */
#include "sim/world/world_deposed.h"

#include "sim/world/world_daemon.h"

void world_deposed_swap(struct world *world)
{
    struct world_deposed *deposed = &world->deposed;
    struct broker *broker = world->broker;
    struct disk *disk = world->broker_disk;
    struct world_batch batch = world->batches[BROKER];

    world->broker = deposed->broker;
    world->broker_disk = deposed->disk;
    world->batches[BROKER] = deposed->batch;
    deposed->broker = broker;
    deposed->disk = disk;
    deposed->batch = batch;
    deposed->is_in_place = !deposed->is_in_place;
}

void world_deposed_begin(struct world *world, int64_t for_ms)
{
    struct world_deposed *deposed = &world->deposed;

    if (!world->broker || deposed->exists) {
        return;
    }
    world_daemon_end_batch(world, BROKER, false);
    if (!world->broker) {
        return; /* it has crashed */
    }
    world->counts.split_brains++;
    world_state_note_fault(world, world->now_ms + for_ms);
    *deposed =
        (struct world_deposed){.exists = true, .disk = disk_copy(world->broker_disk)};
    world_deposed_swap(world); /* the new one has the copy, and the place for good */
    deposed->is_in_place = false;
    for (int i = 0; i < world->n_sites; i++) {
        world->sites[i].is_with_deposed = true;
        agenda_add(&world->agenda,
                   (struct agenda_item){.at_ms = world->now_ms +
                                                 rng_below(&world->rng, for_ms + 1),
                                        .kind = AGENDA_LEAVE_DEPOSED,
                                        .to = i});
    }
    agenda_add(&world->agenda, (struct agenda_item){.at_ms = world->now_ms + for_ms,
                                                    .kind = AGENDA_DEPOSED_END});
    world_daemon_start(world, BROKER);
}

void world_deposed_leave(struct world *world, int site)
{
    world->sites[site].is_with_deposed = false;
}

void world_deposed_end(struct world *world)
{
    struct world_deposed *deposed = &world->deposed;

    if (deposed->exists) {
        broker_free(deposed->broker);
        disk_free(deposed->disk);
        agenda_release_sent(&world->agenda, deposed->batch.sent);
        *deposed = (struct world_deposed){.exists = false};
    }
}

int64_t world_deposed_wake_ms(const struct world *world)
{
    return world->deposed.exists ? broker_wake_ms(world->deposed.broker) : INT64_MAX;
}

bool world_deposed_end_batch(struct world *world)
{
    const struct world_batch *batch = &world->deposed.batch;
    bool is_open = batch->is_open;

    if (!world->deposed.exists || (!is_open && !batch->wants_tick &&
                                   world_deposed_wake_ms(world) > world->now_ms)) {
        return false;
    }
    world_deposed_swap(world);
    world_daemon_end_batch(world, BROKER, !is_open);
    world_deposed_swap(world);
    return true;
}
