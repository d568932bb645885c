/* SPDX-License-Identifier: Apache-2.0 */
/* load_machine.h: type, model, processors and disks of the machine.
 *
 * Processors are counted as LSF does: n_procs sockets, n_cores in each, n_threads on
 * each core; if sockets differ, rounded up. Layer: host (libc only). */
#ifndef SUBLET_HOST_LOAD_LOAD_MACHINE_H
#define SUBLET_HOST_LOAD_LOAD_MACHINE_H

#include "base/bounds.h"

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
void load_machine_count_cpus(struct load_machine *facts, struct load_cpu_place *places,
                             int n_places);

#endif
