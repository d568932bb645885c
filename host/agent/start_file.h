/* SPDX-License-Identifier: Apache-2.0 */
/* start_file.h: RUN_START of a run in its directory, as the site sent it: what an
 * administrator needs to know of a run that the site's journal has lost, and what a new
 * job is made of if the run is adopted. No guard reads it.
 *
 * It stands behind the run's spec, so that a start writes one file. A file `start`
 * counts instead, if there is one. Both are the message (proto/codec.h) and its sum
 * (8 bytes).
 *
 * Errors: ERR_IO, ERR_NOT_FOUND (a run of an earlier version has none), ERR_PARSE,
 * ERR_BOUNDS (a file is too large).
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_START_FILE_H
#define SUBLET_HOST_AGENT_START_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/msg.h"

/* Message and sum; the caller frees *bytes. */
int start_file_encode(const struct msg_run_start *start, uint8_t **bytes,
                      size_t *length, struct err *err) MUST_CHECK;
/* Writes the file `start`. `dir` is the run's open directory. */
int start_file_write(int dir, const struct msg_run_start *start,
                     struct err *err) MUST_CHECK;
int start_file_read(int dir, struct arena *arena, struct msg_run_start *start,
                    struct err *err) MUST_CHECK;
/* The run has these slots from now on, or may have them. */
int start_file_set_hosts(int dir, const struct host_slots *hosts, int n_hosts,
                         struct err *err) MUST_CHECK;

#endif
