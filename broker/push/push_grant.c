/* SPDX-License-Identifier: Apache-2.0 */
/* push_grant.c: see push_grant.h. */
#include "broker/push/push_grant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/lease/lease.h"
#include "broker/member/outbox.h"

enum {
    RESEND_MS = 1000,
    TRIES_MAX = 3, /* proposals; what a provider refused so often is not idle there */
};

void push_grant_end(struct lease *lease)
{
    struct push_grant *granting = &lease->granting;
    free(granting->hosts);
    granting->hosts = NULL;
    granting->n_hosts = granting->n_slots = granting->n_tries = 0;
}

/* One block, names behind. */
static struct host_slots *keep(const struct host_slots *hosts, int n_hosts)
{
    size_t size = (size_t)n_hosts * sizeof(*hosts);
    for (int i = 0; i < n_hosts; i++) {
        size += strlen(hosts[i].host) + 1;
    }
    struct host_slots *copies = mem_alloc(size, 1);
    char *text = (char *)&copies[n_hosts];
    for (int i = 0; i < n_hosts; i++) {
        size_t length = strlen(hosts[i].host) + 1;
        copies[i].n_slots = hosts[i].n_slots;
        copies[i].host = memcpy(text, hosts[i].host, length);
        text += length;
    }
    return copies;
}

void push_grant_set(struct lease *lease, const struct host_slots *hosts, int n_hosts,
                    const char *reason, int64_t now_ms)
{
    struct push_grant *granting = &lease->granting;
    push_grant_end(lease);
    granting->hosts = keep(hosts, n_hosts);
    granting->n_hosts = n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        granting->n_slots += hosts[i].n_slots;
    }
    granting->next_ms = now_ms;
    snprintf(granting->reason, sizeof(granting->reason), "%s", reason);
}

int push_grant_count(const struct lease *lease)
{
    return lease->granting.n_slots;
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

/* The provider's own leaf holds on the provider's side. */
static void add_slots(const struct lease *lease, struct host_split *host, int n_slots)
{
    host->n_slots += n_slots;
    *(lease->consumer == lease->provider ? &host->provider : &host->consumer) +=
        n_slots;
}

void push_grant_plan(const struct lease *lease, struct arena *arena,
                     struct rebalance_plan *plan)
{
    const struct push_grant *granting = &lease->granting;
    int n_hosts = lease->row.n_hosts;
    bool is_tried = granting->n_tries > TRIES_MAX;
    struct host_split *hosts =
        arena_alloc(arena, (size_t)n_hosts + (size_t)granting->n_hosts, sizeof(*hosts));
    memset(plan, 0, sizeof(*plan));
    if (n_hosts > 0) {
        memcpy(hosts, lease->row.hosts, (size_t)n_hosts * sizeof(*hosts));
    }
    for (int i = 0; i < granting->n_hosts && !is_tried; i++) {
        const struct host_slots *more = &granting->hosts[i];
        struct host_split *host = find_host(hosts, n_hosts, more->host);
        if (host == NULL) {
            host = &hosts[n_hosts++];
            *host = (struct host_split){.host = arena_str(arena, more->host)};
        }
        add_slots(lease, host, more->n_slots);
    }
    plan->hosts = hosts;
    plan->n_hosts = n_hosts;
    plan->n_moved = is_tried ? 0 : granting->n_slots;
    plan->direction = plan->n_moved > 0 ? REBALANCE_TO_CONSUMER : REBALANCE_NONE;
    snprintf(plan->reason, sizeof(plan->reason), "%s",
             is_tried ? "the provider has not the slots that the cycle found idle"
                      : granting->reason);
}

void push_grant_done(struct lease *lease, int64_t now_ms)
{
    (void)now_ms;
    lease->granting.n_young = lease->granting.n_slots;
}

/* ---------------------------------------------------------------- time */

static bool may_begin(const struct lease *lease)
{
    return lease->row.state == LEASE_ACTIVE && !lease->asking.is_open &&
           !lease->recalling.is_open && lease->recalling.n_caps == 0 &&
           lease->handover.phase == HANDOVER_NONE;
}

static void send_open(const struct lease *lease, struct effects *effects)
{
    struct msg msg = {.kind = MSG_LEASE_OPEN};
    msg.lease_open.lease = arena_str(&effects->arena, lease->row.id);
    outbox_send(effects, lease->provider, "", &msg);
}

void push_grant_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_grant_wake_ms(lease) > now_ms) {
        return;
    }
    if (lease_is_open(lease)) {
        char reason[REASON_SIZE];
        snprintf(reason, sizeof(reason), "%s", lease->granting.reason);
        handover_begin(lease, reason, now_ms, effects);
        return;
    }
    send_open(lease, effects);
    lease->granting.next_ms = now_ms + RESEND_MS;
}

int64_t push_grant_wake_ms(const struct lease *lease)
{
    bool is_on_its_way = lease->granting.hosts != NULL &&
                         member_is_here(lease->provider, ROLE_PROVIDER) &&
                         !lease->row.is_drained;
    if (!is_on_its_way) {
        return INT64_MAX;
    }
    if (!lease_is_open(lease)) {
        return lease->granting.next_ms;
    }
    return may_begin(lease) ? 0 : INT64_MAX;
}
