/* SPDX-License-Identifier: Apache-2.0 */
/* elim.h: an elim: an administrator's program that measures what Sublet cannot, and
 * says so on its standard output, a line of elim_line.h at a time.
 *
 * It is started, and started again with a growing pause whenever it ends. What it has
 * said counts while it lives, each value for ELIM_SILENT_MS: a program that hangs must
 * not vouch for ever. One that ends with status ELIM_ABORT (its environment says which,
 * as LSF's does) has nothing to measure here and is not started again. It is read no
 * faster than ELIM_READ_MS allows; the pipe holds the rest. It is killed with all its
 * process group when this host's agent ends, and by the kernel when that is killed.
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

/* On SIGCHLD, before anybody waits for any child. */
void elim_reap(struct elim *elim);

/* What it has said and still counts; at most `max`. Returns how many. */
int elim_values(struct elim *elim, struct load_value *values, int max);
/* True where something else is told since the last call. */
bool elim_has_news(struct elim *elim);

#endif
