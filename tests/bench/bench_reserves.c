/* SPDX-License-Identifier: Apache-2.0 */
/* bench_reserves.c: what reservations of slots (SLOT_RESERVE, BACKFILL) add to a
 * scheduling pass: a site's step machine in this process, without a store and without
 * hosts.
 *
 * 50 users, 20 queues, and 5,000 hosts of 4 slots, each with a job that has a run
 * limit. 100,000 jobs of 1 slot wait, of every user in every queue except the highest.
 * In the highest queue, 100 jobs of 60 slots wait, each for a hundredth of the hosts,
 * which have one free slot each or none. The passes start nothing: with full hosts,
 * without the rule and with it; with all free slots reserved; the same when the lowest
 * queues (a tenth of the jobs) have BACKFILL and too long a run limit; when backfill
 * jobs use all of the reserved slots; and when the 100 jobs choose their hosts (span),
 * a third of those that they may use. */
#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/bench/lone_site.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_BACKFILL = 2,
    N_HOSTS = 5000,
    HOST_SLOTS = 4,
    N_WAITING = 100000,
    N_WIDE = 100,
    WIDE_HOSTS = N_HOSTS / N_WIDE,
    WIDE_SLOTS = 60,
    N_CHOSEN = N_WIDE * WIDE_SLOTS / HOST_SLOTS,
    PASSES = 20,
    TICKS_MAX = 100,
};

static const int64_t minute_ms = 60000;

static const struct kind {
    const char *what;
    bool has_rule, has_room;
    int backfill_minutes; /* run limit of backfill jobs; 0: no backfill */
    int n_started;        /* before the measured passes */
    bool is_shaped;
} kinds[] = {
    {"full hosts, no rule", false, false, 0, 0, false},
    {"full hosts, SLOT_RESERVE", true, false, 0, 0, false},
    {"5,000 slots kept for 100 jobs", true, true, 0, 0, false},
    {"the same, BACKFILL of jobs that are too long", true, true, 120, 0, false},
    {"the same, all of it lent", true, true, 10, N_HOSTS, false},
    {"1,500 slots kept on hosts that are chosen", true, true, 0, N_HOSTS - N_CHOSEN,
     true},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void configure(struct lone_site *lone, const struct kind *kind)
{
    lone_site_init(lone, N_HOSTS, HOST_SLOTS, N_QUEUES, N_USERS);
    struct reservation_config *top = &lone->queue_configs[N_QUEUES - 1].reservation;
    if (kind->has_rule) {
        *top = (struct reservation_config){.max_ms = 100 * minute_ms,
                                           .session_ms = minute_ms};
    }
    for (int i = 0; kind->backfill_minutes > 0 && i < N_BACKFILL; i++) {
        lone->queue_configs[i].reservation.is_backfill = true;
    }
}

static void load_running(struct lone_site *lone, int n_slots)
{
    for (int i = 0; i < N_HOSTS; i++) {
        struct job_spec spec = lone_site_spec(lone, N_QUEUES - 2, i % N_USERS, n_slots);
        spec.run_limit_ms = (60 + i % 60) * minute_ms;
        lone_site_load_running(lone, i, &spec);
    }
}

static void load_wide(struct lone_site *lone, int index, bool is_shaped)
{
    static const char *const shape = "span[ptile=4]";
    const char *asked[WIDE_HOSTS];
    struct job_spec spec =
        lone_site_spec(lone, N_QUEUES - 1, index % N_USERS, WIDE_SLOTS);
    for (int i = 0; i < WIDE_HOSTS; i++) {
        asked[i] = lone->hosts[index * WIDE_HOSTS + i];
    }
    spec.hosts_asked = asked;
    spec.n_hosts_asked = WIDE_HOSTS;
    spec.res_reqs = &shape;
    spec.n_res_reqs = is_shaped;
    lone_site_load_spec(lone, &spec);
}

static void load_waiting(struct lone_site *lone, const struct kind *kind)
{
    for (int i = 0; i < N_WAITING; i++) {
        int queue = i / N_USERS % (N_QUEUES - 1);
        struct job_spec spec = lone_site_spec(lone, queue, i % N_USERS, 1);
        spec.run_limit_ms = queue < N_BACKFILL ? kind->backfill_minutes * minute_ms : 0;
        lone_site_load_spec(lone, &spec);
    }
}

static void begin(struct lone_site *lone, const struct kind *kind)
{
    int n_slots = kind->has_room ? HOST_SLOTS - 1 : HOST_SLOTS;
    configure(lone, kind);
    lone_site_begin(lone);
    load_running(lone, n_slots);
    for (int i = 0; i < N_WIDE; i++) {
        load_wide(lone, i, kind->is_shaped);
    }
    load_waiting(lone, kind);
    lone_site_load_runs(lone, n_slots);
    lone_site_start(lone, lone->last_job);
    lone_site_runs_come(lone);
}

static void settle(struct lone_site *lone, const struct kind *kind)
{
    int n_started = 0;
    for (int i = 0; i < TICKS_MAX && site_wake_ms(lone->site) <= lone->now_ms; i++) {
        n_started += lone_site_tick(lone, MSG_RUN_START);
    }
    if (n_started != kind->n_started) {
        bench_fail("%s: %d jobs started, expected %d", kind->what, n_started,
                   kind->n_started);
    }
}

static void run(struct lone_site *lone, const struct kind *kind,
                struct bench_series *series)
{
    begin(lone, kind);
    settle(lone, kind);
    for (int i = 0; i < PASSES; i++) {
        lone_site_nudge(lone);
        double start = bench_cpu_now();
        int n_started = lone_site_tick(lone, MSG_RUN_START);
        bench_add(series, (bench_cpu_now() - start) * 1e3);
        if (n_started > 0) {
            bench_fail("%s: %d jobs started", kind->what, n_started);
        }
    }
    lone_site_release(lone);
}

int main(void)
{
    static struct lone_site lone;
    static struct bench_series series[N_KINDS], ratio;
    char text[96];
    bench_print_head("kept slots: 100,000 waiting jobs, 100 that reserve");
    for (int i = 0; i < N_KINDS; i++) {
        run(&lone, &kinds[i], &series[i]);
        bench_print_row(kinds[i].what, "ms", &series[i], "");
    }
    for (int i = 1; i < N_KINDS; i++) {
        ratio = (struct bench_series){.count = 0};
        for (int k = 0; k < series[i].count && k < series[0].count; k++) {
            bench_add(&ratio, series[i].values[k] / series[0].values[k]);
        }
        snprintf(text, sizeof(text), "%s / no rule", kinds[i].what);
        bench_print_row(text, "times", &ratio,
                        i == 1               ? "1.1"
                        : kinds[i].is_shaped ? ""
                                             : "2");
    }
    return 0;
}
