/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h: statistics of a simulation per site: jobs, waits, slowdown, utilisation,
 * slot hours lent and borrowed.
 *
 * It adds up commits and levels, and stores each wait. docs/simulate.md defines the
 * numbers.
 *
 * Units: milliseconds in, seconds and hours out. Ownership: names are borrowed.
 * Layer: sim (base only). */
#ifndef SUBLET_SIM_PLAY_SUMMARY_H
#define SUBLET_SIM_PLAY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"

/* The levels of a site at one instant. */
struct summary_level {
    int n_slots; /* of its own hosts */
    int n_used;  /* of those used by own and consumers' jobs */
    int n_lent, n_borrowed;
};

struct summary;
struct summary *summary_new(const char *const *sites, int n_sites);
void summary_free(struct summary *summary);

/* Sets the level from now on. */
void summary_level(struct summary *summary, int site, const struct summary_level *level,
                   int64_t now_ms);
/* A job that ran has ended (`is_done`: DONE). Its wait is the time to its last start,
 * its run the time from there. */
void summary_ended(struct summary *summary, int site, bool is_done, int64_t wait_ms,
                   int64_t run_ms);
void summary_preempted(struct summary *summary, int site);
void summary_recalled(struct summary *summary, int site);
/* Ends the levels. */
void summary_finish(struct summary *summary, int64_t until_ms);

/* The object of docs/design/interfaces.md "Scenarios". */
struct value *summary_show(const struct summary *summary, struct arena *arena,
                           uint64_t seed, int64_t until_ms);

#endif
