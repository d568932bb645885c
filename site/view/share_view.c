/* SPDX-License-Identifier: Apache-2.0 */
/* share_view.c: `users`: the fairshare accounts of each scope in the order of its tree,
 * then users with jobs in queues without fairshare; and the shares of a queue.
 *
 * LSF's RESERVED are slots that are reserved for the pending jobs of an account
 * (SLOT_RESERVE). */
#include "site/view/view_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/page.h"

enum {
    SHOWN_ACCOUNTS_MAX =
        500, /* of a queue that is asked for, so that the row fits a page ... */
    LISTED_ACCOUNTS_MAX = 50, /* ... and of each queue in a list */
};

/* Slots of the jobs of an account, or of a user in queues without shares. */
struct counts {
    int64_t pend, run, ssusp, ususp;
};

/* A row of the listing. */
struct account_row {
    const struct fairshare_tree *tree; /* NULL: a user in queues without shares */
    int account;
    const char *user; /* if there is no tree */
    struct counts counts;
};

struct account_rows {
    struct account_row *items;
    int count;
};

/* ---------------------------------------------------------------- order of a tree */

static int depth_of(const struct fairshare_tree *tree, int account)
{
    int depth = 0;
    while ((account = fairshare_tree_at(tree, account)->parent) >= 0) {
        depth++;
    }
    return depth;
}

static int climb(const struct fairshare_tree *tree, int account, int levels)
{
    for (; levels > 0; levels--) {
        account = fairshare_tree_at(tree, account)->parent;
    }
    return account;
}

/* Parents before their children, siblings as they are listed. */
static int by_tree(const void *left, const void *right)
{
    const struct account_row *a = left, *b = right;
    const struct fairshare_tree *tree = a->tree;
    int a_depth = depth_of(tree, a->account), b_depth = depth_of(tree, b->account);
    int depth = a_depth < b_depth ? a_depth : b_depth;
    int a_at = climb(tree, a->account, a_depth - depth);
    int b_at = climb(tree, b->account, b_depth - depth);
    if (a_at == b_at) {
        return a_depth - b_depth;
    }
    while (fairshare_tree_at(tree, a_at)->parent !=
           fairshare_tree_at(tree, b_at)->parent) {
        a_at = fairshare_tree_at(tree, a_at)->parent;
        b_at = fairshare_tree_at(tree, b_at)->parent;
    }
    return fairshare_tree_compare(tree, a_at, 0, b_at, 0);
}

/* All accounts but the root. */
static void list_tree(const struct fairshare_tree *tree, struct account_row *rows)
{
    int n_rows = fairshare_tree_count(tree) - 1;
    for (int i = 0; i < n_rows; i++) {
        rows[i] = (struct account_row){.tree = tree, .account = i + 1};
    }
    if (n_rows > 1) {
        qsort(rows, (size_t)n_rows, sizeof(*rows), by_tree);
    }
}

/* ---------------------------------------------------------------- an account */

static const char *path_of(struct arena *arena, const struct fairshare_tree *tree,
                           int account)
{
    const char *path = "";
    for (int at = account; fairshare_tree_at(tree, at)->parent >= 0;
         at = fairshare_tree_at(tree, at)->parent) {
        path = arena_printf(arena, "/%s%s", fairshare_tree_at(tree, at)->name, path);
    }
    return path;
}

static double rounded(double number)
{
    return (double)llround(number * 1000) / 1000;
}

static void add_account(struct site_view *view, struct arena *arena, struct value *row,
                        const struct fairshare_tree *tree, int account)
{
    const struct fairshare_account *at = fairshare_tree_at(tree, account);
    struct fairshare_terms terms;
    int64_t now_ms = view->event_ms;
    fairshare_usage_terms(&at->usage, &fairshare_tree_scope(tree)->factors, now_ms,
                          &terms);
    if (at->shares > 0) {
        value_add_int(arena, row, "shares", at->shares);
        value_add_real(arena, row, "priority",
                       rounded(fairshare_tree_priority(tree, account, 0, now_ms)));
    } else { /* it counts for its group, or has no shares */
        value_add_null(arena, row, "shares");
        value_add_null(arena, row, "priority");
    }
    value_add_int(arena, row, "started", at->usage.n_slots);
    value_add_int(arena, row, "reserved",
                  reservation_view_account_slots(view, tree, account));
    value_add_real(arena, row, "cpu_s", rounded(terms.cpu_hours * 3600));
    value_add_real(arena, row, "run_s", rounded(terms.run_hours * 3600));
}

/* ---------------------------------------------------------------- of a queue */

void share_view_add_queue(struct site_view *view, struct arena *arena,
                          struct value *row, int queue, bool is_asked)
{
    const struct fairshare_tree *tree = fairshare_ledger_tree(view->fairshare, queue);
    const struct slot_pools *pools = &view->config->pools;
    int pool = pools->n_pools > 0 ? pools->pool_of[queue] : -1;
    int max = is_asked ? SHOWN_ACCOUNTS_MAX : LISTED_ACCOUNTS_MAX;
    struct slot_member member;
    if (fairshare_ledger_find_queue(view->fairshare, queue, view->event_ms, &member)) {
        value_add_text(arena, row, "slot_pool", pools->pools[pool].name);
        value_add_int(arena, row, "slot_share", pools->shares[queue]);
        value_add_real(arena, row, "slot_use_h", rounded(member.use_hours));
        value_add_real(arena, row, "slot_ahead_h", rounded(member.balance_hours));
    } else {
        value_add_null(arena, row, "slot_pool");
        value_add_null(arena, row, "slot_share");
        value_add_null(arena, row, "slot_use_h");
        value_add_null(arena, row, "slot_ahead_h");
    }
    if (tree == NULL) {
        value_add_null(arena, row, "shares");
        return;
    }
    int n_rows = fairshare_tree_count(tree) - 1;
    struct account_row *rows = arena_alloc(arena, (size_t)n_rows, sizeof(*rows));
    list_tree(tree, rows);
    struct value *shares = value_add(arena, row, "shares", value_array(arena));
    for (int i = 0; i < n_rows && i < max; i++) {
        struct value *share = value_add(arena, shares, NULL, value_object(arena));
        value_add_text(arena, share, "account", path_of(arena, tree, rows[i].account));
        add_account(view, arena, share, tree, rows[i].account);
    }
}

/* ---------------------------------------------------------------- users */

static void count_slots(struct counts *counts, const struct job *job, int64_t n_slots)
{
    switch (job->state) {
    case JOB_PEND:
    case JOB_PSUSP:
        counts->pend += n_slots;
        break;
    case JOB_RUN:
    case JOB_UNKWN:
        counts->run += n_slots;
        break;
    case JOB_SSUSP:
        counts->ssusp += n_slots;
        break;
    case JOB_USUSP:
        counts->ususp += n_slots;
        break;
    case JOB_DONE:
    case JOB_EXIT:
        break;
    }
}

/* The row of a user without an account; -1: there is none. It searches from the end, as
 * jobs of one user mostly follow each other. */
static int find_user(const struct account_rows *rows, int first, const char *user)
{
    for (int i = rows->count - 1; i >= first; i--) {
        if (strcmp(rows->items[i].user, user) == 0) {
            return i;
        }
    }
    return -1;
}

static struct account_row *add_row(struct account_rows *rows, int *capacity)
{
    if (rows->count == *capacity) {
        *capacity = *capacity == 0 ? 64 : 2 * *capacity;
        rows->items = mem_grow(rows->items, (size_t)*capacity, sizeof(*rows->items));
    }
    rows->items[rows->count] = (struct account_row){0};
    return &rows->items[rows->count++];
}

/* The accounts of each scope, then other users in the order of their jobs. */
static struct account_rows list_all(struct site_view *view, struct arena *arena)
{
    const struct fairshare *config = &view->config->fairshare;
    struct account_rows rows = {NULL, 0};
    int **row_of = arena_alloc(arena, (size_t)config->n_scopes + 1, sizeof(int *));
    int capacity = 0;
    for (int i = 0; i < config->n_scopes; i++) {
        const struct fairshare_tree *tree =
            fairshare_ledger_scope_tree(view->fairshare, i);
        int n_accounts = fairshare_tree_count(tree), first = rows.count;
        row_of[i] = arena_alloc(arena, (size_t)n_accounts, sizeof(int));
        for (int k = 1; k < n_accounts; k++) {
            add_row(&rows, &capacity);
        }
        list_tree(tree, rows.items + first);
        for (int k = first; k < rows.count; k++) {
            row_of[i][rows.items[k].account] = k;
        }
    }
    int n_accounts = rows.count;
    for (int i = 0; i < job_table_count(view->jobs); i++) {
        const struct job *job = job_table_at_const(view->jobs, i);
        int scope = job->fairshare.scope;
        if (job_is_ended(job)) {
            continue;
        }
        if (scope >= 0) {
            const struct fairshare_tree *tree =
                fairshare_ledger_scope_tree(view->fairshare, scope);
            for (int at = job->fairshare.account; at > 0;
                 at = fairshare_tree_at(tree, at)->parent) {
                count_slots(&rows.items[row_of[scope][at]].counts, job, job_slots(job));
            }
            continue;
        }
        int row = find_user(&rows, n_accounts, job->spec->user);
        if (row < 0) {
            add_row(&rows, &capacity)->user = job->spec->user;
            row = rows.count - 1;
        }
        count_slots(&rows.items[row].counts, job, job_slots(job));
    }
    return rows;
}

static bool is_asked_for(const struct account_row *row, const char *name)
{
    const char *own = row->tree != NULL
                          ? fairshare_tree_at(row->tree, row->account)->name
                          : row->user;
    return page_is_named(own, name);
}

static struct value *user_row(struct site_view *view, struct arena *arena,
                              const struct account_row *row)
{
    struct value *shown = value_object(arena);
    const struct counts *counts = &row->counts;
    if (row->tree != NULL) {
        const struct fairshare_account *account =
            fairshare_tree_at(row->tree, row->account);
        const struct fairshare_scope *scope = fairshare_tree_scope(row->tree);
        value_add_text(arena, shown, "user", account->name);
        value_add_bool(arena, shown, "is_group", !account->is_user);
        value_add_text(arena, shown, "queue", scope->is_partition ? NULL : scope->name);
        value_add_text(arena, shown, "partition",
                       scope->is_partition ? scope->name : NULL);
        value_add_text(arena, shown, "account",
                       path_of(arena, row->tree, row->account));
        add_account(view, arena, shown, row->tree, row->account);
    } else {
        static const char *const without[] = {"queue",    "partition", "account",
                                              "shares",   "priority",  "started",
                                              "reserved", "cpu_s",     "run_s"};
        value_add_text(arena, shown, "user", row->user);
        value_add_bool(arena, shown, "is_group", false);
        for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
            value_add_null(arena, shown, without[i]);
        }
    }
    value_add_int(arena, shown, "njobs",
                  counts->pend + counts->run + counts->ssusp + counts->ususp);
    value_add_int(arena, shown, "pend", counts->pend);
    value_add_int(arena, shown, "run", counts->run);
    value_add_int(arena, shown, "ssusp", counts->ssusp);
    value_add_int(arena, shown, "ususp", counts->ususp);
    return shown;
}

void share_view_list(struct site_view *view, struct page *page,
                     const struct msg_query *query)
{
    struct account_rows rows = list_all(view, page->arena);
    for (int i = 0; i < rows.count && !page->is_full; i++) {
        uint64_t number = (uint64_t)i + 1;
        if (is_asked_for(&rows.items[i], query->name) && page_wants(page, number)) {
            page_add_number(page, number, user_row(view, page->arena, &rows.items[i]));
        }
    }
    free(rows.items);
}
