/* SPDX-License-Identifier: Apache-2.0 */
/* conf_lines.h: splits a configuration file into logical lines. A \ at the end of a
 * line joins the next line to it, a # outside quotes begins a comment, and trailing
 * blanks and CR are dropped. #INCLUDE and #if are carried out here (conf_if.h), so that
 * readers see the lines that count, one after the other.
 *
 * Any input is accepted: bytes that are not UTF-8 become '?', and a line that is too
 * long is skipped, with one diagnostic each.
 *
 * Ownership: the line lives in conf's arena, until the next one is read.
 * Source: LSF's files. Layer: base. */
#ifndef SUBLET_BASE_CONF_LINES_H
#define SUBLET_BASE_CONF_LINES_H

#include "base/conf/conf.h"

enum { CONF_LINES_FILES = 8, CONF_LINES_IFS = 32, CONF_LINES_INCLUDES = 256 };

/* A file that is being read. */
struct conf_lines_file {
    const char *name;
    const char *at, *end; /* what is not yet read */
    int line;             /* physical lines read so far */
    int n_ifs;            /* open when it began */
};

/* An #if that is open. */
struct conf_lines_if {
    int line;
    bool is_outer; /* the lines around it count */
    bool is_taken; /* one of its parts has counted */
    bool has_else;
};

struct conf_lines {
    struct conf *conf;
    const char *file; /* of the line that was read last */
    struct conf_lines_file
        files[CONF_LINES_FILES]; /* each is included by that before */
    int n_files;
    int n_includes; /* so far */
    struct conf_lines_if ifs[CONF_LINES_IFS];
    int n_ifs;
    bool is_skipped; /* lines do not count now */
    char *text;      /* the logical line, NUL at its end */
    size_t n_bytes;  /* that there is room for */
    int text_line;   /* its first physical line */
};

/* The text is borrowed; it may begin with a byte order mark. An error is reported for
 * an included file that cannot be read, that includes itself or nests too deeply, for a
 * malformed condition, and for an #if that is not ended in its file. */
void conf_lines_init(struct conf_lines *lines, struct conf *conf, const char *file,
                     const char *text, size_t length);
/* Reads the next line; false at the end of the file. */
bool conf_lines_next(struct conf_lines *lines);
/* The last physical line that was read. */
int conf_lines_last(const struct conf_lines *lines);
/* An error about a line of the file; `key` may be NULL. */
void conf_lines_complain(const struct conf_lines *lines, int line, const char *key,
                         const char *text);

bool conf_lines_is_blank(char c);

#endif
