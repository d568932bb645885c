/* SPDX-License-Identifier: Apache-2.0 */
/* queue_table.h: the state of each queue: open to new jobs or closed, dispatching jobs
 * or inactive. Administrators control it, time windows too.
 *
 * What an administrator has ordered survives restarts (ROW_QUEUE).
 * Units: milliseconds; local_ms as base/window.h. Order: queues as configured.
 * Layer: site. */
#ifndef SUBLET_SITE_JOB_QUEUE_TABLE_H
#define SUBLET_SITE_JOB_QUEUE_TABLE_H

#include "model/effect.h"
#include "sched/pending/pending.h"
#include "sched/queue/queue.h"

struct queue_table;
/* The configuration is borrowed. */
struct queue_table *queue_table_new(const struct queue_config *config, int n_queues);
void queue_table_free(struct queue_table *queues);
/* Another configuration: what was ordered of a queue goes with its name. */
void queue_table_reload(struct queue_table *queues, const struct queue_config *config,
                        int n_queues);
void queue_table_load(struct queue_table *queues, const struct row_queue *row);

int queue_table_find(const struct queue_table *queues, const char *name); /* -1: none */
bool queue_table_is_closed(const struct queue_table *queues, int queue);
/* Why none of its jobs starts now; REASON_NEW: they may. */
enum pending_reason queue_table_veto(const struct queue_table *queues, int queue,
                                     int64_t local_ms);
/* Jobs of the queue whose run limit, or else CPU limit, would not be over before its
 * RUN_WINDOW closes do not start: IGNORE_DEADLINE. Source: LSF, deadline constraint
 * scheduling. */
bool queue_table_has_deadline(const struct queue_config *queue);
/* When its open RUN_WINDOW closes; INT64_MAX: never. */
int64_t queue_table_closes_ms(const struct queue_table *queues, int queue,
                              int64_t local_ms);
/* Its jobs may run: RUN_WINDOW alone. */
bool queue_table_may_run(const struct queue_table *queues, int queue, int64_t local_ms);
/* When a window next opens or closes; INT64_MAX: never. */
int64_t queue_table_next_ms(const struct queue_table *queues, int64_t local_ms);
/* "Open:Active", "Closed:Inact_Adm", "Open:Inact_Win" and so on. */
const char *queue_table_status(const struct queue_table *queues, int queue,
                               int64_t local_ms);

/* An administrator's order, stored. */
void queue_table_control(struct queue_table *queues, int queue, enum queue_order order,
                         struct effects *effects);

#endif
