/* SPDX-License-Identifier: Apache-2.0 */
/* queue_rules.h: what a queue asks of its jobs beside where they run (queue.h) and how
 * many there may be (bounds.h): who may use it, when; and what it says of each of them
 * (job_rules.h).
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

/* Of a row of section Queue. */
void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct group_place *place, struct queue_rules *rules);

/* 0 where this user's jobs may come to the queue. Else the sentence of LSF. */
int queue_rules_check_user(const struct queue_rules *rules, const char *user,
                           struct err *err) MUST_CHECK;

#endif
