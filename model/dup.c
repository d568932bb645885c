/* SPDX-License-Identifier: Apache-2.0 */
/* dup.c: see dup.h. */
#include "model/dup.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Shared by all empty texts: most jobs have three of them. */
static const char nothing[] = "";

char *dup_text(const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return (char *)(uintptr_t)nothing;
    }
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size, 1), text, size);
}

void dup_free(const char *text)
{
    if (text != nothing) {
        free((char *)(uintptr_t)text);
    }
}

void dup_set_text(char **text, const char *value)
{
    char *copy = dup_text(value);
    dup_free(*text);
    *text = copy;
}
