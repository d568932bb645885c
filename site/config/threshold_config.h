/* SPDX-License-Identifier: Apache-2.0 */
/* threshold_config.h: load thresholds as the configuration has them: load indices as
 * columns of section Host and keys of section Queue, STOP_COND and RESUME_COND of
 * queues, SBD_SLEEP_TIME.
 *
 *     Begin Host                       Begin Queue
 *     HOST_NAME MXJ r1m     it         QUEUE_NAME = night
 *     desk1     4   0.7/2.0 10/1       mem        = 500/100
 *     default   8   3.5     ()         licload    = 10/20
 *     End Host                         End Queue
 *
 * An index is one of LSF's, or a number of section Resource that has an INTERVAL and a
 * value of its own on each host. Where a host has rows of both forms (HOST_NAME,
 * HOSTNAME) both count, the former first.
 *
 * Errors: diagnostics of `conf`. Ownership: in conf's arena.
 * Source: LSF's lsb.hosts, lsb.queues; docs/adr/0016. Layer: site. */
#ifndef SUBLET_SITE_CONFIG_THRESHOLD_CONFIG_H
#define SUBLET_SITE_CONFIG_THRESHOLD_CONFIG_H

#include "base/conf.h"
#include "sched/resreq/resreq.h"
#include "site/site.h"

/* Of queues, by their rows, and of hosts by the rows that are handed in: of each host
 * those that count, the first one first, NULL behind the last. Resources have been
 * read. */
enum { THRESHOLD_ROWS = 2 };
struct threshold_rows {
    struct conf_place rows[THRESHOLD_ROWS];
};
void threshold_config_hosts(struct conf *conf,
                            const struct resource_config *definitions,
                            const struct threshold_rows *rows, struct site_host *hosts,
                            int n_hosts);
void threshold_config_queues(struct conf *conf,
                             const struct resource_config *definitions,
                             struct queue_config *queues, int n_queues);
/* What is known once all has been read: has_thresholds, load_interval_ms; conditions
 * are judged. */
void threshold_config_read(struct conf *conf, struct site_config *config);

/* A condition as it was judged; it is valid. */
void threshold_config_compile(struct arena *arena, const struct site_config *config,
                              const struct resources *resources, const char *text,
                              struct resreq *condition);

#endif
