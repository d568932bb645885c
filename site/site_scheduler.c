/* SPDX-License-Identifier: Apache-2.0 */
/* site_scheduler.c: which parts of the site the scheduler works on (site_parts.h). */
#include "site/site_parts.h"

void site_scheduler_connect(struct site *site)
{
    site->rusage_sources = (struct rusage_sources){
        .config = site->config,
        .ledger = site->rusage,
        .host_resources = site->host_resources,
        .hosts = site->hosts,
        .consumer = site->consumer,
        .life = site->life,
    };
    scheduler_set_parts(site->scheduler,
                        &(struct scheduler_parts){
                            .pass =
                                {
                                    .config = site->config,
                                    .jobs = site->jobs,
                                    .queues = site->queues,
                                    .limits = site->limits,
                                    .fairshare = site->fairshare,
                                    .capacity = site->capacity,
                                    .rusage_sources = &site->rusage_sources,
                                    .resreq_cache = site->resreq_cache,
                                    .host_lists = site->host_lists,
                                    .resize_requests = site->resize_requests,
                                    .claims = site->claims,
                                    .load_suspend = site->load_suspend,
                                    .reservations = site->reservations,
                                },
                            .fairshare = site->fairshare,
                            .capacity = site->capacity,
                            .provider = site->provider,
                            .life = site->life,
                            .pass_request = &site->pass_request,
                        });
}
