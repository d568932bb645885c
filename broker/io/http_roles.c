/* SPDX-License-Identifier: Apache-2.0 */
/* http_roles.c: see http_roles.h. */
#include "broker/io/http_roles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "broker/io/owned_file.h"

enum { LINE_SIZE = 256 };

struct role {
    char name[HTTP_ROLES_NAME_SIZE]; /* of a group with its @ */
    bool may_change;
};

struct http_roles {
    struct role *rows;
    int count;
};

static const struct role *find(const struct http_roles *roles, const char *name)
{
    for (int i = 0; i < roles->count; i++) {
        if (strcmp(roles->rows[i].name, name) == 0) {
            return &roles->rows[i];
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- the file */

static int take_line(struct http_roles *roles, const char *path, int line,
                     const char *text, struct err *err)
{
    char name[LINE_SIZE] = "", word[LINE_SIZE] = "", more[LINE_SIZE];
    int n = sscanf(text, "%255s %255s %255s", name, word, more);
    if (n <= 0 || name[0] == '#') {
        return 0;
    }
    bool may_change = strcmp(word, "change") == 0;
    if (n != 2 || (!may_change && strcmp(word, "read") != 0) ||
        strlen(name) >= HTTP_ROLES_NAME_SIZE || strcmp(name, "@") == 0) {
        return err_set(err, ERR_PARSE,
                       "roles \"%s\": line %d, expected USER or @GROUP (at most %d "
                       "characters), and then read or change",
                       path, line, HTTP_ROLES_NAME_SIZE - 1);
    }
    if (find(roles, name) != NULL) {
        return err_set(err, ERR_PARSE,
                       "roles \"%s\": line %d, \"%s\" twice, expected each name once",
                       path, line, name);
    }
    if (roles->count == HTTP_ROLES_MAX) {
        return err_set(err, ERR_BOUNDS, "roles \"%s\": more than %d roles", path,
                       HTTP_ROLES_MAX);
    }
    struct role *role = &roles->rows[roles->count++];
    role->may_change = may_change;
    snprintf(role->name, sizeof(role->name), "%s", name);
    return 0;
}

int http_roles_load(const char *path, struct http_roles **roles, struct err *err)
{
    FILE *file;
    int rc = owned_file_open(path, "roles", OWNED_FILE_PUBLIC, &file, err);
    if (rc < 0) {
        return rc;
    }
    struct http_roles *loaded = mem_alloc(1, sizeof(*loaded));
    loaded->rows = mem_alloc(HTTP_ROLES_MAX, sizeof(*loaded->rows));
    char text[LINE_SIZE];
    for (int line = 1; rc == 0 && fgets(text, sizeof(text), file) != NULL; line++) {
        rc = strchr(text, '\n') == NULL && !feof(file)
                 ? err_set(err, ERR_PARSE,
                           "roles \"%s\": line %d, expected at most %d characters",
                           path, line, LINE_SIZE - 2)
                 : take_line(loaded, path, line, text, err);
    }
    if (rc == 0 && ferror(file)) {
        rc = err_set(err, ERR_IO, "roles \"%s\": %s", path, strerror(errno));
    }
    fclose(file);
    if (rc < 0) {
        http_roles_free(loaded);
        return rc;
    }
    *roles = loaded;
    return 0;
}

void http_roles_free(struct http_roles *roles)
{
    if (roles != NULL) {
        free(roles->rows);
        free(roles);
    }
}

/* ---------------------------------------------------------------- judging */

bool http_roles_may_change(const struct http_roles *roles, const char *user,
                           const char *groups)
{
    const struct role *own = user[0] != '@' ? find(roles, user) : NULL;
    if (own != NULL || groups == NULL) {
        return own != NULL && own->may_change;
    }
    bool may_change = false;
    while (*groups != '\0') {
        char name[HTTP_ROLES_NAME_SIZE];
        groups += strspn(groups, ", ");
        int length = (int)strcspn(groups, ", ");
        if (length > 0 &&
            snprintf(name, sizeof(name), "@%.*s", length, groups) < (int)sizeof(name)) {
            const struct role *role = find(roles, name);
            may_change = may_change || (role != NULL && role->may_change);
        }
        groups += length;
    }
    return may_change;
}
