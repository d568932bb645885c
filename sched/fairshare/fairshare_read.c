/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_read.c: see fairshare_read.h. */
#include "sched/fairshare/fairshare_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A deeper tree is a circle. A larger one has nested groups that multiply. */
enum { DEPTH_MAX = SHARE_DEPTH_MAX, ASSIGNMENTS_MAX = 100000, FACTOR_SIZE = 64 };

struct reader {
    struct conf *conf;
    const struct groups *groups;
    const struct name_group *group; /* the group; NULL: the shares of a scope */
    struct conf_place at;           /* place for diagnostics */
    const char *key;
    bool is_silent;     /* the place was read before: no diagnostics */
    bool is_flat;       /* assignments of groups are not read */
    int *n_assignments; /* in the whole tree so far */
    bool *is_too_large;
};

#define COMPLAIN(reader, ...)                                                          \
    do {                                                                               \
        if (!(reader)->is_silent) {                                                    \
            CONF_COMPLAIN((reader)->conf, CONF_ERROR, &(reader)->at, (reader)->key,    \
                          __VA_ARGS__);                                                \
        }                                                                              \
    } while (0)

/* ---------------------------------------------------------------- one assignment */

/* Splits "[name, shares]". Returns false after a diagnostic. */
static bool split(const struct reader *reader, const char *word, char **name,
                  int64_t *shares)
{
    struct arena *arena = reader->conf->arena;
    size_t length = strlen(word);
    bool is_bracketed = length > 2 && word[0] == '[' && word[length - 1] == ']';
    const char *inner = is_bracketed ? arena_strn(arena, word + 1, length - 2) : word;
    const char *comma = strchr(inner, ',');
    struct err err;
    if (!is_bracketed || comma == NULL) {
        COMPLAIN(reader, "\"%s\" is not a share, expected [USER, NUMBER]", word);
        return false;
    }
    struct conf_words names =
        conf_words(arena, arena_strn(arena, inner, (size_t)(comma - inner)));
    struct conf_words numbers = conf_words(arena, comma + 1);
    if (names.count != 1 || numbers.count != 1 ||
        conf_parse_int(numbers.words[0], 1, INT32_MAX, shares, &err) != 0) {
        COMPLAIN(reader,
                 "\"%s\" is not a share, expected [USER, NUMBER], a number from 1",
                 word);
        return false;
    }
    *name = arena_str(arena, names.words[0]);
    return true;
}

static void read_children(const struct reader *reader,
                          struct share_assignment *assignment, int depth);

/* Reads the name in an assignment. */
static bool read_name(const struct reader *reader, char *name, int depth,
                      struct share_assignment *assignment)
{
    size_t length = strlen(name);
    bool is_each = name[length - 1] == '@';
    const struct name_group *group;
    assignment->members = (struct name_set){.is_all = true};
    assignment->name = name;
    if (strcmp(name, "default") == 0 || strcmp(name, "others") == 0) {
        assignment->kind = name[0] == 'd' ? SHARE_DEFAULT : SHARE_OTHERS;
        return true;
    }
    if (is_each) {
        name[length - 1] = '\0';
    }
    group = groups_find_users(reader->groups, name);
    if (group == NULL) {
        assignment->kind = SHARE_USER;
        if (is_each) {
            COMPLAIN(reader,
                     "\"%s@\": no such group, expected one of section UserGroup before "
                     "the @",
                     name);
        } else if (reader->group != NULL &&
                   !groups_has(&reader->group->members, name)) {
            COMPLAIN(reader, "\"%s\" is not of the group, expected a GROUP_MEMBER",
                     name);
        }
        return !is_each;
    }
    assignment->kind = is_each ? SHARE_EACH : SHARE_GROUP;
    assignment->members = group->members;
    if (is_each && group->members.is_all) {
        COMPLAIN(
            reader,
            "\"%s@\": a group of all but some, expected one that lists its members",
            name);
        return false;
    }
    if (!is_each) {
        read_children(reader, assignment, depth);
    }
    return true;
}

static bool is_listed(const struct share_assignment *assignments, int n_assignments,
                      const struct share_assignment *assignment)
{
    for (int i = 0; i < n_assignments; i++) {
        if (assignments[i].kind == assignment->kind &&
            strcmp(assignments[i].name, assignment->name) == 0) {
            return true;
        }
    }
    return false;
}

static void read_list(const struct reader *reader, const char *value, int depth,
                      const struct share_assignment **assignments, int *n_assignments)
{
    struct conf_words words = conf_words(reader->conf->arena, value);
    struct share_assignment *read =
        arena_alloc(reader->conf->arena, (size_t)words.count, sizeof(*read));
    *assignments = read;
    *n_assignments = 0;
    for (int i = 0; i < words.count; i++) {
        struct share_assignment *assignment = &read[*n_assignments];
        char *name;
        int64_t shares;
        if (!split(reader, words.words[i], &name, &shares)) {
            return; /* the rest is not what was meant, either */
        }
        if (++*reader->n_assignments > ASSIGNMENTS_MAX) {
            *reader->is_too_large = true;
            return;
        }
        *assignment = (struct share_assignment){.shares = (int)shares};
        if (!read_name(reader, name, depth, assignment)) {
            continue;
        }
        if (is_listed(read, *n_assignments, assignment)) {
            COMPLAIN(reader, "\"%s\" appears twice, expected one share for each",
                     assignment->name);
            continue;
        }
        (*n_assignments)++;
    }
    if (words.count == 0) {
        COMPLAIN(reader, "no share in it, expected [USER, NUMBER] at least once");
    }
}

/* ---------------------------------------------------------------- trees */

/* Finds the row of section UserGroup with this name. */
static bool find_group(const struct conf *conf, const char *name, struct conf_place *at)
{
    *at = (struct conf_place){0};
    while (conf_next_row(conf, "UserGroup", at)) {
        if (strcmp(conf_text(at->row, "GROUP_NAME", ""), name) == 0) {
            return true;
        }
    }
    return false;
}

static void read_children(const struct reader *reader,
                          struct share_assignment *assignment, int depth)
{
    struct reader group = *reader;
    group.key = "USER_SHARES";
    group.group = groups_find_users(reader->groups, assignment->name);
    group.is_silent =
        true; /* fairshare_read_groups reports errors of each group once */
    if (!find_group(reader->conf, assignment->name, &group.at)) {
        return;
    }
    const char *value = conf_text(group.at.row, "USER_SHARES", NULL);
    if (value != NULL && depth == DEPTH_MAX) {
        *reader->is_too_large = true;
    } else if (value != NULL && !reader->is_flat) {
        read_list(&group, value, depth + 1, &assignment->children,
                  &assignment->n_children);
    }
}

/* Reads a list of assignments with all below it. */
static void read_tree(struct reader *reader, const char *value,
                      const struct share_assignment **assignments, int *n_assignments)
{
    bool is_too_large = false;
    int n_read = 0;
    reader->is_too_large = &is_too_large;
    reader->n_assignments = &n_read;
    read_list(reader, value, 1, assignments, n_assignments);
    if (is_too_large) {
        COMPLAIN(reader,
                 "groups in one another more than %d deep, one in itself, or more than "
                 "%d shares below it",
                 DEPTH_MAX, ASSIGNMENTS_MAX);
    }
}

void fairshare_read_groups(struct conf *conf, const struct groups *groups)
{
    struct reader reader = {
        .conf = conf, .groups = groups, .key = "USER_SHARES", .is_flat = true};
    while (conf_next_row(conf, "UserGroup", &reader.at)) {
        const struct share_assignment *assignments;
        int n_assignments;
        const char *value = conf_text(reader.at.row, reader.key, NULL);
        reader.group =
            groups_find_users(groups, conf_text(reader.at.row, "GROUP_NAME", ""));
        if (value != NULL) {
            read_tree(&reader, value, &assignments, &n_assignments);
        }
    }
}

/* The text between the brackets of "USER_SHARES[...]"; unchanged without them. */
static const char *unwrapped(const struct reader *reader, const char *value)
{
    static const char word[] = "USER_SHARES";
    size_t length = strlen(value);
    if (strncasecmp(value, word, sizeof(word) - 1) != 0) {
        return strcasecmp(reader->key, "FAIRSHARE") == 0 ? NULL : value;
    }
    const char *open = value + sizeof(word) - 1;
    open += strspn(open, " \t");
    if (open[0] != '[' || value[length - 1] != ']') {
        return NULL;
    }
    return arena_strn(reader->conf->arena, open + 1,
                      (size_t)(value + length - 1 - (open + 1)));
}

void fairshare_read_assignments(struct conf *conf, const struct groups *groups,
                                const struct conf_place *at, const char *key,
                                const struct share_assignment **assignments,
                                int *n_assignments)
{
    struct reader reader = {.conf = conf, .groups = groups, .at = *at, .key = key};
    const char *value = unwrapped(&reader, conf_text(at->row, key, ""));
    *n_assignments = 0;
    if (value == NULL) {
        COMPLAIN(&reader, "expected USER_SHARES[[USER, NUMBER] ...]");
    } else {
        read_tree(&reader, value, assignments, n_assignments);
    }
}

/* ---------------------------------------------------------------- factors */

/* Finds the key in the row, else in the last row of section Parameters that has it. */
static bool find_value(const struct conf *conf, const struct conf_place *at,
                       const char *key, struct conf_place *found)
{
    *found = conf_text(at->row, key, NULL) != NULL
                 ? *at
                 : conf_value_last(conf, "Parameters", key);
    return found->row != NULL;
}

enum factor { CPU_TIME, RUN_TIME, RUN_JOB, COMMITTED, HIST_HOURS, FACTORS };

static const struct {
    const char *key;
    double most, initial;
} factor_keys[FACTORS] = {
    [CPU_TIME] = {"CPU_TIME_FACTOR", 1e6, 0.7},
    [RUN_TIME] = {"RUN_TIME_FACTOR", 1e6, 0.7},
    [RUN_JOB] = {"RUN_JOB_FACTOR", 1e6, 3},
    [COMMITTED] = {"COMMITTED_RUN_TIME_FACTOR", 1, 0},
    [HIST_HOURS] = {"HIST_HOURS", 87600, 5}, /* ten years */
};

/* A factor is a number without sign and exponent. */
static double read_number(struct conf *conf, const struct conf_place *at,
                          enum factor factor, bool is_silent)
{
    const char *key = factor_keys[factor].key;
    double most = factor_keys[factor].most, otherwise = factor_keys[factor].initial;
    struct reader reader = {.conf = conf, .key = key, .is_silent = is_silent};
    char *end;
    if (!find_value(conf, at, key, &reader.at)) {
        return otherwise;
    }
    const char *text = conf_text(reader.at.row, key, "");
    double number = strtod(text, &end);
    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != '\0' ||
        strlen(text) >= FACTOR_SIZE || number > most) {
        COMPLAIN(&reader, "\"%s\" is not a factor, expected a number from 0 to %g",
                 text, most);
        return otherwise;
    }
    return number;
}

static bool read_yes(struct conf *conf, const struct conf_place *at, const char *key)
{
    struct conf_place found;
    bool is_yes = false;
    return find_value(conf, at, key, &found) &&
           conf_parse_bool(conf_text(found.row, key, ""), &is_yes, NULL) == 0 && is_yes;
}

static bool is_per_slot(const struct conf *conf)
{
    struct conf_place at = conf_value_last(conf, "", "LSB_NCPU_ENFORCE");
    return conf_value_int(conf, &at, "LSB_NCPU_ENFORCE", 0) == 1;
}

void fairshare_read_factors(struct conf *conf, const struct conf_place *at,
                            struct fairshare_factors *factors)
{
    *factors = (struct fairshare_factors){
        .cpu_time = read_number(conf, at, CPU_TIME, true),
        .run_time = read_number(conf, at, RUN_TIME, true),
        .run_job = read_number(conf, at, RUN_JOB, true),
        .committed = read_number(conf, at, COMMITTED, true),
        .hist_hours = read_number(conf, at, HIST_HOURS, true),
        .has_history = read_yes(conf, at, "ENABLE_HIST_RUN_TIME"),
        .has_decay = read_yes(conf, at, "RUN_TIME_DECAY"),
        .is_per_slot = is_per_slot(conf),
    };
}

void fairshare_read_check(struct conf *conf, const struct conf_place *at)
{
    for (int i = 0; i < FACTORS; i++) {
        if (conf_text(at->row, factor_keys[i].key, NULL) != NULL) {
            read_number(conf, at, (enum factor)i, false);
        }
    }
}
