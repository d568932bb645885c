/* SPDX-License-Identifier: Apache-2.0 */
/* site_scheduler.c: which parts of the site the scheduler works on (site_parts.h). */
#include "site/site_parts.h"

void site_scheduler_connect(struct site *site)
{
    site->reserves_sources = (struct rusage_sources){
        .config = site->config,
        .ledger = site->reserves,
        .host_resources = site->host_resources,
        .hosts = site->hosts,
        .consumer = site->consumer,
        .life = site->life,
    };
    scheduler_set_parts(site->schedule,
                        &(struct scheduler_parts){
                            .pass =
                                {
                                    .config = site->config,
                                    .jobs = site->jobs,
                                    .queues = site->queues,
                                    .limits = site->limits,
                                    .shares = site->shares,
                                    .capacity = site->capacity,
                                    .reserves = &site->reserves_sources,
                                    .needs = site->needs,
                                    .asked_lists = site->asked_lists,
                                    .resizes = site->resizes,
                                    .preempts = site->preempts,
                                    .overloads = site->overloads,
                                    .slot_reserves = site->slot_reserves,
                                },
                            .shares = site->shares,
                            .capacity = site->capacity,
                            .provider = site->provider,
                            .life = site->life,
                            .pass_request = &site->pass_request,
                        });
}
