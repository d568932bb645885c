/* SPDX-License-Identifier: Apache-2.0 */
/* forkserver.h: a small process that forks guards, which costs a third of starting the
 * program for each.
 *
 * sublet-host sends one packet for each guard: the run's directory, and with it the
 * guard's end of their connection. A guard does not depend on the fork server after its
 * fork. The fork server lives as long as its sublet-host. If a guard cannot be forked,
 * the fork server reports a run that FAILED. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_FORKSERVER_H
#define SUBLET_HOST_GUARD_FORKSERVER_H

/* `host` is the connection to sublet-host, which no other process may hold. Returns the
 * exit status: in the fork server at its end, and in each guard at its own. */
int forkserver_main(int host);

#endif
