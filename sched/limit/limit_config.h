/* SPDX-License-Identifier: Apache-2.0 */
/* limit_config_read.h: all limits of a configuration as bounds.h has them: QJOB_LIMIT,
 * UJOB_LIMIT, PJOB_LIMIT and HJOB_LIMIT of queues, JL/U of hosts, MAX_JOBS and JL/P of
 * users, Limit sections.
 *
 * Ownership: in conf's arena. Errors: diagnostics. Order: as just named, each in file
 * order. Source: ARCHITECTURE 5; LSF's lsb.queues, lsb.hosts, lsb.users, lsb.resources.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMIT_LIMIT_CONFIG_H
#define SUBLET_SCHED_LIMIT_LIMIT_CONFIG_H

#include "base/conf.h"
#include "sched/limit/limit.h"
#include "sched/queue/groups.h"

/* Queue names are checked against the Queue sections of the same files. */
void limit_config_read(struct conf *conf, const struct groups *groups,
                       const struct limit **limits, int *n_limits);

#endif
