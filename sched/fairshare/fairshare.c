/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare.c: see fairshare.h. Values that conf_check finds malformed count as unset;
 * conf_check reports them. */
#include "sched/fairshare/fairshare.h"

#include <string.h>
#include <strings.h>

#include "sched/fairshare/fairshare_read.h"

struct list {
    struct conf *conf;
    const struct groups *groups;
    const struct queue_config *queues;
    int n_queues;
    struct fairshare_scope *scopes;
    int n_scopes;
    int *scope_of;
};

#define COMPLAIN(list, severity, at, key, ...)                                         \
    CONF_COMPLAIN((list)->conf, severity, at, key, __VA_ARGS__)

static int find_queue(const struct list *list, const char *name)
{
    for (int i = 0; i < list->n_queues; i++) {
        if (strcmp(list->queues[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static struct fairshare_scope *add_scope(struct list *list, const struct conf_place *at,
                                         const char *name)
{
    struct fairshare_scope *scope = &list->scopes[list->n_scopes++];
    *scope = (struct fairshare_scope){.name = name};
    fairshare_read_factors(list->conf, at, &scope->factors);
    return scope;
}

/* ---------------------------------------------------------------- queues */

static void join_set(struct list *list, const struct conf_place *at, int scope,
                     int queue, const char *name)
{
    const struct queue_config *first =
        &list->queues[find_queue(list, list->scopes[scope].name)];
    if (queue < 0) {
        COMPLAIN(list, CONF_ERROR, at, "FAIRSHARE_QUEUES",
                 "unknown queue \"%s\", expected one of section Queue", name);
        return;
    }
    if (list->scope_of[queue] == scope) {
        return; /* the queue with the list itself, or a queue listed twice */
    }
    if (list->scope_of[queue] >= 0) {
        COMPLAIN(list, CONF_ERROR, at, "FAIRSHARE_QUEUES",
                 "queue \"%s\" shares users' priorities with queue \"%s\" already, "
                 "expected it in one set only",
                 name, list->scopes[list->scope_of[queue]].name);
        return;
    }
    if (!queue_same_hosts(first, &list->queues[queue], list->groups)) {
        COMPLAIN(list, CONF_ERROR, at, "FAIRSHARE_QUEUES",
                 "queue \"%s\" has other HOSTS than \"%s\", expected the same in all "
                 "queues of the set",
                 name, first->name);
    }
    list->scope_of[queue] = scope;
}

/* Warns about a queue whose priority is between those of the set. */
static void warn_between(struct list *list, const struct conf_place *at, int scope)
{
    int least = INT32_MAX, most = 0;
    for (int i = 0; i < list->n_queues; i++) {
        if (list->scope_of[i] == scope) {
            int priority = list->queues[i].priority;
            least = priority < least ? priority : least;
            most = priority > most ? priority : most;
        }
    }
    for (int i = 0; i < list->n_queues; i++) {
        int priority = list->queues[i].priority;
        if (list->scope_of[i] != scope && priority > least && priority < most) {
            COMPLAIN(list, CONF_WARNING, at, "FAIRSHARE_QUEUES",
                     "queue \"%s\" is not in the set, but has a PRIORITY between those "
                     "of its queues: the set is served as a whole before it",
                     list->queues[i].name);
        }
    }
}

static void read_order(struct list *list, const struct conf_place *at,
                       struct fairshare_scope *scope)
{
    const char *text = conf_text(at->row, "DISPATCH_ORDER", NULL);
    if (text == NULL) {
        return;
    }
    scope->is_by_queue = strcasecmp(text, "QUEUE") == 0;
    if (conf_text(at->row, "FAIRSHARE_QUEUES", NULL) == NULL) {
        COMPLAIN(list, CONF_WARNING, at, "DISPATCH_ORDER",
                 "has no effect without FAIRSHARE_QUEUES");
    }
}

static void read_queue(struct list *list, const struct conf_place *at)
{
    const struct conf_cell *cell = conf_cell(at->row, "FAIRSHARE");
    const char *set = conf_text(at->row, "FAIRSHARE_QUEUES", NULL);
    int queue = find_queue(list, conf_text(at->row, "QUEUE_NAME", ""));
    if (queue < 0) {
        return; /* queue_read has reported the reason */
    }
    if (cell == NULL || cell->value == NULL) {
        if (set != NULL) {
            COMPLAIN(list, CONF_ERROR, at, "FAIRSHARE_QUEUES",
                     "there are no shares, expected FAIRSHARE in the same section");
        }
        return;
    }
    if (list->scope_of[queue] >= 0) {
        COMPLAIN(list, CONF_ERROR, at, "FAIRSHARE",
                 "the queue is in FAIRSHARE_QUEUES of queue \"%s\", which has shares "
                 "for all of the set, expected none here",
                 list->scopes[list->scope_of[queue]].name);
        return;
    }
    struct fairshare_scope *scope = add_scope(list, at, list->queues[queue].name);
    int index = list->n_scopes - 1;
    list->scope_of[queue] = index;
    fairshare_read_assignments(list->conf, list->groups, at, "FAIRSHARE",
                               &scope->assignments, &scope->n_assignments);
    struct conf_words words = conf_words(list->conf->arena, set);
    for (int i = 0; i < words.count; i++) {
        join_set(list, at, index, find_queue(list, words.words[i]), words.words[i]);
    }
    if (words.count > 0) {
        warn_between(list, at, index);
    }
    read_order(list, at, scope);
}

/* ---------------------------------------------------------------- partitions */

static bool queue_uses(const struct queue_config *queue, const char *host)
{
    int preference;
    return queue_allows(queue, host, "", &preference);
}

/* A queue joins the partition if all its own hosts are in it. */
static void join_partition(struct list *list, const struct conf_place *at, int scope,
                           int queue, const struct name_set *hosts)
{
    const struct groups *groups = list->groups;
    int n_in = 0, n_out = 0;
    for (int i = 0; i < groups->n_own_hosts; i++) {
        if (queue_uses(&list->queues[queue], groups->own_hosts[i])) {
            bool is_in = groups_has(hosts, groups->own_hosts[i]);
            n_in += is_in;
            n_out += !is_in;
        }
    }
    if (n_in == 0) {
        return;
    }
    const char *name = list->queues[queue].name;
    if (n_out > 0) {
        COMPLAIN(list, CONF_ERROR, at, "HOSTS",
                 "queue \"%s\" uses hosts of the partition and others, expected all "
                 "its hosts in one partition, or none",
                 name);
    } else if (list->scope_of[queue] >= 0) {
        COMPLAIN(list, CONF_ERROR, at, "HOSTS",
                 "queue \"%s\" uses hosts of the partition and has fairshare of its "
                 "own, expected one of them",
                 name);
    } else {
        list->scope_of[queue] = scope;
    }
}

/* `all` means the hosts that no earlier partition has. */
static struct name_set partition_hosts(struct list *list, const struct conf_place *at,
                                       const struct name_set *earlier, int n_earlier)
{
    const struct groups *groups = list->groups;
    struct name_set hosts = groups_read_hosts(list->conf, groups, at, "HOSTS");
    const char **names =
        arena_alloc(list->conf->arena, (size_t)groups->n_own_hosts + 1, sizeof(char *));
    struct name_set own = {.names = names};
    for (int i = 0; i < groups->n_own_hosts; i++) {
        const char *host = groups->own_hosts[i];
        bool is_taken = false;
        for (int k = 0; k < n_earlier; k++) {
            is_taken = is_taken || groups_has(&earlier[k], host);
        }
        if (is_taken && !hosts.is_all && groups_has(&hosts, host)) {
            COMPLAIN(list, CONF_ERROR, at, "HOSTS",
                     "host \"%s\" is in a partition already, expected it in one only",
                     host);
        } else if (!is_taken && groups_has(&hosts, host)) {
            names[own.n_names++] = host;
        }
    }
    return own;
}

static void read_partition(struct list *list, const struct conf_place *at,
                           struct name_set *earlier, int *n_earlier)
{
    const char *name = conf_text(at->row, "HPART_NAME", NULL);
    if (name == NULL || conf_text(at->row, "HOSTS", NULL) == NULL ||
        conf_text(at->row, "USER_SHARES", NULL) == NULL) {
        COMPLAIN(list, CONF_ERROR, at, "HPART_NAME",
                 "a partition without %s, expected HPART_NAME, HOSTS and USER_SHARES",
                 name == NULL ? "a name" : "hosts or shares");
        return;
    }
    struct fairshare_scope *scope = add_scope(list, at, name);
    scope->is_partition = scope->is_by_queue = true;
    fairshare_read_assignments(list->conf, list->groups, at, "USER_SHARES",
                               &scope->assignments, &scope->n_assignments);
    earlier[*n_earlier] = partition_hosts(list, at, earlier, *n_earlier);
    for (int i = 0; i < list->n_queues; i++) {
        join_partition(list, at, list->n_scopes - 1, i, &earlier[*n_earlier]);
    }
    (*n_earlier)++;
}

/* ---------------------------------------------------------------- all */

void fairshare_load(struct conf *conf, const struct groups *groups,
                    const struct queue_config *queues, int n_queues,
                    struct fairshare *config)
{
    int n_partitions = conf_count_rows(conf, "HostPartition"), n_earlier = 0;
    struct list list = {
        .conf = conf, .groups = groups, .queues = queues, .n_queues = n_queues};
    struct conf_place at = {0};
    list.scopes = arena_alloc(conf->arena, (size_t)(n_queues + n_partitions),
                              sizeof(*list.scopes));
    list.scope_of = arena_alloc(conf->arena, (size_t)n_queues, sizeof(int));
    struct name_set *earlier =
        arena_alloc(conf->arena, (size_t)n_partitions, sizeof(*earlier));
    for (int i = 0; i < n_queues; i++) {
        list.scope_of[i] = -1;
    }
    fairshare_read_groups(conf, groups);
    while (conf_next_row(conf, "Parameters", &at)) {
        fairshare_read_check(conf, &at);
    }
    while (conf_next_row(conf, "Queue", &at)) {
        fairshare_read_check(conf, &at);
        read_queue(&list, &at);
    }
    while (conf_next_row(conf, "HostPartition", &at)) {
        read_partition(&list, &at, earlier, &n_earlier);
    }
    *config = (struct fairshare){
        .scopes = list.scopes, .n_scopes = list.n_scopes, .scope_of = list.scope_of};
}

/* ---------------------------------------------------------------- paths */

static int path_in(const struct share_assignment *assignment, int index,
                   const char *user, int at, int *path);

/* The order in which kinds of assignments are considered. */
static int rank_of(enum share_assignment_kind kind)
{
    static const int ranks[] = {[SHARE_USER] = 0,
                                [SHARE_GROUP] = 1,
                                [SHARE_EACH] = 1,
                                [SHARE_DEFAULT] = 2,
                                [SHARE_OTHERS] = 3};
    return ranks[kind];
}

/* The length of the path, from depth `at` on; 0: there is none. */
static int path_among(const struct share_assignment *assignments, int n_assignments,
                      const char *user, int at, int *path)
{
    for (int rank = 0; rank <= rank_of(SHARE_OTHERS); rank++) {
        for (int i = 0; i < n_assignments; i++) {
            int depth = rank_of(assignments[i].kind) == rank
                            ? path_in(&assignments[i], i, user, at, path)
                            : 0;
            if (depth > 0) {
                return depth;
            }
        }
    }
    return 0;
}

static int path_in(const struct share_assignment *assignment, int index,
                   const char *user, int at, int *path)
{
    bool is_covered = assignment->kind == SHARE_USER
                          ? strcmp(assignment->name, user) == 0
                          : groups_has(&assignment->members, user);
    if (!is_covered || at == SHARE_DEPTH_MAX) {
        return 0;
    }
    path[at] = index;
    return assignment->n_children == 0
               ? at + 1
               : path_among(assignment->children, assignment->n_children, user, at + 1,
                            path);
}

int fairshare_path(const struct share_assignment *assignments, int n_assignments,
                   const char *user, int *path)
{
    return path_among(assignments, n_assignments, user, 0, path);
}

static bool is_group(const struct share_assignment *assignment)
{
    return assignment->kind == SHARE_GROUP || assignment->kind == SHARE_EACH;
}

/* Like path_among, through an assignment of the group. */
static int path_through(const struct share_assignment *assignments, int n_assignments,
                        const char *user, const char *group, int at, int *path)
{
    for (int i = 0; i < n_assignments && at < SHARE_DEPTH_MAX; i++) {
        const struct share_assignment *assignment = &assignments[i];
        int depth = 0;
        if (is_group(assignment) && strcmp(assignment->name, group) == 0) {
            depth = path_in(assignment, i, user, at, path);
        } else if (is_group(assignment) && groups_has(&assignment->members, user)) {
            path[at] = i;
            depth = path_through(assignment->children, assignment->n_children, user,
                                 group, at + 1, path);
        }
        if (depth > 0) {
            return depth;
        }
    }
    return 0;
}

int fairshare_path_in_group(const struct share_assignment *assignments,
                            int n_assignments, const char *user, const char *group,
                            int *path)
{
    return group[0] == '\0'
               ? fairshare_path(assignments, n_assignments, user, path)
               : path_through(assignments, n_assignments, user, group, 0, path);
}

bool fairshare_has_share(const struct fairshare_scope *scope, const char *user,
                         const char *group)
{
    int path[SHARE_DEPTH_MAX];
    return fairshare_path_in_group(scope->assignments, scope->n_assignments, user,
                                   group, path) > 0;
}
