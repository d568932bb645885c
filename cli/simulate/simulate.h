/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.h: one run of a scenario, for `sublet simulate`: its files, its events, its
 * progress, and what came of it.
 *
 * Units: milliseconds from the start. Ownership: a run owns all it has until
 * simulate_run_release. Layer: cli (sim, base). */
#ifndef SUBLET_CLI_SIMULATE_SIMULATE_H
#define SUBLET_CLI_SIMULATE_SIMULATE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/call.h"
#include "sim/play/play.h"

/* INTERFACES 4: 1 is CALL_FAILED, 2 CALL_MISUSED. */
enum { SIMULATE_VIOLATED = 3 };

/* The level of a site from an instant on. */
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
    FILE *events; /* NULL: nobody wants them */
    bool with_curves;
    bool with_log; /* what the daemons log goes to standard error */
    uint64_t seed;
    struct scenario *scenario;
    struct play *play;
    struct simulate_curve *curves; /* of each site */
    json_t *summary;               /* INTERFACES 4 */
    int64_t shown_ms, begun_ms;    /* of the progress line; real time */
    bool is_shown;
};

/* Reads the scenario and says what is wrong with it: CALL_OK or CALL_MISUSED. */
int simulate_run_read(struct simulate_run *run);
/* Plays it and says what failed; the exit status. The summary is there after it. */
int simulate_run_play(struct simulate_run *run);
void simulate_run_release(struct simulate_run *run);

/* The summary as a table, a site a line. */
void simulate_show(struct call *call, const json_t *summary);
/* Several side by side: a line for each number of each site, a column for each run. */
void simulate_show_many(struct call *call, const struct simulate_run *runs, int n_runs);

/* Slots used, lent and borrowed over time, a panel a site. */
int simulate_plot(const struct simulate_run *run, const char *path,
                  struct err *err) MUST_CHECK;

#endif
