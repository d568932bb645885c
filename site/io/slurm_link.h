/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_link.h: connects a site with the Slurm cluster that has its hosts (SCHEDULER =
 * slurm): what the site lends are the contracts of the cluster's agent, and what the
 * agent holds is told to the site. Layer: site/io. */
#ifndef SUBLET_SITE_IO_SLURM_LINK_H
#define SUBLET_SITE_IO_SLURM_LINK_H

#include <czmq.h>

#include "base/err.h"
#include "site/config/site_config.h"
#include "site/site.h"
#include "sys/shell.h"

struct slurm_link;

/* `reload` reads the configuration again, because the cluster has other nodes. */
struct slurm_link_parts {
    zloop_t *loop;
    struct shell *shell;
    struct site *site;
    void (*reload)(void *arg);
    void *arg;
};

int slurm_link_new(const struct slurm_link_parts *parts, const struct site_setup *setup,
                   struct slurm_link **link, struct err *err) MUST_CHECK;
void slurm_link_free(struct slurm_link *link); /* NULL is fine */
/* The site has another configuration. `setup` is borrowed until the next one. */
void slurm_link_change(struct slurm_link *link, const struct site_setup *setup);

#endif
