/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_hostlist.c: see slurm_hostlist.h. */
#include "slurm/slurm_hostlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"

/* Nine digits fit an int. */
enum { DIGITS_MAX = 9 };

struct hostlist {
    struct arena *arena;
    const char **names;
    int count, capacity;
};

static int add_name(struct hostlist *list, const char *name, struct err *err)
{
    struct err cause;
    if (conf_parse_name(name, &cause) != 0) {
        return err_set(err, ERR_BOUNDS, "node \"%.64s\": %s", name, cause.text);
    }
    if (list->count == HOSTS_MAX) {
        return err_set(err, ERR_BOUNDS, "more than %d nodes in a list", HOSTS_MAX);
    }
    list->names = mem_room(list->names, list->count, &list->capacity, sizeof(name));
    list->names[list->count++] = name;
    return 0;
}

/* Reads digits at *text. False if there are none, or too many. */
static bool read_digits(const char **text, int *number, int *width)
{
    *width = (int)strspn(*text, "0123456789");
    if (*width == 0 || *width > DIGITS_MAX) {
        return false;
    }
    *number = (int)strtol(*text, NULL, 10);
    *text += *width;
    return true;
}

static int add_names(struct hostlist *list, const char *head, const char *rest,
                     struct err *err);

/* Names for each number of a group; `at` is behind its "[". */
static int add_group(struct hostlist *list, const char *head, const char *at,
                     const char *tail, struct err *err)
{
    int rc = 0;
    while (rc == 0) {
        int first, last, width, last_width;
        if (!read_digits(&at, &first, &width)) {
            return err_set(err, ERR_PARSE, "expected a number at \"%.40s\"", at);
        }
        last = first;
        if (*at == '-') {
            at++;
            if (!read_digits(&at, &last, &last_width) || last < first) {
                return err_set(err, ERR_PARSE,
                               "expected a range that grows at "
                               "\"%.40s\"",
                               at);
            }
        }
        for (int i = first; i <= last && rc == 0; i++) {
            rc = add_names(list, arena_printf(list->arena, "%s%0*d", head, width, i),
                           tail, err);
        }
        if (*at == ']') {
            break;
        }
        if (*at++ != ',') {
            return err_set(err, ERR_PARSE, "expected \",\" or \"]\" at \"%.40s\"",
                           at - 1);
        }
    }
    return rc;
}

/* All names that begin with `head` and go on as `rest` says. */
static int add_names(struct hostlist *list, const char *head, const char *rest,
                     struct err *err)
{
    const char *open = strchr(rest, '[');
    if (strlen(head) >= NAME_SIZE) {
        return err_set(err, ERR_BOUNDS, "node \"%.64s...\": the name is too long",
                       head);
    }
    if (open == NULL) {
        return strchr(rest, ']') == NULL
                   ? add_name(list, arena_printf(list->arena, "%s%s", head, rest), err)
                   : err_set(err, ERR_PARSE, "\"]\" without \"[\" in \"%.40s\"", rest);
    }
    const char *close = strchr(open, ']');
    if (close == NULL) {
        return err_set(err, ERR_PARSE, "\"[\" without \"]\" in \"%.40s\"", rest);
    }
    head = arena_printf(list->arena, "%s%.*s", head, (int)(open - rest), rest);
    return add_group(list, head, open + 1, close + 1, err);
}

/* The length of the first item: up to a comma outside brackets. */
static size_t item_length(const char *text)
{
    bool is_inside = false;
    size_t length = 0;
    for (; text[length] != '\0' && (is_inside || text[length] != ','); length++) {
        is_inside = text[length] == '[' || (is_inside && text[length] != ']');
    }
    return length;
}

static int read_items(struct hostlist *list, const char *text, struct err *err)
{
    while (*text != '\0') {
        size_t length = item_length(text);
        int rc = add_names(list, "", arena_strn(list->arena, text, length), err);
        if (rc < 0) {
            return rc;
        }
        text += length;
        if (*text == ',' && *++text == '\0') {
            return err_set(err, ERR_PARSE, "there is no name behind the last comma");
        }
    }
    return 0;
}

int slurm_hostlist_read(struct arena *arena, const char *text,
                        const char *const **names, int *n_names, struct err *err)
{
    struct hostlist list = {.arena = arena};
    int rc = read_items(&list, text, err);
    if (rc == 0) {
        const char **made = arena_alloc(arena, (size_t)list.count + 1, sizeof(*made));
        for (int i = 0; i < list.count; i++) {
            made[i] = list.names[i];
        }
        *names = made;
        *n_names = list.count;
    }
    free(list.names);
    return rc;
}
