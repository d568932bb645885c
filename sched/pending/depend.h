/* SPDX-License-Identifier: Apache-2.0 */
/* depend.h: conditions about other jobs (-w), and whether they are met.
 *
 *     done(12) && (exit(13,>=3) || !started("prep"))
 *
 * done, ended, started and exit take a job, which may be written as
 *   - its id; "12[3]" or "12[1-5]" for elements of an array; "12[*]" for the element
 *     with the same index as the pending job;
 *   - a name, quoted if it is not a plain word. It may end in * and stands for all jobs
 *     of the user that have the name at submission.
 * A job alone means done. exit also takes a code: "exit(12)" is any code but 0; others
 * are written "exit(12,3)" or "exit(12,>=3)". A condition about a whole array or
 * several jobs is met if it is met for each of them. numdone, numended, numexit,
 * numrun, numpend and numstart compare the number of elements in that state:
 * "numdone(12,>=5)", "numdone(12,*)" for all elements. ! binds tighter than &&, &&
 * tighter than ||.
 *
 * Names are resolved once, at submission; the resolved text has only ids. A condition
 * is met, pending, or can never be met, because the outcome of an ended job is final.
 *
 * Ownership: results live in the arena. Errors: ERR_PARSE, ERR_NOT_FOUND with LSF's
 * sentence and the place. Source: LSF's bsub -w. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_DEPEND_H
#define SUBLET_SCHED_PENDING_DEPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { DEPEND_TEXT_MAX = 4096, DEPEND_DEPTH_MAX = 64, DEPEND_ARRAY = -1 };

/* Numbers of jobs by state, of one job or of all elements of an array. */
struct depend_counts {
    int n_jobs;             /* 0: the job does not exist (any more) */
    int n_pend;             /* PEND, PSUSP */
    int n_run;              /* running or suspended */
    int n_done, n_exit;     /* ended */
    int n_never_started;    /* of n_exit: ended before they started */
    int min_code, max_code; /* exit codes of n_exit */
};

/* Gives the counts of a job. `index` is an element's, or DEPEND_ARRAY for a whole array
 * or a job that is not an array. */
typedef void (*depend_look_fn)(void *arg, uint64_t id, int index,
                               struct depend_counts *counts);
/* Finds the ids of the user's jobs of that name, which may end in *. Returns their
 * number. */
typedef int (*depend_find_fn)(void *arg, const char *name, const uint64_t **ids);

/* Checks a condition and writes it with ids in place of names. `find` is also called
 * for an id ("12"), to learn whether it exists. */
int depend_resolve(struct arena *arena, const char *text, depend_find_fn find,
                   void *arg, const char **resolved, struct err *err) MUST_CHECK;

enum depend_verdict { DEPEND_PENDING, DEPEND_MET, DEPEND_NEVER };

/* Evaluates a resolved condition for a job with this index (0: not in an array). */
enum depend_verdict depend_evaluate(const char *resolved, int own_index,
                                    depend_look_fn look, void *arg);

/* Calls `visit` for each job in a resolved condition. `index` is as above, or the
 * element's if the condition names exactly one element. */
typedef void (*depend_visit_fn)(void *arg, uint64_t id, int index);
void depend_visit(const char *resolved, int own_index, depend_visit_fn visit,
                  void *arg);

#endif
