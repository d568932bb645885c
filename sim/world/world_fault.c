/* SPDX-License-Identifier: Apache-2.0 */
/* world_fault.c: crashes, partitions, restoring stores from a backup, hosts that fail,
 * and random faults. */
#include <string.h>

#include "base/value.h"
#include "sim/world/world_daemon.h"
#include "sim/world/world_deposed.h"
#include "sim/world/world_host.h"

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

void world_fault_split_brain(struct world *world, int64_t for_ms)
{
    world_deposed_begin(world, for_ms);
}

void world_fault_partition(struct world *world, int site, int64_t for_ms)
{
    world->counts.partitions++;
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
    world->counts.restored += site >= 0;
    world->counts.broker_restored += site < 0;
    world_daemon_crash(world, site + 1, down_ms);
    disk_free(*disk);
    *disk = disk_copy(*backup_of(world, site));
    if (site < 0) {
        invariants_restored(world->invariants);
        return;
    }
    world->sites[site].is_restored = true;
    world_host_restore_cpus(world, site);
    struct restoring restoring = {world, world->sites[site].config};

    invariant_job_restored(world->invariants, restoring.config->name, false);
    disk_load(*disk, restore_row, &restoring);
    invariant_job_restored(world->invariants, restoring.config->name, true);
}

/* ---- leases of a provider that has lost its ledger */

/* What an administrator makes sure of before `lease recover` (docs/operations.md). */
static bool may_recover(const struct world *world, int site,
                        const struct row_lease *lease)
{
    for (int i = 0; i < lease->n_hosts; i++) {
        const char *host = lease->hosts[i].host;
        int machine = world_state_find_host(world, site, host);

        if (machine >= 0 && !executor_is_connected(world->hosts[machine].executor) &&
            invariant_host_is_used(world->invariants, lease->provider, host,
                                   lease->id)) {
            return false;
        }
    }
    return true;
}

static void recover(struct world *world, const char *lease)
{
    struct msg msg = {
        .kind = MSG_SET_DRAIN,
        .site = "",
        .set_drain = {
            .request = 1, .scope = DRAIN_LEASE, .name = lease, .is_recovery = true}};

    world->counts.recovered +=
        world_client_ask(world, BROKER - 1, "admin", &msg, NULL, NULL);
}

/* Runs that its journal does not have (`sublet runs --orphans`). */
static void decide_orphans(struct world *world, int site, bool is_adopted)
{
    const struct msg_query query = {.kind = QUERY_RUNS};
    const char *next = "";
    struct arena arena;

    arena_init(&arena);
    const struct value *runs = value_find(
        site_view(world->sites[site].site, &arena, &query, world->now_ms, &next),
        "runs");
    for (const struct value *row = runs->first; row; row = row->next) {
        struct msg msg = {
            .kind = MSG_ORPHAN,
            .site = "",
            .orphan = {.request = 1,
                       .order = is_adopted ? ORPHAN_ADOPT : ORPHAN_END,
                       .attempt = (uint64_t)value_find(row, "attempt")->number,
                       .host = value_find(row, "at")->text}};

        world->counts.orphans +=
            world_client_ask(world, site, "root", &msg, NULL, NULL);
    }
    arena_release(&arena);
}

/* A host that is away may have a run that nobody else knows (docs/operations.md). */
static bool are_all_connected(const struct world *world)
{
    for (int i = 0; i < world->n_hosts; i++) {
        if (!world->hosts[i].is_absent &&
            !executor_is_connected(world->hosts[i].executor)) {
            return false;
        }
    }
    return true;
}

/* `sublet runs --accept-loss`: jobs that waited for this may start. */
void world_fault_accept_loss(struct world *world, int site)
{
    struct msg msg = {
        .kind = MSG_ORPHAN,
        .site = "",
        .orphan = {.request = 1, .order = ORPHAN_ACCEPT_LOSS, .host = ""}};

    if (world_state_is_up(world, site + 1) && are_all_connected(world)) {
        world_client_ask(world, site, "root", &msg, NULL, NULL);
    }
}

void world_fault_recover(struct world *world, int site, bool is_adopted)
{
    if (world_state_is_up(world, site + 1)) {
        decide_orphans(world, site, is_adopted);
    }
    for (int i = 0; world->broker && i < broker_count_leases(world->broker); i++) {
        const char *id = broker_lease_id(world->broker, i);
        struct row_lease lease;

        if (broker_lease_behind(world->broker, id) != 0 &&
            broker_find_lease(world->broker, id, &lease) &&
            !strcmp(lease.provider, world->sites[site].config->name) &&
            may_recover(world, site, &lease)) {
            recover(world, id);
        }
    }
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
    world_state_count_fault(world, fault);
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
    world->counts.slowed += delay_ms > 0;
    world->hosts[machine].delay_ms = delay_ms;
    return true;
}
