/* SPDX-License-Identifier: Apache-2.0 */
/* play_config_reload.c: configurations as they are simulated, the first ones and those
 * that a daemon is given while it runs. One that is down comes back with the new one.
 */
#include "sim/play/play_state.h"

enum {
    /* What a daemon says only because it may have been lost, it says so many times less
     * often where nothing can be: less than once in 200 days. */
    PATIENCE = 10000000,
};

void play_config_site(struct play *play, int site, const struct site_config *given)
{
    struct site_config *config = &play->sites[site];

    play->given[site] = given;
    *config = *given;
    config->is_alone = false; /* the world is its uplink */
    config->is_prompt = true;
    config->patience = play->scenario->has_faults ? 1 : PATIENCE;
    config->clean_period_ms = INT64_MAX / 4; /* expectations look back */
    config->max_array_size = JOB_INDEX_MAX;  /* count= is the scenario's to say */
}

void play_config_broker(struct play *play, const struct broker_config *given)
{
    play->broker = *given;
    if (!play->scenario->has_faults) {
        play->broker.lost_after_ms *= PATIENCE;
    }
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
    play_config_count_slots(play, at->site);
}
