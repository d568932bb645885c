/* SPDX-License-Identifier: Apache-2.0 */
/* value.h: trees of plain values, in which pure code returns the state to be shown.
 *
 * broker/view and site/view build these trees. The daemons turn them into JSON, the
 * command line into tables, and the simulator's `expect` reads them, so each field is
 * named once.
 *
 * Units: instants are milliseconds since 1970 UTC and shown as RFC 3339 with
 * milliseconds; durations are milliseconds and shown in seconds.
 * Ownership: everything lives in the arena it was built in. Texts are copied. Keys are
 * borrowed, and usually literals. Order: members keep the order in which they were
 * added. Layer: base. */
#ifndef SUBLET_BASE_VALUE_H
#define SUBLET_BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum value_kind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_ARRAY,
    VALUE_OBJECT,
};

struct value {
    enum value_kind kind;
    const char *key; /* in an object; else NULL */
    bool flag;
    int64_t number;
    double real;
    const char *text;
    struct value *first, *last; /* members of an array or object */
    struct value *next;         /* sibling */
    int count;                  /* members */
};

struct value *value_object(struct arena *arena);
struct value *value_array(struct arena *arena);

/* Each adds a member and returns it. `key` is NULL in arrays. A NULL text, an instant
 * of 0 and a duration below 0 are null. A duration becomes seconds: an integer if
 * possible, else a real. Keys that are not literals must live as long as the arena. */
struct value *value_add(struct arena *arena, struct value *parent, const char *key,
                        struct value *child);
struct value *value_add_null(struct arena *arena, struct value *parent,
                             const char *key);
struct value *value_add_bool(struct arena *arena, struct value *parent, const char *key,
                             bool flag);
struct value *value_add_int(struct arena *arena, struct value *parent, const char *key,
                            int64_t number);
/* null if it is not known. */
struct value *value_add_known(struct arena *arena, struct value *parent,
                              const char *key, bool is_known, int64_t number);
struct value *value_add_real(struct arena *arena, struct value *parent, const char *key,
                             double real);
struct value *value_add_text(struct arena *arena, struct value *parent, const char *key,
                             const char *text);
/* null if it is "". */
struct value *value_add_nonempty(struct arena *arena, struct value *parent,
                                 const char *key, const char *text);
struct value *value_add_instant(struct arena *arena, struct value *parent,
                                const char *key, int64_t at_ms);
struct value *value_add_duration(struct arena *arena, struct value *parent,
                                 const char *key, int64_t duration_ms);

/* The member at a path of keys joined by dots ("consumer.available"), or NULL. */
const struct value *value_find(const struct value *root, const char *path);

/* An upper bound of the size of the value as JSON. */
int64_t value_json_bytes(const struct value *value);
/* The text, cut if needed so that its JSON takes at most `n_bytes`. */
const char *value_cut_text(struct arena *arena, const char *text, int64_t n_bytes);

/* RFC 3339 UTC with milliseconds; `text` takes at least 32 bytes. */
void value_format_instant(int64_t at_ms, char *text);
/* In UTC, from 1. */
int value_day_of_month(int64_t at_ms);

#endif
