/* SPDX-License-Identifier: Apache-2.0 */
/* host_cgroup.h: where this machine lets sublet-host make cgroups for its runs.
 *
 * The cgroup2 mount is the one of that type in /proc/self/mountinfo (on a hybrid
 * machine not /sys/fs/cgroup itself). There a directory "sublet" is made: below our own
 * cgroup (what systemd's Delegate=yes gives us), else below the root. Source:
 * PITFALLS 5. Layer: host. */
#ifndef SUBLET_HOST_HOST_CGROUP_H
#define SUBLET_HOST_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* False, and "", where there is no such place. */
bool host_cgroup_find(char *path, size_t size);

/* Removes runs' cgroups that have been left empty there (their guard was killed and
 * their spool deleted). Young ones stay: a guard may be about to use them. */
void host_cgroup_sweep(const char *path);

#endif
