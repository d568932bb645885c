/* SPDX-License-Identifier: Apache-2.0 */
/* guard_client.h: starting guards, as cheaply as the system can: by posix_spawn, never
 * by fork, whatever the daemon has grown to.
 *
 * Errors: ERR_FULL process or descriptor limit, ERR_IO anything else.
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_GUARD_CLIENT_H
#define SUBLET_HOST_AGENT_GUARD_CLIENT_H

#include <stddef.h>

#include "base/err.h"

/* Where sublet-guard lies: beside this program, or in ../libexec/sublet. */
int guard_client_find_program(char *path, size_t size, struct err *err) MUST_CHECK;

/* Starts `guard [option] directory`; *link is our end of its connection, non-blocking
 * (NULL: it gets none). Its input and output are /dev/null: it outlives ours. */
int guard_client_spawn(const char *guard, const char *option, const char *directory,
                       int *link, struct err *err) MUST_CHECK;

/* On SIGCHLD: collects those that ended. How they ended stands in their records. */
void guard_client_reap(void);

#endif
