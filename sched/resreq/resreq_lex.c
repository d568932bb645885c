/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_lex.c: see resreq_lex.h. */
#include "sched/resreq/resreq_lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"

enum { NUMBER_MAX = 64 }; /* characters of a number: a double needs no more */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* '\0' at the end. */
static char char_at(const struct resreq_lex *lex, int at)
{
    return at < lex->end ? lex->source[at] : '\0';
}

static bool skip_blanks(struct resreq_lex *lex)
{
    int from = lex->at;
    while (is_blank(char_at(lex, lex->at))) {
        lex->at++;
    }
    return lex->at > from;
}

static int skip_digits(const struct resreq_lex *lex, int at)
{
    while (is_digit(char_at(lex, at))) {
        at++;
    }
    return at;
}

static struct lex_token bad(struct lex_token token, const char *wrong)
{
    token.kind = LEX_BAD;
    token.wrong = wrong;
    return token;
}

/* The unit at `at` as a factor to MB; 0 if it is unknown. */
static double unit(const struct resreq_lex *lex, int at, int length)
{
    static const char letters[] = "KMGTPEZ";
    const char *text = lex->source + at;
    const char *letter = memchr(letters, text[0] & ~0x20, sizeof(letters) - 1);
    bool has_b = length == 2 && (text[1] == 'B' || text[1] == 'b');
    if (letter == NULL || (length != 1 && !has_b)) {
        return 0;
    }
    double factor = 1.0 / 1024;
    for (const char *step = letters; step < letter; step++) {
        factor *= 1024;
    }
    return factor;
}

static struct lex_token scan_number(struct resreq_lex *lex, struct lex_token token)
{
    int start = lex->at;
    int at = skip_digits(lex, start);
    if (char_at(lex, at) == '.') {
        at = skip_digits(lex, at + 1);
    }
    char c = char_at(lex, at);
    if (c == 'e' || c == 'E') {
        char sign = char_at(lex, at + 1);
        int digits = sign == '+' || sign == '-' ? at + 2 : at + 1;
        at = is_digit(char_at(lex, digits)) ? skip_digits(lex, digits) : at;
    }
    int n_digits = at - start;
    while (conf_is_resource_char(char_at(lex, at))) {
        at++;
    }
    int n_unit = at - start - n_digits;
    lex->at = at;
    token.kind = LEX_NUMBER;
    token.place.length = at - start;
    if (n_digits >= NUMBER_MAX) {
        return bad(token, "a number has at most 63 characters");
    }
    char text[NUMBER_MAX];
    memcpy(text, lex->source + start, (size_t)n_digits);
    text[n_digits] = '\0';
    token.number = strtod(text, NULL);
    if (n_unit > 0) {
        double factor = unit(lex, start + n_digits, n_unit);
        token.number *= factor;
        return factor > 0
                   ? token
                   : bad(token,
                         "neither a number nor a name, which begins with a letter");
    }
    return token;
}

static struct lex_token scan_quoted(struct resreq_lex *lex, struct lex_token token)
{
    char quote = lex->source[lex->at];
    const char *from = lex->source + lex->at + 1;
    const char *close = memchr(from, quote, (size_t)(lex->end - lex->at - 1));
    if (close == NULL) {
        token.place.length = 1;
        lex->at = lex->end;
        return bad(token, "the quote is not closed");
    }
    token.kind = LEX_QUOTED;
    token.place.at = lex->at + 1;
    token.place.length = (int)(close - from);
    lex->at = token.place.at + token.place.length + 1;
    return token;
}

/* Operators of one character, and of two. */
static const struct sign {
    char first, second; /* second: makes it an operator of two; '\0': none does */
    enum lex_kind alone, both;
} signs[] = {
    {'=', '=', LEX_ASSIGN, LEX_EQ},  {'!', '=', LEX_NOT, LEX_NE},
    {'>', '=', LEX_GT, LEX_GE},      {'<', '=', LEX_LT, LEX_LE},
    {'&', '&', LEX_BAD, LEX_AND},    {'|', '|', LEX_BAD, LEX_OR},
    {'(', '\0', LEX_OPEN, LEX_BAD},  {')', '\0', LEX_CLOSE, LEX_BAD},
    {'*', '\0', LEX_STAR, LEX_BAD},  {'/', '\0', LEX_SLASH, LEX_BAD},
    {'+', '\0', LEX_PLUS, LEX_BAD},  {'-', '\0', LEX_MINUS, LEX_BAD},
    {':', '\0', LEX_COLON, LEX_BAD}, {',', '\0', LEX_COMMA, LEX_BAD},
};

static const struct sign *find_sign(char c)
{
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (signs[i].first == c) {
            return &signs[i];
        }
    }
    return NULL;
}

static struct lex_token scan_sign(struct resreq_lex *lex, struct lex_token token)
{
    char c = lex->source[lex->at];
    const struct sign *sign = find_sign(c);
    bool is_both = sign != NULL && sign->second != '\0' &&
                   char_at(lex, lex->at + 1) == sign->second;
    token.place.length = is_both ? 2 : 1;
    lex->at += token.place.length;
    if (sign != NULL) {
        token.kind = is_both ? sign->both : sign->alone;
        token.wrong = c == '&' ? "\"and\" is &&" : "\"or\" is ||";
        return token;
    }
    return bad(token, c >= ' ' && c < 0x7f ? "this character means nothing here"
                                           : "only a quoted text may hold characters "
                                             "outside ASCII");
}

struct lex_token resreq_lex_next(struct resreq_lex *lex)
{
    struct lex_token token = {.kind = LEX_END, .after_blank = skip_blanks(lex)};
    token.place = (struct resreq_place){.source = lex->source, .at = lex->at};
    if (lex->at >= lex->end) {
        return token;
    }
    char c = lex->source[lex->at];
    if (is_digit(c) || (c == '.' && is_digit(char_at(lex, lex->at + 1)))) {
        return scan_number(lex, token);
    }
    if (c == '\'' || c == '"') {
        return scan_quoted(lex, token);
    }
    if (!conf_is_resource_char(c)) {
        return scan_sign(lex, token);
    }
    while (conf_is_resource_char(char_at(lex, lex->at))) {
        lex->at++;
    }
    token.kind = LEX_NAME;
    token.place.length = lex->at - token.place.at;
    return token;
}

struct lex_token resreq_lex_peek(const struct resreq_lex *lex)
{
    struct resreq_lex copy = *lex;
    return resreq_lex_next(&copy);
}

struct lex_token resreq_lex_text(struct resreq_lex *lex)
{
    struct lex_token token = {.kind = LEX_END, .after_blank = skip_blanks(lex)};
    token.place = (struct resreq_place){.source = lex->source, .at = lex->at};
    char c = char_at(lex, lex->at);
    if (c == '\'' || c == '"') {
        return scan_quoted(lex, token);
    }
    while ((c = char_at(lex, lex->at)) != '\0' &&
           (conf_is_resource_char(c) || strchr(".@-+/", c) != NULL)) {
        lex->at++;
    }
    token.place.length = lex->at - token.place.at;
    token.kind = token.place.length > 0 ? LEX_NAME : LEX_END;
    return token;
}
