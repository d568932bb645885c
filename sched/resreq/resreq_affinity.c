/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_affinity.c: see resreq_affinity.h. */
#include "sched/resreq/resreq_affinity.h"

static const char levels_text[] = "numa, socket, core or thread";

static int take_level(struct resreq_words *reader, enum cpu_level *level,
                      struct resreq_place *at)
{
    static const struct {
        const char *name;
        enum cpu_level level;
    } names[] = {{"numa", CPU_LEVEL_NUMA},     {"mcm", CPU_LEVEL_NUMA},
                 {"socket", CPU_LEVEL_SOCKET}, {"core", CPU_LEVEL_CORE},
                 {"thread", CPU_LEVEL_THREAD}, {"cpu", CPU_LEVEL_THREAD}};
    int code = resreq_words_name(reader, at, levels_text);
    for (size_t i = 0; code == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        if (resreq_words_is(*at, names[i].name)) {
            *level = names[i].level;
            return 0;
        }
    }
    return code != 0 ? code
                     : RESREQ_WORDS_FAIL(reader, *at, RESREQ_BAD_NAME, "expected %s",
                                         levels_text);
}

static int take_count(struct resreq_words *reader, int *count)
{
    char unit;
    struct resreq_place at = resreq_lex_peek(&reader->lex).place;
    int code = resreq_words_count(reader, "", "a number from 1 on", count, &unit);
    return code != 0 || (*count > 0 && *count <= AFFINITY_UNITS_MAX)
               ? code
               : RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE,
                                   "expected a number from 1 to %d",
                                   AFFINITY_UNITS_MAX);
}

static int take_sign(struct resreq_words *reader, enum lex_kind kind,
                     const char *expected)
{
    return resreq_words_take(reader, kind) ? 0
                                           : resreq_words_fail_next(reader, expected);
}

/* ---------------------------------------------------------------- the units */

/* "|" between scopes, which means nothing in other sections. */
static bool take_bar(struct resreq_words *reader)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    bool is_bar = token.place.length == 1 && resreq_words_is(token.place, "|");
    if (is_bar) {
        resreq_lex_next(&reader->lex);
    }
    return is_bar;
}

static int take_scope(struct resreq_words *reader, unsigned *scopes)
{
    static const char *const names[] = {"intask", "injob", "alljobs"};
    static const char expected[] = "intask, injob or alljobs, each once, joined by |";
    struct resreq_place at;
    int code = resreq_words_name(reader, &at, expected);
    for (unsigned i = 0; code == 0 && i < 3; i++) {
        if (resreq_words_is(at, names[i]) && (*scopes & 1U << i) == 0) {
            *scopes |= 1U << i;
            return 0;
        }
    }
    return code != 0 ? code
                     : RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE, "expected %s",
                                         expected);
}

/* "(LEVEL[,SCOPE[|SCOPE]...])" */
static int take_exclusive(struct resreq_words *reader, struct affinity_request *request)
{
    struct resreq_place at;
    int code = take_sign(reader, LEX_OPEN, "exclusive=(LEVEL,SCOPE)");
    if (code == 0) {
        code = take_level(reader, &request->exclusive, &at);
    }
    if (code == 0 && (request->exclusive > request->unit ||
                      request->exclusive == CPU_LEVEL_THREAD)) {
        return RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE,
                                 "exclusive is numa, socket or core, and not a part of "
                                 "the unit that is asked for");
    }
    if (code == 0 && resreq_words_take(reader, LEX_COMMA)) {
        do {
            code = take_scope(reader, &request->scopes);
        } while (code == 0 && take_bar(reader));
    } else {
        request->scopes = CPU_SCOPE_INJOB;
    }
    return code != 0 ? code : take_sign(reader, LEX_CLOSE, "a parenthesis at the end");
}

/* "same=LEVEL" or "exclusive=(...)" */
static int take_option(struct resreq_words *reader, struct affinity_request *request)
{
    static const char expected[] = "same=LEVEL or exclusive=(LEVEL,SCOPE), each once";
    struct resreq_place at, level;
    int code = resreq_words_name(reader, &at, expected);
    bool is_same = code == 0 && resreq_words_is(at, "same");
    bool is_known = is_same || (code == 0 && resreq_words_is(at, "exclusive"));
    enum cpu_level set = is_same ? request->same : request->exclusive;
    if (code != 0) {
        return code;
    }
    if (!is_known || set != CPU_LEVEL_HOST) {
        return RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_NAME, "expected %s", expected);
    }
    code = take_sign(reader, LEX_ASSIGN, expected);
    if (code == 0 && !is_same) {
        return take_exclusive(reader, request);
    }
    if (code == 0) {
        code = take_level(reader, &request->same, &level);
    }
    return code != 0 || request->same < request->unit
               ? code
               : RESREQ_WORDS_FAIL(reader, level, RESREQ_BAD_VALUE,
                                   "same is a level above the unit that is asked for");
}

static int take_units(struct resreq_words *reader, struct affinity_request *request)
{
    struct resreq_place at;
    int code = take_level(reader, &request->unit, &at);
    if (code == 0 && resreq_words_take(reader, LEX_OPEN)) {
        code = take_count(reader, &request->n_units);
        while (code == 0 && resreq_words_take(reader, LEX_COMMA)) {
            code = take_option(reader, request);
        }
        if (code == 0) {
            code = take_sign(reader, LEX_CLOSE, "a parenthesis at the end");
        }
    }
    if (code == 0 && resreq_words_take(reader, LEX_STAR)) {
        code = take_count(reader, &request->count);
    }
    return code != 0 || request->n_units <= AFFINITY_UNITS_MAX / request->count
               ? code
               : RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE,
                                   "a task has at most %d units", AFFINITY_UNITS_MAX);
}

/* ---------------------------------------------------------------- the keys */

static int take_memory(struct resreq_words *reader, struct affinity_request *request)
{
    struct resreq_place at;
    int code = resreq_words_name(reader, &at, "localonly or localprefer");
    for (int i = CPU_MEMORY_LOCALONLY; code == 0 && i <= CPU_MEMORY_LOCALPREFER; i++) {
        if (resreq_words_is(at, cpu_memory_name((enum cpu_memory)i))) {
            request->memory = (enum cpu_memory)i;
            return 0;
        }
    }
    return code != 0 ? code
                     : RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE,
                                         "expected localonly or localprefer");
}

/* "(LEVEL=1)" after pack; nothing is as good. */
static int take_pack(struct resreq_words *reader, struct affinity_request *request)
{
    struct resreq_place at;
    int n_elements = 1;
    request->distribution = AFFINITY_PACK;
    if (!resreq_words_take(reader, LEX_OPEN)) {
        return 0;
    }
    request->distribution = AFFINITY_PACK_ONE;
    int code = take_level(reader, &request->pack, &at);
    if (code == 0 && request->pack > request->unit) {
        return RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE,
                                 "tasks are packed into a level that is not below "
                                 "the unit that is asked for");
    }
    if (code == 0) {
        code = take_sign(reader, LEX_ASSIGN, "pack(LEVEL=1)");
    }
    if (code == 0) {
        at = resreq_lex_peek(&reader->lex).place;
        code = take_count(reader, &n_elements);
    }
    if (code == 0 && n_elements != 1) {
        return RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE,
                                 "expected 1: tasks are packed into one element");
    }
    return code != 0 ? code : take_sign(reader, LEX_CLOSE, "a parenthesis at the end");
}

static int take_distribution(struct resreq_words *reader,
                             struct affinity_request *request)
{
    static const char expected[] = "pack, pack(LEVEL=1), balance or any";
    struct resreq_place at;
    int code = resreq_words_name(reader, &at, expected);
    if (code != 0 || resreq_words_is(at, "any")) {
        return code;
    }
    if (resreq_words_is(at, "pack")) {
        return take_pack(reader, request);
    }
    request->distribution = AFFINITY_BALANCE;
    return resreq_words_is(at, "balance")
               ? 0
               : RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_VALUE, "expected %s",
                                   expected);
}

enum { KEY_CPUBIND, KEY_MEMBIND, KEY_DISTRIBUTE, KEYS };

static int take_key(struct resreq_words *reader, unsigned *seen,
                    struct affinity_request *request)
{
    static const char *const keys[KEYS] = {"cpubind", "membind", "distribute"};
    static const char expected[] = "cpubind= membind= distribute=, each once";
    struct resreq_place at, level;
    int code = resreq_words_name(reader, &at, expected), key = 0;
    while (code == 0 && key < KEYS && !resreq_words_is(at, keys[key])) {
        key++;
    }
    if (code != 0) {
        return code;
    }
    if (key == KEYS || (*seen & 1U << key) != 0) {
        return RESREQ_WORDS_FAIL(reader, at, RESREQ_BAD_NAME, "expected %s", expected);
    }
    *seen |= 1U << key;
    code = take_sign(reader, LEX_ASSIGN, "KEY=VALUE");
    if (code != 0) {
        return code;
    }
    return key == KEY_CPUBIND   ? take_level(reader, &request->bind, &level)
           : key == KEY_MEMBIND ? take_memory(reader, request)
                                : take_distribution(reader, request);
}

int resreq_affinity_parse(const struct resreq_language *language,
                          const struct resreq_part *part,
                          struct affinity_request *request, struct resreq_notes *notes,
                          struct resreq_error *error)
{
    struct resreq_words reader;
    unsigned seen = 0;
    resreq_words_init(&reader, language, part, notes, error);
    *request = (struct affinity_request){.is_given = true, .n_units = 1, .count = 1};
    int code = take_units(&reader, request);
    while (code == 0 && resreq_words_take(&reader, LEX_COLON)) {
        code = take_key(&reader, &seen, request);
    }
    return code != 0 || resreq_words_is_end(&reader)
               ? code
               : resreq_words_fail_next(&reader, "a colon and the next key");
}
