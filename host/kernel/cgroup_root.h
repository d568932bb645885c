/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_root.h: where this machine lets sublet-host make cgroups for its runs, and who
 * keeps their memory limits there.
 *
 * Version 2: a directory "sublet" in the mount that /proc/self/mountinfo tells (on a
 * hybrid machine not /sys/fs/cgroup itself). It is made, in this order, beside our own
 * cgroup where that is named "agent" (systemd's Delegate=yes and
 * DelegateSubgroup=agent), in our own, in the root. Of those that can be written to the
 * first counts that has the memory controller, else the first: a cgroup with processes
 * in it cannot give the controller to those below it, so our own never has it.
 *
 * Version 1: where no such place has the memory controller, "sublet" in the hierarchy
 * of that controller, if it can be written to.
 *
 * Source: cgroup-v2.rst ("No Internal Process Constraint"), systemd's
 * CGROUP_DELEGATION. Layer: host. */
#ifndef SUBLET_HOST_KERNEL_CGROUP_ROOT_H
#define SUBLET_HOST_KERNEL_CGROUP_ROOT_H

#include <stdbool.h>
#include <stddef.h>

enum { CGROUP_ROOT_PATH_SIZE = 1024 };

struct cgroup_root {
    char path[CGROUP_ROOT_PATH_SIZE];   /* "": none */
    bool has_memory;                    /* it keeps memory limits */
    char memory[CGROUP_ROOT_PATH_SIZE]; /* of version 1 instead; "": none */
};

/* `process` is our directory in /proc ("/proc/self"). */
void cgroup_root_find(const char *process, struct cgroup_root *found);

/* Removes runs' cgroups that have been left empty there (their guard was killed and
 * their spool deleted). Young ones stay: a guard may be about to use them. */
void cgroup_root_sweep(const struct cgroup_root *found);

#endif
