/* SPDX-License-Identifier: Apache-2.0 */
/* depend.h: conditions about other jobs (-w), and whether they hold.
 *
 *     done(12) && (exit(13,>=3) || !started("prep"))
 *
 * done, ended, started and exit take a job: its id, "12[3]" and "12[1-5]" for elements
 * of an array, "12[*]" for the element with the same index as the one that waits, a
 * name, in quotes where it is no plain word, which may end in * and stands for all jobs
 * of the user that have it at submission. A job alone means done. exit also takes a
 * code: "exit(12)" is any that is not 0, "exit(12,3)", "exit(12,>=3)". A whole array,
 * or several, holds where each of them does. numdone, numended, numexit, numrun,
 * numpend and numstart compare how many elements of an array are so: "numdone(12,>=5)",
 * "numdone(12,*)" for all. ! binds tighter than &&, that tighter than ||.
 *
 * Names are resolved once, at submission: what is kept has ids alone.
 * A condition can be met, or wait, or never come: nothing that has ended ends
 * otherwise.
 *
 * Ownership: results live in the arena. Errors: ERR_PARSE, ERR_NOT_FOUND with LSF's
 * sentence and where. Source: LSF's bsub -w. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_DEPEND_H
#define SUBLET_SCHED_PENDING_DEPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { DEPEND_TEXT_MAX = 4096, DEPEND_DEPTH_MAX = 64, DEPEND_ARRAY = -1 };

/* Of one job, or of all the elements of an array, how many are so. */
struct depend_counts {
    int n_jobs;             /* 0: there is no such job (any more) */
    int n_pend;             /* wait: PEND, PSUSP */
    int n_run;              /* run or are suspended */
    int n_done, n_exit;     /* have ended */
    int n_unbegun;          /* of n_exit: ended before they began */
    int min_code, max_code; /* exit codes of n_exit */
};

/* What is known of a job: index DEPEND_ARRAY, a whole array or a job of none. */
typedef void (*depend_look_fn)(void *arg, uint64_t id, int index,
                               struct depend_counts *facts);
/* The ids of the user's jobs of that name, which may have a * at its end: adds each to
 * the list and returns how many there are. */
typedef int (*depend_find_fn)(void *arg, const char *name, const uint64_t **ids);

/* Checks a condition, and writes it with ids for names. `find` also tells whether an id
 * is known: it is asked for "12". */
int depend_resolve(struct arena *arena, const char *text, depend_find_fn find,
                   void *arg, const char **resolved, struct err *err) MUST_CHECK;

enum depend_verdict { DEPEND_PENDING, DEPEND_MET, DEPEND_NEVER };

/* A resolved condition of a job with this index (0: of no array). */
enum depend_verdict depend_evaluate(const char *resolved, int own_index,
                                    depend_look_fn look, void *arg);

/* The jobs that a resolved condition speaks of: each is handed over; `index` as above,
 * or the element's where it names one alone. */
typedef void (*depend_visit_fn)(void *arg, uint64_t id, int index);
void depend_visit(const char *resolved, int own_index, depend_visit_fn each, void *arg);

#endif
