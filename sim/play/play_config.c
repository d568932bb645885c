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
    config->hour_ms = play->hour_ms;
    config->clean_period_ms = INT64_MAX / 4; /* expectations may refer to ended jobs */
    config->max_array_size = JOB_INDEX_MAX;  /* the scenario's count= decides */
}

void play_config_broker(struct play *play, const struct broker_config *given)
{
    play->broker = *given;
    play->broker.hour_ms = play->hour_ms;
    if (!play->scenario->has_faults) {
        play->broker.lost_after_ms *= PATIENCE;
    }
}

void play_config_set_hour(struct play *play, int64_t hour_ms)
{
    play->hour_ms = hour_ms;
    play->broker.hour_ms = hour_ms;
    for (int i = 0; i < play->scenario->n_sites; i++) {
        play->sites[i].hour_ms = hour_ms;
    }
}

void play_config_count_slots(struct play *play, int site)
{
    const struct site_config *config = &play->sites[site];
    int n_slots = 0;

    for (int i = 0; i < config->n_hosts; i++) {
        n_slots += world_host_max(play->world, site, &config->hosts[i]);
    }
    event_log_sized(play->log, site, n_slots, world_now_ms(play->world));
}

bool play_config_reload(struct play *play, const struct statement *at)
{
    world_reload_begin(play->world, at->site);
    if (at->site == SCENARIO_BROKER) {
        play_config_broker(play, &at->reload->broker.config);
        world_reload_broker(play->world, &play->broker);
        return true;
    }
    if (world_site_is_restored(play->world, at->site)) {
        return false; /* later: first it starts with the hosts that it had */
    }
    play_config_site(play, at->site, &at->reload->site.config);
    world_reload_site(play->world, at->site, &play->sites[at->site]);
    play_config_count_slots(play, at->site);
    return true;
}

/* ---- hosts of another size */

bool play_config_resize_host(struct play *play, const struct statement *at)
{
    struct site_config *config = &play->sites[at->site];
    size_t n_hosts = (size_t)config->n_hosts;
    struct site_host *hosts =
        arena_copy(&play->arena, config->hosts, n_hosts * sizeof hosts[0]);
    int host = 0;

    world_reload_begin(play->world, at->site);
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
    hosts[host].is_counted = false;
    config->hosts = hosts;
    world_reload_host(play->world, at->site, host);
    play_config_count_slots(play, at->site);
    return true;
}
