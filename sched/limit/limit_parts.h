/* SPDX-License-Identifier: Apache-2.0 */
/* limit_parts.h: what limit.c counts in and limit_usage.c reads.
 *
 * Counts stand in a table by text: the limit's number and the names of the sides that
 * have one each: users, queues, projects, hosts ("3|ana||gene|n1").
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMIT_LIMIT_PARTS_H
#define SUBLET_SCHED_LIMIT_LIMIT_PARTS_H

#include <stdlib.h>

#include "sched/limit/limit.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

struct limit_count {
    int slots, jobs;
    UT_hash_handle hh;
    char key[];
};

struct limits {
    const struct limit *list;
    int n_limits;
    struct limit_owner *classes;
    struct limit_count *counts;
};

#endif
