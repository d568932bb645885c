/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_select.c: recursive descent that emits as it goes.
 *
 * What a part of the text stands for is a `value`: where its instructions begin, and of
 * what kind it is. Strings and quoted texts emit nothing until their comparison is
 * complete; a term that says nothing takes back what it has emitted.
 *
 *     r15s < 1.0 || type == LINUX
 *     COLUMN r15s, NUMBER 1, COMPARE <, TEXT type == LINUX, OR */
#include "sched/resreq_select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum value_kind {
    NUMBER, /* also the result of arithmetic */
    LOGIC,  /* the result of a comparison, &&, ||, ! or defined() */
    FLAG,   /* a Boolean resource */
    STRING, /* a string resource; nothing emitted */
    TEXT,   /* a quoted text; nothing emitted */
    OPEN,   /* a name that an open catalogue does not have; nothing emitted */
    SILENT, /* says nothing; nothing emitted */
};

struct value {
    enum value_kind kind;
    int start; /* its first instruction */
    struct resreq_place place;
    int id; /* STRING */
};

struct parser {
    struct arena *arena;
    const struct resreq_language *language;
    struct resreq_lex lex;
    struct resreq_place last; /* what was read last, for "missing value" near it */
    struct resreq_selection *selection;
    struct resreq_notes *notes;
    struct resreq_fault *fault;
    int nesting;
    struct lex_token
        ahead; /* the token at ahead_at, of a part that ends at ahead_end */
    int ahead_at, ahead_end;
};

static bool parse_or(struct parser *parser, struct value *value);
static bool parse_list(struct parser *parser, struct value *value);

#define FAIL(parser, place, reason, ...)                                               \
    (resreq_fault_set((parser)->fault, RESREQ_SELECT, place, reason, __VA_ARGS__),     \
     false)

static bool is_lenient(const struct parser *parser)
{
    return parser->language->is_lenient;
}

static struct lex_token take(struct parser *parser)
{
    struct lex_token token = resreq_lex_next(&parser->lex);
    if (token.kind != LEX_END) {
        parser->last = token.place;
    }
    return token;
}

/* Each level of the grammar looks at the next token: it is read once. */
static struct lex_token peek(struct parser *parser)
{
    if (parser->ahead_at != parser->lex.at || parser->ahead_end != parser->lex.end) {
        parser->ahead = resreq_lex_peek(&parser->lex);
        parser->ahead_at = parser->lex.at;
        parser->ahead_end = parser->lex.end;
    }
    return parser->ahead;
}

/* ---------------------------------------------------------------- instructions */

static int next_instr(const struct parser *parser)
{
    return parser->selection->program.n_instrs;
}

static struct resreq_instr *instr_at(const struct parser *parser, int index)
{
    return &parser->selection->program.instrs[index];
}

static void emit(struct parser *parser, struct resreq_instr instr)
{
    resreq_program_emit(parser->arena, &parser->selection->program, instr);
}

static void emit_op(struct parser *parser, enum resreq_op op)
{
    emit(parser, (struct resreq_instr){.op = op});
}

/* The value says nothing: what it has emitted is taken back. */
static void silence(struct parser *parser, struct value *value)
{
    parser->selection->program.n_instrs = value->start;
    value->kind = SILENT;
}

/* The constant that a value is, or NaN. */
static double constant(const struct parser *parser, const struct value *value, int end)
{
    bool is_one = value->kind == NUMBER && value->start == end - 1;
    const struct resreq_instr *instr = is_one ? instr_at(parser, value->start) : NULL;
    return is_one && instr->op == RESREQ_OP_NUMBER ? instr->number : (double)NAN;
}

/* The numeric resource that a value is, or -1. */
static int sole_column(const struct parser *parser, const struct value *value, int end)
{
    bool is_one = value->kind == NUMBER && value->start == end - 1;
    const struct resreq_instr *instr = is_one ? instr_at(parser, value->start) : NULL;
    return is_one && instr->op == RESREQ_OP_COLUMN ? instr->id : -1;
}

/* ---------------------------------------------------------------- kinds */

static bool fail_string(struct parser *parser, const struct value *value)
{
    return FAIL(parser, value->place, RESREQ_BAD_TYPE,
                "a string resource takes = == != < > <= >= and nothing else");
}

static bool fail_text(struct parser *parser, const struct value *value)
{
    return FAIL(parser, value->place, RESREQ_BAD_SYNTAX,
                "quotes belong around the whole string, or around a text that a string "
                "resource is compared with");
}

/* Makes a value a truth on the stack. */
static bool to_truth(struct parser *parser, struct value *value)
{
    switch (value->kind) {
    case NUMBER:
        emit_op(parser, RESREQ_OP_TRUTH);
        break;
    case OPEN:
        emit_op(parser, RESREQ_OP_TRUE);
        break;
    case STRING:
        return fail_string(parser, value);
    case TEXT:
        return fail_text(parser, value);
    case SILENT:
        return true;
    case LOGIC:
    case FLAG:
        break;
    }
    value->kind = LOGIC;
    return true;
}

/* Makes a value a number on the stack. */
static bool to_number(struct parser *parser, struct value *value)
{
    switch (value->kind) {
    case FLAG:
        if (!is_lenient(parser)) {
            return FAIL(parser, value->place, RESREQ_BAD_TYPE,
                        "a Boolean resource takes && || ! and nothing else");
        }
        emit_op(parser, RESREQ_OP_WIDEN);
        break;
    case LOGIC:
        emit_op(parser, RESREQ_OP_WIDEN);
        break;
    case OPEN:
        emit(parser, (struct resreq_instr){.op = RESREQ_OP_COLUMN, .id = RESOURCE_MEM});
        break;
    case STRING:
        return fail_string(parser, value);
    case TEXT:
        return fail_text(parser, value);
    case SILENT:
        return true;
    case NUMBER:
        break;
    }
    value->kind = NUMBER;
    return true;
}

/* ---------------------------------------------------------------- names */

static bool fail_name(struct parser *parser, struct resreq_place place)
{
    if (resource_is_word(place.source + place.at, (size_t)place.length)) {
        return FAIL(parser, place, RESREQ_BAD_NAME,
                    "this word is no resource; a section is KEYWORD[...]");
    }
    return FAIL(parser, place, RESREQ_BAD_NAME, "there is no resource of this name");
}

static bool is_word(struct resreq_place place)
{
    return resource_is_word(place.source + place.at, (size_t)place.length);
}

static int find(const struct parser *parser, struct resreq_place place)
{
    int id = resources_find(parser->language->resources, place.source + place.at,
                            (size_t)place.length);
    bool is_slots = id == RESOURCE_NCPUS && parser->language->counts_slots;
    return is_slots ? RESOURCE_MAXSLOTS : id;
}

static void note_name(struct parser *parser, int id)
{
    struct resreq_selection *selection = parser->selection;
    resreq_program_name(parser->arena, &selection->program, id);
    selection->names_type = selection->names_type || id == RESOURCE_TYPE;
    selection->names_text_or_boolean =
        selection->names_text_or_boolean ||
        resources_at(parser->language->resources, id)->type != RESOURCE_NUMERIC;
}

static bool parse_unknown(struct parser *parser, struct value *value)
{
    if (is_word(value->place)) {
        return fail_name(parser, value->place);
    }
    if (parser->language->is_open) {
        value->kind = OPEN;
        return true;
    }
    if (!is_lenient(parser)) {
        return fail_name(parser, value->place);
    }
    resreq_note_add(parser->notes, value->place,
                    "there is no resource \"%.*s\": what it stands in is ignored",
                    value->place.length, value->place.source + value->place.at);
    value->kind = SILENT;
    return true;
}

static bool parse_resource(struct parser *parser, struct value *value)
{
    int id = find(parser, value->place);
    if (id < 0) {
        return parse_unknown(parser, value);
    }
    note_name(parser, id);
    value->id = id;
    switch (resources_at(parser->language->resources, id)->type) {
    case RESOURCE_NUMERIC:
        emit(parser, (struct resreq_instr){.op = RESREQ_OP_COLUMN, .id = id});
        value->kind = NUMBER;
        break;
    case RESOURCE_BOOLEAN:
        emit(parser, (struct resreq_instr){.op = RESREQ_OP_FLAG, .id = id});
        value->kind = FLAG;
        break;
    case RESOURCE_STRING:
        value->kind = STRING;
        break;
    }
    return true;
}

/* What defined() takes: names of Resource sections without an INTERVAL. */
static bool check_defined(struct parser *parser, struct resreq_place place, int id)
{
    if (id >= 0 && id < RESOURCE_BUILTINS) {
        return FAIL(parser, place, RESREQ_BAD_NAME,
                    "a built-in resource is no argument of defined()");
    }
    const struct resource *resource =
        id >= 0 ? resources_at(parser->language->resources, id) : NULL;
    if (resource != NULL && resource->type == RESOURCE_NUMERIC &&
        resource->interval_ms > 0) {
        return FAIL(parser, place, RESREQ_BAD_NAME,
                    "a numeric resource with an INTERVAL is no argument of defined()");
    }
    if (id < 0 &&
        (is_word(place) || !(parser->language->is_open || is_lenient(parser)))) {
        return fail_name(parser, place);
    }
    return true;
}

static bool parse_defined(struct parser *parser, struct value *value)
{
    struct lex_token open = take(parser);
    struct lex_token name = take(parser);
    struct lex_token close = take(parser);
    if (open.kind != LEX_OPEN || name.kind != LEX_NAME || close.kind != LEX_CLOSE) {
        return FAIL(parser, value->place, RESREQ_BAD_SYNTAX,
                    "expected defined(RESOURCE)");
    }
    if (!is_lenient(parser) && (name.after_blank || close.after_blank)) {
        return FAIL(parser, value->place, RESREQ_BAD_SYNTAX,
                    "no blanks between the parentheses and the name in defined()");
    }
    int id =
        resources_find(parser->language->resources, name.place.source + name.place.at,
                       (size_t)name.place.length);
    if (!check_defined(parser, name.place, id)) {
        return false;
    }
    value->kind = LOGIC;
    if (id >= 0) {
        note_name(parser, id);
        emit(parser, (struct resreq_instr){.op = RESREQ_OP_HAS, .id = id});
        return true;
    }
    if (!parser->language->is_open) {
        resreq_note_add(parser->notes, name.place,
                        "there is no resource \"%.*s\": no host has it",
                        name.place.length, name.place.source + name.place.at);
    }
    emit_op(parser, RESREQ_OP_TRUE);
    emit_op(parser, RESREQ_OP_NOT);
    return true;
}

/* ---------------------------------------------------------------- primaries */

static bool is_comparison(enum lex_kind kind)
{
    return kind == LEX_EQ || kind == LEX_NE || kind == LEX_ASSIGN || kind == LEX_GT ||
           kind == LEX_LT || kind == LEX_GE || kind == LEX_LE;
}

/* Lenient: quotes around an expression. */
static bool parse_within_quotes(struct parser *parser, struct value *value)
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

static bool parse_quoted(struct parser *parser, struct value *value)
{
    if (is_comparison(peek(parser).kind)) {
        value->kind = TEXT;
        return true;
    }
    return is_lenient(parser) ? parse_within_quotes(parser, value)
                              : fail_text(parser, value);
}

static bool parse_group(struct parser *parser, struct value *value)
{
    struct resreq_place open = value->place;
    if (!parse_or(parser, value)) {
        return false;
    }
    struct lex_token close = take(parser);
    if (close.kind == LEX_BAD) {
        return FAIL(parser, close.place, RESREQ_BAD_SYNTAX, "%s", close.wrong);
    }
    if (close.kind != LEX_CLOSE) {
        return close.kind == LEX_COLON
                   ? FAIL(parser, close.place, RESREQ_BAD_SYNTAX,
                          "no colon inside parentheses: conditions are joined with &&")
                   : FAIL(parser, close.kind == LEX_END ? open : close.place,
                          RESREQ_BAD_SYNTAX,
                          "this parenthesis is not closed, or an "
                          "operator is missing");
    }
    return true;
}

static bool parse_primary(struct parser *parser, struct value *value)
{
    struct resreq_place before = parser->last;
    struct lex_token token = take(parser);
    value->place = token.place;
    value->start = next_instr(parser);
    switch ((int)token.kind) {
    case LEX_NUMBER:
        if (!isfinite(token.number)) {
            return FAIL(parser, token.place, RESREQ_BAD_VALUE,
                        "this number is too large");
        }
        emit(parser,
             (struct resreq_instr){.op = RESREQ_OP_NUMBER, .number = token.number});
        value->kind = NUMBER;
        return true;
    case LEX_NAME:
        if (token.place.length == 7 &&
            memcmp(token.place.source + token.place.at, "defined", 7) == 0) {
            return parse_defined(parser, value);
        }
        return parse_resource(parser, value);
    case LEX_QUOTED:
        return parse_quoted(parser, value);
    case LEX_OPEN:
        return parse_group(parser, value);
    case LEX_BAD:
        return FAIL(parser, token.place, RESREQ_BAD_SYNTAX, "%s", token.wrong);
    default:
        return FAIL(parser, token.kind == LEX_END ? before : token.place,
                    RESREQ_NO_VALUE, "expected a resource, a number or a parenthesis");
    }
}

/* ---------------------------------------------------------------- signs */

static bool parse_not(struct parser *parser, struct value *value);
static bool parse_minus(struct parser *parser, struct value *value);

static bool parse_unary(struct parser *parser, struct value *value)
{
    if (++parser->nesting > RESREQ_NESTING_MAX) {
        return FAIL(parser, peek(parser).place, RESREQ_BAD_SYNTAX,
                    "nested too deep, at most %d", RESREQ_NESTING_MAX);
    }
    enum lex_kind kind = peek(parser).kind;
    bool is_good = kind == LEX_NOT     ? parse_not(parser, value)
                   : kind == LEX_MINUS ? parse_minus(parser, value)
                                       : parse_primary(parser, value);
    parser->nesting--;
    return is_good;
}

static bool parse_not(struct parser *parser, struct value *value)
{
    struct resreq_place place = take(parser).place;
    struct lex_token next = peek(parser);
    if (next.kind == LEX_NOT && !is_lenient(parser)) {
        return FAIL(parser, place, RESREQ_BAD_SYNTAX, "no ! behind a !: write !(!...)");
    }
    if (!parse_unary(parser, value)) {
        return false;
    }
    if (value->kind == NUMBER) { /* 1 where it is 0: not where it is not finite */
        emit(parser, (struct resreq_instr){.op = RESREQ_OP_NUMBER});
        emit(parser,
             (struct resreq_instr){.op = RESREQ_OP_COMPARE, .relation = RESREQ_EQ});
        value->kind = LOGIC;
    } else if (!to_truth(parser, value)) {
        return false;
    } else if (value->kind != SILENT) {
        emit_op(parser, RESREQ_OP_NOT);
    }
    value->place = place;
    return true;
}

static bool parse_minus(struct parser *parser, struct value *value)
{
    struct resreq_place place = take(parser).place;
    if (!parse_unary(parser, value) || !to_number(parser, value)) {
        return false;
    }
    if (value->kind != SILENT) {
        if (!isnan(constant(parser, value, next_instr(parser)))) {
            struct resreq_instr *instr = instr_at(parser, value->start);
            instr->number = -instr->number;
        } else {
            emit_op(parser, RESREQ_OP_NEGATE);
        }
    }
    value->place = place;
    return true;
}

/* ---------------------------------------------------------------- arithmetic */

/* Two operands of arithmetic; the right one is on the stack, or is to be. */
static bool calculate(struct parser *parser, struct value *left, struct value *right,
                      enum resreq_op op)
{
    if (!to_number(parser, right)) {
        return false;
    }
    if (left->kind == SILENT || right->kind == SILENT) {
        silence(parser, left);
        return true;
    }
    double divisor = constant(parser, right, next_instr(parser));
    if (op == RESREQ_OP_DIVIDE && fpclassify(divisor) == FP_ZERO) {
        resreq_note_add(parser->notes, right->place,
                        "a division by zero: its comparison is false on every host");
    }
    emit_op(parser, op);
    left->kind = NUMBER;
    return true;
}

static bool parse_product(struct parser *parser, struct value *left)
{
    if (!parse_unary(parser, left)) {
        return false;
    }
    for (;;) {
        enum lex_kind kind = peek(parser).kind;
        if (kind != LEX_STAR && kind != LEX_SLASH) {
            return true;
        }
        struct value right;
        take(parser);
        if (!to_number(parser, left) || !parse_unary(parser, &right) ||
            !calculate(parser, left, &right,
                       kind == LEX_STAR ? RESREQ_OP_MULTIPLY : RESREQ_OP_DIVIDE)) {
            return false;
        }
    }
}

static bool parse_sum(struct parser *parser, struct value *left)
{
    if (!parse_product(parser, left)) {
        return false;
    }
    for (;;) {
        enum lex_kind kind = peek(parser).kind;
        if (kind != LEX_PLUS && kind != LEX_MINUS) {
            return true;
        }
        struct value right;
        take(parser);
        if (!to_number(parser, left) || !parse_product(parser, &right) ||
            !calculate(parser, left, &right,
                       kind == LEX_PLUS ? RESREQ_OP_ADD : RESREQ_OP_SUBTRACT)) {
            return false;
        }
    }
}

/* ---------------------------------------------------------------- comparisons */

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
    switch (relation) {
    case RESREQ_GT:
        return RESREQ_LT;
    case RESREQ_LT:
        return RESREQ_GT;
    case RESREQ_GE:
        return RESREQ_LE;
    case RESREQ_LE:
        return RESREQ_GE;
    case RESREQ_EQ:
    case RESREQ_NE:
        break;
    }
    return relation;
}

static bool is_text(struct resreq_place place, const char *text)
{
    return place.length == (int)strlen(text) &&
           memcmp(place.source + place.at, text, (size_t)place.length) == 0;
}

/* `any` and `local`, of type and model. True: it was one, and is done with. */
static bool compare_special(struct parser *parser, int id,
                            enum resreq_relation relation, struct resreq_place text,
                            bool *is_bad)
{
    bool is_any = is_text(text, "any"), is_local = is_text(text, "local");
    if ((id != RESOURCE_TYPE && id != RESOURCE_MODEL) || (!is_any && !is_local)) {
        return false;
    }
    if (relation != RESREQ_EQ && relation != RESREQ_NE) {
        *is_bad = !FAIL(parser, text, RESREQ_BAD_VALUE,
                        "any and local are compared with == and != only");
    } else if (is_any) {
        emit_op(parser, RESREQ_OP_TRUE);
        if (relation == RESREQ_NE) {
            emit_op(parser, RESREQ_OP_NOT);
        }
    } else if (!parser->language->has_local) {
        *is_bad = !FAIL(parser, text, RESREQ_BAD_VALUE,
                        "there is no local host here that local could stand for");
    } else {
        emit(parser, (struct resreq_instr){
                         .op = RESREQ_OP_LOCAL, .relation = relation, .id = id});
    }
    return true;
}

static bool check_text(struct parser *parser, const struct value *string,
                       const struct lex_token *token)
{
    struct resreq_place text = token->place;
    const char *from = text.source + text.at;
    if (text.length == 0) {
        return FAIL(parser, string->place, RESREQ_NO_VALUE,
                    "a text must follow: NAME == text, or NAME == 'text'");
    }
    if (!is_lenient(parser) && memchr(from, '\\', (size_t)text.length) != NULL) {
        return FAIL(parser, text, RESREQ_BAD_VALUE, "no escape characters in a text");
    }
    for (int i = 0; i < text.length; i++) {
        if ((unsigned char)from[i] < ' ' || from[i] == 0x7f) {
            return FAIL(parser, text, RESREQ_BAD_VALUE,
                        "no control characters in a text");
        }
    }
    struct resreq_lex lex = {text.source, text.at, text.at + text.length};
    bool is_number = token->kind == LEX_NAME &&
                     resreq_lex_next(&lex).kind == LEX_NUMBER && lex.at == lex.end;
    if (is_number && !is_lenient(parser)) {
        return FAIL(parser, text, RESREQ_BAD_TYPE,
                    "a string resource is compared with a text: '%.*s'", text.length,
                    from);
    }
    return true;
}

static bool compare_text(struct parser *parser, struct value *string,
                         enum resreq_relation relation, const struct lex_token *token)
{
    bool is_bad = false;
    if (!check_text(parser, string, token)) {
        return false;
    }
    struct resreq_place text = token->place;
    if (string->kind == OPEN) {
        emit_op(parser, RESREQ_OP_TRUE);
    } else if (!compare_special(parser, string->id, relation, text, &is_bad)) {
        emit(parser, (struct resreq_instr){
                         .op = RESREQ_OP_TEXT,
                         .relation = relation,
                         .id = string->id,
                         .text = arena_strn(parser->arena, text.source + text.at,
                                            (size_t)text.length),
                     });
    }
    string->kind = LOGIC;
    return !is_bad;
}

/* A string resource, then a text. */
static bool compare_string(struct parser *parser, struct value *left,
                           enum resreq_relation relation)
{
    struct lex_token token = resreq_lex_text(&parser->lex);
    if (token.kind == LEX_BAD) {
        return FAIL(parser, token.place, RESREQ_BAD_SYNTAX, "%s", token.wrong);
    }
    if (token.kind != LEX_END) {
        parser->last = token.place;
    }
    return compare_text(parser, left, relation, &token);
}

/* A quoted text, then a string resource. */
static bool compare_mirrored(struct parser *parser, struct value *left,
                             enum resreq_relation relation)
{
    struct lex_token token = take(parser);
    struct value string = {.place = token.place, .start = left->start};
    if (token.kind != LEX_NAME) {
        return FAIL(parser, left->place, RESREQ_BAD_TYPE,
                    "a text is compared with a string resource");
    }
    if (!parse_resource(parser, &string)) {
        return false;
    }
    if (string.kind == SILENT) {
        left->kind = SILENT;
        return true;
    }
    if (string.kind != STRING && string.kind != OPEN) {
        return FAIL(parser, string.place, RESREQ_BAD_TYPE,
                    "a text is compared with a string resource, and this is none");
    }
    struct lex_token text = {.kind = LEX_QUOTED, .place = left->place};
    left->kind = LOGIC;
    return compare_text(parser, &string, mirrored(relation), &text);
}

/* The seed: ut is given as a number between 0.0 and 1.0. */
static bool check_ut(struct parser *parser, const struct value *left,
                     const struct value *right)
{
    int end = next_instr(parser);
    int column = sole_column(parser, left, right->start);
    double value = constant(parser, right, end);
    struct resreq_place place = right->place;
    if (column < 0) {
        column = sole_column(parser, right, end);
        value = constant(parser, left, right->start);
        place = left->place;
    }
    if (column != RESOURCE_UT || !(value < 0 || value > 1)) {
        return true;
    }
    if (!is_lenient(parser)) {
        return FAIL(parser, place, RESREQ_BAD_VALUE,
                    "ut is a fraction, from 0.0 to 1.0");
    }
    resreq_note_add(parser->notes, place, "ut is a fraction, from 0.0 to 1.0");
    return true;
}

/* Old syntax: `=` of a number is "at least as good as". */
static enum resreq_relation as_good_as(const struct parser *parser,
                                       const struct value *left)
{
    int id = sole_column(parser, left, next_instr(parser));
    if (id < 0) {
        return RESREQ_EQ;
    }
    return resources_at(parser->language->resources, id)->is_increasing ? RESREQ_LE
                                                                        : RESREQ_GE;
}

typedef bool (*operand_fn)(struct parser *, struct value *);

static bool compare_numbers(struct parser *parser, struct value *left,
                            const struct lex_token *op, operand_fn operand)
{
    enum resreq_relation relation = relation_of(op->kind);
    if (op->kind == LEX_ASSIGN) {
        if (!is_lenient(parser)) {
            return FAIL(parser, op->place, RESREQ_BAD_TYPE,
                        "= is for strings; numbers are compared with ==");
        }
        relation = left->kind == NUMBER ? as_good_as(parser, left) : RESREQ_EQ;
    }
    struct value right = {.kind = TEXT, .place = peek(parser).place};
    bool is_text = peek(parser).kind == LEX_QUOTED && !is_lenient(parser);
    if (!to_number(parser, left) || (!is_text && !operand(parser, &right))) {
        return false;
    }
    if (right.kind == STRING || right.kind == TEXT) {
        return FAIL(parser, right.place, RESREQ_BAD_TYPE,
                    "a number cannot be compared with a text");
    }
    if (!to_number(parser, &right)) {
        return false;
    }
    if (left->kind == SILENT || right.kind == SILENT) {
        silence(parser, left);
        return true;
    }
    if (!check_ut(parser, left, &right)) {
        return false;
    }
    emit(parser, (struct resreq_instr){.op = RESREQ_OP_COMPARE, .relation = relation});
    left->kind = LOGIC;
    return true;
}

/* An open name is a string where a text follows, else a number. */
static bool is_text_ahead(struct parser *parser)
{
    struct lex_token token = peek(parser);
    if (token.kind != LEX_NAME) {
        return token.kind == LEX_QUOTED;
    }
    int id = find(parser, token.place);
    return id < 0 ||
           resources_at(parser->language->resources, id)->type != RESOURCE_NUMERIC;
}

static bool is_value_ahead(struct parser *parser)
{
    switch ((int)peek(parser).kind) {
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

static bool parse_comparison(struct parser *parser, struct value *left,
                             operand_fn operand)
{
    struct lex_token op = take(parser);
    if (!is_value_ahead(parser)) {
        return FAIL(parser, left->place, RESREQ_NO_VALUE, "a value must follow %.*s",
                    op.place.length, op.place.source + op.place.at);
    }
    switch (left->kind) {
    case STRING:
        return compare_string(parser, left, relation_of(op.kind));
    case TEXT:
        return compare_mirrored(parser, left, relation_of(op.kind));
    case OPEN:
        if (op.kind == LEX_ASSIGN || is_text_ahead(parser)) {
            return compare_string(parser, left, relation_of(op.kind));
        }
        break;
    case SILENT:
        if (is_text_ahead(parser)) {
            resreq_lex_text(&parser->lex);
            return true;
        }
        break;
    case NUMBER:
    case LOGIC:
    case FLAG:
        break;
    }
    return compare_numbers(parser, left, &op, operand);
}

static bool parse_order(struct parser *parser, struct value *left)
{
    if (!parse_sum(parser, left)) {
        return false;
    }
    for (;;) {
        enum lex_kind kind = peek(parser).kind;
        if (kind != LEX_GT && kind != LEX_LT && kind != LEX_GE && kind != LEX_LE) {
            return true;
        }
        if (!parse_comparison(parser, left, parse_sum)) {
            return false;
        }
    }
}

static bool parse_equality(struct parser *parser, struct value *left)
{
    if (!parse_order(parser, left)) {
        return false;
    }
    for (;;) {
        enum lex_kind kind = peek(parser).kind;
        if (kind != LEX_EQ && kind != LEX_NE && kind != LEX_ASSIGN) {
            return true;
        }
        if (!parse_comparison(parser, left, parse_order)) {
            return false;
        }
    }
}

/* ---------------------------------------------------------------- and, or */

/* Joins two truths; one that says nothing leaves the other. */
static bool join(struct parser *parser, struct value *left, struct value *right,
                 enum resreq_op op)
{
    if (!to_truth(parser, right)) {
        return false;
    }
    if (left->kind == SILENT) {
        left->kind = right->kind;
    } else if (right->kind != SILENT) {
        emit_op(parser, op);
    }
    return true;
}

static bool parse_and(struct parser *parser, struct value *left)
{
    if (!parse_equality(parser, left)) {
        return false;
    }
    while (peek(parser).kind == LEX_AND) {
        struct value right;
        take(parser);
        if (!to_truth(parser, left) || !parse_equality(parser, &right) ||
            !join(parser, left, &right, RESREQ_OP_AND)) {
            return false;
        }
    }
    return true;
}

static bool parse_or(struct parser *parser, struct value *left)
{
    if (!parse_and(parser, left)) {
        return false;
    }
    while (peek(parser).kind == LEX_OR) {
        struct value right;
        take(parser);
        if (!to_truth(parser, left) || !parse_and(parser, &right) ||
            !join(parser, left, &right, RESREQ_OP_OR)) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the old list */

/* Old syntax: `-` alone is type == any; `-bool` is NOT, where it is the whole term. */
static bool parse_dash(struct parser *parser, struct value *value, bool *is_dash)
{
    struct resreq_lex ahead = parser->lex;
    *is_dash = false;
    if (!is_lenient(parser) || resreq_lex_next(&ahead).kind != LEX_MINUS) {
        return true;
    }
    struct lex_token name = resreq_lex_next(&ahead);
    enum lex_kind behind =
        name.kind == LEX_NAME ? resreq_lex_peek(&ahead).kind : name.kind;
    if (behind != LEX_END && behind != LEX_COLON) {
        return true;
    }
    value->start = next_instr(parser);
    if (name.kind != LEX_NAME) {
        value->place = take(parser).place;
        parser->selection->names_type = true;
        emit_op(parser, RESREQ_OP_TRUE);
        value->kind = LOGIC;
        *is_dash = true;
        return true;
    }
    int id = find(parser, name.place);
    if (id >= 0 &&
        resources_at(parser->language->resources, id)->type != RESOURCE_BOOLEAN) {
        return true;
    }
    *is_dash = true;
    value->place = name.place;
    parser->lex = ahead;
    parser->last = name.place;
    if (!parse_resource(parser, value) || !to_truth(parser, value)) {
        return false;
    }
    if (value->kind != SILENT) {
        emit_op(parser, RESREQ_OP_NOT);
    }
    return true;
}

static bool parse_term(struct parser *parser, struct value *value)
{
    bool is_dash;
    if (!parse_dash(parser, value, &is_dash)) {
        return false;
    }
    return (is_dash || parse_or(parser, value)) && to_truth(parser, value);
}

static bool fail_rest(struct parser *parser, const struct lex_token *token)
{
    switch ((int)token->kind) {
    case LEX_BAD:
        return FAIL(parser, token->place, RESREQ_BAD_SYNTAX, "%s", token->wrong);
    case LEX_COLON:
        return FAIL(parser, token->place, RESREQ_BAD_SYNTAX,
                    "no colon in a selection: conditions are joined with &&");
    case LEX_CLOSE:
        return FAIL(parser, token->place, RESREQ_BAD_SYNTAX,
                    "this parenthesis was never opened");
    default:
        return FAIL(parser, token->place, RESREQ_BAD_SYNTAX,
                    "an operator is missing before this");
    }
}

/* Terms up to the end of the part. */
static bool parse_list(struct parser *parser, struct value *value)
{
    if (!parse_term(parser, value)) {
        return false;
    }
    for (;;) {
        struct lex_token token = take(parser);
        if (token.kind == LEX_END) {
            return true;
        }
        if (token.kind != LEX_COLON || !is_lenient(parser)) {
            return fail_rest(parser, &token);
        }
        struct value right;
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
                        struct resreq_fault *fault)
{
    struct parser parser = {
        .arena = arena,
        .language = language,
        .lex = lex,
        .last = keyword,
        .selection = selection,
        .notes = notes,
        .fault = fault,
        .ahead_at = -1,
    };
    struct value value;
    bool is_first = selection->program.n_instrs == 0;
    if (!parse_list(&parser, &value)) {
        return ERR_PARSE;
    }
    if (!is_first && value.kind != SILENT) {
        emit_op(&parser, RESREQ_OP_AND);
    }
    if (resreq_program_depth(&selection->program) > RESREQ_STACK_MAX) {
        return resreq_fault_set(fault, RESREQ_SELECT, keyword, RESREQ_BAD_SYNTAX,
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
