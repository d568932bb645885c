/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_rows.c: see resreq_rows.h. */
#include "tests/unit/sched/resreq_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char hosts_file[] = "tests/data/resreq_hosts.txt";

static int id_of(struct resources *resources, char *name, enum resource_type type)
{
    size_t length = strlen(name);
    bool is_dynamic = length > 0 && name[length - 1] == '%';
    struct resource defined = {.name = name, .type = type};
    struct err err;
    if (is_dynamic) {
        name[length - 1] = '\0';
        defined.interval_ms = 30000;
    }
    defined.is_consumable = type == RESOURCE_NUMERIC;
    int id = resources_find(resources, name, strlen(name));
    if (id < 0 && resources_add(resources, &defined, &id, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return id;
}

static void set_word(struct resreq_rows_hosts *hosts, int row, char *word)
{
    char *value = strchr(word, '=');
    if (word[0] == '!') {
        int id = id_of(hosts->resources, word + 1, RESOURCE_BOOLEAN);
        resource_table_set_exclusive(hosts->table, row, id, true);
        return;
    }
    assert_non_null(value);
    *value++ = '\0';
    if (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0) {
        int id = id_of(hosts->resources, word, RESOURCE_BOOLEAN);
        resource_table_set_flag(hosts->table, row, id, value[0] == 'y');
    } else if (value[0] == '\'') {
        value[strlen(value) - 1] = '\0';
        int id = id_of(hosts->resources, word, RESOURCE_STRING);
        resource_table_set_text(hosts->table, row, id, value + 1);
    } else {
        int id = id_of(hosts->resources, word, RESOURCE_NUMERIC);
        resource_table_set_number(hosts->table, row, id, strtod(value, NULL));
    }
}

static void load_host(struct resreq_rows_hosts *hosts, char *line)
{
    char *word = strsep(&line, " ");
    int row = hosts->n_hosts++;
    assert_true(row < 16);
    snprintf(hosts->names[row], sizeof(hosts->names[row]), "%s", word);
    resource_table_resize(hosts->table, hosts->n_hosts);
    resource_table_set_text(hosts->table, row, RESOURCE_HNAME, word);
    while ((word = strsep(&line, " ")) != NULL) {
        set_word(hosts, row, word);
    }
}

void resreq_rows_load(struct resreq_rows_hosts *hosts)
{
    char line[2048];
    FILE *file = fopen(hosts_file, "r");
    assert_non_null(file);
    *hosts = (struct resreq_rows_hosts){.resources = resources_new()};
    hosts->table = resource_table_new(hosts->resources);
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && line[0] != '\0') {
            load_host(hosts, line);
        }
    }
    fclose(file);
}

void resreq_rows_release(struct resreq_rows_hosts *hosts)
{
    resource_table_free(hosts->table);
    resources_free(hosts->resources);
}

int resreq_rows_find(const struct resreq_rows_hosts *hosts, const char *name)
{
    for (int row = 0; row < hosts->n_hosts; row++) {
        if (strcmp(hosts->names[row], name) == 0) {
            return row;
        }
    }
    fail_msg("%s: no host %s", hosts_file, name);
    return -1;
}

int resreq_rows_strings(char *text, const char **strings)
{
    int n_strings = 0;
    for (;;) {
        char *cut = strstr(text, " ;; ");
        assert_true(n_strings < RESREQ_ROWS_STRINGS_MAX);
        strings[n_strings++] = text;
        if (cut == NULL) {
            return n_strings;
        }
        *cut = '\0';
        text = cut + 4;
    }
}

int resreq_rows_each(const char *path, int n_columns,
                     bool (*run)(char *const *columns, const char *at, void *context),
                     void *context)
{
    char line[2048], at[256];
    char *columns[8];
    int n_rows = 0, n_wrong = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(n_columns <= 8);
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0') {
            continue;
        }
        snprintf(at, sizeof(at), "%s:%d", path, number);
        for (int i = 0; i < n_columns; i++) {
            columns[i] = strsep(&rest, "\t");
            if (columns[i] == NULL) {
                fail_msg("%s: %d columns, expected %d", at, i, n_columns);
            }
        }
        n_wrong += !run(columns, at, context);
        n_rows++;
    }
    fclose(file);
    assert_int_equal(n_wrong, 0);
    return n_rows;
}
