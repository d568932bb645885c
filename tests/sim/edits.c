/* SPDX-License-Identifier: Apache-2.0 */
/* edits.c: see edits.h. */
#include "tests/sim/edits.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void edits_split(const char *body, struct edits_lines *lines)
{
    lines->count = 0;
    while (*body && lines->count < EDITS_LINES_MAX) {
        const char *newline = strchr(body, '\n');
        size_t length = newline ? (size_t)(newline - body) + 1 : strlen(body);
        lines->at[lines->count] = body;
        lines->length[lines->count++] = (int)length;
        body += length;
    }
}

bool edits_begins_with(const char *line, const char *word)
{
    size_t length = strlen(word);

    return !strncmp(line, word, length) && !isalnum((unsigned char)line[length]);
}

/* The body without lines `first` to `last`. */
void edits_drop(struct texts *texts, const char *name, const struct edits_lines *lines,
                int first, int last)
{
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);

    for (int i = 0; out && i < lines->count; i++) {
        if (i < first || i > last) {
            fwrite(lines->at[i], 1, (size_t)lines->length[i], out);
        }
    }
    if (!out || fclose(out)) {
        abort();
    }
    texts_set(texts, name, body, size);
    free(body);
}

/* The number after "at" or "until"; -1: none, or in another unit. */
static long seconds_of(const char *line)
{
    const char *at = line + strcspn(line, " \n");
    char *end;
    long seconds = strtol(at, &end, 10);

    return end == at || isalpha((unsigned char)*end) || *end == '.' ? -1 : seconds;
}

void edits_end_at(struct texts *texts, long at_s)
{
    struct edits_lines lines;
    char until[32];

    edits_split(texts_find(texts, TEXTS_SCENARIO), &lines);
    for (int i = lines.count - 1; i >= 0; i--) {
        const char *line = lines.at[i];
        bool is_late = seconds_of(line) > at_s;
        if (is_late && edits_begins_with(line, "until")) {
            snprintf(until, sizeof until, "until %ld\n", at_s);
            edits_replace(texts, TEXTS_SCENARIO, (size_t)(line - lines.at[0]),
                          (size_t)lines.length[i], until);
        } else if (is_late && edits_begins_with(line, "at")) {
            edits_drop(texts, TEXTS_SCENARIO, &lines, i, i);
        }
        edits_split(texts_find(texts, TEXTS_SCENARIO), &lines);
    }
}

/* The rest of the line after the word, with its newline; NULL if the line does not
 * have that word. */
static const char *after(const struct edits_lines *lines, int line, const char *word)
{
    const char *found =
        memmem(lines->at[line], (size_t)lines->length[line], word, strlen(word));

    return found ? found + strlen(word) : NULL;
}

static bool is_undone(const struct edits_lines *lines, int line, const char *what,
                      const char *undo)
{
    size_t length = strcspn(what, "\n");

    for (int i = line + 1; i < lines->count; i++) {
        const char *rest = after(lines, i, undo);

        if (rest && strcspn(rest, "\n") == length && !memcmp(rest, what, length)) {
            return true;
        }
    }
    return false;
}

/* True if "reload s1 s1-1.conf" is undone by "reload s1 s1.conf". */
static bool is_reloaded(const struct edits_lines *lines, int line, const char *what)
{
    char first[64];
    size_t length = strcspn(what, "\n");
    const char *other = memmem(what, length, "-1.conf", 7);

    if (!other || length >= sizeof first) {
        return true;
    }
    snprintf(first, sizeof first, "%.*s.conf\n", (int)(other - what), what);
    return is_undone(lines, line, first, " reload ");
}

bool edits_is_restored(const struct texts *texts)
{
    struct edits_lines lines;

    edits_split(texts_find(texts, TEXTS_SCENARIO), &lines);
    for (int i = 0; i < lines.count; i++) {
        const char *drained = after(&lines, i, " drain ");
        const char *closed = after(&lines, i, " close ");
        const char *reloaded = after(&lines, i, " reload ");

        if ((drained && !is_undone(&lines, i, drained, " undrain ")) ||
            (closed && !is_undone(&lines, i, closed, " open ")) ||
            (reloaded && !is_reloaded(&lines, i, reloaded))) {
            return false;
        }
    }
    return true;
}

void edits_drop_faults(struct texts *texts)
{
    static const char *const faults[] = {
        " loss ",  " repeat ",    " reorder ", " delay ",      " crashes ",
        " crash ", " partition ", " backup ",  " restore ",    " slots ",
        " fail ",  " failures ",  " slow ",    " split-brain "};
    struct edits_lines lines;

    edits_split(texts_find(texts, TEXTS_SCENARIO), &lines);
    for (int i = lines.count - 1; i >= 0; i--) {
        for (size_t j = 0; j < sizeof faults / sizeof faults[0]; j++) {
            if (memmem(lines.at[i], (size_t)lines.length[i], faults[j],
                       strlen(faults[j]))) {
                edits_drop(texts, TEXTS_SCENARIO, &lines, i, i);
                edits_split(texts_find(texts, TEXTS_SCENARIO), &lines);
                break;
            }
        }
    }
}

static bool names_site(const char *line, int length, const char *site)
{
    size_t size = strlen(site);

    for (const char *at = line; at + size <= line + length; at++) {
        if (!strncmp(at, site, size) &&
            (at == line || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[size])) {
            return true;
        }
    }
    return false;
}

/* "([s1, 2] [s3, 1])" without s3's share. */
static void drop_share(char *line, int *length, const char *site)
{
    char *open = line;

    while ((open = memchr(open, '[', (size_t)(*length - (open - line))))) {
        char *close = memchr(open, ']', (size_t)(*length - (open - line)));
        if (!close) {
            return;
        }
        if (names_site(open, (int)(close - open), site)) {
            memmove(open, close + 1, (size_t)(line + *length - close - 1));
            *length -= (int)(close + 1 - open);
        } else {
            open = close;
        }
    }
}

/* Removes the lines that name the site. Of a section that exports to it, only its share
 * is removed. */
static void forget_site(struct texts *texts, const char *name, const char *site)
{
    struct edits_lines lines;
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);

    edits_split(texts_find(texts, name), &lines);
    for (int i = 0; out && i < lines.count; i++) {
        char *line = mem_alloc((size_t)lines.length[i] + 1, 1);
        int length = lines.length[i];

        memcpy(line, lines.at[i], (size_t)length);
        if (edits_begins_with(line, "DISTRIBUTION")) {
            drop_share(line, &length, site);
        } else if (names_site(line, length, site)) {
            length = 0;
        }
        fwrite(line, 1, (size_t)length, out);
        free(line);
    }
    if (!out || fclose(out)) {
        abort();
    }
    texts_set(texts, name, body, size);
    free(body);
}

/* Removes the export policies that have no consumer left. */
static void drop_empty_exports(struct texts *texts, const char *name)
{
    struct edits_lines lines;

    edits_split(texts_find(texts, name), &lines);
    for (int i = lines.count - 1; i >= 0; i--) {
        int first = i, last = i;
        if (!edits_begins_with(lines.at[i], "DISTRIBUTION") ||
            memchr(lines.at[i], '[', (size_t)lines.length[i])) {
            continue;
        }
        while (first > 0 && !edits_begins_with(lines.at[first], "Begin")) {
            first--;
        }
        while (last < lines.count - 1 && !edits_begins_with(lines.at[last], "End")) {
            last++;
        }
        edits_drop(texts, name, &lines, first, last);
        edits_split(texts_find(texts, name), &lines);
        i = first < lines.count ? first : lines.count;
    }
}

void edits_drop_site(struct texts *texts, const char *site)
{
    char name[TEXT_NAME_SIZE];

    snprintf(name, sizeof name, "%s.conf", site);
    texts_remove(texts, name);
    snprintf(name, sizeof name, "%s-1.conf", site);
    texts_remove(texts, name);
    for (int i = 0; i < texts->count; i++) {
        snprintf(name, sizeof name, "%s", texts->items[i].name);
        forget_site(texts, name, site);
        drop_empty_exports(texts, name);
    }
}

void edits_replace(struct texts *texts, const char *name, size_t at, size_t length,
                   const char *by)
{
    const char *body = texts_find(texts, name);
    size_t rest = strlen(body) - at - length;
    char *changed = mem_alloc(at + strlen(by) + rest + 1, 1);

    memcpy(changed, body, at);
    memcpy(changed + at, by, strlen(by));
    memcpy(changed + at + strlen(by), body + at + length, rest);
    texts_set(texts, name, changed, at + strlen(by) + rest);
    free(changed);
}
