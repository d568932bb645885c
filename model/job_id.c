/* SPDX-License-Identifier: Apache-2.0 */
/* job_id.c: see job_id.h. */
#include "model/job_id.h"

#include <stdlib.h>
#include <string.h>

enum {
    INDEX_BITS = 20, /* of a key: enough for JOB_INDEX_MAX */
    DIGITS_MAX = 13, /* less than the 44 bits that a key has for the number */
};
_Static_assert(JOB_INDEX_MAX < 1 << INDEX_BITS, "an index fits a key");

/* ---------------------------------------------------------------- reading */

/* A number >= 1 without leading zeros; 0 if there is none. */
static uint64_t read_number(const char **at)
{
    size_t length = strspn(*at, "0123456789");
    if (length == 0 || length > DIGITS_MAX || **at == '0') {
        return 0;
    }
    uint64_t number = strtoull(*at, NULL, 10);
    *at += length;
    return number;
}

/* 0 if the number is not an index. */
static int read_index(const char **at, int max)
{
    const char *start = *at;
    uint64_t number = read_number(at);
    if (number > (uint64_t)max) {
        *at = start;
        return -1;
    }
    return (int)number;
}

static int read_range(const char **at, int max, struct job_range *range,
                      struct err *err)
{
    range->first = range->last = read_index(at, max);
    range->step = 1;
    if (range->first > 0 && **at == '-') {
        ++*at;
        range->last = read_index(at, max);
        if (range->last > 0 && **at == ':') {
            ++*at;
            range->step = read_index(at, max);
        }
    }
    if (range->first < 0 || range->last < 0 || range->step < 0) {
        return err_set(err, ERR_BOUNDS,
                       "an index above %d, the largest that MAX_JOB_ARRAY_SIZE allows",
                       max);
    }
    if (range->first == 0 || range->last < range->first || range->step == 0) {
        return err_set(err, ERR_PARSE,
                       "expected indices from 1 on, as [1-10,15,20-30:2]");
    }
    return 0;
}

/* Skips "%3" and the like; any other text stays. */
static const char *skip_limit(const char *text, int *limit)
{
    const char *at = text + 1;
    *limit = 0;
    if (*text == '%') {
        *limit = read_index(&at, JOB_INDEX_MAX);
    }
    return *limit > 0 ? at : text;
}

/* "[...]", followed by the end of the text or by a limit. */
static int read_ranges(struct arena *arena, const char *text, int max, bool may_limit,
                       struct job_id *id, struct err *err)
{
    int room = 1;
    for (const char *at = text; *at != '\0'; at++) {
        room += *at == ',';
    }
    id->ranges = arena_alloc(arena, (size_t)room, sizeof(*id->ranges));
    do {
        text++; /* "[" or "," */
        int code = read_range(&text, max, &id->ranges[id->n_ranges++], err);
        if (code != 0) {
            return code;
        }
    } while (*text == ',');
    int limit;
    const char *end = *text == ']' ? text + 1 : text;
    end = may_limit && end != text ? skip_limit(end, &limit) : end;
    if (end == text || *end != '\0') {
        return err_set(err, ERR_PARSE, "expected an index list, as [1-10,15,20-30:2]");
    }
    return 0;
}

int job_id_read(struct arena *arena, const char *text, struct job_id *id,
                struct err *err)
{
    *id = (struct job_id){.number = read_number(&text)};
    if (id->number == 0 || (*text != '\0' && *text != '[')) {
        return err_set(err, ERR_PARSE, "expected a job's id, as 12 or 12[3]");
    }
    return *text == '\0' ? 0 : read_ranges(arena, text, JOB_INDEX_MAX, false, id, err);
}

bool job_id_is_array_name(const char *name)
{
    return strchr(name, '[') != NULL;
}

int job_id_read_name(struct arena *arena, const char *name, int max, struct job_id *id,
                     struct err *err)
{
    const char *list = strchr(name, '[');
    *id = (struct job_id){0};
    if (list == NULL) {
        return err_set(err, ERR_PARSE, "expected an index list, as [1-10,15,20-30:2]");
    }
    return read_ranges(arena, list, max, true, id, err);
}

int job_id_name_limit(const char *name)
{
    const char *end = strchr(name, '[') != NULL ? strrchr(name, ']') : NULL;
    int limit = 0;
    if (end != NULL) {
        skip_limit(end + 1, &limit);
    }
    return limit > 0 ? limit : 0;
}

const char *job_id_element_name(struct arena *arena, const char *name, int index)
{
    if (index == 0) {
        return name;
    }
    return arena_printf(arena, "%.*s[%d]", (int)strcspn(name, "["), name, index);
}

/* ---------------------------------------------------------------- what it holds */

bool job_id_has(const struct job_id *id, int index)
{
    for (int i = 0; i < id->n_ranges; i++) {
        const struct job_range *range = &id->ranges[i];
        if (index >= range->first && index <= range->last &&
            (index - range->first) % range->step == 0) {
            return true;
        }
    }
    return id->n_ranges == 0;
}

/* Marks each index, since ranges may overlap and come in any order. */
int job_id_expand(struct arena *arena, const struct job_id *id, const int **indices)
{
    int last = 0, count = 0;
    for (int i = 0; i < id->n_ranges; i++) {
        last = id->ranges[i].last > last ? id->ranges[i].last : last;
    }
    bool *marks = arena_alloc(arena, (size_t)last + 1, sizeof(*marks));
    for (int i = 0; i < id->n_ranges; i++) {
        for (int at = id->ranges[i].first; at <= id->ranges[i].last;
             at += id->ranges[i].step) {
            count += !marks[at];
            marks[at] = true;
        }
    }
    int *items = arena_alloc(arena, (size_t)count, sizeof(*items));
    int n_items = 0;
    for (int at = 1; at <= last; at++) {
        if (marks[at]) {
            items[n_items++] = at;
        }
    }
    *indices = items;
    return count;
}

/* ---------------------------------------------------------------- texts and keys */

/* Faster than printf: each start formats a few numbers. */
static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

const char *job_id_text(struct arena *arena, uint64_t number, int index)
{
    char text[48];
    char *end = put_number(text, number);
    if (index != 0) {
        *end++ = '[';
        end = put_number(end, (uint64_t)index);
        *end++ = ']';
    }
    return arena_strn(arena, text, (size_t)(end - text));
}

uint64_t job_id_key(uint64_t number, int index)
{
    return number << INDEX_BITS | (uint64_t)index;
}

uint64_t job_id_key_number(uint64_t key)
{
    return key >> INDEX_BITS;
}

int job_id_key_index(uint64_t key)
{
    return (int)(key & ((UINT64_C(1) << INDEX_BITS) - 1));
}
