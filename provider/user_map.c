/* SPDX-License-Identifier: Apache-2.0 */
/* user_map.c: see user_map.h. */
#include "provider/user_map.h"

#include <string.h>
#include <strings.h>

#include "base/bounds.h"

enum { ROWS_MAX = 100000 };

static const char everybody[] = "all";

struct reader {
    struct conf *conf;
    const struct conf_section *section;
    const struct conf_row *row;
    struct user_map_row *rows;
    int n_rows;
};

#define COMPLAIN(reader, severity, cell, ...)                                          \
    conf_complain((reader)->conf, severity, (reader)->section, (reader)->row, cell,    \
                  __VA_ARGS__)

static bool is_all(const char *name)
{
    return strcasecmp(name, everybody) == 0;
}

/* Splits "ana@south". False, with a complaint, for another text. */
static bool split(struct reader *reader, const struct conf_cell *cell, const char *word,
                  const char **user, const char **site)
{
    const char *at = strrchr(word, '@');
    size_t length = at != NULL ? (size_t)(at - word) : 0;
    if (at == NULL || length == 0 || length >= NAME_SIZE ||
        conf_parse_name(at + 1, NULL) != 0) {
        COMPLAIN(reader, CONF_ERROR, cell, "\"%s\", expected USER@SITE or all@SITE",
                 word);
        return false;
    }
    *user = arena_strn(reader->conf->arena, word, length);
    *site = at + 1;
    return true;
}

static void read_remotes(struct reader *reader, const char *local,
                         const struct conf_cell *cell)
{
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
    for (int i = 0; i < words.count; i++) {
        struct user_map_row row = {.local = local};
        if (!split(reader, cell, words.words[i], &row.user, &row.site)) {
            continue;
        }
        if (is_all(local) && strcmp(row.user, "root") == 0) {
            COMPLAIN(reader, CONF_ERROR, cell,
                     "\"%s\" would run as root, expected "
                     "another LOCAL",
                     words.words[i]);
        } else if (reader->n_rows == ROWS_MAX) {
            COMPLAIN(reader, CONF_ERROR, cell, "too many users, expected at most %d",
                     ROWS_MAX);
            return;
        } else {
            reader->rows[reader->n_rows++] = row;
        }
    }
}

/* The one account that an import is to. NULL with a complaint. */
static const char *read_local(struct reader *reader, const struct conf_cell *cell)
{
    struct conf_words words =
        conf_words(reader->conf->arena, cell != NULL ? cell->value : NULL);
    if (words.count != 1 || strlen(words.words[0]) >= NAME_SIZE) {
        COMPLAIN(reader, CONF_ERROR, cell,
                 "%d names to import as, expected one account, or all: the same name",
                 words.count);
        return NULL;
    }
    if (strcmp(words.words[0], "root") == 0) {
        COMPLAIN(reader, CONF_ERROR, cell,
                 "a user of another site cannot run as root, expected another account");
        return NULL;
    }
    return words.words[0];
}

static void read_row(struct reader *reader)
{
    const struct conf_cell *remote = conf_cell(reader->row, "REMOTE");
    const char *direction = conf_text(reader->row, "DIRECTION", "");
    if (remote == NULL || remote->value == NULL) {
        COMPLAIN(reader, CONF_ERROR, remote, "no REMOTE, expected USER@SITE");
        return;
    }
    if (strcasecmp(direction, "export") == 0) {
        COMPLAIN(reader, CONF_WARNING, conf_cell(reader->row, "DIRECTION"),
                 "export has no effect: the site that lends decides, by its import");
        return;
    }
    if (strcasecmp(direction, "import") != 0) {
        return; /* conf_check has said so, or the column is not there */
    }
    const char *local = read_local(reader, conf_cell(reader->row, "LOCAL"));
    if (local != NULL) {
        read_remotes(reader, local, remote);
    }
}

/* No fewer than there are users of other sites. */
static int count_users(const struct conf *conf)
{
    int count = 0;
    const struct conf_section *section = NULL;
    while ((section = conf_next(conf, "UserMap", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            const char *text = conf_text(&section->rows[i], "REMOTE", "");
            for (; *text != '\0'; text++) {
                count += *text == '@';
            }
        }
    }
    return count;
}

void user_map_read(struct conf *conf, struct user_map *map)
{
    struct reader reader = {.conf = conf};
    int n_users = count_users(conf);
    reader.rows = arena_alloc(conf->arena, (size_t)n_users + 1, sizeof(*reader.rows));
    *map = (struct user_map){0};
    while ((reader.section = conf_next(conf, "UserMap", reader.section)) != NULL) {
        map->is_set = true;
        for (int i = 0; i < reader.section->n_rows; i++) {
            reader.row = &reader.section->rows[i];
            read_row(&reader);
        }
    }
    map->rows = reader.rows;
    map->n_rows = reader.n_rows;
}

const char *user_map_account(const struct user_map *map, const char *user,
                             const char *site, const char *otherwise)
{
    if (!map->is_set) {
        return otherwise;
    }
    for (int i = 0; i < map->n_rows; i++) {
        const struct user_map_row *row = &map->rows[i];
        if (strcmp(row->site, site) != 0 ||
            (!is_all(row->user) && strcmp(row->user, user) != 0)) {
            continue;
        }
        const char *account = is_all(row->local) ? user : row->local;
        return account[0] != '\0' && strcmp(account, "root") != 0 ? account : NULL;
    }
    return NULL;
}
