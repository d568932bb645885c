/* SPDX-License-Identifier: Apache-2.0 */
/* site_config.h: the Site, Host, Queue, Parameters and HostExport sections, judged and
 * turned into a configuration.
 *
 * Errors become diagnostics of `conf`. Ownership: all in conf's arena.
 * Layer: site. */
#ifndef SUBLET_SITE_CONFIG_SITE_CONFIG_H
#define SUBLET_SITE_CONFIG_SITE_CONFIG_H

#include "base/conf.h"
#include "site/site.h"

/* What only the shell needs stands beside what the step machine gets. */
struct site_setup {
    struct site_config config;
    const char *broker; /* endpoint; NULL: alone */
    const char *key, *broker_key;
    const char *spool;
    const char *socket;                /* default SPOOL/sublet.sock */
    const char *http_host, *http_port; /* NULL: no metrics; "*": all addresses */
    const char *listen;                /* NULL: no hosts on other machines */
    const char *host_key; /* public key that those must have; NULL: the site's own */
    const char **hosts_here;
    int n_hosts_here;
    /* What the sublet-hosts of those are given: */
    const char **elims; /* ELIM */
    int n_elims;
    const char *local_resources; /* LSF_LOCAL_RESOURCES; NULL: none */
};

/* True where there is a Site section. Complaints: no NAME, SPOOL; BROKER without KEY
 * and BROKER_KEY; a host or queue twice; HOSTS_HERE, PER_HOST or a queue's HOSTS that
 * name an unknown host; MXJ missing; no queue; whatever export_read and queue_read
 * find. */
bool site_config_read(struct conf *conf, struct site_setup *setup);
/* For a simulation: of section Site only NAME is needed; nothing is connected, and the
 * site is not alone. */
bool site_config_read_simulated(struct conf *conf, struct site_setup *setup);

#endif
