/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_operand.h: the state of the parser of a select section, and the operands that
 * it has parsed.
 *
 * An operand says where its instructions begin and of what kind it is. Strings and
 * quoted texts emit nothing until their comparison is complete. Lenient, an operand
 * that has no meaning is silent: its instructions are removed again.
 *
 * Errors: functions that return bool return false with the parser's `error` filled.
 * Layer: sched, for resreq_select and resreq_compare. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_OPERAND_H
#define SUBLET_SCHED_RESREQ_RESREQ_OPERAND_H

#include "sched/resreq/resreq_select.h"

enum resreq_operand_kind {
    OPERAND_NUMBER, /* also the result of arithmetic */
    OPERAND_LOGIC,  /* the result of a comparison, &&, ||, ! or defined() */
    OPERAND_FLAG,   /* a Boolean resource */
    OPERAND_STRING, /* a string resource; nothing emitted */
    OPERAND_TEXT,   /* a quoted text; nothing emitted */
    OPERAND_OPEN,   /* a name that is not in an open catalogue; nothing emitted */
    OPERAND_SILENT, /* has no meaning; nothing emitted */
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
    struct resreq_place
        last; /* what was read last: errors say "missing value" near it */
    struct resreq_selection *selection;
    struct resreq_notes *notes;
    struct resreq_error *error;
    int nesting;
    /* The next token, read once, as each level of the grammar looks at it. */
    struct lex_token ahead;
    struct resreq_lex ahead_from, ahead_to; /* where it begins and ends */
};

#define RESREQ_FAIL(parser, place, reason, ...)                                        \
    (resreq_error_set((parser)->error, RESREQ_SELECT, place, reason, __VA_ARGS__),     \
     false)

bool resreq_operand_is_lenient(const struct resreq_parser *parser);
struct lex_token resreq_operand_take_token(struct resreq_parser *parser);
struct lex_token resreq_operand_peek_token(struct resreq_parser *parser);

/* Number of instructions, one of them, and appending one. */
int resreq_operand_count_instrs(const struct resreq_parser *parser);
struct resreq_instr *resreq_operand_instr_at(const struct resreq_parser *parser,
                                             int index);
void resreq_operand_emit(struct resreq_parser *parser, struct resreq_instr instr);
void resreq_operand_emit_op(struct resreq_parser *parser, enum resreq_op op);

/* Makes the operand silent: removes its instructions. */
void resreq_operand_silence(struct resreq_parser *parser, struct resreq_operand *value);
/* The value of an operand that is a constant, whose instructions end before `end`; else
 * NaN. */
double resreq_operand_constant(const struct resreq_parser *parser,
                               const struct resreq_operand *value, int end);
/* The id of an operand that is a numeric resource; else -1. */
int resreq_operand_column(const struct resreq_parser *parser,
                          const struct resreq_operand *value, int end);

/* Converts the operand to a truth, or to a number, on the stack. */
bool resreq_operand_to_truth(struct resreq_parser *parser,
                             struct resreq_operand *value);
bool resreq_operand_to_number(struct resreq_parser *parser,
                              struct resreq_operand *value);
bool resreq_operand_fail_text(struct resreq_parser *parser,
                              const struct resreq_operand *value);

/* The id of the resource with that name, or -1; the program does not name it yet. */
int resreq_operand_find(const struct resreq_parser *parser, struct resreq_place place);
/* Makes an operand of the name at value->place. */
bool resreq_operand_resource(struct resreq_parser *parser,
                             struct resreq_operand *value);
/* Parses the rest of a call after the word `defined`. */
bool resreq_operand_defined(struct resreq_parser *parser, struct resreq_operand *value);

#endif
