/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_state.c: see invariant_state.h. */
#include "sim/invariant/invariant_state.h"

#include <stdarg.h>
#include <stdio.h>

bool invariant_state_fail(struct invariants_text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text->text, (size_t)text->size, format, args);
    va_end(args);
    return false;
}

struct seen_site *invariant_state_site(struct invariants *invariants, const char *name)
{
    struct seen_site *seen;

    HASH_FIND_STR(invariants->sites, name, seen);
    if (!seen) {
        seen = mem_alloc(1, sizeof *seen);
        snprintf(seen->name, sizeof seen->name, "%s", name);
        HASH_ADD_STR(invariants->sites, name, seen);
    }
    return seen;
}
