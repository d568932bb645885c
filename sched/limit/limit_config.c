/* SPDX-License-Identifier: Apache-2.0 */
/* limit_config.c: reads limits of all sections, see limit.h. Values that conf_check
 * finds malformed count as unset; conf_check reports them. */
#include "sched/limit/limit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sched/preempt/preempt.h"

struct list {
    struct conf *conf;
    const struct groups *groups;
    struct limit *items;
    int count, capacity;
    int n_unnamed; /* Limit sections without a name */
    int reasons;   /* PREEMPT_FOR; -1: there is no preemption */
};

#define COMPLAIN(list, at, key, ...)                                                   \
    CONF_COMPLAIN((list)->conf, CONF_ERROR, at, key, __VA_ARGS__)

static const struct name_set everything = {.is_all = true};

/* `key` is its parameter; NULL: of section Limit. */
static struct limit *add(struct list *list, const char *section, const char *key,
                         const char *name)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        struct limit *items =
            arena_alloc(list->conf->arena, (size_t)capacity, sizeof(*items));
        if (list->count > 0) {
            memcpy(items, list->items, (size_t)list->count * sizeof(*items));
        }
        list->items = items;
        list->capacity = capacity;
    }
    struct limit *limit = &list->items[list->count++];
    *limit = (struct limit){
        .name = name,
        .section = section,
        .key = key,
        .label = key,
        .slots = -1,
        .jobs = -1,
        .per_processor_milli = -1,
        .counts_yielded = true,
    };
    return limit;
}

/* Yielded jobs count towards the limit, unless PREEMPT_FOR has this reason (0: they
 * never count). */
static void count_unless(const struct list *list, struct limit *limit, int reason)
{
    limit->counts_yielded =
        list->reasons < 0 || (reason != 0 && (list->reasons & reason) == 0);
}

static void set_side(struct limit *limit, int side, enum limit_mode mode,
                     struct name_set names, const char *text)
{
    limit->sides[side] = (struct limit_side){mode, names, text};
}

/* ---------------------------------------------------------------- values */

static bool read_count(const struct conf_row *row, const char *key, int *count)
{
    const char *text = conf_text(row, key, NULL);
    int64_t number;
    if (text == NULL || conf_parse_int(text, 0, INT32_MAX, &number, NULL) != 0) {
        return false;
    }
    *count = (int)number;
    return true;
}

enum { MILLI = 1000, PER_PROCESSOR_MAX = 100000 };

/* A number of slots per processor, such as 1 or 0.5. */
static bool read_milli(struct list *list, const struct conf_place *at, const char *key,
                       int64_t *milli)
{
    const char *text = conf_text(at->row, key, NULL);
    char *end;
    if (text == NULL) {
        return false;
    }
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= 0 && number <= PER_PROCESSOR_MAX) ||
        strspn(text, "0123456789.") != strlen(text)) {
        COMPLAIN(list, at, key, "\"%s\" is not a number of slots, expected as 1 or 0.5",
                 text);
        return false;
    }
    *milli = (int64_t)(number * MILLI + 0.5);
    return true;
}

/* ---------------------------------------------------------------- queues */

static void read_queue(struct list *list, const struct conf_place *at)
{
    static const struct {
        const char *key;
        int side; /* the side that is EACH; LIMIT_QUEUES: none */
    } keys[] = {{"QJOB_LIMIT", LIMIT_QUEUES},
                {"UJOB_LIMIT", LIMIT_USERS},
                {"HJOB_LIMIT", LIMIT_HOSTS},
                {"PJOB_LIMIT", LIMIT_HOSTS}};
    const char *queue = conf_text(at->row, "QUEUE_NAME", "");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        bool is_per_processor = keys[i].key[0] == 'P';
        int slots = -1;
        int64_t milli = -1;
        if (is_per_processor ? !read_milli(list, at, keys[i].key, &milli)
                             : !read_count(at->row, keys[i].key, &slots)) {
            continue;
        }
        struct limit *limit =
            add(list, "Queue", keys[i].key,
                arena_printf(list->conf->arena, "%s of queue %s (%s)", keys[i].key,
                             queue, conf_text(at->row, keys[i].key, "")));
        limit->slots = slots;
        limit->per_processor_milli = milli;
        set_side(limit, LIMIT_QUEUES, LIMIT_TOGETHER,
                 groups_only(list->conf->arena, queue), queue);
        if (keys[i].side != LIMIT_QUEUES) {
            set_side(limit, keys[i].side, LIMIT_EACH, everything, "all");
        }
    }
}

/* A slurmd listens on the port of its cluster: one of them on each host. */
static void read_site(struct list *list, const struct conf_place *at)
{
    static const char key[] = "SLURM_BORROW_PARTITION";
    const char *queue = conf_text(at->row, key, NULL);
    if (queue == NULL) {
        return;
    }
    struct limit *limit =
        add(list, "Site", key,
            arena_printf(list->conf->arena, "one slurmd of %s on each host", queue));
    limit->jobs = 1;
    set_side(limit, LIMIT_QUEUES, LIMIT_TOGETHER, groups_only(list->conf->arena, queue),
             queue);
    set_side(limit, LIMIT_HOSTS, LIMIT_EACH, everything, "all");
}

/* ---------------------------------------------------------------- hosts, users */

/* All names but those that have a row of their own with this key, for the row
 * "default". */
static struct name_set named_rows(struct list *list, const char *section,
                                  const char *name_key, const char *key)
{
    struct arena *arena = list->conf->arena;
    struct name_set set = {.is_all = true};
    struct conf_place at = {0};
    const char **names = arena_alloc(
        arena, (size_t)conf_count_rows(list->conf, section) + 1, sizeof(char *));
    while (conf_next_row(list->conf, section, &at)) {
        const char *name = conf_text(at.row, name_key, NULL);
        if (name != NULL && strcasecmp(name, "default") != 0 &&
            conf_text(at.row, key, NULL) != NULL) {
            int place = set.n_names++;
            for (; place > 0 && strcmp(names[place - 1], name) > 0; place--) {
                names[place] = names[place - 1];
            }
            names[place] = name;
        }
    }
    set.names = names;
    return set;
}

static void read_host(struct list *list, const struct conf_place *at)
{
    const char *host = conf_text(at->row, "HOST_NAME", NULL);
    int slots;
    if (host == NULL || !read_count(at->row, "JL/U", &slots)) {
        return;
    }
    bool is_default = strcasecmp(host, "default") == 0;
    struct limit *limit =
        add(list, "Host", "JL/U",
            is_default
                ? arena_printf(list->conf->arena, "JL/U of hosts (%d)", slots)
                : arena_printf(list->conf->arena, "JL/U of host %s (%d)", host, slots));
    limit->slots = slots;
    count_unless(list, limit, PREEMPT_FOR_HOST_JLU);
    set_side(limit, LIMIT_USERS, LIMIT_EACH, everything, "all");
    set_side(limit, LIMIT_HOSTS, LIMIT_EACH,
             is_default ? named_rows(list, "Host", "HOST_NAME", "JL/U")
                        : groups_only(list->conf->arena, host),
             host);
}

/* Sets the users of a User row: a user, a group together, each member of "group@", or
 * all others for "default". */
static void set_users(struct list *list, struct limit *limit, const char *name,
                      const char *key)
{
    size_t length = strlen(name);
    bool is_each = length > 1 && name[length - 1] == '@';
    const char *bare = arena_strn(list->conf->arena, name, length - is_each);
    const struct name_group *group = groups_find_users(list->groups, bare);
    if (strcasecmp(name, "default") == 0) {
        set_side(limit, LIMIT_USERS, LIMIT_EACH,
                 named_rows(list, "User", "USER_NAME", key), name);
    } else if (group != NULL) {
        set_side(limit, LIMIT_USERS, is_each ? LIMIT_EACH : LIMIT_TOGETHER,
                 group->members, bare);
    } else {
        set_side(limit, LIMIT_USERS, LIMIT_EACH, groups_only(list->conf->arena, bare),
                 bare);
    }
}

static bool is_of_group(const struct limit *limit)
{
    return limit->sides[LIMIT_USERS].mode == LIMIT_TOGETHER;
}

static void read_user(struct list *list, const struct conf_place *at)
{
    struct arena *arena = list->conf->arena;
    const char *user = conf_text(at->row, "USER_NAME", NULL);
    int slots;
    int64_t milli;
    if (user == NULL) {
        COMPLAIN(list, at, "USER_NAME", "a row without a user, expected USER_NAME");
        return;
    }
    size_t length = strlen(user);
    if (user[length - 1] == '@' &&
        groups_find_users(list->groups, arena_strn(arena, user, length - 1)) == NULL) {
        COMPLAIN(list, at, "USER_NAME",
                 "\"%s\": no such group, expected one of section "
                 "UserGroup before the @",
                 user);
    }
    if (read_count(at->row, "MAX_JOBS", &slots)) {
        struct limit *limit =
            add(list, "User", "MAX_JOBS",
                arena_printf(arena, "MAX_JOBS of user %s (%d)", user, slots));
        limit->slots = slots;
        set_users(list, limit, user, "MAX_JOBS");
        count_unless(list, limit, is_of_group(limit) ? PREEMPT_FOR_GROUP_MAX : 0);
    }
    if (read_milli(list, at, "JL/P", &milli)) {
        struct limit *limit = add(list, "User", "JL/P",
                                  arena_printf(arena, "JL/P of user %s (%s)", user,
                                               conf_text(at->row, "JL/P", "")));
        limit->per_processor_milli = milli;
        set_users(list, limit, user, "JL/P");
        count_unless(list, limit,
                     is_of_group(limit) ? PREEMPT_FOR_GROUP_JLP : PREEMPT_FOR_USER_JLP);
        set_side(limit, LIMIT_HOSTS, LIMIT_EACH, everything, "all");
    }
}

/* ---------------------------------------------------------------- Limit sections */

static bool is_queue(struct list *list, const char *name)
{
    struct conf_place at = {0};
    while (conf_next_row(list->conf, "Queue", &at)) {
        if (strcmp(conf_text(at.row, "QUEUE_NAME", ""), name) == 0) {
            return true;
        }
    }
    return false;
}

/* Names of users and projects are not checked. Projects have no groups. */
static struct name_set read_names(struct list *list, const struct conf_place *at,
                                  int side, const char *key)
{
    static const struct groups none = {0};
    if (side == LIMIT_HOSTS) {
        return groups_read_hosts(list->conf, list->groups, at, key);
    }
    struct name_set set = groups_read_users(
        list->conf, side == LIMIT_USERS ? list->groups : &none, at, key);
    for (int i = 0; side == LIMIT_QUEUES && i < set.n_names; i++) {
        if (!is_queue(list, set.names[i])) {
            COMPLAIN(list, at, key,
                     "unknown queue \"%s\", expected one of section Queue",
                     set.names[i]);
        }
    }
    return set;
}

/* The names, separated by blanks. */
static const char *words_text(struct list *list, const char *value)
{
    struct conf_words words = conf_words(list->conf->arena, value);
    const char *text = "";
    for (int i = 0; i < words.count; i++) {
        text = arena_printf(list->conf->arena, "%s%s%s", text, i > 0 ? " " : "",
                            words.words[i]);
    }
    return text;
}

static void read_sides(struct list *list, const struct conf_place *at,
                       struct limit *limit)
{
    static const char *const keys[LIMIT_SIDES][2] = {
        [LIMIT_USERS] = {"USERS", "PER_USER"},
        [LIMIT_QUEUES] = {"QUEUES", "PER_QUEUE"},
        [LIMIT_HOSTS] = {"HOSTS", "PER_HOST"},
        [LIMIT_PROJECTS] = {"PROJECTS", "PER_PROJECT"},
    };
    for (int side = 0; side < LIMIT_SIDES; side++) {
        bool has_all = conf_text(at->row, keys[side][0], NULL) != NULL;
        bool has_each = conf_text(at->row, keys[side][1], NULL) != NULL;
        if (has_all && has_each) {
            COMPLAIN(list, at, keys[side][1],
                     "given together with %s, expected one of them", keys[side][0]);
        } else if (has_all || has_each) {
            set_side(limit, side, has_each ? LIMIT_EACH : LIMIT_TOGETHER,
                     read_names(list, at, side, keys[side][has_each]),
                     words_text(list, conf_text(at->row, keys[side][has_each], NULL)));
        }
    }
}

/* Decides by its sides which limit of the other sections it resembles
 * (docs/design/scheduling.md "Decided").
 */
static void set_yielded(const struct list *list, struct limit *limit)
{
    const struct limit_side *sides = limit->sides;
    bool has_users = sides[LIMIT_USERS].mode != LIMIT_ANY;
    bool has_hosts = sides[LIMIT_HOSTS].mode != LIMIT_ANY;
    bool is_each = sides[LIMIT_USERS].mode == LIMIT_EACH;
    if ((limit->slots < 0 && limit->jobs < 0 && limit->per_processor_milli < 0) ||
        sides[LIMIT_QUEUES].mode != LIMIT_ANY ||
        (!has_users && sides[LIMIT_PROJECTS].mode != LIMIT_ANY)) {
        return; /* limits of resources, queues and projects count yielded jobs */
    }
    if (limit->per_processor_milli >= 0 && has_users) {
        count_unless(list, limit, PREEMPT_FOR_GROUP_JLP | PREEMPT_FOR_USER_JLP);
    } else if (is_each && has_hosts) {
        count_unless(list, limit, PREEMPT_FOR_GROUP_MAX);
    } else if (has_users && !is_each) {
        count_unless(list, limit, PREEMPT_FOR_HOST_JLU);
    } else {
        count_unless(list, limit,
                     0); /* like MAX_JOBS of a user, or a limit of a host */
    }
}

static void read_limit(struct list *list, const struct conf_place *at)
{
    struct arena *arena = list->conf->arena;
    const char *name = conf_text(at->row, "NAME", NULL);
    struct limit *limit = add(
        list, "Limit", NULL,
        name != NULL ? arena_printf(arena, "%s (section Limit)", name)
                     : arena_printf(arena, "of section Limit, line %d", at->row->line));
    limit->label =
        name != NULL ? name : arena_printf(arena, "NONAME%03d", list->n_unnamed++);
    bool has_slots = read_count(at->row, "SLOTS", &limit->slots);
    bool has_jobs = read_count(at->row, "JOBS", &limit->jobs);
    bool has_milli =
        read_milli(list, at, "SLOTS_PER_PROCESSOR", &limit->per_processor_milli);
    read_sides(list, at, limit);
    bool has_amounts = limit_amount_read(list->conf, at, limit);
    set_yielded(list, limit);
    if (has_milli && limit->sides[LIMIT_HOSTS].mode != LIMIT_EACH) {
        COMPLAIN(list, at, "SLOTS_PER_PROCESSOR",
                 "applies to each host, expected PER_HOST in the same section");
    }
    if (!has_slots && !has_jobs && !has_milli && !has_amounts) {
        COMPLAIN(list, at, "NAME",
                 "the row limits nothing, expected SLOTS, SLOTS_PER_PROCESSOR, JOBS, "
                 "MEM, SWP, TMP, RESOURCE or LICENSE");
    }
}

/* ---------------------------------------------------------------- all */

static void read_rows(struct list *list, const char *section,
                      void (*read)(struct list *, const struct conf_place *))
{
    struct conf_place at = {0};
    while (conf_next_row(list->conf, section, &at)) {
        read(list, &at);
    }
}

void limit_config_read(struct conf *conf, const struct groups *groups,
                       const struct limit **limits, int *n_limits)
{
    struct list list = {
        .conf = conf, .groups = groups, .reasons = preempt_policy_read_for(conf)};
    read_rows(&list, "Site", read_site);
    read_rows(&list, "Queue", read_queue);
    read_rows(&list, "Host", read_host);
    read_rows(&list, "User", read_user);
    read_rows(&list, "Limit", read_limit);
    *limits = list.items;
    *n_limits = list.count;
}
