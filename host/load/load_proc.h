/* SPDX-License-Identifier: Apache-2.0 */
/* load_proc.h: parses the texts of /proc and /sys about load. Reads no file.
 *
 * Units: as named; ticks are the kernel's, since boot. Every text ends in a NUL.
 * Errors: false if the text does not contain the value; the result is unchanged then.
 * Source: proc(5); LSF's load indices (docs/resources.md).
 * Layer: host (libc only). */
#ifndef SUBLET_HOST_LOAD_LOAD_PROC_H
#define SUBLET_HOST_LOAD_LOAD_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

/* /proc/stat: time of all processors, and how many processes want one now. */
struct load_proc_cpu {
    uint64_t busy_ticks, all_ticks; /* busy: in user and system code */
    uint64_t n_running, n_blocked;  /* blocked: they wait for a disk */
    int64_t boot_s;                 /* since 1970 */
};
bool load_proc_read_cpu(const char *text, struct load_proc_cpu *cpu);

/* /proc/loadavg: the kernel's averages of running and blocked processes. */
bool load_proc_read_average(const char *text, double *minute, double *quarter);

/* /proc/meminfo. Free memory is what jobs can have without swapping. */
struct load_proc_memory {
    int64_t all_kib, free_kib, all_swap_kib, free_swap_kib;
};
bool load_proc_read_memory(const char *text, struct load_proc_memory *memory);

/* /proc/vmstat: pages that came in because a process had to wait for them, and pages
 * that went out to swap, since boot. */
bool load_proc_read_pages(const char *text, uint64_t *n_pages);

/* /sys/block/DISK/stat: read and written since boot. */
bool load_proc_read_disk(const char *text, uint64_t *kib);

/* /proc/cpuinfo: the first processor as LSF writes it in section HostModel,
 * "x6_4000_IntelRXeonRProcessor": family, speed, name. Also false if it does not fit.
 */
bool load_proc_read_model(const char *text, char *model, size_t size);

/* ---- processors
 *
 * They are counted as LSF does: n_procs sockets, n_cores in each, n_threads on each
 * core; if sockets differ, rounded up. */
struct load_machine {
    char type[NAME_SIZE];        /* as LSF names it: X86_64; "": unknown */
    char model[LOAD_VALUE_SIZE]; /* as ARCHITECTURE of section HostModel; "": unknown */
    int n_procs, n_cores, n_threads;
    int n_disks;
};

/* The socket and core of a logical processor. */
struct load_cpu_place {
    int package, core;
};

/* Fills the counts, with 1 if there is nothing to count. Sorts `places`. */
void load_proc_count_cpus(struct load_machine *facts, struct load_cpu_place *places,
                          int n_places);

/* Of uname(2)'s machine: "X86_64", as LSF calls host types. */
void load_proc_type(const char *machine, char *type, size_t size);

#endif
