/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_operand.c: see resreq_operand.h. */
#include "sched/resreq/resreq_operand.h"

#include <math.h>
#include <string.h>

bool resreq_operand_is_lenient(const struct resreq_parser *parser)
{
    return parser->language->is_lenient;
}

struct lex_token resreq_operand_peek_token(struct resreq_parser *parser)
{
    if (parser->ahead_from.at != parser->lex.at ||
        parser->ahead_from.end != parser->lex.end) {
        parser->ahead_from = parser->ahead_to = parser->lex;
        parser->ahead = resreq_lex_next(&parser->ahead_to);
    }
    return parser->ahead;
}

struct lex_token resreq_operand_take_token(struct resreq_parser *parser)
{
    struct lex_token token = resreq_operand_peek_token(parser);
    parser->lex = parser->ahead_to;
    if (token.kind != LEX_END) {
        parser->last = token.place;
    }
    return token;
}

/* ---------------------------------------------------------------- instructions */

int resreq_operand_count_instrs(const struct resreq_parser *parser)
{
    return parser->selection->program.n_instrs;
}

struct resreq_instr *resreq_operand_instr_at(const struct resreq_parser *parser,
                                             int index)
{
    return &parser->selection->program.instrs[index];
}

void resreq_operand_emit(struct resreq_parser *parser, struct resreq_instr instr)
{
    resreq_program_emit(parser->arena, &parser->selection->program, instr);
}

void resreq_operand_emit_op(struct resreq_parser *parser, enum resreq_op op)
{
    resreq_operand_emit(parser, (struct resreq_instr){.op = op});
}

void resreq_operand_silence(struct resreq_parser *parser, struct resreq_operand *value)
{
    parser->selection->program.n_instrs = value->start;
    value->kind = OPERAND_SILENT;
}

/* The instruction of a number that is one instruction of this kind, or NULL. */
static const struct resreq_instr *single(const struct resreq_parser *parser,
                                         const struct resreq_operand *value, int end,
                                         enum resreq_op op)
{
    bool is_one = value->kind == OPERAND_NUMBER && value->start == end - 1;
    const struct resreq_instr *instr =
        is_one ? resreq_operand_instr_at(parser, value->start) : NULL;
    return is_one && instr->op == op ? instr : NULL;
}

double resreq_operand_constant(const struct resreq_parser *parser,
                               const struct resreq_operand *value, int end)
{
    const struct resreq_instr *instr = single(parser, value, end, RESREQ_OP_NUMBER);
    return instr != NULL ? instr->number : (double)NAN;
}

int resreq_operand_column(const struct resreq_parser *parser,
                          const struct resreq_operand *value, int end)
{
    const struct resreq_instr *instr = single(parser, value, end, RESREQ_OP_COLUMN);
    return instr != NULL ? instr->id : -1;
}

/* ---------------------------------------------------------------- kinds */

bool resreq_operand_fail_text(struct resreq_parser *parser,
                              const struct resreq_operand *value)
{
    return RESREQ_FAIL(
        parser, value->place, RESREQ_BAD_SYNTAX,
        "quotes belong around the whole string, or around a text that a string "
        "resource is compared with");
}

/* Strings and texts have no value of their own. */
static bool has_value(struct resreq_parser *parser, const struct resreq_operand *value)
{
    if (value->kind == OPERAND_STRING) {
        return RESREQ_FAIL(
            parser, value->place, RESREQ_BAD_TYPE,
            "a string resource accepts only the operators = == != < > <= >=");
    }
    return value->kind != OPERAND_TEXT || resreq_operand_fail_text(parser, value);
}

bool resreq_operand_to_truth(struct resreq_parser *parser, struct resreq_operand *value)
{
    if (!has_value(parser, value)) {
        return false;
    }
    if (value->kind == OPERAND_NUMBER) {
        resreq_operand_emit_op(parser, RESREQ_OP_TRUTH);
    } else if (value->kind == OPERAND_OPEN) {
        resreq_operand_emit_op(parser, RESREQ_OP_TRUE);
    }
    value->kind = value->kind == OPERAND_SILENT ? OPERAND_SILENT : OPERAND_LOGIC;
    return true;
}

bool resreq_operand_to_number(struct resreq_parser *parser,
                              struct resreq_operand *value)
{
    if (!has_value(parser, value)) {
        return false;
    }
    if (value->kind == OPERAND_FLAG && !resreq_operand_is_lenient(parser)) {
        return RESREQ_FAIL(parser, value->place, RESREQ_BAD_TYPE,
                           "a Boolean resource accepts only the operators && || !");
    }
    if (value->kind == OPERAND_FLAG || value->kind == OPERAND_LOGIC) {
        resreq_operand_emit_op(parser, RESREQ_OP_WIDEN);
    } else if (value->kind == OPERAND_OPEN) {
        resreq_operand_emit(
            parser, (struct resreq_instr){.op = RESREQ_OP_COLUMN, .id = RESOURCE_MEM});
    }
    value->kind = value->kind == OPERAND_SILENT ? OPERAND_SILENT : OPERAND_NUMBER;
    return true;
}

/* ---------------------------------------------------------------- names */

static bool is_word(struct resreq_place place)
{
    return resource_is_keyword(place.source + place.at, (size_t)place.length);
}

static bool fail_name(struct resreq_parser *parser, struct resreq_place place)
{
    return RESREQ_FAIL(parser, place, RESREQ_BAD_NAME,
                       is_word(place)
                           ? "this word is no resource; a section is KEYWORD[...]"
                           : "there is no resource of this name");
}

int resreq_operand_find(const struct resreq_parser *parser, struct resreq_place place)
{
    int id = resources_find(parser->language->resources, place.source + place.at,
                            (size_t)place.length);
    bool is_slots = id == RESOURCE_NCPUS && parser->language->counts_slots;
    return is_slots ? RESOURCE_MAXSLOTS : id;
}

static void note_name(struct resreq_parser *parser, int id)
{
    struct resreq_selection *selection = parser->selection;
    resreq_program_name(parser->arena, &selection->program, id);
    selection->names_type = selection->names_type || id == RESOURCE_TYPE;
    selection->names_text_or_boolean =
        selection->names_text_or_boolean ||
        resources_at(parser->language->resources, id)->type != RESOURCE_NUMERIC;
}

static bool parse_unknown(struct resreq_parser *parser, struct resreq_operand *value)
{
    if (is_word(value->place)) {
        return fail_name(parser, value->place);
    }
    if (parser->language->is_open) {
        value->kind = OPERAND_OPEN;
        return true;
    }
    if (!resreq_operand_is_lenient(parser)) {
        return fail_name(parser, value->place);
    }
    resreq_error_add_note(parser->notes, value->place,
                          "there is no resource \"%.*s\": the part with it is ignored",
                          value->place.length, value->place.source + value->place.at);
    value->kind = OPERAND_SILENT;
    return true;
}

bool resreq_operand_resource(struct resreq_parser *parser, struct resreq_operand *value)
{
    int id = resreq_operand_find(parser, value->place);
    if (id < 0) {
        return parse_unknown(parser, value);
    }
    note_name(parser, id);
    value->id = id;
    switch (resources_at(parser->language->resources, id)->type) {
    case RESOURCE_NUMERIC:
        resreq_operand_emit(parser,
                            (struct resreq_instr){.op = RESREQ_OP_COLUMN, .id = id});
        value->kind = OPERAND_NUMBER;
        break;
    case RESOURCE_BOOLEAN:
        resreq_operand_emit(parser,
                            (struct resreq_instr){.op = RESREQ_OP_FLAG, .id = id});
        value->kind = OPERAND_FLAG;
        break;
    case RESOURCE_STRING:
        value->kind = OPERAND_STRING;
        break;
    }
    return true;
}

/* defined() takes names of Resource sections without an INTERVAL. */
static bool check_defined(struct resreq_parser *parser, struct resreq_place place,
                          int id)
{
    if (id >= 0 && id < RESOURCE_BUILTINS) {
        return RESREQ_FAIL(parser, place, RESREQ_BAD_NAME,
                           "a built-in resource is no argument of defined()");
    }
    const struct resource *resource =
        id >= 0 ? resources_at(parser->language->resources, id) : NULL;
    if (resource != NULL && resource->type == RESOURCE_NUMERIC &&
        resource->interval_ms > 0) {
        return RESREQ_FAIL(
            parser, place, RESREQ_BAD_NAME,
            "a numeric resource with an INTERVAL is no argument of defined()");
    }
    if (id < 0 && (is_word(place) ||
                   !(parser->language->is_open || resreq_operand_is_lenient(parser)))) {
        return fail_name(parser, place);
    }
    return true;
}

bool resreq_operand_defined(struct resreq_parser *parser, struct resreq_operand *value)
{
    struct lex_token open = resreq_operand_take_token(parser);
    struct lex_token name = resreq_operand_take_token(parser);
    struct lex_token close = resreq_operand_take_token(parser);
    if (open.kind != LEX_OPEN || name.kind != LEX_NAME || close.kind != LEX_CLOSE) {
        return RESREQ_FAIL(parser, value->place, RESREQ_BAD_SYNTAX,
                           "expected defined(RESOURCE)");
    }
    if (!resreq_operand_is_lenient(parser) && (name.after_blank || close.after_blank)) {
        return RESREQ_FAIL(
            parser, value->place, RESREQ_BAD_SYNTAX,
            "no blanks between the parentheses and the name in defined()");
    }
    int id =
        resources_find(parser->language->resources, name.place.source + name.place.at,
                       (size_t)name.place.length);
    if (!check_defined(parser, name.place, id)) {
        return false;
    }
    value->kind = OPERAND_LOGIC;
    if (id >= 0) {
        note_name(parser, id);
        resreq_operand_emit(parser,
                            (struct resreq_instr){.op = RESREQ_OP_HAS, .id = id});
        return true;
    }
    if (!parser->language->is_open) {
        resreq_error_add_note(parser->notes, name.place,
                              "there is no resource \"%.*s\": no host has it",
                              name.place.length, name.place.source + name.place.at);
    }
    resreq_operand_emit_op(parser, RESREQ_OP_TRUE);
    resreq_operand_emit_op(parser, RESREQ_OP_NOT);
    return true;
}
