/* SPDX-License-Identifier: Apache-2.0 */
/* bench_scale.c: what a federation costs its broker as it grows: at rest, when every
 * lease changes hands, and after kill -9.
 *
 * Driver and broker share the processors of the machine. The cost of the broker is its
 * own processor time. The duration of a round or a restart includes the time of the
 * driver, which does the work of all sites. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/crowded_world.h"
#include "tests/bench/fleet.h"
#include "tests/bench/floor.h"

/* A round: when this delay is set, every lease is rebalanced at once, and moves. */
enum { ROUND_MS = 2000, CALM_MS = 3600000 };

static const double rest_s = 6, settle_s = 4;

static const struct size {
    int n_sites, n_leases_each;
} sizes[] = {{100, 10}, {100, 100}, {1000, 10}};

struct figures {
    struct bench_series rest_cpu, rest_floor, rest_messages, rest_mib;
    struct bench_series round_s, round_cpu, round_mib, change_us;
    struct bench_series ready_s, confirmed_s, restart_cpu;
};

static void measure_rest(struct fleet *fleet, const struct bench_place *place,
                         struct figures *figures)
{
    fleet_run(fleet, settle_s);
    for (int i = 0; i < BENCH_RUNS; i++) {
        double cpu_s = bench_place_cpu_s(place), start = bench_now();
        fleet_forget(fleet);
        fleet_run(fleet, rest_s);
        double took_s = bench_now() - start;
        bench_add(&figures->rest_cpu,
                  (bench_place_cpu_s(place) - cpu_s) / took_s * 100);
        bench_add(&figures->rest_messages,
                  (double)(fleet_count_heard(fleet) + fleet_count_said(fleet)) /
                      took_s);
        bench_add(&figures->rest_mib, bench_place_memory_mib(place, false));
    }
}

static void measure_rounds(struct fleet *fleet, const struct bench_place *place,
                           struct figures *figures)
{
    int n_leases = fleet_count_leases(fleet);
    for (int i = 0; i < BENCH_RUNS; i++) {
        double cpu_s = bench_place_cpu_s(place);
        fleet_forget(fleet);
        fleet_set_delay(fleet, ROUND_MS);
        bench_add(&figures->round_s, fleet_await_changes(fleet, n_leases));
        double took_s = bench_place_cpu_s(place) - cpu_s;
        bench_add(&figures->round_cpu, took_s);
        bench_add(&figures->change_us,
                  took_s * 1e6 / (double)fleet_count_changes(fleet));
        fleet_set_delay(fleet, CALM_MS);
        bench_add(&figures->round_mib, bench_place_memory_mib(place, true));
        fleet_run(fleet, settle_s);
    }
}

static void measure_restarts(struct fleet *fleet, const struct bench_place *place,
                             struct figures *figures)
{
    for (int i = 0; i < BENCH_RUNS; i++) {
        struct fleet_restart took = fleet_restart(fleet);
        bench_add(&figures->ready_s, took.ready_s);
        bench_add(&figures->confirmed_s, took.confirmed_s);
        bench_add(&figures->restart_cpu, bench_place_cpu_s(place));
        fleet_run(fleet, settle_s);
    }
}

static void measure(const struct size *size)
{
    struct bench_place place;
    struct figures figures = {0};
    char title[96];
    bench_place_init(&place);
    snprintf(title, sizeof(title), "%d sites, %d leases", size->n_sites,
             size->n_sites * size->n_leases_each);
    bench_print_head(title);
    bench_add(&figures.rest_floor, floor_rest_percent(size->n_sites));
    struct fleet *fleet = fleet_new(&place, size->n_sites, size->n_leases_each);
    bool is_large = size->n_sites == FLEET_SITES_MAX;
    measure_rest(fleet, &place, &figures);
    bench_print_row("at rest: processor time of the broker", "% of a core",
                    &figures.rest_cpu, is_large ? "1.5" : "");
    bench_print_row("  of a process that only returns as many messages", "% of a core",
                    &figures.rest_floor, "");
    bench_print_row("  messages to and from it", "/s", &figures.rest_messages, "");
    bench_print_row("  its memory", "MiB", &figures.rest_mib, is_large ? "200" : "");
    measure_rounds(fleet, &place, &figures);
    bench_print_row("every lease moves: until the last consumer knows", "s",
                    &figures.round_s, "");
    bench_print_row("  processor time of the broker", "s", &figures.round_cpu, "");
    bench_print_row("  of it for one lease", "us", &figures.change_us,
                    is_large ? "60" : "");
    bench_print_row("  its memory at most", "MiB", &figures.round_mib, "");
    measure_restarts(fleet, &place, &figures);
    bench_print_row("kill -9 and start: until it serves", "s", &figures.ready_s, "");
    bench_print_row("  until every contract is confirmed", "s", &figures.confirmed_s,
                    is_large ? "5" : "");
    bench_print_row("  processor time of the broker until then", "s",
                    &figures.restart_cpu, "");
    fleet_free(fleet);
    bench_place_release(&place);
}

/* Runs once, since it takes minutes. */
static void measure_world(int n_sites, int n_leases_each)
{
    struct crowded_life life = crowded_world_live(n_sites, n_leases_each);
    struct bench_series cpu = {0}, lease = {0}, mib = {0}, lease_kib = {0};
    char title[96];
    snprintf(title, sizeof(title), "simulated: %d sites, %d leases, %ld steps", n_sites,
             life.n_leases, life.n_steps);
    bench_print_head(title);
    bench_add(&cpu, life.cpu_s);
    bench_add(&lease, life.cpu_s * 1e3 / life.n_leases);
    bench_add(&mib, life.peak_mib);
    bench_add(&lease_kib, life.peak_mib * 1024 / life.n_leases);
    bench_print_row("a life (made, a round, a crash): processor time", "s", &cpu, "");
    bench_print_row("  of it for one lease", "ms", &lease, "");
    bench_print_row("  memory at most", "MiB", &mib, "");
    bench_print_row("  of it for one lease", "KiB", &lease_kib, "10");
}

/* With another size: `bench_scale SITES LEASES-OF-EACH`, or `bench_scale world SITES
 * LEASES-OF-EACH` in the simulator only. */
int main(int argc, char **argv)
{
    if (argc == 4) {
        measure_world((int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10));
        return EXIT_SUCCESS;
    }
    if (argc == 3) {
        const struct size size = {(int)strtol(argv[1], NULL, 10),
                                  (int)strtol(argv[2], NULL, 10)};
        if (size.n_sites < 2 || size.n_sites > FLEET_SITES_MAX ||
            size.n_leases_each < 1) {
            bench_fail("usage: bench_scale [SITES LEASES], 2 to %d sites",
                       FLEET_SITES_MAX);
        }
        measure(&size);
        measure_world(size.n_sites, size.n_leases_each);
        return EXIT_SUCCESS;
    }
    measure_world(1000, 10);
    measure_world(10000, 10);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure(&sizes[i]);
    }
    return EXIT_SUCCESS;
}
