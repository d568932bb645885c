/* SPDX-License-Identifier: Apache-2.0 */
/* conf_keys.h: the table of all sections and keys that have an effect, the source of
 * checks, help and the manual page. Parameters of LSF that have none are in lsf_keys.h.
 *
 * Units: `unit_ms` is the unit of a bare number for durations (LSF's for the key).
 * Source: docs/design/interfaces.md "Configuration", the LSF configuration reference.
 * Layer: base. */
#ifndef SUBLET_BASE_CONF_KEYS_H
#define SUBLET_BASE_CONF_KEYS_H

#include <stdint.h>

enum conf_kind {
    CONF_TEXT,
    CONF_NAME,
    CONF_LIST,  /* of words */
    CONF_HOSTS, /* of words, and names of hosts in short form (conf_hosts.h) */
    CONF_INT,   /* min..max */
    CONF_COUNT, /* the same, or "!": counted on the host */
    CONF_YESNO,
    CONF_DURATION, /* min..max in ms */
    CONF_WORD,     /* one of `words`, separated by blanks, case-insensitive */
    CONF_WORDS,    /* the same, one or several */
};

struct conf_key {
    const char *section;
    const char *key;
    enum conf_kind kind;
    int64_t min, max;
    int64_t unit_ms;
    const char *words;
    const char *initial; /* the default, as text; NULL: none */
    const char *what;    /* one line for help and manual */
};

/* The table, ended by an entry whose section is NULL. Entries of one section follow
 * each other. */
extern const struct conf_key conf_keys[];

/* The entry, or NULL. Case is ignored. */
const struct conf_key *conf_keys_find(const char *section, const char *key);

/* The section's first entry, or NULL if the section is unknown. Case is ignored. */
const struct conf_key *conf_keys_of(const char *section);

/* The entry of that key in the section whose first entry is given, or NULL. `first` may
 * be NULL. A large file has one section of many rows: the section is found only once.
 */
const struct conf_key *conf_keys_among(const struct conf_key *first, const char *key);

#endif
