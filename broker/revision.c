/* SPDX-License-Identifier: Apache-2.0 */
/* revision.c: see revision.h. A stamp must cover all that broker_view.c shows.
 */
#include "broker/revision.h"

#include <stddef.h>
#include <string.h>

#include "base/fnv1a.h"
#include "broker/broker_parts.h"

static uint64_t add_bytes(uint64_t stamp, const char *text)
{
    return fnv1a(stamp, text, strlen(text) + 1);
}

/* Eight bytes at once, as numbers differ in few of their bits. */
static uint64_t add_number(uint64_t stamp, uint64_t number)
{
    stamp = (stamp ^ number) * 1099511628211U;
    return stamp ^ stamp >> 29;
}

static uint64_t add_hosts(uint64_t stamp, const struct row_lease *row)
{
    for (int i = 0; i < row->n_hosts; i++) {
        const struct host_split *host = &row->hosts[i];
        stamp = add_bytes(stamp, host->host);
        stamp = add_number(stamp, (uint64_t)host->n_slots << 1 | host->is_down);
        stamp = add_number(stamp,
                           (uint64_t)host->provider << 32 | (uint64_t)host->consumer);
        stamp = add_number(stamp, (uint64_t)host->provider_used << 32 |
                                      (uint64_t)host->consumer_used);
        for (int k = 0; k < SPACES; k++) {
            stamp = add_number(stamp, (uint64_t)host->spaces[k].mib << 1 |
                                          host->spaces[k].is_given);
        }
    }
    return stamp;
}

static uint64_t add_resources(uint64_t stamp, const struct row_lease *row)
{
    for (int i = 0; i < row->n_resources; i++) {
        stamp = add_bytes(stamp, row->resources[i].name);
        stamp = add_number(stamp, (uint64_t)row->resources[i].n_instances);
        stamp = add_bytes(stamp, row->resources[i].hosts);
    }
    return stamp;
}

static uint64_t stamp_of_lease(const struct broker *broker, const struct lease *lease)
{
    const struct row_lease *row = &lease->row;
    int64_t delay_ms =
        reclaim_delay_get_ms(&broker->reclaim_delays, row->id, row->provider,
                             lease->provider->reclaim_delay_ms, NULL);
    uint64_t stamp = FNV1A_START;
    stamp = add_number(stamp, (uint64_t)row->type << 8 | (uint64_t)row->state << 1 |
                                  lease_is_disconnected(lease));
    stamp = add_number(stamp, row->epoch << 2 | (uint64_t)lease->is_unnamed << 1 |
                                  row->is_drained);
    stamp = add_number(stamp, lease->behind_epoch << 1 | lease->takes_interactive);
    stamp = add_number(stamp, (uint64_t)delay_ms);
    stamp = add_number(stamp, (uint64_t)lease->rebalance_clock.due_ms);
    stamp = add_number(stamp, (uint64_t)row->registered_ms);
    stamp = add_number(stamp, (uint64_t)row->made_ms);
    stamp = add_number(stamp, (uint64_t)row->changed_ms);
    stamp = add_bytes(stamp, row->reason);
    stamp = add_bytes(stamp, lease->withheld);
    stamp = add_number(stamp, (uint64_t)lease->price);
    stamp = add_number(stamp, (uint64_t)lease->n_hours);
    stamp = add_number(stamp, (uint64_t)(lease->hours_ms / QUOTA_HOUR_MS));
    return add_resources(add_hosts(stamp, row), row);
}

static uint64_t stamp_of_site(const struct member *site)
{
    const struct msg_usage *usage = &site->usage;
    const uint64_t numbers[] = {
        (uint64_t)site->roles,
        (uint64_t)site->roles_allowed,
        (uint64_t)site->is_here,
        (uint64_t)site->is_drained,
        (uint64_t)site->has_usage,
        (uint64_t)site->since_ms,
        (uint64_t)usage->n_own,
        (uint64_t)usage->n_own_used,
        (uint64_t)usage->n_lent,
        (uint64_t)usage->n_borrowed,
        (uint64_t)usage->n_idle,
        (uint64_t)usage->n_waiting,
        (uint64_t)usage->jobs.pend,
        (uint64_t)usage->jobs.psusp,
        (uint64_t)usage->jobs.run,
        (uint64_t)usage->jobs.ususp,
        (uint64_t)usage->jobs.ssusp,
        (uint64_t)usage->jobs.unkwn,
        (uint64_t)usage->jobs.done,
        (uint64_t)usage->jobs.exit,
        usage->lost.commits,
        usage->lost.attempt,
        usage->lost.job,
        usage->n_passes,
        usage->passes_us,
    };
    uint64_t stamp = FNV1A_START;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        stamp = add_number(stamp, numbers[i]);
    }
    return stamp;
}

static void note(struct revision *revision, struct revision_stamp *of, uint64_t stamp)
{
    if (of->stamp != stamp || of->revision == 0) {
        of->stamp = stamp;
        of->revision = ++revision->revision;
    }
}

uint64_t revision_look(struct broker *broker)
{
    struct revision *revision = &broker->revision;
    for (int i = 0; i < broker->leases.count; i++) {
        struct lease *lease = broker->leases.items[i];
        note(revision, &lease->stamp, stamp_of_lease(broker, lease));
    }
    for (int i = 0; i < broker->members.count; i++) {
        struct member *site = broker->members.items[i];
        note(revision, &site->stamp, stamp_of_site(site));
    }
    /* An ended lease that was removed has left nothing to compare. */
    if (revision->n_leases > broker->leases.count) {
        revision->revision++;
    }
    revision->n_leases = broker->leases.count;
    return revision->revision;
}
