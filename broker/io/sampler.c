/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c: see sampler.h. */
#include "broker/io/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/lease/lease.h"
#include "broker/view/broker_view.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    /* Rows are written so often, for a few milliseconds each time; a round of 10,000
     * leases takes 50 s. */
    TURN_MS = 1000,
    ROWS_PER_TURN = 200,
};

enum phase { PHASE_NONE, PHASE_SITES, PHASE_LEASES, PHASE_POOLS };

struct sampler {
    zloop_t *loop;
    const struct broker *broker;
    struct store *store;
    int64_t interval_ms;
    int timer_id;
    enum phase phase;
    int64_t at_ms; /* the round's, or the last one's */
    char after[LEASE_ID_SIZE];
    int n_pools; /* samples of pools that are written */
    int64_t sum[STORE_SERIES_SITE_NUMBERS];
    int n_sites;
};

/* ---------------------------------------------------------------- rows */

/* Slots that jobs of consumers use on the hosts of a site. Its leases are consecutive:
 * their ids begin with its name. */
static int64_t count_lent_used(const struct sampler *sampler, const char *site)
{
    char prefix[LEASE_ID_SIZE];
    struct row_lease lease;
    int64_t used = 0;
    snprintf(prefix, sizeof(prefix), "%s/", site);
    for (int i = broker_find_lease_after(sampler->broker, prefix);
         i < broker_count_leases(sampler->broker); i++) {
        const char *id = broker_lease_id(sampler->broker, i);
        if (strncmp(id, prefix, strlen(prefix)) != 0) {
            break;
        }
        if (broker_find_lease(sampler->broker, id, &lease)) {
            used += lease_split_sum(lease.hosts, lease.n_hosts).consumer.used;
        }
    }
    return used;
}

static int put_site(struct sampler *sampler, const struct value *row, struct err *err)
{
    enum { LENT = 2, LENT_USED = STORE_SERIES_SITE_NUMBERS - 1 };
    static const char *const paths[LENT_USED] = {"slots.own",  "slots.used",
                                                 "slots.lent", "slots.borrowed",
                                                 "slots.idle", "pending"};
    int64_t numbers[STORE_SERIES_SITE_NUMBERS];
    bool is_here = strcmp(value_find(row, "status")->text, "ok") == 0;
    sampler->n_sites++;
    if (!is_here || value_find(row, paths[0])->kind != VALUE_INT) {
        return 0;
    }
    const char *site = value_find(row, "site")->text;
    for (int i = 0; i < LENT_USED; i++) {
        numbers[i] = value_find(row, paths[i])->number;
    }
    /* The site's own report, and those of the leases, may be of two instants. */
    int64_t used = count_lent_used(sampler, site);
    numbers[LENT_USED] = used < numbers[LENT] ? used : numbers[LENT];
    for (int i = 0; i < STORE_SERIES_SITE_NUMBERS; i++) {
        sampler->sum[i] += numbers[i];
    }
    return store_series_put(sampler->store, STORE_SERIES_SITE, site, sampler->at_ms,
                            numbers, err);
}

static int put_sites(struct sampler *sampler, struct err *err)
{
    struct arena arena;
    struct msg_query query = {.kind = QUERY_SITES,
                              .name = "",
                              .after = sampler->after,
                              .limit = ROWS_PER_TURN};
    const char *next;
    int rc = 0;
    arena_init(&arena);
    struct value *page =
        broker_view(sampler->broker, &arena, &query, sampler->at_ms, &next);
    for (const struct value *row = value_find(page, "sites")->first;
         row != NULL && rc == 0; row = row->next) {
        rc = put_site(sampler, row, err);
    }
    snprintf(sampler->after, sizeof(sampler->after), "%s", next);
    if (rc == 0 && next[0] == '\0') {
        rc = store_series_put(sampler->store, STORE_SERIES_ALL, "", sampler->at_ms,
                              sampler->sum, err);
        sampler->phase = PHASE_LEASES;
        sampler->after[0] = '\0';
    }
    arena_release(&arena);
    return rc;
}

static int put_lease(struct sampler *sampler, const struct row_lease *lease,
                     struct err *err)
{
    struct lease_split split = lease_split_sum(lease->hosts, lease->n_hosts);
    const int64_t numbers[STORE_SERIES_LEASE_NUMBERS] = {
        split.provider.available, split.provider.used, split.consumer.available,
        split.consumer.used};
    return store_series_put(sampler->store, STORE_SERIES_LEASE, lease->id,
                            sampler->at_ms, numbers, err);
}

static int put_leases(struct sampler *sampler, struct err *err)
{
    const struct broker *broker = sampler->broker;
    int first = broker_find_lease_after(broker, sampler->after), rc = 0, i;
    for (i = first; i < broker_count_leases(broker) && i - first < ROWS_PER_TURN; i++) {
        struct row_lease lease;
        const char *id = broker_lease_id(broker, i);
        if (broker_find_lease(broker, id, &lease) && lease.state != LEASE_ENDED) {
            rc = put_lease(sampler, &lease, err);
        }
        if (rc < 0) {
            return rc;
        }
        snprintf(sampler->after, sizeof(sampler->after), "%s", id);
    }
    if (i == broker_count_leases(broker)) {
        sampler->phase = PHASE_POOLS;
        sampler->n_pools = 0;
    }
    return rc;
}

static int put_pool(struct sampler *sampler, const struct pool_sample *sample,
                    struct err *err)
{
    char name[LEASE_ID_SIZE];
    if (sample->node == NULL) {
        const int64_t numbers[STORE_SERIES_POOL_NUMBERS] = {
            sample->slots, sample->idle, sample->alloc, sample->recalled,
            sample->demand};
        return store_series_put(sampler->store, STORE_SERIES_POOL, sample->pool,
                                sampler->at_ms, numbers, err);
    }
    const int64_t numbers[STORE_SERIES_NODE_NUMBERS] = {
        sample->quota, sample->alloc, sample->recalled, sample->demand};
    snprintf(name, sizeof(name), "%s%s", sample->pool, sample->node);
    return store_series_put(sampler->store, STORE_SERIES_NODE, name, sampler->at_ms,
                            numbers, err);
}

/* A plan that changes in the middle of a round may cost it some nodes. */
static int put_pools(struct sampler *sampler, struct err *err)
{
    int n_all = pool_sample_count(sampler->broker), rc = 0;
    for (int i = 0; i < ROWS_PER_TURN && sampler->n_pools < n_all && rc == 0; i++) {
        struct pool_sample sample = pool_sample_at(sampler->broker, sampler->n_pools++);
        rc = put_pool(sampler, &sample, err);
    }
    if (rc == 0 && sampler->n_pools >= n_all) {
        sampler->phase = PHASE_NONE;
        rc = store_series_forget(sampler->store, sampler->at_ms, err);
    }
    return rc;
}

/* ---------------------------------------------------------------- rounds */

static int64_t spacing_ms(const struct sampler *sampler)
{
    int64_t n_series = broker_count_leases(sampler->broker) + sampler->n_sites +
                       pool_sample_count(sampler->broker) + 1;
    int64_t least = n_series * STORE_SERIES_FINE_MS / STORE_SERIES_ROWS_MAX;
    return least > sampler->interval_ms ? least : sampler->interval_ms;
}

static bool begin_round(struct sampler *sampler)
{
    int64_t now_ms = daemon_now_ms(), spacing = spacing_ms(sampler);
    int64_t at_ms = now_ms - now_ms % spacing;
    if (at_ms <= sampler->at_ms) {
        return false;
    }
    sampler->at_ms = at_ms;
    sampler->phase = PHASE_SITES;
    sampler->after[0] = '\0';
    sampler->n_sites = 0;
    memset(sampler->sum, 0, sizeof(sampler->sum));
    return true;
}

static int write_rows(struct sampler *sampler, struct err *err)
{
    int rc = store_begin(sampler->store, err);
    if (rc == 0 && sampler->phase == PHASE_SITES) {
        rc = put_sites(sampler, err);
    }
    if (rc == 0 && sampler->phase == PHASE_LEASES) {
        rc = put_leases(sampler, err);
    }
    if (rc == 0 && sampler->phase == PHASE_POOLS) {
        rc = put_pools(sampler, err);
    }
    return rc == 0 ? store_commit(sampler->store, err) : rc;
}

static int on_turn(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct sampler *sampler = arg;
    struct err err;
    if (sampler->phase == PHASE_NONE && !begin_round(sampler)) {
        return 0;
    }
    int rc = write_rows(sampler, &err);
    if (rc == ERR_AWAY) { /* the connection was lost, and is there again */
        log_line(LOG_LEVEL_WARNING, "samples are left out: %s", err.text);
    } else if (rc < 0) {
        log_line(LOG_LEVEL_ERROR,
                 "commit failed: %s; the next start continues from what is on disk",
                 err.text);
        _exit(EXIT_FAILURE);
    }
    return 0;
}

struct sampler *sampler_new(zloop_t *loop, const struct broker *broker,
                            struct store *store, int64_t interval_ms)
{
    struct sampler *sampler = mem_alloc(1, sizeof(*sampler));
    sampler->loop = loop;
    sampler->broker = broker;
    sampler->store = store;
    sampler->interval_ms = interval_ms;
    /* The first round is the next whole one, so that sites have time to connect. */
    int64_t now_ms = daemon_now_ms();
    sampler->at_ms = now_ms - now_ms % interval_ms;
    sampler->timer_id = zloop_timer(loop, TURN_MS, 0, on_turn, sampler);
    return sampler;
}

void sampler_free(struct sampler *sampler)
{
    if (sampler != NULL) {
        zloop_timer_end(sampler->loop, sampler->timer_id);
        free(sampler);
    }
}
