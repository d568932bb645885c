/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_alternatives.c: see resreq_alternatives.h. */
#include "sched/resreq/resreq_alternatives.h"

#include <string.h>

#include "base/bounds.h"

struct walker {
    struct arena *arena;
    const char *source;
    int at, length;
    struct resreq_error *error;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The first of `signs` outside quotes from there, or the end. */
static int find(const char *source, int at, int length, const char *signs)
{
    while (at < length && strchr(signs, source[at]) == NULL) {
        const char *close =
            source[at] == '\'' || source[at] == '"'
                ? memchr(source + at + 1, source[at], (size_t)(length - at - 1))
                : NULL;
        at = close != NULL ? (int)(close - source) + 1 : at + 1;
    }
    return at;
}

static void skip_blanks(struct walker *walker)
{
    while (walker->at < walker->length && is_blank(walker->source[walker->at])) {
        walker->at++;
    }
}

static int refuse(struct walker *walker, int code, const char *hint)
{
    struct resreq_place place = {walker->source, walker->at,
                                 walker->at < walker->length ? 1 : 0};
    resreq_error_set(walker->error, RESREQ_SELECT, place, RESREQ_BAD_SYNTAX, "%s",
                     hint);
    return code;
}

/* @30; adds the alternative. */
static int take_delay(struct walker *walker, struct resreq_alternatives *alternatives)
{
    int before =
        alternatives->count > 0 ? alternatives->delays[alternatives->count - 1] : 0;
    int *delay = &alternatives->delays[alternatives->count++];
    *delay = before;
    if (walker->at == walker->length || walker->source[walker->at] != '@') {
        return 0;
    }
    int at = walker->at + 1, minutes = 0;
    while (at < walker->length && walker->source[at] >= '0' &&
           walker->source[at] <= '9' && minutes <= RESREQ_DELAY_MAX) {
        minutes = minutes * 10 + walker->source[at++] - '0';
    }
    if (at == walker->at + 1 || minutes > RESREQ_DELAY_MAX) {
        return refuse(walker, ERR_PARSE, "expected minutes after @, at most a year");
    }
    if (alternatives->count == 1) {
        return refuse(walker, ERR_PARSE, "the first alternative has no delay");
    }
    if (minutes < before) {
        return refuse(walker, ERR_PARSE,
                      "an alternative has no shorter delay than the one before");
    }
    *delay = minutes;
    walker->at = at;
    skip_blanks(walker);
    return 0;
}

static int take_part(struct walker *walker, struct resreq_alternatives *alternatives)
{
    int from = walker->at + 1;
    int to = find(walker->source, from, walker->length, "{}");
    if (to == walker->length) {
        return refuse(walker, ERR_PARSE, "the brace is not closed");
    }
    if (walker->source[to] == '{') {
        walker->at = to;
        return refuse(walker, ERR_PARSE, "braces cannot be nested");
    }
    if (alternatives->count == RESREQ_ALTERNATIVES_MAX) {
        return refuse(walker, ERR_PARSE, "at most 16 alternatives or parts");
    }
    char *part = arena_strn(walker->arena, walker->source, (size_t)to);
    memset(part, ' ', (size_t)from);
    alternatives->parts[alternatives->count] = part;
    walker->at = to + 1;
    skip_blanks(walker);
    if (alternatives->is_compound) {
        alternatives->count++;
        return 0;
    }
    return take_delay(walker, alternatives);
}

/* 4*, or nothing in front of the last part, which has the rest of the slots then. */
static int take_slots(struct walker *walker, struct resreq_alternatives *alternatives)
{
    int n_slots = 0, first = walker->at;
    while (walker->at < walker->length && walker->source[walker->at] >= '0' &&
           walker->source[walker->at] <= '9' && n_slots <= SLOTS_MAX) {
        n_slots = n_slots * 10 + walker->source[walker->at++] - '0';
    }
    bool has_number = walker->at > first;
    skip_blanks(walker);
    bool has_sign = walker->at < walker->length && walker->source[walker->at] == '*';
    if (has_number != has_sign ||
        (has_number && (n_slots < 1 || n_slots > SLOTS_MAX))) {
        walker->at = first;
        return refuse(walker, ERR_PARSE, "expected NUMBER*{...}, of at least one slot");
    }
    if (has_sign) {
        walker->at++;
        skip_blanks(walker);
    }
    if (alternatives->count < RESREQ_ALTERNATIVES_MAX) {
        alternatives->slots[alternatives->count] = n_slots;
    }
    return 0;
}

/* After a part of a compound requirement; true if another one follows. */
static bool take_plus(struct walker *walker,
                      const struct resreq_alternatives *alternatives, int *code)
{
    if (walker->at == walker->length) {
        return false;
    }
    if (walker->source[walker->at] != '+') {
        *code = refuse(walker, ERR_PARSE, "expected + NUMBER*{...} after a part");
        return false;
    }
    if (alternatives->slots[alternatives->count - 1] == 0) {
        *code = refuse(walker, ERR_PARSE, "only the last part may have no number");
        return false;
    }
    walker->at++;
    skip_blanks(walker);
    return true;
}

/* After an alternative; true if another one follows. */
static bool take_or(struct walker *walker, int *code)
{
    const char *at = walker->source + walker->at;
    if (walker->at == walker->length) {
        return false;
    }
    if (walker->length - walker->at > 1 && at[0] == '|' && at[1] == '|') {
        walker->at += 2;
        skip_blanks(walker);
        return true;
    }
    *code = refuse(walker, ERR_PARSE,
                   at[0] == '+' ? "expected NUMBER*{...} before a +"
                                : "expected || {...} after an alternative");
    return false;
}

bool resreq_alternatives_find(const char *source, struct resreq_place *place)
{
    int length = (int)strnlen(source, RES_REQ_MAX + 1);
    int at = find(source, 0, length, "{}");
    *place = (struct resreq_place){source, at, at < length ? 1 : 0};
    return at < length;
}

int resreq_alternatives_split(struct arena *arena, const char *source,
                              struct resreq_alternatives *alternatives,
                              struct resreq_error *error)
{
    struct resreq_place first;
    struct walker walker = {.arena = arena,
                            .source = source,
                            .length = (int)strnlen(source, RES_REQ_MAX + 1),
                            .error = error};
    int code = 0;
    alternatives->count = 0;
    if (!resreq_alternatives_find(source, &first)) {
        return 0;
    }
    skip_blanks(&walker);
    alternatives->is_compound = find(source, walker.at, first.at, "*") < first.at;
    if (!alternatives->is_compound && first.at != walker.at) {
        return refuse(&walker, ERR_PARSE, "expected {...} || {...} and nothing else");
    }
    do {
        code = alternatives->is_compound ? take_slots(&walker, alternatives) : 0;
        if (code == 0 && (walker.at == walker.length || source[walker.at] != '{')) {
            return refuse(&walker, ERR_PARSE, "expected {...}");
        }
        code = code != 0 ? code : take_part(&walker, alternatives);
    } while (code == 0 &&
             (alternatives->is_compound ? take_plus(&walker, alternatives, &code)
                                        : take_or(&walker, &code)));
    return code;
}
