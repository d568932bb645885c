/* SPDX-License-Identifier: Apache-2.0 */
/* conf_check.c: the checking half of conf.h: each section, key and value against the
 * tables of keys. */
#include "base/conf/conf.h"

#include <string.h>
#include <strings.h>

#include "base/conf/conf_hosts.h"
#include "base/conf/conf_keys.h"
#include "base/conf/lsf_keys.h"

static int parse_list(const char *value, struct err *err)
{
    int depth = 0;
    bool quoted = false;
    for (const char *at = value; *at != '\0' && depth >= 0; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted && (*at == '(' || *at == '[')) {
            depth++;
        } else if (!quoted && (*at == ')' || *at == ']')) {
            depth--;
        }
    }
    if (depth != 0) {
        return err_set(err, ERR_PARSE,
                       "parentheses do not pair in \"%.*s\", expected a list of words",
                       conf_shown(value), value);
    }
    return ERR_NONE;
}

static int parse_word(const struct conf_key *key, const char *value, size_t length,
                      struct err *err)
{
    const char *at = key->words;
    while (*at != '\0') {
        size_t one = strcspn(at, " ");
        if (one == length && strncasecmp(at, value, one) == 0) {
            return ERR_NONE;
        }
        at += one;
        at += strspn(at, " ");
    }
    return err_set(err, ERR_PARSE, "\"%.*s\" is not known, expected %s%s",
                   (int)length < conf_shown(value) ? (int)length : conf_shown(value),
                   value, strchr(key->words, ' ') != NULL ? "one of " : "", key->words);
}

static int parse_words(const struct conf_key *key, const char *value, struct err *err)
{
    int code = ERR_NONE;
    while (code == ERR_NONE && *(value += strspn(value, " \t")) != '\0') {
        size_t length = strcspn(value, " \t");
        code = parse_word(key, value, length, err);
        value += length;
    }
    return code;
}

static int parse_value(const struct conf_key *key, const char *value, struct err *err)
{
    int64_t number;
    bool flag;
    switch (key->kind) {
    case CONF_NAME:
        return conf_parse_name(value, err);
    case CONF_LIST:
    case CONF_HOSTS:
        return parse_list(value, err);
    case CONF_INT:
        return conf_parse_int(value, key->min, key->max, &number, err);
    case CONF_COUNT:
        return strcmp(value, "!") == 0
                   ? ERR_NONE
                   : conf_parse_int(value, key->min, key->max, &number, err);
    case CONF_YESNO:
        return conf_parse_bool(value, &flag, err);
    case CONF_DURATION:
        return conf_parse_key_duration(key, value, &number, err);
    case CONF_WORD:
        return parse_word(key, value, strlen(value), err);
    case CONF_WORDS:
        return parse_words(key, value, err);
    case CONF_TEXT:
        break;
    }
    return ERR_NONE;
}

/* A load index that the site defines has its thresholds under its own name. */
static bool is_index(const struct conf *conf, const struct conf_section *section,
                     const char *key)
{
    struct conf_place resource = {0};
    if (strcasecmp(section->name, "Host") != 0 &&
        strcasecmp(section->name, "Queue") != 0) {
        return false;
    }
    while (conf_next_row(conf, "Resource", &resource)) {
        if (strcasecmp(conf_text(resource.row, "RESOURCENAME", ""), key) == 0) {
            return true;
        }
    }
    return false;
}

/* Complains about a key that has no effect here. True if that is done for the rest of a
 * column, too; false for a cell without a value. */
static bool check_unbuilt(struct conf *conf, const struct conf_section *section,
                          const struct conf_row *row, const struct conf_cell *cell)
{
    const char *what;
    bool is_outside = section->name[0] == '\0';
    enum lsf_class class = lsf_keys_class(section->name, cell->key, &what);
    const char *nearest =
        class == LSF_UNKNOWN ? lsf_keys_nearest(section->name, cell->key) : NULL;
    if (nearest != NULL) {
        conf_complain(conf, CONF_WARNING, section, row, cell,
                      "unknown key, did you mean %s?", nearest);
    } else if (class == LSF_UNKNOWN) {
        conf_complain(conf, CONF_WARNING, section, row, cell,
                      "unknown key, expected one of %s%s",
                      is_outside ? "lsf.conf" : "section ", section->name);
    } else if (cell->value == NULL) {
        return false;
    } else if (class == LSF_REFUSED) {
        conf_complain(conf, CONF_ERROR, section, row, cell,
                      "not supported: %s; expected no value", what);
    } else if (class == LSF_UNSUPPORTED) {
        conf_complain(conf, CONF_WARNING, section, row, cell, "not supported: %s",
                      what);
    }
    return true;
}

/* Checks one cell; `key` is NULL if the table does not have it. True if nothing is to
 * be said about the rest of the column. */
static bool check_cell(struct conf *conf, const struct conf_section *section,
                       const struct conf_row *row, const struct conf_cell *cell,
                       const struct conf_key *key)
{
    if (key == NULL) {
        return is_index(conf, section, cell->key) ||
               check_unbuilt(conf, section, row, cell);
    }
    if (cell->value == NULL) {
        return false;
    }
    struct err err;
    if (parse_value(key, cell->value, &err) != ERR_NONE) {
        conf_complain(conf, CONF_ERROR, section, row, cell, "%s", err.text);
    }
    return false;
}

static void check_table(struct conf *conf, const struct conf_section *section,
                        bool with_names)
{
    for (int column = 0; column < section->n_columns; column++) {
        const struct conf_key *key =
            conf_keys_among(section->keys, section->columns[column]);
        bool is_reported = key == NULL && !with_names;
        for (int i = 0; i < section->n_rows && !is_reported; i++) {
            const struct conf_row *row = &section->rows[i];
            if (column < row->n_cells) {
                is_reported = check_cell(conf, section, row, &row->cells[column], key);
            }
        }
    }
}

static void check_keyed(struct conf *conf, const struct conf_section *section,
                        bool with_names)
{
    const struct conf_row *row = &section->rows[0];
    for (int i = 0; i < row->n_cells; i++) {
        const struct conf_cell *cell = &row->cells[i];
        const struct conf_cell *before = conf_cell(row, cell->key);
        if (before != cell) {
            conf_complain(conf, CONF_ERROR, section, row, cell,
                          "given again, expected once; first in line %d", before->line);
            continue;
        }
        const struct conf_key *key = conf_keys_among(section->keys, cell->key);
        if (key != NULL || with_names) {
            check_cell(conf, section, row, cell, key);
        }
    }
}

static void check(struct conf *conf, bool with_names)
{
    conf_hosts_expand(conf);
    for (const struct conf_section *section = conf->first; section != NULL;
         section = section->next) {
        const char *what = NULL;
        enum lsf_class class = section->keys != NULL
                                   ? LSF_WORKS
                                   : lsf_keys_class(section->name, NULL, &what);
        if (class == LSF_UNKNOWN && with_names) {
            conf_complain(conf, CONF_WARNING, section, NULL, NULL,
                          "section %.*s: unknown, expected a section of LSF or of ours",
                          conf_shown(section->name), section->name);
        } else if (class == LSF_UNSUPPORTED && with_names) {
            conf_complain(conf, CONF_WARNING, section, NULL, NULL,
                          "section %s: not supported: %s", section->name, what);
        } else if (class == LSF_WORKS && section->is_table) {
            check_table(conf, section, with_names);
        } else if (class == LSF_WORKS) {
            check_keyed(conf, section, with_names);
        }
    }
}

void conf_check(struct conf *conf)
{
    check(conf, true);
}

void conf_check_values(struct conf *conf)
{
    check(conf, false);
}
