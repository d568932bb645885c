/* SPDX-License-Identifier: Apache-2.0 */
/* load_index.c: see load_index.h.
 *
 * Example: r15s is 2.0, five seconds later 5 processes want a processor. The old value
 * keeps e^(-5/15) = 0.717 of its weight: 2.0 * 0.717 + 5 * 0.283 = 2.85. */
#include "host/load/load_index.h"

#include <math.h>
#include <string.h>

#define KIB_PER_MIB 1024

enum { SECONDS_15 = 15, MINUTE = 60 };

static const char *const names[LOAD_INDICES] = {
    [LOAD_R15S] = "r15s", [LOAD_R1M] = "r1m", [LOAD_R15M] = "r15m", [LOAD_UT] = "ut",
    [LOAD_PG] = "pg",     [LOAD_IO] = "io",   [LOAD_LS] = "ls",     [LOAD_IT] = "it",
    [LOAD_TMP] = "tmp",   [LOAD_SWP] = "swp", [LOAD_MEM] = "mem",
};

const char *load_index_name(enum load_index_name name)
{
    return names[name];
}

bool load_index_is_name(const char *name)
{
    for (int i = 0; i < LOAD_INDICES; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

void load_index_init(struct load_index *index)
{
    *index = (struct load_index){.has_last = false};
    for (int i = 0; i < LOAD_INDICES; i++) {
        index->values[i] = LOAD_INDEX_UNKNOWN;
    }
}

static void smooth(double *value, double now, double elapsed_s, int period_s)
{
    double weight = *value < 0 ? 0.0 : exp(-elapsed_s / period_s);
    *value = *value * weight + now * (1.0 - weight);
}

static void take_run_queue(struct load_index *index, const struct load_sample *sample,
                           double elapsed_s)
{
    if (sample->has_cpu) {
        uint64_t n_others = sample->cpu.n_running > 0 ? sample->cpu.n_running - 1 : 0;
        smooth(&index->values[LOAD_R15S], (double)(n_others + sample->cpu.n_blocked),
               elapsed_s, SECONDS_15); /* the reading process itself is no load */
    }
    index->values[LOAD_R1M] = sample->has_average ? sample->minute : LOAD_INDEX_UNKNOWN;
    index->values[LOAD_R15M] =
        sample->has_average ? sample->quarter : LOAD_INDEX_UNKNOWN;
}

static void take_rate(double *value, bool is_known, uint64_t before, uint64_t now,
                      double elapsed_s)
{
    if (is_known && now >= before && elapsed_s > 0) {
        smooth(value, (double)(now - before) / elapsed_s, elapsed_s, MINUTE);
    }
}

static void take_use(double *value, const struct load_proc_cpu *before,
                     const struct load_proc_cpu *now, double elapsed_s)
{
    if (now->all_ticks <= before->all_ticks || now->busy_ticks < before->busy_ticks) {
        return; /* idle time may go back a little: the kernel estimates it */
    }
    double busy = (double)(now->busy_ticks - before->busy_ticks) /
                  (double)(now->all_ticks - before->all_ticks);
    smooth(value, busy > 1.0 ? 1.0 : busy, elapsed_s, MINUTE);
}

static void take_rates(struct load_index *index, const struct load_sample *sample,
                       double elapsed_s)
{
    const struct load_sample *last = &index->last;
    if (sample->has_cpu && last->has_cpu) {
        take_use(&index->values[LOAD_UT], &last->cpu, &sample->cpu, elapsed_s);
    }
    take_rate(&index->values[LOAD_PG], sample->has_pages && last->has_pages,
              last->n_pages, sample->n_pages, elapsed_s);
    take_rate(&index->values[LOAD_IO], sample->has_disks && last->has_disks,
              last->disk_kib, sample->disk_kib, elapsed_s);
}

static double mib(bool is_known, int64_t kib)
{
    return is_known ? (double)(kib / KIB_PER_MIB) : LOAD_INDEX_UNKNOWN;
}

static void take_levels(struct load_index *index, const struct load_sample *sample)
{
    double *values = index->values;
    values[LOAD_MEM] = mib(sample->has_memory, sample->memory.free_kib);
    values[LOAD_SWP] = mib(sample->has_memory, sample->memory.free_swap_kib);
    values[LOAD_TMP] = sample->has_tmp ? (double)sample->tmp_mib : LOAD_INDEX_UNKNOWN;
    values[LOAD_LS] = sample->has_users ? sample->n_users : LOAD_INDEX_UNKNOWN;
    values[LOAD_IT] = sample->has_users && sample->idle_s >= 0
                          ? (double)(sample->idle_s / MINUTE)
                          : LOAD_INDEX_UNKNOWN;
}

void load_index_take(struct load_index *index, const struct load_sample *sample)
{
    double elapsed_s =
        index->has_last ? (double)(sample->now_ms - index->last.now_ms) / 1000.0 : 0.0;
    take_run_queue(index, sample, elapsed_s);
    if (index->has_last) {
        take_rates(index, sample, elapsed_s);
    }
    take_levels(index, sample);
    index->last = *sample;
    index->has_last = true;
}
