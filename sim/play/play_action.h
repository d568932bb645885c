/* SPDX-License-Identifier: Apache-2.0 */
/* play_action.h: executes a statement of a scenario.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_PLAY_PLAY_ACTION_H
#define SUBLET_SIM_PLAY_PLAY_ACTION_H

#include "sim/play/play_state.h"

/* False if the site is down: repeat the action when it is up. */
bool play_action_run(struct play *play, const struct play_action *action);

#endif
