/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_cluster.h: a test program in a real Slurm cluster of its own
 * (tests/slurm/cluster).
 *
 * The program starts the cluster in namespaces, and itself again in it. Ownership:
 * texts are in the caller's arena. */
#ifndef SUBLET_TESTS_IO_SLURM_CLUSTER_H
#define SUBLET_TESTS_IO_SLURM_CLUSTER_H

#include "base/arena.h"
#include "base/err.h"

/* The directory of the cluster that this program runs in; NULL: it is not in one. */
const char *slurm_cluster_inside(void);
/* Runs this program in a cluster, and fails the test if it fails. Skips the test, with
 * a message, if a program of Slurm is missing, or this is not root. `settings`: further
 * lines of slurm.conf. */
void slurm_cluster_run(const char *settings);

/* Runs a command to its end: 0 and what it printed, or the error. */
int slurm_cluster_try(struct arena *arena, const char *const *words, const char **text,
                      struct err *err) MUST_CHECK;
/* A line of the shell that must succeed. */
void slurm_cluster_shell(const char *line);

#endif
