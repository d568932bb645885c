/* SPDX-License-Identifier: Apache-2.0 */
/* swf.h: reads workload traces in the Standard Workload Format into jobs ordered by
 * submission.
 *
 * One line of 18 numbers per job; `;` begins a header line, -1 is unknown. Used are:
 * submit time (2), run time (4), processors allocated (5), or requested (8) if those
 * are unknown, requested time as the run limit (9), user, group, queue (12, 13, 15).
 * Ids become names: u12, g3, q1; an unknown id is "unknown".
 *
 * Left out, and counted: jobs that never ran (run time unknown, or status failed (0) or
 * cancelled (5) with a run time of 0), jobs of unknown size, and the parts of
 * checkpointed jobs (status 2, 3, 4), which have another line for the whole job. A job
 * may have a run time above its run limit. Dependencies between jobs (17, 18) are
 * ignored, since the submit times already reflect them.
 *
 * Units: milliseconds, from the first job's submission. Ownership: everything is in the
 * arena. Errors: ERR_PARSE: not 18 numbers, a line that is too long, bytes that are not
 * text; ERR_BOUNDS: an impossible number; ERR_FULL: too many jobs. The text is
 * "FILE:LINE: what, expected ...". Order: by submit time, then as in the file. Source:
 * the Parallel Workloads Archive's description of the format. Layer: sim (base only).
 */
#ifndef SUBLET_SIM_SCENARIO_SWF_H
#define SUBLET_SIM_SCENARIO_SWF_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
    SWF_FIELDS = 18,
    SWF_LINE_MAX = 4096,     /* a job's line has about 100 bytes */
    SWF_JOBS_MAX = 1000000,  /* as JOBS_MAX; 150 MB of memory */
    SWF_SCALE_ONE = 1000000, /* a scale of 1 */
    SWF_SCALE_MAX = 1000 * SWF_SCALE_ONE,
};

struct swf_job {
    int64_t number; /* its number in the trace */
    int64_t at_ms;  /* since the first job, scaled */
    int64_t run_ms;
    int64_t limit_ms; /* 0: none */
    int n_slots;
    const char *user, *group, *queue;
    int line;
};

struct swf_options {
    int64_t scale_millionths; /* of the times between submissions; 0 to SWF_SCALE_MAX */
    int limit_jobs;           /* read only the first jobs; 0: all */
};

struct swf {
    struct swf_job *jobs;
    int n_jobs;
    int n_never_ran, n_sizeless, n_parts; /* lines left out */
    int n_over_limit;                     /* jobs with a run time above their limit */
    int n_slots_max;                      /* of the largest job */
    int64_t max_procs;                    /* of the header; 0: unknown */
};

/* `file` names the text in errors. */
int swf_read(const char *file, const char *text, size_t length,
             const struct swf_options *options, struct arena *arena, struct swf *swf,
             struct err *err) MUST_CHECK;

#endif
