/* SPDX-License-Identifier: Apache-2.0 */
/* host_list.c: see host_list.h. */
#include "sched/pending/host_list.h"

#include <stdint.h>
#include <string.h>

/* ---------------------------------------------------------------- names */

/* A list of hundreds of names is compared with thousands of hosts in each pass. */
struct host_list_name {
    size_t digest;
    const struct queue_term *term; /* NULL: a hole */
};

static size_t digest_of(const char *name)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    for (const char *at = name; *at != '\0'; at++) {
        digest = (digest ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return (size_t)(digest ^ digest >> 32);
}

/* Where the name stands, or would. */
static struct host_list_name *place_of(const struct host_list *asked, const char *name,
                                       size_t digest)
{
    size_t at = digest & (asked->n_places - 1);
    while (asked->named[at].term != NULL &&
           (asked->named[at].digest != digest ||
            strcmp(asked->named[at].term->name, name) != 0)) {
        at = (at + 1) & (asked->n_places - 1);
    }
    return &asked->named[at];
}

static void make_places(struct arena *arena, struct host_list *asked, int n_terms)
{
    asked->n_places = 4;
    while (asked->n_places < (size_t)n_terms * 2) {
        asked->n_places *= 2;
    }
    asked->named = arena_alloc(arena, asked->n_places, sizeof(*asked->named));
}

/* Of several with one name the highest preference counts. */
static void add_name(struct host_list *asked, const struct queue_term *term)
{
    size_t digest = digest_of(term->name);
    struct host_list_name *place = place_of(asked, term->name, digest);
    if (place->term == NULL || place->term->preference < term->preference) {
        *place = (struct host_list_name){digest, term};
    }
}

static const struct queue_term *find_name(const struct host_list *asked,
                                          const char *host, const char *site)
{
    const struct queue_term *term =
        asked->n_places > 0 ? place_of(asked, host, digest_of(host))->term : NULL;
    return term != NULL && queue_term_covers(term, host, site) ? term : NULL;
}

/* ---------------------------------------------------------------- lists */

void host_list_set(struct arena *arena, const struct queue_term *terms, int n_terms,
                   struct host_list *asked)
{
    *asked = (struct host_list){.terms = terms, .n_terms = n_terms};
    asked->broad = arena_alloc(arena, (size_t)n_terms, sizeof(*asked->broad));
    make_places(arena, asked, n_terms);
    for (int i = 0; i < n_terms; i++) {
        asked->has_preferences = asked->has_preferences || terms[i].preference > 0;
        if (terms[i].kind == QUEUE_HOST || terms[i].kind == QUEUE_HOST_AT) {
            add_name(asked, &terms[i]);
        } else {
            asked->broad[asked->n_broad++] = &terms[i];
        }
    }
}

int host_list_parse(struct arena *arena, const struct groups *groups,
                    const char *const *words, int n_words, struct host_list *asked,
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
    host_list_set(arena, terms, n_words, asked);
    return 0;
}

bool host_list_allows(const struct host_list *asked, const char *host, const char *site,
                      int *preference)
{
    const struct queue_term *name = find_name(asked, host, site);
    bool is_named = name != NULL, is_other = false;
    int of_others = 0;
    *preference = is_named ? name->preference : 0;
    for (int i = 0; i < asked->n_broad; i++) {
        const struct queue_term *term = asked->broad[i];
        if (term->kind == QUEUE_OTHERS) {
            is_other = true;
            of_others = term->preference > of_others ? term->preference : of_others;
        } else if (queue_term_covers(term, host, site)) {
            is_named = true;
            *preference =
                term->preference > *preference ? term->preference : *preference;
        }
    }
    if (!is_named && is_other) {
        *preference = of_others;
    }
    return is_named || is_other || asked->is_any;
}

bool host_list_avoids(const struct host_list *asked, const char *host)
{
    for (int i = 0; asked != NULL && i < asked->n_avoided; i++) {
        if (strcmp(asked->avoided[i], host) == 0) {
            return true;
        }
    }
    return false;
}
