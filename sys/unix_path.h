/* SPDX-License-Identifier: Apache-2.0 */
/* unix_path.h: the path of a unix socket. A path that is longer than sun_path is
 * replaced by one through a descriptor of its directory.
 *
 * Ownership: the descriptor stays open until unix_path_close; the text is valid until
 * then. Errors: ERR_IO for the directory, ERR_BOUNDS if the file name itself is too
 * long. Layer: sys. */
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
