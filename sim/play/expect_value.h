/* SPDX-License-Identifier: Apache-2.0 */
/* expect_value.h: compares a value with an expected one.
 *
 * Layer: sim (base only). */
#ifndef SUBLET_SIM_PLAY_EXPECT_VALUE_H
#define SUBLET_SIM_PLAY_EXPECT_VALUE_H

#include <stdbool.h>

#include "base/value.h"

struct expect_wish {
    const char *op;   /* == != < <= > >= */
    const char *text; /* as written */
    bool is_quoted;   /* a text, even if it looks like a number */
    int64_t epoch_ms; /* instants count from here */
};

/* The member at a path, or NULL. A key with dots may be the whole rest of the path. In
 * an array, a key is an index or the text of the first member ("hosts.n1.slots"). */
const struct value *expect_value_find(const struct value *root, const char *path);

/* Null equals only null. Between different kinds only != holds. */
bool expect_value_holds(const struct value *found, const struct expect_wish *wish);

/* The value as JSON; an instant also as the time since the start. */
const char *expect_value_show(struct arena *arena, const struct value *value,
                              int64_t epoch_ms);

#endif
