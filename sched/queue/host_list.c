/* SPDX-License-Identifier: Apache-2.0 */
/* host_list.c: see queue.h. */
#include "sched/queue/queue.h"

#include <stdint.h>
#include <string.h>

#include "base/fnv1a.h"

/* ---------------------------------------------------------------- names */

/* An entry of a hash table of names: a pass compares lists of hundreds of names with
 * thousands of hosts. */
struct host_list_name {
    size_t digest;
    const struct queue_term *term; /* NULL: free */
};

static size_t digest_of(const char *name)
{
    uint64_t digest = fnv1a(FNV1A_START, name, strlen(name));
    return (size_t)(digest ^ digest >> 32);
}

/* The bucket that has the name, or the free one in which it belongs. */
static struct host_list_name *find_bucket(const struct host_list *list,
                                          const char *name, size_t digest)
{
    size_t at = digest & (list->n_buckets - 1);
    while (list->by_name[at].term != NULL &&
           (list->by_name[at].digest != digest ||
            strcmp(list->by_name[at].term->name, name) != 0)) {
        at = (at + 1) & (list->n_buckets - 1);
    }
    return &list->by_name[at];
}

static void make_buckets(struct arena *arena, struct host_list *list, int n_terms)
{
    list->n_buckets = 4;
    while (list->n_buckets < (size_t)n_terms * 2) {
        list->n_buckets *= 2;
    }
    list->by_name = arena_alloc(arena, list->n_buckets, sizeof(*list->by_name));
}

/* If a name occurs several times, the highest preference counts. */
static void add_name(struct host_list *list, const struct queue_term *term)
{
    size_t digest = digest_of(term->name);
    struct host_list_name *bucket = find_bucket(list, term->name, digest);
    if (bucket->term == NULL || bucket->term->preference < term->preference) {
        *bucket = (struct host_list_name){digest, term};
    }
}

static const struct queue_term *find_name(const struct host_list *list,
                                          const char *host, const char *site)
{
    const struct queue_term *term =
        list->n_buckets > 0 ? find_bucket(list, host, digest_of(host))->term : NULL;
    return term != NULL && queue_term_covers(term, host, site) ? term : NULL;
}

/* ---------------------------------------------------------------- lists */

void host_list_set(struct arena *arena, const struct queue_term *terms, int n_terms,
                   struct host_list *list)
{
    *list = (struct host_list){.terms = terms, .n_terms = n_terms};
    list->wide_terms = arena_alloc(arena, (size_t)n_terms, sizeof(*list->wide_terms));
    make_buckets(arena, list, n_terms);
    for (int i = 0; i < n_terms; i++) {
        list->has_preferences = list->has_preferences || terms[i].preference > 0;
        list->has_first = list->has_first || terms[i].is_first;
        if (terms[i].kind == QUEUE_HOST || terms[i].kind == QUEUE_HOST_AT) {
            add_name(list, &terms[i]);
        } else {
            list->wide_terms[list->n_wide_terms++] = &terms[i];
        }
    }
}

int host_list_parse(struct arena *arena, const struct groups *groups,
                    const char *const *words, int n_words, struct host_list *list,
                    struct err *err)
{
    struct queue_term *terms = arena_alloc(arena, (size_t)n_words, sizeof(*terms));
    for (int i = 0; i < n_words; i++) {
        if (queue_term_read(arena, groups, words[i], &terms[i], err) != 0) {
            return err_prefix(err, "-m");
        }
        if (terms[i].kind == QUEUE_NOT_HOST || terms[i].kind == QUEUE_NOT_GROUP) {
            return err_set(err, ERR_PARSE,
                           "-m: \"%s\": a job names the hosts that it wants, expected "
                           "a name without ~",
                           words[i]);
        }
    }
    host_list_set(arena, terms, n_words, list);
    return 0;
}

bool host_list_allows(const struct host_list *list, const char *host, const char *site,
                      int *preference)
{
    const struct queue_term *name = find_name(list, host, site);
    bool is_named = name != NULL, is_other = false;
    int others_preference = 0;
    *preference = is_named ? name->preference : 0;
    for (int i = 0; i < list->n_wide_terms; i++) {
        const struct queue_term *term = list->wide_terms[i];
        if (term->kind == QUEUE_OTHERS) {
            is_other = true;
            others_preference = term->preference > others_preference
                                    ? term->preference
                                    : others_preference;
        } else if (queue_term_covers(term, host, site)) {
            is_named = true;
            *preference =
                term->preference > *preference ? term->preference : *preference;
        }
    }
    if (!is_named && is_other) {
        *preference = others_preference;
    }
    return is_named || is_other || list->is_any;
}

bool host_list_is_first(const struct host_list *list, const char *host,
                        const char *site)
{
    bool is_first = false;
    for (int i = 0; i < list->n_terms; i++) {
        const struct queue_term *term = &list->terms[i];
        is_first = is_first || (term->is_first && queue_term_covers(term, host, site));
    }
    return is_first;
}

bool host_list_avoids(const struct host_list *list, const char *host)
{
    for (int i = 0; list != NULL && i < list->n_avoided; i++) {
        if (strcmp(list->avoided[i], host) == 0) {
            return true;
        }
    }
    return false;
}
