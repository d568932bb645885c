/* SPDX-License-Identifier: Apache-2.0 */
/* conf_lines.h: splits a configuration file into logical lines. A \ at the end of a
 * line joins the next line to it, a # outside quotes begins a comment, and trailing
 * blanks and CR are dropped.
 *
 * Any input is accepted: bytes that are not UTF-8 become '?', and a line that is too
 * long is skipped, with one diagnostic each.
 *
 * Ownership: the line lives in conf's arena, until the next one is read.
 * Source: LSF's files. Layer: base. */
#ifndef SUBLET_BASE_CONF_LINES_H
#define SUBLET_BASE_CONF_LINES_H

#include "base/conf.h"

struct conf_lines {
    struct conf *conf;
    const char *file;
    const char *at, *end; /* what is not yet read */
    int line;             /* physical lines read so far */
    char *text;           /* the logical line, NUL at its end */
    int text_line;        /* its first physical line */
};

/* The text is borrowed; it may begin with a byte order mark. */
void conf_lines_init(struct conf_lines *lines, struct conf *conf, const char *file,
                     const char *text, size_t length);
/* Reads the next line; false at the end of the file. */
bool conf_lines_next(struct conf_lines *lines);
/* An error about a line of the file; `key` may be NULL. */
void conf_lines_complain(const struct conf_lines *lines, int line, const char *key,
                         const char *text);

bool conf_lines_is_blank(char c);

#endif
