/* SPDX-License-Identifier: Apache-2.0 */
/* guard_job.h: a run's command, the job's own or one before or after it, as a process:
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
 * pipes or terminal (guard_ends.h) where it names no files; of a terminal it is the
 * session that is controlled by it.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_JOB_H
#define SUBLET_HOST_GUARD_JOB_H

#include <sys/types.h>

#include "host/guard_account.h"
#include "host/guard_cgroup.h"
#include "host/guard_ends.h"
#include "host/guard_spec.h"

struct guard_job {
    pid_t pid;
    int gate; /* to the job until it has become the command; what went wrong comes back
               */
};

/* What it becomes. */
struct guard_command {
    const char *text;
    bool is_job; /* else a command before or after it: in /tmp, without input, output
                    and the limits of the job */
    const char *const *env;
    const struct guard_ends *ends; /* of an interactive job; NULL: it is none */
};

/* Forks it. `dir` is the run's directory. On success `cgroup` is what the job is in:
 * where the kernel refuses that, the cgroup is removed and the run goes without. */
int guard_job_fork(struct guard_job *job, int dir, const struct guard_spec *spec,
                   const struct guard_command *command,
                   const struct guard_account *account, struct guard_cgroup *cgroup,
                   struct err *err) MUST_CHECK;
void guard_job_release(struct guard_job *job);
/* Instead of release: it ends at the gate. */
void guard_job_abandon(struct guard_job *job);

/* Once it has ended: true, with a sentence, where the command was never begun. */
bool guard_job_has_failed(struct guard_job *job, char *text, size_t size);

#endif
