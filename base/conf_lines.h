/* SPDX-License-Identifier: Apache-2.0 */
/* conf_lines.h: a configuration file as logical lines: a \ at the end of a line joins
 * the next one to it, a # outside quotes begins a comment, blanks at the end and CR are
 * dropped.
 *
 * Any bytes will do: what is no text becomes '?', a line that is too long is read over;
 * both cost one complaint.
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
    int text_line;        /* where it began */
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
