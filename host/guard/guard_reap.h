/* SPDX-License-Identifier: Apache-2.0 */
/* guard_reap.h: reaps a run whose guard was killed, or whose machine went down: kills
 * its processes, and writes ENDED, LOST to its record.
 *
 * If the machine did not go down and no post-exec command had begun, they run all the
 * same. The record says that they have begun before they do, so none runs twice. If
 * they had begun, the record says how the job ended, and that stays.
 *
 * The lock of the directory lets only one process reap. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_REAP_H
#define SUBLET_HOST_GUARD_GUARD_REAP_H

/* As guard_loop_main. */
int guard_reap_main(const char *path, int agent);

#endif
