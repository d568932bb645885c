/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.c: see export_select.h. */
#include "provider/export_select.h"

#include <string.h>

#define EXPECTED "expected type==NAME, any, or Boolean resources, joined by &&"

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.';
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The word at `*at`, which it leaves behind the word and its blanks; NULL where none
 * begins there. */
static const char *take_word(struct arena *arena, const char **at)
{
    const char *end = *at;
    while (is_word_character(*end)) {
        end++;
    }
    if (end == *at) {
        return NULL;
    }
    const char *word = arena_strn(arena, *at, (size_t)(end - *at));
    *at = skip_blanks(end);
    return word;
}

static int take_term(struct arena *arena, const char **at, struct export_term *term,
                     struct err *err)
{
    const char *first = *at;
    const char *word = take_word(arena, at);
    if (word == NULL) {
        return err_set(err, ERR_PARSE, "cannot read \"%s\", " EXPECTED, first);
    }
    term->is_type = false;
    term->name = strcmp(word, "any") == 0 ? NULL : word;
    if (strncmp(*at, "==", 2) != 0) {
        return ERR_NONE;
    }
    if (strcmp(word, "type") != 0) {
        return err_set(err, ERR_PARSE, "\"%s\" cannot be compared here, " EXPECTED,
                       word);
    }
    *at = skip_blanks(*at + 2);
    const char *type = take_word(arena, at);
    if (type == NULL) {
        return err_set(err, ERR_PARSE, "\"type==\" has no name behind it, " EXPECTED);
    }
    term->is_type = true;
    term->name = strcmp(type, "any") == 0 ? NULL : type;
    return ERR_NONE;
}

int export_select_parse(struct arena *arena, const char *text,
                        struct export_select *select, struct err *err)
{
    memset(select, 0, sizeof(*select));
    /* A term and its && take three characters at least. */
    select->terms = arena_alloc(arena, strlen(text) / 3 + 1, sizeof(*select->terms));
    const char *at = skip_blanks(text);
    if (*at == '\0') {
        return ERR_NONE;
    }
    for (;;) {
        int code = take_term(arena, &at, &select->terms[select->n_terms], err);
        if (code != ERR_NONE) {
            return code;
        }
        select->n_terms++;
        if (*at == '\0') {
            return ERR_NONE;
        }
        if (strncmp(at, "&&", 2) != 0) {
            return err_set(err, ERR_PARSE, "cannot read \"%s\", " EXPECTED, at);
        }
        at = skip_blanks(at + 2);
    }
}

static bool has_boolean(const struct export_host *host, const char *name)
{
    for (int i = 0; i < host->n_booleans; i++) {
        if (strcmp(host->booleans[i], name) == 0) {
            return true;
        }
    }
    return false;
}

bool export_select_matches(const struct export_select *select,
                           const struct export_host *host)
{
    for (int i = 0; i < select->n_terms; i++) {
        const struct export_term *term = &select->terms[i];
        if (term->name == NULL) {
            continue;
        }
        if (term->is_type ? strcmp(host->type, term->name) != 0
                          : !has_boolean(host, term->name)) {
            return false;
        }
    }
    return true;
}
