/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_words.c: see resreq_words.h. */
#include "sched/resreq/resreq_words.h"

#include <string.h>

void resreq_words_init(struct resreq_words *reader,
                       const struct resreq_language *language,
                       const struct resreq_part *part, struct resreq_notes *notes,
                       struct resreq_error *error)
{
    *reader = (struct resreq_words){
        .resources = language->resources,
        .unit_types = language->unit_types,
        .is_open = language->is_open,
        .is_lenient = language->is_lenient,
        .notes = notes,
        .section = part->section,
        .keyword = part->keyword,
        .lex = part->content,
        .error = error,
    };
}

bool resreq_words_is(struct resreq_place place, const char *text)
{
    return place.length == (int)strlen(text) &&
           memcmp(place.source + place.at, text, (size_t)place.length) == 0;
}

bool resreq_words_is_one(struct resreq_place place, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (resreq_words_is(place, *words)) {
            return true;
        }
    }
    return false;
}

bool resreq_words_take(struct resreq_words *reader, enum lex_kind kind)
{
    if (resreq_lex_peek(&reader->lex).kind != kind) {
        return false;
    }
    resreq_lex_next(&reader->lex);
    return true;
}

bool resreq_words_is_end(const struct resreq_words *reader)
{
    return resreq_lex_peek(&reader->lex).kind == LEX_END;
}

int resreq_words_fail_next(const struct resreq_words *reader, const char *expected)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    return token.kind == LEX_END
               ? RESREQ_WORDS_FAIL(reader, reader->keyword, RESREQ_NO_VALUE,
                                   "expected %s", expected)
               : RESREQ_WORDS_FAIL(reader, token.place, RESREQ_BAD_SYNTAX,
                                   "expected %s", expected);
}

int resreq_words_name(struct resreq_words *reader, struct resreq_place *name,
                      const char *expected)
{
    struct resreq_lex ahead = reader->lex;
    struct lex_token token = resreq_lex_next(&ahead);
    if (token.kind != LEX_NAME) {
        return resreq_words_fail_next(reader, expected);
    }
    reader->lex = ahead;
    *name = token.place;
    return 0;
}

int resreq_words_count(struct resreq_words *reader, const char *units,
                       const char *expected, int *count, char *unit)
{
    enum { DIGITS_MAX = 9 }; /* an int has them */
    struct lex_token token = resreq_lex_text(&reader->lex);
    struct resreq_place place = token.place;
    const char *text = place.source + place.at;
    int n_digits = 0;
    *count = 0;
    while (n_digits < place.length && text[n_digits] >= '0' && text[n_digits] <= '9') {
        *count = n_digits < DIGITS_MAX ? *count * 10 + (text[n_digits] - '0') : 0;
        n_digits++;
    }
    bool has_unit =
        n_digits == place.length - 1 && strchr(units, text[n_digits]) != NULL;
    *unit = '\0';
    if (has_unit) {
        *unit = text[n_digits];
    }
    if (token.kind != LEX_NAME || n_digits == 0 || n_digits > DIGITS_MAX ||
        (n_digits != place.length && !has_unit)) {
        return RESREQ_WORDS_FAIL(reader, place.length > 0 ? place : reader->keyword,
                                 RESREQ_BAD_VALUE, "expected %s", expected);
    }
    return 0;
}
