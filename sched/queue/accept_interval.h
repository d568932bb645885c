/* SPDX-License-Identifier: Apache-2.0 */
/* accept_interval.h: JOB_ACCEPT_INTERVAL: how long a host takes no job of a queue after
 * one was dispatched to it, of whichever queue.
 *
 *     JOB_ACCEPT_INTERVAL = 1      times MBD_SLEEP_TIME (60 s)
 *     JOB_ACCEPT_INTERVAL = 90s    2m
 *
 * A queue's value counts before that of section Parameters; without either there is no
 * such time, and slots alone bound what a host is given.
 *
 * Units: milliseconds. Errors: diagnostics. Source: LSF's lsb.params, lsb.queues.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_ACCEPT_INTERVAL_H
#define SUBLET_SCHED_QUEUE_ACCEPT_INTERVAL_H

#include "base/conf.h"

/* MBD_SLEEP_TIME. */
int64_t accept_interval_mbd_sleep_ms(const struct conf *conf);
/* Of section Parameters. */
int64_t accept_interval_read_default(struct conf *conf);
/* Of a row of section Queue. */
int64_t accept_interval_read(struct conf *conf, const struct conf_section *section,
                             const struct conf_row *row, int64_t otherwise_ms);

#endif
