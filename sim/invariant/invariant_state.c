/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_state.c: see invariant_state.h. */
#include "sim/invariant/invariant_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool invariant_state_fail(struct invariants_text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text->text, (size_t)text->size, format, args);
    va_end(args);
    return false;
}

/* snprintf would take a tenth of the time of a world. */
void invariant_state_key(char *key, const char *first, const char *second,
                         const char *third)
{
    const char *names[] = {first, second, third};
    size_t length = 0;

    for (int i = 0; i < 3 && names[i]; i++) {
        size_t n = strnlen(names[i], INVARIANTS_KEY_SIZE - length - 2);

        if (i > 0) {
            key[length++] = ' ';
        }
        memcpy(key + length, names[i], n);
        length += n;
    }
    key[length] = '\0';
}

void *invariant_state_find(struct seen *table, const char *key)
{
    struct seen *found;

    HASH_FIND_STR(table, key, found);
    return found;
}

void *invariant_state_see(struct seen **table, const char *key, size_t size)
{
    struct seen *seen = invariant_state_find(*table, key);

    if (!seen) {
        size_t key_size = strlen(key) + 1;

        seen = mem_alloc(1, size + key_size); /* the key is behind the thing */
        seen->key = memcpy((char *)seen + size, key, key_size);
        HASH_ADD_KEYPTR(hh, *table, seen->key, key_size - 1, seen);
    }
    return seen;
}

struct seen_site *invariant_state_site(struct invariants *invariants, const char *name)
{
    return invariant_state_see(&invariants->sites, name, sizeof(struct seen_site));
}
