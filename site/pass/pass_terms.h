/* SPDX-License-Identifier: Apache-2.0 */
/* pass_terms.h: what a pass needs to look up what a job asks for: the state of its
 * queue, its requirements, its host list and its rusage. Layer: site. */
#ifndef SUBLET_SITE_PASS_PASS_TERMS_H
#define SUBLET_SITE_PASS_PASS_TERMS_H

#include "site/job/queue_table.h"
#include "site/ledger/site_ledger.h"
#include "site/pass/host_list_cache.h"
#include "site/pass/resreq_match.h"

struct pass_terms {
    const struct queue_table *queues;
    struct resreq_match *match;
    struct host_list_cache *host_lists;
    struct rusage_pass *rusages;
    int64_t local_ms; /* as in base/window.h */
};

#endif
