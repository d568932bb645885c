/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_compare.c: compares numbers, or a string resource with a text.
 *
 * The word after a string resource is a text as it is written, so the left side decides
 * how the right side is parsed. */
#include "sched/resreq/resreq_compare.h"

#include <string.h>

#include "sched/resreq/resreq_words.h"

bool resreq_compare_is_operator(enum lex_kind kind)
{
    return kind == LEX_EQ || kind == LEX_NE || kind == LEX_ASSIGN || kind == LEX_GT ||
           kind == LEX_LT || kind == LEX_GE || kind == LEX_LE;
}

static enum resreq_relation relation_of(enum lex_kind kind)
{
    switch ((int)kind) {
    case LEX_GT:
        return RESREQ_GT;
    case LEX_LT:
        return RESREQ_LT;
    case LEX_GE:
        return RESREQ_GE;
    case LEX_LE:
        return RESREQ_LE;
    case LEX_NE:
        return RESREQ_NE;
    default:
        return RESREQ_EQ;
    }
}

/* 'a' < type is type > 'a'. */
static enum resreq_relation mirrored(enum resreq_relation relation)
{
    static const enum resreq_relation mirror[] = {
        [RESREQ_GT] = RESREQ_LT, [RESREQ_LT] = RESREQ_GT, [RESREQ_GE] = RESREQ_LE,
        [RESREQ_LE] = RESREQ_GE, [RESREQ_EQ] = RESREQ_EQ, [RESREQ_NE] = RESREQ_NE,
    };
    return mirror[relation];
}

/* Handles `any` and `local` of type and model. Returns true if the text was one of
 * them. */
static bool compare_special(struct resreq_parser *parser, int id,
                            enum resreq_relation relation, struct resreq_place text,
                            bool *is_bad)
{
    bool is_any = resreq_words_is(text, "any");
    bool is_local = resreq_words_is(text, "local");
    if ((id != RESOURCE_TYPE && id != RESOURCE_MODEL) || (!is_any && !is_local)) {
        return false;
    }
    if (relation != RESREQ_EQ && relation != RESREQ_NE) {
        *is_bad = !RESREQ_FAIL(parser, text, RESREQ_BAD_VALUE,
                               "any and local are compared with == and != only");
    } else if (is_any) {
        resreq_operand_emit_op(parser, RESREQ_OP_TRUE);
        if (relation == RESREQ_NE) {
            resreq_operand_emit_op(parser, RESREQ_OP_NOT);
        }
    } else if (!parser->language->has_local) {
        *is_bad = !RESREQ_FAIL(parser, text, RESREQ_BAD_VALUE,
                               "\"local\" needs a local host, and there is none here");
    } else {
        resreq_operand_emit(parser, (struct resreq_instr){.op = RESREQ_OP_LOCAL,
                                                          .relation = relation,
                                                          .id = id});
    }
    return true;
}

static bool check_text(struct resreq_parser *parser,
                       const struct resreq_operand *string,
                       const struct lex_token *token)
{
    struct resreq_place text = token->place;
    const char *from = text.source + text.at;
    if (text.length == 0) {
        return RESREQ_FAIL(parser, string->place, RESREQ_NO_VALUE,
                           "a text must follow: NAME == text, or NAME == 'text'");
    }
    if (!resreq_operand_is_lenient(parser) &&
        memchr(from, '\\', (size_t)text.length) != NULL) {
        return RESREQ_FAIL(parser, text, RESREQ_BAD_VALUE,
                           "no escape characters in a text");
    }
    for (int i = 0; i < text.length; i++) {
        if ((unsigned char)from[i] < ' ' || from[i] == 0x7f) {
            return RESREQ_FAIL(parser, text, RESREQ_BAD_VALUE,
                               "no control characters in a text");
        }
    }
    struct resreq_lex lex = {text.source, text.at, text.at + text.length};
    bool is_number = token->kind == LEX_NAME &&
                     resreq_lex_next(&lex).kind == LEX_NUMBER && lex.at == lex.end;
    if (is_number && !resreq_operand_is_lenient(parser)) {
        return RESREQ_FAIL(parser, text, RESREQ_BAD_TYPE,
                           "a string resource is compared with a text: '%.*s'",
                           text.length, from);
    }
    return true;
}

static bool compare_text(struct resreq_parser *parser, struct resreq_operand *string,
                         enum resreq_relation relation, const struct lex_token *token)
{
    bool is_bad = false;
    if (!check_text(parser, string, token)) {
        return false;
    }
    struct resreq_place text = token->place;
    if (string->kind == OPERAND_OPEN) {
        resreq_operand_emit_op(parser, RESREQ_OP_TRUE);
    } else if (!compare_special(parser, string->id, relation, text, &is_bad)) {
        resreq_operand_emit(parser,
                            (struct resreq_instr){
                                .op = RESREQ_OP_TEXT,
                                .relation = relation,
                                .id = string->id,
                                .text = arena_strn(parser->arena, text.source + text.at,
                                                   (size_t)text.length),
                            });
    }
    string->kind = OPERAND_LOGIC;
    return !is_bad;
}

/* A string resource, then a text. */
static bool compare_string(struct resreq_parser *parser, struct resreq_operand *left,
                           enum resreq_relation relation)
{
    struct lex_token token = resreq_lex_text(&parser->lex);
    if (token.kind == LEX_BAD) {
        return RESREQ_FAIL(parser, token.place, RESREQ_BAD_SYNTAX, "%s", token.wrong);
    }
    if (token.kind != LEX_END) {
        parser->last = token.place;
    }
    return compare_text(parser, left, relation, &token);
}

/* A quoted text, then a string resource. */
static bool compare_mirrored(struct resreq_parser *parser, struct resreq_operand *left,
                             enum resreq_relation relation)
{
    struct lex_token token = resreq_operand_take_token(parser);
    struct resreq_operand string = {.place = token.place, .start = left->start};
    if (token.kind != LEX_NAME) {
        return RESREQ_FAIL(parser, left->place, RESREQ_BAD_TYPE,
                           "a text is compared with a string resource");
    }
    if (!resreq_operand_resource(parser, &string)) {
        return false;
    }
    if (string.kind == OPERAND_SILENT) {
        left->kind = OPERAND_SILENT;
        return true;
    }
    if (string.kind != OPERAND_STRING && string.kind != OPERAND_OPEN) {
        return RESREQ_FAIL(parser, string.place, RESREQ_BAD_TYPE,
                           "a text can be compared with a string resource only");
    }
    struct lex_token text = {.kind = LEX_QUOTED, .place = left->place};
    left->kind = OPERAND_LOGIC;
    return compare_text(parser, &string, mirrored(relation), &text);
}

/* By the seed, ut is a number between 0.0 and 1.0. */
static bool check_ut(struct resreq_parser *parser, const struct resreq_operand *left,
                     const struct resreq_operand *right)
{
    int end = resreq_operand_count_instrs(parser);
    int column = resreq_operand_column(parser, left, right->start);
    double value = resreq_operand_constant(parser, right, end);
    struct resreq_place place = right->place;
    if (column < 0) {
        column = resreq_operand_column(parser, right, end);
        value = resreq_operand_constant(parser, left, right->start);
        place = left->place;
    }
    if (column != RESOURCE_UT || !(value < 0 || value > 1)) {
        return true;
    }
    if (!resreq_operand_is_lenient(parser)) {
        return RESREQ_FAIL(parser, place, RESREQ_BAD_VALUE,
                           "ut is a fraction, from 0.0 to 1.0");
    }
    resreq_error_add_note(parser->notes, place, "ut is a fraction, from 0.0 to 1.0");
    return true;
}

/* Lenient syntax: `=` of a number means "at least as good as". */
static enum resreq_relation as_good_as(const struct resreq_parser *parser,
                                       const struct resreq_operand *left)
{
    int id = resreq_operand_column(parser, left, resreq_operand_count_instrs(parser));
    if (id < 0) {
        return RESREQ_EQ;
    }
    return resources_at(parser->language->resources, id)->is_increasing ? RESREQ_LE
                                                                        : RESREQ_GE;
}

static bool compare_numbers(struct resreq_parser *parser, struct resreq_operand *left,
                            const struct lex_token *op, resreq_operand_fn operand)
{
    enum resreq_relation relation = relation_of(op->kind);
    if (op->kind == LEX_ASSIGN) {
        if (!resreq_operand_is_lenient(parser)) {
            return RESREQ_FAIL(parser, op->place, RESREQ_BAD_TYPE,
                               "= is for strings; numbers are compared with ==");
        }
        relation = left->kind == OPERAND_NUMBER ? as_good_as(parser, left) : RESREQ_EQ;
    }
    struct resreq_operand right = {.kind = OPERAND_TEXT,
                                   .place = resreq_operand_peek_token(parser).place};
    bool is_text = resreq_operand_peek_token(parser).kind == LEX_QUOTED &&
                   !resreq_operand_is_lenient(parser);
    if (!resreq_operand_to_number(parser, left) ||
        (!is_text && !operand(parser, &right))) {
        return false;
    }
    if (right.kind == OPERAND_STRING || right.kind == OPERAND_TEXT) {
        return RESREQ_FAIL(parser, right.place, RESREQ_BAD_TYPE,
                           "a number cannot be compared with a text");
    }
    if (!resreq_operand_to_number(parser, &right)) {
        return false;
    }
    if (left->kind == OPERAND_SILENT || right.kind == OPERAND_SILENT) {
        resreq_operand_silence(parser, left);
        return true;
    }
    if (!check_ut(parser, left, &right)) {
        return false;
    }
    resreq_operand_emit(
        parser, (struct resreq_instr){.op = RESREQ_OP_COMPARE, .relation = relation});
    left->kind = OPERAND_LOGIC;
    return true;
}

/* An unknown name in an open catalogue is a string if a text follows, else a number. */
static bool is_text_ahead(struct resreq_parser *parser)
{
    struct lex_token token = resreq_operand_peek_token(parser);
    if (token.kind != LEX_NAME) {
        return token.kind == LEX_QUOTED;
    }
    int id = resreq_operand_find(parser, token.place);
    return id < 0 ||
           resources_at(parser->language->resources, id)->type != RESOURCE_NUMERIC;
}

static bool is_value_ahead(struct resreq_parser *parser)
{
    switch ((int)resreq_operand_peek_token(parser).kind) {
    case LEX_END:
    case LEX_CLOSE:
    case LEX_AND:
    case LEX_OR:
    case LEX_COLON:
        return false;
    default:
        return true;
    }
}

bool resreq_compare(struct resreq_parser *parser, struct resreq_operand *left,
                    resreq_operand_fn operand)
{
    struct lex_token op = resreq_operand_take_token(parser);
    if (!is_value_ahead(parser)) {
        return RESREQ_FAIL(parser, left->place, RESREQ_NO_VALUE,
                           "a value must follow %.*s", op.place.length,
                           op.place.source + op.place.at);
    }
    switch (left->kind) {
    case OPERAND_STRING:
        return compare_string(parser, left, relation_of(op.kind));
    case OPERAND_TEXT:
        return compare_mirrored(parser, left, relation_of(op.kind));
    case OPERAND_OPEN:
        if (op.kind == LEX_ASSIGN || is_text_ahead(parser)) {
            return compare_string(parser, left, relation_of(op.kind));
        }
        break;
    case OPERAND_SILENT:
        if (is_text_ahead(parser)) {
            resreq_lex_text(&parser->lex);
            return true;
        }
        break;
    case OPERAND_NUMBER:
    case OPERAND_LOGIC:
    case OPERAND_FLAG:
        break;
    }
    return compare_numbers(parser, left, &op, operand);
}
