/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_hosts.h: the hosts of `resreq match`: a file with one JSON object per line.
 *
 *     {"name":"hA","resources":{"type":"LINUX","swp":60,"fs":true},
 *      "exclusive":["bigmem"],"cu":"rack1","slots":4,"maxslots":8}
 *
 * A text is a string resource, true and false are Boolean, a number is numeric; null is
 * absent. A resource that is not built in is defined by its first use.
 *
 * Ownership: resreq_hosts_release, also after an error. Errors: ERR_IO; ERR_PARSE,
 * ERR_BOUNDS, ERR_EXISTS with file and line. Source: docs/design/interfaces.md "Command
 * line". Layer: cli. */
#ifndef SUBLET_CLI_RESOURCE_RESREQ_HOSTS_H
#define SUBLET_CLI_RESOURCE_RESREQ_HOSTS_H

#include "base/arena.h"
#include "sched/resource/resource.h"

struct resreq_host {
    const char *name;
    int line, row;
    bool has_cu;
};

struct resreq_hosts {
    struct resources *resources;
    struct resource_table *table; /* one row per host */
    struct resreq_host *hosts;    /* in file order */
    int n_hosts, capacity;
};

int resreq_hosts_read(struct resreq_hosts *hosts, struct arena *arena, const char *path,
                      struct err *err) MUST_CHECK;
void resreq_hosts_release(struct resreq_hosts *hosts);

/* The row of a host by name, or -1. */
int resreq_hosts_find(const struct resreq_hosts *hosts, const char *name);

#endif
