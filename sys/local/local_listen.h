/* SPDX-License-Identifier: Apache-2.0 */
/* local_listen.h: a unix socket that listens at a path, and who is at the other end.
 * Part of local.h.
 *
 * Errors: ERR_EXISTS where something lives at the path; ERR_IO. Layer: sys. */
#ifndef SUBLET_SYS_LOCAL_LOCAL_LISTEN_H
#define SUBLET_SYS_LOCAL_LOCAL_LISTEN_H

#include "base/err.h"
#include "model/effect.h"
#include "sys/unix_path.h"

/* A listening, non-blocking descriptor. Nobody can connect before the mode is set. */
int local_listen_open(const struct unix_path *path, int mode, int *fd,
                      struct err *err) MUST_CHECK;

/* A descriptor that is connected to the path. ERR_AWAY where nobody listens. */
int local_listen_connect(const struct unix_path *path, int *fd,
                         struct err *err) MUST_CHECK;

/* The other end's uid and gid by the kernel, its name by the system's users ("#uid"
 * where it has none). Root and the daemon's own account are admins. */
int local_listen_identify(int fd, struct peer *peer, char name[NAME_SIZE]) MUST_CHECK;

#endif
