/* SPDX-License-Identifier: Apache-2.0 */
/* host_runs.h: the runs of this host, according to their directories and guards.
 *
 * The directories are authoritative; the table holds what was read from them and what
 * guards have sent since. A run whose state is not known yet, because its guard is
 * starting or is being reaped, has phase RUN_UNKNOWN here and is not reported to the
 * site.
 *
 * Start, go, control and forget may be repeated without harm. Their results come from
 * the guard. Each change is told to the session, whose table of runs this fills.
 *
 * Units: milliseconds. Ownership: a pointer to a run is valid until the next call that
 * may forget it, or the next turn of the loop. Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_RUNS_H
#define SUBLET_HOST_AGENT_HOST_RUNS_H

#include <czmq.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "host/agent/host_spool.h"
#include "host/agent/spec_writer.h"
#include "host/exec/exec_session.h"
#include "model/msg.h"
#include "sys/shell.h"

struct host_runs_setting {
    const char *guard; /* program */
    const char *boot_id;
    struct spec_writer_setting spec;
};

/* All pointers, and the setting's texts, are borrowed for the table's life. */
struct host_runs;
int host_runs_new(zloop_t *loop, struct host_spool *spool,
                  const struct host_runs_setting *setting, struct exec_session *session,
                  struct shell *shell, struct host_runs **runs,
                  struct err *err) MUST_CHECK;
void host_runs_free(struct host_runs *runs);
/* Finds the runs that an earlier sublet-host left. */
void host_runs_load(struct host_runs *runs);

/* A run that is not known yet. If it cannot be started, it is added as ENDED, FAILED,
 * with the reason. */
void host_runs_start(struct host_runs *runs, const struct msg_run_start *start);
/* Returns true if its guard got the request and will answer. */
bool host_runs_go(struct host_runs *runs, struct host_run *run, uint64_t token);
bool host_runs_control(struct host_runs *runs, struct host_run *run,
                       const struct run_control *control);
bool host_runs_resize(struct host_runs *runs, struct host_run *run,
                      const struct msg_run_resize *resize);
/* An ended run is deleted. A waiting one is gone, without a report, after its guard has
 * exited. Returns false if the run is running. */
bool host_runs_forget(struct host_runs *runs, struct host_run *run);

/* Opens the run's directory; -1 if there is none. */
int host_runs_open(const struct host_runs *runs, const struct host_run *run);

/* Called regularly: gives up guards that do not start. */
void host_runs_tick(struct host_runs *runs);

#endif
