/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_keys.h: what an administrator of LSF has to know about LSF's parameters: which of
 * them work differently here, and which have no effect, each with what happens instead.
 * Together with conf_keys.h, which has those that work, the table knows every parameter
 * of LSF's configuration reference by name, so that any other key is a typing error.
 *
 * Source: LSF's configuration reference, version 10.1. Layer: base. */
#ifndef SUBLET_BASE_LSF_KEYS_H
#define SUBLET_BASE_LSF_KEYS_H

enum lsf_class {
    LSF_WORKS,       /* in the table of conf_keys.h alone */
    LSF_DIFFERS,     /* works, with a difference that `what` names */
    LSF_IGNORED,     /* has no effect that a user would notice */
    LSF_UNSUPPORTED, /* the feature is missing: jobs run as if the line were not there
                      */
    LSF_REFUSED,     /* jobs would run differently to their harm: an error */
    LSF_UNKNOWN,     /* neither LSF's nor ours */
};

struct lsf_key {
    const char *section; /* "": outside sections, as in lsf.conf */
    const char *key;     /* NULL: the section as a whole, of which nothing is built */
    enum lsf_class class;
    const char *what; /* what happens instead, and what to do */
};

/* The table, ended by an entry whose section is NULL. */
extern const struct lsf_key lsf_keys[];

/* The class of a key in a section; case is ignored. `*what` is the sentence of the
 * table, or NULL if the class is LSF_WORKS or LSF_UNKNOWN. A section of which nothing
 * is built gives its class for each key, and for `key` NULL; any other section is
 * LSF_WORKS or LSF_UNKNOWN for `key` NULL. */
enum lsf_class lsf_keys_class(const char *section, const char *key, const char **what);

/* The name in that section, of conf_keys.h or of this table, that is at most two
 * letters (added, left out or changed) and less than half of them away from `key`, or
 * NULL. Tie: the nearer one, then conf_keys.h's before this table's, then the order of
 * the table. */
const char *lsf_keys_nearest(const char *section, const char *key);

#endif
