/* SPDX-License-Identifier: Apache-2.0 */
/* jobid.c: the grammar of a job's id. */
#include "cli/jobid.h"

#include <string.h>

enum { DIGITS_MAX = 19 }; /* what fits 64 bits */

/* Skips a number without leading zero; NULL where there is none. */
static const char *skip_number(const char *text)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0 || length > DIGITS_MAX || text[0] == '0') {
        return NULL;
    }
    return text + length;
}

bool jobid_is_valid(const char *text)
{
    const char *rest = skip_number(text);
    if (rest == NULL) {
        return false;
    }
    if (rest[0] == '\0') {
        return true;
    }
    rest = rest[0] == '[' ? skip_number(rest + 1) : NULL;
    return rest != NULL && strcmp(rest, "]") == 0;
}
