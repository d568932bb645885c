/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_borrow.h: keeps the guests of a Slurm cluster (slurm_guest.h) as a step
 * machine.
 *
 * A cycle asks by one sinfo and one squeue, submits and ends guests, and carries out
 * the orders that follow, one command at a time. The next cycle begins after
 * `cycle_ms`, give or take a tenth. After one that failed the wait doubles, up to
 * SLURM_BORROW_WAITS cycles. So does the wait until guests are submitted again, if some
 * have ended without a node. While slurmctld does not answer, guests stay as they are.
 *
 * Units: milliseconds. Ownership: the texts of the config are borrowed. Errors: a
 * command that fails is logged, and what it was for is planned again with the next
 * cycle. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_BORROW_H
#define SUBLET_SLURM_SLURM_BORROW_H

#include "model/effect.h"
#include "slurm/slurm_guest.h"

enum { SLURM_BORROW_WAITS = 8 };

struct slurm_borrow_config {
    const char *partition;
    int64_t cycle_ms, idle_ms, stay_ms, notice_ms;
    int max; /* guests at one time */
    uint64_t seed;
};

struct slurm_borrow_io {
    void *arg;
    /* Begins the command, ended by NULL; slurm_borrow_done() says how it ended. */
    void (*command)(void *arg, const char *const *words);
    /* The guests that have not ended, in the arena; returns how many. What was
     * seen of their nodes is the machine's own. */
    int (*list)(void *arg, struct arena *arena, struct slurm_guest **guests);
    /* The slots of the largest borrowed host; 0: not known. */
    int (*host_max)(void *arg);
    void (*submit)(void *arg, int n_slots);
    void (*end)(void *arg, uint64_t job);
    void (*log)(void *arg, enum log_level level, const char *text);
};

struct slurm_borrow;
struct slurm_borrow *slurm_borrow_new(const struct slurm_borrow_config *config,
                                      const struct slurm_borrow_io *io, int64_t now_ms);
void slurm_borrow_free(struct slurm_borrow *borrow); /* NULL is fine */

/* The command has ended, and printed that; NULL: it failed, as `err` says. */
void slurm_borrow_done(struct slurm_borrow *borrow, const char *text,
                       const struct err *err, int64_t now_ms);
void slurm_borrow_tick(struct slurm_borrow *borrow, int64_t now_ms);
/* INT64_MAX while a command runs. */
int64_t slurm_borrow_wake_ms(const struct slurm_borrow *borrow);

#endif
