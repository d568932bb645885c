/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_ledger.c: see site_ledger.h. */
#include "site/ledger/site_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/config/site_config.h"
#include "site/ledger/slot_pool_ledger.h"

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
struct orphan {
    char *scope, *account;
};

struct fairshare_ledger {
    const struct site_config *config;
    struct fairshare_tree **trees;  /* by scope */
    struct slot_pool_ledger *slots; /* of queues */
    struct account_at *changed, *loaded;
    int n_changed, n_loaded;
    struct orphan *orphans;
    int n_orphans;
};

/* ---------------------------------------------------------------- life */

struct fairshare_ledger *fairshare_ledger_new(const struct site_config *config)
{
    struct fairshare_ledger *ledger = mem_alloc(1, sizeof(*ledger));
    int n_scopes = config->fairshare.n_scopes;
    ledger->config = config;
    ledger->trees = mem_alloc((size_t)n_scopes + 1, sizeof(struct fairshare_tree *));
    ledger->slots = slot_pool_ledger_new(config);
    for (int i = 0; i < n_scopes; i++) {
        ledger->trees[i] = fairshare_tree_new(&config->fairshare.scopes[i]);
    }
    return ledger;
}

static void free_orphans(struct fairshare_ledger *ledger)
{
    for (int i = 0; i < ledger->n_orphans; i++) {
        dup_free(ledger->orphans[i].scope);
        dup_free(ledger->orphans[i].account);
    }
    free(ledger->orphans);
    ledger->orphans = NULL;
    ledger->n_orphans = 0;
}

void fairshare_ledger_free(struct fairshare_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    for (int i = 0; i < ledger->config->fairshare.n_scopes; i++) {
        fairshare_tree_free(ledger->trees[i]);
    }
    free_orphans(ledger);
    free(ledger->trees);
    slot_pool_ledger_free(ledger->slots);
    free(ledger->changed);
    free(ledger->loaded);
    free(ledger);
}

/* ---------------------------------------------------------------- names of rows */

/* "queue/normal", "partition/fast". */
static void name_scope(const struct fairshare_scope *scope, char *text)
{
    snprintf(text, SCOPE_SIZE, "%s/%s", scope->is_partition ? "partition" : "queue",
             scope->name);
}

static int find_scope(const struct fairshare_ledger *ledger, const char *text)
{
    for (int i = 0; i < ledger->config->fairshare.n_scopes; i++) {
        char name[SCOPE_SIZE];
        name_scope(&ledger->config->fairshare.scopes[i], name);
        if (strcmp(name, text) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- jobs */

static int scope_of(const struct fairshare_ledger *ledger, int queue)
{
    const struct fairshare *config = &ledger->config->fairshare;
    return queue >= 0 && config->n_scopes > 0 ? config->scope_of[queue] : -1;
}

struct job_fairshare fairshare_ledger_seat(struct fairshare_ledger *ledger, int queue,
                                           const char *user, const char *group)
{
    int scope = scope_of(ledger, queue);
    struct job_fairshare seat = {.scope = scope};
    if (scope >= 0) {
        seat.account = fairshare_tree_join(ledger->trees[scope], user, group);
    }
    return seat;
}

int fairshare_ledger_check(const struct fairshare_ledger *ledger, int queue,
                           const char *user, const char *group, struct err *err)
{
    int scope = scope_of(ledger, queue);
    if (scope < 0 ||
        fairshare_has_share(&ledger->config->fairshare.scopes[scope], user, group)) {
        return 0;
    }
    const char *name = ledger->config->queues[queue].name;
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
        .suspended_ms = job->suspension.total_ms,
        .suspended_since_ms = job->suspension.since_ms,
        .run_limit_ms = job_own_run_limit_ms(job),
        .busy_milli = job->fairshare.busy_milli,
    };
}

static void count(struct fairshare_ledger *ledger, const struct job *job, int sign,
                  int64_t now_ms)
{
    const struct job_fairshare *seat = &job->fairshare;
    slot_pool_ledger_add_slots(ledger->slots, job->queue, sign * seat->counted.n_slots);
    if (seat->scope >= 0) {
        fairshare_tree_count_job(ledger->trees[seat->scope], seat->account,
                                 &seat->counted, sign, now_ms);
    }
}

void fairshare_ledger_add_job(struct fairshare_ledger *ledger, struct job *job,
                              int64_t now_ms)
{
    if (job->start_ms == 0) {
        job->fairshare.cpu_ms = job->fairshare.busy_milli = 0;
    }
    job->fairshare.counted = share_job_of(job);
    count(ledger, job, 1, now_ms);
}

void fairshare_ledger_remove_job(struct fairshare_ledger *ledger, struct job *job,
                                 int64_t now_ms)
{
    count(ledger, job, -1, now_ms);
}

void fairshare_ledger_update_job(struct fairshare_ledger *ledger, struct job *job,
                                 int64_t now_ms)
{
    if (job->is_open) {
        fairshare_ledger_remove_job(ledger, job, now_ms);
        fairshare_ledger_add_job(ledger, job, now_ms);
    }
}

void fairshare_ledger_set_cpu_used(struct fairshare_ledger *ledger, struct job *job,
                                   int64_t cpu_ms, int64_t now_ms)
{
    int64_t run_ms = fairshare_usage_job_run_ms(&job->fairshare.counted, now_ms);
    if (!job->is_open || run_ms <= 0) {
        return;
    }
    int64_t most = (int64_t)PROCESSORS_MAX * 1000;
    int64_t busy = cpu_ms < most * run_ms / 1000 ? cpu_ms * 1000 / run_ms : most;
    fairshare_ledger_remove_job(ledger, job, now_ms);
    job->fairshare.cpu_ms = cpu_ms;
    job->fairshare.busy_milli = busy;
    fairshare_ledger_add_job(ledger, job, now_ms);
}

static void note_changed(struct fairshare_ledger *ledger, int scope, int account)
{
    ledger->changed = mem_grow(ledger->changed, (size_t)ledger->n_changed + 1,
                               sizeof(*ledger->changed));
    ledger->changed[ledger->n_changed++] = (struct account_at){scope, account};
}

void fairshare_ledger_finish_run(struct fairshare_ledger *ledger, const struct job *job,
                                 const struct run_exit *exit, int64_t now_ms)
{
    int scope = job->fairshare.scope;
    if (scope < 0) {
        return;
    }
    struct fairshare_job as = share_job_of(job);
    int64_t end_ms = exit->end_ms != 0 ? exit->end_ms : now_ms;
    as.start_ms = as.start_ms != 0 ? as.start_ms : exit->start_ms;
    double past_ms = fairshare_usage_job_weight_ms(
        &ledger->config->fairshare.scopes[scope].factors, &as, end_ms);
    double cpu_ms = fairshare_usage_job_cpu_ms(
        &ledger->config->fairshare.scopes[scope].factors, &as, exit->cpu_ms, end_ms);
    fairshare_tree_add_finished(ledger->trees[scope], job->fairshare.account, cpu_ms,
                                past_ms, now_ms);
    note_changed(ledger, scope, job->fairshare.account);
}

/* ---------------------------------------------------------------- rows */

static void store(struct effects *effects, const struct row_share *share)
{
    struct row row = {.kind = ROW_SHARE, .share = *share};
    effects_store(effects, &row);
}

static void store_account(const struct fairshare_ledger *ledger,
                          const struct account_at *at, int64_t now_ms,
                          struct effects *effects)
{
    const struct fairshare_account *account =
        fairshare_tree_at(ledger->trees[at->scope], at->account);
    const struct fairshare_scope *scope = &ledger->config->fairshare.scopes[at->scope];
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

static void store_changed(struct fairshare_ledger *ledger, int64_t now_ms,
                          struct effects *effects)
{
    for (int i = 0; i < ledger->n_orphans; i++) {
        store(effects, &(struct row_share){.scope = ledger->orphans[i].scope,
                                           .account = ledger->orphans[i].account,
                                           .is_gone = true});
    }
    free_orphans(ledger);
    if (ledger->n_changed > 1) {
        qsort(ledger->changed, (size_t)ledger->n_changed, sizeof(*ledger->changed),
              by_account);
    }
    for (int i = 0; i < ledger->n_changed; i++) {
        if (i == 0 || by_account(&ledger->changed[i - 1], &ledger->changed[i]) != 0) {
            store_account(ledger, &ledger->changed[i], now_ms, effects);
        }
    }
    ledger->n_changed = 0;
}

void fairshare_ledger_tick(struct fairshare_ledger *ledger, int64_t now_ms,
                           struct effects *effects)
{
    store_changed(ledger, now_ms, effects);
    slot_pool_ledger_tick(ledger->slots, now_ms, effects);
}

static void add_orphan(struct fairshare_ledger *ledger, const char *scope,
                       const char *account)
{
    ledger->orphans = mem_grow(ledger->orphans, (size_t)ledger->n_orphans + 1,
                               sizeof(*ledger->orphans));
    ledger->orphans[ledger->n_orphans++] =
        (struct orphan){dup_text(scope), dup_text(account)};
}

/* What was used is an account's: of the seat that had it, or the one whose it is now.
 */
static int add_usage(struct fairshare_ledger *ledger, int scope, const char *seat,
                     const struct fairshare_usage *use)
{
    struct fairshare_tree *tree = ledger->trees[scope];
    int account = fairshare_tree_join_path(tree, seat);
    fairshare_tree_add_finished(tree, account, use->cpu_ms, use->past_ms, use->at_ms);
    if (strcmp(fairshare_tree_at(tree, account)->path, seat) != 0) {
        char name[SCOPE_SIZE];
        name_scope(&ledger->config->fairshare.scopes[scope], name);
        add_orphan(ledger, name, seat);
        note_changed(ledger, scope, account);
    }
    return account;
}

void fairshare_ledger_load(struct fairshare_ledger *ledger, const struct row_share *row)
{
    int scope = find_scope(ledger, row->scope);
    if (scope >= 0) {
        struct fairshare_usage use = {
            .cpu_ms = row->cpu_ms, .past_ms = row->past_ms, .at_ms = row->at_ms};
        struct account_at at = {scope, add_usage(ledger, scope, row->account, &use)};
        ledger->loaded = mem_grow(ledger->loaded, (size_t)ledger->n_loaded + 1,
                                  sizeof(*ledger->loaded));
        ledger->loaded[ledger->n_loaded++] = at;
    } else if (!slot_pool_ledger_load(ledger->slots, row)) {
        add_orphan(ledger, row->scope, row->account);
    }
}

void fairshare_ledger_settle(struct fairshare_ledger *ledger)
{
    slot_pool_ledger_settle(ledger->slots);
}

void fairshare_ledger_start(struct fairshare_ledger *ledger, int64_t now_ms,
                            struct effects *effects)
{
    fairshare_ledger_settle(ledger);
    for (int i = 0; i < ledger->n_loaded; i++) {
        struct fairshare_usage use =
            fairshare_tree_at(ledger->trees[ledger->loaded[i].scope],
                              ledger->loaded[i].account)
                ->usage;
        fairshare_usage_advance(
            &use, &ledger->config->fairshare.scopes[ledger->loaded[i].scope].factors,
            now_ms);
        if (use.cpu_ms + use.past_ms < forgotten_ms) {
            store_account(ledger, &ledger->loaded[i], now_ms, effects);
        }
    }
    store_changed(ledger, now_ms, effects);
    free(ledger->loaded);
    ledger->loaded = NULL;
    ledger->n_loaded = 0;
}

/* ---------------------------------------------------------------- reload */

static void inherit_scope(struct fairshare_ledger *ledger, int scope,
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
        fairshare_usage_advance(&use, &before->config->fairshare.scopes[old].factors,
                                now_ms);
        if (use.cpu_ms + use.past_ms >= forgotten_ms) {
            use.at_ms = now_ms;
            add_usage(ledger, scope, account->path, &use);
        }
    }
}

void fairshare_ledger_inherit(struct fairshare_ledger *ledger,
                              const struct fairshare_ledger *before, int64_t now_ms)
{
    for (int i = 0; i < before->config->fairshare.n_scopes; i++) {
        char name[SCOPE_SIZE];
        name_scope(&before->config->fairshare.scopes[i], name);
        int scope = find_scope(ledger, name);
        if (scope >= 0) {
            inherit_scope(ledger, scope, before, i, now_ms);
        }
    }
    slot_pool_ledger_inherit(ledger->slots, before->slots, now_ms);
}

/* ---------------------------------------------------------------- for a pass */

void fairshare_ledger_rank(struct fairshare_ledger *ledger)
{
    for (int i = 0; i < ledger->config->fairshare.n_scopes; i++) {
        fairshare_tree_rank(ledger->trees[i]);
    }
}

void fairshare_ledger_snapshot(const struct fairshare_ledger *ledger,
                               struct arena *arena, int64_t now_ms,
                               struct place_snapshot *snapshot)
{
    const struct site_config *config = ledger->config;
    snapshot->now_ms = now_ms;
    if (config->fairshare.n_scopes > 0) {
        snapshot->fairshare = &config->fairshare;
        snapshot->fairshare_trees = (const struct fairshare_tree *const *)ledger->trees;
    }
    slot_pool_ledger_snapshot(ledger->slots, arena, now_ms, snapshot);
}

void fairshare_ledger_set_waiting(struct fairshare_ledger *ledger, const bool *waits)
{
    slot_pool_ledger_set_waiting(ledger->slots, waits);
}

bool fairshare_ledger_find_queue(const struct fairshare_ledger *ledger, int queue,
                                 int64_t now_ms, struct slot_member *member)
{
    return slot_pool_ledger_find(ledger->slots, queue, now_ms, member);
}

const struct fairshare_tree *
fairshare_ledger_tree(const struct fairshare_ledger *ledger, int queue)
{
    int scope = scope_of(ledger, queue);
    return scope >= 0 ? ledger->trees[scope] : NULL;
}

const struct fairshare_tree *
fairshare_ledger_scope_tree(const struct fairshare_ledger *ledger, int scope)
{
    return ledger->trees[scope];
}
