/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: one command line: which command, its options and operands, and how it
 * ends.
 *
 * A command is a row: name, what it is for, its options, its function. Help, usage
 * and the parsing of the line all come from the rows, so they cannot drift.
 *
 * Options are matched whole ("-q", "-cwd", "--json"), as LSF's are; "--name=value"
 * works for those with two dashes; "--" ends them. The options in call_globals are
 * taken before the command's name or after it.
 *
 * Ownership: everything points into argv, or lives as long as the call.
 * Layer: cli. */
#ifndef SUBLET_CLI_CALL_H
#define SUBLET_CLI_CALL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

/* How a command ends: INTERFACES 3. */
enum { CALL_OK = 0, CALL_FAILED = 1, CALL_MISUSED = 2, CALL_BAD_RESREQ = 255 };

struct call_option {
    const char *name;  /* with its dashes */
    const char *value; /* what the value is called; NULL: takes none */
    const char *what;  /* one line of help */
    bool is_unbuilt;   /* known, and refused as not supported yet */
};

struct call;

/* What the words behind a command may be. */
enum call_words {
    CALL_WORDS_MIXED,   /* options and operands */
    CALL_WORDS_FOREIGN, /* behind the first operand the line is not ours (sub) */
    CALL_WORDS_DASHED,  /* what looks like an option and is none is an operand (resreq)
                         */
};

struct command {
    const char *name;
    const char *operands; /* as usage shows them; "" none */
    const char *summary;
    const struct call_option *options; /* ended by a NULL name; NULL: none */
    const struct call_option *more;    /* shared ones, likewise (--json ...) */
    enum call_words words;
    int (*run)(struct call *call); /* NULL: not built; returns CALL_... */
};

struct call_given {
    const struct call_option *option;
    const char *value;
};

enum { CALL_OPTIONS_MAX = 64 };

struct call {
    struct arena arena; /* lives until the process ends */
    const struct command *command;
    struct call_given given[CALL_OPTIONS_MAX];
    int n_given;
    char **operands;
    int n_operands;
};

extern const struct call_option call_globals[];

/* Reads a whole line; `commands` ends with a NULL name. Returns CALL_OK and fills
 * `call`, or says what is wrong and returns CALL_MISUSED or, for what is known and not
 * built, CALL_FAILED. `call->command` is NULL where the line names none. */
int call_read(struct call *call, const struct command *commands, int argc, char **argv);

/* The option's value (of several the last), "" for a flag that was given, else NULL. */
const char *call_value(const struct call *call, const char *name);
bool call_has(const struct call *call, const char *name);

/* The command's help, on standard output. */
void call_print_help(const struct command *command);

/* One line on standard error; each returns the exit status that goes with it. */
int call_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int call_fail_err(const struct err *err);
int call_misuse(const struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Talk: a line on standard error that is no failure. */
void call_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes standard output: CALL_OK, or CALL_FAILED with a line where it could not be
 * written. */
int call_finish_output(void);

#endif
