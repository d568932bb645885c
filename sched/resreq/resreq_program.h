/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_program.h: a selection as a small stack program, run over blocks of hosts.
 *
 * Each instruction works on RESOURCE_BLOCK hosts at a time, column by column: numbers
 * on one kind of stack entry, truths (0 or 1 a host) on the other. What is not finite
 * (a division by zero, an overflow) makes every comparison it stands in false, and is
 * false as a truth.
 *
 * Ownership: instructions live in the arena of the program. Errors: none; a program
 * that the builder made is well-formed. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_PROGRAM_H
#define SUBLET_SCHED_RESREQ_RESREQ_PROGRAM_H

#include "base/arena.h"
#include "sched/resource/resource_table.h"

enum {
    RESREQ_STACK_MAX = 32, /* entries, 1 KiB each, on the stack of whoever runs it; real
                              requirements need four */
};

enum resreq_op {
    RESREQ_OP_TRUE,
    RESREQ_OP_FLAG,   /* a Boolean resource */
    RESREQ_OP_HAS,    /* defined(resource) */
    RESREQ_OP_TEXT,   /* a string resource against a text, by relation */
    RESREQ_OP_LOCAL,  /* type or model against the local host's, == or != */
    RESREQ_OP_COLUMN, /* a numeric resource */
    RESREQ_OP_NUMBER,
    RESREQ_OP_NEGATE,
    RESREQ_OP_MULTIPLY,
    RESREQ_OP_DIVIDE,
    RESREQ_OP_ADD,
    RESREQ_OP_SUBTRACT,
    RESREQ_OP_COMPARE, /* two numbers, by relation */
    RESREQ_OP_TRUTH,   /* of a number: is it not 0 */
    RESREQ_OP_WIDEN,   /* a truth as a number */
    RESREQ_OP_NOT,
    RESREQ_OP_AND,
    RESREQ_OP_OR,
};

enum resreq_relation {
    RESREQ_GT,
    RESREQ_LT,
    RESREQ_GE,
    RESREQ_LE,
    RESREQ_EQ,
    RESREQ_NE,
};

struct resreq_instr {
    enum resreq_op op;
    enum resreq_relation relation;
    int id; /* of the resource */
    double number;
    const char *text;
};

struct resreq_program {
    struct resreq_instr *instrs; /* none: all hosts */
    int n_instrs, capacity;
    int *named; /* resources that it names, for exclusive ones; each once */
    int n_named, named_capacity;
    bool takes_exclusive; /* a host also where it does not name what is exclusive */
};

/* The local host's type and model; "" where it has none. */
struct resreq_local {
    const char *type, *model;
    bool takes_unknown; /* a host without a type (model) is of the local one */
};

/* Adds an instruction at the end. */
void resreq_program_emit(struct arena *arena, struct resreq_program *program,
                         struct resreq_instr instr);
void resreq_program_name(struct arena *arena, struct resreq_program *program, int id);
/* True where a host's value of the resource, or whether it has one, is looked at. */
bool resreq_program_reads(const struct resreq_program *program, int id);
/* The stack entries that it needs. */
int resreq_program_depth(const struct resreq_program *program);

/* matches[row] becomes 1 for each row of the table that is selected, 0 for others: the
 * selection holds, and it names every resource that is exclusive on the host (or takes
 * those anyway). `matches` has room for all rows; `lefts` (NULL: none) stand for
 * columns of the table. */
void resreq_program_run(const struct resreq_program *program,
                        const struct resource_table *table,
                        const struct resource_overrides *lefts,
                        const struct resreq_local *local, uint8_t *matches);

#endif
