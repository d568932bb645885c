/* SPDX-License-Identifier: Apache-2.0 */
/* host_spool.h: the spool directory of one sublet-host (its layout is in run_dir.h).
 *
 * Ownership: one process per spool: opening it takes its lock for the process's life.
 * Errors: ERR_EXISTS another sublet-host serves it; ERR_IO with the path.
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_SPOOL_H
#define SUBLET_HOST_AGENT_HOST_SPOOL_H

#include <stdbool.h>

#include "base/err.h"
#include "model/msg.h"

enum { HOST_SPOOL_PATH_SIZE = 4096 };

struct host_spool {
    char path[HOST_SPOOL_PATH_SIZE]; /* absolute */
    int lock, runs, trash;           /* descriptors */
    int spare;                       /* likewise; -1: no directory is taken over */
    int n_spare;                     /* they are called "0", "1", ... */
    unsigned long n_trashed;
};

/* Makes missing directories. */
int host_spool_open(struct host_spool *spool, const char *path,
                    struct err *err) MUST_CHECK;
void host_spool_close(struct host_spool *spool);

/* A run that is made takes over the directory and the files `spec` and `state` of a run
 * that was deleted, if that one left nothing else: file systems spend more on a new
 * file than on what is written to it. A spare directory has a spec of NUL bytes, and a
 * record under the name of one that is not complete. Both are of sublet-host and its
 * guards alone. A run whose spec is above 64 KiB leaves no spare directory. No guard
 * holds the lock of a spare directory. Those that a sublet-host before left are
 * deleted.
 *
 * `name` is that of the directory ("SITE.ATTEMPT"). Both return a descriptor;
 * host_spool_open_run returns -1 if there is no such run. */
int host_spool_make_run(struct host_spool *spool, const char *name, struct err *err);
int host_spool_open_run(const struct host_spool *spool, const char *name);

/* Locks a run's open directory until the descriptor is closed; false if its guard holds
 * the lock. */
bool host_spool_lock_run(int dir);

/* Deletes a run's directory. Returns false if the job left more in it than can be
 * deleted at once: it is moved away then, to the path `left` (HOST_SPOOL_PATH_SIZE). */
bool host_spool_remove_run(struct host_spool *spool, const char *name, char *left);

/* Answers `ask` about the output of the run in directory `name`. `bytes` has room for
 * OUTPUT_CHUNK_MAX and must live as long as the answer. A run that has not begun has no
 * output yet, which is not the same as output that is gone. */
void host_spool_read_output(const struct host_spool *spool, const char *name,
                            bool has_begun, const struct msg_output_ask *ask,
                            uint8_t *bytes, struct msg_output *output);

/* Call `fn` for each run, and for each directory that waits to be deleted. */
typedef void (*host_spool_entry_fn)(void *arg, const char *name);
void host_spool_list_runs(const struct host_spool *spool, host_spool_entry_fn fn,
                          void *arg);
void host_spool_list_trash(const struct host_spool *spool, host_spool_entry_fn fn,
                           void *arg);

#endif
