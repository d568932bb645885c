/* SPDX-License-Identifier: Apache-2.0 */
/* invariant.c: contracts, at the broker and in the ledgers of their providers, and
 * settling. */
#include "sim/invariant/invariant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/word_hash.h"
#include "consumer/consumer.h"
#include "provider/provider.h"
#include "sim/invariant/invariant_state.h"

/* The interval, in steps, at which a machine's jobs are compared with the journal. It
 * grows with the number of jobs, so that the cost stays below that of the steps. */
enum { JOBS_CHECK_EVERY = 512, STEPS_PER_JOB = 8, LEASES_PER_STEP = 32 };

struct invariants *invariants_new(void)
{
    struct invariants *invariants = mem_alloc(1, sizeof *invariants);

    invariants->usage = usage_new();
    invariants->usage_jobs = usage_jobs_new(invariants->usage);
    return invariants;
}

static void free_splits(struct seen *accounts)
{
    for (struct seen *at = accounts; at; at = at->hh.next) {
        free(((struct seen_account *)at)->splits);
    }
}

static void free_uses(struct seen *leases)
{
    for (struct seen *at = leases; at; at = at->hh.next) {
        free(((struct seen_lease *)at)->uses);
        free(((struct seen_lease *)at)->checked);
    }
}

static void free_table(struct seen *table)
{
    struct seen *seen, *next;

    HASH_ITER (hh, table, seen, next) {
        HASH_DEL(table, seen);
        free(seen);
    }
}

void invariants_free(struct invariants *invariants)
{
    if (!invariants) {
        return;
    }
    free_uses(invariants->leases);
    free_table(invariants->leases);
    free_table(invariants->sites);
    free_table(invariants->submissions);
    free_table(invariants->jobs);
    free_table(invariants->exits);
    free_table(invariants->uses);
    free_table(invariants->lease_resources);
    free_table(invariants->supplies);
    free_table(invariants->loads);
    free_splits(invariants->accounts);
    free_table(invariants->accounts);
    free_table(invariants->hours);
    free_table(invariants->uses_of_leases);
    usage_jobs_free(invariants->usage_jobs);
    usage_free(invariants->usage);
    free(invariants);
}

void invariants_set_patience(struct invariants *invariants, int64_t patience_ms)
{
    invariants->patience_ms = patience_ms;
}

void invariants_set_now(struct invariants *invariants, int64_t now_ms)
{
    invariants->now_ms = now_ms;
}

static struct seen_lease *see_lease(struct invariants *invariants, const char *id)
{
    return invariant_state_see(&invariants->leases, id, sizeof(struct seen_lease));
}

void invariants_contract_sent(struct invariants *invariants, const char *lease,
                              uint64_t epoch)
{
    struct seen_lease *seen = see_lease(invariants, lease);

    if (epoch > seen->sent) {
        seen->sent = epoch;
    }
}

void invariants_restored(struct invariants *invariants)
{
    invariants->has_restored = invariants->has_restored_broker = true;
    invariant_hours_restored(invariants);
    for (struct seen *at = invariants->leases; at; at = at->hh.next) {
        ((struct seen_lease *)at)->sent = ((struct seen_lease *)at)->held = 0;
    }
}

/* ---- the ledger of a provider */

/* The use of each host of the lease; the hosts are mostly those of the check before. */
static struct seen_use **see_uses(struct invariants *invariants, const char *site,
                                  const struct msg_state *state)
{
    struct seen_lease *seen = see_lease(invariants, state->lease);

    if (seen->n_uses < state->n_hosts) {
        seen->uses = mem_grow(seen->uses, (size_t)state->n_hosts, sizeof seen->uses[0]);
    }
    for (int i = 0; i < state->n_hosts; i++) {
        const char *host = state->hosts[i].host;

        if (i >= seen->n_uses || !invariant_host_is_use_of(seen->uses[i], site, host)) {
            seen->uses[i] =
                invariant_host_see_use(invariants, site, host, state->lease);
        }
    }
    if (seen->n_uses < state->n_hosts) {
        seen->n_uses = state->n_hosts;
    }
    return seen->uses;
}

/* 2 and 6: the split of one lease, and its use. */
static bool check_split(struct invariants *invariants, const char *site,
                        const struct msg_state *state, struct invariants_text *text)
{
    struct seen_use **uses = see_uses(invariants, site, state);

    for (int i = 0; i < state->n_hosts; i++) {
        const struct host_split *host = &state->hosts[i];
        int used = uses[i]->used, n_lost = uses[i]->n_lost;

        if (host->provider < 0 || host->consumer < 0 ||
            host->provider + host->consumer != host->n_slots) {
            return invariant_state_fail(
                text, "%s on %s: %d + %d is not the %d exported", state->lease,
                host->host, host->provider, host->consumer, host->n_slots);
        }
        if (host->provider_used > host->provider ||
            host->consumer_used > host->consumer) {
            return invariant_state_fail(text, "%s on %s: uses %d/%d and %d/%d",
                                        state->lease, host->host, host->provider_used,
                                        host->provider, host->consumer_used,
                                        host->consumer);
        }
        if (used > host->consumer && used > n_lost) {
            return invariant_state_fail(
                text, "%s on %s: %d slots run for the consumer, which holds %d",
                state->lease, host->host, used, host->consumer);
        }
    }
    return true;
}

/* The content of an epoch: its hosts and their split. */
static uint64_t digest_of(const struct host_split *hosts, int n_hosts)
{
    uint64_t digest = 0;

    for (int i = 0; i < n_hosts; i++) {
        const struct host_split *host = &hosts[i];

        digest = word_hash_text(digest, host->host);
        digest = word_hash_add(digest, (uint64_t)(unsigned)host->provider << 32 |
                                           (unsigned)host->consumer);
        digest = word_hash_add(digest, (unsigned)host->n_slots);
    }
    return digest;
}

static void format_content(const struct msg_state *state, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < state->n_hosts && n < size; i++) {
        const struct host_split *host = &state->hosts[i];

        n += (size_t)snprintf(text + n, size - n, " %s %d+%d/%d", host->host,
                              host->provider, host->consumer, host->n_slots);
    }
}

/* 3: epochs only grow, and each has one content. */
static bool check_epoch(struct invariants *invariants, const struct msg_state *state,
                        struct invariants_text *text)
{
    struct seen_lease *seen = see_lease(invariants, state->lease);
    uint64_t digest = digest_of(state->hosts, state->n_hosts);

    if (state->epoch < seen->epoch) {
        return invariant_state_fail(text,
                                    "%s: epoch went from %" PRIu64 " back to %" PRIu64,
                                    state->lease, seen->epoch, state->epoch);
    }
    if (state->epoch == seen->epoch && digest != seen->content) {
        char content[256];

        format_content(state, content, sizeof content);
        return invariant_state_fail(text,
                                    "%s: epoch %" PRIu64 " had another content than%s",
                                    state->lease, state->epoch, content);
    }
    seen->epoch = state->epoch;
    seen->content = digest;
    seen->highest = state->epoch > seen->highest ? state->epoch : seen->highest;
    return true;
}

/* Nothing that check_split and check_epoch compare has changed since they were called
 * last. Names of hosts stay where they are until the site restarts. */
static bool is_as_checked(const struct invariants *invariants,
                          const struct seen_lease *seen, const struct msg_state *state)
{
    return seen->n_use_changes == invariants->n_use_changes &&
           seen->epoch == state->epoch && seen->n_checked == state->n_hosts &&
           memcmp(seen->checked, state->hosts,
                  (size_t)state->n_hosts * sizeof state->hosts[0]) == 0;
}

static void note_checked(const struct invariants *invariants, struct seen_lease *seen,
                         const struct msg_state *state)
{
    size_t n_hosts = (size_t)state->n_hosts;

    if (seen->n_checked != state->n_hosts || !seen->checked) {
        seen->checked = mem_grow(seen->checked, n_hosts, sizeof seen->checked[0]);
    }
    memcpy(seen->checked, state->hosts, n_hosts * sizeof seen->checked[0]);
    seen->n_checked = state->n_hosts;
    seen->n_use_changes = invariants->n_use_changes;
}

/* Most steps change few of the leases of a site. */
static bool check_state(struct invariants *invariants, const char *site,
                        bool is_restarted, const struct msg_state *state,
                        struct invariants_text *text)
{
    struct seen_lease *seen = see_lease(invariants, state->lease);

    if (!is_restarted && seen->checked && is_as_checked(invariants, seen, state)) {
        return true;
    }
    if (!check_split(invariants, site, state, text) ||
        !check_epoch(invariants, state, text)) {
        return false;
    }
    note_checked(invariants, seen, state);
    return true;
}

bool invariants_check_site(struct invariants *invariants,
                           const struct invariants_site *site, bool is_restarted,
                           struct invariants_text *text)
{
    struct provider *provider = site_provider(site->site);
    struct seen_site *seen = invariant_state_site(invariants, site->config->name);
    bool is_due = --seen->steps_to_check < 0 || is_restarted;

    for (int i = 0; i < provider_count_leases(provider); i++) {
        struct msg_state state;

        if (provider_find_lease(provider, provider_lease_id(provider, i), &state) &&
            !check_state(invariants, site->config->name, is_restarted, &state, text)) {
            return false;
        }
    }
    for (int i = 0; i < consumer_count_contracts(site_consumer(site->site)); i++) {
        struct msg_contract contract;

        if (consumer_contract_at(site_consumer(site->site), i, &contract) &&
            !invariant_ledger_contract(invariants, &contract, text)) {
            return false;
        }
    }
    if ((is_restarted || seen->n_changes != provider_changes(provider)) &&
        !invariant_lease_resource_check(invariants, site, text)) {
        return false;
    }
    seen->n_changes = provider_changes(provider);
    if (!invariant_rusage_check(invariants, site, text) ||
        !invariant_load_check(invariants, site, is_restarted, text)) {
        return false;
    }
    if (!is_due) {
        return true;
    }
    seen->steps_to_check = JOBS_CHECK_EVERY + STEPS_PER_JOB * (int64_t)seen->n_jobs;
    return invariant_job_check(invariants, site, text);
}

/* ---- contracts of the broker */

static bool is_up(const struct invariants_view *view, const char *site)
{
    for (int i = 0; i < view->n_sites; i++) {
        if (!strcmp(view->sites[i].config->name, site)) {
            return view->sites[i].site;
        }
    }
    return false;
}

/* 3: at the broker, also if the provider continues with a journal from before. */
static bool check_held(struct seen_lease *seen, const struct row_lease *lease,
                       struct invariants_text *text)
{
    uint64_t digest;

    if (lease->state != LEASE_ACTIVE) {
        return true;
    }
    digest = digest_of(lease->hosts, lease->n_hosts);
    if (lease->epoch == seen->held && digest != seen->held_content) {
        return invariant_state_fail(text,
                                    "%s: the broker has two contents of epoch %" PRIu64,
                                    lease->id, lease->epoch);
    }
    seen->held = lease->epoch;
    seen->held_content = digest;
    return true;
}

/* 4 and 7, and that the broker creates no slots. The last commits of a crashed provider
 * are checked when it is up again. */
static bool check_lease(struct invariants *invariants,
                        const struct invariants_view *view, const char *id,
                        int64_t calm_ms, int64_t now_ms, struct invariants_text *text)
{
    struct seen_lease *seen = see_lease(invariants, id);
    struct row_lease lease;

    if (!broker_find_lease(view->broker, id, &lease)) {
        return true;
    }
    if (lease.state == LEASE_ENDED) {
        seen->sent = seen->held = 0; /* without its ledger the provider begins anew */
    }
    if (lease.epoch < seen->sent) {
        return invariant_state_fail(
            text, "%s: the broker sent epoch %" PRIu64 " and is at %" PRIu64, id,
            seen->sent, lease.epoch);
    }
    if (lease.epoch > seen->highest && is_up(view, lease.provider)) {
        return invariant_state_fail(
            text, "%s: the broker is at epoch %" PRIu64 ", its provider at %" PRIu64,
            id, lease.epoch, seen->highest);
    }
    if (!check_held(seen, &lease, text)) {
        return false;
    }
    int64_t since_ms = lease.changed_ms > calm_ms ? lease.changed_ms : calm_ms;
    if (lease.state == LEASE_INACTIVE && invariants->patience_ms &&
        now_ms - since_ms > invariants->patience_ms) {
        return invariant_state_fail(text, "%s is inactive for %" PRId64 " ms", id,
                                    now_ms - since_ms);
    }
    return true;
}

/* 11: the cycles since the last check. */
static bool check_pools(struct invariants *invariants, const struct broker *broker,
                        int64_t now_ms, struct invariants_text *text)
{
    bool holds = true;

    for (int i = 0; holds && i < broker_count_pools(broker); i++) {
        const char *name;
        int64_t at_ms;
        const struct pool_cycle *cycle = broker_pool_cycle(broker, i, &name, &at_ms);

        holds = !cycle || at_ms < invariants->pools_ms ||
                invariant_pool_check(name, cycle, text);
    }
    invariants->pools_ms = now_ms;
    return holds;
}

/* With many leases, each step checks only some of them, in rotation. */
bool invariants_check_broker(struct invariants *invariants,
                             const struct invariants_view *view, int64_t calm_ms,
                             int64_t now_ms, struct invariants_text *text)
{
    int n_leases = broker_count_leases(view->broker);

    for (int i = 0; i < n_leases && i < LEASES_PER_STEP; i++) {
        int next = invariants->next_lease + 1;

        invariants->next_lease = next < n_leases ? next : 0;
        if (!check_lease(invariants, view,
                         broker_lease_id(view->broker, invariants->next_lease), calm_ms,
                         now_ms, text)) {
            return false;
        }
    }
    return check_pools(invariants, view->broker, now_ms, text);
}

/* ---- settling */

/* The consumer names the same epoch as the broker. */
static bool settle_consumer(const struct site *site, const struct row_lease *lease,
                            struct invariants_text *text)
{
    const struct consumer *consumer = site_consumer(site);

    for (int j = 0; j < consumer_count_contracts(consumer); j++) {
        struct msg_contract contract;

        if (consumer_contract_at(consumer, j, &contract) &&
            !strcmp(contract.lease, lease->id) && contract.epoch != lease->epoch &&
            lease->state != LEASE_ENDED) {
            return invariant_state_fail(
                text, "%s: consumer at epoch %" PRIu64 ", broker at %" PRIu64,
                lease->id, contract.epoch, lease->epoch);
        }
    }
    return true;
}

/* The provider has the lease under the broker's epoch, unless it has ended, and knows
 * whether it is drained. Only an ended lease may be unknown to it: its journal was
 * replaced by one from before the lease. Nothing can start on such a lease, and the
 * order to drain it waits in the broker until the provider states it again. */
static bool settle_provider(struct site *site, const struct row_lease *lease,
                            struct invariants_text *text)
{
    struct msg_state state;

    if (!provider_find_lease(site_provider(site), lease->id, &state)) {
        return lease->state == LEASE_ENDED ||
               invariant_state_fail(text, "%s: its provider does not know it",
                                    lease->id);
    }
    if (state.epoch != lease->epoch && lease->state != LEASE_ENDED) {
        return invariant_state_fail(
            text, "%s: provider at epoch %" PRIu64 ", broker at %" PRIu64, lease->id,
            state.epoch, lease->epoch);
    }
    if (state.is_drained != lease->is_drained) {
        return invariant_state_fail(text, "%s: drained for the %s, but not for the %s",
                                    lease->id, state.is_drained ? "provider" : "broker",
                                    state.is_drained ? "broker" : "provider");
    }
    return true;
}

/* Broker, provider and consumer agree, and no change is open. */
static bool settle_lease(const struct invariants_view *view,
                         const struct row_lease *lease, struct invariants_text *text)
{
    if (lease->state == LEASE_INACTIVE) {
        return invariant_state_fail(text, "%s is still inactive", lease->id);
    }
    if (lease->epoch == 0 && lease->state == LEASE_ENDED) {
        return true; /* the provider has never had it */
    }
    if (lease->is_drained && lease->state != LEASE_ENDED) {
        return invariant_state_fail(text, "%s is still draining", lease->id);
    }
    for (int i = 0; i < view->n_sites; i++) {
        const struct invariants_site *site = &view->sites[i];
        if (!site->site) {
            continue;
        }
        if (!strcmp(site->config->name, lease->provider) &&
            !settle_provider(site->site, lease, text)) {
            return false;
        }
        if (!strcmp(site->config->name, lease->consumer) &&
            !settle_consumer(site->site, lease, text)) {
            return false;
        }
    }
    return true;
}

bool invariants_settled(struct invariants *invariants,
                        const struct invariants_view *view,
                        struct invariants_text *text)
{
    if (!view->broker) {
        return invariant_state_fail(text, "the broker is down");
    }
    for (int i = 0; i < broker_count_leases(view->broker); i++) {
        struct row_lease lease;

        if (broker_find_lease(view->broker, broker_lease_id(view->broker, i), &lease) &&
            (lease.state != LEASE_ENDED || lease.is_drained) &&
            !settle_lease(view, &lease, text)) {
            return false;
        }
    }
    if (invariants->n_unended > 0) {
        return invariant_state_fail(text, "job %s has not ended",
                                    invariant_job_find_unended(invariants));
    }
    return invariant_ledger_check(invariants, text);
}
