/* SPDX-License-Identifier: Apache-2.0 */
/* limit.c: see limit.h. A count of 0 is dropped, so that the table of counts is only as
 * large as what runs. */
#include "sched/limit/limit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/bounds.h"

enum { KEY_SIZE = 16 + 3 * NAME_SIZE + REASON_SIZE + HOST_NAME_SIZE };
#define GROUP_KEY 'g' /* begins the key of a job group: "g/risk/portfolio1" */

/* Counts are in a hash table. The key has the index of the limit and the names of the
 * sides that are EACH: users, queues, projects, hosts ("3|ana||gene|n1"). */
struct limit_count {
    int slots, jobs;
    UT_hash_handle hh;
    char key[];
};

struct limits {
    const struct limit *list;
    int n_limits;
    struct limit_owner *owners;
    struct limit_count *counts;
};

/* A limit that applies to an owner. */
struct item {
    const struct limit *limit;
    char *key; /* key of its count; the host is appended if each host has its own */
    size_t n_key;
};

/* The key of a count. */
struct key {
    const char *text;
    size_t length;
};

struct limit_owner {
    struct item *job_items, *host_items; /* limits without hosts, with hosts */
    int n_job_items, n_host_items;
    struct limit_share *shares;
    int n_shares;
    int n_members;
    UT_hash_handle hh;
    char name[];
};

struct limits_tentative {
    const struct limits *limits;
    struct limit_count *counts; /* in addition to those of the limits */
};

/* ---------------------------------------------------------------- sides */

bool limit_side_has(const struct limit_side *side, const char *name)
{
    return side->mode == LIMIT_ANY || groups_has(&side->names, name);
}

/* ---------------------------------------------------------------- life */

struct limits *limits_new(const struct limit *list, int n_limits)
{
    struct limits *limits = mem_alloc(1, sizeof(*limits));
    limits->list = list;
    limits->n_limits = n_limits;
    return limits;
}

static void free_items(struct item *items, int n_items)
{
    for (int i = 0; i < n_items; i++) {
        free(items[i].key);
    }
    free(items);
}

static void owner_free(struct limit_owner *owner)
{
    free_items(owner->job_items, owner->n_job_items);
    free_items(owner->host_items, owner->n_host_items);
    free(owner->shares);
    free(owner);
}

static void clear_counts(struct limit_count **counts)
{
    struct limit_count *count, *next;
    HASH_ITER (hh, *counts, count, next) {
        HASH_DEL(*counts, count);
        free(count);
    }
}

const struct limit *limits_list(const struct limits *limits, int *n_limits)
{
    *n_limits = limits->n_limits;
    return limits->list;
}

void limits_free(struct limits *limits)
{
    struct limit_owner *owner, *next;
    if (limits == NULL) {
        return;
    }
    HASH_ITER (hh, limits->owners, owner, next) {
        HASH_DEL(limits->owners, owner);
        owner_free(owner);
    }
    clear_counts(&limits->counts);
    free(limits);
}

/* ---------------------------------------------------------------- owners */

static const char *name_if_each(const struct limit *limit, int side, const char *name)
{
    return limit->sides[side].mode == LIMIT_EACH ? name : "";
}

/* The item has the key. */
static void add_shares(struct limit_owner *owner, const struct item *item)
{
    size_t n_shares = (size_t)owner->n_shares + (size_t)item->limit->n_amounts;
    if (item->limit->n_amounts > 0) {
        owner->shares = mem_grow(owner->shares, n_shares, sizeof(*owner->shares));
    }
    for (int i = 0; i < item->limit->n_amounts; i++) {
        owner->shares[owner->n_shares++] =
            (struct limit_share){item->limit, &item->limit->amounts[i], item->key};
    }
}

static void add_item(struct limit_owner *owner, struct item **items, int *n_items,
                     const struct limit *limit, const char *key)
{
    *items = mem_grow(*items, (size_t)*n_items + 1, sizeof(**items));
    size_t length = strlen(key);
    (*items)[*n_items] =
        (struct item){.limit = limit, .key = mem_alloc(length + 1, 1), .n_key = length};
    memcpy((*items)[*n_items].key, key, length);
    add_shares(owner, &(*items)[(*n_items)++]);
}

static void find_items(const struct limits *limits, struct limit_owner *owner,
                       const char *user, const char *queue, const char *project,
                       const struct limit_group *group)
{
    for (int i = 0; i < limits->n_limits; i++) {
        const struct limit *limit = &limits->list[i];
        char key[KEY_SIZE];
        if (!limit_side_has(&limit->sides[LIMIT_USERS], user) ||
            !limit_side_has(&limit->sides[LIMIT_QUEUES], queue) ||
            !limit_side_has(&limit->sides[LIMIT_PROJECTS], project)) {
            continue;
        }
        snprintf(key, sizeof(key), "%d|%s|%s|%s|", i,
                 name_if_each(limit, LIMIT_USERS, user),
                 name_if_each(limit, LIMIT_QUEUES, queue),
                 name_if_each(limit, LIMIT_PROJECTS, project));
        if (limit->sides[LIMIT_HOSTS].mode == LIMIT_ANY) {
            add_item(owner, &owner->job_items, &owner->n_job_items, limit, key);
        } else {
            add_item(owner, &owner->host_items, &owner->n_host_items, limit, key);
        }
    }
    for (; group != NULL; group = group->parent) {
        char key[1 + JOB_GROUP_SIZE];
        snprintf(key, sizeof(key), "%c%s", GROUP_KEY, group->path);
        add_item(owner, &owner->job_items, &owner->n_job_items, group->limit, key);
    }
}

struct limit_owner *limits_join(struct limits *limits, const char *user,
                                const char *queue, const char *project)
{
    return limits_join_group(limits, user, queue, project, NULL);
}

struct limit_owner *limits_join_group(struct limits *limits, const char *user,
                                      const char *queue, const char *project,
                                      const struct limit_group *group)
{
    struct limit_owner *owner;
    char name[KEY_SIZE + JOB_GROUP_SIZE];
    int length = snprintf(name, sizeof(name), "%s|%s|%s|%s", queue, user, project,
                          group != NULL ? group->path : "");
    HASH_FIND(hh, limits->owners, name, (size_t)length, owner);
    if (owner == NULL) {
        owner = mem_alloc(1, sizeof(*owner) + (size_t)length + 1);
        memcpy(owner->name, name, (size_t)length + 1);
        find_items(limits, owner, user, queue, project, group);
        HASH_ADD_KEYPTR(hh, limits->owners, owner->name, (size_t)length, owner);
    }
    owner->n_members++;
    return owner;
}

void limits_leave(struct limits *limits, struct limit_owner *owner)
{
    if (owner != NULL && --owner->n_members == 0) {
        HASH_DEL(limits->owners, owner);
        owner_free(owner);
    }
}

bool limits_have_any(const struct limit_owner *owner)
{
    return owner->n_job_items + owner->n_host_items > 0;
}

bool limits_have_host_limits(const struct limit_owner *owner)
{
    return owner->n_host_items > 0;
}

const struct limit_share *limits_shares(const struct limit_owner *owner, int *n_shares)
{
    *n_shares = owner->n_shares;
    return owner->shares;
}

/* ---------------------------------------------------------------- counts */

static struct key job_key(const struct item *item)
{
    return (struct key){item->key, item->n_key};
}

/* In the buffer, if the host is part of the key. */
static struct key host_key(char buffer[KEY_SIZE], const struct item *item,
                           const char *host)
{
    if (item->limit->sides[LIMIT_HOSTS].mode != LIMIT_EACH) {
        return job_key(item);
    }
    size_t length = strlen(host);
    memcpy(buffer, item->key, item->n_key);
    memcpy(buffer + item->n_key, host, length);
    return (struct key){buffer, item->n_key + length};
}

static void add_count(struct limit_count **counts, struct key key, int n_slots,
                      int n_jobs)
{
    struct limit_count *count;
    unsigned hash;
    HASH_VALUE(key.text, key.length, hash);
    HASH_FIND_BYHASHVALUE(hh, *counts, key.text, key.length, hash, count);
    if (count == NULL) {
        count = mem_alloc(1, sizeof(*count) + key.length + 1);
        memcpy(count->key, key.text, key.length);
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, *counts, count->key, key.length, hash, count);
    }
    count->slots += n_slots;
    count->jobs += n_jobs;
    if (count->slots == 0 && count->jobs == 0) {
        HASH_DEL(*counts, count);
        free(count);
    }
}

static void count_on_hosts(struct limit_count **counts, const struct item *item,
                           const struct host_slots *hosts, int n_hosts, bool is_yielded,
                           int sign)
{
    const struct limit_side *side = &item->limit->sides[LIMIT_HOSTS];
    bool is_counted = false; /* the job, if the hosts share the limit */
    for (int i = 0; i < n_hosts; i++) {
        char key[KEY_SIZE];
        if (limit_side_has(side, hosts[i].host)) {
            int n_jobs =
                !is_yielded && (side->mode == LIMIT_EACH || !is_counted) ? 1 : 0;
            add_count(counts, host_key(key, item, hosts[i].host),
                      sign * hosts[i].n_slots, sign * n_jobs);
            is_counted = true;
        }
    }
}

static bool is_counted(const struct limit *limit, bool is_yielded)
{
    return !is_yielded || limit->counts_yielded;
}

static void count_job(struct limit_count **counts, const struct limit_owner *owner,
                      const struct host_slots *hosts, int n_hosts, bool is_yielded,
                      int sign)
{
    int n_slots = msg_sum_slots(hosts, n_hosts);
    for (int i = 0; i < owner->n_job_items; i++) {
        if (is_counted(owner->job_items[i].limit, is_yielded)) {
            bool is_job = !is_yielded || owner->job_items[i].limit->is_job_group;
            add_count(counts, job_key(&owner->job_items[i]), sign * n_slots,
                      is_job ? sign : 0);
        }
    }
    for (int i = 0; i < owner->n_host_items; i++) {
        if (is_counted(owner->host_items[i].limit, is_yielded)) {
            count_on_hosts(counts, &owner->host_items[i], hosts, n_hosts, is_yielded,
                           sign);
        }
    }
}

void limits_count(struct limits *limits, const struct limit_owner *owner,
                  const struct host_slots *hosts, int n_hosts, bool is_yielded,
                  int sign)
{
    count_job(&limits->counts, owner, hosts, n_hosts, is_yielded, sign);
}

/* ---------------------------------------------------------------- tentative changes */

struct limits_tentative *limits_tentative_new(const struct limits *limits)
{
    struct limits_tentative *tentative = mem_alloc(1, sizeof(*tentative));
    tentative->limits = limits;
    return tentative;
}

void limits_tentative_free(struct limits_tentative *tentative)
{
    if (tentative != NULL) {
        clear_counts(&tentative->counts);
        free(tentative);
    }
}

void limits_tentative_count(struct limits_tentative *tentative,
                            const struct limit_owner *owner,
                            const struct host_slots *hosts, int n_hosts)
{
    count_job(&tentative->counts, owner, hosts, n_hosts, false, 1);
}

void limits_tentative_job(struct limits_tentative *tentative, struct arena *arena,
                          const struct limit_owner *owner,
                          const struct host_slots *hosts, int n_hosts, int sign)
{
    struct host_slots *bare = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*bare));
    for (int i = 0; i < n_hosts; i++) {
        bare[i].host = hosts[i].host;
    }
    count_job(&tentative->counts, owner, bare, n_hosts, false, sign);
}

static bool has_host(const struct host_slots *hosts, int n_hosts, const char *host)
{
    for (int i = 0; i < n_hosts; i++) {
        if (strcmp(hosts[i].host, host) == 0) {
            return true;
        }
    }
    return false;
}

void limits_tentative_grow(struct limits_tentative *tentative, struct arena *arena,
                           const struct limit_owner *owner,
                           const struct host_slots *has, int n_has,
                           const struct host_slots *more, int n_more)
{
    struct host_slots *hosts =
        arena_alloc(arena, (size_t)n_has + (size_t)n_more + 1, sizeof(*hosts));
    int n_hosts = n_has;
    memcpy(hosts, has, (size_t)n_has * sizeof(*hosts));
    for (int i = 0; i < n_more; i++) {
        if (!has_host(has, n_has, more[i].host)) {
            hosts[n_hosts++] = more[i];
        }
    }
    limits_tentative_count(tentative, owner, more, n_more);
    limits_tentative_job(tentative, arena, owner, more, n_more, -1);
    limits_tentative_job(tentative, arena, owner, has, n_has, -1);
    limits_tentative_job(tentative, arena, owner, hosts, n_hosts, 1);
}

void limits_tentative_yield(struct limits_tentative *tentative,
                            const struct limit_owner *owner,
                            const struct host_slots *hosts, int n_hosts,
                            bool is_yielded)
{
    count_job(&tentative->counts, owner, hosts, n_hosts, !is_yielded, -1);
    count_job(&tentative->counts, owner, hosts, n_hosts, is_yielded, 1);
}

static void sum_up(const struct limits_tentative *tentative, struct key key,
                   int *n_slots, int *n_jobs)
{
    struct limit_count *counts[] = {tentative->limits->counts, tentative->counts};
    unsigned hash;
    HASH_VALUE(key.text, key.length, hash);
    *n_slots = *n_jobs = 0;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct limit_count *count;
        HASH_FIND_BYHASHVALUE(hh, counts[i], key.text, key.length, hash, count);
        if (count != NULL) {
            *n_slots += count->slots;
            *n_jobs += count->jobs;
        }
    }
}

/* ---------------------------------------------------------------- slots left */

int limit_slots(const struct limit *limit, int n_processors)
{
    int most = limit->slots >= 0 ? limit->slots : INT_MAX;
    if (limit->per_processor_milli >= 0) {
        int64_t slots = limit->per_processor_milli * n_processors / 1000;
        most = slots < most ? (int)slots : most;
    }
    return most;
}

static int left_of(const struct limit *limit, int most, int n_slots, int n_jobs)
{
    if (limit->jobs >= 0 && n_jobs >= limit->jobs) {
        return 0;
    }
    if (most == INT_MAX) {
        return INT_MAX;
    }
    return most > n_slots ? most - n_slots : 0;
}

static void tighten(int *n_left, const struct limit **limit, int left,
                    const struct limit *by)
{
    if (left < *n_left) {
        *n_left = left;
        *limit = by;
    }
}

int limits_slots_left(const struct limits_tentative *tentative,
                      const struct limit_owner *owner, const struct limit **limit)
{
    int n_left = INT_MAX;
    *limit = NULL;
    for (int i = 0; i < owner->n_job_items; i++) {
        const struct item *item = &owner->job_items[i];
        int n_slots, n_jobs;
        sum_up(tentative, job_key(item), &n_slots, &n_jobs);
        tighten(&n_left, limit,
                left_of(item->limit, limit_slots(item->limit, 0), n_slots, n_jobs),
                item->limit);
    }
    return n_left;
}

/* Slots of the job itself on hosts that share the limit. */
static int slots_among(const struct limit_side *side, const struct host_slots *pieces,
                       int n_pieces)
{
    int n_slots = 0;
    for (int i = 0; side->mode == LIMIT_TOGETHER && i < n_pieces; i++) {
        n_slots += limit_side_has(side, pieces[i].host) ? pieces[i].n_slots : 0;
    }
    return n_slots;
}

int limits_slots_left_on(const struct limits_tentative *tentative,
                         const struct limit_owner *owner, const char *host,
                         int n_processors, const struct host_slots *pieces,
                         int n_pieces, const struct limit **limit)
{
    int n_left = INT_MAX;
    *limit = NULL;
    for (int i = 0; i < owner->n_host_items; i++) {
        const struct item *item = &owner->host_items[i];
        const struct limit_side *side = &item->limit->sides[LIMIT_HOSTS];
        char key[KEY_SIZE];
        int n_slots, n_jobs;
        if (!limit_side_has(side, host)) {
            continue;
        }
        sum_up(tentative, host_key(key, item, host), &n_slots, &n_jobs);
        n_slots += slots_among(side, pieces, n_pieces);
        tighten(&n_left, limit,
                left_of(item->limit, limit_slots(item->limit, n_processors), n_slots,
                        n_jobs),
                item->limit);
    }
    return n_left;
}

int limits_max_slots_on(const struct limit_owner *owner, const char *host,
                        int n_processors, const struct host_slots *pieces, int n_pieces)
{
    int most = INT_MAX;
    for (int i = 0; i < owner->n_host_items; i++) {
        const struct limit *of = owner->host_items[i].limit, *by;
        const struct limit_side *side = &of->sides[LIMIT_HOSTS];
        if (limit_side_has(side, host)) {
            tighten(&most, &by,
                    left_of(of, limit_slots(of, n_processors),
                            slots_among(side, pieces, n_pieces), 0),
                    of);
        }
    }
    return most;
}

int limits_max_slots(const struct limit_owner *owner, const struct limit **limit)
{
    int n_left = INT_MAX;
    *limit = NULL;
    for (int i = 0; i < owner->n_job_items; i++) {
        const struct limit *of = owner->job_items[i].limit;
        tighten(&n_left, limit, left_of(of, limit_slots(of, 0), 0, 0), of);
    }
    return n_left;
}

/* Slots of the job that count towards the limit. */
static int slots_of(const struct limit_side *side, const struct host_slots *hosts,
                    int n_hosts, const char *only)
{
    int n_slots = 0;
    for (int i = 0; i < n_hosts; i++) {
        bool is_in = side->mode == LIMIT_ANY || limit_side_has(side, hosts[i].host);
        bool is_it = only == NULL || strcmp(only, hosts[i].host) == 0;
        n_slots += is_in && is_it ? hosts[i].n_slots : 0;
    }
    return n_slots;
}

static bool has_slots_left(const struct limits_tentative *tentative,
                           const struct limit *limit, struct key key, int n_processors,
                           int n_more)
{
    int n_slots, n_jobs;
    if (limit->counts_yielded || n_more == 0) {
        return true; /* it is counted all the time */
    }
    sum_up(tentative, key, &n_slots, &n_jobs);
    return left_of(limit, limit_slots(limit, n_processors), n_slots, n_jobs) >= n_more;
}

bool limits_may_resume(const struct limits_tentative *tentative,
                       const struct limit_owner *owner, const struct host_slots *hosts,
                       int n_hosts, int n_processors)
{
    for (int i = 0; i < owner->n_job_items; i++) {
        const struct item *item = &owner->job_items[i];
        int n_more = slots_of(&item->limit->sides[LIMIT_HOSTS], hosts, n_hosts, NULL);
        if (!has_slots_left(tentative, item->limit, job_key(item), 0, n_more)) {
            return false;
        }
    }
    for (int i = 0; i < owner->n_host_items; i++) {
        const struct item *item = &owner->host_items[i];
        const struct limit_side *side = &item->limit->sides[LIMIT_HOSTS];
        bool is_each = side->mode == LIMIT_EACH;
        for (int k = 0; k < (is_each ? n_hosts : 1); k++) {
            char key[KEY_SIZE];
            const char *only = is_each ? hosts[k].host : NULL;
            if (!has_slots_left(tentative, item->limit,
                                host_key(key, item, only != NULL ? only : ""),
                                n_processors, slots_of(side, hosts, n_hosts, only))) {
                return false;
            }
        }
    }
    return true;
}

/* ---------------------------------------------------------------- to be shown */

const struct limit *limits_find(const struct limit *list, int n_limits, const char *key,
                                int side, const char *name)
{
    for (int i = 0; i < n_limits; i++) {
        const struct limit *limit = &list[i];
        if (limit->key != NULL && strcmp(limit->key, key) == 0 &&
            groups_has(&limit->sides[side].names, name)) {
            return limit;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- usage */

/* "3|ana||gene|n1": splits the key of a count. A project may have a | in its name, so
 * the host, which cannot, is searched for from the end. */
static struct limit_usage use_of(const struct limits *limits, struct arena *arena,
                                 const struct limit_count *count)
{
    static const int order[] = {LIMIT_USERS, LIMIT_QUEUES, LIMIT_PROJECTS, LIMIT_HOSTS};
    struct limit_usage use = {.n_slots = count->slots, .n_jobs = count->jobs};
    const char *at = strchr(count->key, '|') + 1;
    use.limit = (int)strtol(count->key, NULL, 10);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        int side = order[i];
        const char *end = side == LIMIT_HOSTS      ? at + strlen(at)
                          : side == LIMIT_PROJECTS ? strrchr(at, '|')
                                                   : strchr(at, '|');
        if (limits->list[use.limit].sides[side].mode == LIMIT_EACH) {
            use.each[side] = arena_strn(arena, at, (size_t)(end - at));
        }
        if (side != LIMIT_HOSTS) {
            at = end + 1;
        }
    }
    use.key = arena_strn(arena, count->key, (size_t)(at - count->key));
    return use;
}

static int by_limit(const void *left, const void *right)
{
    const struct limit_usage *a = left, *b = right;
    int order = (a->limit > b->limit) - (a->limit < b->limit);
    for (int i = 0; order == 0 && i < LIMIT_SIDES; i++) {
        order = a->each[i] != NULL ? strcmp(a->each[i], b->each[i]) : 0;
    }
    return order;
}

int limit_usage_list(const struct limits *limits, struct arena *arena,
                     const struct limit_usage **uses)
{
    struct limit_usage *list =
        arena_alloc(arena, HASH_COUNT(limits->counts), sizeof(*list));
    const struct limit_count *count;
    int n_uses = 0;
    for (count = limits->counts; count != NULL; count = count->hh.next) {
        if (count->key[0] != GROUP_KEY) {
            list[n_uses++] = use_of(limits, arena, count);
        }
    }
    if (n_uses > 1) {
        qsort(list, (size_t)n_uses, sizeof(*list), by_limit);
    }
    *uses = list;
    return n_uses;
}
