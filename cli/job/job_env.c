/* SPDX-License-Identifier: Apache-2.0 */
/* job_env.c: see job_env.h. */
#include "cli/job/job_env.h"

#include <stdbool.h>
#include <string.h>

struct selection {
    struct arena *arena;
    char *const *given;
    const char **env;
    int n_env;
};

static size_t name_length(const char *variable)
{
    return strcspn(variable, "=");
}

static bool has_name(const char *variable, const char *name, size_t length)
{
    return name_length(variable) == length && strncmp(variable, name, length) == 0;
}

static void drop(struct selection *selection, const char *name, size_t length)
{
    int kept = 0;
    for (int i = 0; i < selection->n_env; i++) {
        if (!has_name(selection->env[i], name, length)) {
            selection->env[kept++] = selection->env[i];
        }
    }
    selection->n_env = kept;
}

static void add(struct selection *selection, const char *variable)
{
    drop(selection, variable, name_length(variable));
    selection->env[selection->n_env++] = variable;
}

static const char *find_given(const struct selection *selection, const char *name)
{
    for (char *const *at = selection->given; *at != NULL; at++) {
        if (has_name(*at, name, strlen(name))) {
            return *at;
        }
    }
    return NULL;
}

static void add_all(struct selection *selection)
{
    for (char *const *at = selection->given; *at != NULL; at++) {
        selection->env[selection->n_env++] = *at;
    }
}

static bool is_name(const char *text, size_t length)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                               "0123456789";
    return length > 0 && strchr(letters, text[0]) != NULL &&
           strspn(text, more) >= length;
}

/* Reads an item without quotes and blanks around it; NULL at the end. */
static char *read_item(struct arena *arena, const char **list, bool *is_open)
{
    const char *from = *list + strspn(*list, " \t");
    char *item = arena_alloc(arena, strlen(from) + 1, 1), *to = item;
    bool is_quoted = false;
    while (*from != '\0' && (is_quoted || *from != ',')) {
        if (*from == '\'') {
            is_quoted = !is_quoted;
        } else {
            *to++ = *from;
        }
        from++;
    }
    while (to > item && (to[-1] == ' ' || to[-1] == '\t')) {
        to--;
    }
    *to = '\0';
    *is_open = is_quoted;
    *list = *from == ',' ? from + 1 : NULL;
    return item;
}

static int take(struct selection *selection, const char *item, bool is_first,
                struct err *err)
{
    bool is_out = item[0] == '~';
    const char *name = item + is_out;
    size_t length = name_length(name);
    bool has_value = name[length] == '=';
    if (is_first && strcmp(item, "all") == 0) {
        add_all(selection);
        return 0;
    }
    if (!is_name(name, length) || (is_out && has_value)) {
        return err_set(err, ERR_PARSE,
                       "\"%.60s\", expected none, all, NAME, NAME=VALUE or ~NAME",
                       item);
    }
    if (is_out) {
        drop(selection, name, length);
    } else if (has_value) {
        add(selection, name);
    } else if (find_given(selection, name) != NULL) {
        add(selection, find_given(selection, name));
    } else {
        return err_set(err, ERR_PARSE,
                       "variable %.60s is not set here, expected %.60s=VALUE", name,
                       name);
    }
    return 0;
}

static int count(const char *list, char *const *given)
{
    int n = 1;
    for (; *list != '\0'; list++) {
        n += *list == ',';
    }
    while (*given != NULL) {
        n++;
        given++;
    }
    return n;
}

int job_env_select(struct arena *arena, const char *list, char *const *given,
                   const char ***env, int *n_env, struct err *err)
{
    struct selection selection = {.arena = arena, .given = given};
    int code = 0;
    selection.env =
        arena_alloc(arena, (size_t)count(list, given) + 1, sizeof(*selection.env));
    if (strcmp(list, "none") != 0) {
        for (bool is_first = true; code == 0 && list != NULL; is_first = false) {
            bool is_open;
            const char *item = read_item(arena, &list, &is_open);
            code = is_open ? err_set(err, ERR_PARSE, "a quote that does not end")
                           : take(&selection, item, is_first, err);
        }
    }
    *env = selection.env;
    *n_env = selection.n_env;
    return code;
}
