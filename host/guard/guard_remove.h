/* SPDX-License-Identifier: Apache-2.0 */
/* guard_remove.h: deletes the directory of a forgotten run with all that its job left
 * in it.
 *
 * The job may have made it deep and large, and processes of its account may change it
 * meanwhile. So no path of more than one name is used, no link is followed, and no
 * stack grows with the depth. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_REMOVE_H
#define SUBLET_HOST_GUARD_GUARD_REMOVE_H

int guard_remove_main(const char *path);

#endif
