/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_usage.h: what one account of a fairshare tree uses and has used, and the
 * dynamic priority that comes of it.
 *
 *     priority = shares / ( cpu_time * CPU_TIME_FACTOR
 *                         + (historical_run_time + run_time) * RUN_TIME_FACTOR
 *                         + (committed_run_time - run_time) * COMMITTED_RUN_TIME_FACTOR
 *                         + (1 + job_slots) * RUN_JOB_FACTOR )
 *
 * where the divisor is at least 0.01: a priority is at most 100 x shares.
 *
 * cpu_time is what jobs have taken, those that run too, as far as it is known: that of
 * a job is taken to have been used evenly over its run. run_time is that of the jobs
 * that have begun and not ended, in the states in which it grows; the historical one is
 * of those that have ended, and counts only with ENABLE_HIST_RUN_TIME. An hour of
 * processor time or historical run time counts as a tenth after HIST_HOURS; with
 * RUN_TIME_DECAY, run time of jobs that run fades alike, and is historical once they
 * have ended. Committed run time is that of run limits; jobs without one commit
 * nothing. With LSB_NCPU_ENFORCE run times are times slots.
 *
 * In the formula an account without any slot stands at shares / RUN_JOB_FACTOR at most,
 * and where slots are few against what others' shares are, those never fall so low: it
 * would starve. So who has waited for 10 times HIST_HOURS (50 h where that is 0), with
 * no slot since, is late, and comes first; but not where all factors are 0, which asks
 * for a fixed order.
 *
 * Units: milliseconds, but where a name says hours; slots. Ownership: none.
 * Source: lsf.md 4.2, 4.3. Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_USAGE_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct fairshare_factors {
    double cpu_time, run_time, run_job, committed;
    double hist_hours; /* 0: nothing fades */
    bool has_history;  /* ENABLE_HIST_RUN_TIME */
    bool has_decay;    /* RUN_TIME_DECAY */
    bool is_per_slot;  /* LSB_NCPU_ENFORCE */
};

/* What a job with slots is to its account. */
struct fairshare_job {
    int n_slots;
    int64_t start_ms;        /* 0: it has not begun */
    int64_t paused_ms;       /* since then, suspended */
    int64_t paused_since_ms; /* it is: since when; 0: it is not */
    int64_t run_limit_ms;    /* 0: none */
    int64_t busy_milli;      /* thousandths of processors that it keeps busy */
};

/* Sums over jobs; the whole numbers come and go without a trace. */
struct fairshare_usage {
    int64_t n_slots;   /* started */
    int64_t n_growing; /* whose run time grows, in jobs (slots with is_per_slot) */
    int64_t n_limited; /* of those, with a run limit */
    /* Modulo 2^64, as only their differences from now times a number are small: */
    uint64_t run_offset_ms; /* run time is n_growing * now - this */
    uint64_t limit_ms;      /* what is committed is this - n_limited * now */
    int64_t busy_milli;     /* of those whose run time grows */
    int64_t at_ms;          /* as of when the rest is */
    double cpu_ms, past_ms; /* of ended jobs, faded */
    double run_ms;          /* of jobs, faded: RUN_TIME_DECAY */
    double busy_ms;         /* of jobs, faded: processor time */
};

/* As it is shown. */
struct fairshare_terms {
    int64_t n_slots;
    double cpu_hours, run_hours, committed_hours;
};

/* The job has its slots (`sign` 1), or leaves (-1) as it came. */
void fairshare_usage_count(struct fairshare_usage *use,
                           const struct fairshare_factors *factors,
                           const struct fairshare_job *job, int sign, int64_t now_ms);
/* A job has ended that took so much; its run time goes to the history. An earlier
 * instant than the last: it has faded since. */
void fairshare_usage_add_finished(struct fairshare_usage *use,
                                  const struct fairshare_factors *factors,
                                  double cpu_ms, double run_ms, int64_t now_ms);
/* What fades is as of `now_ms`; an earlier one changes nothing. */
void fairshare_usage_advance(struct fairshare_usage *use,
                             const struct fairshare_factors *factors, int64_t now_ms);

/* The job's own run time; as its account counts it. */
int64_t fairshare_usage_job_run_ms(const struct fairshare_job *job, int64_t now_ms);
double fairshare_usage_job_weight_ms(const struct fairshare_factors *factors,
                                     const struct fairshare_job *job, int64_t now_ms);
/* What is left of processor time that it took in all that while. */
double fairshare_usage_job_cpu_ms(const struct fairshare_factors *factors,
                                  const struct fairshare_job *job, int64_t cpu_ms,
                                  int64_t now_ms);

void fairshare_usage_terms(const struct fairshare_usage *use,
                           const struct fairshare_factors *factors, int64_t now_ms,
                           struct fairshare_terms *terms);
/* With so many slots besides those of `terms`. */
double fairshare_usage_priority(const struct fairshare_factors *factors, int shares,
                                const struct fairshare_terms *terms,
                                int64_t n_more_slots);

/* Its jobs wait since then. */
bool fairshare_usage_is_late(const struct fairshare_usage *use,
                             const struct fairshare_factors *factors, int64_t since_ms,
                             int64_t now_ms);

/* What is left of 1 after so long. */
double fairshare_usage_fade(double hist_hours, int64_t elapsed_ms);

#endif
