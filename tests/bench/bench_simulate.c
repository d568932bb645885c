/* SPDX-License-Identifier: Apache-2.0 */
/* bench_simulate.c: the simulator: two real traces in one federation; steps of step
 * machines per second; small federations with many faults per minute, on one processor.
 *
 * The traces are in $SUBLET_DATA, else in ../shared/data. Without them that row is
 * omitted. The sites are those of docs/scenarios/two-real-sites: 68 hosts with 2,176
 * slots and 120 with 240, and a shared lease of 12 hosts; or three of all hosts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "sim/play/play.h"
#include "tests/bench/bench.h"

enum { WORLDS = 50, WORLD_S = 400 };

static struct arena arena;

/* ---- texts */

static const char *site_text(const char *name, const char *hosts, const char *rest)
{
    return arena_printf(&arena,
                        "Begin Site\nNAME = %s\nEnd Site\n"
                        "Begin Parameters\nMC_RECLAIM_DELAY = 10m\nEnd Parameters\n"
                        "Begin Host\nHOST_NAME MXJ\n%sEnd Host\n%s",
                        name, hosts, rest);
}

static const char *host_rows(const char *stem, int n_hosts, int n_slots)
{
    const char *text = "";

    for (int i = 1; i <= n_hosts; i++) {
        text = arena_printf(&arena, "%s%s%03d %d\n", text, stem, i, n_slots);
    }
    return text;
}

static const char *host_names(const char *stem, int n_hosts)
{
    const char *text = "";

    for (int i = 1; i <= n_hosts; i++) {
        text = arena_printf(&arena, "%s %s%03d", text, stem, i);
    }
    return text;
}

static const char queue_own[] = "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\n"
                                "End Queue\n";
static const char queue_all[] = "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\n"
                                "HOSTS = all+1 allremote\nEnd Queue\n";

static const char *export_text(const char *name, const char *hosts, int n_slots,
                               const char *consumer, const char *policy)
{
    return arena_printf(&arena,
                        "Begin HostExport\nNAME = %s\nPER_HOST =%s\nSLOTS = %d\n"
                        "TYPE = shared\nRECLAIM_POLICY = %s\n"
                        "DISTRIBUTION = ([%s, 1])\nEnd HostExport\n",
                        name, hosts, n_slots, policy, consumer);
}

struct texts {
    const char *cerit, *seth;
};

static char *read_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    long size;
    char *text;

    if (!file) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET)) {
        bench_fail("%s cannot be read", path);
    }
    text = arena_alloc(&arena, (size_t)size + 1, 1);
    *length = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

static int read_text(void *arg, const char *path, const char **text, size_t *length,
                     struct err *err)
{
    const struct texts *texts = arg;
    bool is_seth = !strcmp(path, "seth"), is_cerit = !strcmp(path, "cerit");

    *text = is_seth ? texts->seth : is_cerit ? texts->cerit : read_whole(path, length);
    if (!*text) {
        return err_set(err, ERR_IO, "%s: cannot be read", path);
    }
    if (is_seth || is_cerit) {
        *length = strlen(*text);
    }
    return 0;
}

/* ---- runs */

static struct scenario *read_scenario(struct texts *texts, const char *text)
{
    struct scenario_files files = {.read = read_text, .arg = texts};
    struct scenario *scenario = scenario_read("bench", text, strlen(text), &files);

    for (const struct conf_diag *diag = scenario->conf.diags; diag; diag = diag->next) {
        bench_fail("%s:%d: %s", diag->file, diag->line, diag->text);
    }
    return scenario;
}

static struct world_counts play(const struct scenario *scenario, uint64_t seed)
{
    struct play_options options = {.seed = seed};
    struct play *one = play_new(scenario, &options);
    struct world_counts counts;

    if (play_run(one) == PLAY_VIOLATED) {
        bench_fail("%s", play_violation(one));
    }
    counts = play_counts(one);
    play_free(one);
    return counts;
}

/* Processor time of this process, which has less noise on a shared machine. */
static double cpu_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void measure_days(struct texts *texts, const char *data, int n_days, int runs,
                         const char *what, const char *aim)
{
    struct bench_series seconds = {.count = 0}, steps = {.count = 0};
    struct bench_series cpu = {.count = 0};
    const char *text = arena_printf(&arena,
                                    "site cerit cerit\nsite seth seth\n"
                                    "at 0 workload cerit %s/metacentrum-2013.swf\n"
                                    "at 0 workload seth %s/hpc2n.swf\nuntil %dd\n",
                                    data, data, n_days);

    for (int i = 0; i < runs; i++) {
        double began = bench_now(), cpu_began = cpu_now();
        struct scenario *scenario = read_scenario(texts, text);
        struct world_counts counts = play(scenario, 1);

        bench_add(&seconds, bench_now() - began);
        bench_add(&cpu, cpu_now() - cpu_began);
        bench_add(&steps, (double)counts.steps / (bench_now() - began));
        scenario_free(scenario);
    }
    bench_print_row(what, "s", &seconds, aim);
    bench_print_row("processor time of it", "s", &cpu, "");
    bench_print_row("steps of machines in it", "/s", &steps, "");
}

static void measure_traces(void)
{
    const char *data = getenv("SUBLET_DATA") ? getenv("SUBLET_DATA") : "../shared/data";
    const char *zewura = host_rows("zewura", 20, 80);
    const char *hosts =
        arena_printf(&arena, "%s%s", zewura, host_rows("zegox", 48, 12));
    const char *seth = host_rows("seth", 120, 2);
    struct texts some = {
        site_text("cerit", hosts,
                  arena_printf(&arena, "%s%s", queue_own,
                               export_text("some", host_names("zegox", 12), 12, "seth",
                                           "demand"))),
        site_text("seth", seth, queue_all)};
    /* By LSF's rule idle slots change hands at each reclaim delay, for ever. */
    struct texts all = {
        site_text(
            "cerit", hosts,
            arena_printf(
                &arena, "%s%s%s", queue_all,
                export_text("big", host_names("zewura", 20), 80, "seth", "lsf"),
                export_text("small", host_names("zegox", 48), 12, "seth", "lsf"))),
        site_text("seth", seth,
                  arena_printf(
                      &arena, "%s%s", queue_all,
                      export_text("all", host_names("seth", 120), 2, "cerit", "lsf")))};
    char path[512];
    size_t length;

    snprintf(path, sizeof path, "%s/hpc2n.swf", data);
    if (!read_whole(path, &length)) {
        printf("the traces are not in %s: not measured\n", data);
        return;
    }
    measure_days(&some, data, 90, BENCH_RUNS, "two traces, 21,071 jobs, 90 days",
                 "10 s");
    measure_days(&all, data, 200, 1, "the same, all hosts lent both ways, 200 days",
                 "3 s");
}

/* Two small sites with loss, repetition, delay and crashes. */
static void measure_worlds(void)
{
    struct texts texts = {site_text("cerit", host_rows("c", 3, 4),
                                    arena_printf(&arena, "%s%s", queue_own,
                                                 export_text("some", host_names("c", 2),
                                                             4, "seth", "demand"))),
                          site_text("seth", host_rows("s", 2, 2), queue_all)};
    struct bench_series worlds = {.count = 0}, steps = {.count = 0};
    struct bench_series cpu = {.count = 0};
    struct scenario *scenario = read_scenario(
        &texts, arena_printf(&arena,
                             "site cerit cerit\nsite seth seth\n"
                             "at 0 loss 10%%\nat 0 repeat 10%%\nat 0 reorder 1\n"
                             "at 0 crashes 0.5%% 10s\n"
                             "at 1 submit seth run=30 count=60 rerun=yes name=a\n"
                             "at 2 submit cerit run=40 count=40 rerun=yes name=b\n"
                             "at 1m set reclaim_delay 10s\n"
                             "at 2m partition seth 40\nat 4m crash broker 10\n"
                             "until %d\n",
                             WORLD_S));
    for (int i = 0; i < BENCH_RUNS; i++) {
        double began = bench_now(), cpu_began = cpu_now(), n_steps = 0;

        for (int k = 0; k < WORLDS; k++) {
            n_steps += (double)play(scenario, (uint64_t)(i * WORLDS + k + 1)).steps;
        }
        bench_add(&worlds, WORLDS * 60 / (bench_now() - began));
        bench_add(&cpu, (cpu_now() - cpu_began) * 1000 / WORLDS);
        bench_add(&steps, n_steps / (bench_now() - began));
    }
    bench_print_row("worlds of 400 s with faults, one processor", "/min", &worlds,
                    "5,000/min");
    bench_print_row("processor time of one", "ms", &cpu, "");
    bench_print_row("steps of machines in them", "/s", &steps, "");
    scenario_free(scenario);
}

int main(void)
{
    arena_init(&arena);
    bench_print_head("simulate");
    measure_traces();
    measure_worlds();
    arena_release(&arena);
    return 0;
}
