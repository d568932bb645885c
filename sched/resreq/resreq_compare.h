/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_compare.h: one comparison of a select section.
 *
 * Layer: sched, within resreq_select. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_COMPARE_H
#define SUBLET_SCHED_RESREQ_RESREQ_COMPARE_H

#include "sched/resreq/resreq_operand.h"

/* Reads what stands behind the operator, at the level of the grammar below it. */
typedef bool (*resreq_operand_fn)(struct resreq_parser *, struct resreq_operand *);

bool resreq_compare_is_operator(enum lex_kind kind);

/* `left` was read and a comparison's sign is next: takes the sign and its right side,
 * which `operand` reads where it is no text; `left` becomes the result. */
bool resreq_compare(struct resreq_parser *parser, struct resreq_operand *left,
                    resreq_operand_fn operand);

#endif
