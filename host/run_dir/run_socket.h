/* SPDX-License-Identifier: Apache-2.0 */
/* run_socket.h: the sockets of a guard in its run's directory: packets, to whom root
 * and the guard's own account may connect and nobody else.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_RUN_DIR_RUN_SOCKET_H
#define SUBLET_HOST_RUN_DIR_RUN_SOCKET_H

#include "base/err.h"

/* Listens under that name in the working directory, which must be the run's. */
int run_socket_listen(const char *name, int backlog, int *listener,
                      struct err *err) MUST_CHECK;
/* Who has come, -1 where nobody may. Does not wait. */
int run_socket_accept(int listener);

#endif
