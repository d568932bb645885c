/* SPDX-License-Identifier: Apache-2.0 */
/* asked.c: see asked.h. */
#include "sched/asked.h"

#include <string.h>

int asked_read(struct arena *arena, const struct groups *groups,
               const char *const *words, int n_words, struct asked *asked,
               struct err *err)
{
    struct queue_term *terms = arena_alloc(arena, (size_t)n_words, sizeof(*terms));
    *asked = (struct asked){.terms = terms, .n_terms = n_words};
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
        asked->has_preferences = asked->has_preferences || terms[i].preference > 0;
    }
    return 0;
}

bool asked_allows(const struct asked *asked, const char *host, const char *site,
                  int *preference)
{
    bool is_named = false, is_other = false;
    int of_others = 0;
    *preference = 0;
    for (int i = 0; i < asked->n_terms; i++) {
        const struct queue_term *term = &asked->terms[i];
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

bool asked_avoids(const struct asked *asked, const char *host)
{
    for (int i = 0; asked != NULL && i < asked->n_avoided; i++) {
        if (strcmp(asked->avoided[i], host) == 0) {
            return true;
        }
    }
    return false;
}
