/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h: a run's command, the job's own or one before or after it, as a process:
 * forked, held at a gate, then the command.
 *
 * It is born into its cgroup where there is one, leads a session of its own (else the
 * end of the agent's session would hang it up), takes the account, opens its files as
 * that account and becomes /bin/sh -c COMMAND with exactly the variables of the spec.
 * A command without anything for a shell to interpret ("/path/program word ...") it
 * becomes itself: its process is the job's, and a signal that ends it is how it ended.
 * Until release it stands at the gate, and if the guard dies it ends there, so the
 * record that it has begun is on disk before its first instruction. The guard lets no
 * descriptor, signal disposition or mask through. An interactive job has its guard's
 * pipes or terminal (job_stdio.h) where it names no files; of a terminal it is the
 * session that is controlled by it.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_LAUNCH_H
#define SUBLET_HOST_GUARD_LAUNCH_H

#include <sys/types.h>

#include "host/exec/run_spec.h"
#include "host/kernel/account.h"
#include "host/kernel/cgroup.h"
#include "host/stdio/job_stdio.h"

struct launched {
    pid_t pid;
    int gate; /* to the job until it has become the command; what went wrong comes back
               */
};

/* What it becomes. */
struct launch_command {
    const char *text;
    bool is_job; /* else a command before or after it: in /tmp, without input, output
                    and the limits of the job */
    const char *const *env;
    const struct job_stdio *ends; /* of an interactive job; NULL: it is none */
};

/* Forks it. `dir` is the run's directory. On success `cgroup` is what the job is in:
 * where the kernel refuses that, the cgroup is removed and the run goes without. */
int launch_fork(struct launched *job, int dir, const struct run_spec *spec,
                const struct launch_command *command, const struct account *account,
                struct cgroup *cgroup, struct err *err) MUST_CHECK;
void launch_release(struct launched *job);
/* Instead of release: it ends at the gate. */
void launch_abandon(struct launched *job);

/* Once it has ended: true, with a sentence, where the command was never begun. */
bool launch_has_failed(struct launched *job, char *text, size_t size);

#endif
