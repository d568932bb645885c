/* SPDX-License-Identifier: Apache-2.0 */
/* bench_usage.c: usage reports applied per second: USAGE of a site, which PONG answers,
 * and STATEs with changed use counts, which have no answer. A STATE counts when the
 * PONG of a USAGE sent after it has come, since a connection preserves the order. */
#include <stdio.h>

#include "tests/bench/crowd.h"
#include "tests/bench/floor.h"

enum { OUTSTANDING = 16, LISTEN_MS = 100, STATES_MAX = 8 };

static const double measured_s = 1.2;

struct asking {
    struct crowd *crowd;
    int n_sites, n_states; /* STATEs before each USAGE */
    int n_contracts;
    uint64_t seq[CROWD_SITES_MAX];
    long n_reports;
};

static void lease_id(int site, int n_sites, char id[64])
{
    snprintf(id, 64, "s%d/1/s%d", site, (site + 1) % n_sites);
}

static void state(struct asking *asking, int site, int n_used)
{
    char id[64];
    lease_id(site, asking->n_sites, id);
    struct host_split host = {
        .host = "n1", .n_slots = 8, .provider = 8, .provider_used = n_used};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = id,
                                   .epoch = 1,
                                   .type = LEASE_SHARED,
                                   .is_made = true,
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .reason = ""};
    crowd_say(asking->crowd, site, &msg);
}

static void report(struct asking *asking, int site)
{
    char id[64];
    int lender = (site + asking->n_sites - 1) % asking->n_sites;
    for (int i = 0; i < asking->n_states; i++) {
        state(asking, site, (int)((asking->seq[site] + (uint64_t)i) % 8));
    }
    lease_id(lender, asking->n_sites, id);
    struct lease_demand demand = {.lease = id, .epoch = 1, .n_waiting = 3};
    struct msg msg = {.kind = MSG_USAGE};
    msg.usage = (struct msg_usage){.seq = ++asking->seq[site],
                                   .n_own = 64,
                                   .n_own_used = 5,
                                   .demands = &demand,
                                   .n_demands = 1};
    crowd_say(asking->crowd, site, &msg);
}

static void on_message(void *arg, int site, const struct msg *msg)
{
    struct asking *asking = arg;
    if (msg->kind == MSG_PONG) {
        asking->n_reports += 1 + asking->n_states;
        report(asking, site);
    } else if (msg->kind == MSG_STATE_ASK) {
        state(asking, site, 0);
    } else if (msg->kind == MSG_CONTRACT) {
        asking->n_contracts++;
    }
}

static double run(struct asking *asking)
{
    double start = bench_now(), now;
    long before = asking->n_reports;
    while ((now = bench_now()) < start + measured_s) {
        crowd_listen(asking->crowd, LISTEN_MS, on_message, asking);
    }
    return (double)(asking->n_reports - before) / (now - start);
}

static void begin(struct asking *asking, struct bench_place *place, int n_sites,
                  int n_states)
{
    *asking = (struct asking){.n_sites = n_sites, .n_states = n_states};
    asking->crowd = crowd_new(place, n_sites, 0, "");
    for (int i = 0; i < n_sites; i++) {
        state(asking, i, 0);
    }
    while (asking->n_contracts < n_sites) {
        crowd_listen(asking->crowd, LISTEN_MS, on_message, asking);
    }
    for (int i = 0; i < n_sites; i++) {
        for (int k = 0; k < OUTSTANDING; k++) {
            report(asking, i);
        }
    }
    run(asking);
}

int main(void)
{
    static const struct {
        int n_sites, n_states;
        const char *work, *aim;
    } rows[] = {
        {16, 0, "USAGE and PONG: 16 sites, 16 outstanding", "0.85 x"},
        {64, 0, "USAGE and PONG: 64 sites, 16 outstanding", "0.85 x"},
        {16, STATES_MAX, "8 STATEs to a USAGE: 16 sites", "150000"},
    };
    static struct asking asking;
    struct bench_place place;
    bench_place_init(&place);
    bench_print_head("usage reports applied");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench_series rate = {0}, floor = {0}, cpu = {0};
        begin(&asking, &place, rows[i].n_sites, rows[i].n_states);
        for (int k = 0; k < BENCH_RUNS; k++) {
            bench_add(&floor, floor_round_trips(16, OUTSTANDING));
            long before = asking.n_reports;
            double cpu_s = bench_place_cpu_s(&place);
            bench_add(&rate, run(&asking));
            bench_add(&cpu, (bench_place_cpu_s(&place) - cpu_s) * 1e6 /
                                (double)(asking.n_reports - before));
        }
        bench_print_row_floor(rows[i].work, "/s", &rate, rows[i].aim,
                              "CURVE round trips", &floor);
        bench_print_row("  processor time of the broker for one", "us", &cpu, "4");
        if (crowd_count_unsent(asking.crowd) > 0) {
            bench_fail("%ld reports were not sent: the figures are wrong",
                       crowd_count_unsent(asking.crowd));
        }
        crowd_free(asking.crowd);
    }
    bench_place_release(&place);
    return 0;
}
