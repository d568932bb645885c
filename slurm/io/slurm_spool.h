/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_spool.h: the directories of leased runs on a file system that all nodes have.
 *
 *   SPOOL/RUN/         the daemon's; RUN is "SITE.ATTEMPT.NONCE"
 *       record         what the run is, and which orders were carried out
 *       start          its RUN_START (host/agent/start_file.h)
 *       script         for sbatch
 *       work/          the run's account's alone: claim, end, stdout, stderr
 *                      (slurm_script.h)
 *
 * What is in work/ is of another account, which may put anything there: no link is
 * followed, and only its own regular files are read.
 *
 * Units: bytes. Errors: ERR_EXISTS: the run has a directory; ERR_IO; ERR_NOT_FOUND: an
 * account is not known. Layer: slurm/io. */
#ifndef SUBLET_SLURM_IO_SLURM_SPOOL_H
#define SUBLET_SLURM_IO_SLURM_SPOOL_H

#include "base/arena.h"
#include "base/err.h"
#include "slurm/slurm_agent.h"

struct slurm_spool {
    char *path;
    int dir;
};

/* Makes the directory if it is not there. */
int slurm_spool_open(struct slurm_spool *spool, const char *path,
                     struct err *err) MUST_CHECK;
void slurm_spool_close(struct slurm_spool *spool);

int slurm_spool_make(const struct slurm_spool *spool,
                     const struct slurm_run_record *record,
                     const struct msg_run_start *start, struct err *err) MUST_CHECK;
/* False: it has no directory. */
bool slurm_spool_look(const struct slurm_spool *spool, const struct run_id *run,
                      struct slurm_run_files *files);
bool slurm_spool_claim(const struct slurm_spool *spool, const struct run_id *run);
void slurm_spool_keep_control(const struct slurm_spool *spool, const struct run_id *run,
                              uint64_t number);
void slurm_spool_remove(const struct slurm_spool *spool, const struct run_id *run);
const char *slurm_spool_script(const struct slurm_spool *spool,
                               const struct run_id *run, struct arena *arena);
void slurm_spool_read_output(const struct slurm_spool *spool,
                             const struct msg_output_ask *ask,
                             struct msg_output *output, struct arena *arena);
bool slurm_spool_read_start(const struct slurm_spool *spool, const struct run_id *run,
                            struct msg_run_start *start, struct arena *arena);

/* Calls `fn` for each run that has a complete directory. */
typedef void (*slurm_spool_fn)(void *arg, const struct slurm_run_record *record);
void slurm_spool_list(const struct slurm_spool *spool, slurm_spool_fn fn, void *arg);

#endif
