/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_select.h: compiles the text of a select section.
 *
 *     list    := or { ":" or }                          ":" only lenient, an AND
 *     or      := and { "||" and }          and      := equal { "&&" equal }
 *     equal   := compare { ("==" | "!=" | "=") compare }
 *     compare := sum { (">" | "<" | ">=" | "<=") sum }
 *     sum     := product { ("+" | "-") product }
 *     product := unary { ("*" | "/") unary }            unary := { "!" | "-" } primary
 *     primary := number | name | "defined(" name ")" | "(" or ")"
 *
 * A string resource can only be compared with a text: a quoted text or a bare word,
 * which is always a text, never a resource. A quoted text may also be the left side.
 *
 * How strict and lenient syntax differ is listed in docs/resreq.md. In an open
 * catalogue
 * (`resreq check`) an unknown name is assumed to be a resource of the type that fits;
 * such a program must not be run.
 *
 * Lenient, a term with an unknown name has no meaning: `x && mem > 5`, `x > 3 && mem >
 * 5` and `!x && mem > 5` are all `mem > 5`.
 *
 * Errors: ERR_PARSE with `error` filled; the program is unusable then.
 * Source: LSF, "Resource requirement strings"; docs/design/resreq.md "Select",
 * "Errors". Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_SELECT_H
#define SUBLET_SCHED_RESREQ_RESREQ_SELECT_H

#include "base/err.h"
#include "sched/resreq/resreq_lex.h"
#include "sched/resreq/resreq_program.h"

enum { RESREQ_NESTING_MAX = 64 }; /* nesting of parentheses and signs */

/* COMPUTE_UNIT_TYPES: the types that a cu section may name. */
struct resreq_unit_types {
    const char *const *names;
    int n_names; /* below 0: they are not known, and any name is one */
    int first;   /* index of the type of a section that names none */
};

struct resreq_language {
    const struct resources *resources;
    struct resreq_unit_types unit_types;
    bool is_lenient;
    bool is_open;      /* unknown names are assumed to be resources */
    bool has_local;    /* there is a local host: `local` is a keyword */
    bool counts_slots; /* PARALLEL_SCHED_BY_SLOT: ncpus means slots */
};

struct resreq_selection {
    struct resreq_program program;
    bool names_type;            /* also as a single `-` */
    bool names_text_or_boolean; /* names any string or Boolean resource */
};

/* Parses `lex` from lex.at to its end and adds it to the selection, with an AND if the
 * selection has something already. `keyword` is the section's, for errors. */
int resreq_select_parse(struct arena *arena, const struct resreq_language *language,
                        struct resreq_lex lex, struct resreq_place keyword,
                        struct resreq_selection *selection, struct resreq_notes *notes,
                        struct resreq_error *error) MUST_CHECK;

/* Adds `type == local`, with an AND. */
void resreq_select_default(struct arena *arena, struct resreq_selection *selection);

#endif
