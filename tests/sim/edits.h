/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h: texts of a federation with lines, shares, sites or faults taken out. Nothing
 * here knows whether what is left makes sense.
 *
 * Ownership: lines point into the body that was split. */
#ifndef SUBLET_TESTS_SIM_EDITS_H
#define SUBLET_TESTS_SIM_EDITS_H

#include "tests/sim/texts.h"

enum { EDITS_LINES_MAX = 2000 };

struct edits_lines {
    const char *at[EDITS_LINES_MAX];
    int length[EDITS_LINES_MAX]; /* with its newline */
    int count;
};

void edits_split(const char *body, struct edits_lines *lines);
/* The first word of the line is this one. */
bool edits_begins_with(const char *line, const char *word);
/* The text is made of these lines, without `first` to `last`. */
void edits_drop(struct texts *texts, const char *name, const struct edits_lines *lines,
                int first, int last);
/* `length` bytes at `at` of the text's body are replaced. */
void edits_replace(struct texts *texts, const char *name, size_t at, size_t length,
                   const char *by);
/* The site's file, whatever names it, and policies that share out to nobody else. */
void edits_drop_site(struct texts *texts, const char *site);
/* Ends at that second: what is said of later ones is not there. Times with a suffix are
 * left alone. */
void edits_end_at(struct texts *texts, long at_s);
/* What is drained or closed is resumed or opened by a later line: else a federation may
 * well be stuck. */
bool edits_is_put_right(const struct texts *texts);
/* Without what a network, a crash or a backup does. */
void edits_drop_faults(struct texts *texts);

#endif
