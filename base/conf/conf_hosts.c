/* SPDX-License-Identifier: Apache-2.0 */
/* conf_hosts.c: see conf_hosts.h. */
#include "base/conf/conf_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_keys.h"

/* Names that a word stands for. */
struct names {
    struct arena *arena;
    const char **items; /* on the heap */
    int count, room;
};

static void add_name(struct names *names, const char *name)
{
    names->items =
        mem_room(names->items, names->count, &names->room, sizeof(*names->items));
    names->items[names->count++] = name;
}

/* ---------------------------------------------------------------- ranges */

/* Digits at `*at`, which moves behind them; -1: none, or more than nine. */
static int number_at(const char **at, int *width)
{
    *width = (int)strspn(*at, "0123456789");
    long number = *width > 0 && *width <= 9 ? strtol(*at, NULL, 10) : -1;
    *at += *width;
    return (int)number;
}

static int expand(struct names *names, const char *prefix, const char *word,
                  struct err *err);

/* `inside` is the text behind the bracket; each of its numbers is put between `prefix`
 * and `rest`, which may have brackets of its own. */
static int expand_ranges(struct names *names, const char *prefix, const char *inside,
                         const char *rest, struct err *err)
{
    int width, end_width;
    for (const char *at = inside;; at++) {
        int first = number_at(&at, &width);
        int last = first;
        if (*at == '-' || *at == ':') {
            at++;
            last = number_at(&at, &end_width);
        }
        if (first < 0 || last < 0 || (*at != ',' && *at != ']')) {
            return err_set(err, ERR_PARSE,
                           "malformed range, expected [FIRST-LAST,...]");
        }
        if (last < first) {
            return err_set(err, ERR_BOUNDS,
                           "a range from %d to %d, expected its end "
                           "at or above its begin",
                           first, last);
        }
        for (int i = first; i <= last; i++) {
            const char *name = arena_printf(names->arena, "%s%0*d", prefix, width, i);
            int rc = expand(names, name, rest, err);
            if (rc < 0) {
                return rc;
            }
        }
        if (*at == ']') {
            return 0;
        }
    }
}

/* All names that begin with `prefix` and go on as `word` says. */
static int expand(struct names *names, const char *prefix, const char *word,
                  struct err *err)
{
    const char *open = strchr(word, '[');
    if (open == NULL) {
        if (names->count == HOSTS_MAX) {
            return err_set(err, ERR_BOUNDS, "too many hosts, expected at most %d",
                           HOSTS_MAX);
        }
        add_name(names, arena_printf(names->arena, "%s%s", prefix, word));
        return 0;
    }
    const char *close = strchr(open, ']');
    if (close == NULL) {
        return err_set(err, ERR_PARSE, "malformed range, expected [FIRST-LAST,...]");
    }
    prefix = arena_printf(names->arena, "%s%.*s", prefix, (int)(open - word), word);
    return expand_ranges(names, prefix, open + 1, close + 1, err);
}

/* ---------------------------------------------------------------- rows */

static const struct conf_cell *name_cell(const struct conf_row *row)
{
    const struct conf_cell *cell = conf_cell(row, "HOST_NAME");
    cell = cell != NULL && cell->value != NULL ? cell : conf_cell(row, "HOSTNAME");
    return cell != NULL && cell->value != NULL ? cell : NULL;
}

/* The row for one of the hosts. */
static struct conf_row copy_row(struct arena *arena, const struct conf_row *row,
                                const struct conf_cell *cell, const char *name)
{
    struct conf_row copy = *row;
    copy.cells = arena_alloc(arena, (size_t)row->n_cells, sizeof(*copy.cells));
    memcpy(copy.cells, row->cells, (size_t)row->n_cells * sizeof(*copy.cells));
    copy.cells[cell - row->cells].value = name;
    return copy;
}

static bool has_ranges(const struct conf_row *row)
{
    const struct conf_cell *cell = name_cell(row);
    return cell != NULL && strchr(cell->value, '[') != NULL;
}

static void expand_rows(struct conf *conf, struct conf_section *section)
{
    struct conf_row *rows = NULL;
    int count = 0, room = 0;
    bool is_short = false;
    for (int i = 0; i < section->n_rows; i++) {
        is_short = is_short || has_ranges(&section->rows[i]);
    }
    for (int i = 0; is_short && i < section->n_rows; i++) {
        const struct conf_row *row = &section->rows[i];
        const struct conf_cell *cell = name_cell(row);
        struct names names = {.arena = conf->arena};
        struct err err;
        if (cell != NULL && expand(&names, "", cell->value, &err) < 0) {
            conf_complain(conf, CONF_ERROR, section, row, cell, "\"%s\": %s",
                          cell->value, err.text);
            names.count = 0;
        } else if (cell == NULL) {
            rows = mem_room(rows, count, &room, sizeof(*rows));
            rows[count++] = *row;
        }
        for (int k = 0; k < names.count; k++) {
            rows = mem_room(rows, count, &room, sizeof(*rows));
            rows[count++] = copy_row(conf->arena, row, cell, names.items[k]);
        }
        free(names.items);
    }
    if (is_short) {
        section->rows = arena_copy(conf->arena, rows, (size_t)count * sizeof(*rows));
        section->n_rows = count;
        free(rows);
    }
}

/* ---------------------------------------------------------------- lists */

/* `*` stands for any characters. */
static bool matches(const char *pattern, const char *name)
{
    while (*pattern != '\0' && *pattern != '*') {
        if (*pattern++ != *name++) {
            return false;
        }
    }
    if (*pattern == '\0') {
        return *name == '\0';
    }
    pattern += strspn(pattern, "*");
    while (*name != '\0' && !matches(pattern, name)) {
        name++;
    }
    return matches(pattern, name);
}

/* A ~ before the pattern is put before each name. */
static void add_matching(const struct conf *conf, struct names *names,
                         const char *pattern)
{
    struct conf_place at = {0};
    int is_out = pattern[0] == '~';
    while (conf_next_row(conf, "Host", &at)) {
        const struct conf_cell *cell = name_cell(at.row);
        if (cell != NULL && strcasecmp(cell->value, "default") != 0 &&
            matches(pattern + is_out, cell->value)) {
            add_name(names, arena_printf(names->arena, "%s%s", is_out ? "~" : "",
                                         cell->value));
        }
    }
}

/* The bracket of a range follows a name; that of a list of hosts (LOCATION) does not.
 */
static bool is_short_form(const char *word, bool is_group)
{
    const char *open = strchr(word, '[');
    return (open != NULL && open > word && open[-1] != '@' &&
            strchr(open, ']') != NULL) ||
           (is_group && strchr(word, '*') != NULL);
}

/* The names with a blank behind each. */
static const char *joined(const struct names *names)
{
    size_t size = 1;
    for (int i = 0; i < names->count; i++) {
        size += strlen(names->items[i]) + 1;
    }
    char *text = arena_alloc(names->arena, size, 1);
    for (int i = 0, used = 0; i < names->count; i++) {
        used += snprintf(text + used, size - (size_t)used, "%s ", names->items[i]);
    }
    return text;
}

/* The value with all short forms replaced. */
static const char *expand_list(struct conf *conf, const struct conf_section *section,
                               const struct conf_row *row, const struct conf_cell *cell)
{
    bool is_group = strcasecmp(section->name, "HostGroup") == 0 ||
                    strcasecmp(section->name, "ComputeUnit") == 0;
    struct conf_words words = conf_words(conf->arena, cell->value);
    struct names names = {.arena = conf->arena};
    for (int i = 0; i < words.count; i++) {
        const char *word = words.words[i];
        struct err err;
        if (!is_short_form(word, is_group)) {
            add_name(&names, word);
        } else if (strchr(word, '[') == NULL) {
            add_matching(conf, &names, word);
        } else if (expand(&names, "", word, &err) < 0) {
            conf_complain(conf, CONF_ERROR, section, row, cell, "\"%s\": %s", word,
                          err.text);
        }
    }
    const char *text = joined(&names);
    free(names.items);
    return text;
}

static bool is_short_list(const struct conf_section *section,
                          const struct conf_cell *cell)
{
    const struct conf_key *key = conf_keys_among(section->keys, cell->key);
    return cell->value != NULL && strpbrk(cell->value, "[*") != NULL && key != NULL &&
           key->kind == CONF_HOSTS;
}

static void expand_lists(struct conf *conf, struct conf_section *section)
{
    for (int i = 0; i < section->n_rows; i++) {
        struct conf_row *row = &section->rows[i];
        for (int k = 0; k < row->n_cells; k++) {
            if (is_short_list(section, &row->cells[k])) {
                row->cells[k].value = expand_list(conf, section, row, &row->cells[k]);
            }
        }
    }
}

void conf_hosts_expand(struct conf *conf)
{
    for (struct conf_section *section = conf->first; section != NULL;
         section = section->next) {
        if (strcasecmp(section->name, "Host") == 0) {
            expand_rows(conf, section);
        }
    }
    for (struct conf_section *section = conf->first; section != NULL;
         section = section->next) {
        expand_lists(conf, section);
    }
}
