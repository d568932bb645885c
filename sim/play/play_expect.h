/* SPDX-License-Identifier: Apache-2.0 */
/* play_expect.h: compares an expectation of a scenario with what a listing shows.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_PLAY_PLAY_EXPECT_H
#define SUBLET_SIM_PLAY_PLAY_EXPECT_H

#include "sim/play/play_state.h"

void play_expect(struct play *play, const struct statement *statement);

#endif
