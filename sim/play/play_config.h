/* SPDX-License-Identifier: Apache-2.0 */
/* play_config.h: adapts the configurations of a play to the simulation, at its start
 * and when a statement changes one.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_PLAY_PLAY_CONFIG_H
#define SUBLET_SIM_PLAY_PLAY_CONFIG_H

#include "sim/play/play_state.h"

/* Sets the site's configuration from the given one. */
void play_config_site(struct play *play, int site, const struct site_config *given);
void play_config_broker(struct play *play, const struct broker_config *given);
/* Slot hours of HOURS are so long for daemons that start from now on. */
void play_config_set_hour(struct play *play, int64_t hour_ms);
/* Updates the number of slots of the site. */
void play_config_count_slots(struct play *play, int site);
/* False: not yet. */
bool play_config_reload(struct play *play, const struct statement *at);
/* Changes the number of slots of a host. False if its site is down. */
bool play_config_resize_host(struct play *play, const struct statement *at);

#endif
