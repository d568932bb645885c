/* SPDX-License-Identifier: Apache-2.0 */
/* lease_grant.c: see lease_grant.h. */
#include "broker/lease/lease_grant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/lease/lease.h"
#include "model/record.h"

void lease_grant_clear(struct lease_grant *grant)
{
    free(grant->hosts);
    grant->hosts = NULL;
    grant->n_hosts = grant->n_slots = grant->n_tries = 0;
}

void lease_grant_set(struct lease_grant *grant, const struct host_slots *hosts,
                     int n_hosts, const char *reason)
{
    lease_grant_clear(grant);
    grant->hosts = record_dup_list(&schema_run_slots, hosts, n_hosts);
    grant->n_hosts = n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        grant->n_slots += hosts[i].n_slots;
    }
    snprintf(grant->reason, sizeof(grant->reason), "%s", reason);
}

/* ---------------------------------------------------------------- the split */

static struct host_split *find_host(struct host_split *hosts, int n_hosts,
                                    const char *host)
{
    for (int i = 0; i < n_hosts; i++) {
        if (strcmp(hosts[i].host, host) == 0) {
            return &hosts[i];
        }
    }
    return NULL;
}

/* The provider's own leaf holds its slots on the provider's side of the split. */
static void add_slots(const struct lease *lease, struct host_split *host, int n_slots)
{
    host->n_slots += n_slots;
    *(lease->consumer == lease->provider ? &host->provider : &host->consumer) +=
        n_slots;
}

void lease_grant_plan(const struct lease *lease, struct arena *arena,
                      struct rebalance_plan *plan)
{
    const struct lease_grant *grant = &lease->grant;
    int n_hosts = lease->row.n_hosts;
    bool is_given_up = grant->n_tries > LEASE_GRANT_TRIES_MAX;
    struct host_split *hosts =
        arena_alloc(arena, (size_t)n_hosts + (size_t)grant->n_hosts, sizeof(*hosts));
    memset(plan, 0, sizeof(*plan));
    for (int i = 0; i < n_hosts; i++) {
        hosts[i] = lease->row.hosts[i];
    }
    for (int i = 0; i < grant->n_hosts && !is_given_up; i++) {
        const struct host_slots *more = &grant->hosts[i];
        struct host_split *host = find_host(hosts, n_hosts, more->host);
        if (host == NULL) {
            host = &hosts[n_hosts++];
            *host = (struct host_split){.host = arena_str(arena, more->host)};
        }
        add_slots(lease, host, more->n_slots);
    }
    plan->hosts = hosts;
    plan->n_hosts = n_hosts;
    plan->n_moved = is_given_up ? 0 : grant->n_slots;
    plan->direction = plan->n_moved > 0 ? REBALANCE_TO_CONSUMER : REBALANCE_NONE;
    snprintf(plan->reason, sizeof(plan->reason), "%s",
             is_given_up
                 ? "the provider no longer has the slots that the cycle found idle"
                 : grant->reason);
}
