/* SPDX-License-Identifier: Apache-2.0 */
/* children.h: the sublet-host processes that a site starts for HOSTS_HERE, and starts
 * again when they end.
 *
 * One that ends is started again after a pause, 1 s at first, twice as long each time
 * up to 30 s, until one has stayed up for that long. Exit status 75 says that another
 * process serves the name (one that an administrator started, or a child of the
 * daemon's life before that is still ending): that one is left alone, and the place
 * looked after. They end with the daemon, however it ends; guards and jobs do not.
 *
 * Ownership: the loop is borrowed; the setup until children_new returns.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_CHILDREN_H
#define SUBLET_SITE_IO_CHILDREN_H

#include <czmq.h>

#include "site/config/site_config.h"

struct children;
/* Finds sublet-host beside the daemon's own program, and makes each host's spool. */
int children_new(zloop_t *loop, const struct site_setup *setup,
                 struct children **children, struct err *err) MUST_CHECK;
/* What the site knows of a host: whether it has it still, and whether it has it only
 * until the last job there has ended. */
typedef bool (*children_ask_fn)(void *arg, const char *host);
struct children_site {
    children_ask_fn is_needed, is_leaving;
    void *arg;
};
/* Starts one for each host, and for each that left HOSTS_HERE while something ran there
 * that has not ended: it had a spool here. What they say comes on the daemon's standard
 * error. */
void children_start(struct children *children, const struct children_site *site);
/* Another HOSTS_HERE: new ones are started; one that is gone is looked after until the
 * site does not need it any more, and ends then. After children_start. */
void children_change(struct children *children, const struct site_setup *setup);
/* Ends them and waits for a moment; their jobs run on. NULL is fine. */
void children_free(struct children *children);

/* A SIGCHLD came. */
void children_reap(struct children *children);

#endif
