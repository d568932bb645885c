/* SPDX-License-Identifier: Apache-2.0 */
/* output_report.h: the report of a job's end, as LSF appends it to the output file.
 *
 * The layout is LSF's with LSB_STDOUT_DIRECT = Y, since output goes to its file while
 * the job runs: programs look for "Subject: Job", "Successfully completed.", "Exited
 * with exit code", "TERM_RUNLIMIT" and the lines of the summary. A value that the guard
 * does not measure is "-", as in LSF.
 *
 * Units: milliseconds of wall clock, KiB. Source: LSF's bsub -o. Layer: host (guard).
 */
#ifndef SUBLET_HOST_GUARD_OUTPUT_REPORT_H
#define SUBLET_HOST_GUARD_OUTPUT_REPORT_H

#include "host/exec/exec.h"

struct output_report {
    const struct run_spec *spec;
    const struct stages *stages; /* the result of the job is decided */
    int64_t start_ms, end_ms, cpu_ms, mem_kib;
};

/* Ownership: heap, the caller's. Times are local. */
char *output_report_text(const struct output_report *report);

#endif
