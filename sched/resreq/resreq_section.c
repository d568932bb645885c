/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_section.c: see resreq_section.h. Looks for words that are followed by a
 * bracket; all other text is between sections. */
#include "sched/resreq/resreq_section.h"

#include <string.h>

#include "base/conf/conf.h"
#include "sched/resreq/resreq_words.h"

struct cutter {
    struct resreq_lex text; /* the whole string, without quotes around it */
    bool is_lenient;
    int loose; /* start of text outside of sections */
    struct resreq_parts *parts;
    struct resreq_notes *notes;
    struct resreq_error *error;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void trim(struct resreq_lex *text)
{
    while (text->at < text->end && is_blank(text->source[text->at])) {
        text->at++;
    }
    while (text->end > text->at && is_blank(text->source[text->end - 1])) {
        text->end--;
    }
}

/* Strips quotes of 'swp>100' as a whole, but not of 'a' == x || y == 'b'. */
static void strip_quotes(struct resreq_lex *text)
{
    trim(text);
    int length = text->end - text->at;
    char quote = length >= 2 ? text->source[text->at] : '\0';
    if ((quote != '\'' && quote != '"') || text->source[text->end - 1] != quote ||
        memchr(text->source + text->at + 1, quote, (size_t)length - 2) != NULL) {
        return;
    }
    text->at++;
    text->end--;
    trim(text);
}

/* The position after the quoted text that begins at `at`; the end if it is not closed.
 */
static int skip_quoted(const struct resreq_lex *text, int at)
{
    const char *from = text->source + at + 1;
    const char *close = memchr(from, text->source[at], (size_t)(text->end - at - 1));
    return close == NULL ? text->end : (int)(close - text->source) + 1;
}

/* The first `sign` outside quotes from `at`, or -1. */
static int find_sign(const struct resreq_lex *text, int at, char sign)
{
    while (at < text->end) {
        char c = text->source[at];
        if (c == sign) {
            return at;
        }
        at = c == '\'' || c == '"' ? skip_quoted(text, at) : at + 1;
    }
    return -1;
}

/* ---------------------------------------------------------------- sections */

static int section_of(struct resreq_place word)
{
    for (int section = 0; section < RESREQ_SECTIONS; section++) {
        const char *name = resreq_error_section_name((enum resreq_section)section);
        if (resreq_words_is(word, name)) {
            return section;
        }
    }
    return -1;
}

static int add_part(struct cutter *cutter, enum resreq_section section,
                    struct resreq_place keyword, int from, int to)
{
    struct resreq_parts *parts = cutter->parts;
    for (int i = 0; i < parts->count; i++) {
        if (parts->parts[i].section == section) {
            return resreq_error_set_repeated(cutter->error, section, keyword);
        }
    }
    parts->parts[parts->count++] = (struct resreq_part){
        .section = section,
        .keyword = keyword,
        .content = {.source = cutter->text.source, .at = from, .end = to},
    };
    return 0;
}

/* The first word of the text between two sections, or what there is. */
static struct resreq_place first_word(const struct cutter *cutter, int from, int to)
{
    struct resreq_lex lex = {cutter->text.source, from, to};
    struct resreq_place place = resreq_lex_next(&lex).place;
    place.length = place.length > 0 ? place.length : place.at < to;
    return place;
}

/* Handles text outside of sections that ends at `to`: the implicit select, or an error.
 */
static int close_loose(struct cutter *cutter, int to, bool is_last)
{
    struct resreq_lex loose = {cutter->text.source, cutter->loose, to};
    trim(&loose);
    if (loose.at == loose.end) {
        return 0;
    }
    struct resreq_place word = first_word(cutter, loose.at, loose.end);
    if (cutter->parts->count == 0) {
        return add_part(cutter, RESREQ_SELECT, word, loose.at, loose.end);
    }
    if (is_last && cutter->is_lenient) {
        resreq_error_add_note(cutter->notes, word,
                              "text after the last section is ignored");
        return 0;
    }
    return resreq_error_set(
        cutter->error, RESREQ_SELECT, word, RESREQ_BAD_NAME,
        "after a section only further sections can follow: KEYWORD[...]");
}

/* Adds a section whose keyword is followed by a bracket. Returns where the section
 * ends. */
static int take_section(struct cutter *cutter, struct resreq_place word, int bracket)
{
    int section = section_of(word);
    if (section < 0) {
        return resreq_error_set(cutter->error, RESREQ_SELECT, word, RESREQ_BAD_NAME,
                                "sections are select order rusage span same cu "
                                "affinity, with a blank before the word");
    }
    int code = close_loose(cutter, word.at, false);
    if (code != 0) {
        return code;
    }
    int close = find_sign(&cutter->text, bracket + 1, ']');
    if (close < 0) {
        return resreq_error_set(cutter->error, (enum resreq_section)section, word,
                                RESREQ_BAD_SYNTAX, "the bracket is not closed");
    }
    code = add_part(cutter, (enum resreq_section)section, word, bracket + 1, close);
    cutter->loose = close + 1;
    return code != 0 ? code : close + 1;
}

static int cut(struct cutter *cutter)
{
    struct resreq_lex *text = &cutter->text;
    int at = text->at;
    while (at < text->end) {
        char c = text->source[at];
        if (c == '\'' || c == '"') {
            at = skip_quoted(text, at);
            continue;
        }
        struct resreq_place word = {.source = text->source, .at = at};
        while (at < text->end && conf_is_resource_char(text->source[at])) {
            at++;
        }
        word.length = at - word.at;
        if (word.length == 0) {
            at++;
            continue;
        }
        int bracket = at;
        while (bracket < text->end && is_blank(text->source[bracket])) {
            bracket++;
        }
        if (bracket < text->end && text->source[bracket] == '[') {
            at = take_section(cutter, word, bracket);
            if (at < 0) {
                return at;
            }
        }
    }
    return close_loose(cutter, text->end, true);
}

int resreq_section_split(const char *source, bool is_lenient,
                         struct resreq_parts *parts, struct resreq_notes *notes,
                         struct resreq_error *error)
{
    parts->count = 0;
    size_t length = strnlen(source, RES_REQ_MAX + 1);
    struct resreq_place start = {.source = source};
    if (length > RES_REQ_MAX) {
        start.length = 16; /* long enough to recognize it */
        return resreq_error_set(error, RESREQ_SELECT, start, RESREQ_BAD_SYNTAX,
                                "a string has at most %d bytes", RES_REQ_MAX);
    }
    struct resreq_lex text = {.source = source, .at = 0, .end = (int)length};
    strip_quotes(&text);
    int brace = find_sign(&text, text.at, '{');
    if (brace >= 0) {
        start.at = brace;
        start.length = 1;
        return resreq_error_set(error, RESREQ_SELECT, start, RESREQ_BAD_SYNTAX,
                                "braces enclose whole requirements");
    }
    struct cutter cutter = {
        .text = text,
        .is_lenient = is_lenient,
        .loose = text.at,
        .parts = parts,
        .notes = notes,
        .error = error,
    };
    return cut(&cutter);
}
