/* SPDX-License-Identifier: Apache-2.0 */
/* job_group.c: see job_group.h. */
#include "site/job/job_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/sorted.h"
#include "model/dup.h"

struct job_groups {
    struct job_group **items;
    int count, capacity;
};

struct job_groups *job_groups_new(void)
{
    return mem_alloc(1, sizeof(struct job_groups));
}

static void free_group(struct job_group *group)
{
    dup_free(group->path);
    dup_free(group->owner);
    free(group);
}

void job_groups_free(struct job_groups *groups)
{
    for (int i = 0; groups != NULL && i < groups->count; i++) {
        free_group(groups->items[i]);
    }
    if (groups != NULL) {
        free(groups->items);
    }
    free(groups);
}

/* ---------------------------------------------------------------- to look up */

static int compare(const void *key, const void *item)
{
    const struct job_group *group = item;
    return strcmp(key, group->path);
}

struct job_group *job_group_find(struct job_groups *groups, const char *path)
{
    struct job_group *group = sorted_find(groups->items, groups->count, path, compare);
    return group != NULL && !group->is_gone ? group : NULL;
}

int job_group_count(const struct job_groups *groups)
{
    return groups->count;
}

const struct job_group *job_group_at(const struct job_groups *groups, int index)
{
    return groups->items[index];
}

bool job_group_contains(const char *group, const char *path)
{
    size_t length = strlen(group);
    if (length > 0 && group[length - 1] == '/') {
        return strlen(path) == length - 1 && strncmp(group, path, length - 1) == 0;
    }
    return strncmp(group, path, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}

/* ---------------------------------------------------------------- to make */

/* The length of the path of the group above; 0: it is at the top. */
static size_t parent_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return length > 0 ? length - 1 : 0;
}

int job_group_check(const struct job_groups *groups, const char *path, struct err *err)
{
    size_t length = strlen(path);
    bool is_path = path[0] == '/' && length > 1 && length < JOB_GROUP_SIZE;
    int n_missing = 0;
    for (size_t i = 0; i < length && is_path; i++) {
        unsigned char c = (unsigned char)path[i];
        is_path = c > ' ' && c != 0x7f && strchr(":,()\"'\\*", c) == NULL &&
                  (c != '/' || (path[i + 1] != '/' && path[i + 1] != '\0'));
    }
    if (!is_path) {
        return err_set(err, ERR_PARSE,
                       "\"%.80s\" is not a job group, expected a path such as "
                       "/risk/portfolio1, of at most %d bytes",
                       path, JOB_GROUP_SIZE - 1);
    }
    for (; length > 0; length = parent_length(path, length)) {
        char name[JOB_GROUP_SIZE];
        memcpy(name, path, length);
        name[length] = '\0';
        n_missing += sorted_find(groups->items, groups->count, name, compare) == NULL;
    }
    return groups->count + n_missing <= JOB_GROUPS_MAX
               ? 0
               : err_set(err, ERR_FULL,
                         "the site has %d job groups, and no more than %d are kept; "
                         "delete some (bgdel)",
                         groups->count, JOB_GROUPS_MAX);
}

static void store(const struct job_group *group, bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_JOB_GROUP};
    row.job_group =
        (struct row_job_group){.path = arena_str(&effects->arena, group->path),
                               .owner = arena_str(&effects->arena, group->owner),
                               .max_jobs = group->limit.jobs,
                               .is_gone = is_gone};
    effects_store(effects, &row);
}

static struct job_group *add(struct job_groups *groups, const char *path,
                             const char *owner, struct job_group *parent)
{
    struct job_group *group = mem_alloc(1, sizeof(*group));
    group->path = dup_text(path);
    group->owner = dup_text(owner);
    group->parent = parent;
    group->is_gone = true;
    group->limit = (struct limit){.name = group->path,
                                  .slots = -1,
                                  .jobs = -1,
                                  .per_processor_milli = -1,
                                  .counts_yielded = true,
                                  .is_job_group = true};
    group->chain = (struct limit_group){group->path, &group->limit,
                                        parent != NULL ? &parent->chain : NULL};
    groups->items = sorted_add(groups->items, &groups->count, &groups->capacity, path,
                               compare, group);
    return group;
}

struct job_group *job_group_obtain(struct job_groups *groups, const char *path,
                                   const char *owner, struct effects *effects)
{
    struct job_group *group = NULL, *parent = NULL;
    size_t length = path[0] == '/' ? 1 : 0;
    while (length > 0) {
        char name[JOB_GROUP_SIZE];
        length += strcspn(path + length, "/");
        length = length < JOB_GROUP_SIZE ? length : JOB_GROUP_SIZE - 1;
        memcpy(name, path, length);
        name[length] = '\0';
        group = sorted_find(groups->items, groups->count, name, compare);
        if (group == NULL) {
            group = add(groups, name, owner, parent);
        }
        if (group->is_gone && effects != NULL) {
            group->is_gone = false;
            dup_set_text(&group->owner, owner);
            store(group, false, effects);
        }
        parent = group;
        length = path[length] == '/' ? length + 1 : 0;
    }
    return group;
}

/* Jobs may be loaded before their groups. */
void job_group_load(struct job_groups *groups, const struct row_job_group *row)
{
    struct job_group *group = job_group_obtain(groups, row->path, row->owner, NULL);
    if (group != NULL) {
        dup_set_text(&group->owner, row->owner);
        group->limit.jobs = row->max_jobs;
        group->is_gone = false;
    }
}

void job_group_count_job(struct job_group *group, enum job_state state, int sign)
{
    for (; group != NULL; group = group->parent) {
        group->n_by_state[state] += sign;
    }
}

/* ---------------------------------------------------------------- orders */

int job_group_check_limit(const struct job_groups *groups, const char *path, int limit,
                          struct err *err)
{
    size_t n_path = strlen(path);
    for (int i = 0; i < groups->count && limit >= 0; i++) {
        const struct job_group *other = groups->items[i];
        size_t n_other = strlen(other->path);
        bool is_above = n_other < n_path && job_group_contains(other->path, path);
        bool is_below = n_other > n_path && job_group_contains(path, other->path);
        if (is_above && other->limit.jobs >= 0 && limit > other->limit.jobs) {
            return err_set(err, ERR_BOUNDS,
                           "job group %s above it has the limit %d, expected at most "
                           "that",
                           other->path, other->limit.jobs);
        }
        if (is_below && other->limit.jobs > limit) {
            return err_set(err, ERR_BOUNDS,
                           "job group %s below it has the limit %d, expected at least "
                           "that",
                           other->path, other->limit.jobs);
        }
    }
    return 0;
}

void job_group_set(struct job_group *group, int limit, const char *owner,
                   struct effects *effects)
{
    group->limit.jobs = limit;
    dup_set_text(&group->owner, owner);
    store(group, false, effects);
}

static int count_unfinished(const struct job_group *group)
{
    int count = 0;
    for (int state = 0; state < JOB_STATES; state++) {
        count += state != JOB_DONE && state != JOB_EXIT ? group->n_by_state[state] : 0;
    }
    return count;
}

int job_group_check_delete(const struct job_groups *groups, const char *path,
                           struct err *err)
{
    const struct job_group *group =
        sorted_find(groups->items, groups->count, path, compare);
    if (group == NULL || group->is_gone) {
        return err_set(err, ERR_NOT_FOUND, "%s: No such job group", path);
    }
    int n_jobs = count_unfinished(group);
    return n_jobs == 0
               ? 0
               : err_set(err, ERR_STATE,
                         "job group %s has %d unfinished job%s, with those of the "
                         "groups below it",
                         path, n_jobs, n_jobs == 1 ? "" : "s");
}

/* Frees deleted groups that have no jobs. Those above come first, so that a group goes
 * after those below it. */
static void sweep(struct job_groups *groups)
{
    for (int i = groups->count - 1; i >= 0; i--) {
        struct job_group *group = groups->items[i];
        int n_jobs = 0;
        for (int state = 0; state < JOB_STATES; state++) {
            n_jobs += group->n_by_state[state];
        }
        bool has_below = false;
        for (int k = i + 1; k < groups->count && !has_below; k++) {
            has_below = groups->items[k]->parent == group;
        }
        if (group->is_gone && n_jobs == 0 && !has_below) {
            sorted_remove(groups->items, &groups->count, group->path, compare);
            free_group(group);
        }
    }
}

int job_group_delete(struct job_groups *groups, const char *path,
                     struct effects *effects)
{
    int count = 0;
    for (int i = 0; i < groups->count; i++) {
        struct job_group *group = groups->items[i];
        if (!group->is_gone && job_group_contains(path, group->path)) {
            group->is_gone = true;
            group->limit.jobs = -1;
            store(group, true, effects);
            count++;
        }
    }
    sweep(groups);
    return count;
}
