/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_script.h: the batch script of a leased run, and what it leaves in the run's
 * directory, which all nodes see:
 *
 *   script       begins by taking the claim, and does nothing if it is taken
 *   claim/       a directory: mkdir() is atomic, also over NFS
 *   claim/begun  "JOBID MILLISECONDS": when it was taken, by which job of Slurm
 *   stdout, stderr  of the job
 *   end          "WORD STATUS MILLISECONDS", and what the shell's `times` prints: how
 *                the job ended. WORD is "job", or "pre_exec" if a command before the
 *                job failed, so that it never began. The first line ends in
 *                " post_error" if a command after the job failed
 *
 * Units: milliseconds since 1970. Ownership: the text is in the arena. Errors:
 * ERR_PARSE. Source: POSIX, the shell command language. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_SCRIPT_H
#define SUBLET_SLURM_SLURM_SCRIPT_H

#include "base/arena.h"
#include "base/err.h"
#include "model/msg.h"

#define SLURM_SCRIPT_FILE "script"
#define SLURM_SCRIPT_CLAIM "claim"
#define SLURM_SCRIPT_BEGUN "claim/begun"
#define SLURM_SCRIPT_END "end"
#define SLURM_SCRIPT_STDOUT "stdout"
#define SLURM_SCRIPT_STDERR "stderr"

/* The account that the run has. */
struct slurm_script_account {
    const char *name, *home, *shell;
};

int slurm_script_format(struct arena *arena, const struct msg_run_start *start,
                        const struct slurm_script_account *account,
                        const char *directory, const char **text,
                        struct err *err) MUST_CHECK;

/* What the file `begun` says; false: it is incomplete. */
bool slurm_script_parse_begun(const char *text, int64_t *job_id, int64_t *begun_ms);

struct slurm_script_end {
    bool is_pre_exec; /* the job itself never began */
    bool has_post_failed;
    int status; /* as a shell has it: 128 + signal */
    int64_t ended_ms, cpu_ms;
};
/* What the file `end` says; false: it is incomplete. */
bool slurm_script_parse_end(const char *text, struct slurm_script_end *end);

#endif
