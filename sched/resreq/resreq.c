/* SPDX-License-Identifier: Apache-2.0 */
/* resreq.c: see resreq.h. Splits the strings, parses each section, and joins the
 * results. */
#include "sched/resreq/resreq.h"

#include <stdlib.h>
#include <string.h>

#include "sched/resreq/resreq_affinity.h"
#include "sched/resreq/resreq_alternatives.h"
#include "sched/resreq/resreq_section.h"
#include "sched/resreq/resreq_text.h"

/* What the strings of a job, an application or a queue say, apart from select and
 * order. */
struct level {
    struct resreq_rusages rusages;
    struct resreq_span span;
    struct affinity_request affinity;
};

struct compiler {
    struct arena *arena;
    const struct resreq_rules *rules;
    struct resreq_selection selection;
    struct resreq_order order;
    struct level level; /* that is being read */
    unsigned sections;  /* 1 << section, of all strings */
    unsigned seen;      /* likewise, of the level's */
    struct resreq_notes *notes;
    struct resreq_error *error;
};

static bool is_blank_part(const struct resreq_part *part)
{
    return resreq_lex_peek(&part->content).kind == LEX_END;
}

static int read_select(struct compiler *compiler, const struct resreq_part *part)
{
    if (is_blank_part(part) && compiler->rules->language.is_lenient) {
        resreq_error_add_note(compiler->notes, part->keyword,
                              "an empty select is ignored");
        return 0;
    }
    return resreq_select_parse(compiler->arena, &compiler->rules->language,
                               part->content, part->keyword, &compiler->selection,
                               compiler->notes, compiler->error);
}

static int read_other(struct compiler *compiler, const struct resreq_part *part)
{
    if (part->section == RESREQ_AFFINITY) {
        return resreq_affinity_parse(&compiler->rules->language, part,
                                     &compiler->level.affinity, compiler->notes,
                                     compiler->error);
    }
    return resreq_span_parse(compiler->arena, &compiler->rules->language, part,
                             &compiler->level.span, compiler->notes, compiler->error);
}

/* select, order and rusage may be in several strings, other sections in one. */
static bool is_twice(struct compiler *compiler, enum resreq_section section)
{
    unsigned bit = 1U << section;
    bool is_joined = section <= RESREQ_RUSAGE;
    bool was_seen = (compiler->seen & bit) != 0;
    compiler->seen |= bit;
    compiler->sections |= bit;
    return was_seen && !is_joined;
}

static int read_part(struct compiler *compiler, const struct resreq_part *part)
{
    const struct resreq_language *language = &compiler->rules->language;
    if (is_twice(compiler, part->section)) {
        return resreq_error_set_repeated(compiler->error, part->section, part->keyword);
    }
    if (part->section == RESREQ_SELECT) {
        return read_select(compiler, part);
    }
    if (compiler->rules->reading == RESREQ_READ_SELECT) {
        return 0;
    }
    if (part->section == RESREQ_ORDER) {
        return resreq_order_parse(language->resources, language->is_open, part->content,
                                  part->keyword, &compiler->order, compiler->error);
    }
    if (part->section == RESREQ_RUSAGE) {
        return resreq_rusage_parse(compiler->arena, language, part,
                                   &compiler->level.rusages, compiler->notes,
                                   compiler->error);
    }
    return read_other(compiler, part);
}

static int read_string(struct compiler *compiler, const char *source)
{
    struct resreq_parts parts;
    int code = resreq_section_split(source, compiler->rules->language.is_lenient,
                                    &parts, compiler->notes, compiler->error);
    for (int i = 0; code == 0 && i < parts.count; i++) {
        code = read_part(compiler, &parts.parts[i]);
    }
    return code;
}

static int check_lengths(const struct resreq_strings *from, struct resreq_error *error)
{
    size_t total = 0;
    for (int i = 0; i < from->n_strings; i++) {
        total += strnlen(from->strings[i], RES_REQ_MAX + 1);
        if (total > RES_REQS_BYTES_MAX || i >= RES_REQS_MAX) {
            return resreq_error_set(
                error, RESREQ_SELECT, (struct resreq_place){.source = from->strings[i]},
                RESREQ_BAD_SYNTAX, "at most %d strings with %d bytes together",
                RES_REQS_MAX, RES_REQS_BYTES_MAX);
        }
    }
    return 0;
}

static int read_level(struct compiler *compiler, const char *const *strings,
                      int n_strings, struct level *level)
{
    int code = 0;
    compiler->level = (struct level){.rusages = {.n_alternatives = 0}};
    compiler->seen = 0;
    for (int i = 0; code == 0 && i < n_strings; i++) {
        code = read_string(compiler, strings[i]);
    }
    *level = compiler->level;
    return code;
}

/* Merges the levels of application and queue into the job's. */
static int merge_levels(struct compiler *compiler, const struct level *of_queue,
                        const struct level *of_app, const struct resreq_strings *from,
                        struct level *level)
{
    struct resrsv_limits limits = {.n_items = 0};
    if (from->resrsv_limit != NULL &&
        resrsv_limit_parse(compiler->arena, compiler->rules->language.resources,
                           from->resrsv_limit, &limits, compiler->error) != 0) {
        limits.n_items = 0; /* written for another configuration */
        *compiler->error = (struct resreq_error){.text = ""};
    }
    int code = resreq_rusage_merge(compiler->arena, &level->rusages, &of_app->rusages,
                                   NULL, &level->rusages, compiler->error);
    if (code == 0) {
        code = resreq_rusage_merge(compiler->arena, &level->rusages, &of_queue->rusages,
                                   &limits, &level->rusages, compiler->error);
    }
    resreq_span_merge(&level->span, &of_app->span);
    resreq_span_merge(&level->span, &of_queue->span);
    level->affinity = level->affinity.is_given    ? level->affinity
                      : of_app->affinity.is_given ? of_app->affinity
                                                  : of_queue->affinity;
    return code != 0 ? code : resreq_span_check(&level->span, compiler->error);
}

static int read_levels(struct compiler *compiler, const struct resreq_strings *from,
                       struct level *level)
{
    struct level of_queue, of_app;
    int code = read_level(compiler, &from->queue, from->queue != NULL, &of_queue);
    if (from->n_strings > 0 || from->application != NULL) {
        compiler->order.n_keys = 0;
    }
    if (code == 0) {
        code = read_level(compiler, from->strings, from->n_strings, level);
    }
    if (code == 0) {
        code = read_level(compiler, &from->application, from->application != NULL,
                          &of_app);
    }
    return code != 0 ? code : merge_levels(compiler, &of_queue, &of_app, from, level);
}

static int compile_one(struct arena *arena, const struct resreq_rules *rules,
                       const struct resreq_strings *from, struct resreq *resreq,
                       struct resreq_notes *notes, struct resreq_error *error)
{
    struct compiler compiler = {
        .arena = arena, .rules = rules, .notes = notes, .error = error};
    struct level level = {.rusages = {.n_alternatives = 0}};
    int code = read_levels(&compiler, from, &level);
    const struct resreq_selection *selection = &compiler.selection;
    bool is_local = code == 0 && !rules->defaults_any && !selection->names_type &&
                    !selection->names_text_or_boolean;
    if (is_local) {
        resreq_select_default(arena, &compiler.selection);
    }
    *resreq = (struct resreq){.is_local = is_local,
                              .program = compiler.selection.program,
                              .order = compiler.order,
                              .rusages = level.rusages,
                              .span = level.span,
                              .affinity = level.affinity,
                              .sections = compiler.sections};
    return code;
}

/* Errors and notes about a part point to the same place of the whole string. */
static void point_to(const char *whole, const char *part, struct resreq_notes *notes,
                     struct resreq_error *error)
{
    error->source = error->source == part ? whole : error->source;
    for (struct resreq_note *note = notes->first; note != NULL; note = note->next) {
        note->source = note->source == part ? whole : note->source;
    }
}

/* The string that has alternatives, and the strings that each of them counts with. */
struct braced {
    struct resreq_strings from;
    const char **string; /* in `from`, where an alternative takes its place; or NULL */
    const char *only;    /* that of the job */
};

static int check_alternative(const struct resreq *alternative, const char *whole,
                             struct resreq_error *error)
{
    const struct resreq_place place = {.source = whole};
    return !alternative->span.cu.is_exclusive
               ? 0
               : resreq_error_set(error, RESREQ_CU, place, RESREQ_BAD_SYNTAX,
                                  "an alternative has no excl");
}

/* `n_items` are reserved by the parts so far. */
static int check_part(const struct resreq *part, const char *whole, int *n_items,
                      struct resreq_error *error)
{
    const struct resreq_place place = {.source = whole};
    if (part->rusages.n_alternatives > 1) {
        return resreq_error_set(error, RESREQ_RUSAGE, place, RESREQ_BAD_SYNTAX,
                                "a part of a compound requirement has no alternatives "
                                "(||)");
    }
    if (part->span.cu.is_balanced || part->span.cu.is_exclusive) {
        return resreq_error_set(error, RESREQ_CU, place, RESREQ_BAD_SYNTAX,
                                "a part of a compound requirement has neither balance "
                                "nor excl");
    }
    if (part->affinity.is_given) {
        return resreq_error_set(error, RESREQ_AFFINITY, place, RESREQ_BAD_SYNTAX,
                                "a part of a compound requirement has no affinity");
    }
    *n_items +=
        part->rusages.n_alternatives > 0 ? part->rusages.alternatives[0].n_items : 0;
    return *n_items <= RESREQ_RUSAGE_ITEMS_MAX
               ? 0
               : resreq_error_set(error, RESREQ_RUSAGE, place, RESREQ_BAD_VALUE,
                                  "at most %d resources in all parts",
                                  RESREQ_RUSAGE_ITEMS_MAX);
}

static int compile_each(struct arena *arena, const struct resreq_rules *rules,
                        struct braced *braced,
                        const struct resreq_alternatives *alternatives,
                        struct resreq *resreq, struct resreq_notes *notes,
                        struct resreq_error *error)
{
    const char *whole = *braced->string;
    int code = 0, n_rusages = 0, n_items = 0;
    for (int i = 0; i < alternatives->count && code == 0; i++) {
        *braced->string = alternatives->parts[i];
        code = compile_one(arena, rules, &braced->from, resreq, notes, error);
        point_to(whole, alternatives->parts[i], notes, error);
        resreq->delay_ms = alternatives->delays[i] * INT64_C(60000);
        resreq->is_compound = alternatives->is_compound;
        resreq->n_slots = alternatives->slots[i];
        if (code == 0) {
            code = resreq->is_compound ? check_part(resreq, whole, &n_items, error)
                                       : check_alternative(resreq, whole, error);
        }
        n_rusages +=
            resreq->rusages.n_alternatives > 0 ? resreq->rusages.n_alternatives : 1;
        if (code == 0 && n_rusages > RESREQ_RUSAGES_MAX) {
            return resreq_error_set(
                error, RESREQ_RUSAGE, (struct resreq_place){.source = whole},
                RESREQ_BAD_VALUE, "at most %d alternatives, those of rusage counted in",
                RESREQ_RUSAGES_MAX);
        }
        if (i + 1 < alternatives->count) {
            struct resreq *next = arena_alloc(arena, 1, sizeof(*next));
            resreq->next = next;
            resreq = next;
        }
    }
    return code;
}

/* Finds the level whose alternatives count, and leaves out those that do not. */
static int find_braced(const struct resreq_strings *from, struct braced *braced,
                       struct resreq_error *error)
{
    struct resreq_place place;
    bool has_job = from->n_strings > 0;
    bool has_app = from->application != NULL && from->application[0] != '\0';
    *braced = (struct braced){.from = *from};
    for (int i = 0; i < from->n_strings; i++) {
        if (!resreq_alternatives_find(from->strings[i], &place)) {
            continue;
        }
        if (from->n_strings > 1) {
            return resreq_error_set(error, RESREQ_SELECT, place, RESREQ_BAD_SYNTAX,
                                    "alternatives must be in a single -R string");
        }
        braced->only = from->strings[0];
        braced->from.strings = &braced->only;
        braced->string = &braced->only;
    }
    if (has_app && resreq_alternatives_find(from->application, &place)) {
        braced->string = has_job ? braced->string : &braced->from.application;
        braced->from.application = has_job ? NULL : from->application;
    }
    if (from->queue != NULL && resreq_alternatives_find(from->queue, &place)) {
        bool counts = !has_job && !has_app;
        braced->string = counts ? &braced->from.queue : braced->string;
        braced->from.queue = counts ? from->queue : NULL;
    }
    return 0;
}

int resreq_compile(struct arena *arena, const struct resreq_rules *rules,
                   const struct resreq_strings *from, struct resreq *resreq,
                   struct resreq_notes *notes, struct resreq_error *error)
{
    struct resreq_alternatives alternatives = {.count = 0};
    struct braced braced;
    *error = (struct resreq_error){.text = ""};
    *resreq = (struct resreq){.next = NULL};
    int code = check_lengths(from, error);
    if (code == 0) {
        code = find_braced(from, &braced, error);
    }
    if (code == 0 && braced.string != NULL) {
        code = resreq_alternatives_split(arena, *braced.string, &alternatives, error);
    }
    if (code != 0) {
        return code;
    }
    return alternatives.count == 0
               ? compile_one(arena, rules, &braced.from, resreq, notes, error)
               : compile_each(arena, rules, &braced, &alternatives, resreq, notes,
                              error);
}

int resreq_check_slots(const struct resreq *resreq, int min, int max,
                       const char *source, struct resreq_error *error)
{
    const struct resreq_place place = {.source = source};
    int64_t n_slots = 0;
    bool has_rest = false;
    for (const struct resreq *at = resreq; at != NULL && resreq->is_compound;
         at = at->next) {
        n_slots += at->n_slots;
        has_rest = at->n_slots == 0;
    }
    bool is_good =
        !resreq->is_compound ||
        (has_rest ? n_slots < min : n_slots == min && (max == 0 || n_slots == max));
    return is_good ? 0
                   : resreq_error_set(error, RESREQ_SELECT, place, RESREQ_BAD_VALUE,
                                      "the parts have %s%lld slots, the job has %d",
                                      has_rest ? "more than " : "", (long long)n_slots,
                                      min);
}

int resreq_count_slots(struct arena *arena, const char *source)
{
    struct resreq_alternatives parts = {.count = 0};
    struct resreq_error error;
    int64_t n_slots = 0;
    if (resreq_alternatives_split(arena, source, &parts, &error) != 0 ||
        !parts.is_compound || parts.slots[parts.count - 1] == 0) {
        return 0;
    }
    for (int i = 0; i < parts.count; i++) {
        n_slots += parts.slots[i];
    }
    return n_slots <= SLOTS_MAX ? (int)n_slots : 0;
}

int resreq_list_hosts(const struct resreq *resreq, const struct resource_table *table,
                      const struct resreq_local *local, int *rows)
{
    int n_rows = resource_table_rows(table), n_listed = 0;
    uint8_t *matches = mem_alloc((size_t)n_rows + 1, sizeof(*matches));
    uint8_t *is_listed = mem_alloc((size_t)n_rows + 1, sizeof(*is_listed));
    for (; resreq != NULL; resreq = resreq->next) {
        int first = n_listed;
        resreq_program_run(&resreq->program, table, NULL, local, matches);
        for (int row = 0; row < n_rows; row++) {
            if (matches[row] && !is_listed[row]) {
                is_listed[row] = 1;
                rows[n_listed++] = row;
            }
        }
        resreq_order_sort(&resreq->order, table, NULL, rows + first, n_listed - first);
    }
    free(matches);
    free(is_listed);
    return n_listed;
}

/* ---------------------------------------------------------------- as text */

static const char *one_text(struct arena *arena, const struct resreq_rules *rules,
                            const struct resreq_strings *from)
{
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error error;
    struct resreq resreq;
    return compile_one(arena, rules, from, &resreq, &notes, &error) == 0
               ? resreq_text_levels(arena, rules->language.resources, from, &resreq)
               : NULL;
}

const char *resreq_combined(struct arena *arena, const struct resreq_rules *rules,
                            const struct resreq_strings *from)
{
    struct resreq_alternatives alternatives = {.count = 0};
    struct resreq_error error;
    struct braced braced;
    if (find_braced(from, &braced, &error) != 0) {
        return NULL;
    }
    if (braced.string == NULL) {
        return one_text(arena, rules, &braced.from);
    }
    if (resreq_alternatives_split(arena, *braced.string, &alternatives, &error) != 0) {
        return NULL;
    }
    const char *text = "";
    for (int i = 0; i < alternatives.count; i++) {
        *braced.string = alternatives.parts[i];
        const char *one = one_text(arena, rules, &braced.from);
        if (one == NULL) {
            return NULL;
        }
        const char *joint = alternatives.is_compound ? " + " : " || ";
        const char *number = alternatives.slots[i] > 0
                                 ? arena_printf(arena, "%d*", alternatives.slots[i])
                                 : "";
        text = arena_printf(arena, "%s%s%s{%s}", text, i > 0 ? joint : "", number, one);
        if (alternatives.delays[i] > 0) {
            text = arena_printf(arena, "%s@%d", text, (int)alternatives.delays[i]);
        }
    }
    return text;
}
