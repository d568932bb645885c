/* SPDX-License-Identifier: Apache-2.0 */
/* play.h: plays a scenario: its statements in a simulated world at their instants, its
 * expectations when everything of their instant has settled, and what came of it.
 *
 * Daemons start at 0. Of one instant: all statements in file order, then what follows
 * from them and from what was due, then the expectations. What is asked of a site that
 * is down waits until it is back.
 *
 * Units: milliseconds from the start. Ownership: the scenario is borrowed for the life
 * of the play. Order: as world.h. Same scenario, same seed: same events, same bytes.
 * Source: INTERFACES 4. Layer: sim. */
#ifndef SUBLET_SIM_PLAY_PLAY_H
#define SUBLET_SIM_PLAY_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"
#include "sim/play/summary.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

struct play_options {
    uint64_t seed;
    /* Each event as an object (INTERFACES 4); borrowed for the call. NULL: none. */
    void (*on_event)(void *arg, const struct value *event);
    /* The level of a site has changed. NULL: nobody asks. */
    void (*on_level)(void *arg, int site, const struct summary_level *level,
                     int64_t now_ms);
    /* Now and then while it runs. NULL: nobody asks. */
    void (*on_progress)(void *arg, int64_t now_ms, int64_t until_ms);
    /* Each line that a daemon logs. NULL: none. */
    world_trace_fn on_line;
    void *arg;
};

/* What is said of a line: an expectation that did not hold, or (`is_note`) a command
 * that its site refused, which fails nothing. */
struct play_remark {
    int line;
    bool is_note;
    const char *text;
    struct play_remark *next;
};

struct play;
/* The scenario has no errors. */
struct play *play_new(const struct scenario *scenario,
                      const struct play_options *options);
void play_free(struct play *play);

/* Runs to the end, or to the first violation of an invariant. */
enum play_end { PLAY_WELL, PLAY_FAILED, PLAY_VIOLATED };
enum play_end play_run(struct play *play);

/* Behind the end: goes on, without faults or commands that fail, in steps of 20 s for
 * `limit_ms`, resuming what was stopped, until all agree and every job has ended. False
 * with what is not yet so, or what was violated. */
bool play_settle(struct play *play, int64_t limit_ms, char *text, int size);

/* In the order of their happening. */
const struct play_remark *play_remarks(const struct play *play);
const char *play_violation(const struct play *play); /* "": none */
const struct summary *play_summary(const struct play *play);
struct world_counts play_counts(const struct play *play);

#endif
