/* SPDX-License-Identifier: Apache-2.0 */
/* guard_reap.h: a run whose guard was killed, or whose machine went down: what is left
 * of it is killed, and its record says ENDED, LOST.
 *
 * Commands after the job (POST_EXEC) run all the same where the machine did not go down
 * and none of them had begun: they are on record as begun before they do, and none runs
 * twice. Where they had, the record says how the job ended, and keeps that.
 *
 * Two gravediggers do no harm: the directory's lock lets one in. Layer: host (guard).
 */
#ifndef SUBLET_HOST_GUARD_GUARD_REAP_H
#define SUBLET_HOST_GUARD_GUARD_REAP_H

/* As guard_loop_main. */
int guard_reap_main(const char *path, int agent);

#endif
