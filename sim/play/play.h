/* SPDX-License-Identifier: Apache-2.0 */
/* play.h: executes a scenario: its statements at their instants in a simulated world,
 * and its expectations after all other events of their instant.
 *
 * Daemons start at 0. At each instant, first all statements in file order, then all
 * events, then the expectations. Statements about a site that is down are delayed until
 * it is up.
 *
 * Units: milliseconds from the start. Ownership: the scenario is borrowed for the life
 * of the play. Order: as world.h. Same scenario, same seed: same events, same bytes.
 * Source: docs/design/interfaces.md "Scenarios". Layer: sim. */
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
    /* Each event as an object (docs/design/interfaces.md "Scenarios"); borrowed for the
     * call. NULL: none. */
    void (*on_event)(void *arg, const struct value *event);
    /* The level of a site has changed. May be NULL. */
    void (*on_level)(void *arg, int site, const struct summary_level *level,
                     int64_t now_ms);
    bool with_usage; /* for play_usage */
    /* Called periodically. May be NULL. */
    void (*on_progress)(void *arg, int64_t now_ms, int64_t until_ms);
    /* Each line that a daemon logs. NULL: none. */
    world_trace_fn on_line;
    void *arg;
};

/* A remark about a line: an expectation that failed, or (`is_note`) a command that its
 * site refused, which is not a failure. */
struct play_remark {
    int line;
    bool is_note;
    const char *text;
    struct play_remark *next;
};

struct play;
/* The scenario must have no errors. */
struct play *play_new(const struct scenario *scenario,
                      const struct play_options *options);
void play_free(struct play *play);

/* Runs to the end, or to the first violation of an invariant. */
enum play_end { PLAY_WELL, PLAY_FAILED, PLAY_VIOLATED };
enum play_end play_run(struct play *play);

/* After the end: continues without faults and failing commands for up to `limit_ms`,
 * resumes stopped jobs, and returns true when broker and sites agree and every job has
 * ended. Otherwise `text` has the reason. */
bool play_settle(struct play *play, int64_t limit_ms, char *text, int size);

/* In order of time. */
const struct play_remark *play_remarks(const struct play *play);
const char *play_violation(const struct play *play); /* "": none */
const struct summary *play_summary(const struct play *play);
/* The slot time of leases (usage_log.h), in the arena. */
struct value *play_usage(const struct play *play, struct arena *arena);
struct world_counts play_counts(const struct play *play);

#endif
