/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_options.c: see embedded_options.h. */
#include "cli/job/embedded_options.h"

#include <string.h>

static const char mark[] = "#BSUB";

struct words {
    char **items; /* as a command line: program, command, ... */
    int count;
};

/* Reads a word of the line, without its quotes; NULL at the end of the line. */
static char *read_word(struct arena *arena, const char **at, bool *is_open)
{
    const char *from = *at + strspn(*at, " \t\r");
    size_t left = strcspn(from, "\n");
    char *word = arena_alloc(arena, left + 1, 1);
    size_t length = 0;
    char quote = '\0';
    if (left == 0 || *from == '#') {
        return NULL;
    }
    for (; *from != '\0' && *from != '\n'; from++) {
        if (quote == '\0' && strchr(" \t\r", *from) != NULL) {
            break;
        }
        if (quote == '\0' && (*from == '"' || *from == '\'')) {
            quote = *from;
        } else if (*from == quote) {
            quote = '\0';
        } else {
            word[length++] = *from;
        }
    }
    *is_open = quote != '\0';
    *at = from;
    return word;
}

char **embedded_options_words(struct arena *arena, const char *line)
{
    char **words = arena_alloc(arena, strcspn(line, "\n") / 2 + 2, sizeof(*words));
    bool is_open = false;
    int count = 0;
    while ((words[count] = read_word(arena, &line, &is_open)) != NULL) {
        count++;
        if (is_open) {
            return NULL;
        }
    }
    return words;
}

static int split(struct call *call, const char *line, int number, struct words *words)
{
    char **found = embedded_options_words(&call->arena, line + sizeof(mark) - 1);
    if (found == NULL) {
        return call_fail("sub: line %d: a quote that does not end; no job was "
                         "submitted",
                         number);
    }
    for (; *found != NULL; found++) {
        words->items[words->count++] = *found;
    }
    return CALL_OK;
}

static int put_first(struct call *call, const struct call *from)
{
    if (from->n_operands > 0) {
        return call_fail("sub: %s %s: expected options alone, the command is the "
                         "script; no job was submitted",
                         mark, from->operands[0]);
    }
    size_t n_first = (size_t)from->n_given, n_last = (size_t)call->n_given;
    struct call_given *all =
        arena_alloc(&call->arena, n_first + n_last + 1, sizeof(*all));
    memcpy(all, from->given, n_first * sizeof(*all));
    memcpy(all + n_first, call->given, n_last * sizeof(*all));
    call->given = all;
    call->n_given += from->n_given;
    return CALL_OK;
}

static bool is_marked(const char *line)
{
    size_t length = sizeof(mark) - 1;
    return strncmp(line, mark, length) == 0 &&
           (line[length] == '\0' || strchr(" \t\r\n", line[length]) != NULL);
}

int embedded_options_read(struct call *call, const char *script)
{
    const struct command commands[] = {*call->command, {.name = NULL}};
    struct words *words = arena_alloc(&call->arena, 1, sizeof(*words));
    struct call *inner = arena_alloc(&call->arena, 1, sizeof(*inner));
    int status = CALL_OK, number = 1;
    /* A blank or a new line is between two words. */
    words->items =
        arena_alloc(&call->arena, strlen(script) / 2 + 3, sizeof(*words->items));
    words->items[words->count++] = arena_str(&call->arena, "sublet");
    words->items[words->count++] = arena_str(&call->arena, call->command->name);
    for (const char *line = script; status == CALL_OK && *line != '\0'; number++) {
        if (is_marked(line)) {
            status = split(call, line, number, words);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (status != CALL_OK || words->count == 2) {
        return status;
    }
    status = call_read(inner, commands, words->count, words->items);
    if (status == CALL_OK) {
        status = put_first(call, inner);
    }
    arena_release(&inner->arena); /* the options point into the script's words */
    return status;
}
