/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_shape.c: a small reader for each of the sections, out of words between signs.
 */
#include "sched/resreq_shape.h"

#include <string.h>

enum { INDICES_MAX = 64 }; /* resources of one usage: a job reserves a handful */

struct reader {
    const struct resources *resources;
    bool is_open, is_lenient;
    struct resreq_notes *notes;
    enum resreq_section section;
    struct resreq_place keyword;
    struct resreq_lex lex;
    struct resreq_fault *fault;
};

#define FAIL(reader, place, reason, ...)                                               \
    resreq_fault_set((reader)->fault, (reader)->section, place, reason, __VA_ARGS__)

static bool is_text(struct resreq_place place, const char *text)
{
    return place.length == (int)strlen(text) &&
           memcmp(place.source + place.at, text, (size_t)place.length) == 0;
}

static bool is_one_of(struct resreq_place place, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (is_text(place, *words)) {
            return true;
        }
    }
    return false;
}

/* A sign that stands there is taken. */
static bool take(struct reader *reader, enum lex_kind kind)
{
    if (resreq_lex_peek(&reader->lex).kind != kind) {
        return false;
    }
    resreq_lex_next(&reader->lex);
    return true;
}

static bool is_end(const struct reader *reader)
{
    return resreq_lex_peek(&reader->lex).kind == LEX_END;
}

static int fail_next(const struct reader *reader, const char *expected)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    return token.kind == LEX_END
               ? FAIL(reader, reader->keyword, RESREQ_NO_VALUE, "expected %s", expected)
               : FAIL(reader, token.place, RESREQ_BAD_SYNTAX, "expected %s", expected);
}

static int take_name(struct reader *reader, struct resreq_place *name,
                     const char *expected)
{
    struct resreq_lex ahead = reader->lex;
    struct lex_token token = resreq_lex_next(&ahead);
    if (token.kind != LEX_NAME) {
        return fail_next(reader, expected);
    }
    reader->lex = ahead;
    *name = token.place;
    return 0;
}

/* Digits, with one of `units` behind them where there are any. */
static int take_count(struct reader *reader, const char *units, const char *expected)
{
    struct lex_token token = resreq_lex_text(&reader->lex);
    struct resreq_place place = token.place;
    const char *text = place.source + place.at;
    int n_digits = 0;
    while (n_digits < place.length && text[n_digits] >= '0' && text[n_digits] <= '9') {
        n_digits++;
    }
    bool has_unit =
        n_digits == place.length - 1 && strchr(units, text[n_digits]) != NULL;
    if (token.kind != LEX_NAME || n_digits == 0 || n_digits > 9 ||
        (n_digits != place.length && !has_unit)) {
        return FAIL(reader, place.length > 0 ? place : reader->keyword,
                    RESREQ_BAD_VALUE, "expected %s", expected);
    }
    return 0;
}

/* ---------------------------------------------------------------- rusage */

struct usage {
    struct resreq_place indices[INDICES_MAX]; /* of one alternative */
    int n_indices;
};

static int take_amount(struct reader *reader)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    if (token.kind != LEX_NUMBER || !(token.number < 1e300)) {
        return fail_next(reader,
                         "an amount: a number, with a unit K M G T P E Z or none");
    }
    resreq_lex_next(&reader->lex);
    return 0;
}

static int take_duration(struct reader *reader)
{
    return take_count(reader, "smh", "a duration: minutes, or with s, m, h");
}

static int take_decay(struct reader *reader)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    if (!is_text(token.place, "0") && !is_text(token.place, "1")) {
        return fail_next(reader, "decay=0 or decay=1");
    }
    resreq_lex_next(&reader->lex);
    return 0;
}

/* One value, or several phases in parentheses. */
static int take_phases(struct reader *reader, int (*take_one)(struct reader *))
{
    if (!take(reader, LEX_OPEN)) {
        return take_one(reader);
    }
    do {
        int code = take_one(reader);
        if (code != 0) {
            return code;
        }
    } while (!take(reader, LEX_CLOSE));
    return 0;
}

static int check_index(const struct reader *reader, struct usage *usage,
                       struct resreq_place name)
{
    int id =
        resources_find(reader->resources, name.source + name.at, (size_t)name.length);
    if (id < 0 && !reader->is_open) {
        return FAIL(reader, name, RESREQ_BAD_NAME, "there is no resource of this name");
    }
    bool is_bad = id >= 0 && !resources_at(reader->resources, id)->is_consumable;
    if (is_bad && reader->is_lenient) {
        resreq_note_add(reader->notes, name, "this resource is not consumable");
    } else if (is_bad) {
        return FAIL(reader, name, RESREQ_BAD_TYPE, "this resource is not consumable");
    }
    for (int i = 0; i < usage->n_indices; i++) {
        struct resreq_place other = usage->indices[i];
        if (other.length == name.length &&
            memcmp(other.source + other.at, name.source + name.at,
                   (size_t)name.length) == 0) {
            return FAIL(reader, name, RESREQ_BAD_VALUE,
                        "a resource is reserved once in a usage");
        }
    }
    if (usage->n_indices == INDICES_MAX) {
        return FAIL(reader, name, RESREQ_BAD_VALUE, "at most %d resources in a usage",
                    INDICES_MAX);
    }
    usage->indices[usage->n_indices++] = name;
    return 0;
}

static int take_scope(struct reader *reader)
{
    static const char *const scopes[] = {"job", "host", "task", "slot", NULL};
    struct resreq_place scope;
    int code = take_name(reader, &scope, "/job, /host, /task or /slot");
    if (code != 0 || is_one_of(scope, scopes)) {
        return code;
    }
    return FAIL(reader, scope, RESREQ_BAD_VALUE,
                "expected /job, /host, /task or /slot");
}

/* NAME=VALUE, where NAME may be duration and decay behind at least one resource. */
static int take_usage_term(struct reader *reader, struct usage *usage, bool is_first)
{
    struct resreq_place name;
    int code = take_name(reader, &name, "RESOURCE=AMOUNT");
    bool is_duration = code == 0 && is_text(name, "duration");
    bool is_decay = code == 0 && is_text(name, "decay");
    if (code == 0 && is_first && (is_duration || is_decay)) {
        return FAIL(reader, name, RESREQ_BAD_SYNTAX, "expected RESOURCE=AMOUNT first");
    }
    if (code == 0 && !is_duration && !is_decay) {
        code = check_index(reader, usage, name);
    }
    if (code == 0 && !take(reader, LEX_ASSIGN)) {
        return FAIL(reader, name, RESREQ_NO_VALUE, "expected RESOURCE=AMOUNT");
    }
    if (code == 0) {
        code = take_phases(reader, is_duration ? take_duration
                                   : is_decay  ? take_decay
                                               : take_amount);
    }
    return code == 0 && take(reader, LEX_SLASH) ? take_scope(reader) : code;
}

static int check_rusage(struct reader *reader)
{
    struct usage usage = {.n_indices = 0};
    bool is_first = true;
    for (;;) {
        int code = take_usage_term(reader, &usage, is_first);
        if (code != 0) {
            return code;
        }
        is_first = false;
        if (take(reader, LEX_COLON)) {
            continue;
        }
        is_first = true;
        if (take(reader, LEX_COMMA)) {
            continue;
        }
        if (!take(reader, LEX_OR)) {
            return is_end(reader) ? 0 : fail_next(reader, ": , || or the bracket");
        }
        usage.n_indices = 0;
    }
}

/* ---------------------------------------------------------------- span, same */

/* ptile='!',HP:8,LINUX:2 */
static int take_tiles(struct reader *reader)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    if (token.kind != LEX_QUOTED) {
        return take_count(reader, "", "ptile=N or ptile='!'");
    }
    resreq_lex_next(&reader->lex);
    if (!is_text(token.place, "!")) {
        return FAIL(reader, token.place, RESREQ_BAD_VALUE, "expected ptile='!'");
    }
    while (take(reader, LEX_COMMA)) {
        struct resreq_place name;
        int code = take_name(reader, &name, "TYPE:N");
        if (code == 0 && !take(reader, LEX_COLON)) {
            return fail_next(reader, "TYPE:N");
        }
        code = code != 0 ? code : take_count(reader, "", "TYPE:N");
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static int take_hosts(struct reader *reader)
{
    struct resreq_place place = resreq_lex_text(&reader->lex).place;
    if (!is_text(place, "1") && !is_text(place, "-1")) {
        return FAIL(reader, place.length > 0 ? place : reader->keyword,
                    RESREQ_BAD_VALUE, "expected hosts=1 or hosts=-1");
    }
    return 0;
}

static int check_span(struct reader *reader)
{
    static const char expected[] = "hosts=1, hosts=-1, ptile=N, ptile='!', block=N";
    static const char *const keys[] = {"hosts", "ptile", "block", NULL};
    struct resreq_place name;
    int code = take_name(reader, &name, expected);
    if (code == 0 && !is_text(name, "stripe")) {
        if (!is_one_of(name, keys)) {
            return FAIL(reader, name, RESREQ_BAD_NAME, "expected %s", expected);
        }
        if (!take(reader, LEX_ASSIGN)) {
            return FAIL(reader, name, RESREQ_NO_VALUE, "expected %s", expected);
        }
        code = is_text(name, "hosts")   ? take_hosts(reader)
               : is_text(name, "ptile") ? take_tiles(reader)
                                        : take_count(reader, "", expected);
    }
    return code == 0 && !is_end(reader) ? fail_next(reader, "one span alone") : code;
}

static int check_same(struct reader *reader)
{
    do {
        struct resreq_place name;
        int code = take_name(reader, &name, "RESOURCE[:RESOURCE]...");
        if (code != 0) {
            return code;
        }
        int id = resources_find(reader->resources, name.source + name.at,
                                (size_t)name.length);
        if (id < 0 && !reader->is_open) {
            return FAIL(reader, name, RESREQ_BAD_NAME,
                        "there is no resource of this name");
        }
        if (id >= 0 && resources_at(reader->resources, id)->interval_ms > 0) {
            return FAIL(reader, name, RESREQ_BAD_TYPE,
                        "hosts can be the same in static resources only");
        }
    } while (take(reader, LEX_COLON));
    return is_end(reader) ? 0 : fail_next(reader, "RESOURCE[:RESOURCE]...");
}

/* ---------------------------------------------------------------- cu, affinity */

static int take_cu_value(struct reader *reader, struct resreq_place key)
{
    static const char *const prefs[] = {"config", "maxavail", "minavail", NULL};
    struct resreq_place value;
    if (!take(reader, LEX_ASSIGN)) {
        return FAIL(reader, key, RESREQ_NO_VALUE, "expected KEY=VALUE");
    }
    if (is_text(key, "maxcus") || is_text(key, "usablecuslots")) {
        return take_count(reader, "", "a number");
    }
    int code = take_name(reader, &value, "a name");
    if (code == 0 && is_text(key, "pref") && !is_one_of(value, prefs)) {
        return FAIL(reader, value, RESREQ_BAD_VALUE,
                    "expected pref=config, maxavail or minavail");
    }
    return code;
}

static int check_cu(struct reader *reader)
{
    static const char expected[] =
        "type= pref= maxcus= usablecuslots= balance excl, separated by colons";
    static const char *const flags[] = {"balance", "excl", NULL};
    static const char *const keys[] = {"type", "pref", "maxcus", "usablecuslots", NULL};
    do {
        struct resreq_place key;
        int code = take_name(reader, &key, expected);
        if (code == 0 && !is_one_of(key, flags)) {
            code = is_one_of(key, keys)
                       ? take_cu_value(reader, key)
                       : FAIL(reader, key, RESREQ_BAD_NAME, "expected %s", expected);
        }
        if (code != 0) {
            return code;
        }
    } while (take(reader, LEX_COLON));
    return is_end(reader) ? 0 : fail_next(reader, expected);
}

static int check_affinity(struct reader *reader)
{
    static const char *const levels[] = {"numa", "socket", "core", "thread", NULL};
    struct resreq_place level;
    int code = take_name(reader, &level, "numa, socket, core or thread");
    if (code != 0) {
        return code;
    }
    if (!is_one_of(level, levels)) {
        return FAIL(reader, level, RESREQ_BAD_NAME,
                    "expected numa, socket, core or thread");
    }
    int depth = 0;
    for (;;) {
        struct lex_token token = resreq_lex_next(&reader->lex);
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        if (token.kind == LEX_BAD || depth < 0 ||
            (token.kind == LEX_END && depth > 0)) {
            return FAIL(reader, token.kind == LEX_END ? level : token.place,
                        RESREQ_BAD_SYNTAX,
                        "expected LEVEL(...) with parentheses "
                        "paired");
        }
        if (token.kind == LEX_END) {
            return 0;
        }
    }
}

int resreq_shape_check(const struct resreq_language *language,
                       const struct resreq_part *part, struct resreq_notes *notes,
                       struct resreq_fault *fault)
{
    struct reader reader = {
        .resources = language->resources,
        .is_open = language->is_open,
        .is_lenient = language->is_lenient,
        .notes = notes,
        .section = part->section,
        .keyword = part->keyword,
        .lex = part->content,
        .fault = fault,
    };
    switch (part->section) {
    case RESREQ_RUSAGE:
        return check_rusage(&reader);
    case RESREQ_SPAN:
        return check_span(&reader);
    case RESREQ_SAME:
        return check_same(&reader);
    case RESREQ_CU:
        return check_cu(&reader);
    case RESREQ_AFFINITY:
        return check_affinity(&reader);
    case RESREQ_SELECT:
    case RESREQ_ORDER:
    case RESREQ_SECTIONS:
        break;
    }
    return 0;
}
