/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_tree.c: see fairshare.h. Accounts are in an array that grows, users
 * also in a hash table by name. A job changes its account and all accounts above it. */
#include "sched/fairshare/fairshare.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

/* The account of an assignment that has one without any job. */
struct assignment_account {
    const struct share_assignment *assignment;
    int account;
    UT_hash_handle hh;
};

/* The struct is followed by two texts: its key (the user's name, after the path) and
 * path. */
struct user {
    int account;
    UT_hash_handle hh;
    char key[];
};

/* All accounts are ranked again once one in so many has no rank. */
enum { RANK_PART = 8 };

struct fairshare_tree {
    const struct fairshare_scope *scope;
    struct fairshare_account *accounts;
    int count, capacity;
    int n_ranked;
    struct assignment_account
        *assignments; /* by assignment: only looked up, never iterated */
    struct user *users;
};

/* ---------------------------------------------------------------- making accounts */

static int add_account(struct fairshare_tree *tree,
                       const struct fairshare_account *account)
{
    if (tree->count == tree->capacity) {
        tree->capacity = tree->capacity == 0 ? 32 : 2 * tree->capacity;
        tree->accounts =
            mem_grow(tree->accounts, (size_t)tree->capacity, sizeof(*tree->accounts));
    }
    tree->accounts[tree->count] = *account;
    return tree->count++;
}

/* A user joiner joins: the key of the account, and its name. */
struct joining {
    const char *key, *name, *path;
};

static int add_user(struct fairshare_tree *tree, const struct joining *joiner,
                    int parent, int place, int shares)
{
    size_t key_length = strlen(joiner->key), length = strlen(joiner->path);
    struct user *user = mem_alloc(1, sizeof(*user) + key_length + length + 2);
    char *path = user->key + key_length + 1;
    memcpy(user->key, joiner->key, key_length + 1);
    memcpy(path, joiner->path, length + 1);
    user->account =
        add_account(tree, &(struct fairshare_account){
                              .name = path + (length - strlen(joiner->name)),
                              .path = path,
                              .parent = parent,
                              .position = place,
                              .shares = shares,
                              .sharing_account = tree->count,
                              .is_user = true,
                          });
    HASH_ADD_KEYPTR(hh, tree->users, user->key, key_length, user);
    return user->account;
}

static void add_assignment(struct fairshare_tree *tree,
                           const struct share_assignment *assignment, int account)
{
    struct assignment_account *entry = mem_alloc(1, sizeof(*entry));
    entry->assignment = assignment;
    entry->account = account;
    HASH_ADD_PTR(tree->assignments, assignment, entry);
}

/* Adds groups, and users with an assignment of their own. */
static void add_assignments(struct fairshare_tree *tree,
                            const struct share_assignment *assignments,
                            int n_assignments, int parent)
{
    for (int i = 0; i < n_assignments; i++) {
        const struct share_assignment *assignment = &assignments[i];
        bool is_one =
            assignment->kind == SHARE_GROUP || assignment->kind == SHARE_OTHERS;
        if (is_one) {
            int account = add_account(
                tree, &(struct fairshare_account){.name = assignment->name,
                                                  .parent = parent,
                                                  .position = i,
                                                  .shares = assignment->shares,
                                                  .sharing_account = tree->count});
            add_assignment(tree, assignment, account);
            add_assignments(tree, assignment->children, assignment->n_children,
                            account);
        }
    }
}

/* Adds users that the assignments name: they are shown before their first job. */
static void add_listed(struct fairshare_tree *tree,
                       const struct share_assignment *assignments, int n_assignments)
{
    for (int i = 0; i < n_assignments; i++) {
        if (assignments[i].kind == SHARE_USER) {
            fairshare_tree_join(tree, assignments[i].name, "");
        }
        for (int k = 0;
             assignments[i].kind == SHARE_EACH && k < assignments[i].members.n_names;
             k++) {
            fairshare_tree_join(tree, assignments[i].members.names[k], "");
        }
        add_listed(tree, assignments[i].children, assignments[i].n_children);
    }
}

struct fairshare_tree *fairshare_tree_new(const struct fairshare_scope *scope)
{
    struct fairshare_tree *tree = mem_alloc(1, sizeof(*tree));
    tree->scope = scope;
    add_account(tree, &(struct fairshare_account){.name = "", .parent = -1});
    add_assignments(tree, scope->assignments, scope->n_assignments, 0);
    add_listed(tree, scope->assignments, scope->n_assignments);
    return tree;
}

void fairshare_tree_free(struct fairshare_tree *tree)
{
    struct user *user, *next;
    struct assignment_account *entry, *next_entry;
    if (tree == NULL) {
        return;
    }
    HASH_ITER (hh, tree->assignments, entry, next_entry) {
        HASH_DEL(tree->assignments, entry);
        free(entry);
    }
    HASH_ITER (hh, tree->users, user, next) {
        HASH_DEL(tree->users, user);
        free(user);
    }
    free(tree->accounts);
    free(tree);
}

/* ---------------------------------------------------------------- looking */

const struct fairshare_scope *fairshare_tree_scope(const struct fairshare_tree *tree)
{
    return tree->scope;
}

int fairshare_tree_count(const struct fairshare_tree *tree)
{
    return tree->count;
}

const struct fairshare_account *fairshare_tree_at(const struct fairshare_tree *tree,
                                                  int account)
{
    return &tree->accounts[account];
}

/* -1: the user has no account. */
static int find_user(const struct fairshare_tree *tree, const char *name)
{
    struct user *user;
    HASH_FIND(hh, tree->users, name, strlen(name), user);
    return user != NULL ? user->account : -1;
}

static int account_of(const struct fairshare_tree *tree,
                      const struct share_assignment *assignment)
{
    struct assignment_account *entry;
    HASH_FIND_PTR(tree->assignments, &assignment, entry);
    return entry != NULL ? entry->account : 0;
}

/* The account of the user at the end of the path. */
static int join_at(struct fairshare_tree *tree, const struct joining *joiner,
                   const int *path, int depth)
{
    const struct share_assignment *assignments = tree->scope->assignments,
                                  *assignment = NULL;
    int parent = 0;
    for (int i = 0; i < depth; i++) {
        parent = assignment != NULL ? account_of(tree, assignment) : 0;
        assignment = &assignments[path[i]];
        assignments = assignment->children;
    }
    if (assignment->kind == SHARE_GROUP || assignment->kind == SHARE_OTHERS) {
        int group = account_of(tree, assignment);
        int account = add_user(tree, joiner, group, 0, 0);
        tree->accounts[account].sharing_account = group;
        return account;
    }
    return add_user(tree, joiner, parent, path[depth - 1], assignment->shares);
}

static int join_own(struct fairshare_tree *tree, const char *name)
{
    struct joining joiner = {name, name, name};
    int path[SHARE_DEPTH_MAX];
    int account = find_user(tree, name);
    if (account >= 0) {
        return account;
    }
    const struct fairshare_scope *scope = tree->scope;
    int depth = fairshare_path(scope->assignments, scope->n_assignments, name, path);
    return depth > 0 ? join_at(tree, &joiner, path, depth)
                     : add_user(tree, &joiner, 0, scope->n_assignments, 0);
}

int fairshare_tree_join(struct fairshare_tree *tree, const char *name,
                        const char *group)
{
    const struct fairshare_scope *scope = tree->scope;
    int own[SHARE_DEPTH_MAX], path[SHARE_DEPTH_MAX];
    int depth = group[0] != '\0'
                    ? fairshare_path_in_group(scope->assignments, scope->n_assignments,
                                              name, group, path)
                    : 0;
    if (depth == 0 ||
        (fairshare_path(scope->assignments, scope->n_assignments, name, own) == depth &&
         memcmp(own, path, (size_t)depth * sizeof(*path)) == 0)) {
        return join_own(tree, name);
    }
    struct arena arena;
    struct joining joiner = {.key = "", .name = name};
    arena_init(&arena);
    for (int i = 0; i < depth; i++) {
        joiner.key = arena_printf(&arena, "%s%d/", joiner.key, path[i]);
    }
    joiner.key = arena_printf(&arena, "%s%s", joiner.key, name);
    joiner.path = arena_printf(&arena, "%s/%s", group, name);
    int account = find_user(tree, joiner.key);
    if (account < 0) {
        account = join_at(tree, &joiner, path, depth);
    }
    arena_release(&arena);
    return account;
}

int fairshare_tree_join_path(struct fairshare_tree *tree, const char *path)
{
    struct arena arena;
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return fairshare_tree_join(tree, path, "");
    }
    arena_init(&arena);
    int account = fairshare_tree_join(tree, slash + 1,
                                      arena_strn(&arena, path, (size_t)(slash - path)));
    arena_release(&arena);
    return account;
}

/* ---------------------------------------------------------------- ranks */

static int compare_listed(const struct fairshare_account *left,
                          const struct fairshare_account *right)
{
    if (left->position != right->position) {
        return left->position < right->position ? -1 : 1;
    }
    int by_name = strcmp(left->name, right->name);
    return by_name != 0 ? by_name : left < right ? -1 : left > right; /* by index */
}

static int by_listing(const void *left, const void *right)
{
    return compare_listed(*(struct fairshare_account *const *)left,
                          *(struct fairshare_account *const *)right);
}

void fairshare_tree_rank(struct fairshare_tree *tree)
{
    if (tree->count - tree->n_ranked <= tree->count / RANK_PART) {
        return;
    }
    struct fairshare_account **sorted =
        mem_alloc((size_t)tree->count, sizeof(struct fairshare_account *));
    for (int i = 0; i < tree->count; i++) {
        sorted[i] = &tree->accounts[i];
    }
    qsort(sorted, (size_t)tree->count, sizeof(struct fairshare_account *), by_listing);
    for (int i = 0; i < tree->count; i++) {
        sorted[i]->rank = i + 1;
    }
    tree->n_ranked = tree->count;
    free(sorted);
}

/* ---------------------------------------------------------------- usage */

void fairshare_tree_count_job(struct fairshare_tree *tree, int account,
                              const struct fairshare_job *job, int sign, int64_t now_ms)
{
    for (int at = account; at >= 0; at = tree->accounts[at].parent) {
        fairshare_usage_count(&tree->accounts[at].usage, &tree->scope->factors, job,
                              sign, now_ms);
    }
}

void fairshare_tree_add_finished(struct fairshare_tree *tree, int account,
                                 double cpu_ms, double past_ms, int64_t now_ms)
{
    for (int at = account; at >= 0; at = tree->accounts[at].parent) {
        fairshare_usage_add_finished(&tree->accounts[at].usage, &tree->scope->factors,
                                     cpu_ms, past_ms, now_ms);
    }
}

double fairshare_tree_priority(const struct fairshare_tree *tree, int account,
                               int64_t n_more_slots, int64_t now_ms)
{
    const struct fairshare_account *at = &tree->accounts[account];
    struct fairshare_terms terms;
    fairshare_usage_terms(&at->usage, &tree->scope->factors, now_ms, &terms);
    return fairshare_usage_priority(&tree->scope->factors, at->shares, &terms,
                                    n_more_slots);
}

bool fairshare_tree_is_late(const struct fairshare_tree *tree, int account,
                            int64_t since_ms, int64_t now_ms)
{
    return fairshare_usage_is_late(&tree->accounts[account].usage,
                                   &tree->scope->factors, since_ms, now_ms);
}

int fairshare_tree_compare(const struct fairshare_tree *tree, int a, double a_priority,
                           int b, double b_priority)
{
    const struct fairshare_account *left = &tree->accounts[a],
                                   *right = &tree->accounts[b];
    if (a_priority != b_priority) {
        return a_priority > b_priority ? -1 : 1;
    }
    if (left->rank > 0 && right->rank > 0) {
        return left->rank - right->rank;
    }
    return compare_listed(left, right);
}
