/* SPDX-License-Identifier: Apache-2.0 */
/* host_list_cache.c: see host_list_cache.h. */
#include "site/pass/host_list_cache.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

enum { ENTRIES_MAX = 1000 }; /* beyond that all are dropped and read again */

struct entry {
    struct host_list host_list;
    UT_hash_handle hh;
};

struct host_list_cache {
    const struct groups *groups;
    struct arena arena, scratch;
    struct entry *by_key;
};

struct host_list_cache *host_list_cache_new(const struct groups *groups)
{
    struct host_list_cache *cache = mem_alloc(1, sizeof(*cache));
    cache->groups = groups;
    arena_init(&cache->arena);
    arena_init(&cache->scratch);
    return cache;
}

static void clear(struct host_list_cache *cache)
{
    HASH_CLEAR(hh, cache->by_key);
    cache->by_key = NULL;
    arena_clear(&cache->arena);
}

void host_list_cache_free(struct host_list_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    clear(cache);
    arena_release(&cache->arena);
    arena_release(&cache->scratch);
    free(cache);
}

void host_list_cache_begin_pass(struct host_list_cache *cache)
{
    if (HASH_COUNT(cache->by_key) > ENTRIES_MAX) {
        clear(cache);
    }
}

/* "n1+2\0others\0~n3 n4\0"; no word of a list begins with ~. */
static const char *key_of(struct arena *arena, const struct job *job, size_t *length)
{
    const struct job_spec *spec = job->spec;
    size_t n_avoided = job->avoided != NULL ? strlen(job->avoided) + 2 : 0;
    *length = n_avoided;
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        *length += strlen(spec->hosts_asked[i]) + 1;
    }
    char *key = arena_alloc(arena, *length, 1), *at = key;
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        size_t n_bytes = strlen(spec->hosts_asked[i]) + 1;
        memcpy(at, spec->hosts_asked[i], n_bytes);
        at += n_bytes;
    }
    if (n_avoided > 0) {
        *at++ = '~';
        memcpy(at, job->avoided, n_avoided - 1);
    }
    return key;
}

/* Invalid words name no host: a journal may hold what a later version accepted. */
static void read_words(struct host_list_cache *cache, const struct job *job,
                       struct host_list *host_list)
{
    const struct job_spec *spec = job->spec;
    struct err err;
    if (spec->n_hosts_asked == 0) {
        *host_list = (struct host_list){.is_any = true};
    } else if (host_list_parse(&cache->arena, cache->groups, spec->hosts_asked,
                               spec->n_hosts_asked, host_list, &err) != 0) {
        *host_list = (struct host_list){.n_terms = 0};
    }
    if (job->avoided != NULL) {
        struct conf_words words = conf_words(&cache->arena, job->avoided);
        host_list->avoided = words.words;
        host_list->n_avoided = words.count;
    }
}

const struct host_list *host_list_cache_get(struct host_list_cache *cache,
                                            const struct job *job)
{
    struct entry *entry;
    size_t length;
    if (job->spec->n_hosts_asked == 0 && job->avoided == NULL) {
        return NULL;
    }
    arena_clear(&cache->scratch);
    const char *key = key_of(&cache->scratch, job, &length);
    HASH_FIND(hh, cache->by_key, key, length, entry);
    if (entry == NULL) {
        entry = arena_alloc(&cache->arena, 1, sizeof(*entry));
        read_words(cache, job, &entry->host_list);
        key = arena_copy(&cache->arena, key, length);
        HASH_ADD_KEYPTR(hh, cache->by_key, key, length, entry);
    }
    return &entry->host_list;
}
