/* SPDX-License-Identifier: Apache-2.0 */
/* load_interval.h: which hosts have had their turn: for load one of their jobs was
 * suspended, or went on, and what that did is not told yet.
 *
 *     0 s     load lets 7 go, which waits for slots    8 is let go no earlier than 30
 * s; 9 may be suspended 12 s    7 has its slots and goes on              both no
 * earlier than 42 s
 *
 * Units: milliseconds; a turn lasts SBD_SLEEP_TIME. Ownership: names are copied. In
 * memory only. Layer: site. */
#ifndef SUBLET_SITE_LOAD_LOAD_INTERVAL_H
#define SUBLET_SITE_LOAD_LOAD_INTERVAL_H

#include "site/job/job.h"

struct load_interval;
struct load_interval *load_interval_new(void);
void load_interval_free(struct load_interval *turns);
/* Those that were taken by then are over. */
void load_interval_expire(struct load_interval *turns, int64_t before_ms);

/* The job was suspended or goes on, or (`is_waiting`) would if it had slots: its hosts
 * have had their turn. */
void load_interval_start(struct load_interval *turns, const struct job *job,
                         bool is_waiting, int64_t now_ms);
/* It has slots: what it does to load begins now. Nothing where it waited for no turn,
 * or for longer than one. */
void load_interval_restart(struct load_interval *turns, const struct job *job,
                           int64_t now_ms);
/* When the host had its turn; -1: it may have one. `is_stop`: somebody is to be
 * suspended, which one that still waits for slots is no reason against. */
int64_t load_interval_started_ms(const struct load_interval *turns, const char *host,
                                 bool is_stop);

#endif
