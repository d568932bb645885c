/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_select.c: recursive descent with a function per level of the grammar, which
 * emits instructions on the way.
 *
 *     r15s < 1.0 || type == LINUX
 *     COLUMN r15s, NUMBER 1, COMPARE <, TEXT type == LINUX, OR */
#include "sched/resreq/resreq_select.h"

#include <math.h>

#include "sched/resreq/resreq_compare.h"
#include "sched/resreq/resreq_operand.h"
#include "sched/resreq/resreq_words.h"

static bool parse_or(struct resreq_parser *parser, struct resreq_operand *value);
static bool parse_list(struct resreq_parser *parser, struct resreq_operand *value);

/* ---------------------------------------------------------------- primaries */

/* Lenient: quotes around an expression. */
static bool parse_within_quotes(struct resreq_parser *parser,
                                struct resreq_operand *value)
{
    struct resreq_lex outer = parser->lex;
    parser->lex.at = value->place.at;
    parser->lex.end = value->place.at + value->place.length;
    if (!parse_list(parser, value)) {
        return false;
    }
    parser->lex = outer;
    return true;
}

static bool parse_quoted(struct resreq_parser *parser, struct resreq_operand *value)
{
    if (resreq_compare_is_operator(resreq_operand_peek_token(parser).kind)) {
        value->kind = OPERAND_TEXT;
        return true;
    }
    return resreq_operand_is_lenient(parser) ? parse_within_quotes(parser, value)
                                             : resreq_operand_fail_text(parser, value);
}

static bool parse_group(struct resreq_parser *parser, struct resreq_operand *value)
{
    struct resreq_place open = value->place;
    if (!parse_or(parser, value)) {
        return false;
    }
    struct lex_token close = resreq_operand_take_token(parser);
    if (close.kind == LEX_BAD) {
        return RESREQ_FAIL(parser, close.place, RESREQ_BAD_SYNTAX, "%s", close.wrong);
    }
    if (close.kind != LEX_CLOSE) {
        return close.kind == LEX_COLON
                   ? RESREQ_FAIL(
                         parser, close.place, RESREQ_BAD_SYNTAX,
                         "no colon inside parentheses: conditions are joined with &&")
                   : RESREQ_FAIL(parser, close.kind == LEX_END ? open : close.place,
                                 RESREQ_BAD_SYNTAX,
                                 "this parenthesis is not closed, or an "
                                 "operator is missing");
    }
    return true;
}

static bool parse_primary(struct resreq_parser *parser, struct resreq_operand *value)
{
    struct resreq_place before = parser->last;
    struct lex_token token = resreq_operand_take_token(parser);
    value->place = token.place;
    value->start = resreq_operand_count_instrs(parser);
    switch ((int)token.kind) {
    case LEX_NUMBER:
        if (!isfinite(token.number)) {
            return RESREQ_FAIL(parser, token.place, RESREQ_BAD_VALUE,
                               "this number is too large");
        }
        resreq_operand_emit(parser, (struct resreq_instr){.op = RESREQ_OP_NUMBER,
                                                          .number = token.number});
        value->kind = OPERAND_NUMBER;
        return true;
    case LEX_NAME:
        if (resreq_words_is(token.place, "defined")) {
            return resreq_operand_defined(parser, value);
        }
        return resreq_operand_resource(parser, value);
    case LEX_QUOTED:
        return parse_quoted(parser, value);
    case LEX_OPEN:
        return parse_group(parser, value);
    case LEX_BAD:
        return RESREQ_FAIL(parser, token.place, RESREQ_BAD_SYNTAX, "%s", token.wrong);
    default:
        return RESREQ_FAIL(parser, token.kind == LEX_END ? before : token.place,
                           RESREQ_NO_VALUE,
                           "expected a resource, a number or a parenthesis");
    }
}

/* ---------------------------------------------------------------- signs */

static bool parse_not(struct resreq_parser *parser, struct resreq_operand *value);
static bool parse_minus(struct resreq_parser *parser, struct resreq_operand *value);

static bool parse_unary(struct resreq_parser *parser, struct resreq_operand *value)
{
    if (++parser->nesting > RESREQ_NESTING_MAX) {
        return RESREQ_FAIL(parser, resreq_operand_peek_token(parser).place,
                           RESREQ_BAD_SYNTAX, "nested too deep, at most %d",
                           RESREQ_NESTING_MAX);
    }
    enum lex_kind kind = resreq_operand_peek_token(parser).kind;
    bool is_good = kind == LEX_NOT     ? parse_not(parser, value)
                   : kind == LEX_MINUS ? parse_minus(parser, value)
                                       : parse_primary(parser, value);
    parser->nesting--;
    return is_good;
}

static bool parse_not(struct resreq_parser *parser, struct resreq_operand *value)
{
    struct resreq_place place = resreq_operand_take_token(parser).place;
    struct lex_token next = resreq_operand_peek_token(parser);
    if (next.kind == LEX_NOT && !resreq_operand_is_lenient(parser)) {
        return RESREQ_FAIL(parser, place, RESREQ_BAD_SYNTAX,
                           "! cannot follow !: write !(!...)");
    }
    if (!parse_unary(parser, value)) {
        return false;
    }
    if (value->kind ==
        OPERAND_NUMBER) { /* true for 0, but not for a value that is not finite */
        resreq_operand_emit(parser, (struct resreq_instr){.op = RESREQ_OP_NUMBER});
        resreq_operand_emit(parser, (struct resreq_instr){.op = RESREQ_OP_COMPARE,
                                                          .relation = RESREQ_EQ});
        value->kind = OPERAND_LOGIC;
    } else if (!resreq_operand_to_truth(parser, value)) {
        return false;
    } else if (value->kind != OPERAND_SILENT) {
        resreq_operand_emit_op(parser, RESREQ_OP_NOT);
    }
    value->place = place;
    return true;
}

static bool parse_minus(struct resreq_parser *parser, struct resreq_operand *value)
{
    struct resreq_place place = resreq_operand_take_token(parser).place;
    if (!parse_unary(parser, value) || !resreq_operand_to_number(parser, value)) {
        return false;
    }
    if (value->kind != OPERAND_SILENT) {
        if (!isnan(resreq_operand_constant(parser, value,
                                           resreq_operand_count_instrs(parser)))) {
            struct resreq_instr *instr = resreq_operand_instr_at(parser, value->start);
            instr->number = -instr->number;
        } else {
            resreq_operand_emit_op(parser, RESREQ_OP_NEGATE);
        }
    }
    value->place = place;
    return true;
}

/* ---------------------------------------------------------------- arithmetic */

/* Arithmetic of two operands; the right one is already on the stack, or is emitted. */
static bool calculate(struct resreq_parser *parser, struct resreq_operand *left,
                      struct resreq_operand *right, enum resreq_op op)
{
    if (!resreq_operand_to_number(parser, right)) {
        return false;
    }
    if (left->kind == OPERAND_SILENT || right->kind == OPERAND_SILENT) {
        resreq_operand_silence(parser, left);
        return true;
    }
    double divisor =
        resreq_operand_constant(parser, right, resreq_operand_count_instrs(parser));
    if (op == RESREQ_OP_DIVIDE && fpclassify(divisor) == FP_ZERO) {
        resreq_error_add_note(
            parser->notes, right->place,
            "a division by zero: its comparison is false on every host");
    }
    resreq_operand_emit_op(parser, op);
    left->kind = OPERAND_NUMBER;
    return true;
}

/* Parts with either of two signs between them. */
static bool parse_arithmetic(struct resreq_parser *parser, struct resreq_operand *left,
                             resreq_operand_fn part, const enum lex_kind signs[2],
                             const enum resreq_op ops[2])
{
    bool is_good = part(parser, left);
    while (is_good) {
        enum lex_kind kind = resreq_operand_peek_token(parser).kind;
        if (kind != signs[0] && kind != signs[1]) {
            return true;
        }
        struct resreq_operand right;
        resreq_operand_take_token(parser);
        is_good = resreq_operand_to_number(parser, left) && part(parser, &right) &&
                  calculate(parser, left, &right, ops[kind == signs[1]]);
    }
    return false;
}

static bool parse_product(struct resreq_parser *parser, struct resreq_operand *left)
{
    static const enum lex_kind signs[] = {LEX_STAR, LEX_SLASH};
    static const enum resreq_op ops[] = {RESREQ_OP_MULTIPLY, RESREQ_OP_DIVIDE};
    return parse_arithmetic(parser, left, parse_unary, signs, ops);
}

static bool parse_sum(struct resreq_parser *parser, struct resreq_operand *left)
{
    static const enum lex_kind signs[] = {LEX_PLUS, LEX_MINUS};
    static const enum resreq_op ops[] = {RESREQ_OP_ADD, RESREQ_OP_SUBTRACT};
    return parse_arithmetic(parser, left, parse_product, signs, ops);
}

/* ---------------------------------------------------------------- comparisons */

/* Parts with comparisons between them, either all for equality or all for order. */
static bool parse_comparisons(struct resreq_parser *parser, struct resreq_operand *left,
                              resreq_operand_fn part, bool is_equality)
{
    bool is_good = part(parser, left);
    while (is_good) {
        enum lex_kind kind = resreq_operand_peek_token(parser).kind;
        bool is_equal = kind == LEX_EQ || kind == LEX_NE || kind == LEX_ASSIGN;
        if (!resreq_compare_is_operator(kind) || is_equal != is_equality) {
            return true;
        }
        is_good = resreq_compare(parser, left, part);
    }
    return false;
}

static bool parse_order(struct resreq_parser *parser, struct resreq_operand *left)
{
    return parse_comparisons(parser, left, parse_sum, false);
}

static bool parse_equality(struct resreq_parser *parser, struct resreq_operand *left)
{
    return parse_comparisons(parser, left, parse_order, true);
}

/* ---------------------------------------------------------------- and, or */

/* Joins two truths; if one has no meaning, the other remains. */
static bool join(struct resreq_parser *parser, struct resreq_operand *left,
                 struct resreq_operand *right, enum resreq_op op)
{
    if (!resreq_operand_to_truth(parser, right)) {
        return false;
    }
    if (left->kind == OPERAND_SILENT) {
        left->kind = right->kind;
    } else if (right->kind != OPERAND_SILENT) {
        resreq_operand_emit_op(parser, op);
    }
    return true;
}

/* Parts with this sign between them. */
static bool parse_logic(struct resreq_parser *parser, struct resreq_operand *left,
                        resreq_operand_fn part, enum lex_kind sign, enum resreq_op op)
{
    bool is_good = part(parser, left);
    while (is_good && resreq_operand_peek_token(parser).kind == sign) {
        struct resreq_operand right;
        resreq_operand_take_token(parser);
        is_good = resreq_operand_to_truth(parser, left) && part(parser, &right) &&
                  join(parser, left, &right, op);
    }
    return is_good;
}

static bool parse_and(struct resreq_parser *parser, struct resreq_operand *left)
{
    return parse_logic(parser, left, parse_equality, LEX_AND, RESREQ_OP_AND);
}

static bool parse_or(struct resreq_parser *parser, struct resreq_operand *left)
{
    return parse_logic(parser, left, parse_and, LEX_OR, RESREQ_OP_OR);
}

/* ---------------------------------------------------------------- the old list */

/* Lenient syntax: a single `-` is type == any; `-bool` is NOT if it is the whole term.
 */
static bool parse_dash(struct resreq_parser *parser, struct resreq_operand *value,
                       bool *is_dash)
{
    struct resreq_lex ahead = parser->lex;
    *is_dash = false;
    if (!resreq_operand_is_lenient(parser) ||
        resreq_lex_next(&ahead).kind != LEX_MINUS) {
        return true;
    }
    struct lex_token name = resreq_lex_next(&ahead);
    enum lex_kind behind =
        name.kind == LEX_NAME ? resreq_lex_peek(&ahead).kind : name.kind;
    if (behind != LEX_END && behind != LEX_COLON) {
        return true;
    }
    value->start = resreq_operand_count_instrs(parser);
    if (name.kind != LEX_NAME) {
        value->place = resreq_operand_take_token(parser).place;
        parser->selection->names_type = true;
        resreq_operand_emit_op(parser, RESREQ_OP_TRUE);
        value->kind = OPERAND_LOGIC;
        *is_dash = true;
        return true;
    }
    int id = resreq_operand_find(parser, name.place);
    if (id >= 0 &&
        resources_at(parser->language->resources, id)->type != RESOURCE_BOOLEAN) {
        return true;
    }
    *is_dash = true;
    value->place = name.place;
    parser->lex = ahead;
    parser->last = name.place;
    if (!resreq_operand_resource(parser, value) ||
        !resreq_operand_to_truth(parser, value)) {
        return false;
    }
    if (value->kind != OPERAND_SILENT) {
        resreq_operand_emit_op(parser, RESREQ_OP_NOT);
    }
    return true;
}

static bool parse_term(struct resreq_parser *parser, struct resreq_operand *value)
{
    bool is_dash;
    if (!parse_dash(parser, value, &is_dash)) {
        return false;
    }
    return (is_dash || parse_or(parser, value)) &&
           resreq_operand_to_truth(parser, value);
}

static bool fail_rest(struct resreq_parser *parser, const struct lex_token *token)
{
    switch ((int)token->kind) {
    case LEX_BAD:
        return RESREQ_FAIL(parser, token->place, RESREQ_BAD_SYNTAX, "%s", token->wrong);
    case LEX_COLON:
        return RESREQ_FAIL(parser, token->place, RESREQ_BAD_SYNTAX,
                           "no colon in a selection: conditions are joined with &&");
    case LEX_CLOSE:
        return RESREQ_FAIL(parser, token->place, RESREQ_BAD_SYNTAX,
                           "this parenthesis was never opened");
    default:
        return RESREQ_FAIL(parser, token->place, RESREQ_BAD_SYNTAX,
                           "an operator is missing before this");
    }
}

/* Parses terms up to the end of the part. */
static bool parse_list(struct resreq_parser *parser, struct resreq_operand *value)
{
    if (!parse_term(parser, value)) {
        return false;
    }
    for (;;) {
        struct lex_token token = resreq_operand_take_token(parser);
        if (token.kind == LEX_END) {
            return true;
        }
        if (token.kind != LEX_COLON || !resreq_operand_is_lenient(parser)) {
            return fail_rest(parser, &token);
        }
        struct resreq_operand right;
        if (!parse_term(parser, &right) ||
            !join(parser, value, &right, RESREQ_OP_AND)) {
            return false;
        }
    }
}

/* ---------------------------------------------------------------- a section */

int resreq_select_parse(struct arena *arena, const struct resreq_language *language,
                        struct resreq_lex lex, struct resreq_place keyword,
                        struct resreq_selection *selection, struct resreq_notes *notes,
                        struct resreq_error *error)
{
    struct resreq_parser parser = {
        .arena = arena,
        .language = language,
        .lex = lex,
        .last = keyword,
        .selection = selection,
        .notes = notes,
        .error = error,
        .ahead_from = {.at = -1},
    };
    struct resreq_operand value;
    bool is_first = selection->program.n_instrs == 0;
    if (!parse_list(&parser, &value)) {
        return ERR_PARSE;
    }
    if (!is_first && value.kind != OPERAND_SILENT) {
        resreq_operand_emit_op(&parser, RESREQ_OP_AND);
    }
    if (resreq_program_depth(&selection->program) > RESREQ_STACK_MAX) {
        return resreq_error_set(error, RESREQ_SELECT, keyword, RESREQ_BAD_SYNTAX,
                                "nested too deep: more than %d operands wait for "
                                "their operators",
                                RESREQ_STACK_MAX);
    }
    return 0;
}

void resreq_select_default(struct arena *arena, struct resreq_selection *selection)
{
    struct resreq_program *program = &selection->program;
    bool is_first = program->n_instrs == 0;
    resreq_program_emit(arena, program,
                        (struct resreq_instr){.op = RESREQ_OP_LOCAL,
                                              .relation = RESREQ_EQ,
                                              .id = RESOURCE_TYPE});
    if (!is_first) {
        resreq_program_emit(arena, program, (struct resreq_instr){.op = RESREQ_OP_AND});
    }
}
