/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_ledger.c: see fairshare_ledger.h. */
#include "site/ledger/fairshare_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/ledger/slot_pool_ledger.h"
#include "site/site.h"

/* What is left of use that counts for nothing any more. */
static const double forgotten_ms = 1;

enum {
    SCOPE_SIZE = NAME_SIZE + 16,
    PROCESSORS_MAX =
        100000, /* that one job can keep busy: a host is not believed more */
};

/* An account whose row is not what it is; or that had a row at the start. */
struct account_at {
    int scope, account;
};

/* A row whose scope is not configured, or whose seat is another's now. */
struct stray {
    char *scope, *account;
};

struct fairshare_ledger {
    const struct site_config *config;
    struct fairshare_tree **trees;  /* by scope */
    struct slot_pool_ledger *slots; /* of queues */
    struct account_at *changed, *loaded;
    int n_changed, n_loaded;
    struct stray *strays;
    int n_strays;
};

/* ---------------------------------------------------------------- life */

struct fairshare_ledger *fairshare_ledger_new(const struct site_config *config)
{
    struct fairshare_ledger *shares = mem_alloc(1, sizeof(*shares));
    int n_scopes = config->shares.n_scopes;
    shares->config = config;
    shares->trees = mem_alloc((size_t)n_scopes + 1, sizeof(struct fairshare_tree *));
    shares->slots = slot_pool_ledger_new(config);
    for (int i = 0; i < n_scopes; i++) {
        shares->trees[i] = fairshare_tree_new(&config->shares.scopes[i]);
    }
    return shares;
}

static void free_strays(struct fairshare_ledger *shares)
{
    for (int i = 0; i < shares->n_strays; i++) {
        dup_free(shares->strays[i].scope);
        dup_free(shares->strays[i].account);
    }
    free(shares->strays);
    shares->strays = NULL;
    shares->n_strays = 0;
}

void fairshare_ledger_free(struct fairshare_ledger *shares)
{
    if (shares == NULL) {
        return;
    }
    for (int i = 0; i < shares->config->shares.n_scopes; i++) {
        fairshare_tree_free(shares->trees[i]);
    }
    free_strays(shares);
    free(shares->trees);
    slot_pool_ledger_free(shares->slots);
    free(shares->changed);
    free(shares->loaded);
    free(shares);
}

/* ---------------------------------------------------------------- names of rows */

/* "queue/normal", "partition/fast". */
static void name_scope(const struct fairshare_scope *scope, char *text)
{
    snprintf(text, SCOPE_SIZE, "%s/%s", scope->is_partition ? "partition" : "queue",
             scope->name);
}

static int find_scope(const struct fairshare_ledger *shares, const char *text)
{
    for (int i = 0; i < shares->config->shares.n_scopes; i++) {
        char name[SCOPE_SIZE];
        name_scope(&shares->config->shares.scopes[i], name);
        if (strcmp(name, text) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- jobs */

static int scope_of(const struct fairshare_ledger *shares, int queue)
{
    const struct fairshare *config = &shares->config->shares;
    return queue >= 0 && config->n_scopes > 0 ? config->scope_of[queue] : -1;
}

struct job_seat fairshare_ledger_seat(struct fairshare_ledger *shares, int queue,
                                      const char *user, const char *group)
{
    int scope = scope_of(shares, queue);
    struct job_seat seat = {.scope = scope};
    if (scope >= 0) {
        seat.account = fairshare_tree_join(shares->trees[scope], user, group);
    }
    return seat;
}

int fairshare_ledger_check(const struct fairshare_ledger *shares, int queue,
                           const char *user, const char *group, struct err *err)
{
    int scope = scope_of(shares, queue);
    if (scope < 0 ||
        fairshare_has_share(&shares->config->shares.scopes[scope], user, group)) {
        return 0;
    }
    const char *name = shares->config->queues[queue].name;
    return err_set(err, ERR_DENIED,
                   "%s: User cannot use the queue: it has no share for %s%s%s, see "
                   "`sublet queues -l %s`",
                   name, user, group[0] != '\0' ? " as a member of " : "", group, name);
}

static struct fairshare_job share_job_of(const struct job *job)
{
    return (struct fairshare_job){
        .n_slots = msg_sum_slots(job->hosts, job->n_hosts),
        .start_ms = job->start_ms,
        .suspended_ms = job->halt.total_ms,
        .suspended_since_ms = job->halt.since_ms,
        .run_limit_ms = job->spec->run_limit_ms,
        .busy_milli = job->seat.busy_milli,
    };
}

static void count(struct fairshare_ledger *shares, const struct job *job, int sign,
                  int64_t now_ms)
{
    const struct job_seat *seat = &job->seat;
    slot_pool_ledger_add_slots(shares->slots, job->queue, sign * seat->counted.n_slots);
    if (seat->scope >= 0) {
        fairshare_tree_count_job(shares->trees[seat->scope], seat->account,
                                 &seat->counted, sign, now_ms);
    }
}

void fairshare_ledger_add_job(struct fairshare_ledger *shares, struct job *job,
                              int64_t now_ms)
{
    if (job->start_ms == 0) {
        job->seat.cpu_ms = job->seat.busy_milli = 0;
    }
    job->seat.counted = share_job_of(job);
    count(shares, job, 1, now_ms);
}

void fairshare_ledger_remove_job(struct fairshare_ledger *shares, struct job *job,
                                 int64_t now_ms)
{
    count(shares, job, -1, now_ms);
}

void fairshare_ledger_update_job(struct fairshare_ledger *shares, struct job *job,
                                 int64_t now_ms)
{
    if (job->is_open) {
        fairshare_ledger_remove_job(shares, job, now_ms);
        fairshare_ledger_add_job(shares, job, now_ms);
    }
}

void fairshare_ledger_set_cpu_used(struct fairshare_ledger *shares, struct job *job,
                                   int64_t cpu_ms, int64_t now_ms)
{
    int64_t run_ms = fairshare_usage_job_run_ms(&job->seat.counted, now_ms);
    if (!job->is_open || run_ms <= 0) {
        return;
    }
    int64_t most = (int64_t)PROCESSORS_MAX * 1000;
    int64_t busy = cpu_ms < most * run_ms / 1000 ? cpu_ms * 1000 / run_ms : most;
    fairshare_ledger_remove_job(shares, job, now_ms);
    job->seat.cpu_ms = cpu_ms;
    job->seat.busy_milli = busy;
    fairshare_ledger_add_job(shares, job, now_ms);
}

static void note_changed(struct fairshare_ledger *shares, int scope, int account)
{
    shares->changed = mem_grow(shares->changed, (size_t)shares->n_changed + 1,
                               sizeof(*shares->changed));
    shares->changed[shares->n_changed++] = (struct account_at){scope, account};
}

void fairshare_ledger_finish_run(struct fairshare_ledger *shares, const struct job *job,
                                 const struct run_exit *exit, int64_t now_ms)
{
    int scope = job->seat.scope;
    if (scope < 0) {
        return;
    }
    struct fairshare_job as = share_job_of(job);
    int64_t end_ms = exit->end_ms != 0 ? exit->end_ms : now_ms;
    as.start_ms = as.start_ms != 0 ? as.start_ms : exit->start_ms;
    double past_ms = fairshare_usage_job_weight_ms(
        &shares->config->shares.scopes[scope].factors, &as, end_ms);
    double cpu_ms = fairshare_usage_job_cpu_ms(
        &shares->config->shares.scopes[scope].factors, &as, exit->cpu_ms, end_ms);
    fairshare_tree_add_finished(shares->trees[scope], job->seat.account, cpu_ms,
                                past_ms, now_ms);
    note_changed(shares, scope, job->seat.account);
}

/* ---------------------------------------------------------------- rows */

static void store(struct effects *effects, const struct row_share *share)
{
    struct row row = {.kind = ROW_SHARE, .share = *share}, copy;
    row_copy(&effects->arena, &row, &copy);
    effects_store(effects, &copy);
}

static void store_account(const struct fairshare_ledger *shares,
                          const struct account_at *at, int64_t now_ms,
                          struct effects *effects)
{
    const struct fairshare_account *account =
        fairshare_tree_at(shares->trees[at->scope], at->account);
    const struct fairshare_scope *scope = &shares->config->shares.scopes[at->scope];
    struct fairshare_usage use = account->usage;
    char name[SCOPE_SIZE];
    name_scope(scope, name);
    fairshare_usage_advance(&use, &scope->factors, now_ms);
    store(effects,
          &(struct row_share){.scope = name,
                              .account = account->path,
                              .cpu_ms = use.cpu_ms,
                              .past_ms = use.past_ms,
                              .at_ms = use.at_ms,
                              .is_gone = use.cpu_ms + use.past_ms < forgotten_ms});
}

static int by_account(const void *left, const void *right)
{
    const struct account_at *a = left, *b = right;
    return a->scope != b->scope ? a->scope - b->scope : a->account - b->account;
}

static void store_changed(struct fairshare_ledger *shares, int64_t now_ms,
                          struct effects *effects)
{
    for (int i = 0; i < shares->n_strays; i++) {
        store(effects, &(struct row_share){.scope = shares->strays[i].scope,
                                           .account = shares->strays[i].account,
                                           .is_gone = true});
    }
    free_strays(shares);
    if (shares->n_changed > 1) {
        qsort(shares->changed, (size_t)shares->n_changed, sizeof(*shares->changed),
              by_account);
    }
    for (int i = 0; i < shares->n_changed; i++) {
        if (i == 0 || by_account(&shares->changed[i - 1], &shares->changed[i]) != 0) {
            store_account(shares, &shares->changed[i], now_ms, effects);
        }
    }
    shares->n_changed = 0;
}

void fairshare_ledger_tick(struct fairshare_ledger *shares, int64_t now_ms,
                           struct effects *effects)
{
    store_changed(shares, now_ms, effects);
    slot_pool_ledger_tick(shares->slots, now_ms, effects);
}

static void add_stray(struct fairshare_ledger *shares, const char *scope,
                      const char *account)
{
    shares->strays =
        mem_grow(shares->strays, (size_t)shares->n_strays + 1, sizeof(*shares->strays));
    shares->strays[shares->n_strays++] =
        (struct stray){dup_text(scope), dup_text(account)};
}

/* What was used is an account's: of the seat that had it, or the one whose it is now.
 */
static int spend_as(struct fairshare_ledger *shares, int scope, const char *seat,
                    const struct fairshare_usage *use)
{
    struct fairshare_tree *tree = shares->trees[scope];
    int account = fairshare_tree_join_path(tree, seat);
    fairshare_tree_add_finished(tree, account, use->cpu_ms, use->past_ms, use->at_ms);
    if (strcmp(fairshare_tree_at(tree, account)->path, seat) != 0) {
        char name[SCOPE_SIZE];
        name_scope(&shares->config->shares.scopes[scope], name);
        add_stray(shares, name, seat);
        note_changed(shares, scope, account);
    }
    return account;
}

void fairshare_ledger_load(struct fairshare_ledger *shares, const struct row_share *row)
{
    int scope = find_scope(shares, row->scope);
    if (scope >= 0) {
        struct fairshare_usage use = {
            .cpu_ms = row->cpu_ms, .past_ms = row->past_ms, .at_ms = row->at_ms};
        struct account_at at = {scope, spend_as(shares, scope, row->account, &use)};
        shares->loaded = mem_grow(shares->loaded, (size_t)shares->n_loaded + 1,
                                  sizeof(*shares->loaded));
        shares->loaded[shares->n_loaded++] = at;
    } else if (!slot_pool_ledger_load(shares->slots, row)) {
        add_stray(shares, row->scope, row->account);
    }
}

void fairshare_ledger_settle(struct fairshare_ledger *shares)
{
    slot_pool_ledger_settle(shares->slots);
}

void fairshare_ledger_start(struct fairshare_ledger *shares, int64_t now_ms,
                            struct effects *effects)
{
    fairshare_ledger_settle(shares);
    for (int i = 0; i < shares->n_loaded; i++) {
        struct fairshare_usage use =
            fairshare_tree_at(shares->trees[shares->loaded[i].scope],
                              shares->loaded[i].account)
                ->usage;
        fairshare_usage_advance(
            &use, &shares->config->shares.scopes[shares->loaded[i].scope].factors,
            now_ms);
        if (use.cpu_ms + use.past_ms < forgotten_ms) {
            store_account(shares, &shares->loaded[i], now_ms, effects);
        }
    }
    store_changed(shares, now_ms, effects);
    free(shares->loaded);
    shares->loaded = NULL;
    shares->n_loaded = 0;
}

/* ---------------------------------------------------------------- reload */

static void inherit_scope(struct fairshare_ledger *shares, int scope,
                          const struct fairshare_ledger *before, int old,
                          int64_t now_ms)
{
    for (int i = 0; i < fairshare_tree_count(before->trees[old]); i++) {
        const struct fairshare_account *account =
            fairshare_tree_at(before->trees[old], i);
        struct fairshare_usage use = account->usage;
        if (!account->is_user) {
            continue;
        }
        fairshare_usage_advance(&use, &before->config->shares.scopes[old].factors,
                                now_ms);
        if (use.cpu_ms + use.past_ms >= forgotten_ms) {
            use.at_ms = now_ms;
            spend_as(shares, scope, account->path, &use);
        }
    }
}

void fairshare_ledger_inherit(struct fairshare_ledger *shares,
                              const struct fairshare_ledger *before, int64_t now_ms)
{
    for (int i = 0; i < before->config->shares.n_scopes; i++) {
        char name[SCOPE_SIZE];
        name_scope(&before->config->shares.scopes[i], name);
        int scope = find_scope(shares, name);
        if (scope >= 0) {
            inherit_scope(shares, scope, before, i, now_ms);
        }
    }
    slot_pool_ledger_inherit(shares->slots, before->slots, now_ms);
}

/* ---------------------------------------------------------------- for a pass */

void fairshare_ledger_snapshot(const struct fairshare_ledger *shares,
                               struct arena *arena, int64_t now_ms,
                               struct place_snapshot *snapshot)
{
    const struct site_config *config = shares->config;
    snapshot->now_ms = now_ms;
    for (int i = 0; i < config->shares.n_scopes; i++) {
        fairshare_tree_rank(shares->trees[i]);
    }
    if (config->shares.n_scopes > 0) {
        snapshot->fairshare = &config->shares;
        snapshot->fairshare_trees = (const struct fairshare_tree *const *)shares->trees;
    }
    slot_pool_ledger_snapshot(shares->slots, arena, now_ms, snapshot);
}

void fairshare_ledger_set_waiting(struct fairshare_ledger *shares, const bool *waits)
{
    slot_pool_ledger_set_waiting(shares->slots, waits);
}

bool fairshare_ledger_find_queue(const struct fairshare_ledger *shares, int queue,
                                 int64_t now_ms, struct slot_member *member)
{
    return slot_pool_ledger_find(shares->slots, queue, now_ms, member);
}

const struct fairshare_tree *
fairshare_ledger_tree(const struct fairshare_ledger *shares, int queue)
{
    int scope = scope_of(shares, queue);
    return scope >= 0 ? shares->trees[scope] : NULL;
}

const struct fairshare_tree *
fairshare_ledger_scope_tree(const struct fairshare_ledger *shares, int scope)
{
    return shares->trees[scope];
}
