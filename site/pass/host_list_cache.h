/* SPDX-License-Identifier: Apache-2.0 */
/* host_list_cache.h: the host lists of pending jobs (-m, and the hosts that they
 * avoid), each read once: jobs with the same words share a list.
 *
 * Ownership: groups are borrowed; a list is valid until the next
 * host_list_cache_begin_pass. Layer: site. */
#ifndef SUBLET_SITE_PASS_HOST_LIST_CACHE_H
#define SUBLET_SITE_PASS_HOST_LIST_CACHE_H

#include "sched/queue/queue.h"
#include "site/job/job.h"

struct host_list_cache;
struct host_list_cache *host_list_cache_new(const struct groups *groups);
void host_list_cache_free(struct host_list_cache *cache);

/* A pass begins: lists of earlier ones may be dropped. */
void host_list_cache_begin_pass(struct host_list_cache *cache);
/* The list of the job; NULL: it neither names nor avoids hosts. */
const struct host_list *host_list_cache_get(struct host_list_cache *cache,
                                            const struct job *job);

#endif
