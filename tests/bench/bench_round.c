/* SPDX-License-Identifier: Apache-2.0 */
/* bench_round.c: one rebalance round over 10,000 leases of which 1,000 change: the
 * broker's step machine and its store in this process, in batches like those of the
 * shell (one tick, one commit), and measured from outside.
 *
 * 100 providers have 100 leases each, all due at the same instant. The idle slots of
 * every tenth lease are on one side and move. Those of the others are balanced and
 * stay. The providers answer FREEZE and PROPOSE at once, as many per batch as the
 * broker accepts. */
#include <stdio.h>
#include <string.h>

#include "broker/broker.h"
#include "broker/io/store/store.h"
#include "tests/bench/bench.h"

enum {
    PROVIDERS = 100,
    LEASES = 100, /* of each provider */
    N_LEASES = PROVIDERS * LEASES,
    CHANGES = N_LEASES / 10,
    MEMBERS = 2 * PROVIDERS,
    BATCH = 256,
    DELAY_MS = 600000,
    ANSWERS_MAX = 4 * CHANGES,
    SESSION = 1,
};

struct lease {
    char id[64];
    uint64_t epoch, freeze;
    int consumer; /* slots, of two, that the consumer holds */
    bool is_frozen;
};

struct round {
    struct bench_place place;
    char names[MEMBERS][16];
    struct broker *broker;
    struct store *store;
    struct effects effects;
    struct lease leases[N_LEASES];
    int64_t now_ms;
    int answers[ANSWERS_MAX]; /* leases whose STATE is in transit */
    int n_answers, n_changed;
    double judged_s, total_s, longest_s;
};

static void must(int code, const struct err *err)
{
    if (code < 0) {
        bench_fail("%s", err->text);
    }
}

static void hear(struct round *round, int member, struct msg *msg)
{
    struct event event = {.kind = EVENT_MESSAGE, .now_ms = round->now_ms, .msg = msg};
    event.from = (struct peer){.kind = PEER_SITE,
                               .name = round->names[member],
                               .link = (uint64_t)member + 1,
                               .roles = ROLE_PROVIDER | ROLE_CONSUMER};
    msg->session = SESSION;
    msg->site = "";
    broker_step(round->broker, &event, &round->effects);
}

static void state(struct round *round, int index)
{
    const struct lease *lease = &round->leases[index];
    struct host_split host = {.host = "n1",
                              .n_slots = 2,
                              .provider = 2 - lease->consumer,
                              .consumer = lease->consumer};
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
    hear(round, index / LEASES, &msg);
}

static int index_of(const char *id)
{
    int provider, place;
    if (sscanf(id, "p%d/%d/", &provider, &place) != 2) {
        bench_fail("lease \"%s\" is not known", id);
    }
    return provider * LEASES + place - 1;
}

static void take_sent(struct round *round, const struct msg *msg)
{
    int index = -1;
    if (msg->kind == MSG_FREEZE) {
        index = index_of(msg->freeze.lease);
        round->leases[index].freeze = msg->freeze.freeze;
        round->leases[index].is_frozen = true;
    } else if (msg->kind == MSG_PROPOSE) {
        index = index_of(msg->propose.lease);
        round->leases[index].epoch = msg->propose.base + 1;
        round->leases[index].consumer = msg->propose.hosts[0].consumer;
        round->leases[index].is_frozen = false;
        round->n_changed++;
    }
    if (index >= 0 && round->n_answers < ANSWERS_MAX) {
        round->answers[round->n_answers++] = index;
    }
}

static void commit(struct round *round)
{
    struct err err;
    bool has_begun = false;
    for (int i = 0; i < round->effects.count; i++) {
        const struct effect *effect = &round->effects.items[i];
        if (effect->kind != EFFECT_STORE) {
            continue;
        }
        if (!has_begun) {
            must(store_begin(round->store, &err), &err);
            has_begun = true;
        }
        must(store_write(round->store, &effect->row, &err), &err);
    }
    if (has_begun) {
        must(store_commit(round->store, &err), &err);
    }
}

/* One batch of the broker: the messages that have come, a tick, a commit. */
static double run_batch(struct round *round)
{
    static int taken[BATCH];
    int n_taken = round->n_answers < BATCH ? round->n_answers : BATCH;
    memcpy(taken, round->answers, (size_t)n_taken * sizeof(int));
    memmove(round->answers, round->answers + n_taken,
            (size_t)(round->n_answers - n_taken) * sizeof(int));
    round->n_answers -= n_taken;

    double start = bench_now();
    for (int i = 0; i < n_taken; i++) {
        state(round, taken[i]);
    }
    struct event tick = {.kind = EVENT_TICK, .now_ms = round->now_ms};
    broker_step(round->broker, &tick, &round->effects);
    commit(round);
    double taken_s = bench_now() - start;

    for (int i = 0; i < round->effects.count; i++) {
        if (round->effects.items[i].kind == EFFECT_SEND) {
            take_sent(round, &round->effects.items[i].send.msg);
        }
    }
    effects_clear(&round->effects);
    store_maintain(round->store);
    return taken_s;
}

static void say_hello(struct round *round, int member)
{
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello = (struct msg_hello){.name = round->names[member],
                                   .roles = ROLE_PROVIDER | ROLE_CONSUMER,
                                   .reclaim_delay_ms = DELAY_MS};
    hear(round, member, &msg);
}

static void begin(struct round *round)
{
    struct broker_member members[MEMBERS];
    struct broker_config config = {
        .members = members, .n_members = MEMBERS, .lost_after_ms = 10 * DELAY_MS};
    struct err err;
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(round->names[i], sizeof(round->names[i]), "%c%d",
                 i < PROVIDERS ? 'p' : 'c', i % PROVIDERS);
        members[i] = (struct broker_member){.name = round->names[i],
                                            .roles = ROLE_PROVIDER | ROLE_CONSUMER};
    }
    bench_place_init(&round->place);
    effects_init(&round->effects);
    must(store_open(bench_place_path(&round->place, "broker.db"), false, &round->store,
                    &err),
         &err);
    round->now_ms = 1000000;
    round->broker = broker_new(&config);
    broker_start(round->broker, round->now_ms, &round->effects);
    for (int i = 0; i < MEMBERS; i++) {
        say_hello(round, i);
    }
    for (int i = 0; i < N_LEASES; i++) {
        struct lease *lease = &round->leases[i];
        snprintf(lease->id, sizeof(lease->id), "p%d/%d/c%d", i / LEASES, i % LEASES + 1,
                 i % PROVIDERS);
        lease->epoch = 1;
        lease->consumer = i % 10 == 0 ? 0 : 1;
        state(round, i);
    }
    while (broker_wake_ms(round->broker) <= round->now_ms) {
        run_batch(round);
    }
}

/* Makes all leases due; ends when all hand-overs are done. Only some of them begin at
 * once (broker/lease/handover_limiter.c), so time passes, which takes none here. */
static void run(struct round *round)
{
    round->now_ms += DELAY_MS;
    round->n_changed = 0;
    round->judged_s = round->total_s = round->longest_s = 0;
    while (round->n_answers > 0 || round->n_changed < CHANGES) {
        int64_t wake_ms = broker_wake_ms(round->broker);
        if (round->n_answers == 0 && wake_ms > round->now_ms) {
            if (wake_ms - round->now_ms >= DELAY_MS) {
                bench_fail("%d leases changed, expected %d", round->n_changed, CHANGES);
            }
            round->now_ms = wake_ms;
        }
        bool is_judging = round->n_answers == 0;
        double taken_s = run_batch(round);
        round->total_s += taken_s;
        round->judged_s += is_judging ? taken_s : 0;
        round->longest_s = taken_s > round->longest_s ? taken_s : round->longest_s;
    }
    while (broker_wake_ms(round->broker) <= round->now_ms) {
        run_batch(round);
    }
    if (round->n_changed != CHANGES) {
        bench_fail("%d leases changed, expected %d", round->n_changed, CHANGES);
    }
}

int main(void)
{
    static struct round round;
    struct bench_series judged = {0}, total = {0}, longest = {0};
    begin(&round);
    run(&round);
    for (int i = 0; i < BENCH_RUNS; i++) {
        run(&round);
        bench_add(&judged, round.judged_s * 1e3);
        bench_add(&total, round.total_s * 1e3);
        bench_add(&longest, round.longest_s * 1e3);
    }
    bench_print_head("a rebalance round: 10,000 leases, 1,000 change");
    bench_print_row("batches without answers: leases judged, and frozen", "ms", &judged,
                    "50");
    bench_print_row("the whole round, all answers and commits", "ms", &total, "");
    bench_print_row("longest batch: what a message waits at most", "ms", &longest,
                    "50");
    store_close(round.store);
    broker_free(round.broker);
    effects_release(&round.effects);
    bench_place_release(&round.place);
    return 0;
}
