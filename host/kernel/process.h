/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: processes of the machine as /proc shows them, and signals to them
 * that cannot hit a stranger.
 *
 * A process is its id together with its start time: an id alone may have been given to
 * another process since.
 *
 * Units: clock ticks since boot (field 22 of /proc/PID/stat).
 * Layer: host (guard). */
#ifndef SUBLET_HOST_KERNEL_PROCESS_H
#define SUBLET_HOST_KERNEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid, parent, session;
    char state; /* as ps shows it: R S D T Z */
    uint64_t start;
    uint64_t cpu_ticks; /* of itself and the children that it has waited for */
    uint64_t n_threads, virtual_bytes, resident_pages;
};

/* False where there is no such process. */
bool process_read(pid_t pid, struct process *process);

/* All processes of the machine by id; the caller frees it. */
struct process *process_list(int *count);

/* True where `text` stands in its environment as it was at exec. */
bool process_has_env(pid_t pid, const char *text);

/* Sends the signal if that very process still lives; false where it is gone. */
bool process_signal(const struct process *process, int signal);

#endif
