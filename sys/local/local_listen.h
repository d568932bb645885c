/* SPDX-License-Identifier: Apache-2.0 */
/* local_listen.h: listening and connected unix sockets, and the identity of their
 * peers.
 *
 * Errors: ERR_EXISTS if another process listens at the path; ERR_IO. Layer: sys. */
#ifndef SUBLET_SYS_LOCAL_LOCAL_LISTEN_H
#define SUBLET_SYS_LOCAL_LOCAL_LISTEN_H

#include "base/err.h"
#include "model/effect.h"
#include "sys/unix_path.h"

/* A listening, non-blocking descriptor. No client can connect before the mode is set.
 */
int local_listen_open(const struct unix_path *path, int mode, int *fd,
                      struct err *err) MUST_CHECK;

/* A connected descriptor. ERR_AWAY if no process listens. */
int local_listen_connect(const struct unix_path *path, int *fd,
                         struct err *err) MUST_CHECK;

/* The peer's uid and gid from the kernel, and its name from the user database ("#uid"
 * if there is none). Root and the daemon's own account are admins. */
int local_listen_identify(int fd, struct peer *peer, char name[NAME_SIZE]) MUST_CHECK;

#endif
