/* SPDX-License-Identifier: Apache-2.0 */
/* broker_drain.c: SET_DRAIN: an administrator drains a lease or a site, resumes it, or
 * recovers a lease whose provider has lost its ledger.
 *
 * A lease may be drained by its provider and by an administrator; a site also by
 * itself. An order for a site holds for all its leases, present and future. An order
 * for a lease is independent of that. A request for what is already so is no error, as
 * a request over TCP may arrive twice.
 *
 * Errors: ERR_NOT_FOUND, ERR_DENIED; ERR_STATE if there is nothing to drain, or if a
 * lease that is to be resumed is drained because of its site. Source: docs/adr/0004. */
#include "broker/broker_parts.h"

#include <string.h>

#include <utlist.h>

#include "broker/lease/lease.h"
#include "broker/push/push.h"

static bool is_admin(const struct peer *from)
{
    return (from->roles & ROLE_ADMIN) != 0;
}

static bool is_site(const struct peer *from, const struct member *member)
{
    return from->kind == PEER_SITE && strcmp(from->name, member->name) == 0;
}

/* ---------------------------------------------------------------- a lease */

static int check_lease(const struct peer *from, const struct msg_set_drain *set,
                       const struct lease *lease, struct err *err)
{
    int rc =
        broker_requests_check_right(from, lease, set->name, "drain or resume", err);
    if (rc < 0) {
        return rc;
    }
    if (set->is_drained) {
        return lease_is_open(lease) || lease->row.is_drained
                   ? 0
                   : err_set(err, ERR_STATE,
                             "lease %s has ended: there is nothing to drain",
                             lease->row.id);
    }
    const struct member *drained = lease->provider->is_drained   ? lease->provider
                                   : lease->consumer->is_drained ? lease->consumer
                                                                 : NULL;
    if (drained != NULL && !lease->row.is_drain_ordered) {
        return err_set(err, ERR_STATE,
                       "lease %s is drained with its site; use `sublet lease resume "
                       "--site %s`",
                       lease->row.id, drained->name);
    }
    return 0;
}

/* The sender knows that no job of the lost ledger runs any more. */
static int check_recovery(const struct peer *from, const struct msg_set_drain *set,
                          const struct lease *lease, struct err *err)
{
    int rc = broker_requests_check_right(from, lease, set->name, "recover", err);
    return rc < 0 || lease->behind_epoch != 0
               ? rc
               : err_set(err, ERR_STATE,
                         "lease %s: the provider's journal is not behind, so there is "
                         "nothing to recover",
                         lease->row.id);
}

static const char *recover_lease(struct lease *lease, const struct event *event,
                                 struct effects *effects)
{
    push_drain_recover(lease, event->now_ms, effects);
    return arena_printf(&effects->arena,
                        "Lease <%s> is recovered: from epoch %llu to above %llu.",
                        lease->row.id, (unsigned long long)lease->behind_epoch,
                        (unsigned long long)push_drain_above(lease));
}

static const char *describe_lease(const struct lease *lease, bool was_ordered,
                                  struct arena *arena)
{
    const char *id = lease->row.id;
    if (!lease->row.is_drain_ordered) {
        return arena_printf(
            arena,
            was_ordered ? "Lease <%s> is resumed." : "Lease <%s> is not drained.", id);
    }
    if (!lease_is_open(lease)) {
        return arena_printf(arena, "Lease <%s> is drained.", id);
    }
    struct lease_split split = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    return arena_printf(arena, "Lease <%s> is draining: slots in use: %d.", id,
                        split.consumer.used);
}

static const char *set_lease(struct lease *lease, const struct event *event,
                             struct effects *effects)
{
    bool was_ordered = lease->row.is_drain_ordered;
    lease->row.is_drain_ordered = event->msg->set_drain.is_drained;
    if (was_ordered != lease->row.is_drain_ordered) {
        const char *reason =
            arena_printf(&effects->arena, "drained by %s", event->from.name);
        if (was_ordered) {
            lease_record_order(
                lease, HISTORY_LEASE_RESUME,
                arena_printf(&effects->arena, "resumed by %s", event->from.name),
                event->now_ms, effects);
        }
        if (!push_drain_refresh(lease, reason, event->now_ms, effects)) {
            lease_store(lease, effects); /* its site is drained too */
        }
    }
    return describe_lease(lease, was_ordered, &effects->arena);
}

/* ---------------------------------------------------------------- a site */

static int check_site(const struct peer *from, const struct msg_set_drain *set,
                      const struct member *site, struct err *err)
{
    if (site == NULL) {
        return err_set(err, ERR_NOT_FOUND,
                       "site \"%s\": no such site; see `sublet sites`", set->name);
    }
    if (!is_admin(from) && !is_site(from, site)) {
        return err_set(
            err, ERR_DENIED,
            "\"%s\" may not drain or resume site %s; ask an administrator of "
            "the federation, or of that site",
            from->name, site->name);
    }
    if (set->is_drained && !site->is_known) {
        return err_set(err, ERR_STATE,
                       "site %s has never connected: there is nothing to drain",
                       site->name);
    }
    return 0;
}

static void note_drained(struct broker *broker, struct lease *lease, int64_t now_ms,
                         int *n_leases, int *n_used)
{
    *n_leases += lease_is_open(lease);
    *n_used += lease_split_sum(lease->row.hosts, lease->row.n_hosts).consumer.used;
    timer_heap_set(&broker->leases.timers, &lease->timer, now_ms);
}

static const char *set_site(struct broker *broker, struct member *site,
                            const struct event *event, struct effects *effects)
{
    bool is_drained = event->msg->set_drain.is_drained;
    bool has_changed = site->is_drained != is_drained;
    int n_leases = 0, n_used = 0;
    struct lease *lease;
    site->is_drained = is_drained;
    if (has_changed) {
        member_store(site, effects);
        member_record(site->name, is_drained ? HISTORY_SITE_DRAIN : HISTORY_SITE_RESUME,
                      arena_printf(&effects->arena, "%s by %s",
                                   is_drained ? "drained" : "resumed",
                                   event->from.name),
                      event->now_ms, effects);
    }
    DL_FOREACH2(site->lent, lease, next_lent)
    {
        note_drained(broker, lease, event->now_ms, &n_leases, &n_used);
    }
    DL_FOREACH2(site->borrowed, lease, next_borrowed)
    {
        note_drained(broker, lease, event->now_ms, &n_leases, &n_used);
    }
    if (!is_drained) {
        return arena_printf(&effects->arena,
                            has_changed ? "Site <%s> is resumed."
                                        : "Site <%s> is not drained.",
                            site->name);
    }
    return arena_printf(&effects->arena,
                        "Site <%s> is draining: leases: %d, slots in use: %d.",
                        site->name, n_leases, n_used);
}

/* ---------------------------------------------------------------- the order */

void broker_drain_set(struct broker *broker, struct member *member,
                      const struct event *event, struct effects *effects)
{
    (void)member;
    const struct msg_set_drain *set = &event->msg->set_drain;
    struct lease *lease = NULL;
    struct member *site = NULL;
    struct err err;
    int rc;
    if (set->scope == DRAIN_LEASE) {
        lease = lease_table_find(&broker->leases, set->name);
        rc = set->is_recovery ? check_recovery(&event->from, set, lease, &err)
                              : check_lease(&event->from, set, lease, &err);
    } else {
        site = members_find(&broker->members, set->name);
        rc = check_site(&event->from, set, site, &err);
    }
    if (rc < 0) {
        outbox_reply_error(effects, event, set->request, rc, "%s", err.text);
        return;
    }
    const char *text = lease == NULL      ? set_site(broker, site, event, effects)
                       : set->is_recovery ? recover_lease(lease, event, effects)
                                          : set_lease(lease, event, effects);
    if (lease != NULL) {
        timer_heap_set(&broker->leases.timers, &lease->timer, event->now_ms);
    }
    effects_log(effects, LOG_LEVEL_NOTICE, "%s: %s", event->from.name, text);
    outbox_reply(effects, event, set->request, text, NULL, "");
}
