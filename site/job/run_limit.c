/* SPDX-License-Identifier: Apache-2.0 */
/* run_limit.c: see run_limit.h. */
#include "site/job/run_limit.h"

/* A run that begins only when its gap is over ends at once, and by a limit. */
enum { GAP_MIN_MS = 1000 };

int64_t run_limit_ms(const struct job *job, int64_t now_ms)
{
    int64_t limit_ms = job->spec->run_limit_ms;
    int64_t from_ms = job->start_ms != 0 ? job->start_ms : now_ms;
    int64_t gap_ms = job->backfill.until_ms - from_ms;
    if (job->backfill.lender == 0 || limit_ms <= gap_ms) {
        return limit_ms;
    }
    return gap_ms > GAP_MIN_MS ? gap_ms : GAP_MIN_MS;
}

bool run_limit_is_cut(const struct job *job, int64_t now_ms)
{
    return run_limit_ms(job, now_ms) != job->spec->run_limit_ms;
}
