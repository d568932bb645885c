/* SPDX-License-Identifier: Apache-2.0 */
/* resource_map.c: section ResourceMap: the hosts on which a resource is, and which of
 * them share it; and values of one host's own in its column RESOURCES.
 * resource_config.h describes the syntax.
 *
 * Source: LSF's lsf.cluster. */
#include "site/config/config_parts.h"

#include <string.h>
#include <strings.h>

/* All LOCATIONs of a site: each host of the largest in a hundred resources. */
enum { MEMBERS_MAX_ALL = 1000000 };

/* One row of the section. */
struct map_row {
    struct conf *conf;
    struct conf_place at;
    const char *key; /* LOCATION, or RESOURCES of a host */
    const struct resource *resource;
    const char *name; /* of it, as written: the catalogue's is freed */
    const struct resource_config_host *hosts;
    int n_hosts;
    /* Of each host: */
    bool *is_named; /* in a place of this row */
    bool *wants;    /* in the place that is being read */
};

struct map_list {
    struct resource_location *places;
    int count, capacity;
    int n_members;
    bool is_full;
    bool *is_mapped; /* by resource: it had its row */
};

#define COMPLAIN(map, key, ...)                                                        \
    conf_complain((map)->conf, CONF_ERROR, (map)->at.section, (map)->at.row,           \
                  conf_cell((map)->at.row, key), __VA_ARGS__)

static int find_host(const struct map_row *map, const char *name)
{
    for (int i = 0; i < map->n_hosts; i++) {
        if (strcmp(map->hosts[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static void add_place(struct map_row *map, struct map_list *list, const char *value,
                      const int *hosts, int n_hosts, bool is_own)
{
    if (n_hosts == 0 || list->is_full) {
        return;
    }
    if (list->n_members + n_hosts > MEMBERS_MAX_ALL) {
        COMPLAIN(map, map->key, "too many hosts of resources, expected at most %d",
                 MEMBERS_MAX_ALL);
        list->is_full = true;
        return;
    }
    if (list->count == list->capacity) {
        int capacity = list->capacity * 2 + 16;
        struct resource_location *more =
            arena_alloc(map->conf->arena, (size_t)capacity, sizeof(*more));
        if (list->count > 0) {
            memcpy(more, list->places, (size_t)list->count * sizeof(*more));
        }
        list->places = more;
        list->capacity = capacity;
    }
    list->places[list->count++] =
        (struct resource_location){map->name, value, hosts, n_hosts, is_own};
    list->n_members += n_hosts;
}

/* ---------------------------------------------------------------- one place */

/* False, with an error, if the value before '@' is not of the resource's type. */
static bool is_value(struct map_row *map, const char *value)
{
    double number;
    bool flag;
    bool is_good = map->resource->type == RESOURCE_NUMERIC
                       ? resource_value_parse_number(value, &number)
                   : map->resource->type == RESOURCE_BOOLEAN
                       ? resource_value_parse_flag(value, &flag)
                       : value[0] != '\0';
    if (!is_good) {
        COMPLAIN(map, map->key,
                 "\"%s\" is not a value of \"%s\", expected its type, %s", value,
                 map->resource->name, resource_type_name(map->resource->type));
    }
    return is_good;
}

/* Wants the hosts that the words name. */
static void read_names(struct map_row *map, const struct conf_words *words)
{
    for (int i = 0; i < words->count; i++) {
        const char *word = words->words[i];
        bool is_not = word[0] == '~';
        int host = find_host(map, word + is_not);
        if (strcasecmp(word, "all") == 0) {
            memset(map->wants, true, (size_t)map->n_hosts);
        } else if (host < 0) {
            COMPLAIN(map, "LOCATION",
                     "unknown host \"%s\", expected one of section Host, all, others "
                     "or default",
                     word + is_not);
        }
    }
    /* Exceptions apply wherever they are written. */
    for (int i = 0; i < words->count; i++) {
        const char *word = words->words[i];
        int host = find_host(map, word + (word[0] == '~'));
        if (host >= 0) {
            map->wants[host] = word[0] != '~';
        }
    }
}

static int list_wanted(const struct map_row *map, int **hosts)
{
    int count = 0;
    for (int i = 0; i < map->n_hosts; i++) {
        count += map->wants[i];
    }
    *hosts = arena_alloc(map->conf->arena, (size_t)count, sizeof(**hosts));
    count = 0;
    for (int i = 0; i < map->n_hosts; i++) {
        if (map->wants[i]) {
            (*hosts)[count++] = i;
        }
    }
    return count;
}

static void take_wanted(struct map_row *map)
{
    for (int i = 0; i < map->n_hosts; i++) {
        if (map->wants[i] && map->is_named[i]) {
            COMPLAIN(map, "LOCATION",
                     "host \"%s\" is in two places of \"%s\", expected one",
                     map->hosts[i].name, map->resource->name);
        }
        map->is_named[i] = map->is_named[i] || map->wants[i];
    }
}

enum pass { NAMED, REMAINING }; /* `others` and `default` mean remaining hosts */

/* Splits `value@[hosts]`; NULL: it has another form, which the first pass reports. */
static const char *split_place(struct map_row *map, const char *word, enum pass pass,
                               const char **value)
{
    size_t length = strlen(word);
    const char *open = strchr(word, '[');
    bool is_whole =
        open != NULL && word[length - 1] == ']' && (open == word || open[-1] == '@');
    if (!is_whole && pass == REMAINING) {
        return NULL;
    }
    if (!is_whole) {
        COMPLAIN(map, "LOCATION",
                 "\"%s\" is not a place, expected VALUE@[hosts] or [hosts]", word);
        return NULL;
    }
    *value = open == word
                 ? NULL
                 : arena_strn(map->conf->arena, word, (size_t)(open - word) - 1);
    return arena_strn(map->conf->arena, open + 1, length - (size_t)(open - word) - 2);
}

static void read_place(struct map_row *map, const char *word, enum pass pass,
                       struct map_list *list)
{
    const char *value = NULL;
    const char *inside = split_place(map, word, pass, &value);
    int *members;
    if (inside == NULL) {
        return;
    }
    struct conf_words words = conf_words(map->conf->arena, inside);
    bool is_others = words.count == 1 && strcasecmp(words.words[0], "others") == 0;
    bool is_default = words.count == 1 && strcasecmp(words.words[0], "default") == 0;
    if ((is_others || is_default) != (pass == REMAINING) ||
        (value != NULL && !is_value(map, value))) {
        return;
    }
    for (int i = 0; i < map->n_hosts; i++) {
        map->wants[i] = pass == REMAINING && !map->is_named[i];
    }
    if (pass == NAMED) {
        read_names(map, &words);
    }
    take_wanted(map);
    int n_members = list_wanted(map, &members);
    for (int i = 0; is_default && i < n_members; i++) {
        add_place(map, list, value, &members[i], 1, true);
    }
    if (!is_default) {
        add_place(map, list, value, members, n_members, false);
    }
}

/* ---------------------------------------------------------------- the section */

static void read_location(struct map_row *map, struct map_list *list)
{
    struct conf_words words =
        conf_words(map->conf->arena, conf_text(map->at.row, "LOCATION", NULL));
    size_t n_hosts = (size_t)map->n_hosts;
    map->is_named = arena_alloc(map->conf->arena, n_hosts, sizeof(*map->is_named));
    map->wants = arena_alloc(map->conf->arena, n_hosts, sizeof(*map->wants));
    for (int i = 0; i < words.count; i++) {
        read_place(map, words.words[i], NAMED, list);
    }
    for (int i = 0; i < words.count; i++) {
        read_place(map, words.words[i], REMAINING, list);
    }
    if (words.count == 0) {
        COMPLAIN(map, "LOCATION", "resource \"%s\" has no location, expected LOCATION",
                 map->resource->name);
    }
}

static void read_row(struct map_row *map, const struct resources *catalogue,
                     struct map_list *list)
{
    const char *name = conf_text(map->at.row, "RESOURCENAME", "");
    int id = resources_find(catalogue, name, strlen(name));
    if (id < RESOURCE_BUILTINS) {
        COMPLAIN(map, "RESOURCENAME",
                 "unknown resource \"%s\", expected one of section Resource", name);
        return;
    }
    if (list->is_mapped[id]) {
        COMPLAIN(map, "RESOURCENAME", "resource \"%s\" is defined twice, expected once",
                 name);
        return;
    }
    list->is_mapped[id] = true;
    map->resource = resources_at(catalogue, id);
    map->name = name;
    read_location(map, list);
}

/* ---------------------------------------------------------------- RESOURCES */

/* A word of the same host, before this one, has a value of that resource. */
static bool is_given_before(const struct resource_config_host *host, int word,
                            const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < word; i++) {
        if (strncmp(host->resources[i], name, length) == 0 &&
            host->resources[i][length] == '=') {
            return true;
        }
    }
    return false;
}

/* NAME=VALUE: the host's own value of a resource. */
static void read_given_value(struct map_row *map, const struct resources *catalogue,
                             int host, int index, struct map_list *list)
{
    struct arena *arena = map->conf->arena;
    const char *word = map->hosts[host].resources[index];
    const char *value = strchr(word, '=') + 1;
    const char *name = arena_strn(arena, word, (size_t)(value - word) - 1);
    int id = resources_find(catalogue, name, strlen(name));
    if (id < RESOURCE_BUILTINS) {
        conf_complain(map->conf, CONF_WARNING, map->at.section, map->at.row,
                      conf_cell(map->at.row, map->key),
                      "%s: resource \"%s\" is not defined in section Resource, and is "
                      "left out",
                      word, name);
        return;
    }
    if (list->is_mapped[id] || is_given_before(&map->hosts[host], index, name)) {
        COMPLAIN(map, map->key, "%s: resource \"%s\" has a value %s, expected one",
                 word, name,
                 list->is_mapped[id] ? "in section ResourceMap" : "here already");
        return;
    }
    map->resource = resources_at(catalogue, id);
    map->name = name;
    int *members = arena_alloc(arena, 1, sizeof(*members));
    members[0] = host;
    if (is_value(map, value)) {
        add_place(map, list, value, members, 1, true);
    }
}

static void read_given_values(struct map_row *map, const struct resources *catalogue,
                              struct map_list *list)
{
    map->key = "RESOURCES";
    for (int i = 0; i < map->n_hosts; i++) {
        const struct resource_config_host *host = &map->hosts[i];
        map->at = host->at;
        for (int k = 0; k < host->n_resources; k++) {
            if (strchr(host->resources[k], '=') != NULL) {
                read_given_value(map, catalogue, i, k, list);
            }
        }
    }
}

void resource_map_read(struct conf *conf, const struct resources *catalogue,
                       const struct resource_config_host *hosts, int n_hosts,
                       struct resource_config *config)
{
    struct map_list list = {
        .is_mapped = arena_alloc(conf->arena, (size_t)resources_count(catalogue),
                                 sizeof(*list.is_mapped)),
    };
    struct map_row map = {
        .conf = conf, .key = "LOCATION", .hosts = hosts, .n_hosts = n_hosts};
    while (conf_next_row(conf, "ResourceMap", &map.at)) {
        read_row(&map, catalogue, &list);
    }
    read_given_values(&map, catalogue, &list);
    config->places = list.places;
    config->n_places = list.count;
}
