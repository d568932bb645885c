/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_span.c: see resreq_span.h. Each section has a small parser of words and signs.
 */
#include "sched/resreq/resreq_span.h"

#include "sched/resreq/resreq_words.h"

/* A number of slots or other things, at least 1. */
static int take_number(struct resreq_words *reader, const char *expected, int *number)
{
    struct resreq_place place = resreq_lex_peek(&reader->lex).place;
    char unit;
    int code = resreq_words_count(reader, "", expected, number, &unit);
    return code == 0 && *number == 0
               ? RESREQ_WORDS_FAIL(reader, place, RESREQ_BAD_VALUE, "expected %s",
                                   expected)
               : code;
}

/* ---------------------------------------------------------------- span */

static bool has_ptile(const struct resreq_span *span, struct resreq_place name)
{
    for (int i = 0; i < span->n_ptiles; i++) {
        if (resreq_words_is(name, span->ptiles[i].name)) {
            return true;
        }
    }
    return false;
}

/* HP:8 */
static int take_ptile(struct arena *arena, struct resreq_words *reader,
                      struct resreq_ptile *ptiles, struct resreq_span *span)
{
    struct resreq_place name = resreq_lex_text(&reader->lex).place;
    struct resreq_ptile *ptile = &ptiles[span->n_ptiles];
    if (name.length == 0) {
        return resreq_words_fail_next(reader, "TYPE:N or MODEL:N");
    }
    if (span->n_ptiles == RESREQ_PTILES_MAX || has_ptile(span, name)) {
        return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_VALUE,
                                 "each type or model once, and at most %d of them",
                                 RESREQ_PTILES_MAX);
    }
    if (!resreq_words_take(reader, LEX_COLON)) {
        return resreq_words_fail_next(reader, "TYPE:N or MODEL:N");
    }
    ptile->name = arena_strn(arena, name.source + name.at, (size_t)name.length);
    span->n_ptiles++;
    return take_number(reader, "TYPE:N or MODEL:N", &ptile->n_slots);
}

/* ptile='!',HP:8,LINUX:2 */
static int take_ptiles(struct arena *arena, struct resreq_words *reader,
                       struct resreq_span *span)
{
    struct lex_token token = resreq_lex_peek(&reader->lex);
    if (token.kind != LEX_QUOTED) {
        return take_number(reader, "ptile=N or ptile='!'", &span->n_slots);
    }
    resreq_lex_next(&reader->lex);
    if (!resreq_words_is(token.place, "!")) {
        return RESREQ_WORDS_FAIL(reader, token.place, RESREQ_BAD_VALUE,
                                 "expected ptile='!'");
    }
    struct resreq_ptile *ptiles =
        arena_alloc(arena, RESREQ_PTILES_MAX, sizeof(*ptiles));
    span->kind = RESREQ_SPAN_PTILE_ALL;
    span->ptiles = ptiles;
    while (resreq_words_take(reader, LEX_COMMA)) {
        int code = take_ptile(arena, reader, ptiles, span);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static int take_hosts(struct resreq_words *reader, struct resreq_span *span)
{
    struct resreq_place place = resreq_lex_text(&reader->lex).place;
    bool is_off = resreq_words_is(place, "-1");
    if (!resreq_words_is(place, "1") && !is_off) {
        return RESREQ_WORDS_FAIL(reader, place.length > 0 ? place : reader->keyword,
                                 RESREQ_BAD_VALUE, "expected hosts=1 or hosts=-1");
    }
    span->kind = is_off ? RESREQ_SPAN_ANY : RESREQ_SPAN_HOST;
    return 0;
}

static int read_span(struct arena *arena, struct resreq_words *reader,
                     struct resreq_span *span)
{
    static const char expected[] =
        "hosts=1, hosts=-1, ptile=N, ptile='!', block=N, stripe or stripe=N";
    static const char *const keys[] = {"hosts", "ptile", "block", NULL};
    struct resreq_place name;
    span->place = reader->keyword;
    span->n_ptiles = 0;
    int code = resreq_words_name(reader, &name, expected);
    if (code == 0 && resreq_words_is(name, "stripe")) {
        span->kind = RESREQ_SPAN_STRIPE;
        if (resreq_words_take(reader, LEX_ASSIGN)) {
            code = take_number(reader, expected, &span->n_slots);
        }
    } else if (code == 0) {
        if (!resreq_words_is_one(name, keys)) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_NAME, "expected %s",
                                     expected);
        }
        if (!resreq_words_take(reader, LEX_ASSIGN)) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_NO_VALUE, "expected %s",
                                     expected);
        }
        span->kind =
            resreq_words_is(name, "block") ? RESREQ_SPAN_BLOCK : RESREQ_SPAN_PTILE;
        code = resreq_words_is(name, "hosts") ? take_hosts(reader, span)
               : resreq_words_is(name, "ptile")
                   ? take_ptiles(arena, reader, span)
                   : take_number(reader, expected, &span->n_slots);
    }
    return code == 0 && !resreq_words_is_end(reader)
               ? resreq_words_fail_next(reader, "one span alone")
               : code;
}

/* ---------------------------------------------------------------- same */

static bool add_same(struct resreq_span *span, int id)
{
    for (int i = 0; i < span->n_same; i++) {
        if (span->same[i] == id) {
            return true;
        }
    }
    if (span->n_same == RESREQ_SAME_MAX) {
        return false;
    }
    span->same[span->n_same++] = id;
    return true;
}

static int read_same(struct resreq_words *reader, struct resreq_span *span)
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
        if (id >= 0 && (resources_at(reader->resources, id)->interval_ms > 0 ||
                        id == RESOURCE_STATUS || id == RESOURCE_SLOTS)) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_TYPE,
                                     "hosts can be the same in static resources only");
        }
        if (id >= 0 && !add_same(span, id)) {
            return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_VALUE,
                                     "at most %d resources", RESREQ_SAME_MAX);
        }
    } while (resreq_words_take(reader, LEX_COLON));
    return resreq_words_is_end(reader)
               ? 0
               : resreq_words_fail_next(reader, "RESOURCE[:RESOURCE]...");
}

/* ---------------------------------------------------------------- cu */

static int take_cu_type(struct resreq_words *reader, struct resreq_place name,
                        struct resreq_cu *cu)
{
    const struct resreq_unit_types *types = &reader->unit_types;
    cu->type = -1;
    for (int i = 0; i < types->n_names; i++) {
        cu->type = resreq_words_is(name, types->names[i]) ? i : cu->type;
    }
    return cu->type >= 0 || types->n_names < 0
               ? 0
               : RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_NAME,
                                   "there is no compute unit type of this name");
}

static int take_cu_pref(struct resreq_words *reader, struct resreq_place name,
                        struct resreq_cu *cu)
{
    static const char *const prefs[] = {[RESREQ_CU_CONFIG] = "config",
                                        [RESREQ_CU_MAXAVAIL] = "maxavail",
                                        [RESREQ_CU_MINAVAIL] = "minavail",
                                        [RESREQ_CU_BESTFIT] = "bestfit"};
    for (int i = RESREQ_CU_CONFIG; i <= RESREQ_CU_BESTFIT; i++) {
        if (resreq_words_is(name, prefs[i])) {
            cu->pref = (enum resreq_cu_pref)i;
            return 0;
        }
    }
    return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_VALUE,
                             "expected pref=config, maxavail, minavail or bestfit");
}

enum cu_key { CU_TYPE, CU_PREF, CU_MAXCUS, CU_USABLE, CU_BALANCE, CU_EXCL, CU_KEYS };

static int take_cu_value(struct resreq_words *reader, enum cu_key key,
                         struct resreq_place at, struct resreq_cu *cu)
{
    struct resreq_place value;
    if (!resreq_words_take(reader, LEX_ASSIGN)) {
        return RESREQ_WORDS_FAIL(reader, at, RESREQ_NO_VALUE, "expected KEY=VALUE");
    }
    if (key == CU_MAXCUS || key == CU_USABLE) {
        return take_number(reader, "a number from 1 on",
                           key == CU_MAXCUS ? &cu->max_units : &cu->usable_slots);
    }
    int code = resreq_words_name(reader, &value, "a name");
    return code != 0        ? code
           : key == CU_TYPE ? take_cu_type(reader, value, cu)
                            : take_cu_pref(reader, value, cu);
}

static int read_cu_key(struct resreq_words *reader, unsigned *seen,
                       struct resreq_cu *cu)
{
    static const char expected[] =
        "type= pref= maxcus= usablecuslots= balance excl, separated by colons";
    static const char *const keys[CU_KEYS] = {"type",          "pref",    "maxcus",
                                              "usablecuslots", "balance", "excl"};
    struct resreq_place name;
    int code = resreq_words_name(reader, &name, expected), key = 0;
    while (code == 0 && key < CU_KEYS && !resreq_words_is(name, keys[key])) {
        key++;
    }
    if (code != 0) {
        return code;
    }
    if (key == CU_KEYS || (*seen & 1U << key) != 0) {
        return RESREQ_WORDS_FAIL(reader, name, RESREQ_BAD_NAME, "expected %s%s",
                                 expected, key < CU_KEYS ? ", each once" : "");
    }
    *seen |= 1U << key;
    cu->is_balanced = cu->is_balanced || key == CU_BALANCE;
    cu->is_exclusive = cu->is_exclusive || key == CU_EXCL;
    return key < CU_BALANCE ? take_cu_value(reader, (enum cu_key)key, name, cu) : 0;
}

static int read_cu(struct resreq_words *reader, struct resreq_span *span)
{
    struct resreq_cu cu = {
        .is_given = true, .type = reader->unit_types.first, .place = reader->keyword};
    unsigned seen = 0;
    int code = 0;
    if (reader->unit_types.n_names == 0) {
        return RESREQ_WORDS_FAIL(reader, reader->keyword, RESREQ_BAD_NAME,
                                 "the site has no compute units (COMPUTE_UNIT_TYPES)");
    }
    if (!resreq_words_is_end(reader)) {
        do {
            code = read_cu_key(reader, &seen, &cu);
        } while (code == 0 && resreq_words_take(reader, LEX_COLON));
    }
    if (code == 0 && !resreq_words_is_end(reader)) {
        return resreq_words_fail_next(reader, "a colon and the next key");
    }
    if (code == 0 && cu.is_balanced && cu.usable_slots > 0) {
        return RESREQ_WORDS_FAIL(reader, reader->keyword, RESREQ_BAD_VALUE,
                                 "balance and usablecuslots exclude each other");
    }
    if (code == 0 && cu.is_balanced && cu.pref == RESREQ_CU_BESTFIT) {
        return RESREQ_WORDS_FAIL(reader, reader->keyword, RESREQ_BAD_VALUE,
                                 "balance and pref=bestfit exclude each other");
    }
    span->cu = cu;
    return code;
}

int resreq_span_parse(struct arena *arena, const struct resreq_language *language,
                      const struct resreq_part *part, struct resreq_span *span,
                      struct resreq_notes *notes, struct resreq_error *error)
{
    struct resreq_words reader;
    resreq_words_init(&reader, language, part, notes, error);
    switch (part->section) {
    case RESREQ_SPAN:
        return read_span(arena, &reader, span);
    case RESREQ_SAME:
        return read_same(&reader, span);
    case RESREQ_CU:
        return read_cu(&reader, span);
    case RESREQ_AFFINITY:
    case RESREQ_SELECT:
    case RESREQ_ORDER:
    case RESREQ_RUSAGE:
    case RESREQ_SECTIONS:
        break;
    }
    return 0;
}

/* ---------------------------------------------------------------- levels */

void resreq_span_merge(struct resreq_span *span, const struct resreq_span *lower)
{
    if (span->kind == RESREQ_SPAN_NONE) {
        span->kind = lower->kind;
        span->n_slots = lower->n_slots;
        span->ptiles = lower->ptiles;
        span->n_ptiles = lower->n_ptiles;
        span->place = lower->place;
    }
    if (!span->cu.is_given) {
        span->cu = lower->cu;
    }
    for (int i = 0; i < lower->n_same; i++) {
        /* All that fit: each level was parsed with that bound. */
        if (!add_same(span, lower->same[i])) {
            return;
        }
    }
}

static bool is_same(const struct resreq_span *span, int id)
{
    for (int i = 0; i < span->n_same; i++) {
        if (span->same[i] == id) {
            return true;
        }
    }
    return false;
}

int resreq_span_check(const struct resreq_span *span, struct resreq_error *error)
{
    if (span->cu.is_balanced && span->kind == RESREQ_SPAN_PTILE_ALL) {
        return resreq_error_set(error, RESREQ_CU, span->cu.place, RESREQ_BAD_VALUE,
                                "balance and ptile='!' exclude each other");
    }
    bool is_type = is_same(span, RESOURCE_TYPE),
         is_model = is_same(span, RESOURCE_MODEL);
    if (span->kind != RESREQ_SPAN_PTILE_ALL) {
        return 0;
    }
    if (is_type && is_model) {
        return resreq_error_set(
            error, RESREQ_SPAN, span->place, RESREQ_BAD_VALUE,
            "ptile='!' requires same[type] or same[model], not both");
    }
    return span->n_ptiles == 0 || is_type || is_model
               ? 0
               : resreq_error_set(error, RESREQ_SPAN, span->place, RESREQ_BAD_VALUE,
                                  "slots by type need same[type], slots by model "
                                  "same[model]");
}
