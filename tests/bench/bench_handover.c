/* SPDX-License-Identifier: Apache-2.0 */
/* bench_handover.c: the hand-over of a lease in an idle federation, from the broker's
 * FREEZE to the CONTRACT of the new epoch at the consumer.
 *
 * Nobody uses the leases' slots, and so LSF's rule sends all of them to the other side
 * at each reclaim delay. Their instants are spread. The driver plays both sites; as a
 * provider must, it commits a row to a store of its own (SQLite, synchronous=FULL)
 * before it states the new epoch. What is not in the figure is the broker's first
 * commit, of the decision itself: it is about "one commit" below. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/crowd.h"
#include "tests/bench/floor.h"

enum {
    LEASES = 20,
    RECLAIM_MS = 1000,
    SPREAD_MS = RECLAIM_MS / LEASES,
    LISTEN_MS = 10,
    SAMPLES_MAX = 1000,
};

static const double measured_s = 3.2;

struct lease {
    char id[64];
    uint64_t epoch, freeze;
    bool is_frozen, is_with_consumer;
    double frozen; /* when FREEZE came; 0: nothing is under way */
};

struct federation {
    struct crowd *crowd;
    sqlite3 *db;
    struct lease leases[LEASES];
    double samples_ms[SAMPLES_MAX], commits_ms[SAMPLES_MAX];
    int n_samples, n_commits;
};

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        bench_fail("%s: %s", sql, sqlite3_errmsg(db));
    }
}

static void commit(struct federation *all)
{
    double start = bench_now();
    execute(all->db, "INSERT INTO book (text) VALUES ('s0/1/s1 1 1')");
    if (all->n_commits < SAMPLES_MAX) {
        all->commits_ms[all->n_commits++] = (bench_now() - start) * 1e3;
    }
}

static void state(struct federation *all, const struct lease *lease)
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

static struct lease *find(struct federation *all, const char *id)
{
    for (int i = 0; i < LEASES; i++) {
        if (strcmp(all->leases[i].id, id) == 0) {
            return &all->leases[i];
        }
    }
    bench_fail("lease \"%s\" is not known", id);
}

static void take_freeze(struct federation *all, const struct msg_freeze *freeze)
{
    struct lease *lease = find(all, freeze->lease);
    if (freeze->base == lease->epoch && freeze->freeze > lease->freeze) {
        lease->freeze = freeze->freeze;
        lease->is_frozen = true;
        lease->frozen = lease->frozen != 0 ? lease->frozen : bench_now();
    }
    state(all, lease);
}

static void take_proposal(struct federation *all, const struct msg_propose *propose)
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

static void take_contract(struct federation *all, const struct msg_contract *contract)
{
    struct lease *lease = find(all, contract->lease);
    if (contract->epoch == lease->epoch && contract->state == LEASE_ACTIVE &&
        lease->frozen != 0) {
        if (all->n_samples < SAMPLES_MAX) {
            all->samples_ms[all->n_samples++] = (bench_now() - lease->frozen) * 1e3;
        }
        lease->frozen = 0;
    }
}

static void on_message(void *arg, int site, const struct msg *msg)
{
    struct federation *all = arg;
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

static void listen_for(struct federation *all, double seconds)
{
    double until = bench_now() + seconds;
    while (bench_now() < until) {
        crowd_listen(all->crowd, LISTEN_MS, on_message, all);
    }
}

static void run(struct federation *all)
{
    all->n_samples = all->n_commits = 0;
    listen_for(all, measured_s);
    if (all->n_samples == 0) {
        bench_fail("no lease was handed over");
    }
}

int main(void)
{
    static struct federation all;
    struct bench_place place;
    struct bench_series median = {0}, late = {0}, commits = {0}, trips = {0};
    bench_place_init(&place);
    all.crowd = crowd_new(&place, 2, RECLAIM_MS);
    if (sqlite3_open(bench_place_path(&place, "provider.db"), &all.db) != SQLITE_OK) {
        bench_fail("the provider's store cannot be opened");
    }
    execute(all.db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                    "PRAGMA synchronous=FULL; CREATE TABLE book (text TEXT)");
    for (int i = 0; i < LEASES; i++) {
        struct lease *lease = &all.leases[i];
        snprintf(lease->id, sizeof(lease->id), "s0/%d/s1", i + 1);
        lease->epoch = 1;
        state(&all, lease);
        listen_for(&all, SPREAD_MS / 1e3);
    }
    for (int k = 0; k < BENCH_RUNS; k++) {
        bench_add(&trips, 1e3 / floor_round_trips(1, 1));
        run(&all);
        bench_add(&median, bench_percentile(all.samples_ms, all.n_samples, 0.5));
        bench_add(&late, bench_percentile(all.samples_ms, all.n_samples, 0.99));
        bench_add(&commits, bench_percentile(all.commits_ms, all.n_commits, 0.5));
    }
    bench_print_head("hand-over of a lease, idle federation");
    bench_print_row("FREEZE to CONTRACT: median", "ms", &median, "2");
    bench_print_row("FREEZE to CONTRACT: 99 of 100", "ms", &late, "10");
    bench_print_row("one commit, for comparison: median", "ms", &commits, "");
    bench_print_row("one round trip with CURVE, one at a time", "ms", &trips, "");
    sqlite3_close(all.db);
    crowd_free(all.crowd);
    bench_place_release(&place);
    return 0;
}
