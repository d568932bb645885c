/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_compare.h: one comparison in a select section.
 *
 * Layer: sched, for resreq_select alone. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_COMPARE_H
#define SUBLET_SCHED_RESREQ_RESREQ_COMPARE_H

#include "sched/resreq/resreq_operand.h"

/* Parses a right side, at the level of the grammar below comparisons. */
typedef bool (*resreq_operand_fn)(struct resreq_parser *, struct resreq_operand *);

bool resreq_compare_is_operator(enum lex_kind kind);

/* Called after `left` was read, with a comparison operator next: takes the operator and
 * its right side, which `operand` parses unless it is a text. `left` becomes the
 * result. */
bool resreq_compare(struct resreq_parser *parser, struct resreq_operand *left,
                    resreq_operand_fn operand);

#endif
