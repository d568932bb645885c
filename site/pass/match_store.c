/* SPDX-License-Identifier: Apache-2.0 */
/* match_store.c: see match_store.h. */
#include "site/pass/match_store.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

struct stored_filter {
    struct place_filter filter;
    struct arena arena; /* of all of it */
    size_t n_bytes;
    int n_classes;
    unsigned digest;
    bool is_shared; /* it is in the table of filters */
    UT_hash_handle hh;
};

struct match_store {
    struct stored_match *matches; /* by class */
    int n_matches;
    struct stored_filter *filters; /* by the hosts that match */
    size_t n_bytes;
    uint64_t generation;
    int *rows; /* by host */
    int n_hosts;
};

struct match_store *match_store_new(void)
{
    return mem_alloc(1, sizeof(struct match_store));
}

static void drop(struct match_store *store, struct stored_match *match)
{
    struct stored_filter *filter = match->filter;
    *match = (struct stored_match){.generation = 0};
    if (filter == NULL || --filter->n_classes > 0) {
        return;
    }
    if (filter->is_shared) {
        HASH_DEL(store->filters, filter);
    }
    store->n_bytes -= filter->n_bytes;
    arena_release(&filter->arena);
    free(filter);
}

void match_store_clear(struct match_store *store)
{
    for (int i = 0; i < store->n_matches; i++) {
        drop(store, &store->matches[i]);
    }
}

void match_store_free(struct match_store *store)
{
    if (store == NULL) {
        return;
    }
    match_store_clear(store);
    free(store->matches);
    free(store->rows);
    free(store);
}

void match_store_begin(struct match_store *store, uint64_t generation, const int *rows,
                       int n_hosts)
{
    size_t n_bytes = (size_t)n_hosts * sizeof(*rows);
    if (n_hosts != store->n_hosts ||
        (n_hosts > 0 && memcmp(rows, store->rows, n_bytes) != 0)) {
        match_store_clear(store);
        free(store->rows);
        store->rows = mem_alloc((size_t)n_hosts + 1, sizeof(*rows));
        if (n_hosts > 0) {
            memcpy(store->rows, rows, n_bytes);
        }
        store->n_hosts = n_hosts;
    }
    bool is_tight = store->n_bytes > MATCH_STORE_BYTES / 2;
    for (int i = 0; is_tight && i < store->n_matches; i++) {
        if (store->matches[i].used != store->generation) {
            drop(store, &store->matches[i]);
        }
    }
    store->generation = generation;
}

struct stored_match *match_store_at(struct match_store *store, int class)
{
    if (class >= store->n_matches) {
        int n_matches = class * 2 + 64;
        store->matches =
            mem_grow(store->matches, (size_t)n_matches, sizeof(*store->matches));
        memset(&store->matches[store->n_matches], 0,
               (size_t)(n_matches - store->n_matches) * sizeof(*store->matches));
        store->n_matches = n_matches;
    }
    store->matches[class].used = store->generation;
    return &store->matches[class];
}

const struct place_filter *match_store_filter(const struct stored_match *match)
{
    return match->filter != NULL ? &match->filter->filter : NULL;
}

/* ---------------------------------------------------------------- filters */

static unsigned digest_of(const uint8_t *matches, int n_hosts)
{
    uint64_t digest = (uint64_t)n_hosts, word;
    int at = 0;
    for (; at + (int)sizeof(word) <= n_hosts; at += (int)sizeof(word)) {
        memcpy(&word, matches + at, sizeof(word));
        digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    for (; at < n_hosts; at++) {
        digest = (digest ^ matches[at]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (unsigned)(digest ^ digest >> 32);
}

static bool is_alike(const struct match_store *store, const struct place_filter *a,
                     const struct place_filter *b)
{
    const struct place_reserved *left = a->reserved, *right = b->reserved;
    size_t n_hosts = (size_t)store->n_hosts;
    if (memcmp(a->matches, b->matches, n_hosts) != 0 ||
        (left == NULL) != (right == NULL)) {
        return false;
    }
    return left == NULL || (left->resource == right->resource &&
                            left->total_milli == right->total_milli &&
                            left->reserved_milli == right->reserved_milli &&
                            memcmp(left->hosts, right->hosts, n_hosts) == 0);
}

static struct stored_filter *find_digest(const struct match_store *store,
                                         unsigned digest)
{
    struct stored_filter *found;
    HASH_FIND_BYHASHVALUE(hh, store->filters, &digest, sizeof(digest), digest, found);
    return found;
}

static void *copy(struct stored_filter *into, const void *from, size_t n_bytes)
{
    into->n_bytes += from != NULL ? n_bytes : 0;
    return arena_copy(&into->arena, from, n_bytes);
}

static const struct place_span *copy_span(struct stored_filter *into,
                                          const struct place_span *from, int n_hosts)
{
    struct place_span *span = copy(into, from, sizeof(*from));
    size_t n_bytes = (size_t)n_hosts * sizeof(int);
    if (span == NULL) {
        return NULL;
    }
    span->ptiles = copy(into, from->ptiles, n_bytes);
    for (int i = 0; i < span->n_same; i++) {
        span->same[i] = copy(into, from->same[i], n_bytes);
    }
    if (from->units != NULL) {
        struct place_span_units *units = copy(into, from->units, sizeof(*units));
        units->unit_of = copy(into, units->unit_of, n_bytes);
        if (units->next_in_unit != NULL) {
            units->next_in_unit = copy(into, units->next_in_unit, n_bytes);
        }
        span->units = units;
    }
    return span;
}

static struct stored_filter *filter_new(const struct place_filter *from, int n_hosts)
{
    struct stored_filter *made = mem_alloc(1, sizeof(*made));
    struct place_reserved *reserved;
    size_t n_bytes = (size_t)n_hosts;
    arena_init_small(&made->arena);
    made->n_bytes = sizeof(*made);
    made->filter.matches = copy(made, from->matches, n_bytes);
    made->filter.ranks = copy(made, from->ranks, n_bytes * sizeof(int));
    made->filter.span = copy_span(made, from->span, n_hosts);
    if (from->reserved != NULL) {
        reserved = copy(made, from->reserved, sizeof(*reserved));
        reserved->hosts = copy(made, reserved->hosts, n_bytes);
        made->filter.reserved = reserved;
    }
    return made;
}

/* The stored filter that is like this one, or a new one; NULL: there is no room. */
static struct stored_filter *store_filter(struct match_store *store,
                                          const struct place_filter *filter)
{
    bool is_plain = filter->ranks == NULL && filter->span == NULL;
    unsigned digest = is_plain ? digest_of(filter->matches, store->n_hosts) : 0;
    struct stored_filter *found = is_plain ? find_digest(store, digest) : NULL;
    if (found != NULL && is_alike(store, &found->filter, filter)) {
        return found;
    }
    if (store->n_bytes > MATCH_STORE_BYTES) {
        return NULL;
    }
    struct stored_filter *made = filter_new(filter, store->n_hosts);
    store->n_bytes += made->n_bytes;
    /* One with the digest of another is not shared. */
    made->is_shared = is_plain && found == NULL;
    made->digest = digest;
    if (made->is_shared) {
        HASH_ADD_BYHASHVALUE(hh, store->filters, digest, sizeof(digest), digest, made);
    }
    return made;
}

const struct place_filter *match_store_set(struct match_store *store,
                                           struct stored_match *match,
                                           const struct place_filter *filter,
                                           bool has_left)
{
    struct stored_match set = {.generation = store->generation,
                               .has_left = has_left,
                               .used = store->generation};
    if (filter != NULL) {
        set.filter = store_filter(store, filter);
        if (set.filter == NULL) {
            drop(store, match);
            return filter;
        }
        set.filter->n_classes++;
    }
    drop(store, match);
    *match = set;
    return match_store_filter(match);
}

size_t match_store_bytes(const struct match_store *store)
{
    return store->n_bytes;
}
