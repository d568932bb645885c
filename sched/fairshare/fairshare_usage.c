/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_usage.c: see fairshare_usage.h. Run times are not summed over jobs at each
 * look. The sum of run times grows with the number of running jobs: it is that number
 * times now, minus the start times that were subtracted when the jobs were added. */
#include "sched/fairshare/fairshare_usage.h"

#include <math.h>

enum { MILLI = 1000, PATIENCE = 10 /* times HIST_HOURS */ };

static const double hour_ms = 3600000.0;
static const double least_divisor = 0.01;
static const double default_hist_hours = 5;

/* The rate of decay per millisecond. */
static double rate_of(double hist_hours)
{
    return hist_hours > 0 ? log(10.0) / (hist_hours * hour_ms) : 0;
}

/* The factor by which a value decays in that time. */
static double decay_of(double hist_hours, int64_t elapsed_ms)
{
    return elapsed_ms > 0 ? exp(-rate_of(hist_hours) * (double)elapsed_ms) : 1;
}

/* ---------------------------------------------------------------- one job */

int64_t fairshare_usage_job_run_ms(const struct fairshare_job *job, int64_t now_ms)
{
    int64_t until_ms = job->suspended_since_ms != 0 ? job->suspended_since_ms : now_ms;
    int64_t run_ms = until_ms - job->start_ms - job->suspended_ms;
    return job->start_ms != 0 && run_ms > 0 ? run_ms : 0;
}

static int weight_of(const struct fairshare_factors *factors,
                     const struct fairshare_job *job)
{
    return factors->is_per_slot ? job->n_slots : 1;
}

/* What is left of time that accrued at that rate per millisecond of the job's run. */
static double faded(double rate, const struct fairshare_job *job, int64_t now_ms)
{
    int64_t run_ms = fairshare_usage_job_run_ms(job, now_ms);
    int64_t ago_ms =
        job->suspended_since_ms != 0 ? now_ms - job->suspended_since_ms : 0;
    if (rate == 0) {
        return (double)run_ms;
    }
    return (1 - exp(-rate * (double)run_ms)) / rate *
           exp(-rate * (double)(ago_ms > 0 ? ago_ms : 0));
}

static double run_rate_of(const struct fairshare_factors *factors)
{
    return factors->has_decay ? rate_of(factors->hist_hours) : 0;
}

/* Processor time at the rate that the job is known to use. */
static double busy_ms_of(const struct fairshare_factors *factors,
                         const struct fairshare_job *job, int64_t now_ms)
{
    return (double)job->busy_milli / MILLI *
           faded(rate_of(factors->hist_hours), job, now_ms);
}

double fairshare_usage_job_weight_ms(const struct fairshare_factors *factors,
                                     const struct fairshare_job *job, int64_t now_ms)
{
    return weight_of(factors, job) * faded(run_rate_of(factors), job, now_ms);
}

double fairshare_usage_job_cpu_ms(const struct fairshare_factors *factors,
                                  const struct fairshare_job *job, int64_t cpu_ms,
                                  int64_t now_ms)
{
    int64_t run_ms = fairshare_usage_job_run_ms(job, now_ms);
    double rate = rate_of(factors->hist_hours);
    return run_ms > 0 ? (double)cpu_ms / (double)run_ms * faded(rate, job, now_ms)
                      : (double)cpu_ms;
}

/* ---------------------------------------------------------------- an account */

void fairshare_usage_advance(struct fairshare_usage *usage,
                             const struct fairshare_factors *factors, int64_t now_ms)
{
    if (now_ms <= usage->at_ms) {
        return;
    }
    int64_t elapsed_ms = usage->at_ms != 0 ? now_ms - usage->at_ms : 0;
    double rate = rate_of(factors->hist_hours);
    double decay = decay_of(factors->hist_hours, elapsed_ms);
    usage->cpu_ms *= decay;
    usage->past_ms *= decay;
    if (factors->has_decay && rate > 0) {
        double level = (double)usage->n_growing / rate;
        usage->run_ms = level + (usage->run_ms - level) * decay;
    }
    double busy = (double)usage->busy_milli / MILLI;
    usage->busy_ms = rate > 0 ? busy / rate + (usage->busy_ms - busy / rate) * decay
                              : usage->busy_ms + busy * (double)elapsed_ms;
    usage->at_ms = now_ms;
}

/* A job that has started: adds what grows with it. */
static void count_run(struct fairshare_usage *usage,
                      const struct fairshare_factors *factors,
                      const struct fairshare_job *job, int64_t weight, int64_t now_ms)
{
    bool is_limited = job->run_limit_ms > 0, grows = job->suspended_since_ms == 0;
    /* A suspended job has this run time; a running one has run since this time. */
    int64_t offset_ms = grows ? job->start_ms + job->suspended_ms
                              : -fairshare_usage_job_run_ms(job, now_ms);
    double faded_ms = fairshare_usage_job_weight_ms(factors, job, usage->at_ms);
    usage->run_ms += weight > 0 ? faded_ms : -faded_ms;
    double busy_ms = busy_ms_of(factors, job, usage->at_ms);
    usage->busy_ms += weight > 0 ? busy_ms : -busy_ms;
    usage->busy_milli += grows ? (weight > 0 ? job->busy_milli : -job->busy_milli) : 0;
    usage->n_growing += grows ? weight : 0;
    usage->run_offset_ms += (uint64_t)(weight * offset_ms);
    usage->n_limited += grows && is_limited ? weight : 0;
    usage->limit_ms +=
        is_limited ? (uint64_t)(weight * (job->run_limit_ms + offset_ms)) : 0;
}

void fairshare_usage_count(struct fairshare_usage *usage,
                           const struct fairshare_factors *factors,
                           const struct fairshare_job *job, int sign, int64_t now_ms)
{
    fairshare_usage_advance(usage, factors, now_ms);
    usage->n_slots += sign * job->n_slots;
    if (job->start_ms != 0) {
        count_run(usage, factors, job, (int64_t)sign * weight_of(factors, job), now_ms);
    }
    if (usage->n_slots == 0) {
        usage->run_ms = usage->busy_ms = 0; /* rounding errors */
    }
}

void fairshare_usage_add_finished(struct fairshare_usage *usage,
                                  const struct fairshare_factors *factors,
                                  double cpu_ms, double run_ms, int64_t now_ms)
{
    fairshare_usage_advance(usage, factors, now_ms);
    double decay = decay_of(factors->hist_hours, usage->at_ms - now_ms);
    usage->cpu_ms += cpu_ms * decay;
    usage->past_ms += run_ms * decay;
}

/* ---------------------------------------------------------------- the priority */

static double positive(double number)
{
    return number > 0 ? number : 0;
}

static double times_now(int64_t number, int64_t now_ms, uint64_t less)
{
    return (double)(int64_t)((uint64_t)number * (uint64_t)now_ms - less);
}

void fairshare_usage_terms(const struct fairshare_usage *usage,
                           const struct fairshare_factors *factors, int64_t now_ms,
                           struct fairshare_terms *terms)
{
    struct fairshare_usage now = *usage;
    bool fades = factors->has_decay && factors->hist_hours > 0;
    fairshare_usage_advance(&now, factors, now_ms);
    double run_ms =
        fades ? now.run_ms : times_now(now.n_growing, now_ms, now.run_offset_ms);
    double past_ms = factors->has_history || factors->has_decay ? now.past_ms : 0;
    *terms = (struct fairshare_terms){
        .n_slots = usage->n_slots,
        .cpu_hours = (positive(now.cpu_ms) + positive(now.busy_ms)) / hour_ms,
        .run_hours = (positive(run_ms) + past_ms) / hour_ms,
        .committed_hours =
            positive(-times_now(now.n_limited, now_ms, now.limit_ms)) / hour_ms,
    };
}

double fairshare_usage_priority(const struct fairshare_factors *factors, int shares,
                                const struct fairshare_terms *terms,
                                int64_t n_more_slots)
{
    double divisor = terms->cpu_hours * factors->cpu_time +
                     terms->run_hours * factors->run_time +
                     terms->committed_hours * factors->committed +
                     (double)(1 + terms->n_slots + n_more_slots) * factors->run_job;
    return shares / (divisor > least_divisor ? divisor : least_divisor);
}

bool fairshare_usage_is_late(const struct fairshare_usage *usage,
                             const struct fairshare_factors *factors, int64_t since_ms,
                             int64_t now_ms)
{
    double hist = factors->hist_hours > 0 ? factors->hist_hours : default_hist_hours;
    bool is_fixed = factors->cpu_time <= 0 && factors->run_time <= 0 &&
                    factors->run_job <= 0 && factors->committed <= 0;
    int64_t last_ms = since_ms > usage->at_ms ? since_ms : usage->at_ms;
    return !is_fixed && usage->n_slots == 0 &&
           (double)(now_ms - last_ms) >= PATIENCE * hist * hour_ms;
}
