/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c: see groups.h. A group is resolved when it is first named. Groups that are
 * being resolved have a mark: meeting the mark again means that the groups form a
 * circle. */
#include "sched/queue/groups.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf/conf_value.h"

/* The table of drafts lives in the arena of the configuration: nothing of it is freed.
 */
#define uthash_fatal(message) abort()
#define uthash_malloc(size) arena_alloc(reader->conf->arena, size, 1)
#define uthash_free(memory, size) (void)(memory)
#include <uthash.h>

/* State while one kind of group is read. */
struct draft {
    struct name_group group;
    struct conf_place at;
    const char *key; /* of its members */
    enum { DRAFT_UNREAD, DRAFT_BEGUN, DRAFT_READ } state;
    UT_hash_handle hh; /* by name */
};

struct reader {
    struct conf *conf;
    struct draft *drafts, *by_name;
    int n_drafts;
    const struct groups *resolved; /* instead of drafts: all groups ... */
    bool of_hosts;                 /* ... of hosts; else of users */
    const struct groups *groups;   /* own hosts; NULL for users */
    const char *key;               /* of the list that is being read */
    bool has_levels;               /* words may end in [full] or [usershares] */
};

#define COMPLAIN(reader, at, ...)                                                      \
    CONF_COMPLAIN((reader)->conf, CONF_ERROR, at, (reader)->key, __VA_ARGS__)

/* ---------------------------------------------------------------- sets */

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

bool groups_has(const struct name_set *set, const char *name)
{
    bool is_named = set->n_names > 0 && bsearch(&name, set->names, (size_t)set->n_names,
                                                sizeof(char *), by_name) != NULL;
    return is_named != set->is_all;
}

static struct name_set sorted(const char **names, int count, bool is_all)
{
    int n_unique = 0;
    qsort(names, (size_t)count, sizeof(char *), by_name);
    for (int i = 0; i < count; i++) {
        if (n_unique == 0 || strcmp(names[n_unique - 1], names[i]) != 0) {
            names[n_unique++] = names[i];
        }
    }
    return (struct name_set){.is_all = is_all, .names = names, .n_names = n_unique};
}

/* The names of `a` that are in `b`, or that are not in it. */
static struct name_set filtered(struct arena *arena, const struct name_set *a,
                                const struct name_set *b, bool wants_in)
{
    const char **names = arena_alloc(arena, (size_t)a->n_names + 1, sizeof(char *));
    int count = 0;
    for (int i = 0; i < a->n_names; i++) {
        if (groups_has(b, a->names[i]) == wants_in) {
            names[count++] = a->names[i];
        }
    }
    return sorted(names, count, false);
}

static struct name_set joined(struct arena *arena, const struct name_set *a,
                              const struct name_set *b)
{
    size_t most = (size_t)a->n_names + (size_t)b->n_names + 1;
    const char **names = arena_alloc(arena, most, sizeof(char *));
    for (int i = 0; i < a->n_names; i++) {
        names[i] = a->names[i];
    }
    for (int i = 0; i < b->n_names; i++) {
        names[a->n_names + i] = b->names[i];
    }
    return sorted(names, a->n_names + b->n_names, false);
}

static struct name_set complement(struct name_set set)
{
    set.is_all = !set.is_all;
    return set;
}

/* The union. If one of the sets is "all but", so is the result. */
static struct name_set either(struct arena *arena, const struct name_set *a,
                              const struct name_set *b)
{
    if (!a->is_all && !b->is_all) {
        return joined(arena, a, b);
    }
    if (a->is_all && b->is_all) { /* all but the names that neither set has */
        struct name_set others = complement(*b);
        return complement(filtered(arena, a, &others, true));
    }
    const struct name_set *all = a->is_all ? a : b, *some = a->is_all ? b : a;
    struct name_set left = *all;
    left.is_all = false;
    return complement(filtered(arena, &left, some, false));
}

static struct name_set without(struct arena *arena, const struct name_set *a,
                               const struct name_set *b)
{
    struct name_set inverse = complement(*a);
    inverse = either(arena, &inverse, b);
    return complement(inverse);
}

struct name_set groups_only(struct arena *arena, const char *name)
{
    const char **names = arena_alloc(arena, 1, sizeof(char *));
    names[0] = name;
    return (struct name_set){.names = names, .n_names = 1};
}

/* ---------------------------------------------------------------- lists */

static struct name_set resolve(struct reader *reader, struct draft *draft);

static bool is_own_host(const struct groups *groups, const char *name)
{
    struct name_set own = {.names = groups->own_hosts, .n_names = groups->n_own_hosts};
    return groups_has(&own, name);
}

static struct name_set read_word(struct reader *reader, const struct conf_place *at,
                                 const char *word)
{
    struct arena *arena = reader->conf->arena;
    const struct name_set none = {0};
    if (strcasecmp(word, "all") == 0) {
        return (struct name_set){.is_all = true};
    }
    struct draft *draft = NULL;
    const struct name_group *group = reader->resolved == NULL ? NULL
                                     : reader->of_hosts
                                         ? groups_find_hosts(reader->resolved, word)
                                         : groups_find_users(reader->resolved, word);
    HASH_FIND_STR(reader->by_name, word, draft);
    if (draft != NULL && draft->state == DRAFT_BEGUN) {
        COMPLAIN(reader, at, "group \"%s\" is a member of itself", word);
        return none;
    }
    if (group != NULL || draft != NULL) {
        return group != NULL ? group->members : resolve(reader, draft);
    }
    if (reader->groups != NULL && strchr(word, '@') == NULL &&
        !is_own_host(reader->groups, word)) {
        COMPLAIN(reader, at, "unknown host \"%s\", expected one of section Host", word);
        return none;
    }
    return groups_only(arena, word);
}

/* (!): the members are told by a program. A daemon has put them in their place, if they
 * were ever told. */
static bool is_told(struct reader *reader, const struct conf_place *at,
                    const struct conf_words *words)
{
    if (words->count != 1 || strcmp(words->words[0], "!") != 0) {
        return false;
    }
    struct conf_place site = conf_value_last(reader->conf, "Site", "EGROUP");
    if (site.row == NULL || conf_text(site.row, "EGROUP", NULL) == NULL) {
        COMPLAIN(reader, at,
                 "(!): no program tells the members, expected EGROUP in section Site");
    }
    return true;
}

/* The name in "ana[full]". */
static const char *without_level(struct reader *reader, const struct conf_place *at,
                                 const char *word)
{
    size_t length = strcspn(word, "[");
    if (!reader->has_levels || word[length] == '\0') {
        return word;
    }
    if (strcmp(word + length, "[full]") != 0 &&
        strcmp(word + length, "[usershares]") != 0) {
        COMPLAIN(reader, at, "\"%s\", expected a user or group, [full] or [usershares]",
                 word);
    }
    return arena_strn(reader->conf->arena, word, length);
}

static struct name_set read_list(struct reader *reader, const struct conf_place *at)
{
    struct arena *arena = reader->conf->arena;
    struct conf_words words = conf_words(arena, conf_text(at->row, reader->key, NULL));
    struct name_set set = {0}, out = {0};
    for (int i = 0; i < words.count && !is_told(reader, at, &words); i++) {
        const char *word = without_level(reader, at, words.words[i]);
        bool is_out = word[0] == '~';
        struct name_set of = read_word(reader, at, word + is_out);
        if (is_out) {
            out = either(arena, &out, &of);
        } else {
            set = either(arena, &set, &of);
        }
    }
    return without(arena, &set, &out);
}

static struct name_set resolve(struct reader *reader, struct draft *draft)
{
    if (draft->state == DRAFT_UNREAD) {
        const char *key = reader->key;
        draft->state = DRAFT_BEGUN;
        reader->key = draft->key;
        draft->group.members = read_list(reader, &draft->at);
        reader->key = key;
        draft->state = DRAFT_READ;
    }
    return draft->group.members;
}

/* ---------------------------------------------------------------- sections */

/* A section of groups, by the names of its columns. */
struct section {
    const char *name, *group, *members;
    bool has_type;
};

static void add_draft(struct reader *reader, const struct section *section,
                      const struct conf_place *at)
{
    const char *name = conf_text(at->row, section->group, NULL);
    reader->key = section->members;
    if (name == NULL || conf_text(at->row, section->members, NULL) == NULL) {
        COMPLAIN(reader, at, "a group without %s, expected %s",
                 name == NULL ? "a name" : "members",
                 name == NULL ? section->group : section->members);
        return;
    }
    struct draft *draft;
    HASH_FIND_STR(reader->by_name, name, draft);
    if (draft != NULL) {
        COMPLAIN(reader, at, "group \"%s\" appears twice", name);
        return;
    }
    draft = &reader->drafts[reader->n_drafts++];
    draft->group.name = name;
    draft->group.type = section->has_type ? conf_text(at->row, "TYPE", "") : NULL;
    if (conf_parse_bool(conf_text(at->row, "CONDENSE", "N"), &draft->group.is_condensed,
                        NULL) != 0) {
        draft->group.is_condensed = false; /* the table of keys has complained */
    }
    draft->key = section->members;
    draft->at = *at;
    HASH_ADD_KEYPTR(hh, reader->by_name, name, strlen(name), draft);
}

static int by_group(const void *left, const void *right)
{
    const struct name_group *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name); /* no two have one name */
}

static const struct name_group *const *
list_by_name(struct arena *arena, const struct name_group *groups, int n_groups)
{
    const struct name_group **list =
        arena_alloc(arena, (size_t)n_groups + 1, sizeof(*list));
    for (int i = 0; i < n_groups; i++) {
        list[i] = &groups[i];
    }
    qsort(list, (size_t)n_groups, sizeof(*list), by_group);
    return list;
}

static void read_sections(struct reader *reader, const struct section *sections,
                          int n_sections, struct name_group **groups, int *n_groups)
{
    struct arena *arena = reader->conf->arena;
    size_t n_rows = 0;
    for (int i = 0; i < n_sections; i++) {
        n_rows += (size_t)conf_count_rows(reader->conf, sections[i].name);
    }
    reader->drafts = arena_alloc(arena, n_rows, sizeof(*reader->drafts));
    for (int i = 0; i < n_sections; i++) {
        struct conf_place at = {0};
        while (conf_next_row(reader->conf, sections[i].name, &at)) {
            add_draft(reader, &sections[i], &at);
        }
    }
    struct name_group *all = arena_alloc(arena, n_rows, sizeof(*all));
    for (int i = 0; i < reader->n_drafts; i++) {
        resolve(reader, &reader->drafts[i]);
        all[i] = reader->drafts[i].group;
    }
    *groups = all;
    *n_groups = reader->n_drafts;
}

/* GROUP_ADMIN of the groups of a section. */
static void read_admins(struct conf *conf, const char *section,
                        const struct groups *groups, bool of_hosts,
                        struct name_group *all)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, section, &at)) {
        const char *name = conf_text(at.row, "GROUP_NAME", "");
        const struct name_group *group = of_hosts ? groups_find_hosts(groups, name)
                                                  : groups_find_users(groups, name);
        if (group != NULL && conf_text(at.row, "GROUP_ADMIN", NULL) != NULL) {
            struct reader reader = {.conf = conf,
                                    .resolved = groups,
                                    .key = "GROUP_ADMIN",
                                    .has_levels = true};
            all[group - all].admins = read_list(&reader, &at);
        }
    }
}

void groups_read(struct conf *conf, const char *const *hosts, int n_hosts,
                 struct groups *groups)
{
    const char **names = arena_alloc(conf->arena, (size_t)n_hosts + 1, sizeof(char *));
    for (int i = 0; i < n_hosts; i++) {
        names[i] = hosts[i];
    }
    *groups = (struct groups){0};
    struct name_set own = sorted(names, n_hosts, false);
    groups->own_hosts = own.names;
    groups->n_own_hosts = own.n_names;
    static const struct section of_users[] = {
        {"UserGroup", "GROUP_NAME", "GROUP_MEMBER", false}};
    static const struct section of_hosts[] = {
        {"HostGroup", "GROUP_NAME", "GROUP_MEMBER", false},
        {"ComputeUnit", "NAME", "MEMBER", true}};
    struct reader users = {.conf = conf};
    struct name_group *user_groups, *host_groups;
    read_sections(&users, of_users, 1, &user_groups, &groups->n_users);
    groups->users = user_groups;
    groups->users_by_name = list_by_name(conf->arena, user_groups, groups->n_users);
    struct reader reader = {.conf = conf, .groups = groups};
    read_sections(&reader, of_hosts, 2, &host_groups, &groups->n_hosts);
    groups->hosts = host_groups;
    groups->hosts_by_name = list_by_name(conf->arena, host_groups, groups->n_hosts);
    read_admins(conf, "UserGroup", groups, false, user_groups);
    read_admins(conf, "HostGroup", groups, true, host_groups);
}

bool groups_is_admin(const struct name_group *groups, int n_groups, const char *group,
                     const char *member, const char *user)
{
    for (int i = 0; i < n_groups; i++) {
        if ((group == NULL || strcmp(groups[i].name, group) == 0) &&
            groups_has(&groups[i].admins, user) &&
            groups_has(&groups[i].members, member)) {
            return true;
        }
    }
    return false;
}

static const struct name_group *find(const struct name_group *const *by_name,
                                     int n_groups, const char *name)
{
    const struct name_group key = {.name = name}, *wanted = &key;
    const struct name_group *const *found =
        n_groups == 0
            ? NULL
            : bsearch(&wanted, by_name, (size_t)n_groups, sizeof(*by_name), by_group);
    return found != NULL ? *found : NULL;
}

const struct name_group *groups_find_users(const struct groups *groups,
                                           const char *name)
{
    return find(groups->users_by_name, groups->n_users, name);
}

const struct name_group *groups_find_hosts(const struct groups *groups,
                                           const char *name)
{
    return find(groups->hosts_by_name, groups->n_hosts, name);
}

bool groups_has_host(const struct groups *groups, const struct name_group *group,
                     const char *host)
{
    return groups_has(&group->members, host) &&
           (!group->members.is_all || is_own_host(groups, host));
}

const struct name_group *groups_condensed(const struct groups *groups, const char *host)
{
    for (int i = 0; i < groups->n_hosts; i++) {
        const struct name_group *group = &groups->hosts[i];
        if (group->is_condensed && groups_has_host(groups, group, host)) {
            return group;
        }
    }
    return NULL;
}

struct name_set groups_read_users(struct conf *conf, const struct groups *groups,
                                  const struct conf_place *at, const char *key)
{
    struct reader reader = {.conf = conf, .resolved = groups, .key = key};
    return read_list(&reader, at);
}

struct name_set groups_read_hosts(struct conf *conf, const struct groups *groups,
                                  const struct conf_place *at, const char *key)
{
    struct reader reader = {.conf = conf,
                            .groups = groups,
                            .resolved = groups,
                            .of_hosts = true,
                            .key = key};
    return read_list(&reader, at);
}
