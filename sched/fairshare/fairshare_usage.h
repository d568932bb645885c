/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_usage.h: what one account of a share tree uses and has used, and its
 * dynamic priority.
 *
 *     priority = shares / ( cpu_time * CPU_TIME_FACTOR
 *                         + (historical_run_time + run_time) * RUN_TIME_FACTOR
 *                         + (committed_run_time - run_time) * COMMITTED_RUN_TIME_FACTOR
 *                         + (1 + job_slots) * RUN_JOB_FACTOR )
 *
 * where the divisor is at least 0.01: a priority is at most 100 x shares.
 *
 * cpu_time is the processor time of all jobs, including running ones as far as it is
 * known; it is assumed to be spread evenly over the run of a job. run_time is that of
 * started jobs, in the states in which it grows. The historical run time is that of
 * ended jobs, and counts only with ENABLE_HIST_RUN_TIME. An hour of processor time or
 * historical run time counts as a tenth after HIST_HOURS. With RUN_TIME_DECAY, run time
 * of running jobs decays likewise, and becomes historical when they end. Committed run
 * time is that of run limits; jobs without one commit nothing. With LSB_NCPU_ENFORCE
 * run times are multiplied by slots.
 *
 * By the formula, the priority of an account without slots is at most shares /
 * RUN_JOB_FACTOR. If there are few slots for many shares, the priority of other
 * accounts never falls that low, and the account would starve. An account that has been
 * pending without any slot for 10 times HIST_HOURS (50 h if that is 0) is therefore
 * late and comes first; but not if all factors are 0, which means a fixed order.
 *
 * Units: milliseconds, except where a name says hours; slots. Ownership: none.
 * Source: docs/design/scheduling.md "Dynamic priority", "Decay". Layer: sched (base
 * only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_USAGE_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct fairshare_factors {
    double cpu_time, run_time, run_job, committed;
    double hist_hours; /* 0: nothing decays */
    bool has_history;  /* ENABLE_HIST_RUN_TIME */
    bool has_decay;    /* RUN_TIME_DECAY */
    bool is_per_slot;  /* LSB_NCPU_ENFORCE */
};

/* A job with slots, as its account counts it. */
struct fairshare_job {
    int n_slots;
    int64_t start_ms;           /* 0: not started */
    int64_t suspended_ms;       /* time for which it was suspended since then */
    int64_t suspended_since_ms; /* suspended since; 0: not suspended */
    int64_t run_limit_ms;       /* 0: none */
    int64_t busy_milli;         /* thousandths of processors that it keeps busy */
};

/* Sums over jobs. Integers return exactly to their value when a job is removed. */
struct fairshare_usage {
    int64_t n_slots;   /* of started jobs */
    int64_t n_growing; /* whose run time grows, in jobs (slots with is_per_slot) */
    int64_t n_limited; /* of these, with a run limit */
    /* Modulo 2^64; only differences from n * now are small: */
    uint64_t run_offset_ms; /* run time is n_growing * now - this */
    uint64_t limit_ms;      /* committed time is this - n_limited * now */
    int64_t busy_milli;     /* of jobs whose run time grows */
    int64_t at_ms;          /* the time at which the following hold */
    double cpu_ms, past_ms; /* of ended jobs, decayed */
    double run_ms;          /* of jobs, decayed: RUN_TIME_DECAY */
    double busy_ms;         /* of jobs, decayed: processor time */
};

/* The terms of the formula. */
struct fairshare_terms {
    int64_t n_slots;
    double cpu_hours, run_hours, committed_hours;
};

/* A job has got its slots (`sign` 1), or is removed (-1) as it was added. */
void fairshare_usage_count(struct fairshare_usage *usage,
                           const struct fairshare_factors *factors,
                           const struct fairshare_job *job, int sign, int64_t now_ms);
/* A job has ended that has used that much; its run time becomes historical. If `now_ms`
 * is earlier than the last time, the values have decayed since. */
void fairshare_usage_add_finished(struct fairshare_usage *usage,
                                  const struct fairshare_factors *factors,
                                  double cpu_ms, double run_ms, int64_t now_ms);
/* Decays values to `now_ms`; an earlier time changes nothing. */
void fairshare_usage_advance(struct fairshare_usage *usage,
                             const struct fairshare_factors *factors, int64_t now_ms);

/* The run time of the job, and as its account counts it. */
int64_t fairshare_usage_job_run_ms(const struct fairshare_job *job, int64_t now_ms);
double fairshare_usage_job_weight_ms(const struct fairshare_factors *factors,
                                     const struct fairshare_job *job, int64_t now_ms);
/* What is left of the job's processor time, spread over its run, after decay. */
double fairshare_usage_job_cpu_ms(const struct fairshare_factors *factors,
                                  const struct fairshare_job *job, int64_t cpu_ms,
                                  int64_t now_ms);

void fairshare_usage_terms(const struct fairshare_usage *usage,
                           const struct fairshare_factors *factors, int64_t now_ms,
                           struct fairshare_terms *terms);
/* The priority with that number of slots in addition to those of `terms`. */
double fairshare_usage_priority(const struct fairshare_factors *factors, int shares,
                                const struct fairshare_terms *terms,
                                int64_t n_more_slots);

/* True if its jobs have been pending too long since then. */
bool fairshare_usage_is_late(const struct fairshare_usage *usage,
                             const struct fairshare_factors *factors, int64_t since_ms,
                             int64_t now_ms);

#endif
