/* SPDX-License-Identifier: Apache-2.0 */
/* lease_accounts.c: see lease_accounts.h. */
#include "site/run/lease_accounts.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"

#define REUSE_AFTER_MS (INT64_C(24) * 3600 * 1000)

struct pair {
    char *site, *user;
    int64_t uid;
    int64_t used_ms; /* when it was last used; 0: not since the start */
};

struct lease_accounts {
    struct uid_range range;
    struct pair *pairs; /* by site and user */
    int n_pairs, capacity;
    uint8_t *taken;   /* a bit for each number of the range: a pair has it */
    int64_t n_unused; /* numbers that none has */
    int64_t next;     /* no number below this one is unused */
    int64_t start_ms; /* of the first call that had the time; 0: none yet */
};

const char *lease_accounts_name(struct arena *arena, int64_t uid)
{
    return arena_printf(arena, "sublet-%lld", (long long)uid);
}

static bool is_in(struct uid_range range, int64_t uid)
{
    return uid >= range.first && uid <= range.last;
}

static bool has_pair(const struct lease_accounts *accounts, int64_t uid)
{
    int64_t number = uid - accounts->range.first;
    return accounts->taken[number / 8] >> number % 8 & 1;
}

static void mark(struct lease_accounts *accounts, int64_t uid, bool is_taken)
{
    if (is_in(accounts->range, uid)) {
        int64_t number = uid - accounts->range.first;
        uint8_t *bits = &accounts->taken[number / 8], bit = (uint8_t)(1 << number % 8);
        *bits = (uint8_t)(is_taken ? *bits | bit : *bits & ~bit);
        accounts->n_unused += is_taken ? -1 : 1;
        accounts->next = uid < accounts->next ? uid : accounts->next;
    }
}

struct lease_accounts *lease_accounts_new(struct uid_range range)
{
    struct lease_accounts *accounts = mem_alloc(1, sizeof(*accounts));
    lease_accounts_set_range(accounts, range);
    return accounts;
}

void lease_accounts_free(struct lease_accounts *accounts)
{
    if (accounts == NULL) {
        return;
    }
    for (int i = 0; i < accounts->n_pairs; i++) {
        dup_free(accounts->pairs[i].site);
        dup_free(accounts->pairs[i].user);
    }
    free(accounts->pairs);
    free(accounts->taken);
    free(accounts);
}

void lease_accounts_set_range(struct lease_accounts *accounts, struct uid_range range)
{
    free(accounts->taken);
    accounts->range = range;
    accounts->next = range.first;
    accounts->n_unused = range.last - range.first + 1;
    accounts->taken = mem_alloc((size_t)accounts->n_unused / 8 + 1, 1);
    for (int i = 0; i < accounts->n_pairs; i++) {
        mark(accounts, accounts->pairs[i].uid, true);
    }
}

/* The place of the pair, or where it would be. */
static int find_place(const struct lease_accounts *accounts, const char *site,
                      const char *user, bool *is_there)
{
    int low = 0, high = accounts->n_pairs;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const struct pair *pair = &accounts->pairs[middle];
        int order = strcmp(pair->site, site);
        order = order != 0 ? order : strcmp(pair->user, user);
        if (order == 0) {
            *is_there = true;
            return middle;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    *is_there = false;
    return low;
}

static struct pair *find(const struct lease_accounts *accounts, const char *site,
                         const char *user)
{
    bool is_there;
    int place = find_place(accounts, site, user, &is_there);
    return is_there ? &accounts->pairs[place] : NULL;
}

static struct pair *add(struct lease_accounts *accounts, const char *site,
                        const char *user, int64_t uid)
{
    bool is_there;
    int place = find_place(accounts, site, user, &is_there);
    if (accounts->n_pairs == accounts->capacity) {
        accounts->capacity = accounts->capacity > 0 ? 2 * accounts->capacity : 16;
        accounts->pairs = mem_grow(accounts->pairs, (size_t)accounts->capacity,
                                   sizeof(*accounts->pairs));
    }
    struct pair *pair = &accounts->pairs[place];
    memmove(pair + 1, pair, (size_t)(accounts->n_pairs - place) * sizeof(*pair));
    accounts->n_pairs++;
    *pair = (struct pair){.site = dup_text(site), .user = dup_text(user), .uid = uid};
    mark(accounts, uid, true);
    return pair;
}

static void drop(struct lease_accounts *accounts, struct pair *pair)
{
    mark(accounts, pair->uid, false);
    dup_free(pair->site);
    dup_free(pair->user);
    int n_behind = accounts->n_pairs - (int)(pair - accounts->pairs) - 1;
    memmove(pair, pair + 1, (size_t)n_behind * sizeof(*pair));
    accounts->n_pairs--;
}

void lease_accounts_load(struct lease_accounts *accounts,
                         const struct row_lease_account *row)
{
    if (find(accounts, row->site, row->user) == NULL) {
        add(accounts, row->site, row->user, row->uid);
    }
}

static void store(const struct pair *pair, bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_LEASE_ACCOUNT,
                      .lease_account = {.site = pair->site,
                                        .user = pair->user,
                                        .uid = pair->uid,
                                        .is_gone = is_gone}};
    effects_store(effects, &row);
}

/* There is one. */
static int64_t lowest_unused(struct lease_accounts *accounts)
{
    while (has_pair(accounts, accounts->next)) {
        accounts->next++;
    }
    return accounts->next;
}

/* The pair of the range whose number may go to another one; NULL: none. */
static struct pair *find_reusable(const struct lease_accounts *accounts,
                                  lease_accounts_ask_fn is_used, void *arg,
                                  int64_t now_ms)
{
    struct pair *found = NULL;
    if (is_used(arg, NULL, NULL)) {
        return NULL;
    }
    for (int i = 0; i < accounts->n_pairs; i++) {
        struct pair *pair = &accounts->pairs[i];
        int64_t since = pair->used_ms > 0 ? pair->used_ms : accounts->start_ms;
        if (is_in(accounts->range, pair->uid) && now_ms - since >= REUSE_AFTER_MS &&
            (found == NULL || pair->used_ms < found->used_ms) &&
            !is_used(arg, pair->site, pair->user)) {
            found = pair;
        }
    }
    return found;
}

/* The pair keeps its number. */
static bool is_settled(const struct lease_accounts *accounts, const struct pair *pair,
                       lease_accounts_ask_fn is_used, void *arg)
{
    return pair != NULL &&
           (is_in(accounts->range, pair->uid) || is_used(arg, pair->site, pair->user));
}

bool lease_accounts_has(const struct lease_accounts *accounts, const char *site,
                        const char *user, lease_accounts_ask_fn is_used, void *arg,
                        int64_t now_ms)
{
    return is_settled(accounts, find(accounts, site, user), is_used, arg) ||
           accounts->n_unused > 0 ||
           find_reusable(accounts, is_used, arg, now_ms) != NULL;
}

static int64_t choose(struct lease_accounts *accounts, lease_accounts_ask_fn is_used,
                      void *arg, int64_t now_ms, struct effects *effects)
{
    if (accounts->n_unused > 0) {
        return lowest_unused(accounts);
    }
    struct pair *old = find_reusable(accounts, is_used, arg, now_ms);
    if (old == NULL) {
        return 0;
    }
    int64_t uid = old->uid;
    effects_log(effects, LOG_LEVEL_NOTICE,
                "account %lld goes from %s of %s to another user: nothing is left of "
                "its jobs, and LEASE_UIDS has no other number",
                (long long)uid, old->user, old->site);
    store(old, true, effects);
    drop(accounts, old);
    return uid;
}

int64_t lease_accounts_take(struct lease_accounts *accounts, const char *site,
                            const char *user, lease_accounts_ask_fn is_used, void *arg,
                            int64_t now_ms, struct effects *effects)
{
    accounts->start_ms = accounts->start_ms > 0 ? accounts->start_ms : now_ms;
    struct pair *pair = find(accounts, site, user);
    if (!is_settled(accounts, pair, is_used, arg)) {
        int64_t uid = choose(accounts, is_used, arg, now_ms, effects);
        if (uid == 0) {
            return 0;
        }
        pair = find(accounts, site, user);
        if (pair != NULL) {
            drop(accounts, pair); /* of a range before; its row is replaced */
        }
        pair = add(accounts, site, user, uid);
        store(pair, false, effects);
    }
    pair->used_ms = now_ms;
    return pair->uid;
}

void lease_accounts_touch(struct lease_accounts *accounts, const char *site,
                          const char *user, int64_t now_ms)
{
    struct pair *pair = find(accounts, site, user);
    if (pair != NULL) {
        pair->used_ms = now_ms;
    }
}
