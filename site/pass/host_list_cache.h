/* SPDX-License-Identifier: Apache-2.0 */
/* host_list_cache.h: the host lists of waiting jobs (-m, and what they avoid), each
 * read once: jobs with the same words have the same list.
 *
 * Ownership: groups are borrowed for the life of the lists; a list lives until the next
 * host_list_cache_begin_pass. Layer: site. */
#ifndef SUBLET_SITE_PASS_HOST_LIST_CACHE_H
#define SUBLET_SITE_PASS_HOST_LIST_CACHE_H

#include "sched/pending/host_list.h"
#include "site/job/job.h"

struct host_list_cache;
struct host_list_cache *host_list_cache_new(const struct groups *groups);
void host_list_cache_free(struct host_list_cache *lists);

/* A pass begins: lists of earlier ones may go. */
void host_list_cache_begin_pass(struct host_list_cache *lists);
/* The job's; NULL: it names no hosts, and avoids none. */
const struct host_list *host_list_cache_get(struct host_list_cache *lists,
                                            const struct job *job);

#endif
