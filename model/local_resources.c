/* SPDX-License-Identifier: Apache-2.0 */
/* local_resources.c: see local_resources.h. */
#include "model/local_resources.h"

#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf.h"

static const char blanks[] = " \t";

static int check_name(const char *name, const char *part, struct err *err)
{
    int code = conf_parse_resource(name, err);
    if (code != ERR_NONE) {
        err_prefix(err, "\"[%s]\"", part);
    }
    return code;
}

static int check_value(const char *value, const char *part, struct err *err)
{
    size_t length = strlen(value);
    for (size_t i = 0; i < length; i++) {
        if (value[i] < ' ' || value[i] >= 0x7f) {
            return err_set(err, ERR_PARSE, "\"[%s]\" is not printable ASCII", part);
        }
    }
    if (length == 0 || length >= LOAD_VALUE_SIZE) {
        return err_set(err, ERR_BOUNDS,
                       "\"[%s]\" has a value of %zu bytes, expected 1 "
                       "to %d",
                       part, length, LOAD_VALUE_SIZE - 1);
    }
    return ERR_NONE;
}

static int read_boolean(const char *name, const char *part, struct load_value *value,
                        struct err *err)
{
    value->is_exclusive = name[0] == '!';
    value->name = name + value->is_exclusive;
    value->value = "1";
    return check_name(value->name, part, err);
}

static int read_map(struct arena *arena, const char *map, const char *part,
                    struct load_value *value, struct err *err)
{
    const char *star = strchr(map, '*');
    if (star == NULL) {
        return err_set(err, ERR_PARSE, "\"[%s]\" has no \"*\", expected VALUE*NAME",
                       part);
    }
    value->value = arena_strn(arena, map, (size_t)(star - map));
    value->name = star + 1;
    int code = check_name(value->name, part, err);
    return code == ERR_NONE ? check_value(value->value, part, err) : code;
}

/* `part` is the text between the brackets. */
static int read_part(struct arena *arena, const char *part, struct load_value *value,
                     struct err *err)
{
    size_t length = strcspn(part, blanks);
    const char *rest = part + length + strspn(part + length, blanks);
    const char *word = arena_strn(arena, part, length);
    *value = (struct load_value){.name = "", .value = ""};
    if (word[0] == '\0' || strpbrk(rest, blanks) != NULL) {
        return err_set(err, ERR_PARSE, "\"[%s]\", expected a keyword and one word",
                       part);
    }
    if (rest[0] == '\0') {
        return read_boolean(word, part, value, err);
    }
    if (strcasecmp(word, "resource") == 0) {
        return read_boolean(rest, part, value, err);
    }
    if (strcasecmp(word, "resourcemap") == 0) {
        return read_map(arena, rest, part, value, err);
    }
    if (strcasecmp(word, "type") == 0 || strcasecmp(word, "model") == 0) {
        value->name = word[0] == 't' || word[0] == 'T' ? "type" : "model";
        value->value = rest;
        return check_value(rest, part, err);
    }
    return err_set(err, ERR_PARSE,
                   "\"[%s]\", expected resource, resourcemap, type or model", part);
}

/* The text between the next brackets, without blanks around it. NULL if there are none:
 * `*text` is then at the end, or at the first invalid character. */
static const char *take_part(struct arena *arena, const char **text)
{
    const char *open = *text + strspn(*text, " \t\r\n");
    *text = open;
    const char *close = *open == '[' ? strchr(open, ']') : NULL;
    if (close == NULL) {
        return NULL;
    }
    *text = close + 1;
    open += 1 + strspn(open + 1, blanks);
    while (close > open && strchr(blanks, close[-1]) != NULL) {
        close--;
    }
    return close > open ? arena_strn(arena, open, (size_t)(close - open)) : "";
}

static int check_twice(const struct load_value *values, int index, struct err *err)
{
    for (int i = 0; i < index; i++) {
        if (strcmp(values[i].name, values[index].name) == 0) {
            return err_set(err, ERR_PARSE, "\"%s\" twice, expected each once",
                           values[index].name);
        }
    }
    return ERR_NONE;
}

int local_resources_read(struct arena *arena, const char *text,
                         struct load_value *values, int *n_values, struct err *err)
{
    int count = 0;
    for (const char *part; (part = take_part(arena, &text)) != NULL; count++) {
        if (count == LOCAL_RESOURCES_MAX) {
            return err_set(err, ERR_BOUNDS, "more than %d resources",
                           LOCAL_RESOURCES_MAX);
        }
        int code = read_part(arena, part, &values[count], err);
        if (code == ERR_NONE) {
            code = check_twice(values, count, err);
        }
        if (code != ERR_NONE) {
            return code;
        }
    }
    if (*text != '\0') {
        return err_set(err, ERR_PARSE, "\"%.40s\", expected [resource NAME] ...", text);
    }
    *n_values = count;
    return ERR_NONE;
}
