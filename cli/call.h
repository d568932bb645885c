/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: one command line: its command, options and operands, and the exit status.
 *
 * A command is a row with name, purpose, options and function. Parsing, usage and help
 * all use the rows.
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
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* Exit statuses: docs/design/interfaces.md "Command line". */
enum { CALL_OK = 0, CALL_FAILED = 1, CALL_MISUSED = 2, CALL_BAD_RESREQ = 255 };

struct call_option {
    const char *name;  /* with its dashes */
    const char *value; /* name of the value in help; NULL: takes none */
    const char *what;  /* one line of help */
    bool is_unbuilt;   /* known, and refused as not supported yet */
};

struct call;

/* The words that may follow a command. */
enum call_words {
    CALL_WORDS_MIXED,   /* options and operands */
    CALL_WORDS_FOREIGN, /* from the first operand on, all words are operands (sub) */
    CALL_WORDS_DASHED,  /* unknown options are operands (resreq) */
};

struct command {
    const char *name;
    const char *operands; /* for usage; "": none */
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

struct call {
    struct arena arena; /* lives until the process ends */
    const struct command *command;
    struct call_given *given; /* in the arena, in the order of the line */
    int n_given;
    char **operands;
    int n_operands;
    bool has_outcome; /* the exit status is that of a job */
};

extern const struct call_option call_globals[];

/* Parses a whole line; `commands` ends with a NULL name. Returns CALL_OK and fills
 * `call`, or prints an error and returns CALL_MISUSED, or CALL_FAILED for an
 * unsupported command or option. `call->command` is NULL if the line has no command. */
int call_read(struct call *call, const struct command *commands, int argc, char **argv);

/* The last value of the option, "" for a flag that is set, or NULL. */
const char *call_value(const struct call *call, const char *name);
/* The same, but "" without the option. */
const char *call_text(const struct call *call, const char *name);
bool call_has(const struct call *call, const char *name);

/* The command's help, on standard output. */
void call_print_help(const struct command *command);

/* How lines on standard error are worded; NULL: as sublet does. `reword` changes a text
 * of at most `size` bytes in place. */
struct call_voice {
    const char *prefix;
    void (*reword)(char *text, size_t size);
};
void call_set_voice(const struct call_voice *voice);

/* Prints a line to standard error and returns the exit status. */
int call_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int call_fail_err(const struct err *err);
int call_misuse(const struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints a line to standard error that is not an error. */
void call_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes standard output: CALL_OK, or CALL_FAILED with a line if that fails. */
int call_finish_output(void);

#endif
