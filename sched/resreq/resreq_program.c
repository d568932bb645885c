/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_program.c: see resreq_program.h. Every loop over a block has a constant number
 * of rounds and no branch, so that compilers vectorize it; columns are padded to whole
 * blocks for that.
 *
 *     swp > 50 && fs    COLUMN swp, NUMBER 50, COMPARE >, FLAG fs, AND
 *
 * COLUMN copies nothing: its entry points into the column. An arithmetic result r is
 * stored as r + (r - r): this is r if it is finite, else NaN, and every comparison with
 * NaN is false. For that reason != is computed as < or >. */
#include "sched/resreq/resreq_program.h"

#include <string.h>

enum { BLOCK = RESOURCE_BLOCK };

/* A stack entry: a pointer to its values, and space for values that were computed. */
struct entry {
    const double *numbers;
    const uint8_t *truths;
    union {
        double numbers[BLOCK];
        uint8_t truths[BLOCK];
    } storage;
};

struct run {
    const struct resource_table *table;
    const struct resource_overrides *overrides;
    const struct resreq_local *local;
    int first; /* first row of the block */
    int n_rows;
    struct entry *top;
};

static const double no_numbers[BLOCK];
static const uint8_t no_flags[BLOCK];

/* ---------------------------------------------------------------- building */

void resreq_program_emit(struct arena *arena, struct resreq_program *program,
                         struct resreq_instr instr)
{
    if (program->n_instrs == program->capacity) {
        int capacity = program->capacity * 2 + 8;
        struct resreq_instr *grown =
            arena_alloc(arena, (size_t)capacity, sizeof(*grown));
        if (program->n_instrs > 0) {
            memcpy(grown, program->instrs, (size_t)program->n_instrs * sizeof(*grown));
        }
        program->instrs = grown;
        program->capacity = capacity;
    }
    program->instrs[program->n_instrs++] = instr;
}

void resreq_program_name(struct arena *arena, struct resreq_program *program, int id)
{
    for (int i = 0; i < program->n_named; i++) {
        if (program->named[i] == id) {
            return;
        }
    }
    if (program->n_named == program->named_capacity) {
        int capacity = program->named_capacity * 2 + 4;
        int *grown = arena_alloc(arena, (size_t)capacity, sizeof(*grown));
        if (program->n_named > 0) {
            memcpy(grown, program->named, (size_t)program->n_named * sizeof(*grown));
        }
        program->named = grown;
        program->named_capacity = capacity;
    }
    program->named[program->n_named++] = id;
}

/* By how many entries an instruction makes the stack grow. */
static int growth(enum resreq_op op)
{
    switch (op) {
    case RESREQ_OP_TRUE:
    case RESREQ_OP_FLAG:
    case RESREQ_OP_HAS:
    case RESREQ_OP_TEXT:
    case RESREQ_OP_LOCAL:
    case RESREQ_OP_COLUMN:
    case RESREQ_OP_NUMBER:
        return 1;
    case RESREQ_OP_NEGATE:
    case RESREQ_OP_TRUTH:
    case RESREQ_OP_WIDEN:
    case RESREQ_OP_NOT:
        return 0;
    case RESREQ_OP_MULTIPLY:
    case RESREQ_OP_DIVIDE:
    case RESREQ_OP_ADD:
    case RESREQ_OP_SUBTRACT:
    case RESREQ_OP_COMPARE:
    case RESREQ_OP_AND:
    case RESREQ_OP_OR:
        return -1;
    }
    return 0;
}

bool resreq_program_reads(const struct resreq_program *program, int id)
{
    for (int i = 0; i < program->n_instrs; i++) {
        const struct resreq_instr *instr = &program->instrs[i];
        bool is_value = instr->op == RESREQ_OP_FLAG || instr->op == RESREQ_OP_HAS ||
                        instr->op == RESREQ_OP_TEXT || instr->op == RESREQ_OP_COLUMN;
        if (is_value && instr->id == id) {
            return true;
        }
    }
    return false;
}

int resreq_program_depth(const struct resreq_program *program)
{
    int depth = 0, deepest = 0;
    for (int i = 0; i < program->n_instrs; i++) {
        depth += growth(program->instrs[i].op);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* ---------------------------------------------------------------- leaves */

static void push_flags(struct run *run, const uint8_t *column)
{
    struct entry *entry = ++run->top;
    entry->truths = column != NULL ? column + run->first : no_flags;
}

static void push_column(struct run *run, int id)
{
    const double *left = resource_table_find_override(run->overrides, id);
    const double *column =
        left != NULL ? left : resource_table_column(run->table, id).numbers;
    struct entry *entry = ++run->top;
    entry->numbers = column != NULL ? column + run->first : no_numbers;
}

static void push_number(struct run *run, double number)
{
    struct entry *entry = ++run->top;
    for (int i = 0; i < BLOCK; i++) {
        entry->storage.numbers[i] = number;
    }
    entry->numbers = entry->storage.numbers;
}

static uint8_t *push_truths(struct run *run)
{
    struct entry *entry = ++run->top;
    entry->truths = entry->storage.truths;
    return entry->storage.truths;
}

static void push_equal_text(struct run *run, const int32_t *texts, int32_t number,
                            bool is_equal)
{
    uint8_t *out = push_truths(run);
    if (texts == NULL) {
        memset(out, (number == RESOURCE_TEXT_NONE) == is_equal, BLOCK);
        return;
    }
    texts += run->first;
    if (is_equal) {
        for (int i = 0; i < BLOCK; i++) {
            out[i] = texts[i] == number;
        }
    } else {
        for (int i = 0; i < BLOCK; i++) {
            out[i] = texts[i] != number;
        }
    }
}

static bool holds(enum resreq_relation relation, int order)
{
    switch (relation) {
    case RESREQ_GT:
        return order > 0;
    case RESREQ_LT:
        return order < 0;
    case RESREQ_GE:
        return order >= 0;
    case RESREQ_LE:
        return order <= 0;
    case RESREQ_EQ:
        return order == 0;
    case RESREQ_NE:
        return order != 0;
    }
    return false;
}

static const char closed[] = "closed";

/* Each status that begins so is one: closed_Adm, closed_Full. */
static void push_closed(struct run *run, const int32_t *texts, bool is_equal)
{
    uint8_t *out = push_truths(run);
    for (int i = 0; i < BLOCK; i++) {
        bool is_row = texts != NULL && run->first + i < run->n_rows;
        const char *text =
            is_row ? resource_table_text_at(run->table, texts[run->first + i]) : "";
        out[i] = (strncmp(text, closed, sizeof(closed) - 1) == 0) == is_equal;
    }
}

static void push_text(struct run *run, const struct resreq_instr *instr)
{
    const int32_t *texts = resource_table_column(run->table, instr->id).texts;
    bool is_equality = instr->relation == RESREQ_EQ || instr->relation == RESREQ_NE;
    if (is_equality && instr->id == RESOURCE_STATUS &&
        strcmp(instr->text, closed) == 0) {
        push_closed(run, texts, instr->relation == RESREQ_EQ);
        return;
    }
    if (is_equality) {
        int32_t number =
            resource_table_find_text(run->table, instr->text, strlen(instr->text));
        push_equal_text(run, texts, number, instr->relation == RESREQ_EQ);
        return;
    }
    uint8_t *out = push_truths(run);
    for (int i = 0; i < BLOCK; i++) {
        bool is_row = texts != NULL && run->first + i < run->n_rows;
        int32_t text = is_row ? texts[run->first + i] : RESOURCE_TEXT_NONE;
        out[i] = holds(instr->relation,
                       strcmp(resource_table_text_at(run->table, text), instr->text));
    }
}

static void push_local(struct run *run, const struct resreq_instr *instr)
{
    const char *text =
        instr->id == RESOURCE_TYPE ? run->local->type : run->local->model;
    const int32_t *texts = resource_table_column(run->table, instr->id).texts;
    int32_t number = resource_table_find_text(run->table, text, strlen(text));
    bool is_equal = instr->relation == RESREQ_EQ;
    push_equal_text(run, texts, number, is_equal);
    uint8_t *out = run->top->storage.truths;
    if (run->local->takes_unknown && (run->local->takes_all || texts == NULL)) {
        memset(out, is_equal, BLOCK);
        return;
    }
    for (int i = 0; run->local->takes_unknown && i < BLOCK; i++) {
        out[i] = texts[run->first + i] == RESOURCE_TEXT_NONE ? is_equal : out[i];
    }
}

/* ---------------------------------------------------------------- arithmetic */

static void negate(struct run *run)
{
    struct entry *entry = run->top;
    const double *in = entry->numbers;
    double *out = entry->storage.numbers;
    for (int i = 0; i < BLOCK; i++) {
        out[i] = -in[i];
    }
    entry->numbers = out;
}

#define LOOP(expression)                                                               \
    for (int i = 0; i < BLOCK; i++) {                                                  \
        double result = (expression);                                                  \
        out[i] = result + (result - result);                                           \
    }                                                                                  \
    break

static void calculate(struct run *run, enum resreq_op op)
{
    struct entry *right = run->top--;
    const double *b = right->numbers;
    const double *a = run->top->numbers;
    double *out = run->top->storage.numbers;
    switch ((int)op) {
    case RESREQ_OP_MULTIPLY:
        LOOP(a[i] * b[i]);
    case RESREQ_OP_DIVIDE:
        LOOP(a[i] / b[i]);
    case RESREQ_OP_ADD:
        LOOP(a[i] + b[i]);
    default:
        LOOP(a[i] - b[i]);
    }
    run->top->numbers = out;
}

#undef LOOP
#define LOOP(expression)                                                               \
    for (int i = 0; i < BLOCK; i++) {                                                  \
        out[i] = (uint8_t)(expression);                                                \
    }                                                                                  \
    break

/* The result is shorter than its operands, so it is written into the space of the left
 * one from its start. */
static void compare(struct run *run, enum resreq_relation relation)
{
    const double *b = run->top->numbers;
    run->top--;
    const double *a = run->top->numbers;
    uint8_t out[BLOCK];
    switch (relation) {
    case RESREQ_GT:
        LOOP(a[i] > b[i]);
    case RESREQ_LT:
        LOOP(a[i] < b[i]);
    case RESREQ_GE:
        LOOP(a[i] >= b[i]);
    case RESREQ_LE:
        LOOP(a[i] <= b[i]);
    case RESREQ_EQ:
        LOOP(a[i] == b[i]);
    case RESREQ_NE:
        LOOP((a[i] < b[i]) | (a[i] > b[i]));
    }
    memcpy(run->top->storage.truths, out, BLOCK);
    run->top->truths = run->top->storage.truths;
}

#undef LOOP

/* ---------------------------------------------------------------- truths */

static void truth(struct run *run)
{
    push_number(run, 0);
    compare(run, RESREQ_NE);
}

static void widen(struct run *run)
{
    struct entry *entry = run->top;
    uint8_t in[BLOCK];
    memcpy(in, entry->truths, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        entry->storage.numbers[i] = in[i];
    }
    entry->numbers = entry->storage.numbers;
}

static void invert(struct run *run)
{
    struct entry *entry = run->top;
    const uint8_t *in = entry->truths;
    uint8_t *out = entry->storage.truths;
    for (int i = 0; i < BLOCK; i++) {
        out[i] = in[i] ^ 1;
    }
    entry->truths = out;
}

static void join(struct run *run, enum resreq_op op)
{
    const uint8_t *b = run->top->truths;
    run->top--;
    const uint8_t *a = run->top->truths;
    uint8_t *out = run->top->storage.truths;
    if (op == RESREQ_OP_AND) {
        for (int i = 0; i < BLOCK; i++) {
            out[i] = a[i] & b[i];
        }
    } else {
        for (int i = 0; i < BLOCK; i++) {
            out[i] = a[i] | b[i];
        }
    }
    run->top->truths = out;
}

/* ---------------------------------------------------------------- running */

static void step(struct run *run, const struct resreq_instr *instr)
{
    switch (instr->op) {
    case RESREQ_OP_TRUE:
        memset(push_truths(run), 1, BLOCK);
        break;
    case RESREQ_OP_FLAG:
        push_flags(run, resource_table_column(run->table, instr->id).flags);
        break;
    case RESREQ_OP_HAS:
        push_flags(run, resource_table_column(run->table, instr->id).has);
        break;
    case RESREQ_OP_TEXT:
        push_text(run, instr);
        break;
    case RESREQ_OP_LOCAL:
        push_local(run, instr);
        break;
    case RESREQ_OP_COLUMN:
        push_column(run, instr->id);
        break;
    case RESREQ_OP_NUMBER:
        push_number(run, instr->number);
        break;
    case RESREQ_OP_NEGATE:
        negate(run);
        break;
    case RESREQ_OP_MULTIPLY:
    case RESREQ_OP_DIVIDE:
    case RESREQ_OP_ADD:
    case RESREQ_OP_SUBTRACT:
        calculate(run, instr->op);
        break;
    case RESREQ_OP_COMPARE:
        compare(run, instr->relation);
        break;
    case RESREQ_OP_TRUTH:
        truth(run);
        break;
    case RESREQ_OP_WIDEN:
        widen(run);
        break;
    case RESREQ_OP_NOT:
        invert(run);
        break;
    case RESREQ_OP_AND:
    case RESREQ_OP_OR:
        join(run, instr->op);
        break;
    }
}

static bool is_named(const struct resreq_program *program, int id)
{
    for (int i = 0; i < program->n_named; i++) {
        if (program->named[i] == id) {
            return true;
        }
    }
    return false;
}

/* Deselects hosts with an exclusive resource that the selection does not, or cannot,
 * name. Rows from `first`, below `end`. */
static void drop_exclusive(const struct resreq_program *program,
                           const struct resource_table *table, int first, int end,
                           uint8_t *matches)
{
    int n_resources = resources_count(resource_table_resources(table));
    const int32_t *undefined = resource_table_undefined_column(table);
    for (int row = first; undefined != NULL && row < end; row++) {
        matches[row] = matches[row] && undefined[row] == RESOURCE_TEXT_NONE;
    }
    for (int id = RESOURCE_SERVER; id < n_resources; id++) {
        const uint8_t *exclusive = resource_table_column(table, id).exclusive;
        if (exclusive == NULL || is_named(program, id)) {
            continue;
        }
        for (int row = first; row < end; row++) {
            matches[row] = matches[row] & (exclusive[row] ^ 1);
        }
    }
}

/* Runs the instructions for the rows of a block, of which there are `n_rows`. */
static void run_block(const struct resreq_program *program, struct run *run, int first,
                      int n_rows, uint8_t *matches)
{
    struct entry stack[RESREQ_STACK_MAX + 2]; /* TRUTH needs one more temporarily */
    run->first = first;
    run->top = stack; /* the entry below the first is never read */
    for (int i = 0; i < program->n_instrs; i++) {
        step(run, &program->instrs[i]);
    }
    memcpy(matches + first, run->top->truths, (size_t)n_rows);
}

static void run_rows(const struct resreq_program *program, struct run *run, int first,
                     int end, uint8_t *matches)
{
    if (program->n_instrs == 0) {
        memset(matches + first, 1, (size_t)(end - first));
    }
    for (int at = first; program->n_instrs > 0 && at < end; at += BLOCK) {
        run_block(program, run, at, end - at < BLOCK ? end - at : BLOCK, matches);
    }
    if (!program->takes_exclusive) {
        drop_exclusive(program, run->table, first, end, matches);
    }
}

void resreq_program_run(const struct resreq_program *program,
                        const struct resource_table *table,
                        const struct resource_overrides *overrides,
                        const struct resreq_local *local, uint8_t *matches)
{
    int n_rows = resource_table_rows(table);
    struct run run = {
        .table = table, .overrides = overrides, .local = local, .n_rows = n_rows};
    run_rows(program, &run, 0, n_rows, matches);
}

void resreq_program_run_block(const struct resreq_program *program,
                              const struct resource_table *table,
                              const struct resource_overrides *overrides,
                              const struct resreq_local *local, int first,
                              uint8_t *matches)
{
    int n_rows = resource_table_rows(table);
    struct run run = {
        .table = table, .overrides = overrides, .local = local, .n_rows = n_rows};
    run_rows(program, &run, first, n_rows - first < BLOCK ? n_rows : first + BLOCK,
             matches);
}
