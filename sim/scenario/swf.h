/* SPDX-License-Identifier: Apache-2.0 */
/* swf.h: workload traces in the Standard Workload Format: text in, jobs in the order of
 * their submission out.
 *
 * A job a line, 18 numbers; `;` begins a header line, -1 is unknown. Taken are: submit
 * time (2), run time (4), processors allocated (5), or requested (8) where those are
 * unknown, requested time as the run limit (9), user, group, queue (12, 13, 15). Ids
 * become names: u12, g3, q1; an unknown one is "unknown".
 *
 * Left out, and counted: jobs that never ran (run time unknown, or status failed (0) or
 * cancelled (5) with a run time of 0), jobs of unknown size, and the parts of a job
 * that was checkpointed (status 2, 3, 4), whose whole is another line. A job that ran
 * longer than it asked for keeps both times: what a limit does is the scheduler's
 * business. Dependencies between jobs (17, 18) are not looked at: the submit times of
 * the trace have them in them.
 *
 * Units: milliseconds, from the first job's submission. Ownership: all in the arena.
 * Errors: ERR_PARSE: not 18 numbers, a line longer than any trace has, bytes that are
 * no text; ERR_BOUNDS: a number that cannot be; ERR_FULL: too many jobs. The text is
 * "FILE:LINE: what, expected ...", and nothing is taken.
 * Order: by submit time, then as in the file.
 * Source: the Parallel Workloads Archive's description of the format. Layer: sim (base
 * only). */
#ifndef SUBLET_SIM_SCENARIO_SWF_H
#define SUBLET_SIM_SCENARIO_SWF_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
    SWF_FIELDS = 18,
    SWF_LINE_MAX = 4096,     /* a job's line has some 100 bytes, a header line more */
    SWF_JOBS_MAX = 1000000,  /* as many as a site may have waiting; 150 MB here */
    SWF_SCALE_ONE = 1000000, /* scale 1: a trace as it is */
    SWF_SCALE_MAX = 1000 * SWF_SCALE_ONE,
};

struct swf_job {
    int64_t number; /* as the trace counts them */
    int64_t at_ms;  /* 0: with the first; scaled */
    int64_t run_ms;
    int64_t limit_ms; /* 0: none */
    int n_slots;
    const char *user, *group, *queue;
    int line;
};

struct swf_options {
    int64_t scale_millionths; /* of the times between submissions; 0 to SWF_SCALE_MAX */
    int limit_jobs;           /* the first so many that are taken; 0: all */
};

struct swf {
    struct swf_job *jobs;
    int n_jobs;
    int n_never_ran, n_sizeless, n_parts; /* lines left out */
    int n_over_limit;                     /* jobs that ran longer than they asked for */
    int n_slots_max;                      /* of the largest job */
    int64_t max_procs;                    /* of the header; 0: not told */
};

/* `file` names the text in errors. */
int swf_read(const char *file, const char *text, size_t length,
             const struct swf_options *options, struct arena *arena, struct swf *swf,
             struct err *err) MUST_CHECK;

#endif
