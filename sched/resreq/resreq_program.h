/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_program.h: a compiled selection, and its evaluation for all hosts at once.
 *
 * Each instruction works on RESOURCE_BLOCK hosts at a time, column by column. A stack
 * entry has a number or a truth (0 or 1) for each host. A result that is not finite
 * (division by zero, overflow) makes every comparison with it false, and is false as a
 * truth.
 *
 * Ownership: instructions live in the arena of the program. Errors: none; a program
 * that the parser made is well-formed. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_PROGRAM_H
#define SUBLET_SCHED_RESREQ_RESREQ_PROGRAM_H

#include "base/arena.h"
#include "sched/resource/resource.h"

enum {
    RESREQ_STACK_MAX = 32, /* entries of 1 KiB each, on the stack of the caller; real
                              requirements need four */
};

enum resreq_op {
    RESREQ_OP_TRUE,
    RESREQ_OP_FLAG,   /* a Boolean resource */
    RESREQ_OP_HAS,    /* defined(resource) */
    RESREQ_OP_TEXT,   /* a string resource compared with a text, by relation */
    RESREQ_OP_LOCAL,  /* type or model compared with the local host's, == or != */
    RESREQ_OP_COLUMN, /* a numeric resource */
    RESREQ_OP_NUMBER,
    RESREQ_OP_NEGATE,
    RESREQ_OP_MULTIPLY,
    RESREQ_OP_DIVIDE,
    RESREQ_OP_ADD,
    RESREQ_OP_SUBTRACT,
    RESREQ_OP_COMPARE, /* two numbers, by relation */
    RESREQ_OP_TRUTH,   /* of a number: it is not 0 */
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
    struct resreq_instr *instrs; /* none: all hosts are selected */
    int n_instrs, capacity;
    int *named; /* resources that it names, each once, for exclusive resources */
    int n_named, named_capacity;
    bool takes_exclusive; /* exclusive resources need not be named */
};

/* Type and model of the local host; "" if it has none. */
struct resreq_local {
    const char *type, *model;
    bool takes_unknown; /* a host without a type (model) counts as local */
    bool takes_all;     /* every host does: the site has none of its own */
};

/* Appends an instruction. */
void resreq_program_emit(struct arena *arena, struct resreq_program *program,
                         struct resreq_instr instr);
void resreq_program_name(struct arena *arena, struct resreq_program *program, int id);
/* True if the value of the resource, or whether a host has it, is looked at. */
bool resreq_program_reads(const struct resreq_program *program, int id);
/* Number of stack entries that it needs. */
int resreq_program_depth(const struct resreq_program *program);

/* Sets matches[row] to 1 for each row of the table that is selected and to 0 for
 * others. A row is selected if the selection holds, and the program names every
 * resource that is exclusive on the host (or takes_exclusive). `matches` has room for
 * all rows; `overrides` may be NULL. */
void resreq_program_run(const struct resreq_program *program,
                        const struct resource_table *table,
                        const struct resource_overrides *overrides,
                        const struct resreq_local *local, uint8_t *matches);
/* The same for the block of RESOURCE_BLOCK rows from `first` alone. */
void resreq_program_run_block(const struct resreq_program *program,
                              const struct resource_table *table,
                              const struct resource_overrides *overrides,
                              const struct resreq_local *local, int first,
                              uint8_t *matches);

#endif
