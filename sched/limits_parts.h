/* SPDX-License-Identifier: Apache-2.0 */
/* limits_parts.h: what limits.c counts in and limits_uses.c reads.
 *
 * Counts stand in a table by text: the limit's number and the names of the sides that
 * have one each: users, queues, projects, hosts ("3|ana||gene|n1").
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMITS_PARTS_H
#define SUBLET_SCHED_LIMITS_PARTS_H

#include <stdlib.h>

#include "sched/limits.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

struct limits_count {
    int slots, jobs;
    UT_hash_handle hh;
    char key[];
};

struct limits {
    const struct limit *list;
    int n_limits;
    struct limits_class *classes;
    struct limits_count *counts;
};

#endif
