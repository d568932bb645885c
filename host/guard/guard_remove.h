/* SPDX-License-Identifier: Apache-2.0 */
/* guard_remove.h: deletes the directory of a forgotten run, whatever its job left in
 * it.
 *
 * It may be as deep and as full as the job liked, and its account may go on changing it
 * meanwhile: nothing is reached by a path of more than one name, no link is followed,
 * and no stack grows with the depth. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_REMOVE_H
#define SUBLET_HOST_GUARD_GUARD_REMOVE_H

int guard_remove_main(const char *path);

#endif
