/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_config.h: what an amount in rusage is of, where the job does not say (/job,
 * /host, /slot): section ReservationUsage, else RESOURCE_RESERVE_PER_SLOT; and whose
 * holders are preempted: PREEMPTABLE_RESOURCES.
 *
 *     Begin ReservationUsage
 *     RESOURCE  METHOD
 *     licences  PER_SLOT
 *     End ReservationUsage
 *
 * Without either an amount of what hosts share (a place of ResourceMap) is of the job,
 * any other of each of its hosts.
 *
 * Errors: diagnostics: a resource that section Resource does not define, that is not a
 * number that jobs may reserve, or that stands there twice; one to be preempted for
 * that suspended jobs keep (RELEASE N). Memory goes with jobs that are ended alone: a
 * warning where no queue has TERMINATE_WHEN = PREEMPT.
 * Ownership: in conf's arena. Source: docs/design/scheduling.md "What protects a job",
 * docs/design/resreq.md "Rusage". Layer: site. */
#ifndef SUBLET_SITE_CONFIG_RUSAGE_CONFIG_H
#define SUBLET_SITE_CONFIG_RUSAGE_CONFIG_H

#include "base/conf.h"
#include "site/site.h"

/* Resources, queues and preemption have been read. */
void rusage_config_read(struct conf *conf, struct site_config *config);

/* RESREQ_SCOPE_DEFAULT: the configuration does not say. */
enum resreq_scope rusage_config_scope(const struct site_config *config,
                                      const char *resource);
/* True where that resource's holders are preempted. */
bool rusage_config_is_preemptable(const struct site_config *config,
                                  const char *resource);

#endif
