/* SPDX-License-Identifier: Apache-2.0 */
/* story_parts.h: what the files of a story share. Layer: sim. */
#ifndef SUBLET_SIM_STORY_PARTS_H
#define SUBLET_SIM_STORY_PARTS_H

#include <stdlib.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/bounds.h"
#include "sim/story.h"

struct story_submission; /* what the jobs of an array share */
struct story_job;

struct story_book {
    char lease[LEASE_ID_SIZE];
    int provider, consumer; /* sites; -1: none of these */
    int n_lent;
    UT_hash_handle hh;
};

struct story {
    struct story_setting setting;
    struct summary *summary;
    struct summary_level *levels;
    struct story_book *books;
    struct story_submission *submissions;
    struct story_job *jobs;
    struct arena scratch; /* of the event that is being told */
};

/* An event in the making; NULL where nobody listens. */
struct value *story_begin(struct story *story, const char *event, int site,
                          int64_t now_ms);
void story_tell(struct story *story, const struct value *event);

void story_job_submitted(struct story *story, int site, const struct row_job *row,
                         int64_t now_ms);
void story_job_changed(struct story *story, int site, const struct row_job_state *row,
                       int64_t now_ms);
void story_job_release(struct story *story);

#endif
