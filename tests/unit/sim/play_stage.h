/* SPDX-License-Identifier: Apache-2.0 */
/* play_stage.h: scenarios in memory, played, with what they told.
 *
 * north has n1 and n2 of four slots and shares both with south; south has s1 of two;
 * alone has what north has, and shares nothing.
 * Ownership: texts live until play_stage_close. */
#ifndef SUBLET_TESTS_PLAY_STAGE_H
#define SUBLET_TESTS_PLAY_STAGE_H

#include "sim/play/play.h"

struct play_stage {
    struct scenario *scenario;
    struct play *play;
    enum play_end end;
    struct arena arena;
    char *events; /* a line each: "T EVENT SITE-OR-LEASE JOB REASON" */
    size_t n_bytes;
};

#define STAGE_SITES "site north north.conf\nsite south south.conf\n"

/* "FILE:LINE: text" of each complaint, a line each. */
const char *play_stage_complaints(struct play_stage *stage);
/* Reads only; `text` is the scenario. */
void play_stage_read(struct play_stage *stage, const char *text);
/* Reads, must find nothing wrong, and plays. */
void play_stage_play(struct play_stage *stage, uint64_t seed, const char *text);
/* What is said of the lines: "LINE: text", a line each. */
const char *play_stage_remarks(struct play_stage *stage);
int play_stage_count(const struct play_stage *stage, const char *part);
void play_stage_close(struct play_stage *stage);

#endif
