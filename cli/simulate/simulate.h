/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.h: one run of a scenario for `sublet simulate`: files, events, progress and
 * results.
 *
 * Units: milliseconds from the start. Ownership: a run owns all its data until
 * simulate_run_release. Layer: cli (sim, base). */
#ifndef SUBLET_CLI_SIMULATE_SIMULATE_H
#define SUBLET_CLI_SIMULATE_SIMULATE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/call.h"
#include "sim/play/play.h"

/* docs/design/interfaces.md "Scenarios": 1 is CALL_FAILED, 2 CALL_MISUSED. */
enum { SIMULATE_VIOLATED = 3 };

/* The levels of a site from an instant on. */
struct simulate_sample {
    int64_t at_ms;
    struct summary_level level;
};

struct simulate_curve {
    struct simulate_sample *samples;
    int count, capacity;
};

struct simulate_run {
    const char *file;
    FILE *events; /* NULL: not written */
    FILE *usage;  /* likewise */
    bool with_curves;
    bool with_log; /* prints the daemons' logs to standard error */
    uint64_t seed;
    struct scenario *scenario;
    struct play *play;
    struct simulate_curve *curves; /* of each site */
    json_t *summary;               /* docs/design/interfaces.md "Scenarios" */
    int64_t shown_ms, begun_ms;    /* of the progress line; real time */
    bool is_shown;
};

/* Reads the scenario and prints its errors: CALL_OK or CALL_MISUSED. */
int simulate_run_read(struct simulate_run *run);
/* Plays the scenario, prints failures and sets the summary. Returns the exit status. */
int simulate_run_play(struct simulate_run *run);
void simulate_run_release(struct simulate_run *run);

/* Prints the summary as a table with one line per site. */
void simulate_show(struct call *call, const json_t *summary);
/* Compares several runs: a line for each number of each site, a column for each run. */
void simulate_show_many(struct call *call, const struct simulate_run *runs, int n_runs);

/* Plots slots used, lent and borrowed over time, one panel per site. */
int simulate_plot(const struct simulate_run *run, const char *path,
                  struct err *err) MUST_CHECK;

#endif
