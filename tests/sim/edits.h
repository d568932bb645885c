/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h: removes lines, shares, sites or faults from the texts of a federation. It
 * does not check whether the result makes sense.
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
/* True if this is the first word of the line. */
bool edits_begins_with(const char *line, const char *word);
/* Sets the text to these lines, without those from `first` to `last`. */
void edits_drop(struct texts *texts, const char *name, const struct edits_lines *lines,
                int first, int last);
/* Replaces `length` bytes at `at` of the text's body. */
void edits_replace(struct texts *texts, const char *name, size_t at, size_t length,
                   const char *by);
/* Removes the site's file, the lines that name the site, and the policies that have no
 * other consumer. */
void edits_drop_site(struct texts *texts, const char *site);
/* Ends the scenario at that second and removes later statements. Statements whose time
 * has a suffix stay. */
void edits_end_at(struct texts *texts, long at_s);
/* True if every drain, close and reload is undone by a later line. Otherwise the
 * federation may rightly never settle. */
bool edits_is_restored(const struct texts *texts);
/* Removes the faults of networks, crashes and restored backups. */
void edits_drop_faults(struct texts *texts);

#endif
