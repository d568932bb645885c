/* SPDX-License-Identifier: Apache-2.0 */
/* pend_config.c: MAX_PEND_JOBS and MAX_PEND_SLOTS of sections User, UserGroup and
 * Parameters: how many jobs of a user, a group and the site may be pending, and how
 * many slots they may ask for. See site_config.h.
 *
 * As in LSF a row of section User names a user, each user of a group (GROUP@), or
 * default. The row that names the user is the one that counts, else the smallest of
 * those of the user's groups, else the default. Besides, MAX_PEND_JOBS of section
 * UserGroup, or a row of section User that names a group, bounds the pending jobs of
 * all users of the group together; of two such numbers the smaller one counts. */
#include <string.h>
#include <strings.h>

#include "base/conf/conf_value.h"
#include "site/config/config_parts.h"

static bool is_group(const char *name)
{
    return name[strlen(name) - 1] == '@';
}

static void add_group(struct pend_config *pend, const char *name, int max)
{
    struct pend_bound *bounds = pend->groups;
    for (int i = 0; i < pend->n_groups; i++) {
        if (strcmp(bounds[i].user, name) == 0) {
            bounds[i].max = max < bounds[i].max ? max : bounds[i].max;
            return;
        }
    }
    bounds[pend->n_groups++] = (struct pend_bound){name, max};
}

static void read_group(struct conf *conf, const struct groups *groups,
                       const struct conf_place *at, const char *key,
                       struct pend_config *pend)
{
    const char *name = conf_text(at->row, "GROUP_NAME", NULL);
    const char *text = conf_text(at->row, key, NULL);
    if (name != NULL && text != NULL && groups_find_users(groups, name) != NULL) {
        add_group(pend, name, (int)conf_value_int(conf, at, key, INT32_MAX));
    }
}

static void read_row(struct conf *conf, const struct groups *groups,
                     const struct conf_place *at, const char *key,
                     struct pend_config *pend, struct pend_bound *rows)
{
    const char *name = conf_text(at->row, "USER_NAME", NULL);
    const struct conf_cell *cell = conf_cell(at->row, key);
    if (name == NULL || cell == NULL || conf_text(at->row, key, NULL) == NULL) {
        return; /* a row without a name has been reported (limit_config.c) */
    }
    int max = (int)conf_value_int(conf, at, key, INT32_MAX);
    if (strcasecmp(name, "default") == 0) {
        pend->of_others = max;
    } else if (groups_find_users(groups, name) != NULL) {
        add_group(pend, name, max);
    } else {
        rows[pend->n_bounds++] = (struct pend_bound){name, max};
    }
}

void pend_config_read(struct conf *conf, const struct groups *groups, const char *key,
                      int of_others, struct pend_config *pend)
{
    struct conf_place of_site = conf_value_last(conf, "Parameters", key);
    int n_users = conf_count_rows(conf, "User"),
        n_groups = conf_count_rows(conf, "UserGroup");
    struct pend_bound *rows = arena_alloc(conf->arena, (size_t)n_users, sizeof(*rows));
    const struct conf_section *section = NULL;
    *pend = (struct pend_config){.of_others = of_others, .bounds = rows};
    pend->groups =
        arena_alloc(conf->arena, (size_t)(n_users + n_groups), sizeof(*pend->groups));
    pend->of_site = (int)conf_value_int(conf, &of_site, key, 0);
    while ((section = conf_next(conf, "User", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            struct conf_place at = {section, &section->rows[i]};
            read_row(conf, groups, &at, key, pend, rows);
        }
    }
    while ((section = conf_next(conf, "UserGroup", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            struct conf_place at = {section, &section->rows[i]};
            read_group(conf, groups, &at, key, pend);
        }
    }
}

static bool has_user(const struct groups *groups, const char *group, const char *user)
{
    char name[NAME_SIZE];
    size_t length = strlen(group) - 1;
    if (length >= sizeof(name)) {
        return false;
    }
    memcpy(name, group, length);
    name[length] = '\0';
    const struct name_group *found = groups_find_users(groups, name);
    return found != NULL && groups_has(&found->members, user);
}

int pend_config_of_user(const struct pend_config *pend, const struct groups *groups,
                        const char *user)
{
    int found = -1;
    for (int i = 0; i < pend->n_bounds; i++) {
        const struct pend_bound *bound = &pend->bounds[i];
        if (strcmp(bound->user, user) == 0) {
            return bound->max;
        }
        if (is_group(bound->user) && has_user(groups, bound->user, user) &&
            (found < 0 || bound->max < found)) {
            found = bound->max;
        }
    }
    return found >= 0 ? found : pend->of_others;
}
