/* SPDX-License-Identifier: Apache-2.0 */
/* queue_rules.h: which users may use a queue, and when; and its rules for each job
 * (job_rules.h). The hosts of a queue are in queue.h, its limits in limit.h.
 *
 * Ownership: in conf's arena. Errors: diagnostics.
 * Source: LSF's lsb.queues. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_QUEUE_RULES_H
#define SUBLET_SCHED_QUEUE_QUEUE_RULES_H

#include "base/conf.h"
#include "base/err.h"
#include "sched/queue/groups.h"
#include "sched/queue/job_rules.h"
#include "sched/queue/window.h"

struct queue_rules {
    struct name_set users; /* USERS */
    struct window_list run_windows, dispatch_windows;
    struct job_rules job;
};

/* Reads a row of section Queue. */
void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct conf_place *at, struct queue_rules *rules);

/* Returns 0 if this user may submit to the queue. `err` gets LSF's sentence otherwise.
 */
int queue_rules_check_user(const struct queue_rules *rules, const char *user,
                           struct err *err) MUST_CHECK;

#endif
