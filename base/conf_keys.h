/* SPDX-License-Identifier: Apache-2.0 */
/* conf_keys.h: every section and key that is known: one table, from which checks,
 * help and the manual page come.
 *
 * Units: `unit_ms` is the unit of a bare number for durations (LSF's for the key).
 * Source: INTERFACES 1, the LSF configuration reference.
 * Layer: base. */
#ifndef SUBLET_BASE_CONF_KEYS_H
#define SUBLET_BASE_CONF_KEYS_H

#include <stdint.h>

enum conf_kind {
    CONF_TEXT,
    CONF_NAME,
    CONF_LIST, /* of words */
    CONF_INT,  /* min..max */
    CONF_YESNO,
    CONF_DURATION, /* min..max in ms */
    CONF_WORD,     /* one of `words`, separated by blanks, case-insensitive */
};

enum conf_status {
    CONF_BUILT,
    CONF_NOT_YET, /* LSF has it or a later part of ours will; now an error */
    CONF_REMARK,  /* says nothing to a scheduler (DESCRIPTION): accepted, not used */
};

struct conf_key {
    const char *section;
    const char *key;
    enum conf_kind kind;
    enum conf_status status;
    int64_t min, max;
    int64_t unit_ms;
    const char *words;
    const char *initial; /* the default, as it would be written; NULL: none */
    const char *what;    /* one line for help and manual */
};

/* The table, ended by an entry whose section is NULL. */
extern const struct conf_key conf_keys[];

/* The entry, or NULL. Section and key are compared without case. */
const struct conf_key *conf_keys_find(const char *section, const char *key);

/* The section's name as the table spells it, or NULL where it is unknown. */
const char *conf_keys_section(const char *section);

#endif
