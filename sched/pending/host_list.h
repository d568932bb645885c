/* SPDX-License-Identifier: Apache-2.0 */
/* host_list.h: the list of hosts that a job asks for (-m): host names, groups,
 * "n1@north", "all@north", "allremote", and "others" for all hosts that the list does
 * not name. `+N` prefers a host.
 *
 *     n1+2 pair+1 others      n1 first, then the hosts of pair, then any other host
 *
 * The list restricts the HOSTS of the queue further. If the job has a preference for
 * any host, only the job's preferences count, not the queue's. The struct also has the
 * hosts that the job avoids because it has exited there with a code of EXCLUDE
 * (REQUEUE_EXIT_VALUES).
 *
 * Ownership: a list lives in the arena that it was read into; groups are borrowed.
 * Errors: ERR_PARSE. An unknown host is not an error: no host matches it.
 * Source: LSF's bsub -m. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_HOST_LIST_H
#define SUBLET_SCHED_PENDING_HOST_LIST_H

#include "base/arena.h"
#include "base/err.h"
#include "sched/queue/queue.h"

struct host_list_name;

struct host_list {
    const struct queue_term *terms;
    int n_terms;
    const struct queue_term **wide_terms; /* terms that are not the name of a host */
    int n_wide_terms;
    struct host_list_name *by_name; /* hash table of the terms that are ... */
    size_t n_buckets; /* ... with a power of two of buckets; 0: no table */
    bool has_preferences;
    bool is_any; /* the job has no list: it may use any host */
    const char *const *avoided;
    int n_avoided;
};

int host_list_parse(struct arena *arena, const struct groups *groups,
                    const char *const *words, int n_words, struct host_list *list,
                    struct err *err) MUST_CHECK;

/* Builds a list of these terms, which are borrowed. */
void host_list_set(struct arena *arena, const struct queue_term *terms, int n_terms,
                   struct host_list *list);

/* True if the list includes the host, avoided or not. Gives its preference, the highest
 * one if several terms match. `site` is "" for an own host. */
bool host_list_allows(const struct host_list *list, const char *host, const char *site,
                      int *preference);
/* True if the job has exited on the host with a code of EXCLUDE. `list` may be NULL. */
bool host_list_avoids(const struct host_list *list, const char *host);

#endif
