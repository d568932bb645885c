/* SPDX-License-Identifier: Apache-2.0 */
/* host_nursery.h: starting guards by a nursery (guard_nursery.h), or where that is not
 * to be had just then, by starting the program.
 *
 * Errors: as host_spawn_guard. Layer: host. */
#ifndef SUBLET_HOST_HOST_NURSERY_H
#define SUBLET_HOST_HOST_NURSERY_H

#include "base/err.h"

struct host_nursery {
    const char *guard; /* program; borrowed */
    int link;          /* -1: none, it is started when first needed */
};

void host_nursery_init(struct host_nursery *nursery, const char *guard);
/* The nursery ends; the guards live on. */
void host_nursery_release(struct host_nursery *nursery);

/* A guard for the run in `runs`/`name`; *link as host_spawn_guard. */
int host_nursery_start(struct host_nursery *nursery, const char *runs, const char *name,
                       int *link, struct err *err) MUST_CHECK;

#endif
