/* SPDX-License-Identifier: Apache-2.0 */
/* play_state.h: the state of a play, for the files of this folder.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_PLAY_PLAY_STATE_H
#define SUBLET_SIM_PLAY_PLAY_STATE_H

#include "sim/play/event_log.h"
#include "sim/play/play.h"
#include "sim/play/usage_log.h"

/* The machines' clock at 0. All machines are 12 hours behind UTC, so that it is 00:00
 * on Thursday, 1 January 1970 there, while no instant is 0, which means "none" on disk
 * and in messages. */
#define PLAY_EPOCH_MS (INT64_C(12) * 60 * 60 * 1000) /* 1970-01-01T12:00:00Z */
#define PLAY_UTC_OFFSET_MS (-PLAY_EPOCH_MS)

/* A statement, or one job of a workload. */
struct play_action {
    int64_t at_ms;
    const struct statement *statement;
    int swf_job; /* index; -1: the statement itself */
};

struct play {
    const struct scenario *scenario;
    struct play_options options;
    struct arena arena;
    struct world *world;
    struct world_options faults; /* now */
    struct broker_config broker;
    struct site_config *sites;        /* as simulated */
    int64_t hour_ms;                  /* of HOURS, for daemons that start now */
    const struct site_config **given; /* as in their present files */
    struct event_log *log;
    struct summary *summary;
    struct usage_log *usage;     /* NULL: none is kept */
    struct play_action *actions; /* by time, then line, then order in the trace */
    int n_actions, next_action;
    struct play_action *late; /* delayed, because the site was down; in order */
    int n_late, late_capacity;
    uint64_t *job_ids; /* of each submit statement; 0: not submitted (yet) */
    struct play_remark *first, *last;
    int n_failed;
};

/* Adds a remark about a line of the scenario. A note is not a failure. */
void play_state_remark(struct play *play, int line, bool is_note, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));
/* The id of a named job or element ("12", "12[3]"); NULL if it is not submitted. */
const char *play_state_job_id(struct play *play, int site, const char *name,
                              struct arena *arena);

#endif
