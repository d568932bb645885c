/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.h: what a queue, an application profile, or the site (section Parameters)
 * says of each job that comes under it, and what the three together make of a job: how
 * long, with how many slots, within which limits, what is run before and after it, and
 * when it waits again.
 *
 * Who beats whom. The job's own word beats the application's, that the queue's, that
 * the site's. A queue's or an application's maximum bounds all of them; a queue's limit
 * of one value is default and maximum alike, an application's a default. Commands
 * before a job: the queue's, then the job's or else its application's; after it: the
 * job's or else its application's, then the queue's.
 *
 * Units: milliseconds, slots, and those of model/job_rlimit.h. Ownership: in conf's
 * arena; what is made for a job in the arena given. Errors: diagnostics; ERR_BOUNDS.
 * Source: LSF's lsb.queues, lsb.applications, lsb.params. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_JOB_RULES_H
#define SUBLET_SCHED_QUEUE_JOB_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/err.h"
#include "model/job_rlimit.h"
#include "model/msg.h"
#include "sched/queue/job_controls.h"

enum { JOB_RULES_UNSET = -1 };

struct job_rules {
    int min_slots, default_slots, max_slots; /* PROCLIMIT; max 0: any number */
    int64_t run_limit_ms;                    /* RUNLIMIT: the longest; 0: none */
    int64_t default_run_limit_ms;            /* of jobs without -W; 0: none */
    struct job_rlimits soft;                 /* of jobs that say nothing */
    struct job_rlimits hard;                 /* the most that a job may have */
    int rerunnable;                          /* RERUNNABLE: 0, 1, UNSAID */
    const int *requeue_codes; /* REQUEUE_EXIT_VALUES; NULL: nothing said */
    int n_requeue_codes;
    const int *exclude_codes; /* those of them in EXCLUDE(...) */
    int n_exclude_codes;
    const int *success_codes; /* SUCCESS_EXIT_VALUES; NULL: nothing said */
    int n_success_codes;
    const char *job_starter;          /* JOB_STARTER; "": none */
    const char *pre_exec, *post_exec; /* PRE_EXEC, POST_EXEC; "": none */
    struct job_controls controls;     /* JOB_CONTROLS, SUSPEND_CONTROL ... */
    int max_requeues;  /* MAX_JOB_REQUEUE: by exit codes; UNSAID: any number */
    int max_pre_tries; /* MAX_PREEXEC_RETRY; UNSAID: the default */
};

/* Of a row of section Queue, Application or Parameters; keys that a section does not
 * know say nothing. */
void job_rules_read(struct conf *conf, const struct conf_section *section,
                    const struct conf_row *row, struct job_rules *rules);
/* Nothing is said. */
void job_rules_init(struct job_rules *rules);

/* LSF_UNIT_FOR_LIMITS: what a size without a unit counts, in KiB. */
int64_t job_rules_unit_kib(const struct conf *conf);

/* Everything that a job comes under; NULL: no such. */
struct job_rules_stack {
    const struct job_rules *site, *queue, *app;
};

/* The three as one; its commands are the application's alone. */
void job_rules_merge(const struct job_rules_stack *stack, struct job_rules *merged);

/* A job with these wishes comes to the queue: 0, and slots and run limit as the rules
 * have them where the job says nothing (0). Of a range of slots (max_slots not 0) what
 * the rules allow is left. Else the sentence of LSF. */
int job_rules_check(const struct job_rules_stack *stack, struct job_spec *spec,
                    int *max_slots, struct err *err) MUST_CHECK;

/* What is to be executed: the command with the JOB_STARTER around it, the limits that
 * count, the commands before and after, and LSB_EXIT_REQUEUE in its environment. */
void job_rules_apply(struct arena *arena, const struct job_rules_stack *stack,
                     struct job_spec *spec);

/* By a merged set of rules. */
bool job_rules_requeue(const struct job_rules *rules, int exit_code);
/* It is requeued, and not to run again where it ran. */
bool job_rules_exclude(const struct job_rules *rules, int exit_code);
bool job_rules_succeed(const struct job_rules *rules, int exit_code);
/* How often PRE_EXEC is tried before the job is held. */
int job_rules_pre_tries(const struct job_rules *rules);

#endif
