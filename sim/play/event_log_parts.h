/* SPDX-License-Identifier: Apache-2.0 */
/* event_log_parts.h: what the files of a story share. Layer: sim. */
#ifndef SUBLET_SIM_PLAY_EVENT_LOG_PARTS_H
#define SUBLET_SIM_PLAY_EVENT_LOG_PARTS_H

#include <stdlib.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/bounds.h"
#include "sim/play/event_log.h"

struct event_log_submission; /* what the jobs of an array share */
struct event_log_job;

struct event_log_lease {
    char lease[LEASE_ID_SIZE];
    int provider, consumer; /* sites; -1: none of these */
    int n_lent;
    UT_hash_handle hh;
};

struct event_log {
    struct event_log_options setting;
    struct summary *summary;
    struct summary_level *levels;
    struct event_log_lease *books;
    struct event_log_submission *submissions;
    struct event_log_job *jobs;
    struct arena scratch; /* of the event that is being told */
};

/* An event in the making; NULL where nobody listens. */
struct value *event_log_begin(struct event_log *story, const char *event, int site,
                              int64_t now_ms);
void event_log_emit(struct event_log *story, const struct value *event);

void event_log_job_submitted(struct event_log *story, int site,
                             const struct row_job *row, int64_t now_ms);
void event_log_job_changed(struct event_log *story, int site,
                           const struct row_job_state *row, int64_t now_ms);
void event_log_job_release(struct event_log *story);

#endif
