/* SPDX-License-Identifier: Apache-2.0 */
/* overload_turns.h: which hosts have had their turn: for load one of their jobs was
 * suspended, or went on, and what that did is not told yet.
 *
 *     0 s     load lets 7 go, which waits for slots    8 is let go no earlier than 30
 * s; 9 may be suspended 12 s    7 has its slots and goes on              both no
 * earlier than 42 s
 *
 * Units: milliseconds; a turn lasts SBD_SLEEP_TIME. Ownership: names are copied. In
 * memory only. Layer: site. */
#ifndef SUBLET_SITE_OVERLOAD_TURNS_H
#define SUBLET_SITE_OVERLOAD_TURNS_H

#include "site/job/job.h"

struct overload_turns;
struct overload_turns *overload_turns_new(void);
void overload_turns_free(struct overload_turns *turns);
/* Those that were taken by then are over. */
void overload_turns_forget(struct overload_turns *turns, int64_t before_ms);

/* The job was suspended or goes on, or (`is_waiting`) would if it had slots: its hosts
 * have had their turn. */
void overload_turns_take(struct overload_turns *turns, const struct job *job,
                         bool is_waiting, int64_t now_ms);
/* It has slots: what it does to load begins now. Nothing where it waited for no turn,
 * or for longer than one. */
void overload_turns_begin(struct overload_turns *turns, const struct job *job,
                          int64_t now_ms);
/* When the host had its turn; -1: it may have one. `is_stop`: somebody is to be
 * suspended, which one that still waits for slots is no reason against. */
int64_t overload_turns_find(const struct overload_turns *turns, const char *host,
                            bool is_stop);

#endif
