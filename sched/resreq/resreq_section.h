/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_section.h: splits a requirement string into its sections.
 *
 * A section is KEYWORD[content], with or without a blank before the bracket. It ends at
 * the first `]` outside quotes. Text before the first section is an implicit select.
 * Quotes around the whole string are removed. Text after the last section is an error;
 * lenient, it is ignored with a note.
 *
 * Units: bytes. Ownership: parts point into the string. Errors: ERR_PARSE, also for
 * braces, which resreq_alternatives.h splits. Source: LSF, "Resource requirement
 * strings"; docs/design/resreq.md "Sections". Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_SECTION_H
#define SUBLET_SCHED_RESREQ_RESREQ_SECTION_H

#include <stdbool.h>

#include "base/bounds.h"
#include "base/err.h"
#include "sched/resreq/resreq_lex.h"

struct resreq_part {
    enum resreq_section section;
    struct resreq_place keyword; /* of an implicit select the first word */
    struct resreq_lex content;
};

struct resreq_parts {
    struct resreq_part parts[RESREQ_SECTIONS]; /* in the order of the string */
    int count;
};

int resreq_section_split(const char *source, bool is_lenient,
                         struct resreq_parts *parts, struct resreq_notes *notes,
                         struct resreq_error *error) MUST_CHECK;

#endif
