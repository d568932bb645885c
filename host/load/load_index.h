/* SPDX-License-Identifier: Apache-2.0 */
/* load_index.h: LSF's load indices from what was read of the machine: rates between two
 * readings, smoothed over LSF's periods.
 *
 * Smoothing is the kernel's own: with each reading the old value keeps e^(-dt/period)
 * of its weight. The first rate is taken as it is. A counter that went back (it
 * wrapped, or a disk is gone) gives no rate for that reading.
 *
 * Units: r15s r1m r15m processes; ut 0.0 to 1.0; pg pages/s; io KB/s; ls users; it
 * minutes; tmp swp mem MB (2^20 bytes), as LSF has them. LOAD_INDEX_UNKNOWN: not known.
 * Source: docs/resources.md; spec/LSF 5.8. Layer: host (libc only). */
#ifndef SUBLET_HOST_LOAD_LOAD_INDEX_H
#define SUBLET_HOST_LOAD_LOAD_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "host/load/load_proc.h"

#define LOAD_INDEX_UNKNOWN (-1.0)

/* One reading. What `has_` is false for could not be read. */
struct load_sample {
    int64_t now_ms; /* of a monotonic clock */
    bool has_cpu, has_average, has_memory, has_pages, has_disks, has_tmp, has_users;
    struct load_proc_cpu cpu;
    double minute, quarter; /* the kernel's averages */
    struct load_proc_memory memory;
    uint64_t n_pages;
    uint64_t disk_kib;
    int64_t tmp_mib, max_tmp_mib;
    int n_users;
    int64_t idle_s; /* since any logged-in user did something */
};

enum load_index_name {
    LOAD_R15S,
    LOAD_R1M,
    LOAD_R15M,
    LOAD_UT,
    LOAD_PG,
    LOAD_IO,
    LOAD_LS,
    LOAD_IT,
    LOAD_TMP,
    LOAD_SWP,
    LOAD_MEM,
    LOAD_INDICES
};

struct load_index {
    bool has_last;
    struct load_sample last;
    double values[LOAD_INDICES];
};

void load_index_init(struct load_index *index);
void load_index_take(struct load_index *index, const struct load_sample *sample);

/* "r15s" and so on. */
const char *load_index_name(enum load_index_name name);
/* True if it is a load index of LSF, which an elim may report too. */
bool load_index_is_name(const char *name);

#endif
