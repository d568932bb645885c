/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_shape.c: a small reader for each of the sections, out of words between signs.
 */
#include "sched/resreq_shape.h"

#include "sched/resreq_words.h"

/* Digits, whatever they come to. */
static int take_number(struct resreq_words *reader, const char *expected)
{
    int count;
    char unit;
    return resreq_words_count(reader, "", expected, &count, &unit);
}

/* ---------------------------------------------------------------- span, same */

/* ptile='!',HP:8,LINUX:2 */
static int take_tiles(struct resreq_words *reader)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    if (token.kind != LEX_QUOTED) {
        return take_number(reader, "ptile=N or ptile='!'");
    }
    resreq_lex_next(&reader->lex);
    if (!resreq_words_is(token.place, "!")) {
        return RESREQ_WORDS_FAIL(reader, token.place, RESREQ_BAD_VALUE,
                                 "expected ptile='!'");
    }
    while (resreq_words_take(reader, LEX_COMMA)) {
        struct resreq_place name;
        int code = resreq_words_name(reader, &name, "TYPE:N");
        if (code == 0 && !resreq_words_take(reader, LEX_COLON)) {
            return resreq_words_fail_next(reader, "TYPE:N");
        }
        code = code != 0 ? code : take_number(reader, "TYPE:N");
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static int take_hosts(struct resreq_words *reader)
{
    struct resreq_place place = resreq_lex_text(&reader->lex).place;
    if (!resreq_words_is(place, "1") && !resreq_words_is(place, "-1")) {
        return RESREQ_WORDS_FAIL(reader, place.length > 0 ? place : reader->keyword,
                                 RESREQ_BAD_VALUE, "expected hosts=1 or hosts=-1");
    }
    return 0;
}

static int check_span(struct resreq_words *reader)
{
    static const char expected[] = "hosts=1, hosts=-1, ptile=N, ptile='!', block=N";
    static const char *const keys[] = {"hosts", "ptile", "block", NULL};
    struct resreq_place name;
    int code = resreq_words_name(reader, &name, expected);
    if (code == 0 && !resreq_words_is(name, "stripe")) {
        if (!resreq_words_is_one(name, keys)) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_NAME, "expected %s",
                                     expected);
        }
        if (!resreq_words_take(reader, LEX_ASSIGN)) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_NO_VALUE, "expected %s",
                                     expected);
        }
        code = resreq_words_is(name, "hosts")   ? take_hosts(reader)
               : resreq_words_is(name, "ptile") ? take_tiles(reader)
                                                : take_number(reader, expected);
    }
    return code == 0 && !resreq_words_is_end(reader)
               ? resreq_words_fail_next(reader, "one span alone")
               : code;
}

static int check_same(struct resreq_words *reader)
{
    do {
        struct resreq_place name;
        int code = resreq_words_name(reader, &name, "RESOURCE[:RESOURCE]...");
        if (code != 0) {
            return code;
        }
        int id = resources_find(reader->resources, name.source + name.at,
                                (size_t)name.length);
        if (id < 0 && !reader->is_open) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_NAME,
                                     "there is no resource of this name");
        }
        if (id >= 0 && resources_at(reader->resources, id)->interval_ms > 0) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_TYPE,
                                     "hosts can be the same in static resources only");
        }
    } while (resreq_words_take(reader, LEX_COLON));
    return resreq_words_is_end(reader)
               ? 0
               : resreq_words_fail_next(reader, "RESOURCE[:RESOURCE]...");
}

/* ---------------------------------------------------------------- cu, affinity */

static int take_cu_value(struct resreq_words *reader, struct resreq_place key)
{
    static const char *const prefs[] = {"config", "maxavail", "minavail", NULL};
    struct resreq_place value;
    if (!resreq_words_take(reader, LEX_ASSIGN)) {
        return RESREQ_WORDS_FAIL(reader, key, RESREQ_NO_VALUE, "expected KEY=VALUE");
    }
    if (resreq_words_is(key, "maxcus") || resreq_words_is(key, "usablecuslots")) {
        return take_number(reader, "a number");
    }
    int code = resreq_words_name(reader, &value, "a name");
    if (code == 0 && resreq_words_is(key, "pref") &&
        !resreq_words_is_one(value, prefs)) {
        return RESREQ_WORDS_FAIL(reader, value, RESREQ_BAD_VALUE,
                                 "expected pref=config, maxavail or minavail");
    }
    return code;
}

static int check_cu(struct resreq_words *reader)
{
    static const char expected[] =
        "type= pref= maxcus= usablecuslots= balance excl, separated by colons";
    static const char *const flags[] = {"balance", "excl", NULL};
    static const char *const keys[] = {"type", "pref", "maxcus", "usablecuslots", NULL};
    do {
        struct resreq_place key;
        int code = resreq_words_name(reader, &key, expected);
        if (code == 0 && !resreq_words_is_one(key, flags)) {
            code = resreq_words_is_one(key, keys)
                       ? take_cu_value(reader, key)
                       : RESREQ_WORDS_FAIL(reader, key, RESREQ_BAD_NAME, "expected %s",
                                           expected);
        }
        if (code != 0) {
            return code;
        }
    } while (resreq_words_take(reader, LEX_COLON));
    return resreq_words_is_end(reader) ? 0 : resreq_words_fail_next(reader, expected);
}

static int check_affinity(struct resreq_words *reader)
{
    static const char *const levels[] = {"numa", "socket", "core", "thread", NULL};
    struct resreq_place level;
    int code = resreq_words_name(reader, &level, "numa, socket, core or thread");
    if (code != 0) {
        return code;
    }
    if (!resreq_words_is_one(level, levels)) {
        return RESREQ_WORDS_FAIL(reader, level, RESREQ_BAD_NAME,
                                 "expected numa, socket, core or thread");
    }
    int depth = 0;
    for (;;) {
        struct lex_token token = resreq_lex_next(&reader->lex);
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        if (token.kind == LEX_BAD || depth < 0 ||
            (token.kind == LEX_END && depth > 0)) {
            return RESREQ_WORDS_FAIL(
                reader, token.kind == LEX_END ? level : token.place, RESREQ_BAD_SYNTAX,
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
    struct resreq_words reader;
    resreq_words_init(&reader, language, part, notes, fault);
    switch (part->section) {
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
    case RESREQ_RUSAGE:
    case RESREQ_SECTIONS:
        break;
    }
    return 0;
}
