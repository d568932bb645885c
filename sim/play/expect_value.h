/* SPDX-License-Identifier: Apache-2.0 */
/* expect_value.h: a value that is shown against one that is expected.
 *
 * Layer: sim (base only). */
#ifndef SUBLET_SIM_PLAY_EXPECT_VALUE_H
#define SUBLET_SIM_PLAY_EXPECT_VALUE_H

#include <stdbool.h>

#include "base/value.h"

struct expect_wish {
    const char *op;   /* == != < <= > >= */
    const char *text; /* as written */
    bool is_quoted;   /* a text, whatever it looks like */
    int64_t epoch_ms; /* instants count from here */
};

/* The member at a path. A key that itself has dots may be the whole rest of the path;
 * in an array the member with that index, or whose first member is that text
 * ("hosts.n1.slots"). NULL: there is none. */
const struct value *expect_value_find(const struct value *root, const char *path);

/* Null equals null only. Where the two are of different kinds, only != holds. */
bool expect_value_holds(const struct value *found, const struct expect_wish *wish);

/* As JSON; an instant also as the time since the start. */
const char *expect_value_show(struct arena *arena, const struct value *value,
                              int64_t epoch_ms);

#endif
