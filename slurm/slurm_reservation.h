/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_reservation.h: reservations of a Slurm cluster: what to ask scontrol, what it
 * answers, and the names of those that are Sublet's.
 *
 * The name of a lease's reservation is "sublet_SITE_POLICY_CONSUMER_eEPOCH". An
 * underscore within a name of ours is written "@", which no name of ours has, so that
 * the name can be taken apart again.
 *
 * Units: seconds since 1970. Order: as printed. Ownership: all is in the arena.
 * Source: Slurm's scontrol(1), "show reservation". Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_RESERVATION_H
#define SUBLET_SLURM_SLURM_RESERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct slurm_reservation {
    const char *name;
    int64_t start_s, end_s;
    const char *users; /* separated by commas; "": none */
    bool is_flex;      /* its jobs outlive it */
    bool is_active;
    const char *const *nodes;
    int n_nodes;
};

struct slurm_reservations {
    struct slurm_reservation *items;
    int count;
};

/* The command, ended by NULL. Times are printed as seconds if SLURM_TIME_FORMAT is %s,
 * as slurm_child.h sets it. */
extern const char *const slurm_reservation_command[];

/* Reads the whole answer. Errors: ERR_PARSE for a line that is none of scontrol's, with
 * its number; ERR_BOUNDS for more than HOSTS_MAX, or a name out of bounds.
 * `reservations` is unchanged then. */
int slurm_reservation_read(struct arena *arena, const char *text,
                           struct slurm_reservations *reservations,
                           struct err *err) MUST_CHECK;

/* One of the words between commas is these bytes. */
bool slurm_reservation_has_word(const char *words, const char *word, size_t length);

/* ---- names */

struct slurm_reservation_name {
    const char *site, *policy, *consumer;
    uint64_t epoch;
};

const char *slurm_reservation_format_name(struct arena *arena,
                                          const struct slurm_reservation_name *name);
/* False: it is not a name of ours. */
bool slurm_reservation_parse_name(struct arena *arena, const char *text,
                                  struct slurm_reservation_name *name);

#endif
