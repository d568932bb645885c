/* SPDX-License-Identifier: Apache-2.0 */
/* play_config.c: see play_config.h. A daemon that is down restarts with the new
 * configuration.
 *
 * The size of a host changes as if its administrator set another MXJ and restarted the
 * site's daemon, which takes no time here. Policies that export the host get its
 * remaining slots in file order. A host of 0 slots is gone with all its runs. */
#include "sim/play/play_config.h"

#include <string.h>

enum {
    /* If no message can be lost, the intervals of repeated messages are multiplied by
       this. */
    PATIENCE = 10000000,
};

void play_config_site(struct play *play, int site, const struct site_config *given)
{
    struct site_config *config = &play->sites[site];

    play->given[site] = given;
    *config = *given;
    config->is_alone = false; /* the world connects it */
    config->is_prompt = true;
    config->patience = play->scenario->has_faults ? 1 : PATIENCE;
    config->clean_period_ms = INT64_MAX / 4; /* expectations may refer to ended jobs */
    config->max_array_size = JOB_INDEX_MAX;  /* the scenario's count= decides */
}

void play_config_broker(struct play *play, const struct broker_config *given)
{
    play->broker = *given;
    if (!play->scenario->has_faults) {
        play->broker.lost_after_ms *= PATIENCE;
    }
}

/* Updates the number of slots of the site. */
static void count_slots(struct play *play, int site)
{
    const struct site_config *config = &play->sites[site];
    int n_slots = 0;

    for (int i = 0; i < config->n_hosts; i++) {
        n_slots += config->hosts[i].max;
    }
    event_log_sized(play->log, site, n_slots, world_now_ms(play->world));
}

void play_config_reload(struct play *play, const struct statement *at)
{
    if (at->site == SCENARIO_BROKER) {
        play_config_broker(play, &at->reload->broker.config);
        world_reload_broker(play->world, &play->broker);
        return;
    }
    play_config_site(play, at->site, &at->reload->site.config);
    world_reload_site(play->world, at->site, &play->sites[at->site]);
    count_slots(play, at->site);
}

/* ---- hosts of another size */

/* The host's export in that lease, in the scenario's configuration. */
static const struct export_part *exported(const struct export_lease *lease,
                                          const char *host)
{
    for (int i = 0; i < lease->n_hosts; i++) {
        if (!strcmp(lease->hosts[i].host, host)) {
            return &lease->hosts[i];
        }
    }
    return NULL;
}

/* The host's slots that remain for the lease with that index after the leases before
 * it. */
static int left_of(const struct export_plan *plan, int lease, const char *host, int max)
{
    for (int i = 0; i < lease; i++) {
        const struct export_part *slots = exported(&plan->leases[i], host);

        max -= slots ? slots->n_slots : 0;
    }
    return max > 0 ? max : 0;
}

static int max_of(const struct site_config *config, const char *host)
{
    for (int i = 0; i < config->n_hosts; i++) {
        if (!strcmp(config->hosts[i].name, host)) {
            return config->hosts[i].max;
        }
    }
    return 0;
}

/* The policies of `original`, adapted to the present host sizes. */
static void fit_exports(struct arena *arena, const struct export_plan *original,
                        struct site_config *config)
{
    struct export_plan plan = {
        .leases = arena_alloc(arena, (size_t)original->n_leases, sizeof plan.leases[0]),
        .shared = original->shared,
        .n_shared = original->n_shared};

    for (int i = 0; i < original->n_leases; i++) {
        const struct export_lease *from = &original->leases[i];
        struct export_lease *lease = &plan.leases[plan.n_leases];

        *lease = *from;
        lease->hosts =
            arena_alloc(arena, (size_t)from->n_hosts, sizeof lease->hosts[0]);
        lease->n_hosts = 0;
        for (int k = 0; k < from->n_hosts; k++) {
            const char *host = from->hosts[k].host;
            int left = left_of(original, i, host, max_of(config, host));
            int n_slots = from->hosts[k].n_slots < left ? from->hosts[k].n_slots : left;

            if (n_slots > 0) {
                lease->hosts[lease->n_hosts] = from->hosts[k];
                lease->hosts[lease->n_hosts++].n_slots = n_slots;
            }
        }
        plan.n_leases += lease->n_hosts > 0; /* without hosts it is withdrawn */
    }
    config->exports = plan;
}

bool play_config_resize_host(struct play *play, const struct statement *at)
{
    struct site_config *config = &play->sites[at->site];
    size_t n_hosts = (size_t)config->n_hosts;
    struct site_host *hosts =
        arena_copy(&play->arena, config->hosts, n_hosts * sizeof hosts[0]);
    int host = 0;

    if (!world_site(play->world, at->site)) {
        return false; /* later */
    }
    while (host < config->n_hosts && strcmp(hosts[host].name, at->name) != 0) {
        host++;
    }
    if (host == config->n_hosts) { /* not in the present configuration */
        play_state_remark(play, at->line, true, "%s: refused: no such host now",
                          at->text);
        return true;
    }
    hosts[host].max = at->number;
    config->hosts = hosts;
    fit_exports(&play->arena, &play->given[at->site]->exports, config);
    world_reload_host(play->world, at->site, host);
    count_slots(play, at->site);
    return true;
}
