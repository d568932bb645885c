/* SPDX-License-Identifier: Apache-2.0 */
/* asked_lists.h: the host lists of waiting jobs (-m, and what they avoid), each read
 * once: jobs with the same words have the same list.
 *
 * Ownership: groups are borrowed for the life of the lists; a list lives until the next
 * asked_lists_begin. Layer: site. */
#ifndef SUBLET_SITE_ASKED_LISTS_H
#define SUBLET_SITE_ASKED_LISTS_H

#include "sched/pending/host_list.h"
#include "site/job/job.h"

struct asked_lists;
struct asked_lists *asked_lists_new(const struct groups *groups);
void asked_lists_free(struct asked_lists *lists);

/* A pass begins: lists of earlier ones may go. */
void asked_lists_begin(struct asked_lists *lists);
/* The job's; NULL: it names no hosts, and avoids none. */
const struct host_list *asked_lists_of(struct asked_lists *lists,
                                       const struct job *job);

#endif
