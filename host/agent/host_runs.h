/* SPDX-License-Identifier: Apache-2.0 */
/* host_runs.h: the runs of this host, as their directories and guards say they are.
 *
 * The directories are the truth; this table is what was read of them and what the
 * guards said since. A run whose state is not known yet (its guard is starting, or it
 * is being buried) has phase RUN_UNKNOWN here for that while, and nobody is told about
 * it.
 *
 * Start, go, control and forget are harmless when repeated. What they lead to comes
 * through `on_change`, from the guard.
 *
 * Units: milliseconds. Ownership: a pointer to a run lives until the next call that may
 * forget it, or the loop's next turn. Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_RUNS_H
#define SUBLET_HOST_AGENT_HOST_RUNS_H

#include <czmq.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "host/agent/host_spool.h"
#include "host/agent/spec_writer.h"
#include "host/exec/guard_record.h"
#include "model/msg.h"

enum { HOST_RUNS_NAME_SIZE = NAME_SIZE + 24 };

struct host_run {
    char name[HOST_RUNS_NAME_SIZE]; /* "SITE.ATTEMPT" */
    char site[NAME_SIZE];
    uint64_t attempt;
    struct guard_record record; /* phase RUN_UNKNOWN: not known yet */
    /* The agent's: */
    bool is_told;     /* the site was sent the record as it is ... */
    bool is_use_told; /* ... and what it has used, while it runs */
    int64_t told_ms;
};

struct host_runs_setting {
    const char *guard; /* program */
    const char *boot_id;
    struct spec_writer_setting spec;
};

/* The run is as it stands there now; or it is gone, without having begun. */
typedef void (*host_runs_change_fn)(void *arg, struct host_run *run, bool is_gone);

/* `spool` and the setting's texts are borrowed for the table's life. */
struct host_runs;
int host_runs_new(zloop_t *loop, struct host_spool *spool,
                  const struct host_runs_setting *setting,
                  host_runs_change_fn on_change, void *arg, struct host_runs **runs,
                  struct err *err) MUST_CHECK;
void host_runs_free(struct host_runs *runs);
/* Finds again what an earlier sublet-host left. */
void host_runs_load(struct host_runs *runs);

struct host_run *host_runs_find(const struct host_runs *runs, const struct run_id *id);
/* Walks over all, in the order in which they came: NULL begins and ends. */
struct host_run *host_runs_next(const struct host_runs *runs,
                                const struct host_run *run);

/* An existing run stays as it is. A run that cannot be started is there nevertheless,
 * ENDED, FAILED with why. */
struct host_run *host_runs_start(struct host_runs *runs,
                                 const struct msg_run_start *start);
/* True where its guard was told and will answer. */
bool host_runs_go(struct host_runs *runs, struct host_run *run, uint64_t token);
bool host_runs_control(struct host_runs *runs, struct host_run *run,
                       const struct run_control *control);
bool host_runs_resize(struct host_runs *runs, struct host_run *run,
                      const struct msg_run_resize *resize);
/* Ended: deletes it. Waiting: its guard ends first, then it is gone in silence. False
 * where it runs. */
bool host_runs_forget(struct host_runs *runs, struct host_run *run);

/* The run's directory, for who has something in it to read; -1 where there is none. */
int host_runs_open(const struct host_runs *runs, const struct host_run *run);

/* Now and then: gives up guards that do not come up. */
void host_runs_tick(struct host_runs *runs);

#endif
