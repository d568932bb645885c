/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_operand.h: what the readers of a select section share: where they stand in the
 * text, and what a part of it has become.
 *
 * An operand says where its instructions begin and of what kind it is. Strings and
 * quoted texts emit nothing until their comparison is complete; an operand that says
 * nothing takes back what it has emitted.
 *
 * Errors: functions that return bool give false with the parser's fault filled.
 * Layer: sched, within resreq_select and resreq_compare. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_OPERAND_H
#define SUBLET_SCHED_RESREQ_RESREQ_OPERAND_H

#include "sched/resreq/resreq_select.h"

enum resreq_operand_kind {
    OPERAND_NUMBER, /* also the result of arithmetic */
    OPERAND_LOGIC,  /* the result of a comparison, &&, ||, ! or defined() */
    OPERAND_FLAG,   /* a Boolean resource */
    OPERAND_STRING, /* a string resource; nothing emitted */
    OPERAND_TEXT,   /* a quoted text; nothing emitted */
    OPERAND_OPEN,   /* a name that an open catalogue does not have; nothing emitted */
    OPERAND_SILENT, /* says nothing; nothing emitted */
};

struct resreq_operand {
    enum resreq_operand_kind kind;
    int start; /* its first instruction */
    struct resreq_place place;
    int id; /* OPERAND_STRING */
};

struct resreq_parser {
    struct arena *arena;
    const struct resreq_language *language;
    struct resreq_lex lex;
    struct resreq_place last; /* what was read last, for "missing value" near it */
    struct resreq_selection *selection;
    struct resreq_notes *notes;
    struct resreq_error *fault;
    int nesting;
    /* Each level of the grammar looks at the next token: it is read once. */
    struct lex_token ahead;
    struct resreq_lex ahead_from, ahead_to; /* where it begins, and what is behind it */
};

#define RESREQ_FAIL(parser, place, reason, ...)                                        \
    (resreq_error_set((parser)->fault, RESREQ_SELECT, place, reason, __VA_ARGS__),     \
     false)

bool resreq_operand_is_lenient(const struct resreq_parser *parser);
struct lex_token resreq_operand_take_token(struct resreq_parser *parser);
struct lex_token resreq_operand_peek_token(struct resreq_parser *parser);

/* Instructions: how many there are, one of them, one more. */
int resreq_operand_count_instrs(const struct resreq_parser *parser);
struct resreq_instr *resreq_operand_instr_at(const struct resreq_parser *parser,
                                             int index);
void resreq_operand_emit(struct resreq_parser *parser, struct resreq_instr instr);
void resreq_operand_emit_op(struct resreq_parser *parser, enum resreq_op op);

/* It says nothing: what it has emitted is taken back. */
void resreq_operand_silence(struct resreq_parser *parser, struct resreq_operand *value);
/* The constant that an operand is whose instructions end before `end`, or NaN. */
double resreq_operand_constant(const struct resreq_parser *parser,
                               const struct resreq_operand *value, int end);
/* Likewise the numeric resource, or -1. */
int resreq_operand_column(const struct resreq_parser *parser,
                          const struct resreq_operand *value, int end);

/* Makes it a truth, or a number, on the stack. */
bool resreq_operand_to_truth(struct resreq_parser *parser,
                             struct resreq_operand *value);
bool resreq_operand_to_number(struct resreq_parser *parser,
                              struct resreq_operand *value);
bool resreq_operand_fail_text(struct resreq_parser *parser,
                              const struct resreq_operand *value);

/* The resource that a name stands for, or -1; it is not asked for. */
int resreq_operand_find(const struct resreq_parser *parser, struct resreq_place place);
/* The name at value->place becomes an operand. */
bool resreq_operand_resource(struct resreq_parser *parser,
                             struct resreq_operand *value);
/* The word `defined` was read: the rest of the call. */
bool resreq_operand_defined(struct resreq_parser *parser, struct resreq_operand *value);

#endif
