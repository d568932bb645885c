/* SPDX-License-Identifier: Apache-2.0 */
/* handovers.c: see handovers.h. */
#include "tests/bench/handovers.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTEN_MS = 10 };

struct lease {
    char id[64];
    uint64_t epoch, freeze;
    bool is_frozen, is_with_consumer;
    double frozen; /* when FREEZE came; 0: no hand-over is open */
};

struct handovers {
    struct crowd *crowd;
    sqlite3 *db;
    struct lease *leases;
    int n_leases;
    double samples_ms[HANDOVERS_SAMPLES_MAX], commits_ms[HANDOVERS_SAMPLES_MAX];
    int n_samples, n_commits;
};

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        bench_fail("%s: %s", sql, sqlite3_errmsg(db));
    }
}

static void commit(struct handovers *all)
{
    double start = bench_now();
    execute(all->db, "INSERT INTO book (text) VALUES ('s0/1/s1 1 1')");
    if (all->n_commits < HANDOVERS_SAMPLES_MAX) {
        all->commits_ms[all->n_commits++] = (bench_now() - start) * 1e3;
    }
}

static void state(struct handovers *all, const struct lease *lease)
{
    struct host_split host = {.host = "n1",
                              .n_slots = 2,
                              .provider = lease->is_with_consumer ? 0 : 2,
                              .consumer = lease->is_with_consumer ? 2 : 0};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = lease->id,
                                   .epoch = lease->epoch,
                                   .type = LEASE_SHARED,
                                   .is_made = true,
                                   .is_frozen = lease->is_frozen,
                                   .freeze = lease->freeze,
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .reason = ""};
    crowd_say(all->crowd, 0, &msg);
}

/* The policy is the lease's number. */
static struct lease *find(struct handovers *all, const char *id)
{
    const char *slash = strchr(id, '/');
    long number = slash != NULL ? strtol(slash + 1, NULL, 10) : 0;
    if (number < 1 || number > all->n_leases) {
        bench_fail("lease \"%s\" is not known", id);
    }
    return &all->leases[number - 1];
}

static void take_freeze(struct handovers *all, const struct msg_freeze *freeze)
{
    struct lease *lease = find(all, freeze->lease);
    if (freeze->base == lease->epoch && freeze->freeze > lease->freeze) {
        lease->freeze = freeze->freeze;
        lease->is_frozen = true;
        lease->frozen = lease->frozen != 0 ? lease->frozen : bench_now();
    }
    state(all, lease);
}

static void take_proposal(struct handovers *all, const struct msg_propose *propose)
{
    struct lease *lease = find(all, propose->lease);
    if (propose->base == lease->epoch) {
        lease->is_with_consumer = propose->hosts[0].consumer == 2;
        lease->epoch++;
        lease->is_frozen = false;
        commit(all);
    }
    state(all, lease);
}

static void take_contract(struct handovers *all, const struct msg_contract *contract)
{
    struct lease *lease = find(all, contract->lease);
    if (contract->epoch == lease->epoch && contract->state == LEASE_ACTIVE &&
        lease->frozen != 0) {
        if (all->n_samples < HANDOVERS_SAMPLES_MAX) {
            all->samples_ms[all->n_samples++] = (bench_now() - lease->frozen) * 1e3;
        }
        lease->frozen = 0;
    }
}

static void on_message(void *arg, int site, const struct msg *msg)
{
    struct handovers *all = arg;
    if (msg->kind == MSG_FREEZE) {
        take_freeze(all, &msg->freeze);
    } else if (msg->kind == MSG_PROPOSE) {
        take_proposal(all, &msg->propose);
    } else if (msg->kind == MSG_STATE_ASK) {
        state(all, find(all, msg->state_ask.lease));
    } else if (msg->kind == MSG_CONTRACT && site == 1) {
        take_contract(all, &msg->contract);
    }
}

static void listen_for(struct handovers *all, double seconds)
{
    double until = bench_now() + seconds;
    while (bench_now() < until) {
        crowd_listen(all->crowd, LISTEN_MS, on_message, all);
    }
}

static const double catch_up_s = 1.1;

void handovers_run(struct handovers *all, double seconds)
{
    listen_for(all, catch_up_s); /* answers what came before this call */
    all->n_samples = all->n_commits = 0;
    listen_for(all, seconds);
    if (all->n_samples == 0) {
        bench_fail("no lease was handed over");
    }
}

double handovers_took_ms(struct handovers *all, double share)
{
    return bench_percentile(all->samples_ms, all->n_samples, share);
}

double handovers_commit_ms(struct handovers *all, double share)
{
    return bench_percentile(all->commits_ms, all->n_commits, share);
}

struct crowd *handovers_crowd(const struct handovers *all)
{
    return all->crowd;
}

struct handovers *handovers_new(struct bench_place *place, int n_leases,
                                int64_t reclaim_ms)
{
    struct handovers *all = mem_alloc(1, sizeof(*all));
    all->leases = mem_alloc((size_t)n_leases, sizeof(*all->leases));
    all->n_leases = n_leases;
    all->crowd = crowd_new(place, 2, reclaim_ms, "");
    if (sqlite3_open(bench_place_path(place, "provider.db"), &all->db) != SQLITE_OK) {
        bench_fail("the provider's store cannot be opened");
    }
    execute(all->db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                     "PRAGMA synchronous=FULL; CREATE TABLE book (text TEXT)");
    double spread_s = (double)reclaim_ms / n_leases / 1e3;
    for (int i = 0; i < n_leases; i++) {
        struct lease *lease = &all->leases[i];
        snprintf(lease->id, sizeof(lease->id), "s0/%d/s1", i + 1);
        lease->epoch = 1;
        state(all, lease);
        listen_for(all, spread_s);
    }
    return all;
}

void handovers_free(struct handovers *all)
{
    sqlite3_close(all->db);
    crowd_free(all->crowd);
    free(all->leases);
    free(all);
}
