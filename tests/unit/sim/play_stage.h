/* SPDX-License-Identifier: Apache-2.0 */
/* play_stage.h: plays scenarios that are in memory, and collects their events and
 * remarks.
 *
 * Site north has the hosts n1 and n2 of four slots each, and exports both to south.
 * Site south has s1 of two slots. Site alone has the hosts of north and exports none.
 * Ownership: texts live until play_stage_close. */
#ifndef SUBLET_TESTS_PLAY_STAGE_H
#define SUBLET_TESTS_PLAY_STAGE_H

#include "sim/play/play.h"

struct play_stage {
    struct scenario *scenario;
    struct play *play;
    enum play_end end;
    struct arena arena;
    char *events; /* one per line: "T EVENT SITE-OR-LEASE JOB REASON" */
    size_t n_bytes;
};

#define STAGE_SITES "site north north.conf\nsite south south.conf\n"

/* "FILE:LINE: text" of each diagnostic, one per line. */
const char *play_stage_complaints(struct play_stage *stage);
/* Only reads the scenario `text`. */
void play_stage_read(struct play_stage *stage, const char *text);
/* Reads the scenario, which must have no errors, and plays it. */
void play_stage_play(struct play_stage *stage, uint64_t seed, const char *text);
/* The remarks: "LINE: text", one per line. */
const char *play_stage_remarks(struct play_stage *stage);
int play_stage_count(const struct play_stage *stage, const char *part);
void play_stage_close(struct play_stage *stage);

#endif
