/* SPDX-License-Identifier: Apache-2.0 */
/* err.c: see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A cut sentence must not end inside a UTF-8 character, which would be invalid JSON. */
static void drop_half_character(char *text, size_t size)
{
    size_t end = strlen(text);
    if (end + 1 < size) {
        return;
    }
    size_t start = end;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start > 0 && (unsigned char)text[start - 1] >= 0xc0) {
        text[start - 1] = '\0';
    }
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (err == NULL) {
        return code;
    }
    /* The arguments may point into the replaced text. */
    char text[sizeof(err->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    drop_half_character(text, sizeof(text));
    memcpy(err->text, text, sizeof(text));
    err->code = code;
    return code;
}

int err_prefix(struct err *err, const char *format, ...)
{
    if (err == NULL) {
        return ERR_NONE;
    }
    char text[sizeof(err->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return err_set(err, err->code, "%s: %s", text, err->text);
}

const char *err_name(int code)
{
    switch (code) {
#define X(value, number, name, what)                                                   \
    case value:                                                                        \
        return name;
        ERR_TABLE(X)
#undef X
    default:
        return "unknown";
    }
}
