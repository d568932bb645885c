/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_rusage.c: see resreq_rusage.h.
 *
 *     queue   mem=200:duration=20:decay=1     job   mem=100
 *     merged  mem=100:duration=20:decay=1     after 10 of 20 minutes: 50
 *
 * A text is parsed string by string: amounts first, then duration and decay, which give
 * the phases of all amounts of the string. */
#include "sched/resreq/resreq_rusage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/resreq/resreq_words.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60000, HOUR_MS = 3600000 };

/* One value, or several in parentheses. */
struct values {
    int64_t items[RESREQ_RUSAGE_PHASES_MAX];
    int count;
};

/* An amount whose phases are not known yet. */
struct draft {
    struct resreq_rusage_item item;
    struct values amounts;
};

struct rusage_reader {
    struct resreq_words words;
    struct arena *arena;
    bool is_record; /* a stored text: unknown resources are skipped */
    struct draft drafts[RESREQ_RUSAGE_ITEMS_MAX];
    int n_drafts; /* of the string that is being read */
    struct values durations, decays;
    struct resreq_rusage_item
        items[RESREQ_RUSAGE_ITEMS_MAX]; /* of the alternative that is being read */
    int n_items;
    struct resreq_rusage alternatives[RESREQ_RUSAGES_MAX];
    int n_alternatives;
};

/* ---------------------------------------------------------------- values */

bool resreq_rusage_read_amount(const struct lex_token *token, int64_t *milli)
{
    bool is_amount = token->kind == LEX_NUMBER &&
                     token->number <= (double)RESREQ_RUSAGE_MILLI_MAX / 1000;
    *milli = is_amount ? (int64_t)(token->number * 1000 + 0.5) : 0;
    return is_amount;
}

static int take_amount(struct rusage_reader *reader, int64_t *milli)
{
    struct lex_token token = resreq_lex_peek(&reader->words.lex);
    if (!resreq_rusage_read_amount(&token, milli)) {
        return resreq_words_fail_next(
            &reader->words,
            "an amount: a number up to 10^12, with a unit K M G T P E Z or none");
    }
    resreq_lex_next(&reader->words.lex);
    return 0;
}

static int take_duration(struct rusage_reader *reader, int64_t *ms)
{
    static const char expected[] =
        "a duration of at most 30 years: minutes, or with s, m, h";
    const int64_t most_ms = INT64_C(30) * 365 * 24 * HOUR_MS;
    struct resreq_words *words = &reader->words;
    int count;
    char unit;
    int code = resreq_words_count(words, "smh", expected, &count, &unit);
    *ms = (int64_t)count * (unit == 's'   ? SECOND_MS
                            : unit == 'h' ? HOUR_MS
                                          : MINUTE_MS);
    if (code == 0 && (*ms == 0 || *ms > most_ms)) {
        return RESREQ_WORDS_FAIL(words, words->keyword, RESREQ_BAD_VALUE, "expected %s",
                                 expected);
    }
    return code;
}

static int take_decay(struct rusage_reader *reader, int64_t *decay)
{
    struct lex_token token = resreq_lex_peek(&reader->words.lex);
    *decay = resreq_words_is(token.place, "1");
    if (*decay == 0 && !resreq_words_is(token.place, "0")) {
        return resreq_words_fail_next(&reader->words, "decay=0 or decay=1");
    }
    resreq_lex_next(&reader->words.lex);
    return 0;
}

/* One value, or several in parentheses. */
static int take_values(struct rusage_reader *reader,
                       int (*take_one)(struct rusage_reader *, int64_t *),
                       struct values *values)
{
    struct resreq_words *words = &reader->words;
    bool has_many = resreq_words_take(words, LEX_OPEN);
    values->count = 0;
    do {
        if (values->count == RESREQ_RUSAGE_PHASES_MAX) {
            return RESREQ_WORDS_FAIL(words, words->keyword, RESREQ_BAD_VALUE,
                                     "at most %d phases", RESREQ_RUSAGE_PHASES_MAX);
        }
        int code = take_one(reader, &values->items[values->count]);
        if (code != 0) {
            return code;
        }
        values->count++;
    } while (has_many && !resreq_words_take(words, LEX_CLOSE));
    return 0;
}

/* ---------------------------------------------------------------- names */

static bool is_same_name(const struct resreq_rusage_item *a,
                         const struct resreq_rusage_item *b)
{
    if (a->id >= 0 || b->id >= 0) {
        return a->id == b->id;
    }
    return a->place.length == b->place.length &&
           memcmp(a->place.source + a->place.at, b->place.source + b->place.at,
                  (size_t)a->place.length) == 0;
}

static int find_resource(struct rusage_reader *reader, struct resreq_place name,
                         int *id)
{
    struct resreq_words *words = &reader->words;
    *id = resources_find(words->resources, name.source + name.at, (size_t)name.length);
    if (*id < 0) {
        return words->is_open ? 0
                              : RESREQ_WORDS_FAIL(words, name, RESREQ_BAD_NAME,
                                                  "there is no resource of this name");
    }
    bool is_bad = !resources_at(words->resources, *id)->is_consumable;
    if (is_bad && !words->is_lenient) {
        return RESREQ_WORDS_FAIL(words, name, RESREQ_BAD_TYPE,
                                 "this resource is not consumable");
    }
    if (is_bad) {
        resreq_error_add_note(words->notes, name, "this resource is not consumable");
    }
    return 0;
}

static int check_once(struct rusage_reader *reader,
                      const struct resreq_rusage_item *item)
{
    bool is_twice = false;
    for (int i = 0; i < reader->n_items; i++) {
        is_twice = is_twice || is_same_name(&reader->items[i], item);
    }
    for (int i = 0; i < reader->n_drafts; i++) {
        is_twice = is_twice || is_same_name(&reader->drafts[i].item, item);
    }
    if (is_twice && !reader->is_record) { /* parts of a compound requirement */
        return RESREQ_WORDS_FAIL(&reader->words, item->place, RESREQ_BAD_VALUE,
                                 "a resource is reserved once in a usage");
    }
    if (reader->n_items + reader->n_drafts == RESREQ_RUSAGE_ITEMS_MAX) {
        return RESREQ_WORDS_FAIL(&reader->words, item->place, RESREQ_BAD_VALUE,
                                 "at most %d resources in a usage",
                                 RESREQ_RUSAGE_ITEMS_MAX);
    }
    return 0;
}

static int take_scope(struct rusage_reader *reader, enum resreq_scope *scope)
{
    static const struct {
        const char *word;
        enum resreq_scope scope;
    } scopes[] = {{"job", RESREQ_SCOPE_JOB},
                  {"host", RESREQ_SCOPE_HOST},
                  {"task", RESREQ_SCOPE_SLOT},
                  {"slot", RESREQ_SCOPE_SLOT}};
    static const char expected[] = "/job, /host, /task or /slot";
    struct resreq_place word;
    int code = resreq_words_name(&reader->words, &word, expected);
    for (size_t i = 0; code == 0 && i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        if (resreq_words_is(word, scopes[i].word)) {
            *scope = scopes[i].scope;
            return 0;
        }
    }
    return code != 0 ? code
                     : RESREQ_WORDS_FAIL(&reader->words, word, RESREQ_BAD_VALUE,
                                         "expected %s", expected);
}

/* '0*1 2*3', of a stored text, which is well-formed. */
static void take_pieces(struct rusage_reader *reader, struct resreq_rusage_item *item)
{
    struct lex_token token = resreq_lex_next(&reader->words.lex);
    const char *text = arena_strn(reader->arena, token.place.source + token.place.at,
                                  (size_t)token.place.length);
    size_t n_most = (size_t)token.place.length / 3 + 1;
    struct resreq_rusage_piece *pieces =
        arena_alloc(reader->arena, n_most, sizeof(*pieces));
    int host, n_slots, n_read;
    while (token.kind == LEX_QUOTED && (size_t)item->n_pieces < n_most &&
           sscanf(text, " %9d*%9d%n", &host, &n_slots, &n_read) == 2) {
        pieces[item->n_pieces++] = (struct resreq_rusage_piece){host, n_slots};
        text += n_read;
    }
    item->pieces = pieces;
}

/* ---------------------------------------------------------------- strings */

static int take_resource(struct rusage_reader *reader, struct resreq_place name)
{
    struct draft draft = {.item = {.place = name}};
    int code = find_resource(reader, name, &draft.item.id);
    code = code != 0 ? code : check_once(reader, &draft.item);
    code = code != 0 ? code : take_values(reader, take_amount, &draft.amounts);
    if (code == 0 && resreq_words_take(&reader->words, LEX_SLASH)) {
        code = take_scope(reader, &draft.item.scope);
    }
    if (code == 0 && reader->is_record &&
        resreq_words_take(&reader->words, LEX_SLASH)) {
        take_pieces(reader, &draft.item);
    }
    if (code == 0 && (draft.item.id >= 0 || !reader->is_record)) {
        reader->drafts[reader->n_drafts++] = draft;
    }
    return code;
}

/* Of the resource before it. */
static int take_threshold(struct rusage_reader *reader, struct resreq_place name)
{
    struct resreq_words *words = &reader->words;
    int64_t unused;
    if (reader->is_record) { /* the job has begun */
        return take_amount(reader, &unused);
    }
    struct draft *draft = &reader->drafts[reader->n_drafts - 1];
    const struct resource *resource =
        draft->item.id >= 0 ? resources_at(words->resources, draft->item.id) : NULL;
    if (draft->item.threshold_milli != 0) {
        return RESREQ_WORDS_FAIL(words, name, RESREQ_BAD_SYNTAX,
                                 "a resource has one threshold");
    }
    if (resource != NULL && resource->is_increasing) {
        return RESREQ_WORDS_FAIL(words, name, RESREQ_BAD_TYPE,
                                 "a threshold is for resources that jobs use up; name "
                                 "a load index in select");
    }
    return take_amount(reader, &draft->item.threshold_milli);
}

/* NAME=VALUE; NAME may be duration, decay or threshold after the first resource. */
static int take_term(struct rusage_reader *reader, bool is_first)
{
    struct resreq_words *words = &reader->words;
    struct resreq_place name;
    int code = resreq_words_name(words, &name, "RESOURCE=AMOUNT");
    bool is_duration = code == 0 && resreq_words_is(name, "duration");
    bool is_decay = code == 0 && resreq_words_is(name, "decay");
    bool is_threshold = code == 0 && resreq_words_is(name, "threshold");
    if (code != 0) {
        return code;
    }
    if (is_first && (is_duration || is_decay || is_threshold)) {
        return RESREQ_WORDS_FAIL(words, name, RESREQ_BAD_SYNTAX,
                                 "expected RESOURCE=AMOUNT first");
    }
    if (!resreq_words_take(words, LEX_ASSIGN)) {
        return RESREQ_WORDS_FAIL(words, name, RESREQ_NO_VALUE,
                                 "expected RESOURCE=AMOUNT");
    }
    return is_duration    ? take_values(reader, take_duration, &reader->durations)
           : is_decay     ? take_values(reader, take_decay, &reader->decays)
           : is_threshold ? take_threshold(reader, name)
                          : take_resource(reader, name);
}

/* Checks that all phases but the last have a duration, and that amounts do not
 * increase. */
static int check_phases(struct rusage_reader *reader, const struct draft *draft)
{
    const struct values *amounts = &draft->amounts;
    int n_durations = reader->durations.count;
    bool has_one_each =
        n_durations == amounts->count || n_durations == amounts->count - 1;
    bool has_decays = reader->decays.count <= 1 || reader->decays.count == n_durations;
    if (!has_one_each || !has_decays) {
        return RESREQ_WORDS_FAIL(&reader->words, draft->item.place, RESREQ_BAD_VALUE,
                                 "expected as many durations as amounts, or one less, "
                                 "and a decay for each or for all");
    }
    for (int i = 1; i < amounts->count; i++) {
        if (amounts->items[i] > amounts->items[i - 1]) {
            return RESREQ_WORDS_FAIL(&reader->words, draft->item.place,
                                     RESREQ_BAD_VALUE,
                                     "a later phase may not reserve more");
        }
    }
    return 0;
}

static int end_draft(struct rusage_reader *reader, const struct draft *draft)
{
    int code = check_phases(reader, draft);
    struct resreq_rusage_item item = draft->item;
    struct resreq_rusage_phase *phases =
        arena_alloc(reader->arena, (size_t)draft->amounts.count, sizeof(*phases));
    for (int i = 0; code == 0 && i < draft->amounts.count; i++) {
        bool has_duration = i < reader->durations.count;
        int decay = reader->decays.count == 1 ? 0 : i;
        phases[i] = (struct resreq_rusage_phase){
            .milli = draft->amounts.items[i],
            .duration_ms = has_duration ? reader->durations.items[i] : 0,
            .decays = has_duration && decay < reader->decays.count &&
                      reader->decays.items[decay] != 0,
        };
    }
    item.phases = phases;
    item.n_phases = draft->amounts.count;
    if (code == 0) {
        reader->items[reader->n_items++] = item;
    }
    return code;
}

/* Up to a comma, || or the end. */
static int take_string(struct rusage_reader *reader)
{
    bool is_first = true;
    int code;
    reader->n_drafts = reader->durations.count = reader->decays.count = 0;
    do {
        code = take_term(reader, is_first);
        is_first = false;
    } while (code == 0 && resreq_words_take(&reader->words, LEX_COLON));
    for (int i = 0; code == 0 && i < reader->n_drafts; i++) {
        code = end_draft(reader, &reader->drafts[i]);
    }
    return code;
}

static int take_alternative(struct rusage_reader *reader)
{
    int code;
    reader->n_items = 0;
    do {
        code = take_string(reader);
    } while (code == 0 && resreq_words_take(&reader->words, LEX_COMMA));
    if (code == 0 && reader->n_alternatives == RESREQ_RUSAGES_MAX) {
        return RESREQ_WORDS_FAIL(&reader->words, reader->words.keyword,
                                 RESREQ_BAD_VALUE, "at most %d alternatives",
                                 RESREQ_RUSAGES_MAX);
    }
    if (code == 0) {
        reader->alternatives[reader->n_alternatives++] = (struct resreq_rusage){
            .items = arena_copy(reader->arena, reader->items,
                                (size_t)reader->n_items * sizeof(reader->items[0])),
            .n_items = reader->n_items,
        };
    }
    return code;
}

static int take_all(struct rusage_reader *reader)
{
    int code;
    do {
        code = take_alternative(reader);
    } while (code == 0 && resreq_words_take(&reader->words, LEX_OR));
    return code == 0 && !resreq_words_is_end(&reader->words)
               ? resreq_words_fail_next(&reader->words, ": , || or the bracket")
               : code;
}

/* ---------------------------------------------------------------- levels */

static const struct resreq_rusage_item *find_item(const struct resreq_rusage *rusage,
                                                  const struct resreq_rusage_item *like)
{
    for (int i = 0; i < rusage->n_items; i++) {
        if (is_same_name(&rusage->items[i], like)) {
            return &rusage->items[i];
        }
    }
    return NULL;
}

const struct resrsv_limit *resreq_rusage_find_limit(const struct resrsv_limits *limits,
                                                    int id)
{
    for (int i = 0; i < limits->n_items; i++) {
        if (limits->items[i].id == id) {
            return &limits->items[i];
        }
    }
    return NULL;
}

/* A job may not exceed what its queue reserves of a built-in resource, nor any
 * duration. */
static int check_cap(const struct resreq_rusage_item *strong,
                     const struct resreq_rusage_item *weak, struct resreq_error *error)
{
    int64_t duration_ms = strong->phases[0].duration_ms;
    int64_t most_ms = weak->phases[0].duration_ms;
    bool is_builtin = strong->id >= 0 && strong->id < RESOURCE_BUILTINS;
    bool is_more = is_builtin && strong->phases[0].milli > weak->phases[0].milli;
    bool is_longer = most_ms > 0 && duration_ms > most_ms;
    if (!is_more && !is_longer) {
        return 0;
    }
    return resreq_error_set(error, RESREQ_RUSAGE, strong->place,
                            "cannot exceed queue's resource reservation",
                            "the queue reserves %s",
                            is_more ? "less" : "it for less time");
}

static struct resreq_rusage_item join_items(struct arena *arena,
                                            const struct resreq_rusage_item *strong,
                                            const struct resreq_rusage_item *weak)
{
    struct resreq_rusage_item item = *strong;
    const struct resreq_rusage_phase *from = &weak->phases[0];
    if (item.scope == RESREQ_SCOPE_DEFAULT) {
        item.scope = weak->scope;
    }
    if (item.threshold_milli == 0) {
        item.threshold_milli = weak->threshold_milli;
    }
    if (strong->n_phases == 1 && weak->n_phases == 1 &&
        strong->phases[0].duration_ms == 0 && from->duration_ms > 0) {
        struct resreq_rusage_phase phase = *from;
        phase.milli = strong->phases[0].milli;
        item.phases = arena_copy(arena, &phase, sizeof(phase));
    }
    return item;
}

static int join(struct arena *arena, const struct resreq_rusage *strong,
                const struct resreq_rusage *weak, const struct resrsv_limits *limits,
                struct resreq_rusage *joined, struct resreq_error *error)
{
    size_t n_most = (size_t)strong->n_items + (size_t)weak->n_items;
    struct resreq_rusage_item *items = arena_alloc(arena, n_most, sizeof(*items));
    int n_items = 0;
    for (int i = 0; i < strong->n_items; i++) {
        const struct resreq_rusage_item *own = &strong->items[i];
        const struct resreq_rusage_item *other = find_item(weak, own);
        bool is_capped = other != NULL && limits != NULL &&
                         resreq_rusage_find_limit(limits, own->id) == NULL;
        int code = is_capped ? check_cap(own, other, error) : 0;
        if (code != 0) {
            return code;
        }
        items[n_items++] = other != NULL ? join_items(arena, own, other) : *own;
    }
    for (int i = 0; i < weak->n_items; i++) {
        if (find_item(strong, &weak->items[i]) == NULL) {
            items[n_items++] = weak->items[i];
        }
    }
    *joined = (struct resreq_rusage){.items = items, .n_items = n_items};
    return 0;
}

static struct resreq_place place_of(const struct resreq_rusages *rusages)
{
    return rusages->alternatives[0].n_items > 0
               ? rusages->alternatives[0].items[0].place
               : (struct resreq_place){.source = ""};
}

int resreq_rusage_merge(struct arena *arena, const struct resreq_rusages *strong,
                        const struct resreq_rusages *weak,
                        const struct resrsv_limits *limits,
                        struct resreq_rusages *merged, struct resreq_error *error)
{
    if (strong->n_alternatives == 0 || weak->n_alternatives == 0) {
        *merged = strong->n_alternatives == 0 ? *weak : *strong;
        return 0;
    }
    int n_all = strong->n_alternatives * weak->n_alternatives, n_joined = 0;
    if (n_all > RESREQ_RUSAGES_MAX) {
        return resreq_error_set(
            error, RESREQ_RUSAGE, place_of(strong), RESREQ_BAD_VALUE,
            "at most %d alternatives, together with those of queue and application",
            RESREQ_RUSAGES_MAX);
    }
    struct resreq_rusage *all = arena_alloc(arena, (size_t)n_all, sizeof(*all));
    for (int i = 0; i < strong->n_alternatives; i++) {
        for (int k = 0; k < weak->n_alternatives; k++) {
            int code = join(arena, &strong->alternatives[i], &weak->alternatives[k],
                            limits, &all[n_joined++], error);
            if (code != 0) {
                return code;
            }
        }
    }
    *merged = (struct resreq_rusages){.alternatives = all, .n_alternatives = n_joined};
    return 0;
}

/* Checks that two strings of a level do not reserve the same resource. */
static int check_apart(struct rusage_reader *reader,
                       const struct resreq_rusages *before)
{
    for (int i = 0; i < before->n_alternatives; i++) {
        const struct resreq_rusage *old = &before->alternatives[i];
        for (int k = 0; k < reader->n_alternatives; k++) {
            const struct resreq_rusage *new = &reader->alternatives[k];
            for (int m = 0; m < new->n_items; m++) {
                if (find_item(old, &new->items[m]) != NULL) {
                    return RESREQ_WORDS_FAIL(&reader->words, new->items[m].place,
                                             RESREQ_BAD_VALUE,
                                             "another -R string reserves it as well");
                }
            }
        }
    }
    return 0;
}

int resreq_rusage_parse(struct arena *arena, const struct resreq_language *language,
                        const struct resreq_part *part, struct resreq_rusages *rusages,
                        struct resreq_notes *notes, struct resreq_error *error)
{
    struct rusage_reader *reader = mem_alloc(1, sizeof(*reader));
    reader->arena = arena;
    resreq_words_init(&reader->words, language, part, notes, error);
    int code = take_all(reader);
    code = code != 0 ? code : check_apart(reader, rusages);
    if (code == 0) {
        struct resreq_rusages read = {
            .alternatives = arena_copy(arena, reader->alternatives,
                                       (size_t)reader->n_alternatives *
                                           sizeof(reader->alternatives[0])),
            .n_alternatives = reader->n_alternatives,
        };
        code = resreq_rusage_merge(arena, rusages, &read, NULL, rusages, error);
    }
    free(reader);
    return code;
}

/* ---------------------------------------------------------------- time */

static int64_t phase_milli(const struct resreq_rusage_item *item, int index,
                           int64_t elapsed_ms)
{
    const struct resreq_rusage_phase *phase = &item->phases[index];
    if (!phase->decays) {
        return phase->milli;
    }
    int64_t end = index + 1 < item->n_phases ? item->phases[index + 1].milli : 0;
    double part = (double)elapsed_ms / (double)phase->duration_ms;
    return phase->milli - (int64_t)((double)(phase->milli - end) * part);
}

int64_t resreq_rusage_milli(const struct resreq_rusage_item *item, int64_t elapsed_ms)
{
    int64_t left_ms = elapsed_ms > 0 ? elapsed_ms : 0;
    for (int i = 0; i < item->n_phases; i++) {
        const struct resreq_rusage_phase *phase = &item->phases[i];
        if (phase->duration_ms == 0 || left_ms < phase->duration_ms) {
            return phase_milli(item, i, left_ms);
        }
        left_ms -= phase->duration_ms;
    }
    return 0;
}

int64_t resreq_rusage_next_ms(const struct resreq_rusage_item *item, int64_t elapsed_ms,
                              int64_t step_ms)
{
    int64_t end_ms = 0;
    for (int i = 0; i < item->n_phases; i++) {
        const struct resreq_rusage_phase *phase = &item->phases[i];
        if (phase->duration_ms == 0) {
            return INT64_MAX;
        }
        end_ms += phase->duration_ms;
        if (elapsed_ms < end_ms) {
            bool is_step = phase->decays && elapsed_ms + step_ms < end_ms;
            return is_step ? elapsed_ms + step_ms : end_ms;
        }
    }
    return INT64_MAX;
}

/* ---------------------------------------------------------------- as a text */

const char *resreq_rusage_amount_text(struct arena *arena, int64_t milli)
{
    int64_t whole = milli / 1000;
    int part = (int)(milli % 1000), n_digits = 3;
    if (part == 0) {
        return arena_printf(arena, "%lld", (long long)whole);
    }
    while (part % 10 == 0) {
        part /= 10;
        n_digits--;
    }
    return arena_printf(arena, "%lld.%0*d", (long long)whole, n_digits, part);
}

static const char *
phases_text(struct arena *arena, const struct resreq_rusage_item *item,
            const char *(*value)(struct arena *, const struct resreq_rusage_phase *),
            int n_values)
{
    const char *text = n_values > 1 ? "(" : "";
    for (int i = 0; i < n_values; i++) {
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " " : "",
                            value(arena, &item->phases[i]));
    }
    return n_values > 1 ? arena_printf(arena, "%s)", text) : text;
}

static const char *amount_text(struct arena *arena,
                               const struct resreq_rusage_phase *phase)
{
    return resreq_rusage_amount_text(arena, phase->milli);
}

static const char *duration_text(struct arena *arena,
                                 const struct resreq_rusage_phase *phase)
{
    return arena_printf(arena, "%llds", (long long)(phase->duration_ms / SECOND_MS));
}

static const char *decay_text(struct arena *arena,
                              const struct resreq_rusage_phase *phase)
{
    return arena_str(arena, phase->decays ? "1" : "0");
}

static const char *item_text(struct arena *arena, const struct resources *resources,
                             const struct resreq_rusage_item *item)
{
    static const char *const scopes[] = {"", "/job", "/host", "/slot"};
    int n_durations = 0;
    bool decays = false;
    for (int i = 0; i < item->n_phases; i++) {
        n_durations += item->phases[i].duration_ms > 0;
        decays = decays || item->phases[i].decays;
    }
    const char *text = arena_printf(
        arena, "%s=%s%s", resources_at(resources, item->id)->name,
        phases_text(arena, item, amount_text, item->n_phases), scopes[item->scope]);
    for (int i = 0; i < item->n_pieces; i++) {
        text = arena_printf(arena, "%s%s%d*%d%s", text, i == 0 ? "/'" : " ",
                            item->pieces[i].host, item->pieces[i].n_slots,
                            i + 1 == item->n_pieces ? "'" : "");
    }
    if (item->threshold_milli > 0) {
        text = arena_printf(arena, "%s:threshold=%s", text,
                            resreq_rusage_amount_text(arena, item->threshold_milli));
    }
    if (n_durations > 0) {
        text = arena_printf(arena, "%s:duration=%s", text,
                            phases_text(arena, item, duration_text, n_durations));
    }
    return decays ? arena_printf(arena, "%s:decay=%s", text,
                                 phases_text(arena, item, decay_text, n_durations))
                  : text;
}

const char *resreq_rusage_text(struct arena *arena, const struct resources *resources,
                               const struct resreq_rusage *rusage)
{
    const char *text = "";
    for (int i = 0; i < rusage->n_items; i++) {
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? "," : "",
                            item_text(arena, resources, &rusage->items[i]));
    }
    return text;
}

void resreq_rusage_read(struct arena *arena, const struct resources *resources,
                        const char *text, struct resreq_rusage *rusage)
{
    const struct resreq_language language = {
        .resources = resources, .is_lenient = true, .is_open = true};
    const char *copy = arena_str(arena, text);
    const struct resreq_part part = {
        .section = RESREQ_RUSAGE,
        .keyword = {.source = copy},
        .content = {.source = copy, .end = (int)strlen(copy)},
    };
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error error;
    struct rusage_reader *reader = mem_alloc(1, sizeof(*reader));
    reader->arena = arena;
    reader->is_record = true;
    resreq_words_init(&reader->words, &language, &part, &notes, &error);
    *rusage = (struct resreq_rusage){.items = NULL};
    if (copy[0] != '\0' && take_all(reader) == 0) {
        *rusage = reader->alternatives[0];
    }
    free(reader);
}
