/* SPDX-License-Identifier: Apache-2.0 */
/* maker.h: random federations by seed: a scenario and its configuration files.
 *
 * A federation has two to eight sites with hosts, queues and export policies of all
 * kinds. Users submit, kill, stop and resume jobs, and administrators change reclaim
 * delays. Depending on the seed there are faults: messages that are lost, repeated,
 * late or reordered, partitions, daemons that crash between two effects or at an
 * instant, a broker that is restored from a backup, and hosts that are slow, or whose
 * guards, agent, machine or disk die between two effects of a run or at an instant.
 *
 * In some federations journals of sites are restored from copies, and an administrator
 * recovers the leases of such a site. A new job may then have the id of one that was
 * lost with the journal.
 *
 * At the end all faults stop, and all work can end: each job has slots that only its
 * site may use, or requests one slot of a lease. So a federation that never settles is
 * a fault of the program.
 *
 * Order: the same seed gives the same texts. */
#ifndef SUBLET_TESTS_SIM_MAKER_H
#define SUBLET_TESTS_SIM_MAKER_H

#include <stdint.h>

#include "tests/sim/texts.h"

void maker_make(uint64_t seed, struct texts *texts);

#endif
