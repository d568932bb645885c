/* SPDX-License-Identifier: Apache-2.0 */
/* world_reload.c: replaces a daemon's configuration while the world runs. */
#include <string.h>

#include "sim/world/world_daemon.h"
#include "sim/world/world_host.h"

/* The site's session ended while it was not a member. It would learn that from the
 * answer to its next message. In a calm world it sends none for hours, so it is
 * notified at once. */
static void report_stale(struct world *world, int site)
{
    struct msg msg = {.kind = MSG_ERROR, .site = ""};
    struct event event = {.kind = EVENT_MESSAGE, .now_ms = world->now_ms, .msg = &msg};

    msg.error.code = ERR_STALE;
    msg.error.text = "this session is not open";
    msg.error.about = (int)MSG_USAGE;
    event.from = (struct peer){.kind = PEER_BROKER, .name = "broker", .link = 1};
    if (world->options.is_calm && world_state_is_up(world, site + 1)) {
        world_daemon_take(world, site + 1, &event);
    }
}

void world_reload_begin(struct world *world, int site)
{
    world_daemon_end_batch(world, site + 1, false);
}

void world_reload_broker(struct world *world, const struct broker_config *config)
{
    for (int i = 0; i < world->n_sites; i++) {
        world->sites[i].was_member = world->sites[i].roles != 0;
    }
    world->broker_config = config;
    world_state_update_roles(world);
    world_daemon_reload(world, BROKER);
    for (int i = 0; i < world->n_sites; i++) {
        if (world->sites[i].roles != 0 && !world->sites[i].was_member) {
            report_stale(world, i);
        }
    }
}

/* Starts the sessions of hosts that are new, or were refused while they were not
 * configured. */
static void start_sessions(struct world *world, const struct world_site *of,
                           int n_before, bool is_up)
{
    for (int i = 0; i < of->n_machines; i++) {
        struct world_host *host = &world->hosts[of->machines[i]];
        bool is_absent = !world_host_config(of->config, executor_name(host->executor));

        if (is_up && !is_absent && (host->is_absent || i >= n_before)) {
            executor_hello(host->executor, world->now_ms);
        }
        host->is_absent = is_absent;
    }
}

void world_reload_site(struct world *world, int site, const struct site_config *config)
{
    struct world_site *of = &world->sites[site];

    world_daemon_end_batch(world, site + 1, false);
    for (int i = 0; i < of->n_machines; i++) {
        const char *name = executor_name(world->hosts[of->machines[i]].executor);

        world_host_resize(world, site, name, world_host_config(config, name));
    }
    int n_machines = of->n_machines;

    of->config = config;
    invariant_rusage_reloaded(world->invariants, config->name);
    world_host_add_all(world, site);
    world_daemon_reload(world, site + 1);
    for (int i = 0; i < n_machines; i++) {
        executor_report_load(world->hosts[of->machines[i]].executor, world->now_ms);
    }
    start_sessions(world, of, n_machines, world_state_is_up(world, site + 1));
}

void world_reload_host(struct world *world, int site, int host)
{
    struct world_site *of = &world->sites[site];
    const struct site_host *sized = &of->config->hosts[host];

    world_daemon_end_batch(world, site + 1, false);
    /* After a crash, the site restarts with the new size. */
    bool is_up = world_state_is_up(world, site + 1);
    if (is_up) {
        world_daemon_stop(world, site + 1);
    }
    if (sized->max == 0) {
        executor_reboot(
            world->hosts[world_state_find_host(world, site, sized->name)].executor);
    }
    world_host_resize(world, site, sized->name, sized);
    if (is_up) {
        world_daemon_start(world, site + 1);
    }
}
