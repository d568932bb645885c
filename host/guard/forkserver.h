/* SPDX-License-Identifier: Apache-2.0 */
/* forkserver.h: forks guards from a small process that is there already, which costs
 * a third of starting the program for each.
 *
 * sublet-host sends a packet for each: the run's directory, and with it the guard's end
 * of their connection. The guard is a process of its own from its fork on, in no way
 * bound to the nursery, which lives as long as its sublet-host. A guard that cannot be
 * forked says so as a run that FAILED. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_FORKSERVER_H
#define SUBLET_HOST_GUARD_FORKSERVER_H

/* `host` is the connection to sublet-host, which nobody else holds. Returns in the
 * nursery at its end, and in each guard at its own: the exit status. */
int forkserver_main(int host);

#endif
