/* SPDX-License-Identifier: Apache-2.0 */
/* start_file.h: RUN_START of a run in its directory, as the site sent it: what an
 * administrator needs to know of a run that the site's journal has lost, and what a new
 * job is made of if the run is adopted. No guard reads it.
 *
 * Errors: ERR_IO, ERR_NOT_FOUND (a run of an earlier version has none), ERR_PARSE.
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_START_FILE_H
#define SUBLET_HOST_AGENT_START_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/msg.h"

/* `dir` is the run's open directory. */
int start_file_write(int dir, const struct msg_run_start *start,
                     struct err *err) MUST_CHECK;
int start_file_read(int dir, struct arena *arena, struct msg_run_start *start,
                    struct err *err) MUST_CHECK;
/* The run has these slots from now on, or may have them. */
int start_file_set_hosts(int dir, const struct host_slots *hosts, int n_hosts,
                         struct err *err) MUST_CHECK;

#endif
