/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim_delay.c: see lease.h. */
#include "broker/lease/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/arena.h"
#include "base/conf/conf.h"
#include "base/conf/conf_keys.h"

enum { KEY_SIZE = LEASE_ID_SIZE + 4 };

struct override {
    char key[KEY_SIZE]; /* the scope's number, and the name */
    int64_t delay_ms;
    UT_hash_handle hh;
};

void reclaim_delay_release(struct reclaim_delays *overrides)
{
    struct override *override, *next;
    HASH_ITER (hh, overrides->table, override, next) {
        HASH_DEL(overrides->table, override);
        free(override);
    }
}

/* What a site may configure, and an administrator set. */
static const struct conf_key *find_bounds(void)
{
    return conf_keys_find("Parameters", "MC_RECLAIM_DELAY");
}

/* The bounds are looked up once: the delay of each lease is asked for whenever leases
 * are judged or listed. */
void reclaim_delay_init(struct reclaim_delays *overrides)
{
    *overrides = (struct reclaim_delays){.bounds = find_bounds()};
}

int reclaim_delay_check(int64_t delay_ms, struct err *err)
{
    char text[32];
    conf_format_duration(delay_ms, text, sizeof(text));
    return conf_check_duration(find_bounds(), text, delay_ms, err);
}

static struct override *find(const struct reclaim_delays *overrides,
                             enum reclaim_scope scope, const char *name,
                             char key[KEY_SIZE])
{
    struct override *found;
    snprintf(key, KEY_SIZE, "%d %s", (int)scope, name);
    HASH_FIND_STR(overrides->table, key, found);
    return found;
}

void reclaim_delay_set(struct reclaim_delays *overrides, enum reclaim_scope scope,
                       const char *name, int64_t delay_ms)
{
    char key[KEY_SIZE];
    struct override *override = find(overrides, scope, name, key);
    if (override != NULL && delay_ms < 0) {
        HASH_DEL(overrides->table, override);
        free(override);
        return;
    }
    if (override == NULL && delay_ms >= 0) {
        override = mem_alloc(1, sizeof(*override));
        memcpy(override->key, key, sizeof(key));
        HASH_ADD_STR(overrides->table, key, override);
    }
    if (override != NULL) {
        override->delay_ms = delay_ms;
    }
}

int64_t reclaim_delay_find_override(const struct reclaim_delays *overrides,
                                    enum reclaim_scope scope, const char *name)
{
    char key[KEY_SIZE];
    const struct override *override =
        overrides->table != NULL ? find(overrides, scope, name, key) : NULL;
    return override != NULL ? override->delay_ms : -1;
}

/* Bounded, as a site of another version may say anything; -1: it says nothing. */
static int64_t said_by_site(const struct conf_key *key, int64_t site_ms)
{
    return site_ms <= 0         ? -1
           : site_ms < key->min ? key->min
           : site_ms > key->max ? key->max
                                : site_ms;
}

int64_t reclaim_delay_get_ms(const struct reclaim_delays *overrides, const char *lease,
                             const char *provider, int64_t site_ms,
                             enum reclaim_delay_source *source)
{
    const struct {
        enum reclaim_delay_source source;
        int64_t delay_ms; /* -1: says nothing */
    } by_rank[] = {
        {RECLAIM_DELAY_FROM_LEASE,
         lease != NULL ? reclaim_delay_find_override(overrides, RECLAIM_LEASE, lease)
                       : -1},
        {RECLAIM_DELAY_FROM_PROVIDER,
         provider != NULL
             ? reclaim_delay_find_override(overrides, RECLAIM_PROVIDER, provider)
             : -1},
        {RECLAIM_DELAY_FROM_ALL,
         reclaim_delay_find_override(overrides, RECLAIM_ALL, "")},
        {RECLAIM_DELAY_FROM_SITE, said_by_site(overrides->bounds, site_ms)},
        {RECLAIM_DELAY_FROM_DEFAULT, RECLAIM_DELAY_DEFAULT_MS},
    };
    size_t i = 0;
    while (by_rank[i].delay_ms < 0) {
        i++;
    }
    if (source != NULL) {
        *source = by_rank[i].source;
    }
    return by_rank[i].delay_ms;
}

const char *reclaim_delay_source_name(enum reclaim_delay_source source)
{
    static const char *const names[] = {
        [RECLAIM_DELAY_FROM_DEFAULT] = "default",
        [RECLAIM_DELAY_FROM_SITE] = "site",
        [RECLAIM_DELAY_FROM_ALL] = "all",
        [RECLAIM_DELAY_FROM_PROVIDER] = "provider",
        [RECLAIM_DELAY_FROM_LEASE] = "lease",
    };
    return names[source];
}
