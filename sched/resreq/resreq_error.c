/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_error.c: see resreq_error.h. What a user typed is made printable. */
#include "sched/resreq/resreq_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

enum {
    NEAR_MAX = 60,   /* of a token in a sentence: names are shorter */
    SHOWN_MAX = 100, /* of the string above the pointer: a line of a terminal */
};

const char *resreq_error_section_name(enum resreq_section section)
{
    static const char *const names[RESREQ_SECTIONS] = {
        "select", "order", "rusage", "span", "same", "cu", "affinity",
    };
    return names[section];
}

static char shown(char c)
{
    return c >= ' ' && c < 0x7f ? c : '?';
}

/* Copies at most NEAR_MAX bytes, with ... if there are more. */
static void show_near(struct resreq_place place, char text[NEAR_MAX + 4])
{
    int length = place.length < NEAR_MAX ? place.length : NEAR_MAX;
    for (int i = 0; i < length; i++) {
        text[i] = shown(place.source[place.at + i]);
    }
    snprintf(text + length, 4, "%s", place.length > NEAR_MAX ? "..." : "");
}

int resreq_error_set(struct resreq_error *error, enum resreq_section section,
                     struct resreq_place place, const char *reason, const char *hint,
                     ...)
{
    char near[NEAR_MAX + 4];
    show_near(place, near);
    snprintf(error->text, sizeof(error->text),
             "Error in %s section: Error near \"%s\" : %s.",
             resreq_error_section_name(section), near, reason);
    va_list args;
    va_start(args, hint);
    vsnprintf(error->hint, sizeof(error->hint), hint, args);
    va_end(args);
    error->source = place.source;
    error->at = place.at;
    return ERR_PARSE;
}

int resreq_error_set_repeated(struct resreq_error *error, enum resreq_section section,
                              struct resreq_place place)
{
    snprintf(error->text, sizeof(error->text), "Error near \"%s\": duplicate section.",
             resreq_error_section_name(section));
    snprintf(error->hint, sizeof(error->hint), "%s",
             section == RESREQ_SELECT ? "join the conditions with && in one select"
                                      : "a string has each section once");
    error->source = place.source;
    error->at = place.at;
    return ERR_PARSE;
}

void resreq_error_add_note(struct resreq_notes *notes, struct resreq_place place,
                           const char *format, ...)
{
    if (notes->count == RESREQ_NOTES_MAX) {
        return;
    }
    struct resreq_note *note = arena_alloc(notes->arena, 1, sizeof(*note));
    va_list args;
    va_start(args, format);
    note->text = arena_vprintf(notes->arena, format, args);
    va_end(args);
    note->source = place.source;
    note->at = place.at;
    notes->count++;
    if (notes->last == NULL) {
        notes->first = note;
    } else {
        notes->last->next = note;
    }
    notes->last = note;
}

char *resreq_error_pointer(struct arena *arena, const char *source, int at,
                           const char *hint)
{
    int length = (int)strlen(source);
    int first = at > SHOWN_MAX * 3 / 4 ? at - SHOWN_MAX * 3 / 4 : 0;
    int n_shown = length - first < SHOWN_MAX ? length - first : SHOWN_MAX;
    const char *before = first > 0 ? "..." : "";
    char *line = arena_strn(arena, source + first, (size_t)n_shown);
    for (int i = 0; line[i] != '\0'; i++) {
        line[i] = shown(line[i]);
    }
    return arena_printf(arena, "%s%s%s\n%*s^ %s", before, line,
                        first + n_shown < length ? "..." : "",
                        at - first + (int)strlen(before), "", hint);
}
