/* SPDX-License-Identifier: Apache-2.0 */
/* broker_requests.c: requests of clients and sites: listings, the reclaim delay, a copy
 * of the store, a reload.
 *
 * Every client with a key may list. Administrators may set any reclaim delay; a
 * provider may set its own and those of its leases. A refusal says what was refused,
 * why, and what to do, and changes nothing.
 *
 * Source: docs/design/interfaces.md "JSON"; docs/design/leases.md "Decided"
 * `MC_RECLAIM_DELAY`. */
#include "broker/broker_parts.h"

#include <string.h>

#include "base/conf/conf.h"

/* ---------------------------------------------------------------- listings */

/* Checks that the object named by the query exists; false, and answered, if not. */
static bool has_named(const struct broker *broker, const struct event *event,
                      struct effects *effects)
{
    const struct msg_query *query = &event->msg->query;
    const char *what, *name = query->name;
    bool is_known;
    if (name[0] == '\0' && query->kind != QUERY_PLAN) {
        return true;
    }
    if (query->kind == QUERY_POOLS || query->kind == QUERY_PLAN) {
        what = "pool";
        is_known = pool_table_find(&broker->pools, name) != NULL;
    } else if (query->kind == QUERY_LEASES ||
               (query->kind == QUERY_RECLAIM && strchr(name, '/') != NULL)) {
        what = "lease";
        is_known = lease_table_find(&broker->leases, name) != NULL;
    } else {
        what = "site";
        is_known = members_find(&broker->members, name) != NULL;
    }
    if (!is_known) {
        outbox_reply_error(effects, event, query->request, ERR_NOT_FOUND,
                           "%s \"%s\": no such %s; see `sublet %ss`", what, name, what,
                           what);
    }
    return is_known;
}

/* A lease that is named is shown even if it has ended. */
static void reply_view(const struct broker *broker, const struct event *event,
                       struct effects *effects)
{
    struct msg_query query = event->msg->query;
    query.with_ended |= query.kind == QUERY_LEASES && query.name[0] != '\0';
    const char *next;
    struct value *value =
        broker_view(broker, &effects->arena, &query, event->now_ms, &next);
    outbox_reply(effects, event, query.request, "", value, next);
}

/* The sender, for an answer after this step. */
static struct peer copy_sender(const struct event *event, struct effects *effects)
{
    struct peer to = event->from;
    to.name = arena_str(&effects->arena, to.name);
    return to;
}

/* History is on disk only: the shell reads it and answers. */
static void ask_history(const struct event *event, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct msg_query *query = &event->msg->query;
    struct effect *effect = effects_add(effects, EFFECT_HISTORY);
    effect->history.to = copy_sender(event, effects);
    effect->history.session = event->msg->session;
    effect->history.query = *query;
    effect->history.query.name = arena_str(arena, query->name);
    effect->history.query.user = effect->history.query.queue = "";
    effect->history.query.host = "";
    effect->history.query.provider = effect->history.query.consumer = "";
    effect->history.query.after = arena_str(arena, query->after);
}

void broker_requests_query(struct broker *broker, struct member *member,
                           const struct event *event, struct effects *effects)
{
    (void)member;
    const struct msg_query *query = &event->msg->query;
    switch (query->kind) {
    case QUERY_LEASES:
    case QUERY_SITES:
    case QUERY_RECLAIM:
    case QUERY_POOLS:
    case QUERY_PLAN:
        if (has_named(broker, event, effects)) {
            reply_view(broker, event, effects);
        }
        break;
    case QUERY_HOSTS:
    case QUERY_VERSION:
        reply_view(broker, event, effects);
        break;
    case QUERY_LEASE_HISTORY:
    case QUERY_EVENTS:
    case QUERY_BROKERS:
    case QUERY_LEDGER:
        ask_history(event, effects);
        break;
    case QUERY_JOBS:
    case QUERY_QUEUES:
    case QUERY_EXPORTS:
    case QUERY_LOAD:
    case QUERY_HIST:
    case QUERY_USERS:
    case QUERY_LIMITS:
    case QUERY_RUNS:
    case QUERY_GROUPS:
    case QUERY_APPS:
    case QUERY_PARAMS:
    case QUERY_USAGE:
    case QUERY_OVERVIEW:
    case QUERY_JOB_GROUPS:
    case QUERY_KINDS:
    default:
        outbox_reply_error(effects, event, query->request, ERR_NOT_FOUND,
                           "the broker knows leases, their hosts and sites only; ask a "
                           "site, with --socket");
    }
}

/* ---------------------------------------------------------------- rights */

int broker_requests_check_right(const struct peer *from, const struct lease *lease,
                                const char *name, const char *what, struct err *err)
{
    if (lease == NULL) {
        return err_set(err, ERR_NOT_FOUND,
                       "lease \"%s\": no such lease; see `sublet leases`", name);
    }
    bool is_provider =
        from->kind == PEER_SITE && strcmp(from->name, lease->provider->name) == 0;
    return is_provider || (from->roles & ROLE_ADMIN) != 0
               ? 0
               : err_set(err, ERR_DENIED,
                         "\"%s\" may not %s lease %s; ask its provider, or an "
                         "administrator of the federation",
                         from->name, what, lease->row.id);
}

/* ---------------------------------------------------------------- snapshots */

/* False, and answered, if the sender is no administrator. */
static bool check_admin(const struct event *event, uint64_t request, const char *what,
                        struct effects *effects)
{
    bool is_admin = (event->from.roles & ROLE_ADMIN) != 0;
    if (!is_admin) {
        outbox_reply_error(effects, event, request, ERR_DENIED,
                           "\"%s\" may not %s; ask an administrator of the federation",
                           event->from.name, what);
    }
    return is_admin;
}

/* The copy is of the whole store, with all that members have stated. */
void broker_requests_snapshot(struct broker *broker, struct member *member,
                              const struct event *event, struct effects *effects)
{
    (void)broker, (void)member;
    const struct msg_snapshot *ask = &event->msg->snapshot;
    if (check_admin(event, ask->request, "copy the broker's store", effects)) {
        struct effect *effect = effects_add(effects, EFFECT_SNAPSHOT);
        effect->snapshot.to = copy_sender(event, effects);
        effect->snapshot.session = event->msg->session;
        effect->snapshot.ask = *ask;
    }
}

static void ask_shell(const struct event *event, enum effect_kind kind,
                      const char *what, struct effects *effects)
{
    uint64_t request = event->msg->reconfig.request;
    if (check_admin(event, request, what, effects)) {
        struct effect *effect = effects_add(effects, kind);
        effect->reload.to = copy_sender(event, effects);
        effect->reload.session = event->msg->session;
        effect->reload.request = request;
    }
}

void broker_requests_reconfig(struct broker *broker, struct member *member,
                              const struct event *event, struct effects *effects)
{
    (void)broker, (void)member;
    ask_shell(event, EFFECT_RELOAD, "reload the broker's configuration", effects);
}

void broker_requests_step_down(struct broker *broker, struct member *member,
                               const struct event *event, struct effects *effects)
{
    (void)broker, (void)member;
    ask_shell(event, EFFECT_STEP_DOWN, "make the broker a standby", effects);
}

/* ---------------------------------------------------------------- the reclaim delay */

static bool is_provider_of(const struct peer *peer, const struct lease *lease)
{
    return strcmp(peer->name, lease->row.provider) == 0;
}

static bool is_allowed(const struct peer *from, const struct msg_set_reclaim *set,
                       const struct lease *lease)
{
    if ((from->roles & ROLE_ADMIN) != 0) {
        return true;
    }
    if (from->kind != PEER_SITE || (from->roles & ROLE_PROVIDER) == 0) {
        return false;
    }
    return set->scope == RECLAIM_PROVIDER
               ? strcmp(set->name, from->name) == 0
               : set->scope == RECLAIM_LEASE && lease != NULL &&
                     is_provider_of(from, lease);
}

static bool has_target(const struct broker *broker, const struct msg_set_reclaim *set,
                       const struct lease *lease)
{
    if (set->scope == RECLAIM_PROVIDER) {
        const struct member *member = members_find(&broker->members, set->name);
        return member != NULL && (member->roles_allowed & ROLE_PROVIDER) != 0;
    }
    return set->scope == RECLAIM_ALL || lease != NULL;
}

static int check_set_reclaim(const struct broker *broker, const struct peer *from,
                             const struct msg_set_reclaim *set, struct err *err)
{
    const struct lease *lease = set->scope == RECLAIM_LEASE
                                    ? lease_table_find(&broker->leases, set->name)
                                    : NULL;
    const char *what = set->scope == RECLAIM_LEASE ? "lease" : "provider";
    if (set->delay_ms != -1) {
        int rc = reclaim_delay_check(set->delay_ms, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (!is_allowed(from, set, lease)) {
        return err_set(err, ERR_DENIED,
                       "\"%s\" may not set this reclaim delay; ask an administrator of "
                       "the federation, or the provider for its own leases",
                       from->name);
    }
    /* An override of a lease that does not exist any more can still be removed. */
    bool is_known = has_target(broker, set, lease) ||
                    (set->delay_ms == -1 &&
                     reclaim_delay_find_override(&broker->reclaim_delays, set->scope,
                                                 set->name) >= 0);
    return is_known ? 0
                    : err_set(err, ERR_NOT_FOUND, "%s \"%s\": no such %s", what,
                              set->name, what);
}

static const char *name_in(const struct msg_set_reclaim *set)
{
    return set->scope == RECLAIM_ALL ? "" : set->name;
}

static void store_override(const struct msg_set_reclaim *set, struct effects *effects)
{
    struct row row = {.kind = ROW_OVERRIDE};
    row.override.scope = set->scope;
    row.override.name = name_in(set);
    row.override.delay_ms = set->delay_ms;
    effects_store(effects, &row);
}

static const char *describe(const struct msg_set_reclaim *set, struct arena *arena)
{
    char text[32];
    if (set->delay_ms == -1) {
        return "The override is removed.";
    }
    conf_format_duration(set->delay_ms, text, sizeof(text));
    return arena_printf(arena, "The reclaim delay is set to %s.", text);
}

static void record_delay(const struct broker *broker, const struct event *event,
                         struct effects *effects)
{
    const struct msg_set_reclaim *set = &event->msg->set_reclaim;
    const struct lease *lease = set->scope == RECLAIM_LEASE
                                    ? lease_table_find(&broker->leases, set->name)
                                    : NULL;
    bool is_gone = set->scope == RECLAIM_LEASE && lease == NULL;
    const char *reason = arena_printf(&effects->arena, "%s%s%s By %s.",
                                      is_gone ? set->name : "", is_gone ? ": " : "",
                                      describe(set, &effects->arena), event->from.name);
    if (lease != NULL) {
        lease_record_order(lease, HISTORY_RECLAIM_DELAY, reason, event->now_ms,
                           effects);
    } else {
        member_record(set->scope == RECLAIM_PROVIDER ? set->name : "",
                      HISTORY_RECLAIM_DELAY, reason, event->now_ms, effects);
    }
}

bool broker_requests_set_reclaim(struct broker *broker, const struct event *event,
                                 struct effects *effects)
{
    const struct msg_set_reclaim *set = &event->msg->set_reclaim;
    struct err err;
    if (check_set_reclaim(broker, &event->from, set, &err) < 0) {
        outbox_reply_error(effects, event, set->request, err.code, "%s", err.text);
        return false;
    }
    reclaim_delay_set(&broker->reclaim_delays, set->scope, name_in(set), set->delay_ms);
    store_override(set, effects);
    record_delay(broker, event, effects);
    effects_log(effects, LOG_LEVEL_NOTICE, "%s: reclaim delay of %s: %lld ms",
                event->from.name, set->scope == RECLAIM_ALL ? "all" : set->name,
                (long long)set->delay_ms);
    outbox_reply(effects, event, set->request, describe(set, &effects->arena), NULL,
                 "");
    return true;
}
