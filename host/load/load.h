/* SPDX-License-Identifier: Apache-2.0 */
/* load.h: everything that this host reports about itself: its load, its type and
 * processors, its administrator's LSF_LOCAL_RESOURCES, and the values of elims.
 *
 * The machine is read every LOAD_READ_MS, users and /tmp every LOAD_SLOW_MS. A load
 * index of an elim replaces ours; type and processors cannot be replaced. Of two elims
 * with the same name the first counts.
 *
 * Units: those of LSF (load_index.h). Ownership: a filled message points into the load,
 * until the loop's next turn. Errors: in LSF_LOCAL_RESOURCES and of elims; nothing was
 * started by then. Layer: host. */
#ifndef SUBLET_HOST_LOAD_LOAD_H
#define SUBLET_HOST_LOAD_LOAD_H

#include <czmq.h>
#include <stdbool.h>

#include "base/err.h"
#include "model/msg.h"

enum {
    LOAD_READ_MS = 5000,
    LOAD_SLOW_MS = 30000,
    LOAD_REPORT_MS = 15000, /* LSF's interval */
    LOAD_ELIMS_MAX = 16,
};

struct load_setting {
    const char *local_resources; /* LSF_LOCAL_RESOURCES; NULL: none */
    const char *elims[LOAD_ELIMS_MAX];
    int n_elims;
};

struct load;
int load_new(zloop_t *loop, const struct load_setting *setting, struct load **load,
             struct err *err) MUST_CHECK;
/* Reads the load now and regularly from now on; starts the elims. */
int load_start(struct load *load, struct err *err) MUST_CHECK;
void load_free(struct load *load);

/* On SIGCHLD, before any other call waits for children. */
void load_reap(struct load *load);

/* True if a report is due: LOAD_REPORT_MS after `reported_ms`, or at once if an elim's
 * value has changed or another index is known. */
bool load_is_due(struct load *load, int64_t reported_ms, int64_t now_ms);
/* Fills in the values; runs stay. */
void load_fill(struct load *load, struct msg_host_load *msg);

#endif
