/* SPDX-License-Identifier: Apache-2.0 */
/* bench_handover.c: the hand-over of a lease in an idle federation, from the broker's
 * FREEZE to the CONTRACT of the new epoch at the consumer (handovers.h). The figure
 * excludes the broker's first commit, of the decision itself, which takes about as long
 * as "one commit" below. */
#include "tests/bench/floor.h"
#include "tests/bench/handovers.h"

enum { LEASES = 20, RECLAIM_MS = 1000 };

static const double measured_s = 3.2;

int main(void)
{
    struct bench_place place;
    struct bench_series median = {0}, late = {0}, commits = {0}, trips = {0};
    bench_place_init(&place);
    struct handovers *all = handovers_new(&place, LEASES, RECLAIM_MS);
    for (int k = 0; k < BENCH_RUNS; k++) {
        bench_add(&trips, 1e3 / floor_round_trips(1, 1));
        handovers_run(all, measured_s);
        bench_add(&median, handovers_took_ms(all, 0.5));
        bench_add(&late, handovers_took_ms(all, 0.99));
        bench_add(&commits, handovers_commit_ms(all, 0.5));
    }
    bench_print_head("hand-over of a lease, idle federation");
    bench_print_row("FREEZE to CONTRACT: median", "ms", &median, "2");
    bench_print_row("FREEZE to CONTRACT: 99 of 100", "ms", &late, "10");
    bench_print_row("one commit, for comparison: median", "ms", &commits, "");
    bench_print_row("one round trip with CURVE, one at a time", "ms", &trips, "");
    handovers_free(all);
    bench_place_release(&place);
    return 0;
}
