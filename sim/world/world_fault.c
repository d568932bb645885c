/* SPDX-License-Identifier: Apache-2.0 */
/* world_fault.c: crashes, partitions, restoring stores from a backup, hosts that fail,
 * and random faults. */
#include "sim/world/world_daemon.h"

static bool has_faults(const struct world_options *options)
{
    return options->loss_in_10000 || options->repeat_in_10000 || options->delay_ms ||
           options->delay_max_ms || options->crash_in_10000 ||
           options->host_fail_in_10000;
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
        world->calm_ms =
            world->now_ms + old.delay_ms + old.delay_max_ms + old.host_down_max_ms;
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

/* ---- copies of stores */

static struct disk **disk_of(struct world *world, int site)
{
    return site < 0 ? &world->broker_disk : &world->sites[site].disk;
}

static struct disk **backup_of(struct world *world, int site)
{
    return site < 0 ? &world->backup : &world->sites[site].backup;
}

void world_fault_backup(struct world *world, int site)
{
    struct disk **backup = backup_of(world, site);

    disk_free(*backup);
    *backup = disk_copy(*disk_of(world, site));
}

struct restoring {
    struct world *world;
    const struct site_config *config;
};

static void restore_row(void *arg, const struct row *row)
{
    const struct restoring *restoring = arg;
    struct world *world = restoring->world;
    struct invariants_text text = WORLD_TEXT(world);

    (void)invariant_job_stored(world->invariants, restoring->config, row, world->now_ms,
                               &text);
}

void world_fault_restore(struct world *world, int site, int64_t down_ms)
{
    struct disk **disk = disk_of(world, site);

    if (!*backup_of(world, site)) {
        return;
    }
    world_daemon_crash(world, site + 1, down_ms);
    disk_free(*disk);
    *disk = disk_copy(*backup_of(world, site));
    if (site < 0) {
        invariants_restored(world->invariants);
        return;
    }
    struct restoring restoring = {world, world->sites[site].config};

    invariant_job_restored(world->invariants, restoring.config->name, false);
    disk_load(*disk, restore_row, &restoring);
    invariant_job_restored(world->invariants, restoring.config->name, true);
}

/* ---- hosts */

bool world_fault_fail_host(struct world *world, int site, const char *host,
                           enum executor_fault fault, int64_t down_ms)
{
    int machine = world_state_find_host(world, site, host);

    if (machine < 0) {
        return false;
    }
    world_state_note_fault(world, world->now_ms + down_ms);
    world->counts.host_faults++;
    executor_fail(world->hosts[machine].executor, fault, world->now_ms);
    if (fault != EXECUTOR_FAULT_GUARD) {
        world_state_return_host(world, machine, down_ms);
    }
    return true;
}

bool world_fault_slow_host(struct world *world, int site, const char *host,
                           int64_t delay_ms)
{
    int machine = world_state_find_host(world, site, host);

    if (machine < 0) {
        return false;
    }
    world_state_note_fault(world, world->now_ms + delay_ms);
    world->hosts[machine].delay_ms = delay_ms;
    return true;
}
