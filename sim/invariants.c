/* SPDX-License-Identifier: Apache-2.0 */
/* invariants.c: each guarantee is one function that looks at the machines and at what
 * was remembered of them; the first that does not hold says so. */
#include "sim/invariants.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "consumer/consumer.h"
#include "provider/provider.h"

enum { CONTENT_SIZE = 512 };

struct seen_lease {
    char id[LEASE_ID_SIZE];
    uint64_t epoch; /* the provider's latest */
    char content[CONTENT_SIZE];
    uint64_t told; /* the highest that the broker told a consumer */
    UT_hash_handle hh;
};

struct seen_job {
    char key[NAME_SIZE + 24]; /* site, id */
    bool is_rerunnable;
    int begun;
    bool is_ended;
    enum job_state end_state;
    bool is_here; /* seen in the pass that is going on */
    UT_hash_handle hh;
};

struct invariants {
    struct seen_lease *leases;
    struct seen_job *jobs;
};

struct verdict {
    bool is_ok;
    char *text;
    int size;
};

__attribute__((format(printf, 2, 3))) static void fail(struct verdict *verdict,
                                                       const char *format, ...)
{
    va_list args;

    if (!verdict->is_ok) {
        return;
    }
    verdict->is_ok = false;
    va_start(args, format);
    vsnprintf(verdict->text, (size_t)verdict->size, format, args);
    va_end(args);
}

struct invariants *invariants_new(void)
{
    return mem_alloc(1, sizeof(struct invariants));
}

void invariants_free(struct invariants *invariants)
{
    struct seen_lease *lease, *next_lease;
    struct seen_job *job, *next_job;

    if (!invariants) {
        return;
    }
    HASH_ITER (hh, invariants->leases, lease, next_lease) {
        HASH_DEL(invariants->leases, lease);
        free(lease);
    }
    HASH_ITER (hh, invariants->jobs, job, next_job) {
        HASH_DEL(invariants->jobs, job);
        free(job);
    }
    free(invariants);
}

static struct seen_lease *see_lease(struct invariants *invariants, const char *id)
{
    struct seen_lease *seen;

    HASH_FIND_STR(invariants->leases, id, seen);
    if (!seen) {
        seen = mem_alloc(1, sizeof *seen);
        snprintf(seen->id, sizeof seen->id, "%s", id);
        HASH_ADD_STR(invariants->leases, id, seen);
    }
    return seen;
}

static struct seen_job *find_job(const struct invariants *invariants, const char *site,
                                 uint64_t id)
{
    char key[NAME_SIZE + 24];
    struct seen_job *seen;

    snprintf(key, sizeof key, "%s %" PRIu64, site, id);
    HASH_FIND_STR(invariants->jobs, key, seen);
    return seen;
}

void invariants_acknowledged(struct invariants *invariants, const char *site,
                             uint64_t job, bool is_rerunnable)
{
    struct seen_job *seen = mem_alloc(1, sizeof *seen);

    snprintf(seen->key, sizeof seen->key, "%s %" PRIu64, site, job);
    seen->is_rerunnable = is_rerunnable;
    HASH_ADD_STR(invariants->jobs, key, seen);
}

void invariants_begun(struct invariants *invariants, const char *site, const char *job)
{
    struct seen_job *seen = find_job(invariants, site, strtoull(job, NULL, 10));

    if (seen) {
        seen->begun++;
    }
}

void invariants_told(struct invariants *invariants, const char *lease, uint64_t epoch)
{
    struct seen_lease *seen = see_lease(invariants, lease);

    if (epoch > seen->told) {
        seen->told = epoch;
    }
}

void invariants_restored(struct invariants *invariants)
{
    struct seen_lease *seen, *next;

    HASH_ITER (hh, invariants->leases, seen, next)
        seen->told = 0;
}

/* 1: what truly runs on each host. */
static void check_hosts(const struct invariants_site *site, struct verdict *verdict)
{
    for (int i = 0; i < site->config->n_hosts; i++) {
        const struct site_host *host = &site->config->hosts[i];
        int used = 0;

        for (int j = 0; j < site->n_executors; j++) {
            used += executor_used(site->executors[j], host->name, NULL);
        }
        if (used > host->max) {
            fail(verdict, "%d slots are in use on %s of %s, which has %d", used,
                 host->name, site->config->name, host->max);
        }
    }
}

static void format_content(const struct msg_state *state, char *content)
{
    int n = 0;

    content[0] = '\0';
    for (int i = 0; i < state->n_hosts && n < CONTENT_SIZE - 1; i++) {
        n += snprintf(content + n, (size_t)(CONTENT_SIZE - n), "%s %d+%d/%d;",
                      state->hosts[i].host, state->hosts[i].provider,
                      state->hosts[i].consumer, state->hosts[i].n_slots);
    }
}

/* 2 and 6: the split of one book, and who uses what of it. */
static void check_split(const struct invariants_site *site,
                        const struct msg_state *state, struct verdict *verdict)
{
    for (int i = 0; i < state->n_hosts; i++) {
        const struct host_split *host = &state->hosts[i];
        int used = 0;

        if (host->provider < 0 || host->consumer < 0 ||
            host->provider + host->consumer != host->n_slots) {
            fail(verdict, "%s on %s: %d + %d is not the %d exported", state->lease,
                 host->host, host->provider, host->consumer, host->n_slots);
        }
        if (host->provider_used > host->provider ||
            host->consumer_used > host->consumer) {
            fail(verdict, "%s on %s: uses %d/%d and %d/%d", state->lease, host->host,
                 host->provider_used, host->provider, host->consumer_used,
                 host->consumer);
        }
        for (int j = 0; j < site->n_executors; j++) {
            used += executor_used(site->executors[j], host->host, state->lease);
        }
        if (used > host->consumer) {
            fail(verdict, "%s on %s: %d slots run for the consumer, who holds %d",
                 state->lease, host->host, used, host->consumer);
        }
    }
}

/* 3: epochs only grow, and each has one content. */
static void check_epoch(struct invariants *invariants, const struct msg_state *state,
                        struct verdict *verdict)
{
    struct seen_lease *seen = see_lease(invariants, state->lease);
    char content[CONTENT_SIZE];

    format_content(state, content);
    if (state->epoch < seen->epoch) {
        fail(verdict, "%s: epoch went from %" PRIu64 " back to %" PRIu64, state->lease,
             seen->epoch, state->epoch);
    }
    if (state->epoch == seen->epoch && strcmp(content, seen->content)) {
        fail(verdict, "%s: epoch %" PRIu64 " has two contents, %s and %s", state->lease,
             state->epoch, seen->content, content);
    }
    seen->epoch = state->epoch;
    memcpy(seen->content, content, sizeof content);
}

static void check_books(struct invariants *invariants,
                        const struct invariants_site *site, struct verdict *verdict)
{
    const struct provider *provider = site_provider(site->site);

    for (int i = 0; i < provider_count_books(provider); i++) {
        struct msg_state state;

        if (!provider_find_book(provider, provider_book_id(provider, i), &state)) {
            continue;
        }
        check_split(site, &state, verdict);
        check_epoch(invariants, &state, verdict);
    }
}

static bool is_up(const struct invariants_view *view, const char *site)
{
    for (int i = 0; i < view->n_sites; i++) {
        if (!strcmp(view->sites[i].config->name, site)) {
            return view->sites[i].site;
        }
    }
    return false;
}

/* 4, and that the broker mints nothing (what a provider committed just before it
 * crashed is seen when it is back). */
static void check_broker(struct invariants *invariants,
                         const struct invariants_view *view, struct verdict *verdict)
{
    const struct broker *broker = view->broker;

    for (int i = 0; i < broker_count_leases(broker); i++) {
        const char *id = broker_lease_id(broker, i);
        struct seen_lease *seen = see_lease(invariants, id);
        struct row_lease lease;

        if (!broker_find_lease(broker, id, &lease)) {
            continue;
        }
        if (lease.epoch < seen->told) {
            fail(verdict, "%s: the broker told epoch %" PRIu64 " and is at %" PRIu64,
                 id, seen->told, lease.epoch);
        }
        if (lease.epoch > seen->epoch && is_up(view, lease.provider)) {
            fail(verdict,
                 "%s: the broker is at epoch %" PRIu64 ", its provider at %" PRIu64, id,
                 lease.epoch, seen->epoch);
        }
    }
}

static bool is_end(enum job_state state)
{
    return state == JOB_DONE || state == JOB_EXIT;
}

/* 5 */
static void check_jobs(struct invariants *invariants,
                       const struct invariants_site *site, struct verdict *verdict)
{
    struct seen_job *seen, *next;
    size_t length = strlen(site->config->name);

    HASH_ITER (hh, invariants->jobs, seen, next)
        seen->is_here = false;
    for (int i = 0; i < site_count_jobs(site->site); i++) {
        struct site_job job;

        site_job_at(site->site, i, &job);
        seen = find_job(invariants, site->config->name, job.id);
        if (!seen) {
            continue;
        }
        seen->is_here = true;
        if (seen->is_ended && job.state != seen->end_state) {
            fail(verdict, "job %s ended and is now in state %d", seen->key,
                 (int)job.state);
        }
        if (is_end(job.state)) {
            seen->is_ended = true;
            seen->end_state = job.state;
        }
    }
    HASH_ITER (hh, invariants->jobs, seen, next) {
        if (strncmp(seen->key, site->config->name, length) ||
            seen->key[length] != ' ') {
            continue;
        }
        if (!seen->is_here && !seen->is_ended) {
            fail(verdict, "job %s was acknowledged and is gone", seen->key);
        }
        if (seen->begun > 1 && !seen->is_rerunnable) {
            fail(verdict, "job %s began %d times", seen->key, seen->begun);
        }
    }
}

bool invariants_check(struct invariants *invariants, const struct invariants_view *view,
                      char *text, int size)
{
    struct verdict verdict = {.is_ok = true, .text = text, .size = size};

    for (int i = 0; i < view->n_sites; i++) {
        check_hosts(&view->sites[i], &verdict);
        if (!view->sites[i].site) {
            continue;
        }
        check_books(invariants, &view->sites[i], &verdict);
        check_jobs(invariants, &view->sites[i], &verdict);
    }
    if (view->broker) {
        check_broker(invariants, view, &verdict);
    }
    return verdict.is_ok;
}

/* Broker, provider and consumer name the same epoch, and no change is open. */
static void settle_lease(const struct invariants_view *view,
                         const struct row_lease *lease, struct verdict *verdict)
{
    if (lease->state == LEASE_INACTIVE) {
        fail(verdict, "%s is still inactive", lease->id);
    }
    for (int i = 0; i < view->n_sites; i++) {
        const struct invariants_site *site = &view->sites[i];
        const struct consumer *consumer;
        struct msg_state state;

        if (!site->site) {
            continue;
        }
        if (!strcmp(site->config->name, lease->provider) &&
            (!provider_find_book(site_provider(site->site), lease->id, &state) ||
             state.epoch != lease->epoch)) {
            fail(verdict, "%s: provider and broker disagree", lease->id);
        }
        if (strcmp(site->config->name, lease->consumer)) {
            continue;
        }
        consumer = site_consumer(site->site);
        for (int j = 0; j < consumer_count_contracts(consumer); j++) {
            struct msg_contract contract;

            if (consumer_contract_at(consumer, j, &contract) &&
                !strcmp(contract.lease, lease->id) && contract.epoch != lease->epoch) {
                fail(verdict, "%s: consumer at epoch %" PRIu64 ", broker at %" PRIu64,
                     lease->id, contract.epoch, lease->epoch);
            }
        }
    }
}

bool invariants_settled(const struct invariants *invariants,
                        const struct invariants_view *view, char *text, int size)
{
    struct verdict verdict = {.is_ok = true, .text = text, .size = size};
    struct seen_job *seen, *next;

    if (!view->broker) {
        fail(&verdict, "the broker is down");
    }
    for (int i = 0; verdict.is_ok && i < broker_count_leases(view->broker); i++) {
        struct row_lease lease;

        if (broker_find_lease(view->broker, broker_lease_id(view->broker, i), &lease) &&
            lease.state != LEASE_ENDED) {
            settle_lease(view, &lease, &verdict);
        }
    }
    HASH_ITER (hh, invariants->jobs, seen, next) {
        if (!seen->is_ended) {
            fail(&verdict, "job %s has not ended", seen->key);
        }
    }
    return verdict.is_ok;
}
