/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_text.c: see resreq_text.h. */
#include "sched/resreq/resreq_text.h"

#include <string.h>

#include "sched/resreq/resreq_section.h"

/* ---------------------------------------------------------------- joined sections */

struct sums {
    const char *texts[RESREQ_SECTIONS]; /* NULL: no string has the section */
};

static const char *add_content(struct arena *arena, const char *sum,
                               const struct resreq_part *part)
{
    struct resreq_lex content = part->content;
    bool is_select = part->section == RESREQ_SELECT;
    /* A ! comes first in the joined order. */
    if (part->section == RESREQ_ORDER && sum != NULL &&
        resreq_lex_peek(&content).kind == LEX_NOT) {
        resreq_lex_next(&content);
    }
    const char *text = content.source + content.at;
    int length = content.end - content.at;
    const char *joint = is_select ? " && " : part->section == RESREQ_ORDER ? ":" : ",";
    return arena_printf(arena, is_select ? "%s%s(%.*s)" : "%s%s%.*s",
                        sum == NULL ? "" : sum, sum == NULL ? "" : joint, length, text);
}

/* Sections of the string; only those of `wanted`, a set of 1 << section. */
static void add_string(struct arena *arena, const char *string, unsigned wanted,
                       struct sums *sums)
{
    struct resreq_parts parts;
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error error;
    if (string == NULL ||
        resreq_section_split(string, true, &parts, &notes, &error) != 0) {
        return;
    }
    for (int i = 0; i < parts.count; i++) {
        enum resreq_section section = parts.parts[i].section;
        bool is_blank = resreq_lex_peek(&parts.parts[i].content).kind == LEX_END;
        if ((wanted >> section & 1) != 0 && !is_blank) {
            sums->texts[section] =
                add_content(arena, sums->texts[section], &parts.parts[i]);
        }
    }
}

static const char *sums_text(struct arena *arena, const struct sums *sums)
{
    const char *text = "";
    for (int section = 0; section < RESREQ_SECTIONS; section++) {
        if (sums->texts[section] != NULL) {
            text = arena_printf(arena, "%s%s%s[%s]", text, text[0] != '\0' ? " " : "",
                                resreq_error_section_name((enum resreq_section)section),
                                sums->texts[section]);
        }
    }
    return text;
}

const char *resreq_text_join(struct arena *arena, const char *const *strings,
                             int n_strings)
{
    struct sums sums = {.texts = {NULL}};
    if (n_strings <= 1) {
        return n_strings == 1 ? strings[0] : "";
    }
    for (int i = 0; i < n_strings; i++) {
        add_string(arena, strings[i], ~0U, &sums);
    }
    return sums_text(arena, &sums);
}

/* ---------------------------------------------------------------- all levels */

static const char *rusages_text(struct arena *arena, const struct resources *resources,
                                const struct resreq_rusages *rusages)
{
    const char *text = NULL;
    for (int i = 0; i < rusages->n_alternatives; i++) {
        const char *one =
            resreq_rusage_text(arena, resources, &rusages->alternatives[i]);
        text = text == NULL ? one : arena_printf(arena, "%s || %s", text, one);
    }
    return text;
}

static const char *same_text(struct arena *arena, const struct resources *resources,
                             const struct resreq_span *span)
{
    const char *text = NULL;
    for (int i = 0; i < span->n_same; i++) {
        const char *name = resources_at(resources, span->same[i])->name;
        text = text == NULL ? name : arena_printf(arena, "%s:%s", text, name);
    }
    return text;
}

/* The sections of the job, else of its application, else of its queue. */
static void add_strongest(struct arena *arena, const struct resreq_strings *from,
                          unsigned wanted, struct sums *sums)
{
    struct sums levels[3] = {{{NULL}}, {{NULL}}, {{NULL}}};
    for (int i = 0; i < from->n_strings; i++) {
        add_string(arena, from->strings[i], wanted, &levels[0]);
    }
    add_string(arena, from->application, wanted, &levels[1]);
    add_string(arena, from->queue, wanted, &levels[2]);
    for (int level = 2; level >= 0; level--) {
        for (int section = 0; section < RESREQ_SECTIONS; section++) {
            const char *text = levels[level].texts[section];
            sums->texts[section] = text != NULL ? text : sums->texts[section];
        }
    }
}

/* The select sections of all levels, each in parentheses if there are several: LSF's
 * old conditions with colons may not be in any. */
static const char *select_text(struct arena *arena, const struct resreq_strings *from,
                               bool is_local)
{
    const unsigned select = 1U << RESREQ_SELECT;
    const char *text = NULL;
    int n = 0;
    for (int i = 0; i < from->n_strings + 2; i++) {
        struct sums sums = {.texts = {NULL}};
        add_string(arena,
                   i < from->n_strings    ? from->strings[i]
                   : i == from->n_strings ? from->application
                                          : from->queue,
                   select, &sums);
        const char *one = sums.texts[RESREQ_SELECT];
        n += one != NULL;
        text = one == NULL    ? text
               : text == NULL ? one
                              : arena_printf(arena, "%s && %s", text, one);
    }
    if (is_local) {
        return n == 0 ? "type == local"
                      : arena_printf(arena, "%s && (type == local)", text);
    }
    return n == 1 ? arena_printf(arena, "%.*s", (int)strlen(text) - 2, text + 1) : text;
}

const char *resreq_text_levels(struct arena *arena, const struct resources *resources,
                               const struct resreq_strings *from,
                               const struct resreq *resreq)
{
    const unsigned whole = 1U << RESREQ_SPAN | 1U << RESREQ_CU | 1U << RESREQ_AFFINITY;
    bool has_own = from->n_strings > 0 || from->application != NULL;
    struct sums sums = {.texts = {NULL}}, orders = {.texts = {NULL}};
    add_strongest(arena, from, whole, &sums);
    sums.texts[RESREQ_SELECT] = select_text(arena, from, resreq->is_local);
    /* The order of a queue counts only if nothing else has a string. */
    for (int i = 0; i < from->n_strings; i++) {
        add_string(arena, from->strings[i], 1U << RESREQ_ORDER, &orders);
    }
    add_string(arena, has_own ? from->application : from->queue, 1U << RESREQ_ORDER,
               &orders);
    sums.texts[RESREQ_ORDER] = orders.texts[RESREQ_ORDER];
    sums.texts[RESREQ_RUSAGE] = rusages_text(arena, resources, &resreq->rusages);
    sums.texts[RESREQ_SAME] = same_text(arena, resources, &resreq->span);
    return sums_text(arena, &sums);
}
