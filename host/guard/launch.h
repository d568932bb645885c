/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h: launches one command, the job's own or another, as a process: forks it,
 * holds it at a gate, then executes it.
 *
 * The process is born into its cgroup if there is one, leads a session of its own (else
 * the end of the agent's session would send it a SIGHUP), switches to the account,
 * opens its files as that account and executes /bin/sh -c COMMAND with exactly the
 * environment that is given. A command without shell syntax ("/path/program word ...")
 * is executed directly, so a signal that ends it is also how the command ended.
 *
 * Until launch_release the process waits at the gate, and if the guard dies it exits
 * there. So the record that the command has begun is on disk before its first
 * instruction. The process inherits no descriptor, signal disposition or signal mask of
 * the guard. An interactive job uses the pipes or the terminal of its guard
 * (host_stdio.h) where it names no files; a terminal is its controlling terminal.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_LAUNCH_H
#define SUBLET_HOST_GUARD_LAUNCH_H

#include "host/exec/exec.h"
#include "host/kernel/kernel.h"
#include "host/stdio/host_stdio.h"

struct launched {
    pid_t pid;
    int gate; /* to the process until exec; an error text may come back through it */
};

struct launch_command {
    const char *text;
    bool is_job; /* else another command: in /tmp, without input, output and the limits
                    of the job */
    const char **env;              /* NULL-terminated, with a free place for PWD */
    const struct job_stdio *stdio; /* of an interactive job; else NULL */
    const char
        *report; /* appended to the job's output, instead of a command; or NULL */
};

/* Forks the process. `dir` is the run's directory. On success the process is in
 * `cgroup` if that is still open: if the kernel refuses, the cgroup is removed, and the
 * run goes without. It enters `memcg` itself before it waits at the gate; if it cannot,
 * it gives up when it is released. Errors: ERR_FULL, ERR_IO. */
int launch_fork(struct launched *launched, int dir, const struct run_spec *spec,
                struct launch_command *command, const struct account *account,
                struct cgroup *cgroup, const struct memcg *memcg,
                struct err *err) MUST_CHECK;
/* Launches a command beside the job, without cgroup, and lets it begin. An error before
 * its exec is not reported, except by its exit code. */
int launch_aside(pid_t *pid, int dir, const struct run_spec *spec,
                 struct launch_command *command, const struct account *account,
                 struct err *err) MUST_CHECK;
void launch_release(struct launched *launched);
/* Instead of release: the process exits at the gate. */
void launch_abandon(struct launched *launched);

/* After its end: true, with a sentence, if the command was never executed. */
bool launch_has_failed(struct launched *launched, char *text, size_t size);

#endif
