/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: parses LSF's file syntax into sections of cells and a list of diagnostics.
 *
 *     Begin Queue              a section of KEY = value lines: one row
 *     QUEUE_NAME = normal
 *     End Queue
 *     Begin Host               a table: a heading of keys, then one row per line
 *     HOST_NAME  MXJ
 *     n1         4             # comment; a \ at the end continues the line
 *     End Host
 *     LSF_STRICT_RESREQ = Y    outside sections, as in lsf.conf
 *     #INCLUDE "PATH"          the lines of another file
 *     #if time(20:00-8:30)     the lines up to #elif, #else or #endif at these times
 *
 * A value of `-` or `()` is unset (NULL). In a table a cell is one word, one "quoted
 * text" or one (parenthesised list); in a KEY = value line the value is the rest of the
 * line, and quotes around the whole of it are stripped. Keys and section names are
 * case-insensitive; keys are stored in upper case. A section is a table when its first
 * line has no `=` outside quotes and parentheses.
 *
 * Ownership: everything lives in the arena given.
 * Errors: each error becomes a diagnostic with file, line and key, and reading
 * continues. Source: docs/design/interfaces.md "Configuration"; LSF's configuration
 * reference. Layer: base. */
#ifndef SUBLET_BASE_CONF_H
#define SUBLET_BASE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct conf_cell {
    const char *key;   /* upper case */
    const char *value; /* NULL: unset */
    const char *file;  /* NULL: that of its section; of an included line another one */
    int line;
};

struct conf_row {
    int line;
    struct conf_cell *cells;
    int n_cells;
};

struct conf_section {
    const char *name;            /* as in the key table; unknown names as written */
    const struct conf_key *keys; /* the first of its keys in the table; NULL: unknown */
    const char *file;
    int line;
    bool is_table;
    const char **columns; /* of a table: its keys, upper case; a row may have fewer
                             cells, in this order */
    int n_columns;
    struct conf_row *rows; /* exactly one if !is_table */
    int n_rows;
    struct conf_section *next, *next_of_name;
};

/* The place of a value: a row of a section. */
struct conf_place {
    const struct conf_section *section;
    const struct conf_row *row;
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

/* The time that conditions (#if time(...)) are judged by. */
struct conf_clock {
    int64_t local_ms; /* since the local 1970-01-01 00:00 */
    int64_t utc_offset_ms;
};

/* A condition that was judged while a file was read (conf_if.h). */
struct conf_condition {
    const char *text;
    bool value;
    struct conf_condition *next;
};

struct conf;
/* Returns the text of a file for #INCLUDE, in conf's arena, or NULL with the reason in
 * `err`. */
typedef const char *(*conf_include_fn)(struct conf *conf, const char *path,
                                       size_t *length, struct err *err);

struct conf {
    struct arena *arena;
    struct conf_clock clock;
    conf_include_fn include; /* NULL: #INCLUDE is an error */
    struct conf_condition *conditions;
    const struct conf_key *keys_outside; /* of lines outside sections */
    struct conf_names *names;            /* of conf.c: the sections of each name */
    struct conf_section *first, *last; /* in the order read; lines outside sections form
                                          sections named "", one per file */
    struct conf_diag *diags, *last_diag; /* in the order found */
    int n_errors, n_warnings;
};

void conf_init(struct conf *conf, struct arena *arena);

/* Reads the text of one file, which need not end in a NUL or newline. `file` is copied.
 * Lines that #if leaves out are skipped, and a file of #INCLUDE is read at its place.
 */
void conf_read(struct conf *conf, const char *file, const char *text, size_t length);

/* Replaces names of hosts in short form (conf_hosts.h), and checks everything read
 * against the tables of keys (conf_keys.h, lsf_keys.h). Unknown sections and keys, and
 * parameters of LSF that are not supported, are warnings. A parameter of LSF without
 * which jobs would run to their harm, a malformed value, and a key that occurs twice in
 * one section are errors. */
void conf_check(struct conf *conf);
/* The same without what is said about unknown and unsupported names, for a caller that
 * reports these by itself. */
void conf_check_values(struct conf *conf);

/* Adds a diagnostic, unless it was added before. `row` or `cell` may be NULL. */
void conf_complain(struct conf *conf, enum conf_severity severity,
                   const struct conf_section *section, const struct conf_row *row,
                   const struct conf_cell *cell, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Adds a diagnostic about the cell of that key in the row `at`. */
#define CONF_COMPLAIN(conf, severity, at, key, ...)                                    \
    conf_complain(conf, severity, (at)->section, (at)->row, conf_cell((at)->row, key), \
                  __VA_ARGS__)

/* Puts a section behind all others, once it has its name. */
void conf_append(struct conf *conf, struct conf_section *section);

/* The next section of that name after `after`, which has it too (NULL: from the start),
 * or NULL. */
const struct conf_section *conf_next(const struct conf *conf, const char *name,
                                     const struct conf_section *after);

/* Moves to the next row of all sections of that name; {0}: to the first one. False, and
 * {0} again, after the last one. */
bool conf_next_row(const struct conf *conf, const char *name, struct conf_place *at);
int conf_count_rows(const struct conf *conf, const char *name);

/* The row's cell of that key, or NULL. */
const struct conf_cell *conf_cell(const struct conf_row *row, const char *key);

/* The cell's value, or `otherwise` if the cell is missing or unset. */
const char *conf_text(const struct conf_row *row, const char *key,
                      const char *otherwise);

/* How many bytes of a value a message repeats: at most 60, and no half of a UTF-8
 * character. */
int conf_shown(const char *value);

/* The words of a list: "a b c", "(a b c)". Nested parentheses and brackets belong to
 * one word ("[south, 1]"). NULL gives an empty list. */
struct conf_words {
    const char **words;
    int count;
};
struct conf_words conf_words(struct arena *arena, const char *value);

/* Each returns 0, or ERR_PARSE or ERR_BOUNDS with "..., expected ..." in `err` and
 * `*out` unchanged. */
int conf_parse_int(const char *value, int64_t min, int64_t max, int64_t *out,
                   struct err *err) MUST_CHECK;
int conf_parse_bool(const char *value, bool *out, struct err *err) MUST_CHECK; /* Y N */
/* A number in `unit_ms` (60000: minutes), or with a suffix s m h d. */
int conf_parse_duration(const char *value, int64_t unit_ms, int64_t *out_ms,
                        struct err *err) MUST_CHECK;
/* The value of a key of kind CONF_DURATION, within the key's bounds. */
struct conf_key;
int conf_parse_key_duration(const struct conf_key *key, const char *value,
                            int64_t *out_ms, struct err *err) MUST_CHECK;
/* The bounds alone, for a duration that has been read; `value` is how it was written.
 */
int conf_check_duration(const struct conf_key *key, const char *value, int64_t ms,
                        struct err *err) MUST_CHECK;
/* A duration as it would be written: "90s", "5m", "3650d", "0", "1.500s". */
void conf_format_duration(int64_t ms, char *text, size_t size);
/* A name: [A-Za-z0-9._-], at most NAME_SIZE - 1, not empty, not beginning with '-'. */
int conf_parse_name(const char *value, struct err *err) MUST_CHECK;
/* A resource's name: at most NAME_SIZE - 1 characters, no digit first, without the
 * special characters of requirement strings (operators, brackets, quotes, `:` `.` `@`).
 */
int conf_parse_resource(const char *value, struct err *err) MUST_CHECK;
/* The characters of resource names: letters, digits and `_ # $ % ? ^`. Any other
 * character ends the name in a requirement string. */
bool conf_is_resource_char(char c);
/* Splits an address to listen on: "127.0.0.1:80", "[::1]:80", "*:80" (all addresses).
 */
int conf_parse_address(const char *value, struct arena *arena, const char **host,
                       const char **port, struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- conf_if.c */

/* True if a condition of the files that were read has another value at that time, so
 * that they should be read again. */
bool conf_if_has_changed(const struct conf *conf, const struct conf_clock *clock);

#endif
