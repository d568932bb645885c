/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_section.h: one requirement string, cut into its sections.
 *
 * A section is KEYWORD[content], with or without a blank before the bracket; it ends at
 * the first `]` outside quotes. What stands before the first section is an implicit
 * select. Quotes around the whole string are dropped. Behind the last section nothing
 * may follow; lenient, it is ignored with a note.
 *
 * Units: bytes. Ownership: parts point into the string. Errors: ERR_PARSE, also for
 * braces, which are resreq_alternatives.h's. Source: seed 003; lsf.md 5.1. Layer: sched
 * (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_SECTION_H
#define SUBLET_SCHED_RESREQ_RESREQ_SECTION_H

#include <stdbool.h>

#include "base/bounds.h"
#include "base/err.h"
#include "sched/resreq/resreq_lex.h"

struct resreq_part {
    enum resreq_section section;
    struct resreq_place keyword; /* implicit: the first word */
    struct resreq_lex content;
};

struct resreq_parts {
    struct resreq_part parts[RESREQ_SECTIONS]; /* in the string's order */
    int count;
};

int resreq_section_split(const char *source, bool is_lenient,
                         struct resreq_parts *parts, struct resreq_notes *notes,
                         struct resreq_error *fault) MUST_CHECK;

#endif
