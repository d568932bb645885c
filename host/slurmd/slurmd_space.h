/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd_space.h: the namespaces that a slurmd of another cluster runs in, and all that
 * it starts.
 *
 * The first process of a PID namespace starts a munged with the cluster's key, and then
 * slurmd. It ends when slurmd does. If it is killed, the kernel kills all processes of
 * the namespace at once, wherever their cgroups are, so that nothing is left, and no
 * slurmstepd can report its job as failed. It is killed if this process ends.
 *
 * Accounts are those of a user namespace, in which slurmd is root and has no power
 * outside of it. Directories that slurmd writes to are empty file systems in memory:
 * /run (where other services of this host have their sockets), /var/log, /var/spool,
 * /var/lib/slurm, and /etc/slurm, so that neither a slurmd of this host nor its files
 * are touched.
 *
 * Errors: ERR_IO, with errno's text. What fails in the namespaces is said on standard
 * error, and they end. Layer: host. */
#ifndef SUBLET_HOST_SLURMD_SLURMD_SPACE_H
#define SUBLET_HOST_SLURMD_SLURMD_SPACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/slurmd/slurmd_request.h"

struct slurmd_start {
    const struct slurmd_accounts *accounts;
    const char *munge_key; /* a path */
    char *const *slurmd;   /* the command and its options, ended by NULL */
    int n_words;           /* of it */
};

struct slurmd_space {
    pid_t pid;
    int pidfd; /* readable once it has ended */
};

int slurmd_space_new(const struct slurmd_start *start,
                     const struct slurmd_request *request, struct slurmd_space *space,
                     struct err *err) MUST_CHECK;
/* Stops all processes but the first one, or lets them go on. */
void slurmd_space_suspend(const struct slurmd_space *space, bool is_suspended);
/* Ends all processes, and waits for that. Returns how the first one ended, as waitpid()
 * says. */
int slurmd_space_end(struct slurmd_space *space);

#endif
