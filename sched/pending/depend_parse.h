/* SPDX-License-Identifier: Apache-2.0 */
/* depend_parse.h: the grammar of conditions about other jobs (depend.h): one walk over
 * a text, which hands over each leaf ("exit(13,>=3)", or a job alone) as it is read.
 *
 * What a leaf is worth is its reader's to say: a value has two parts, what it is now,
 * and whether that can change. "a && b" is false for good where either is; it is met
 * where both are true now.
 *
 * Ownership: leaves point into the text. Errors: ERR_PARSE with what was expected and
 * where, or the first that a leaf's reader gives; then the value means nothing.
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
    DEPEND_NUMDONE,
    DEPEND_NUMENDED,
    DEPEND_NUMEXIT,
    DEPEND_NUMRUN,
    DEPEND_NUMPEND,
    DEPEND_NUMSTART,
    DEPEND_KINDS
};

enum depend_compare {
    DEPEND_ANY, /* there is none */
    DEPEND_EQ,
    DEPEND_NE,
    DEPEND_LT,
    DEPEND_LE,
    DEPEND_GT,
    DEPEND_GE,
    DEPEND_ALL, /* "*": as many as there are */
};

struct depend_leaf {
    enum depend_kind kind;
    const char *name; /* as written; its length */
    int name_length;
    uint64_t id; /* 0: the name is no id */
    bool has_index, is_same_index;
    int first, last; /* where it has an index */
    enum depend_compare compare;
    int number;
    const char *args; /* for writing it again: from the "," on */
    int args_length;
};

struct depend_value {
    bool is_true, is_final;
};

struct depend_walker {
    /* A leaf was read: its value; an error ends the walk. */
    int (*on_leaf)(void *arg, const struct depend_leaf *leaf,
                   struct depend_value *value, struct err *err);
    /* "!", "(", ")", " && ", " || " between leaves; NULL: nobody wants them. */
    void (*on_sign)(void *arg, const char *sign);
    void *arg;
};

int depend_parse(const char *text, const struct depend_walker *walker,
                 struct depend_value *value, struct err *err) MUST_CHECK;

/* "done" and so on. */
const char *depend_parse_kind_name(enum depend_kind kind);

#endif
