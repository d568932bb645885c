/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: LSF's file syntax: text in, sections of cells and a list of complaints out.
 *
 *     Begin Queue              a section of KEY = value lines: one row
 *     QUEUE_NAME = normal
 *     End Queue
 *     Begin Host               a table: a heading of keys, then one row a line
 *     HOST_NAME  MXJ
 *     n1         4             # comment; a line that ends in \ goes on
 *     End Host
 *     LSF_STRICT_RESREQ = Y    outside sections, as in lsf.conf
 *
 * A value of `-` or `()` is unset (NULL). In a table a cell is one word, one
 * "quoted text" or one (parenthesised list); in a KEY = value line the value is
 * the rest of the line, and quotes around the whole of it are stripped.
 * Keys and section names are case-insensitive; keys are kept in upper case.
 * A section is a table when its first line has no `=` outside quotes and
 * parentheses.
 *
 * Ownership: all of it lives in the arena given.
 * Errors: nothing here fails; what is wrong becomes a diagnostic with file, line
 * and key, and the rest is still read.
 * Source: INTERFACES 1; LSF's configuration reference.
 * Layer: base. */
#ifndef SUBLET_BASE_CONF_H
#define SUBLET_BASE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct conf_cell {
    const char *key;   /* upper case */
    const char *value; /* NULL: unset */
    int line;
};

struct conf_row {
    int line;
    struct conf_cell *cells;
    int n_cells;
};

struct conf_section {
    const char *name; /* as the key table spells it, else as written */
    const char *file;
    int line;
    bool is_table;
    const char **columns; /* of a table: its keys, upper case; a row may have fewer
                             cells, and has them in this order */
    int n_columns;
    struct conf_row *rows; /* exactly one where !is_table */
    int n_rows;
    struct conf_section *next;
};

enum conf_severity { CONF_WARNING, CONF_ERROR };

struct conf_diag {
    enum conf_severity severity;
    const char *file;
    int line;
    const char *key;  /* NULL: about the section or the line */
    const char *text; /* "what, expected ..." */
    struct conf_diag *next;
};

struct conf {
    struct arena *arena;                 /* where everything lives */
    struct conf_section *first, *last;   /* in the order read; lines outside sections
                                            form sections named "" (one a file) */
    struct conf_diag *diags, *last_diag; /* in the order found */
    int n_errors, n_warnings;
};

void conf_init(struct conf *conf, struct arena *arena);

/* Reads one file's text (need not end in a NUL or newline). `file` is copied. */
void conf_read(struct conf *conf, const char *file, const char *text, size_t length);

/* Judges what was read by the key table (conf_keys.h): unknown sections and keys
 * (a warning), keys of features that are not built (an error that says so),
 * malformed values, a key twice in one section (errors). */
void conf_check(struct conf *conf);

/* Adds a complaint. `row` or `cell` may be NULL. */
void conf_complain(struct conf *conf, enum conf_severity severity,
                   const struct conf_section *section, const struct conf_row *row,
                   const struct conf_cell *cell, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The next section of that name after `after` (NULL: from the start), or NULL. */
const struct conf_section *conf_next(const struct conf *conf, const char *name,
                                     const struct conf_section *after);

/* The row's cell of that key, or NULL where there is none. */
const struct conf_cell *conf_cell(const struct conf_row *row, const char *key);

/* The cell's value, or `otherwise` where there is no cell or it is unset. */
const char *conf_text(const struct conf_row *row, const char *key,
                      const char *otherwise);

/* The words of a list: "a b c", "(a b c)"; nested parentheses and brackets stay
 * whole in one word ("[south, 1]"). NULL gives an empty list. */
struct conf_words {
    const char **words;
    int count;
};
struct conf_words conf_words(struct arena *arena, const char *value);

/* Values. Each returns 0, or ERR_PARSE or ERR_BOUNDS with "..., expected ..." in
 * `err`, leaving `*out` alone. */
int conf_parse_int(const char *value, int64_t min, int64_t max, int64_t *out,
                   struct err *err) MUST_CHECK;
int conf_parse_bool(const char *value, bool *out, struct err *err) MUST_CHECK; /* Y N */
/* A number in `unit_ms` (60000: minutes), or with a suffix s m h d. */
int conf_parse_duration(const char *value, int64_t unit_ms, int64_t *out_ms,
                        struct err *err) MUST_CHECK;
/* A name: [A-Za-z0-9._-], at most NAME_SIZE - 1, not empty, not beginning with '-'. */
int conf_parse_name(const char *value, struct err *err) MUST_CHECK;
/* A resource's name: at most NAME_SIZE - 1 characters that are none of what requirement
 * strings are made of (operators, brackets, quotes, `:` `.` `@`), not beginning with a
 * digit. */
int conf_parse_resource(const char *value, struct err *err) MUST_CHECK;
/* What such names are made of, and so where one ends in a requirement string: letters,
 * digits and `_ # $ % ? ^`. */
bool conf_is_resource_char(char c);
/* Where to listen: "127.0.0.1:80", "[::1]:80", "*:80" (all addresses), in its parts, in
 * the arena. */
int conf_parse_address(const char *value, struct arena *arena, const char **host,
                       const char **port, struct err *err) MUST_CHECK;

#endif
