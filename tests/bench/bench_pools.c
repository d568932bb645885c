/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pools.c: a cycle of a pool of 100,000 slots and a plan of 10,000 leaves, in the
 * broker's step machine: the tick that reads contracts and demands, computes quotas,
 * chooses hosts and sends what it decided.
 *
 * Two providers export 500 hosts of 100 slots each. 100 sites have 100 queues; each
 * queue is a leaf and waits for 20 slots. The first cycle grants all slots to leaves
 * that have no contract yet. The providers answer at once, outside of the measured
 * time, until every contract is active. Later cycles have nothing to do. */
#include <stdlib.h>

#include "broker/broker.h"
#include "broker/plan/plan.h"
#include "tests/bench/bench.h"

enum {
    PROVIDERS = 2,
    HOSTS = 500,
    HOST_SLOTS = 100,
    SITES = 100,
    QUEUES = 100,
    N_LEAVES = SITES * QUEUES,
    MEMBERS = PROVIDERS + SITES,
    CYCLE_MS = 30000,
    SESSION = 1,
};

struct pools_bench {
    struct arena arena;
    struct broker *broker;
    struct effects effects;
    int64_t now_ms;
    struct broker_member members[MEMBERS];
    struct host_split idle[PROVIDERS][HOSTS];
    uint64_t epochs[PROVIDERS];
};

static void hear(struct pools_bench *bench, const char *site, const struct msg *msg)
{
    struct event event = {.kind = EVENT_MESSAGE, .now_ms = bench->now_ms, .msg = msg};
    event.from = (struct peer){.kind = PEER_SITE, .name = site, .link = 1};
    broker_step(bench->broker, &event, &bench->effects);
}

static void tick(struct pools_bench *bench)
{
    broker_step(bench->broker,
                &(struct event){.kind = EVENT_TICK, .now_ms = bench->now_ms},
                &bench->effects);
}

/* ---------------------------------------------------------------- the federation */

static const char *text(struct pools_bench *bench, const char *prefix, int number)
{
    return arena_printf(&bench->arena, "%s%d", prefix, number);
}

static void make_members(struct pools_bench *bench)
{
    for (int i = 0; i < MEMBERS; i++) {
        bool is_provider = i < PROVIDERS;
        bench->members[i] = (struct broker_member){
            .name = text(bench, is_provider ? "provider" : "site", i),
            .roles = is_provider ? ROLE_PROVIDER : ROLE_CONSUMER};
    }
}

/* Ten leaves of one parent, a hundred parents of one grandparent. */
static struct plan_pools make_pools(struct pools_bench *bench)
{
    enum { N_NODES = N_LEAVES + N_LEAVES / 10 };
    struct plan_settings settings = {.cycle_ms = CYCLE_MS,
                                     .rebalances = true,
                                     .max_recall = PLAN_UNLIMITED,
                                     .max_grace_ms = -1};
    struct plan_node *nodes = mem_alloc(N_NODES, sizeof(*nodes));
    int n_nodes = 0;
    for (int i = 0; i < N_LEAVES; i++) {
        if (i % 10 == 0) {
            nodes[n_nodes++] = (struct plan_node){
                .name = text(bench, "/g", i / 10), .own = 100, .limit = PLAN_UNLIMITED};
        }
        const char **queue = arena_alloc(&bench->arena, 1, sizeof(*queue));
        *queue = text(bench, "q", i % QUEUES);
        nodes[n_nodes++] = (struct plan_node){
            .name = arena_printf(&bench->arena, "/g%d/l%d", i / 10, i),
            .own = 10,
            .limit = PLAN_UNLIMITED,
            .site = bench->members[PROVIDERS + i / QUEUES].name,
            .queues = queue,
            .n_queues = 1};
    }
    struct plan *plan = arena_alloc(&bench->arena, 1, sizeof(*plan));
    struct plan_pool *pool = arena_alloc(&bench->arena, 1, sizeof(*pool));
    plan_build(plan, &settings, nodes, n_nodes, &bench->arena);
    *pool = (struct plan_pool){.name = "p", .plans = plan};
    free(nodes);
    return (struct plan_pools){pool, 1};
}

static void say_hello(struct pools_bench *bench, int member)
{
    struct msg msg = {.kind = MSG_HELLO, .session = SESSION, .site = ""};
    msg.hello = (struct msg_hello){.name = bench->members[member].name,
                                   .roles = bench->members[member].roles};
    hear(bench, bench->members[member].name, &msg);
}

static void say_usage(struct pools_bench *bench, int member)
{
    struct queue_demand queues[QUEUES];
    struct msg msg = {.kind = MSG_USAGE, .session = SESSION, .site = ""};
    for (int i = 0; i < QUEUES; i++) {
        queues[i] =
            (struct queue_demand){.queue = text(bench, "q", i), .n_waiting = 20};
    }
    msg.usage.queues = queues;
    msg.usage.n_queues = QUEUES;
    hear(bench, bench->members[member].name, &msg);
}

static void say_idle(struct pools_bench *bench, int provider)
{
    struct msg msg = {.kind = MSG_STATE, .session = SESSION, .site = ""};
    msg.state = (struct msg_state){
        .lease = arena_printf(&bench->arena, "provider%d/1/pool:p", provider),
        .epoch = ++bench->epochs[provider],
        .type = LEASE_POOL,
        .is_made = true,
        .hosts = bench->idle[provider],
        .n_hosts = HOSTS,
        .reason = ""};
    hear(bench, bench->members[provider].name, &msg);
}

static void begin(struct pools_bench *bench)
{
    arena_init(&bench->arena);
    effects_init(&bench->effects);
    make_members(bench);
    struct plan_pools pools = make_pools(bench);
    bench->now_ms = 1000 * CYCLE_MS;
    bench->broker = broker_new(&(struct broker_config){
        bench->members, MEMBERS, (int64_t)10 * CYCLE_MS, &pools, 0});
    broker_start(bench->broker, bench->now_ms, &bench->effects);
    for (int i = 0; i < MEMBERS; i++) {
        say_hello(bench, i);
    }
    for (int i = 0; i < PROVIDERS; i++) {
        for (int k = 0; k < HOSTS; k++) {
            bench->idle[i][k] = (struct host_split){.host = text(bench, "h", k),
                                                    .n_slots = HOST_SLOTS,
                                                    .consumer = HOST_SLOTS};
        }
        say_idle(bench, i);
    }
    for (int i = PROVIDERS; i < MEMBERS; i++) {
        say_usage(bench, i);
    }
    effects_clear(&bench->effects);
}

/* ---------------------------------------------------------------- cycles */

static double run_cycle(struct pools_bench *bench)
{
    bench->now_ms += CYCLE_MS;
    for (int i = PROVIDERS; i < MEMBERS; i++) {
        say_usage(bench, i);
    }
    effects_clear(&bench->effects);
    double start = bench_cpu_now();
    tick(bench);
    double taken_s = bench_cpu_now() - start;
    effects_clear(&bench->effects);
    return taken_s;
}

int main(void)
{
    struct bench_series first = {0}, view = {0};
    bench_print_head("pools that run");
    for (int run = 0; run < BENCH_RUNS; run++) {
        struct pools_bench *bench = mem_alloc(1, sizeof(*bench));
        begin(bench);
        bench_add(&first, run_cycle(bench) * 1e3);
        struct arena arena;
        const char *next;
        struct msg_query query = {
            .kind = QUERY_PLAN, .name = "p", .host = "", .after = "", .limit = 1};
        arena_init(&arena);
        double start = bench_cpu_now();
        broker_view(bench->broker, &arena, &query, bench->now_ms, &next);
        bench_add(&view, (bench_cpu_now() - start) * 1e3);
        arena_release(&arena);
        if (broker_count_leases(bench->broker) != N_LEAVES + PROVIDERS) {
            bench_fail("%d contracts, expected one for each leaf",
                       broker_count_leases(bench->broker) - PROVIDERS);
        }
        broker_free(bench->broker);
        effects_release(&bench->effects);
        arena_release(&bench->arena);
        free(bench);
    }
    bench_print_row("a cycle that grants 100,000 slots to 10,000 leaves", "ms", &first,
                    "100");
    bench_print_row("their quotas, for a reader", "ms", &view, "");
    return 0;
}
