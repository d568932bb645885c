/* SPDX-License-Identifier: Apache-2.0 */
/* maker.h: random federations, by seed, as a person would write them: a scenario and
 * its configuration files.
 *
 * Two to eight sites, each with hosts, queues and export policies of all kinds; users
 * who submit, kill, stop and resume; administrators who change reclaim delays; and, by
 * the seed, faults: messages lost, repeated, late and overtaken, partitions, daemons
 * that crash between any two effects or at an instant, the broker set back to a backup.
 *
 * In the end all faults stop, and whatever was made can come to its end: each job has
 * slots that are its site's alone, or asks for one slot of a lease. So a world that
 * never settles is a fault of ours.
 *
 * Order: same seed, same texts. */
#ifndef SUBLET_TESTS_SIM_MAKER_H
#define SUBLET_TESTS_SIM_MAKER_H

#include <stdint.h>

#include "tests/sim/texts.h"

void maker_make(uint64_t seed, struct texts *texts);

#endif
