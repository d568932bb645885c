/* SPDX-License-Identifier: Apache-2.0 */
/* pass_terms.h: where a pass looks up what a job asks for: the state of its queue, its
 * requirements, the hosts that it names, the resources that it reserves. Layer: site.
 */
#ifndef SUBLET_SITE_PASS_TERMS_H
#define SUBLET_SITE_PASS_TERMS_H

#include "site/asked_lists.h"
#include "site/job/queue_table.h"
#include "site/needs.h"
#include "site/reserves.h"

struct pass_terms {
    const struct queue_table *queues;
    struct needs *needs; /* of this pass: needs_begin */
    struct asked_lists *asked_lists;
    struct reserves_pass *reserves;
    int64_t local_ms; /* as in sched/queue/window.h */
};

#endif
