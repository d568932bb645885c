/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_lex.h: splits a requirement string into tokens.
 *
 * A number is digits with an optional fraction, exponent and unit (K M G T P E Z, with
 * or without B: in MB); `inf` and `nan` are names. A quoted text ends at the next quote
 * of its kind; a backslash in it has no special meaning.
 *
 * Units: bytes from the start of the string. Ownership: tokens point into the string.
 * Errors: none; what is not a token is LEX_BAD, which the parser refuses.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_LEX_H
#define SUBLET_SCHED_RESREQ_RESREQ_LEX_H

#include <stdbool.h>

#include "sched/resreq/resreq_error.h"

enum lex_kind {
    LEX_END,
    LEX_BAD,
    LEX_NUMBER,
    LEX_NAME,
    LEX_QUOTED, /* place: without the quotes */
    LEX_OPEN,
    LEX_CLOSE,
    LEX_NOT,
    LEX_STAR,
    LEX_SLASH,
    LEX_PLUS,
    LEX_MINUS,
    LEX_GT,
    LEX_LT,
    LEX_GE,
    LEX_LE,
    LEX_EQ,
    LEX_NE,
    LEX_ASSIGN, /* = */
    LEX_AND,
    LEX_OR,
    LEX_COLON,
    LEX_COMMA,
};

struct lex_token {
    enum lex_kind kind;
    struct resreq_place place;
    double number;     /* LEX_NUMBER; infinity if it is too large */
    bool after_blank;  /* a blank precedes it */
    const char *wrong; /* LEX_BAD: the reason */
};

/* The position of a reader in its part of a string. */
struct resreq_lex {
    const char *source;
    int at, end;
};

struct lex_token resreq_lex_next(struct resreq_lex *lex);
/* The next token, which is not consumed. */
struct lex_token resreq_lex_peek(const struct resreq_lex *lex);
/* What may follow a comparison with a string: a quoted text, or a bare word, which may
 * contain more characters than names (`node-1.example.com`, `n1@north`). LEX_NAME or
 * LEX_QUOTED; LEX_END if there is none. */
struct lex_token resreq_lex_text(struct resreq_lex *lex);

#endif
