/* SPDX-License-Identifier: Apache-2.0 */
/* state_apply.c: applies a provider's STATE to the broker's record [Contract 5].
 *
 * Only the provider creates epochs, so a STATE with a higher epoch is the contract from
 * now on:
 *
 *     unknown lease  is registered under the epoch of the STATE; the id must name the
 *                    sender as provider, and a member with that role as consumer
 *     higher epoch   is applied as a whole
 *     equal epoch    counts, hosts down and flags are applied. A different split is
 *                    refused, since an epoch has one content: the provider was restored
 *                    from a backup and has come to that number again
 *     lower epoch    is refused: a late copy, or a provider that was restored from a
 *                    backup and needs its administrator
 *     other journal  is refused, whatever its epoch: its epoch was made by an earlier
 *                    commit than ours, or the commit that made ours is said to be lost
 *     epoch 0        the provider no longer knows the lease, which ends
 *
 * A lease that has ended is registered again when its provider states it again, above
 * the last epoch. Otherwise the provider has lost the end of the lease, and is behind.
 *
 * Source: docs/design/safety.md. */
#include "broker/broker_parts.h"

#include <stdio.h>
#include <string.h>

#include "broker/lease/lease.h"
#include "broker/pool/pool_table.h"
#include "broker/push/push.h"
#include "model/dup.h"
#include "model/record.h"

/* A contract has all that a STATE has of hosts and resources, and somewhat more. */
enum { CONTRACT_BYTES_MAX = FRAME_MAX - 8192 };

/* Upper bound of its hosts and resources on the wire, but for the numbers of a host,
 * which both messages have. */
static size_t size_of(const struct msg_state *state)
{
    enum { HOST_BYTES = 10, RESOURCE_BYTES = 40 };
    size_t n_bytes = 0;
    for (int i = 0; i < state->n_hosts; i++) {
        n_bytes += HOST_BYTES + strlen(state->hosts[i].host);
    }
    for (int i = 0; i < state->n_resources; i++) {
        n_bytes += RESOURCE_BYTES + strlen(state->resources[i].name) +
                   strlen(state->resources[i].hosts);
    }
    return n_bytes;
}

/* Checks what needs no knowledge of the lease. */
static int check_state(const struct msg_state *state, const struct member *provider,
                       struct lease_id *id, struct err *err)
{
    if (!lease_parse_id(state->lease, id)) {
        return err_set(err, ERR_BOUNDS,
                       "\"%s\" is not a lease id, expected PROVIDER/POLICY/CONSUMER",
                       state->lease);
    }
    if (strcmp(id->provider, provider->name) != 0) {
        return err_set(err, ERR_DENIED, "lease \"%s\" is not of provider \"%s\"",
                       state->lease, provider->name);
    }
    if (state->epoch > INT64_MAX || state->freeze > INT64_MAX ||
        state->commits > INT64_MAX) {
        return err_set(err, ERR_BOUNDS, "lease \"%s\": epoch, freeze or commit number",
                       state->lease);
    }
    if (size_of(state) > CONTRACT_BYTES_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "lease \"%s\": its hosts and resources do not fit a contract, "
                       "expected fewer, or shorter names",
                       state->lease);
    }
    int rc = lease_split_check(state->hosts, state->n_hosts, err);
    return rc < 0 ? err_set(err, rc, "lease \"%s\": %s", state->lease, err->text) : 0;
}

/* `otherwise` if the provider gave no reason. */
static const char *reason_of(const struct msg_state *state, const char *otherwise)
{
    bool is_given = state->reason != NULL && state->reason[0] != '\0';
    return is_given ? state->reason : otherwise;
}

static void set_hours_level(struct lease *lease, enum quota_level level,
                            struct effects *effects)
{
    struct row row = {.kind = ROW_HOURS};
    if (lease->hours_level == level) {
        return;
    }
    lease->hours_level = level;
    row.hours = (struct row_hours){.pool = "",
                                   .name = arena_str(&effects->arena, lease->row.id),
                                   .level = (int)level,
                                   .is_gone = level == QUOTA_FREE};
    effects_store(effects, &row);
}

static void end(struct lease *lease, const char *reason, int64_t now_ms,
                struct effects *effects)
{
    lease_move(lease, LEASE_END, reason, now_ms, effects);
    handover_end(lease);
    set_hours_level(lease, QUOTA_FREE, effects);
    lease_notify_consumer(lease, now_ms);
}

/* ---------------------------------------------------------------- a new contract */

static struct lease *refuse(const struct event *event, struct effects *effects,
                            const struct err *err)
{
    outbox_refuse(effects, event, err->code, "%s", err->text);
    return NULL;
}

static struct lease *add_lease(struct broker *broker, const struct lease_id *id,
                               struct member *provider, struct err *err)
{
    bool is_own = id->part == LEASE_IDLE ||
                  (id->part == LEASE_LEAF && strcmp(id->consumer, provider->name) == 0);
    struct member *consumer =
        is_own ? provider : members_find(&broker->members, id->consumer);
    if (!is_own &&
        (consumer == NULL || (consumer->roles_allowed & ROLE_CONSUMER) == 0)) {
        provider->is_refused = true;
        err_set(err, ERR_DENIED,
                "\"%s\" is not a member with the role consumer, expected one in "
                "section Member",
                id->consumer);
        return NULL;
    }
    if (!is_own && consumer == provider) {
        err_set(err, ERR_DENIED, "\"%s\" cannot lend to itself", id->consumer);
        return NULL;
    }
    if (!lease_table_make_room(&broker->leases, provider)) {
        err_set(err, ERR_FULL,
                "too many leases are open, expected at most %d, and %d of one provider",
                LEASES_MAX, LEASES_PER_PROVIDER_MAX);
        return NULL;
    }
    struct lease *lease = lease_new(id, provider, consumer);
    lease_table_add(&broker->leases, lease);
    return lease;
}

/* Contracts of pools are bounded by their plans. */
static int check_pair(const struct broker *broker, const struct lease_id *id,
                      struct member *provider, struct err *err)
{
    const struct member *consumer =
        id->part == LEASE_WHOLE ? members_find(&broker->members, id->consumer) : NULL;
    if (consumer == NULL) {
        return 0;
    }
    int max = members_max_leases(provider, consumer);
    int count = lease_table_count_pair(provider, consumer);
    if (count < max) {
        return 0;
    }
    provider->is_refused = true;
    return err_set(err, ERR_FULL,
                   "\"%s\" has %d leases with \"%s\", expected at most %d: end one, or "
                   "have the broker's administrator raise MAX_LEASES in their rows of "
                   "section Member",
                   provider->name, count, consumer->name, max);
}

/* If the provider's journal is replaced by one that does not have the epoch, WELCOME
 * tells it so. */
static void note_commits(struct lease *lease, const struct msg_state *state)
{
    lease->row.commits = state->commits;
    lease_raise_mark(lease);
}

static bool has_slots(const struct host_split *hosts, int n_hosts)
{
    int i = 0;
    while (i < n_hosts && hosts[i].n_slots == 0) {
        i++;
    }
    return i < n_hosts;
}

static void register_lease(struct broker *broker, struct lease *lease,
                           const struct msg_state *state, int64_t now_ms,
                           struct effects *effects)
{
    struct row_lease *row = &lease->row;
    row->type = state->type;
    /* One that the broker had ended goes on under its epoch, and holds its slots again.
     */
    bool goes_on =
        row->epoch == state->epoch && has_slots(state->hosts, state->n_hosts);
    row->split_ms = goes_on ? now_ms : state->split_ms;
    row->epoch = state->epoch;
    note_commits(lease, state);
    row->is_made = row->is_withdrawn = false;
    row->registered_ms = now_ms;
    row->made_ms = row->judged_ms = 0;
    lease->is_forgotten = false;
    lease->n_behind = 0;
    lease->behind_epoch = 0;
    lease->is_recovering = false;
    lease->rebalance_clock = rebalance_clock_unset();
    rebalance_clock_set_delay(
        lease,
        reclaim_delay_get_ms(&broker->reclaim_delays, row->id, row->provider,
                             lease->provider->reclaim_delay_ms, NULL),
        now_ms);
    lease_set_hosts(lease, state->hosts, state->n_hosts);
    pool_table_update_lease(&broker->pools, lease);
    lease_set_resources(lease, state->resources, state->n_resources);
    char reason[REASON_SIZE];
    snprintf(reason, sizeof(reason), "policy %s of %s exports to %s", row->policy,
             row->provider, lease->part == LEASE_LEAF ? lease->node : row->consumer);
    lease_move(lease, LEASE_REGISTER, reason, now_ms, effects);
    lease_notify_consumer(lease, now_ms);
}

/* ---------------------------------------------------------------- split and flags */

static void apply_epoch(struct lease *lease, const struct msg_state *state,
                        int64_t now_ms, struct effects *effects)
{
    const char *reason =
        handover_reason(lease, state, reason_of(state, "changed by its provider"));
    bool was_inactive = lease->row.state == LEASE_INACTIVE;
    lease->row.epoch = state->epoch;
    lease->row.split_ms = state->split_ms;
    note_commits(lease, state);
    lease_set_hosts(lease, state->hosts, state->n_hosts);
    lease_set_resources(lease, state->resources, state->n_resources);
    lease_move(lease, LEASE_EPOCH, reason, now_ms, effects);
    if (was_inactive) {
        lease->grant.n_young = lease->grant.n_slots;
        lease->rebalance_clock.moved_ms = now_ms;
        handover_end(lease);
    }
    lease_notify_consumer(lease, now_ms);
}

static void apply_counts(struct lease *lease, const struct msg_state *state,
                         int64_t now_ms, struct effects *effects)
{
    if (lease->row.commits == 0 && state->commits != 0) {
        note_commits(lease, state); /* it was applied by a broker of before */
        lease_store(lease, effects);
    }
    bool is_same_down =
        lease_split_is_same_down(lease->row.hosts, state->hosts, lease->row.n_hosts);
    lease_set_hosts(lease, state->hosts, state->n_hosts);
    if (!is_same_down) {
        lease_notify_consumer(lease, now_ms);
    }
}

/* True if the provider's journal does not have the commit that made our epoch. */
static bool has_lost_ours(const struct lease *lease, const struct msg_state *state)
{
    uint64_t ours = lease->row.commits;
    bool is_known = ours != 0 && state->commits != 0;
    bool is_other = state->epoch == lease->row.epoch ? state->commits != ours
                                                     : state->commits < ours;
    return (is_known && is_other) ||
           (state->lost_from < ours && ours <= state->lost_to);
}

/* The order to continue above both epochs is carried out: its ledger has ours behind
 * it. */
static bool is_recovered(const struct lease *lease, const struct msg_state *state)
{
    return lease->is_recovering && state->drain >= lease->row.drain &&
           state->epoch > lease->row.epoch && state->epoch > lease->behind_epoch &&
           state->lost_to == 0;
}

/* True if the STATE has another content than ours under the same epoch, or its epoch
 * does not come after ours. */
static bool is_of_another_ledger(const struct lease *lease,
                                 const struct msg_state *state)
{
    const struct row_lease *row = &lease->row;
    if (has_lost_ours(lease, state)) {
        return !is_recovered(lease, state);
    }
    return state->epoch == row->epoch &&
           (!lease_split_is_same(row->hosts, row->n_hosts, state->hosts,
                                 state->n_hosts) ||
            !record_is_same_list(&schema_lease_resource, row->resources,
                                 row->n_resources, state->resources,
                                 state->n_resources));
}

static void apply_split(struct lease *lease, const struct msg_state *state,
                        int64_t now_ms, struct effects *effects)
{
    if (state->epoch == lease->row.epoch) {
        apply_counts(lease, state, now_ms, effects);
    } else {
        apply_epoch(lease, state, now_ms, effects);
    }
}

static void apply_made(struct lease *lease, const struct msg_state *state,
                       int64_t now_ms, struct effects *effects)
{
    if (!state->is_made || lease->row.is_made || !lease_may_move(lease, LEASE_MADE)) {
        return;
    }
    lease->row.is_made = true;
    rebalance_clock_start(lease, now_ms);
    lease_move(lease, LEASE_MADE,
               state->type == LEASE_POOL
                   ? "its plan grants it slots"
                   : "the consumer's first job was scheduled onto it",
               now_ms, effects);
    lease_notify_consumer(lease, now_ms);
}

static void apply_withdrawn(struct lease *lease, const struct msg_state *state,
                            int64_t now_ms, struct effects *effects)
{
    lease->row.is_withdrawn |= state->is_withdrawn;
    if (!state->is_withdrawn || !lease_may_move(lease, LEASE_WITHDRAW)) {
        return;
    }
    lease_move(lease, LEASE_WITHDRAW, reason_of(state, "the export was withdrawn"),
               now_ms, effects);
    handover_end(lease);
    lease_notify_consumer(lease, now_ms);
}

/* Only under a higher epoch, as a copy from before the withdrawal may come late. If the
 * provider never withdrew, because the order to drain was taken back before it arrived,
 * the number in STATE says that the provider knows that. */
static bool is_restored(const struct lease *lease, const struct msg_state *state,
                        bool is_higher)
{
    const struct row_lease *row = &lease->row;
    return !state->is_withdrawn && !row->is_drained && state->drain >= row->drain &&
           (is_higher || !row->is_withdrawn);
}

static void apply_restored(struct lease *lease, const struct msg_state *state,
                           bool is_higher, int64_t now_ms, struct effects *effects)
{
    enum lease_move move = lease->row.is_made ? LEASE_RESTORE : LEASE_REOPEN;
    if (!is_restored(lease, state, is_higher) || !lease_may_move(lease, move)) {
        return;
    }
    lease->row.is_withdrawn = false;
    lease_move(lease, move, "exported again", now_ms, effects);
    lease_notify_consumer(lease, now_ms);
}

/* HOURS: an event where another level begins than the one on record, also while the
 * broker was away. */
static void apply_level(const struct broker *broker, struct lease *lease,
                        const struct msg_state *state, int64_t now_ms,
                        struct effects *effects)
{
    const struct quota quota = {.n_hours = state->n_hours,
                                .hour_ms = broker->hour_ms,
                                .month_ms = state->hours_since_ms != 0
                                                ? state->hours_month_ms
                                                : quota_month_ms(now_ms),
                                .used_ms = state->hours_ms};
    enum quota_level level = quota_level(&quota);
    if (level == lease->hours_level) {
        return;
    }
    if (state->n_hours > 0) {
        char text[QUOTA_TEXT_SIZE];
        quota_format(&quota, text);
        lease_record_order(lease, HISTORY_HOURS,
                           arena_printf(&effects->arena, "%s are used", text), now_ms,
                           effects);
    }
    set_hours_level(lease, level, effects);
}

static void apply_hours(const struct broker *broker, struct lease *lease,
                        const struct msg_state *state, int64_t now_ms,
                        struct effects *effects)
{
    lease->n_hours = state->n_hours;
    lease->hours_ms = state->hours_ms;
    if (lease->part == LEASE_WHOLE) {
        apply_level(broker, lease, state, now_ms, effects);
    } else if (lease->part == LEASE_LEAF) {
        struct pool_entry *pool =
            pool_table_find_of(&broker->pools, &broker->leases, lease);
        push_price_on_state(lease, now_ms);
        if (pool != NULL) {
            pool_hours_learn(pool, lease, state, now_ms);
        }
    }
}

static void apply_details(struct broker *broker, struct lease *lease,
                          const struct msg_state *state, int64_t now_ms,
                          struct effects *effects)
{
    lease->reclaim_policy = state->reclaim_policy;
    lease->min_hold_ms = state->min_hold_ms;
    lease->lease_term_ms = state->lease_term_ms;
    lease->ends_lost = state->ends_lost;
    if (lease->takes_interactive != state->takes_interactive) {
        lease->takes_interactive = state->takes_interactive;
        lease_notify_consumer(lease, now_ms);
    }
    const char *withheld = state->withheld != NULL ? state->withheld : "";
    if (strcmp(lease->withheld, withheld) != 0) {
        dup_set_text(&lease->withheld, withheld);
        lease_notify_consumer(lease, now_ms);
    }
    if (lease->price != state->price) {
        lease->price = state->price;
        lease_notify_consumer(lease, now_ms);
    }
    apply_hours(broker, lease, state, now_ms, effects);
    lease->last_attempt = state->last_attempt;
    lease->provider_waiting = state->provider_waiting;
    handover_see(lease, state->freeze);
    poll_state_end(lease);
    if (lease->row.type != state->type) {
        lease->row.type = state->type;
        lease->rebalance_clock = rebalance_clock_unset();
        rebalance_clock_set_delay(
            lease,
            reclaim_delay_get_ms(&broker->reclaim_delays, lease->row.id,
                                 lease->row.provider, lease->provider->reclaim_delay_ms,
                                 NULL),
            now_ms);
    }
}

/* Once the lease is frozen its counts are exact, and decide what is proposed. */
static void continue_handover(struct lease *lease, const struct msg_state *state,
                              int64_t now_ms, struct effects *effects)
{
    if (handover_on_state(lease, state, now_ms, effects)) {
        struct rebalance_plan plan;
        lease->grant.n_tries++;
        rebalance_clock_plan(lease, now_ms, &effects->arena, &plan);
        handover_propose(lease, &plan, now_ms);
    }
}

static void apply(struct broker *broker, struct lease *lease,
                  const struct msg_state *state, int64_t now_ms,
                  struct effects *effects)
{
    bool is_higher = state->epoch > lease->row.epoch;
    apply_details(broker, lease, state, now_ms, effects);
    push_drain_on_state(lease, state, now_ms, effects);
    apply_split(lease, state, now_ms, effects);
    push_evict_on_state(lease);
    apply_restored(lease, state, is_higher, now_ms, effects);
    apply_made(lease, state, now_ms, effects);
    push_recall_on_state(lease, state, now_ms, effects);
    apply_withdrawn(lease, state, now_ms, effects);
    if (state->is_ended) {
        end(lease, reason_of(state, "withdrawn, and all its slots have been returned"),
            now_ms, effects);
    } else if (lease->row.state == LEASE_INACTIVE) {
        continue_handover(lease, state, now_ms, effects);
    } else if (state->is_frozen && lease->row.state == LEASE_ACTIVE) {
        handover_lift(lease, state->freeze, effects);
    }
}

/* Only an epoch after ours can replace the contract. The first other STATE may be a
 * late copy, so the provider is asked; if it repeats it, it is refused. */
static void refuse_behind(struct lease *lease, const struct event *event,
                          struct effects *effects)
{
    unsigned long long theirs = event->msg->state.epoch, ours = lease->row.epoch;
    lease->n_behind += lease->n_behind < 3; /* 3: the refusal was sent */
    if (lease->n_behind == 1) {
        poll_state_begin(lease, event->now_ms);
        return;
    }
    lease->behind_epoch = theirs;
    if (lease->n_behind == 2) {
        const char *what = theirs < ours    ? "is behind"
                           : theirs == ours ? "has another split than our"
                                            : "does not follow our";
        outbox_refuse(effects, event, ERR_STATE,
                      "lease \"%s\": epoch %llu %s %llu; was the provider's "
                      "journal lost, or restored from a backup? Nothing starts on it "
                      "until an administrator says `sublet lease recover %s`",
                      lease->row.id, theirs, what, ours, lease->row.id);
        effects_log(effects, LOG_LEVEL_WARNING,
                    theirs < ours
                        ? "lease %s: the provider is at epoch %llu, behind %llu"
                    : theirs == ours
                        ? "lease %s: the provider has another split under epoch "
                          "%llu than the contract of epoch %llu"
                        : "lease %s: the provider has come to epoch %llu by a journal "
                          "that has lost the contract of epoch %llu",
                    lease->row.id, theirs, ours);
    }
}

/* A STATE of a lease that has ended at its provider: the last epoch, and its orders.
 * Both are stored, so that reports about its last jobs are relayed and the lease can be
 * resumed, also by a broker that was restored from a time before the lease. */
static void apply_ended(struct lease *lease, const struct msg_state *state,
                        int64_t now_ms, struct effects *effects)
{
    bool is_higher = state->epoch > lease->row.epoch;
    poll_state_end(lease);
    lease->n_behind = 0;
    lease->behind_epoch = 0;
    if (is_higher) {
        lease->row.type = state->type;
        lease->row.epoch = state->epoch;
        lease->row.split_ms = state->split_ms;
        note_commits(lease, state);
        lease->row.changed_ms = now_ms;
        lease_store(lease, effects);
    }
    push_drain_on_state(lease, state, now_ms, effects);
}

/* After a lease has ended by its provider's word, the provider continues above the last
 * epoch, unless it has lost its ledger. A STATE that is not above is a copy from
 * before, or the provider is behind. A lease that ended because its provider was not
 * allowed to be one for a while continues under the same epoch, in a later session. */
static bool is_late(const struct lease *lease, const struct msg_state *state)
{
    if (lease == NULL || lease->is_forgotten) {
        return false;
    }
    bool is_same = state->epoch == lease->row.epoch &&
                   lease->ended_session != lease->provider->session;
    return state->epoch <= lease->row.epoch && !is_same;
}

static bool has_lost_ended(const struct lease *lease, const struct msg_state *state)
{
    return !lease->is_forgotten && has_lost_ours(lease, state) &&
           !is_recovered(lease, state);
}

/* The lease is not known, or has ended. If it is known to have ended, a STATE that says
 * withdrawn is a late copy. */
static struct lease *apply_new(struct broker *broker, struct lease *lease,
                               const struct lease_id *id, struct member *provider,
                               const struct event *event, struct effects *effects)
{
    const struct msg_state *state = &event->msg->state;
    bool was_ended = lease != NULL;
    bool is_first = lease == NULL ||
                    lease->row.epoch == 0; /* a leaf's contract that was just opened */
    if (was_ended && state->epoch > 0 && !state->is_ended &&
        (is_late(lease, state) || has_lost_ended(lease, state))) {
        refuse_behind(lease, event, effects);
        return lease;
    }
    if (state->epoch == 0 || is_late(lease, state)) {
        if (was_ended) {
            apply_ended(lease, state, event->now_ms, effects);
        }
        return lease;
    }
    if (was_ended && state->is_withdrawn) {
        apply_ended(lease, state, event->now_ms, effects);
        return lease;
    }
    struct err err;
    if (!state->is_ended && check_pair(broker, id, provider, &err) < 0) {
        return refuse(event, effects, &err);
    }
    if (!was_ended) {
        lease = add_lease(broker, id, provider, &err);
        if (lease == NULL) {
            return refuse(event, effects, &err);
        }
    }
    if (state->is_ended) {
        apply_ended(lease, state, event->now_ms, effects);
        lease_notify_consumer(lease,
                              event->now_ms); /* its consumer may know it from before */
        return lease;
    }
    register_lease(broker, lease, state, event->now_ms, effects);
    apply(broker, lease, state, event->now_ms, effects);
    if (!is_first) {
        poll_state_begin(lease, event->now_ms); /* in case it was a late copy */
    }
    return lease;
}

/* May remove ended leases, also the one that the STATE is about. */
static int make_host_room(struct broker *broker, const struct member *provider,
                          const struct msg_state *state, struct err *err)
{
    const struct lease *lease = lease_table_find(&broker->leases, state->lease);
    int n_more = state->n_hosts - (lease != NULL ? lease->row.n_hosts : 0);
    if (n_more > 0 && !lease_table_make_host_room(&broker->leases, provider, n_more)) {
        return err_set(err, ERR_FULL,
                       "lease \"%s\": all leases of \"%s\" have more than %d hosts",
                       state->lease, provider->name, LEASE_HOSTS_PER_PROVIDER_MAX);
    }
    return 0;
}

/* Its provider has not ended it, so that its slots are held until now. */
static void end_slots(struct lease *lease, int64_t now_ms)
{
    bool holds_slots = has_slots(lease->row.hosts, lease->row.n_hosts);
    lease->row.split_ms = holds_slots ? now_ms : lease->row.split_ms;
}

/* The provider has lost all it knew of the lease. An order to drain it stays. */
static void forget(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    lease->is_forgotten = true;
    lease->behind_epoch = 0;
    resend_end(&lease->push_drain);
    end_slots(lease, now_ms);
    end(lease, "its provider no longer knows it", now_ms, effects);
}

void state_apply_check_members(struct lease *lease, int64_t now_ms,
                               struct effects *effects)
{
    const struct member *provider = lease->provider;
    if (!lease_is_open(lease) || (provider->roles_allowed & ROLE_PROVIDER) != 0) {
        return;
    }
    const char *reason =
        arena_printf(&effects->arena, "%s is no longer a provider", provider->name);
    poll_state_end(lease);
    end_slots(lease, now_ms);
    end(lease, reason, now_ms, effects);
}

struct lease *state_apply(struct broker *broker, struct member *provider,
                          const struct event *event, struct effects *effects)
{
    const struct msg_state *state = &event->msg->state;
    struct lease_id id;
    struct err err;
    if (check_state(state, provider, &id, &err) < 0 ||
        make_host_room(broker, provider, state, &err) < 0) {
        return refuse(event, effects, &err);
    }
    struct lease *lease = lease_table_find(&broker->leases, state->lease);
    if (lease == NULL || !lease_is_open(lease)) {
        return apply_new(broker, lease, &id, provider, event, effects);
    }
    if (state->epoch == 0) {
        poll_state_end(lease);
        forget(lease, event->now_ms, effects);
    } else if (state->epoch < lease->row.epoch || is_of_another_ledger(lease, state)) {
        refuse_behind(lease, event, effects);
    } else {
        lease->n_behind = 0;
        lease->behind_epoch = 0;
        lease->is_recovering = false;
        apply(broker, lease, state, event->now_ms, effects);
    }
    return lease;
}
