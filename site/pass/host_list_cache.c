/* SPDX-License-Identifier: Apache-2.0 */
/* host_list_cache.c: see host_list_cache.h. */
#include "site/pass/host_list_cache.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

enum { LISTS_MAX = 1000 }; /* kept; past it all are forgotten and read anew */

struct list {
    struct host_list asked;
    UT_hash_handle hh;
};

struct host_list_cache {
    const struct groups *groups;
    struct arena arena, scratch;
    struct list *by_words;
};

struct host_list_cache *host_list_cache_new(const struct groups *groups)
{
    struct host_list_cache *lists = mem_alloc(1, sizeof(*lists));
    lists->groups = groups;
    arena_init(&lists->arena);
    arena_init(&lists->scratch);
    return lists;
}

static void clear(struct host_list_cache *lists)
{
    HASH_CLEAR(hh, lists->by_words);
    lists->by_words = NULL;
    arena_clear(&lists->arena);
}

void host_list_cache_free(struct host_list_cache *lists)
{
    if (lists == NULL) {
        return;
    }
    clear(lists);
    arena_release(&lists->arena);
    arena_release(&lists->scratch);
    free(lists);
}

void host_list_cache_begin_pass(struct host_list_cache *lists)
{
    if (HASH_COUNT(lists->by_words) > LISTS_MAX) {
        clear(lists);
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

/* Words that are none name no host: a journal may hold what a later version took. */
static void read_words(struct host_list_cache *lists, const struct job *job,
                       struct host_list *asked)
{
    const struct job_spec *spec = job->spec;
    struct err err;
    if (spec->n_hosts_asked == 0) {
        *asked = (struct host_list){.is_any = true};
    } else if (host_list_parse(&lists->arena, lists->groups, spec->hosts_asked,
                               spec->n_hosts_asked, asked, &err) != 0) {
        *asked = (struct host_list){.n_terms = 0};
    }
    if (job->avoided != NULL) {
        struct conf_words words = conf_words(&lists->arena, job->avoided);
        asked->avoided = words.words;
        asked->n_avoided = words.count;
    }
}

const struct host_list *host_list_cache_get(struct host_list_cache *lists,
                                            const struct job *job)
{
    struct list *list;
    size_t length;
    if (job->spec->n_hosts_asked == 0 && job->avoided == NULL) {
        return NULL;
    }
    arena_clear(&lists->scratch);
    const char *key = key_of(&lists->scratch, job, &length);
    HASH_FIND(hh, lists->by_words, key, length, list);
    if (list == NULL) {
        list = arena_alloc(&lists->arena, 1, sizeof(*list));
        read_words(lists, job, &list->asked);
        key = arena_copy(&lists->arena, key, length);
        HASH_ADD_KEYPTR(hh, lists->by_words, key, length, list);
    }
    return &list->asked;
}
