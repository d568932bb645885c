/* SPDX-License-Identifier: Apache-2.0 */
/* host_spool.h: the spool directory of one sublet-host (run_dir.h draws it).
 *
 * Ownership: one process per spool: opening it takes its lock for the process's life.
 * Errors: ERR_EXISTS another sublet-host serves it; ERR_IO with the path.
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_SPOOL_H
#define SUBLET_HOST_AGENT_HOST_SPOOL_H

#include <stdbool.h>

#include "base/err.h"

enum { HOST_SPOOL_PATH_SIZE = 4096 };

struct host_spool {
    char path[HOST_SPOOL_PATH_SIZE]; /* absolute */
    int lock, runs, trash;           /* descriptors */
    unsigned long n_trashed;
};

/* Makes what is missing of it. */
int host_spool_open(struct host_spool *spool, const char *path,
                    struct err *err) MUST_CHECK;
void host_spool_close(struct host_spool *spool);

/* Runs by their directory's name ("SITE.ATTEMPT"). Both return a descriptor; open
 * returns -1 where there is none. */
int host_spool_make_run(const struct host_spool *spool, const char *name,
                        struct err *err);
int host_spool_open_run(const struct host_spool *spool, const char *name);

/* Takes the lock of a run's open directory; false where its guard has it. It is given
 * back when the descriptor is closed. */
bool host_spool_lock_run(int dir);

/* Deletes a run's directory. False where the job left more than can be deleted at once:
 * it is out of the way then, and `left` (HOST_SPOOL_PATH_SIZE) is where it lies. */
bool host_spool_remove_run(struct host_spool *spool, const char *name, char *left);

/* Calls back for each run, and for each directory that waits to be deleted. */
typedef void (*host_spool_entry_fn)(void *arg, const char *name);
void host_spool_list_runs(const struct host_spool *spool, host_spool_entry_fn fn,
                          void *arg);
void host_spool_list_trash(const struct host_spool *spool, host_spool_entry_fn fn,
                           void *arg);

#endif
