/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h: what the benchmarks share: repeated figures and their table, a directory of
 * their own, daemons in it.
 *
 * A figure is the median of several runs with its range, beside its aim and beside what
 * the same machine did at the same time with the bare parts (floor.h): the machine may
 * be shared, and only the ratio then says anything.
 * Errors: a benchmark that cannot go on says why and ends with exit 1.
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_BENCH_H
#define SUBLET_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <sys/types.h>

enum { BENCH_RUNS = 5, BENCH_DAEMONS_MAX = 8 };

struct bench_series {
    double values[BENCH_RUNS];
    int count;
};

/* Seconds of a clock that does not jump. */
double bench_now(void);
/* Seconds of a processor that this thread has had: what is left of a figure where the
 * machine is shared. */
double bench_cpu_now(void);
/* The wall clock, as daemons write it down. */
double bench_wall_ms(void);

_Noreturn void bench_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

void bench_add(struct bench_series *series, double value);
/* Sorts the values. */
double bench_median(struct bench_series *series);
/* The value that `share` (0.99) of the sorted values do not exceed. Sorts them. */
double bench_percentile(double *values, int count, double share);

/* Heading of the table, then a row each. `aim` and `floor` as text; "": none. */
void bench_print_head(const char *title);
void bench_print_row(const char *work, const char *unit, struct bench_series *series,
                     const char *aim);
/* Likewise, and how many of `floor` one of the work takes. */
void bench_print_row_floor(const char *work, const char *unit,
                           struct bench_series *series, const char *aim,
                           const char *floor_name, struct bench_series *floor);

/* A directory below TMPDIR that goes with all in it, and daemons with all that they
 * started. Programs come from $SUBLET_BIN, else build/bin. */
struct bench_place {
    char dir[128];
    pid_t daemons[BENCH_DAEMONS_MAX];
    int n_daemons;
};
void bench_place_init(struct bench_place *place);
void bench_place_release(struct bench_place *place);
/* DIR/name, in a static buffer of a few. */
const char *bench_place_path(const struct bench_place *place, const char *name);
void bench_place_write(const struct bench_place *place, const char *name,
                       const char *format, ...) __attribute__((format(printf, 3, 4)));
/* NAME.key and NAME.key_secret. */
void bench_place_make_key(const struct bench_place *place, const char *name);
/* Runs a daemon with NAME.conf until it says that it is ready. */
pid_t bench_place_start(struct bench_place *place, const char *program,
                        const char *name);
/* Ends what was started last, and waits. */
void bench_place_stop_last(struct bench_place *place);
/* Likewise by SIGKILL: what it left is ended with the place. */
void bench_place_kill_last(struct bench_place *place);
/* Processor time that the daemon started last has used. */
double bench_place_cpu_s(const struct bench_place *place);
/* Its memory, now or at most. */
double bench_place_memory_mib(const struct bench_place *place, bool is_peak);
int bench_free_port(void);

#endif
