/* SPDX-License-Identifier: Apache-2.0 */
/* compute_unit.c: section ComputeUnit, see config_parts.h and site_config.h. Which
 * hosts a unit has is known from its group (groups.h); here the types are checked, and
 * hosts are listed by type. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf/conf_value.h"
#include "site/config/config_parts.h"

/* The index of the type; -1: there is none of that name. */
static int find_type(const struct resreq_unit_types *types, const char *name)
{
    for (int i = 0; i < types->n_names; i++) {
        if (strcmp(types->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* enclosure! rack cabinet, with the ! after the word or apart from it. */
static void read_types(struct conf *conf, struct resreq_unit_types *types)
{
    struct conf_place at = conf_value_last(conf, "Parameters", "COMPUTE_UNIT_TYPES");
    const char *text =
        at.row != NULL ? conf_text(at.row, "COMPUTE_UNIT_TYPES", NULL) : NULL;
    struct conf_words words = conf_words(conf->arena, text);
    const char **names =
        arena_alloc(conf->arena, (size_t)words.count + 1, sizeof(*names));
    int n_marked = 0;
    types->names = names;
    for (int i = 0; i < words.count; i++) {
        size_t length = strlen(words.words[i]);
        bool is_marked = words.words[i][length - 1] == '!';
        const char *name =
            arena_strn(conf->arena, words.words[i], length - (is_marked ? 1 : 0));
        if (name[0] != '\0' && find_type(types, name) >= 0) {
            CONF_COMPLAIN(conf, CONF_ERROR, &at, "COMPUTE_UNIT_TYPES",
                          "the type \"%s\" appears twice", name);
        } else if (name[0] != '\0') {
            names[types->n_names++] = name;
        }
        if (is_marked && types->n_names > 0) {
            types->first = types->n_names - 1;
            n_marked++;
        }
    }
    if (n_marked > 1) {
        CONF_COMPLAIN(conf, CONF_ERROR, &at, "COMPUTE_UNIT_TYPES",
                      "more than one default type, expected one ! at most");
    }
}

/* ---------------------------------------------------------------- units */

struct unit_reader {
    struct conf *conf;
    const struct groups *groups;
    struct compute_units *units;
    int *member_type; /* by type: of its members; -1: none seen yet */
    struct compute_unit_type *of_type;
};

#define COMPLAIN(reader, at, key, ...)                                                 \
    CONF_COMPLAIN((reader)->conf, CONF_ERROR, at, key, __VA_ARGS__)

/* False, with an error: it cannot be a member of a unit of that type. */
static bool is_member(struct unit_reader *reader, const struct conf_place *at, int type,
                      const char *word)
{
    const struct resreq_unit_types *types = &reader->units->types;
    const struct name_group *group = groups_find_hosts(reader->groups, word);
    bool is_unit = group != NULL && group->type != NULL;
    int member = is_unit ? find_type(types, group->type) : -1;
    int others = reader->member_type[type];
    if (word[0] == '~' || strcasecmp(word, "all") == 0 || strchr(word, '@') != NULL) {
        COMPLAIN(reader, at, "MEMBER", "\"%s\": expected names of %s", word,
                 type == 0 ? "own hosts and host groups" : "compute units");
        return false;
    }
    if (type == 0 && is_unit) {
        COMPLAIN(
            reader, at, "MEMBER",
            "\"%s\" is a compute unit; units of the finest type (%s) have hosts and "
            "host groups",
            word, types->names[0]);
        return false;
    }
    if (type > 0 && (member < 0 || member >= type)) {
        COMPLAIN(
            reader, at, "MEMBER",
            "\"%s\" is no compute unit of a finer type than %s; only units of type "
            "%s have hosts",
            word, types->names[type], types->names[0]);
        return false;
    }
    if (type > 0 && others >= 0 && others != member) {
        COMPLAIN(
            reader, at, "MEMBER",
            "\"%s\" is of type %s, but other units of type %s have units of type %s",
            word, types->names[member], types->names[type], types->names[others]);
        return false;
    }
    reader->member_type[type] = member;
    return true;
}

static int by_name(const void *left, const void *right)
{
    const struct compute_unit_host *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static int by_name_and_unit(const void *left, const void *right)
{
    const struct compute_unit_host *a = left, *b = right;
    int order = by_name(a, b);
    return order != 0 ? order : a->unit - b->unit;
}

static void add_hosts(struct unit_reader *reader, int type,
                      const struct name_group *group)
{
    struct compute_unit_type *of_type = &reader->of_type[type];
    int n_hosts = of_type->n_hosts + group->members.n_names;
    struct compute_unit_host *hosts =
        arena_alloc(reader->conf->arena, (size_t)n_hosts + 1, sizeof(*hosts));
    if (of_type->n_hosts > 0) {
        memcpy(hosts, of_type->hosts, (size_t)of_type->n_hosts * sizeof(*hosts));
    }
    for (int i = 0; i < group->members.n_names; i++) {
        hosts[of_type->n_hosts++] =
            (struct compute_unit_host){group->members.names[i], of_type->n_units};
    }
    of_type->hosts = hosts;
    of_type->n_units++;
}

static void read_unit(struct unit_reader *reader, const struct conf_place *at)
{
    const struct resreq_unit_types *types = &reader->units->types;
    const char *name = conf_text(at->row, "NAME", NULL);
    const char *type_name = conf_text(at->row, "TYPE", NULL);
    const struct name_group *group =
        name != NULL ? groups_find_hosts(reader->groups, name) : NULL;
    if (group == NULL || group->type == NULL) {
        return; /* groups_read has reported it */
    }
    int type = type_name != NULL ? find_type(types, type_name) : -1;
    if (type < 0) {
        COMPLAIN(reader, at, "TYPE",
                 "compute unit \"%s\": expected a TYPE of "
                 "COMPUTE_UNIT_TYPES in section Parameters%s",
                 name, types->n_names == 0 ? ", which is not set" : "");
        return;
    }
    struct conf_words words =
        conf_words(reader->conf->arena, conf_text(at->row, "MEMBER", NULL));
    bool is_good = true;
    for (int i = 0; i < words.count; i++) {
        is_good = is_member(reader, at, type, words.words[i]) && is_good;
    }
    if (is_good) {
        add_hosts(reader, type, group);
    }
}

/* A host in two units of one type is an error. */
static void sort_hosts(struct unit_reader *reader, int type)
{
    const struct compute_unit_type *of_type = &reader->of_type[type];
    struct conf_place at = conf_value_last(reader->conf, "ComputeUnit", "MEMBER");
    struct compute_unit_host *hosts = arena_copy(
        reader->conf->arena, of_type->hosts, (size_t)of_type->n_hosts * sizeof(*hosts));
    if (of_type->n_hosts == 0) {
        return;
    }
    qsort(hosts, (size_t)of_type->n_hosts, sizeof(*hosts), by_name_and_unit);
    for (int i = 1; i < of_type->n_hosts; i++) {
        if (by_name(&hosts[i - 1], &hosts[i]) == 0) {
            COMPLAIN(reader, &at, "MEMBER",
                     "host \"%s\" is in two compute units of type %s", hosts[i].name,
                     reader->units->types.names[type]);
        }
    }
    reader->of_type[type].hosts = hosts;
}

int compute_units_exclusive_type(const struct compute_units *units,
                                 const struct queue_config *queue)
{
    const char *name = queue->exclusive_units;
    if (name == NULL || (name[0] == '\0' && units->types.n_names == 0)) {
        return -1;
    }
    return name[0] == '\0' ? units->types.first : find_type(&units->types, name);
}

bool compute_units_may_exclude(const struct compute_units *units,
                               const struct queue_config *queue, int type)
{
    return compute_units_exclusive_type(units, queue) >= type;
}

static void check_queues(struct conf *conf, const struct compute_units *units)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, "Queue", &at)) {
        struct queue_config queue;
        struct err err;
        const char *value = conf_text(at.row, "EXCLUSIVE", "N");
        if (queue_exclusive_read(conf->arena, value, &queue, &err) == 0 &&
            queue.exclusive_units != NULL &&
            compute_units_exclusive_type(units, &queue) < 0) {
            CONF_COMPLAIN(conf, CONF_ERROR, &at, "EXCLUSIVE",
                          "\"%s\" names no type of COMPUTE_UNIT_TYPES", value);
        }
    }
}

void compute_unit_read(struct conf *conf, struct site_config *config)
{
    struct compute_units *units = &config->units;
    struct conf_place at = {0};
    read_types(conf, &units->types);
    size_t n_types = (size_t)units->types.n_names;
    struct unit_reader reader = {
        .conf = conf,
        .groups = &config->groups,
        .units = units,
        .member_type = arena_alloc(conf->arena, n_types + 1, sizeof(int)),
        .of_type = arena_alloc(conf->arena, n_types + 1, sizeof(*reader.of_type)),
    };
    for (size_t i = 0; i < n_types; i++) {
        reader.member_type[i] = -1;
    }
    while (conf_next_row(conf, "ComputeUnit", &at)) {
        read_unit(&reader, &at);
    }
    for (size_t i = 0; i < n_types; i++) {
        sort_hosts(&reader, (int)i);
    }
    units->of_type = reader.of_type;
    check_queues(conf, units);
}

int compute_unit_of(const struct compute_units *units, int type, const char *host)
{
    const struct compute_unit_type *of_type = &units->of_type[type];
    const struct compute_unit_host key = {.name = host};
    const struct compute_unit_host *found =
        of_type->n_hosts == 0 ? NULL
                              : bsearch(&key, of_type->hosts, (size_t)of_type->n_hosts,
                                        sizeof(key), by_name);
    return found != NULL ? found->unit : -1;
}
