/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.h: the rules of a queue, an application profile or the site (section
 * Parameters) for each of their jobs: run limit, slots, resource limits, commands
 * before and after the job, and when it is requeued; and what they amount to for one
 * job.
 *
 * Precedence: the job's own value, then the application's, the queue's, the site's. A
 * maximum of a queue or an application bounds all of them. If a queue gives one value
 * for a limit, it is both default and maximum; an application's is a default. Commands
 * before a job: first the queue's, then the job's or else its application's. Commands
 * after it: the job's or else its application's, then the queue's.
 *
 * Units: milliseconds, slots, and those of model/job_rlimit.h. Ownership: in conf's
 * arena; what is made for a job in the arena given. Errors: diagnostics; ERR_BOUNDS.
 * Source: LSF's lsb.queues, lsb.applications, lsb.params. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_JOB_RULES_H
#define SUBLET_SCHED_QUEUE_JOB_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf/conf.h"
#include "base/err.h"
#include "model/job_rlimit.h"
#include "model/msg.h"
#include "sched/queue/job_controls.h"

enum { JOB_RULES_UNSET = -1 };

/* ms 0: none. `host`: whose time it is, as that of a CPU limit; "": none is named. */
struct run_limit {
    int64_t ms;
    const char *host;
};

struct job_rules {
    int min_slots, default_slots, max_slots; /* PROCLIMIT; max 0: any number */
    struct run_limit run_limit;              /* RUNLIMIT: the maximum */
    struct run_limit default_run_limit;      /* of jobs without -W */
    int is_run_limit_absolute;               /* ABS_RUNLIMIT: 0, 1 or UNSET */
    const char *host_spec;   /* DEFAULT_HOST_SPEC: of limits without a host; "": none */
    struct job_rlimits soft; /* defaults */
    struct job_rlimits hard; /* maxima */
    int rerunnable;          /* RERUNNABLE: 0, 1 or UNSET */
    const int *requeue_codes; /* REQUEUE_EXIT_VALUES; NULL: not given */
    int n_requeue_codes;
    const int *exclude_codes; /* the codes in EXCLUDE(...) */
    int n_exclude_codes;
    const int *success_codes; /* SUCCESS_EXIT_VALUES; NULL: not given */
    int n_success_codes;
    const char *job_starter;          /* JOB_STARTER; "": none */
    const char *pre_exec, *post_exec; /* PRE_EXEC, POST_EXEC; "": none */
    struct job_controls controls;     /* JOB_CONTROLS, SUSPEND_CONTROL ... */
    int max_requeues;  /* MAX_JOB_REQUEUE: requeues by exit code; UNSET: any number */
    int max_pre_tries; /* MAX_PREEXEC_RETRY; UNSET: the default */
};

/* Reads a row of section Queue, Application or Parameters. Keys that a section does not
 * have remain unset. */
void job_rules_read(struct conf *conf, const struct conf_place *at,
                    struct job_rules *rules);
/* Sets everything to unset. */
void job_rules_init(struct job_rules *rules);

/* LSF_UNIT_FOR_LIMITS: the unit of sizes without a unit, in KiB. */
int64_t job_rules_unit_kib(const struct conf *conf);

/* Reads REQUEUE_EXIT_VALUES, or bsub -Q, into the codes of `rules`: "30 100-120
 * EXCLUDE(20)"; a code that is in both lists excludes. Errors: ERR_PARSE. */
int job_rules_read_requeue(struct arena *arena, const char *text,
                           struct job_rules *rules, struct err *err) MUST_CHECK;

/* The levels of rules for a job; NULL: there is none. `job`: what it asked for beside
 * its spec (-Q). `cpu_factor` returns the CPU factor of a host or a model; 0: it knows
 * none of that name. NULL: it is not needed.
 *
 * A CPU or run limit with a host is the time on that host: on another one it is
 * multiplied by the factor of the named host and divided by that of the other. One
 * without a host, DEFAULT_HOST_SPEC included, is the same everywhere, and so are run
 * limits with ABS_RUNLIMIT. Limits are compared by what they are on a host whose factor
 * is 1. */
struct job_rules_stack {
    const struct job_rules *site, *queue, *app, *job;
    double (*cpu_factor)(const void *arg, const char *name);
    const void *cpu_factor_arg;
};

/* Merges the levels. Commands of the result are the application's alone. */
void job_rules_merge(const struct job_rules_stack *stack, struct job_rules *merged);

/* Checks a job at submission. If its slots or run limit are not given (0), they get the
 * value of the rules, the run limit with its host. A range of slots (max_slots of the
 * terms not 0) is reduced to what the rules allow. `err` gets LSF's sentence. */
int job_rules_check(const struct job_rules_stack *stack, struct job_spec *spec,
                    struct job_terms *terms, struct err *err) MUST_CHECK;

/* The job's run limit on a host with that factor; 0: none. */
int64_t job_rules_run_limit(const struct job_rules_stack *stack,
                            const struct job_spec *spec, const struct job_terms *terms,
                            double factor);

/* A host or model is named in a limit of the job or of its rules, so that the limit
 * depends on the host that executes it. */
bool job_rules_needs_factor(const struct job_rules_stack *stack,
                            const struct job_spec *spec, const struct job_terms *terms);

/* Applies the rules to what is executed: the JOB_STARTER around the command, the
 * limits, the commands before and after, and LSB_EXIT_REQUEUE in the environment.
 * `factor` is the CPU factor of the host that executes it, for which the CPU limit is
 * scaled; 0: of no host yet, so that the limit keeps its own. */
void job_rules_apply(struct arena *arena, const struct job_rules_stack *stack,
                     double factor, struct job_spec *spec);

/* These take merged rules. */
bool job_rules_requeue(const struct job_rules *rules, int exit_code);
/* True if the job is requeued, but must not run on the same host again. */
bool job_rules_exclude(const struct job_rules *rules, int exit_code);
bool job_rules_succeed(const struct job_rules *rules, int exit_code);
/* How many times PRE_EXEC is tried before the job is held. */
int job_rules_pre_tries(const struct job_rules *rules);

#endif
