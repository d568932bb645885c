/* SPDX-License-Identifier: Apache-2.0 */
/* provider_run.c: decides about START, and follows the attempts that were admitted.
 *
 * An attempt that was admitted before gets the same answer. An attempt that is not
 * above the highest decided one is refused, and changes nothing, and so is one whose
 * number was admitted with another nonce: the consumer's journal is older than this
 * ledger, and the answer tells it the highest attempt. Any other is checked,
 * and either way the new highest number is stored with the answer. */
#include "provider/provider_parts.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ checks */

static const char *check_lease(const struct ledger_lease *lease,
                               const struct msg_start *start, struct arena *arena)
{
    if (lease == NULL) {
        return arena_printf(arena, "lease %s is unknown here", start->lease);
    }
    if (strcmp(lease->consumer, start->run.site) != 0) {
        return arena_printf(arena, "lease %s is not %s's", start->lease,
                            start->run.site);
    }
    if (lease->is_withdrawn) {
        return arena_printf(arena, "lease %s is withdrawn", start->lease);
    }
    if (lease->is_withheld) {
        return arena_printf(arena, "lease %s lends no slots", start->lease);
    }
    if (start->epoch != lease->epoch) {
        return arena_printf(arena, "stale epoch: the contract is at %llu, not %llu",
                            (unsigned long long)lease->epoch,
                            (unsigned long long)start->epoch);
    }
    return lease->is_frozen
               ? arena_printf(arena, "lease %s is frozen, its split is being changed",
                              start->lease)
               : NULL;
}

static bool is_named_before(const struct msg_start *start, int place)
{
    for (int i = 0; i < place; i++) {
        if (strcmp(start->hosts[i].host, start->hosts[place].host) == 0) {
            return true;
        }
    }
    return false;
}

/* Slots of all jobs that run there; `with_suspended`: also of suspended jobs that have
 * yielded their slots. */
static int count_used(const struct ledger_host *host, bool with_suspended)
{
    int n_used = host->local_used + (with_suspended ? host->local_yielded : 0);
    for (int i = 0; i < host->n_links; i++) {
        const struct lease_share *entry =
            &host->links[i].lease->hosts[host->links[i].index];
        n_used +=
            entry->consumer_running + (with_suspended ? entry->consumer_yielded : 0);
    }
    return n_used;
}

static const char *check_host(const struct provider *provider,
                              const struct ledger_lease *lease,
                              const struct msg_start *start, int place,
                              struct arena *arena)
{
    const struct host_slots *asked = &start->hosts[place];
    const struct ledger_host *host = ledger_find_host(&provider->ledger, asked->host);
    const struct lease_share *entry =
        host != NULL ? ledger_find_entry(lease, host) : NULL;
    if (entry == NULL) {
        return arena_printf(arena, "unknown host: %s is not of lease %s", asked->host,
                            start->lease);
    }
    if (asked->n_slots <= 0 || is_named_before(start, place)) {
        return arena_printf(arena, "the number of slots on host %s is not valid",
                            asked->host);
    }
    if (host->is_down) {
        return arena_printf(arena, "host %s is down or closed", asked->host);
    }
    if (host->is_awaited) {
        return arena_printf(arena, "host %s has not connected yet", asked->host);
    }
    if (host->is_used_exclusively) {
        return arena_printf(arena, "an exclusive job runs on host %s", asked->host);
    }
    if (start->spec.is_exclusive && count_used(host, true) > 0) {
        return arena_printf(
            arena, "other jobs run on host %s, and the job is exclusive", asked->host);
    }
    if (asked->n_slots > entry->consumer - entry->consumer_running) {
        return arena_printf(arena, "no free slot on host %s", asked->host);
    }
    /* The host has shrunk, and jobs from before have not ended yet. */
    if (asked->n_slots > host->max - count_used(host, false)) {
        return arena_printf(arena, "host %s has %d slots, and earlier jobs use them",
                            asked->host, host->max);
    }
    return NULL;
}

/* The user must have an account here; the site looks up which when it starts the job.
 */
static const char *check_user(const struct provider *provider,
                              const struct msg_start *start, struct arena *arena)
{
    const char *user = start->spec.user != NULL ? start->spec.user : "";
    if (provider->users == NULL ||
        user_map_account(provider->users, user, start->run.site, "") != NULL) {
        return NULL;
    }
    return arena_printf(arena, "user %s of %s has no account at %s (UserMap)", user,
                        start->run.site, provider->site);
}

/* The reason to refuse it, or NULL. */
static const char *check(const struct provider *provider,
                         const struct ledger_lease *lease,
                         const struct msg_start *start, struct arena *arena)
{
    const char *reason = check_lease(lease, start, arena);
    if (reason == NULL) {
        reason = check_user(provider, start, arena);
    }
    if (reason == NULL && start->spec.interaction != INTERACTION_NONE &&
        !lease->terms.takes_interactive) {
        reason = arena_printf(arena,
                              "lease %s does not accept interactive jobs (INTERACTIVE)",
                              start->lease);
    }
    if (reason == NULL && start->n_hosts <= 0) {
        reason = "no host is requested";
    }
    for (int i = 0; reason == NULL && i < start->n_hosts; i++) {
        reason = check_host(provider, lease, start, i, arena);
    }
    return reason;
}

/* ------------------------------------------------------------ START */

static void store_mark(struct provider *provider, const char *consumer,
                       const struct journal_mark *known, struct effects *effects)
{
    struct journal_mark mark =
        admitted_set_highest(&provider->admitted, consumer, known);
    struct row row = {
        .kind = ROW_HIGH,
        .high = {.consumer = consumer,
                 .attempt = mark.attempt,
                 .job = mark.job,
                 .commits = mark.commits},
    };
    effects_store(effects, &row);
}

static void decide(struct provider *provider, const struct msg_start *start,
                   struct effects *effects)
{
    const struct journal_mark mark = {.commits = start->commits,
                                      .attempt = start->run.attempt,
                                      .job = strtoull(start->job, NULL, 10)};
    store_mark(provider, start->run.site, &mark, effects);
}

static void admit(struct provider *provider, struct ledger_lease *lease,
                  const struct msg_start *start, int64_t now_ms,
                  struct effects *effects)
{
    admitted_add(&provider->admitted, &provider->ledger, &start->run, lease,
                 start->hosts, start->n_hosts, false);
    for (int i = 0; start->spec.is_exclusive && i < start->n_hosts; i++) {
        provider_set_used_exclusively(provider, start->hosts[i].host, true);
    }
    /* In the batch of the run: after a crash it counts from here on. */
    provider_quota_count(provider, lease, now_ms, effects);
    if (!lease->is_made) {
        lease->is_made = true;
        ledger_store(lease, effects);
        provider_send_state(provider, lease, now_ms, effects);
    }
}

enum provider_verdict provider_run_start(struct provider *provider,
                                         const struct msg_start *start, int64_t now_ms,
                                         struct effects *effects, const char **reason)
{
    const char *own_reason = *reason;
    *reason = "";
    const struct admitted_run *known = admitted_find(&provider->admitted, &start->run);
    if (known != NULL && known->nonce == start->run.nonce) {
        return PROVIDER_KNOWN;
    }
    if (start->run.attempt <=
        admitted_highest(&provider->admitted, start->run.site).attempt) {
        *reason = "attempt was decided before";
        return PROVIDER_REFUSED;
    }
    provider_refresh(provider, now_ms, effects);
    struct ledger_lease *lease = ledger_find(&provider->ledger, start->lease);
    const char *against = check(provider, lease, start, &effects->arena);
    against = against != NULL ? against : own_reason;
    decide(provider, start, effects);
    if (against != NULL) {
        *reason = against;
        if (lease != NULL) {
            lease->is_dirty = true; /* so that the consumer gets the contract again */
        }
        return PROVIDER_REFUSED;
    }
    admit(provider, lease, start, now_ms, effects);
    return PROVIDER_ADMITTED;
}

void provider_run_withdraw(struct provider *provider, const struct run_id *run,
                           struct effects *effects)
{
    if (run->attempt > admitted_highest(&provider->admitted, run->site).attempt) {
        decide(provider, &(struct msg_start){.run = *run, .job = ""}, effects);
    }
}

enum attempt_state provider_run_unknown_state(const struct provider *provider,
                                              const struct run_id *run)
{
    return run->attempt <= admitted_highest(&provider->admitted, run->site).attempt
               ? ATTEMPT_LOST
               : ATTEMPT_ABSENT;
}

struct journal_mark provider_run_mark(const struct provider *provider,
                                      const char *consumer)
{
    return admitted_highest(&provider->admitted, consumer);
}

/* Whether its hosts have room beside what runs there. They may have shrunk while it was
 * suspended; a job that is alone on its host resumes in any case. */
static bool fits_hosts(const struct admitted_run *admitted)
{
    for (int i = 0; i < admitted->n_hosts; i++) {
        const struct ledger_host *host = admitted->hosts[i].host;
        int n_used = count_used(host, false);
        if (n_used > 0 && n_used + admitted->hosts[i].n_slots > host->max) {
            return false;
        }
    }
    return true;
}

bool provider_run_may_resume(const struct provider *provider, const struct run_id *run)
{
    const struct admitted_run *admitted = admitted_find(&provider->admitted, run);
    return admitted == NULL ||
           (admitted_fits(admitted) && (!admitted->is_yielded || fits_hosts(admitted)));
}

void provider_run_set_yielded(struct provider *provider, const struct run_id *run,
                              bool is_yielded, int64_t now_ms, struct effects *effects)
{
    struct admitted_run *admitted = admitted_find(&provider->admitted, run);
    if (admitted != NULL) {
        admitted_set_yielded(admitted, is_yielded);
        provider_quota_count(provider, admitted->lease, now_ms, effects);
    }
}

void provider_run_ended(struct provider *provider, const struct run_id *run)
{
    struct admitted_run *admitted = admitted_find(&provider->admitted, run);
    if (admitted != NULL) {
        admitted_end(admitted);
    }
}

void provider_run_acknowledged(struct provider *provider, const struct msg_attempt *ack,
                               struct effects *effects)
{
    const struct journal_mark mark = {.commits = ack->commits};
    admitted_remove(&provider->admitted, &ack->run);
    if (ack->commits > admitted_highest(&provider->admitted, ack->run.site).commits) {
        store_mark(provider, ack->run.site, &mark, effects);
    }
}

void provider_run_forgotten(struct provider *provider, const struct run_id *run)
{
    admitted_remove(&provider->admitted, run);
}
