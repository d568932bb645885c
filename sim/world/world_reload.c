/* SPDX-License-Identifier: Apache-2.0 */
/* world_reload.c: replaces a daemon's configuration while the world runs. */
#include <string.h>

#include "sim/world/world_daemon.h"
#include "sim/world/world_host.h"

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
    struct row run = {.kind = ROW_RUN, .run.run = {of->config->name, state->attempt}};

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

/* The host in that configuration, or NULL. */
static const struct site_host *find_host(const struct site_config *config,
                                         const char *name)
{
    for (int i = 0; i < config->n_hosts; i++) {
        if (!strcmp(config->hosts[i].name, name)) {
            return &config->hosts[i];
        }
    }
    return NULL;
}

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
        bool is_absent = !find_host(of->config, executor_name(host->executor));

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
        struct decided decided = {
            .of = of, .host = executor_name(world->hosts[of->machines[i]].executor)};

        const struct site_host *host = find_host(config, decided.host);

        disk_load(of->disk, count_decided, &decided);
        invariant_host_sized(world->invariants, of->config->name, decided.host,
                             host ? host->max : 0, decided.n_slots);
    }
    int n_machines = of->n_machines;

    of->config = config;
    invariant_rusage_reloaded(world->invariants, config->name);
    world_host_add_all(world, site);
    world_daemon_reload(world, site + 1);
    for (int i = 0; i < n_machines; i++) {
        executor_report_load(world->hosts[of->machines[i]].executor);
    }
    start_sessions(world, of, n_machines, world_state_is_up(world, site + 1));
}

void world_reload_host(struct world *world, int site, int host)
{
    struct world_site *of = &world->sites[site];
    int max = of->config->hosts[host].max;
    struct decided decided = {.of = of, .host = of->config->hosts[host].name};

    world_daemon_end_batch(world, site + 1, false);
    disk_load(of->disk, count_decided, &decided);
    /* After a crash, the site restarts with the new size. */
    bool is_up = world_state_is_up(world, site + 1);
    if (is_up) {
        world_daemon_stop(world, site + 1);
    }
    if (max == 0) {
        executor_reboot(
            world->hosts[world_state_find_host(world, site, decided.host)].executor);
    }
    invariant_host_sized(world->invariants, of->config->name, decided.host, max,
                         decided.n_slots);
    if (is_up) {
        world_daemon_start(world, site + 1);
    }
}
