/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_hosts.c: JSON by jansson, line by line into a table of resources. */
#include "cli/resource/resreq_hosts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_OF_FILE_MAX = 1000000 }; /* ten times the largest federation */

/* A line that is being read. */
struct line_reader {
    struct resreq_hosts *hosts;
    struct arena *arena;
    int row;
    struct err *err;
};

static enum resource_type type_of(const json_t *value)
{
    return json_is_string(value)    ? RESOURCE_STRING
           : json_is_boolean(value) ? RESOURCE_BOOLEAN
                                    : RESOURCE_NUMERIC;
}

/* The resource's id; its first use defines it. */
static int find_resource(struct line_reader *line, const char *name,
                         enum resource_type type, int *id)
{
    struct resources *resources = line->hosts->resources;
    *id = resources_find(resources, name, strlen(name));
    if (*id < 0) {
        struct resource defined = {.name = name, .type = type, .description = ""};
        return resources_add(resources, &defined, id, line->err);
    }
    enum resource_type known = resources_at(resources, *id)->type;
    if (known == type) {
        return 0;
    }
    return err_set(line->err, ERR_PARSE, "resource \"%s\" is %s here, and %s %s", name,
                   resource_type_name(type), resource_type_name(known),
                   *id < RESOURCE_BUILTINS ? "by LSF's definition" : "on a line above");
}

static int set_resource(struct line_reader *line, const char *name, const json_t *value)
{
    struct resource_table *table = line->hosts->table;
    int id;
    if (json_is_null(value)) {
        return 0;
    }
    if (json_is_object(value) || json_is_array(value)) {
        return err_set(
            line->err, ERR_PARSE,
            "resource \"%s\" has a value of another kind, expected a text, a "
            "number, true or false",
            name);
    }
    int code = find_resource(line, name, type_of(value), &id);
    if (code != 0) {
        return code;
    }
    switch (type_of(value)) {
    case RESOURCE_STRING:
        resource_table_set_text(table, line->row, id, json_string_value(value));
        break;
    case RESOURCE_BOOLEAN:
        resource_table_set_flag(table, line->row, id, json_is_true(value));
        break;
    case RESOURCE_NUMERIC:
        resource_table_set_number(table, line->row, id, json_number_value(value));
        break;
    }
    double number = json_number_value(value);
    if (id == RESOURCE_UT && (number < 0 || number > 1)) {
        return err_set(line->err, ERR_BOUNDS, "ut is %g, expected 0.0 to 1.0", number);
    }
    return 0;
}

static int set_resources(struct line_reader *line, const json_t *object)
{
    const char *name;
    json_t *value;
    json_t *resources = json_object_get(object, "resources");
    if (resources != NULL && !json_is_object(resources)) {
        return err_set(line->err, ERR_PARSE, "\"resources\" is not an object");
    }
    json_object_foreach(resources, name, value)
    {
        int code = set_resource(line, name, value);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static int set_exclusive(struct line_reader *line, const json_t *object)
{
    json_t *list = json_object_get(object, "exclusive");
    size_t index;
    json_t *item;
    if (list != NULL && !json_is_array(list)) {
        return err_set(line->err, ERR_PARSE, "\"exclusive\" is not an array of names");
    }
    json_array_foreach(list, index, item)
    {
        int id;
        if (!json_is_string(item)) {
            return err_set(line->err, ERR_PARSE,
                           "\"exclusive\" is not an array of names");
        }
        int code = find_resource(line, json_string_value(item), RESOURCE_BOOLEAN, &id);
        if (code != 0) {
            return code;
        }
        resource_table_set_exclusive(line->hosts->table, line->row, id, true);
    }
    return 0;
}

static int set_slots(struct line_reader *line, const json_t *object, const char *name,
                     int id)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL || json_is_null(value)) {
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return err_set(line->err, ERR_PARSE, "\"%s\" is not a number of slots", name);
    }
    resource_table_set_number(line->hosts->table, line->row, id,
                              (double)json_integer_value(value));
    return 0;
}

static int set_host(struct line_reader *line, const json_t *object,
                    struct resreq_host *host)
{
    const json_t *name = json_object_get(object, "name");
    const json_t *cu = json_object_get(object, "cu");
    if (!json_is_string(name) || json_string_length(name) == 0) {
        return err_set(line->err, ERR_PARSE, "no \"name\", expected the host's");
    }
    if (cu != NULL && !json_is_null(cu) && !json_is_string(cu)) {
        return err_set(line->err, ERR_PARSE, "\"cu\" is not a name");
    }
    host->name = arena_str(line->arena, json_string_value(name));
    host->has_cu = json_is_string(cu) && json_string_length(cu) > 0;
    resource_table_set_text(line->hosts->table, line->row, RESOURCE_HNAME, host->name);
    int code = set_resources(line, object);
    if (code == 0) {
        code = set_exclusive(line, object);
    }
    if (code == 0) {
        code = set_slots(line, object, "slots", RESOURCE_SLOTS);
    }
    return code == 0 ? set_slots(line, object, "maxslots", RESOURCE_MAXSLOTS) : code;
}

/* ---------------------------------------------------------------- the file */

static int add_line(struct resreq_hosts *hosts, struct arena *arena, const char *text,
                    size_t length, int number, struct err *err)
{
    json_error_t wrong;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!json_is_object(object)) {
        json_decref(object);
        return err_set(err, ERR_PARSE, "no JSON object: %s",
                       object == NULL ? wrong.text : "another kind of value");
    }
    if (hosts->n_hosts == HOSTS_OF_FILE_MAX) {
        json_decref(object);
        return err_set(err, ERR_FULL, "more than %d hosts", HOSTS_OF_FILE_MAX);
    }
    if (hosts->n_hosts == hosts->capacity) {
        hosts->capacity = hosts->capacity * 2 + 64;
        hosts->hosts =
            mem_grow(hosts->hosts, (size_t)hosts->capacity, sizeof(*hosts->hosts));
    }
    struct line_reader line = {hosts, arena, hosts->n_hosts, err};
    struct resreq_host *host = &hosts->hosts[hosts->n_hosts++];
    *host = (struct resreq_host){.line = number, .row = line.row};
    resource_table_resize(hosts->table, hosts->n_hosts);
    int code = set_host(&line, object, host);
    json_decref(object);
    return code;
}

static int read_lines(struct resreq_hosts *hosts, struct arena *arena, FILE *file,
                      const char *path, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    int code = 0;
    ssize_t length = 0;
    for (int number = 1; code == 0 && (length = getline(&text, &size, file)) >= 0;
         number++) {
        if (text[strspn(text, " \t\r\n")] == '\0' && (size_t)length == strlen(text)) {
            continue;
        }
        code = add_line(hosts, arena, text, (size_t)length, number, err);
        if (code != 0) {
            err_prefix(err, "%s:%d", path, number);
        }
    }
    free(text);
    if (code == 0 && ferror(file)) {
        code = err_set(err, ERR_IO, "%s cannot be read: %s", path, strerror(errno));
    }
    return code;
}

static int compare_names(const void *left, const void *right)
{
    const struct resreq_host *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->line - b->line;
}

static int check_names(const struct resreq_hosts *hosts, const char *path,
                       struct err *err)
{
    int code = 0;
    size_t n_hosts = (size_t)hosts->n_hosts;
    struct resreq_host *sorted = mem_alloc(n_hosts + 1, sizeof(*sorted));
    if (n_hosts > 0) {
        memcpy(sorted, hosts->hosts, n_hosts * sizeof(*sorted));
    }
    qsort(sorted, n_hosts, sizeof(*sorted), compare_names);
    for (size_t i = 1; code == 0 && i < n_hosts; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0) {
            code = err_set(err, ERR_EXISTS, "%s:%d: host \"%s\" is on line %d already",
                           path, sorted[i].line, sorted[i].name, sorted[i - 1].line);
        }
    }
    free(sorted);
    return code;
}

int resreq_hosts_read(struct resreq_hosts *hosts, struct arena *arena, const char *path,
                      struct err *err)
{
    *hosts = (struct resreq_hosts){.resources = resources_new()};
    hosts->table = resource_table_new(hosts->resources);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return err_set(err, ERR_IO, "%s cannot be read: %s", path, strerror(errno));
    }
    int code = read_lines(hosts, arena, file, path, err);
    fclose(file);
    return code == 0 ? check_names(hosts, path, err) : code;
}

void resreq_hosts_release(struct resreq_hosts *hosts)
{
    resource_table_free(hosts->table);
    resources_free(hosts->resources);
    free(hosts->hosts);
}

int resreq_hosts_find(const struct resreq_hosts *hosts, const char *name)
{
    for (int row = 0; row < hosts->n_hosts; row++) {
        if (strcmp(hosts->hosts[row].name, name) == 0) {
            return row;
        }
    }
    return -1;
}
