/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h: what the benchmarks share: repeated figures and their table, a temporary
 * directory, and daemons in it.
 *
 * A figure is the median of several runs with its range. It is printed with its aim,
 * and with what the same machine did at the same time with the bare parts (floor.h). If
 * the machine is shared, only the ratio of the two has a meaning.
 *
 * Errors: a benchmark that fails prints the reason and exits with 1.
 *
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

/* Seconds of a monotonic clock. */
double bench_now(void);
/* Processor time of this thread in seconds, which other processes of a shared machine
 * change least. */
double bench_cpu_now(void);
/* The wall clock, as in the times that daemons record. */
double bench_wall_ms(void);

_Noreturn void bench_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

void bench_add(struct bench_series *series, double value);
/* Sorts the values. */
double bench_median(struct bench_series *series);
/* The value that `share` (0.99) of the values do not exceed. Sorts them. */
double bench_percentile(double *values, int count, double share);

/* The heading of the table, then one row per call. `aim` "": none; "0.6 x": of the
 * floor. */
void bench_print_head(const char *title);
void bench_print_row(const char *work, const char *unit, struct bench_series *series,
                     const char *aim);
/* The same, with the ratio of the floor to the figure. */
void bench_print_row_floor(const char *work, const char *unit,
                           struct bench_series *series, const char *aim,
                           const char *floor_name, struct bench_series *floor);

/* A directory below TMPDIR, which is removed with its contents, and daemons, which are
 * ended with all their processes. Programs come from $SUBLET_BIN, else build/bin. */
struct bench_place {
    char dir[128];
    pid_t daemons[BENCH_DAEMONS_MAX];
    int n_daemons;
};
void bench_place_init(struct bench_place *place);
void bench_place_release(struct bench_place *place);
/* DIR/name, in one of a few static buffers. */
const char *bench_place_path(const struct bench_place *place, const char *name);
void bench_place_write(const struct bench_place *place, const char *name,
                       const char *format, ...) __attribute__((format(printf, 3, 4)));
/* NAME.key and NAME.key_secret. */
void bench_place_make_key(const struct bench_place *place, const char *name);
/* Starts a daemon with NAME.conf and waits until it is ready. */
pid_t bench_place_start(struct bench_place *place, const char *program,
                        const char *name);
/* Ends the daemon started last, and waits for it. */
void bench_place_stop_last(struct bench_place *place);
/* The same with SIGKILL. Its other processes are ended by bench_place_release. */
void bench_place_kill_last(struct bench_place *place);
/* Processor time that a process has used, in seconds. */
double bench_process_cpu_s(pid_t pid);
/* The same of the daemon started last. */
double bench_place_cpu_s(const struct bench_place *place);
/* The same of its first thread, which is the loop, to the nanosecond. */
double bench_place_loop_s(const struct bench_place *place);
/* Its memory, now or at its peak. */
double bench_place_memory_mib(const struct bench_place *place, bool is_peak);
int bench_free_port(void);

#endif
