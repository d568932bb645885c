/* SPDX-License-Identifier: Apache-2.0 */
/* depend_parse.h: the grammar of conditions about other jobs (pending.h): one pass over
 * a text, which calls back for each leaf ("exit(13,>=3)", or a job alone).
 *
 * The callback gives the value of a leaf, which has two parts: whether it is true now,
 * and whether that is final. "a && b" is finally false if either is; it is true if both
 * are true now.
 *
 * Ownership: leaves point into the text. Errors: ERR_PARSE with what was expected and
 * where, or the first error of a callback; the value has no meaning then.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_DEPEND_PARSE_H
#define SUBLET_SCHED_PENDING_DEPEND_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum depend_kind {
    DEPEND_DONE,
    DEPEND_ENDED,
    DEPEND_STARTED,
    DEPEND_EXIT,
    DEPEND_POST_DONE,
    DEPEND_POST_ERR,
    DEPEND_NUMDONE,
    DEPEND_NUMENDED,
    DEPEND_NUMEXIT,
    DEPEND_NUMRUN,
    DEPEND_NUMPEND,
    DEPEND_NUMSTART,
    DEPEND_KINDS
};

enum depend_compare {
    DEPEND_ANY, /* no comparison was given */
    DEPEND_EQ,
    DEPEND_NE,
    DEPEND_LT,
    DEPEND_LE,
    DEPEND_GT,
    DEPEND_GE,
    DEPEND_ALL, /* "*": all elements */
};

struct depend_leaf {
    enum depend_kind kind;
    const char *name; /* as written, not terminated */
    int name_length;
    uint64_t id; /* 0: the name is not an id */
    bool has_index, is_same_index;
    int first, last; /* if it has an index */
    enum depend_compare compare;
    int number;
    const char *args; /* the text from the "," on, to write it again */
    int args_length;
};

struct depend_value {
    bool is_true, is_final;
};

struct depend_walker {
    /* Called for each leaf. Sets its value; an error ends the pass. */
    int (*on_leaf)(void *arg, const struct depend_leaf *leaf,
                   struct depend_value *value, struct err *err);
    /* Called for "!", "(", ")", " && ", " || " between leaves; may be NULL. */
    void (*on_sign)(void *arg, const char *sign);
    void *arg;
};

int depend_parse(const char *text, const struct depend_walker *walker,
                 struct depend_value *value, struct err *err) MUST_CHECK;

/* "done" and so on. */
const char *depend_parse_kind_name(enum depend_kind kind);

#endif
