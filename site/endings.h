/* SPDX-License-Identifier: Apache-2.0 */
/* endings.h: jobs that stand still while others have their slots, and are to end: those
 * with commands after them wait for their slots, so that the commands run in these.
 *
 * Such a job is killed, or to be requeued, and not yet ordered to end. It is among
 * those that wait for nothing but slots (halts.h): it goes on in its turn, and is ended
 * as soon as it runs, by the usual signals. After JOB_POSTPROC_TIMEOUT, and where none
 * is set after ten minutes, it ends where it stands, and its commands run beside
 * others. So it does when somebody needs its end at once: SIGKILL by its user, a
 * recall.
 *
 * Not on disk: after a restart the time begins anew.
 * Units: milliseconds. Source: ADR 0019. Layer: site. */
#ifndef SUBLET_SITE_ENDINGS_H
#define SUBLET_SITE_ENDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "site/jobs.h"

struct site;

bool endings_is_waiting(const struct job *job);
/* The job is to end by `signal` (0: the usual ones): true where it waits for its slots
 * first, which is on record then. */
bool endings_put_off(struct site *site, struct job *job, int signal, int64_t now_ms,
                     struct effects *effects);
/* It runs: one that has waited is ended. */
void endings_begun(struct site *site, struct job *job, int64_t now_ms,
                   struct effects *effects);
/* Where it stands. */
void endings_force(struct site *site, struct job *job, int64_t now_ms,
                   struct effects *effects);
/* Those whose time is over end where they stand. */
void endings_tick(struct site *site, int64_t now_ms, struct effects *effects);

#endif
