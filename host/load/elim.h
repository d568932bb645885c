/* SPDX-License-Identifier: Apache-2.0 */
/* elim.h: runs an elim: an administrator's program that measures what Sublet cannot,
 * and writes the values to its standard output, in lines as elim_line.h describes.
 *
 * Whenever the program exits it is started again, after a growing pause. Its values are
 * valid while it lives, each for ELIM_SILENT_MS, so that a hanging program does not
 * report old values for ever. Status ELIM_ABORT (passed to it in the environment, as
 * LSF does) means that there is nothing to measure here: it is not started again. Its
 * output is read every ELIM_READ_MS at most; the pipe holds the rest. The program and
 * its process group are killed when the agent ends, and by the kernel if the agent is
 * killed.
 *
 * Units: milliseconds. Ownership: values live until the loop's next turn.
 * Errors: ERR_NOT_FOUND, ERR_DENIED: no such program, not executable.
 * Layer: host. */
#ifndef SUBLET_HOST_LOAD_ELIM_H
#define SUBLET_HOST_LOAD_ELIM_H

#include <czmq.h>
#include <stdbool.h>

#include "base/err.h"
#include "model/msg.h"

enum {
    ELIM_ABORT = 97,
    ELIM_SILENT_MS = 600000,
    ELIM_READ_MS = 100,
};

struct elim;
/* Not started yet. */
int elim_new(zloop_t *loop, const char *program, struct elim **elim,
             struct err *err) MUST_CHECK;
void elim_start(struct elim *elim);
void elim_free(struct elim *elim); /* kills it */

/* On SIGCHLD, before any other call waits for children. */
void elim_reap(struct elim *elim);

/* The valid values; at most `max`. Returns how many. */
int elim_values(struct elim *elim, struct load_value *values, int max);
/* True if any value has changed since the last call. */
bool elim_has_changed(struct elim *elim);

#endif
