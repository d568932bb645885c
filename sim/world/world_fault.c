/* SPDX-License-Identifier: Apache-2.0 */
/* world_fault.c: crashes, partitions, restoring the broker from a backup, and random
 * faults. */
#include "sim/world/world_daemon.h"

static bool has_faults(const struct world_options *options)
{
    return options->loss_in_10000 || options->repeat_in_10000 || options->delay_ms ||
           options->delay_max_ms || options->crash_in_10000;
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

void world_fault_crash(struct world *world, int site, int64_t down_ms)
{
    world_daemon_end_batch(world, site + 1, false);
    world_daemon_crash(world, site + 1, down_ms);
}

void world_fault_partition(struct world *world, int site, int64_t for_ms)
{
    world->sites[site].cut_until_ms = world->now_ms + for_ms;
    world_state_note_fault(world, world->now_ms + for_ms);
}

void world_fault_backup_broker(struct world *world)
{
    disk_free(world->backup);
    world->backup = disk_copy(world->broker_disk);
}

void world_fault_restore_broker(struct world *world, int64_t down_ms)
{
    world_daemon_crash(world, BROKER, down_ms);
    disk_free(world->broker_disk);
    world->broker_disk = disk_copy(world->backup);
    invariants_restored(world->invariants);
}
