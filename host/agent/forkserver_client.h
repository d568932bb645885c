/* SPDX-License-Identifier: Apache-2.0 */
/* forkserver_client.h: starting guards by a nursery (forkserver.h), or where that is
 * not to be had just then, by starting the program.
 *
 * Errors: as guard_client_spawn. Layer: host. */
#ifndef SUBLET_HOST_AGENT_FORKSERVER_CLIENT_H
#define SUBLET_HOST_AGENT_FORKSERVER_CLIENT_H

#include "base/err.h"

struct forkserver_client {
    const char *guard; /* program; borrowed */
    int link;          /* -1: none, it is started when first needed */
};

void forkserver_client_init(struct forkserver_client *nursery, const char *guard);
/* The nursery ends; the guards live on. */
void forkserver_client_release(struct forkserver_client *nursery);

/* A guard for the run in `runs`/`name`; *link as guard_client_spawn. */
int forkserver_client_start(struct forkserver_client *nursery, const char *runs,
                            const char *name, int *link, struct err *err) MUST_CHECK;

#endif
