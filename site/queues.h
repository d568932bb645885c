/* SPDX-License-Identifier: Apache-2.0 */
/* queues.h: queues as they are now: open to new jobs or closed, their jobs started or
 * not, by an administrator's word or by time windows.
 *
 * What an administrator has said outlives the site (ROW_QUEUE).
 * Units: milliseconds; local_ms as sched/window.h. Order: queues as configured.
 * Layer: site. */
#ifndef SUBLET_SITE_QUEUES_H
#define SUBLET_SITE_QUEUES_H

#include "model/effect.h"
#include "sched/queue.h"
#include "sched/reason.h"

struct queues;
/* The configuration is borrowed. */
struct queues *queues_new(const struct queue_config *config, int n_queues);
void queues_free(struct queues *queues);
/* Another configuration: what was ordered of a queue goes with its name. */
void queues_reload(struct queues *queues, const struct queue_config *config,
                   int n_queues);
void queues_load(struct queues *queues, const struct row_queue *row);

int queues_find(const struct queues *queues, const char *name); /* -1: none */
bool queues_is_closed(const struct queues *queues, int queue);
/* Why none of its jobs starts now; REASON_NEW: they may. */
enum reason queues_veto(const struct queues *queues, int queue, int64_t local_ms);
/* Its jobs may run: RUN_WINDOW alone. */
bool queues_may_run(const struct queues *queues, int queue, int64_t local_ms);
/* When a window next opens or closes; INT64_MAX: never. */
int64_t queues_next_ms(const struct queues *queues, int64_t local_ms);
/* "Open:Active", "Closed:Inact_Adm", "Open:Inact_Win" and so on. */
const char *queues_status(const struct queues *queues, int queue, int64_t local_ms);

/* An administrator's order, stored. */
void queues_order(struct queues *queues, int queue, enum queue_order order,
                  struct effects *effects);

#endif
