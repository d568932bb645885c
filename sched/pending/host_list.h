/* SPDX-License-Identifier: Apache-2.0 */
/* host_list.h: the hosts that a job asks for (-m): names, groups, "n1@north",
 * "all@north", "allremote", and "others" for all that the list does not name; `+N`
 * prefers a host.
 *
 *     n1+2 pair+1 others      n1 first, then those of pair, then whatever else
 *
 * It narrows what the queue's HOSTS allow. Where a job prefers anything, its
 * preferences count and not the queue's. With it stand the hosts that a job avoids, as
 * it has exited there with a code of EXCLUDE (REQUEUE_EXIT_VALUES).
 *
 * Ownership: a list lives in the arena that it was read into; groups are borrowed.
 * Errors: ERR_PARSE; a host that is unknown is none: it is named, and never found.
 * Source: LSF's bsub -m. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_HOST_LIST_H
#define SUBLET_SCHED_PENDING_HOST_LIST_H

#include "base/arena.h"
#include "base/err.h"
#include "sched/queue/groups.h"
#include "sched/queue/queue.h"

struct host_list_name;

struct host_list {
    const struct queue_term *terms;
    int n_terms;
    const struct queue_term **broad; /* those that are no host's name */
    int n_broad;
    struct host_list_name *named; /* by name, those that are: a table with holes ... */
    size_t n_places;              /* ... of a power of two; 0: there are none */
    bool has_preferences;
    bool is_any; /* there is no list: any host */
    const char *const *avoided;
    int n_avoided;
};

int host_list_parse(struct arena *arena, const struct groups *groups,
                    const char *const *words, int n_words, struct host_list *asked,
                    struct err *err) MUST_CHECK;

/* The list of these, which are borrowed. */
void host_list_set(struct arena *arena, const struct queue_term *terms, int n_terms,
                   struct host_list *asked);

/* True where the list has the host, avoided or not; then its preference, of several the
 * highest. `site` is "" for an own host. */
bool host_list_allows(const struct host_list *asked, const char *host, const char *site,
                      int *preference);
/* The job has exited there. NULL: it asks for nothing, and avoids nothing. */
bool host_list_avoids(const struct host_list *asked, const char *host);

#endif
