/* SPDX-License-Identifier: Apache-2.0 */
/* err.h: one error idiom for the whole tree: a negative code and a sentence.
 *
 * A call that can fail returns 0 or a negative `enum err_code` and fills the caller's
 * `struct err` itself: `return err_set(err, ERR_PARSE, "...")`. The sentence is for a
 * person: lower case, no full stop, what failed first, the object in quotes.
 *
 * Ownership: the caller owns the struct; the text lives inside it.
 * Errors: out of memory aborts (see arena.h).
 * Layer: base. */
#ifndef SUBLET_BASE_ERR_H
#define SUBLET_BASE_ERR_H

#define MUST_CHECK __attribute__((warn_unused_result))

/* code, name on the wire and in metrics, text for users */
#define ERR_TABLE(X)                                                                   \
    X(ERR_PARSE, 1, "parse", "malformed input")                                        \
    X(ERR_BOUNDS, 2, "bounds", "a value is out of bounds")                             \
    X(ERR_VERSION, 3, "version", "unknown protocol version")                           \
    X(ERR_DENIED, 4, "denied", "not allowed")                                          \
    X(ERR_NOT_FOUND, 5, "not_found", "no such thing")                                  \
    X(ERR_STATE, 6, "state", "not possible in this state")                             \
    X(ERR_EXISTS, 7, "exists", "exists already")                                       \
    X(ERR_STALE, 8, "stale", "from an earlier session")                                \
    X(ERR_IO, 9, "io", "input or output failed")                                       \
    X(ERR_FULL, 10, "full", "a bound is reached")                                      \
    X(ERR_UNBUILT, 11, "unbuilt", "not supported yet")                                 \
    X(ERR_AWAY, 12, "away", "the other side cannot be reached")

enum err_code {
    ERR_NONE = 0,
#define X(code, number, name, what) code = -(number),
    ERR_TABLE(X)
#undef X
};

struct err {
    int code;
    char text[512];
};

/* Fills `err` (may be NULL) and returns `code`. A sentence that is too long is cut. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the sentence in `err`; returns its code. */
int err_prefix(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The code's name in the table ("parse"); "unknown" for any other number. */
const char *err_name(int code);

#endif
