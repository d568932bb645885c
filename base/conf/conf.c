/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: see conf.h. conf_read.c makes the sections, conf_check.c checks them; this
 * file looks up cells and parses values. */
#include "base/conf/conf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_keys.h"
#include "base/fnv1a.h"

/* Bytes of a value that a diagnostic repeats. */
enum { SHOWN_MAX = 60 };

/* Diagnostics stored; more are only counted. A file of the wrong kind has one in every
 * line. */
enum { DIAGS_MAX = 1000 };

/* The sections of one name: a file may have tens of thousands of them. */
struct conf_name {
    struct conf_section *first, *last;
    struct conf_name *next; /* in its bucket */
};

enum { BUCKETS = 256 };

struct conf_names {
    struct conf_name *buckets[BUCKETS];
};

void conf_init(struct conf *conf, struct arena *arena)
{
    memset(conf, 0, sizeof(*conf));
    conf->arena = arena;
    conf->names = arena_alloc(arena, 1, sizeof(*conf->names));
    conf->keys_outside = conf_keys_of("");
}

/* The same has been said: a value is looked at by conf_check and by its reader. */
static bool is_said(const struct conf *conf, const struct conf_diag *new)
{
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        if (diag->line == new->line && strcmp(diag->text, new->text) == 0 &&
            strcmp(diag->file, new->file) == 0) {
            return true;
        }
    }
    return false;
}

void conf_complain(struct conf *conf, enum conf_severity severity,
                   const struct conf_section *section, const struct conf_row *row,
                   const struct conf_cell *cell, const char *format, ...)
{
    int *count = severity == CONF_ERROR ? &conf->n_errors : &conf->n_warnings;
    if (conf->n_errors + conf->n_warnings >= DIAGS_MAX) {
        ++*count;
        return;
    }
    struct conf_diag *diag = arena_alloc(conf->arena, 1, sizeof(*diag));
    diag->severity = severity;
    diag->file = cell != NULL && cell->file != NULL ? cell->file
                 : section != NULL                  ? section->file
                                                    : "";
    diag->line = cell != NULL      ? cell->line
                 : row != NULL     ? row->line
                 : section != NULL ? section->line
                                   : 0;
    diag->key = cell != NULL ? cell->key : NULL;
    va_list args;
    va_start(args, format);
    diag->text = arena_vprintf(conf->arena, format, args);
    va_end(args);
    if (is_said(conf, diag)) {
        return;
    }
    ++*count;
    if (conf->last_diag != NULL) {
        conf->last_diag->next = diag;
    } else {
        conf->diags = diag;
    }
    conf->last_diag = diag;
}

/* ------------------------------------------------------------ looking up */

static size_t bucket_of(const char *name)
{
    uint64_t hash = FNV1A_START;
    for (; *name != '\0'; name++) {
        char lower = (char)tolower((unsigned char)*name);
        hash = fnv1a(hash, &lower, 1);
    }
    return (size_t)(hash % BUCKETS);
}

static struct conf_name *find_name(const struct conf *conf, const char *name)
{
    struct conf_name *at = conf->names->buckets[bucket_of(name)];
    while (at != NULL && strcasecmp(at->first->name, name) != 0) {
        at = at->next;
    }
    return at;
}

void conf_append(struct conf *conf, struct conf_section *section)
{
    struct conf_name *name = find_name(conf, section->name);
    if (name != NULL) {
        name->last->next_of_name = section;
    } else {
        struct conf_name **bucket = &conf->names->buckets[bucket_of(section->name)];
        name = arena_alloc(conf->arena, 1, sizeof(*name));
        name->first = section;
        name->next = *bucket;
        *bucket = name;
    }
    name->last = section;
    if (conf->last != NULL) {
        conf->last->next = section;
    } else {
        conf->first = section;
    }
    conf->last = section;
}

const struct conf_section *conf_next(const struct conf *conf, const char *name,
                                     const struct conf_section *after)
{
    const struct conf_name *of = after == NULL ? find_name(conf, name) : NULL;
    return after != NULL ? after->next_of_name : of != NULL ? of->first : NULL;
}

bool conf_next_row(const struct conf *conf, const char *name, struct conf_place *at)
{
    if (at->section != NULL && at->row + 1 < at->section->rows + at->section->n_rows) {
        at->row++;
        return true;
    }
    do {
        at->section = conf_next(conf, name, at->section);
    } while (at->section != NULL && at->section->n_rows == 0);
    at->row = at->section != NULL ? at->section->rows : NULL;
    return at->section != NULL;
}

int conf_count_rows(const struct conf *conf, const char *name)
{
    int count = 0;
    const struct conf_section *section = NULL;
    while ((section = conf_next(conf, name, section)) != NULL) {
        count += section->n_rows;
    }
    return count;
}

const struct conf_cell *conf_cell(const struct conf_row *row, const char *key)
{
    for (int i = 0; i < row->n_cells; i++) {
        if (strcasecmp(row->cells[i].key, key) == 0) {
            return &row->cells[i];
        }
    }
    return NULL;
}

const char *conf_text(const struct conf_row *row, const char *key,
                      const char *otherwise)
{
    const struct conf_cell *cell = conf_cell(row, key);
    return cell != NULL && cell->value != NULL ? cell->value : otherwise;
}

/* ------------------------------------------------------------ lists */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the word at `at`: the next blank outside quotes, parentheses and brackets.
 */
static const char *word_end(const char *at, const char *end)
{
    int depth = 0;
    bool quoted = false;
    for (; at < end; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            continue;
        } else if (*at == '(' || *at == '[') {
            depth++;
        } else if ((*at == ')' || *at == ']') && depth > 0) {
            depth--;
        } else if (depth == 0 && is_blank(*at)) {
            break;
        }
    }
    return at;
}

static void trim(const char **at, const char **end)
{
    while (*at < *end && is_blank(**at)) {
        ++*at;
    }
    while (*end > *at && is_blank((*end)[-1])) {
        --*end;
    }
}

/* True if the last character closes the parenthesis of the first. */
static bool is_parenthesised(const char *at, const char *end)
{
    if (end - at < 2 || *at != '(' || end[-1] != ')') {
        return false;
    }
    int depth = 0;
    bool quoted = false;
    for (; at < end; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted && *at == '(') {
            depth++;
        } else if (!quoted && *at == ')' && --depth == 0) {
            return at + 1 == end;
        }
    }
    return false;
}

struct conf_words conf_words(struct arena *arena, const char *value)
{
    struct conf_words words = {NULL, 0};
    if (value == NULL) {
        return words;
    }
    const char *at = value, *end = value + strlen(value);
    trim(&at, &end);
    if (is_parenthesised(at, end)) {
        at++;
        end--;
    }
    /* A word and its blank are two characters at least. */
    words.words = arena_alloc(arena, (size_t)(end - at) / 2 + 1, sizeof(*words.words));
    for (;;) {
        while (at < end && is_blank(*at)) {
            at++;
        }
        if (at == end) {
            return words;
        }
        const char *stop = word_end(at, end);
        const char *first = at;
        size_t length = (size_t)(stop - at);
        if (length >= 2 && *first == '"' &&
            memchr(first + 1, '"', length - 1) == stop - 1) {
            first++;
            length -= 2;
        }
        words.words[words.count++] = arena_strn(arena, first, length);
        at = stop;
    }
}

/* ------------------------------------------------------------ values */

int conf_shown(const char *value)
{
    size_t length = strnlen(value, SHOWN_MAX + 1);
    if (length <= SHOWN_MAX) {
        return (int)length;
    }
    length = SHOWN_MAX;
    while (length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80) {
        length--;
    }
    return (int)length;
}

/* Reads the digits at `*at` and moves it behind them. ERR_PARSE if there are none,
 * ERR_BOUNDS if they exceed an int64_t. */
static int digits(const char **at, int64_t *out)
{
    if (**at < '0' || **at > '9') {
        return ERR_PARSE;
    }
    int64_t number = 0;
    bool too_large = false;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, **at - '0', &number)) {
            too_large = true;
        }
    }
    *out = number;
    return too_large ? ERR_BOUNDS : ERR_NONE;
}

int conf_parse_int(const char *value, int64_t min, int64_t max, int64_t *out,
                   struct err *err)
{
    value = value != NULL ? value : "";
    bool negative = *value == '-';
    const char *at = *value == '-' || *value == '+' ? value + 1 : value;
    int64_t number;
    int code = digits(&at, &number);
    if (code == ERR_PARSE || *at != '\0') {
        return err_set(err, ERR_PARSE,
                       "\"%.*s\" is not a whole number, expected %lld to %lld",
                       conf_shown(value), value, (long long)min, (long long)max);
    }
    if (negative && code == ERR_NONE) { /* too large a value has wrapped */
        number = -number;
    }
    if (code != ERR_NONE || number < min || number > max) {
        return err_set(err, ERR_BOUNDS, "%.*s is out of bounds, expected %lld to %lld",
                       conf_shown(value), value, (long long)min, (long long)max);
    }
    *out = number;
    return ERR_NONE;
}

int conf_parse_bool(const char *value, bool *out, struct err *err)
{
    static const struct {
        const char *word;
        bool flag;
    } words[] = {{"Y", true}, {"YES", true}, {"N", false}, {"NO", false}};

    value = value != NULL ? value : "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(value, words[i].word) == 0) {
            *out = words[i].flag;
            return ERR_NONE;
        }
    }
    return err_set(err, ERR_PARSE, "\"%.*s\" is neither yes nor no, expected Y or N",
                   conf_shown(value), value);
}

static const char *unit_name(int64_t unit_ms)
{
    switch (unit_ms) {
    case 1:
        return "milliseconds";
    case 1000:
        return "seconds";
    case 60000:
        return "minutes";
    case 3600000:
        return "hours";
    default:
        return "days";
    }
}

int conf_parse_duration(const char *value, int64_t unit_ms, int64_t *out_ms,
                        struct err *err)
{
    static const struct {
        char suffix;
        int64_t unit_ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}};

    value = value != NULL ? value : "";
    const char *at = value;
    int64_t number;
    int code = digits(&at, &number);
    int64_t unit = code != ERR_PARSE && *at == '\0' ? unit_ms : 0;
    for (size_t i = 0; unit == 0 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (code != ERR_PARSE && (*at | 0x20) == units[i].suffix && at[1] == '\0') {
            unit = units[i].unit_ms;
        }
    }
    if (unit == 0) {
        return err_set(
            err, ERR_PARSE,
            "\"%.*s\" is not a duration, expected a number of %s, or one with "
            "a suffix s m h d",
            conf_shown(value), value, unit_name(unit_ms));
    }
    if (code != ERR_NONE || __builtin_mul_overflow(number, unit, &number)) {
        return err_set(err, ERR_BOUNDS, "%.*s is out of bounds, expected less time",
                       conf_shown(value), value);
    }
    *out_ms = number;
    return ERR_NONE;
}

/* In the largest unit that gives a whole number. */
void conf_format_duration(int64_t ms, char *text, size_t size)
{
    static const struct {
        int64_t ms;
        const char *suffix;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}};
    if (ms == 0) {
        snprintf(text, size, "0");
        return;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ms % units[i].ms == 0) {
            snprintf(text, size, "%lld%s", (long long)(ms / units[i].ms),
                     units[i].suffix);
            return;
        }
    }
    snprintf(text, size, "%.3fs", (double)ms / 1000);
}

int conf_check_duration(const struct conf_key *key, const char *value, int64_t ms,
                        struct err *err)
{
    char min[32], max[32];
    if (ms >= key->min && ms <= key->max) {
        return ERR_NONE;
    }
    conf_format_duration(key->min, min, sizeof(min));
    conf_format_duration(key->max, max, sizeof(max));
    return err_set(err, ERR_BOUNDS, "%.*s is out of bounds, expected %s to %s",
                   conf_shown(value), value, min, max);
}

int conf_parse_key_duration(const struct conf_key *key, const char *value,
                            int64_t *out_ms, struct err *err)
{
    int64_t ms = 0;
    int code = conf_parse_duration(value, key->unit_ms, &ms, err);
    if (code == ERR_NONE) {
        code = conf_check_duration(key, value, ms, err);
    }
    if (code == ERR_NONE) {
        *out_ms = ms;
    }
    return code;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
}

int conf_parse_name(const char *value, struct err *err)
{
    value = value != NULL ? value : "";
    size_t length = 0;
    while (length < NAME_SIZE && is_name_character(value[length])) {
        length++;
    }
    if (length == 0 || length >= NAME_SIZE || value[length] != '\0' ||
        value[0] == '-') {
        return err_set(
            err, length >= NAME_SIZE ? ERR_BOUNDS : ERR_PARSE,
            "\"%.*s\" is not a name, expected at most %d letters, digits, and "
            "'.', '_', '-' behind the first",
            conf_shown(value), value, NAME_SIZE - 1);
    }
    return ERR_NONE;
}

bool conf_is_resource_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_#$%?^", c) != NULL);
}

int conf_parse_resource(const char *value, struct err *err)
{
    value = value != NULL ? value : "";
    size_t length = 0;
    while (conf_is_resource_char(value[length])) {
        length++;
    }
    if (length == 0 || length >= NAME_SIZE || value[length] != '\0' ||
        (value[0] >= '0' && value[0] <= '9')) {
        return err_set(
            err, length >= NAME_SIZE ? ERR_BOUNDS : ERR_PARSE,
            "\"%.*s\" is not a resource's name, expected at most %d letters, digits, "
            "and '_', '#', '$', '%%', '?', '^', and no digit first",
            conf_shown(value), value, NAME_SIZE - 1);
    }
    return ERR_NONE;
}

int conf_parse_address(const char *value, struct arena *arena, const char **host,
                       const char **port, struct err *err)
{
    const char *colon = strrchr(value, ':');
    size_t length = colon != NULL ? (size_t)(colon - value) : 0;
    size_t n_port = colon != NULL ? strlen(colon + 1) : 0;
    bool is_bracketed = length > 2 && value[0] == '[' && value[length - 1] == ']';
    /* With a second colon and no brackets, the begin of the port is ambiguous. */
    bool is_host = is_bracketed || (length > 0 && value[0] != '[' &&
                                    memchr(value, ':', length) == NULL);
    bool is_port =
        n_port > 0 && n_port <= 5 && strspn(colon + 1, "0123456789") == n_port &&
        strtol(colon + 1, NULL, 10) >= 1 && strtol(colon + 1, NULL, 10) <= 65535;
    if (!is_host || !is_port) {
        return err_set(err, ERR_PARSE,
                       "\"%.*s\", expected ADDRESS:PORT, as 127.0.0.1:5571",
                       conf_shown(value), value);
    }
    *host = is_bracketed ? arena_strn(arena, value + 1, length - 2)
                         : arena_strn(arena, value, length);
    *port = colon + 1;
    return ERR_NONE;
}
