/* SPDX-License-Identifier: Apache-2.0 */
/* queue_rules.h: what a queue asks of its jobs and does with them, beside where they
 * run (queue.h) and how many there may be (limits.h): who may use it, when, with how
 * many slots, for how long, and when a job of it waits again.
 *
 * Units: milliseconds, slots. Ownership: in conf's arena. Errors: diagnostics.
 * Source: LSF's lsb.queues. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_RULES_H
#define SUBLET_SCHED_QUEUE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/err.h"
#include "sched/groups.h"
#include "sched/window.h"

struct queue_rules {
    struct name_set users; /* USERS */
    struct window_list run_windows, dispatch_windows;
    int min_slots, default_slots, max_slots; /* PROCLIMIT; max 0: any number */
    int64_t run_limit_ms;                    /* RUNLIMIT: the longest; 0: none */
    int64_t default_run_limit_ms;            /* of jobs without -W; 0: none */
    bool is_rerunnable;                      /* RERUNNABLE */
    const int *requeue_codes;                /* REQUEUE_EXIT_VALUES */
    int n_requeue_codes;
    const int *success_codes; /* SUCCESS_EXIT_VALUES */
    int n_success_codes;
    const char *job_starter; /* JOB_STARTER; "": none */
};

/* Of a row of section Queue. */
void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct group_place *place, struct queue_rules *rules);

/* A job of this user with these wishes comes to the queue: 0, and slots and run limit
 * as the queue has them where the job says nothing (0). Of a range of slots (max_slots
 * not 0) what the queue allows is left. Else the sentence of LSF. */
int queue_rules_check(const struct queue_rules *rules, const char *user, int *n_slots,
                      int *max_slots, int64_t *run_limit_ms,
                      struct err *err) MUST_CHECK;

/* The command with the queue's JOB_STARTER around it. */
const char *queue_rules_command(struct arena *arena, const struct queue_rules *rules,
                                const char *command);

bool queue_rules_requeue(const struct queue_rules *rules, int exit_code);
bool queue_rules_succeed(const struct queue_rules *rules, int exit_code);

#endif
