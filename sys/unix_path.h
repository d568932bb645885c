/* SPDX-License-Identifier: Apache-2.0 */
/* unix_path.h: where a unix socket is reached: its path, or, where that is longer than
 * sun_path, a path through a descriptor of its directory.
 *
 * Ownership: the descriptor stays open until unix_path_close; the text is good until
 * then. Errors: ERR_IO for the directory, ERR_BOUNDS for a name too long in itself.
 * Layer: sys. */
#ifndef SUBLET_SYS_UNIX_PATH_H
#define SUBLET_SYS_UNIX_PATH_H

#include "base/err.h"

struct unix_path {
    char text[108];   /* sun_path */
    int directory_fd; /* -1: not needed */
};

int unix_path_open(const char *path, struct unix_path *opened,
                   struct err *err) MUST_CHECK;
void unix_path_close(struct unix_path *opened);

#endif
