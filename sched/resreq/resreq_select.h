/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_select.h: the text of a select section becomes instructions.
 *
 *     list    := or { ":" or }                          ":" only lenient, an AND
 *     or      := and { "||" and }          and      := equal { "&&" equal }
 *     equal   := compare { ("==" | "!=" | "=") compare }
 *     compare := sum { (">" | "<" | ">=" | "<=") sum }
 *     sum     := product { ("+" | "-") product }
 *     product := unary { ("*" | "/") unary }            unary := { "!" | "-" } primary
 *     primary := number | name | "defined(" name ")" | "(" or ")"
 *
 * A string resource stands before a comparison, with a text behind it: a quoted one or
 * a bare word, which is always a text, never a resource. A quoted text may stand first.
 *
 * Strict and lenient differ as docs/resreq.md lists it. Where the catalogue is open
 * (`resreq check`) a name that it does not have is taken for a resource of the type
 * that fits; such a program is not meant to be run.
 *
 * Lenient, an unknown name makes its term say nothing: `x && mem > 5`, `x > 3 && mem >
 * 5` and `!x && mem > 5` are all `mem > 5`.
 *
 * Errors: ERR_PARSE with the fault filled; the program is then of no use.
 * Source: seed 003; lsf.md 5.2, 5.9. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_SELECT_H
#define SUBLET_SCHED_RESREQ_RESREQ_SELECT_H

#include "base/err.h"
#include "sched/resreq/resreq_lex.h"
#include "sched/resreq/resreq_program.h"

enum { RESREQ_NESTING_MAX = 64 }; /* parentheses and signs within one another */

struct resreq_language {
    const struct resources *resources;
    bool is_lenient;
    bool is_open;      /* unknown names are resources */
    bool has_local;    /* there is a local host: `local` is a word */
    bool counts_slots; /* PARALLEL_SCHED_BY_SLOT: ncpus is slots */
};

struct resreq_selection {
    struct resreq_program program;
    bool names_type;            /* also by a lone `-` */
    bool names_text_or_boolean; /* any string or Boolean resource */
};

/* Adds to the selection what stands at `keyword`'s content, from `lex->at` to its end,
 * with an AND where the selection has something already. */
int resreq_select_parse(struct arena *arena, const struct resreq_language *language,
                        struct resreq_lex lex, struct resreq_place keyword,
                        struct resreq_selection *selection, struct resreq_notes *notes,
                        struct resreq_error *fault) MUST_CHECK;

/* Adds `type == local`, with an AND. */
void resreq_select_default(struct arena *arena, struct resreq_selection *selection);

#endif
