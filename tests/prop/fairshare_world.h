/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_world.h: a site of one host in virtual time, with queues in slot pools and
 * users with shares, for property tests. It runs scheduling passes, ends jobs, and sums
 * up the usage of each queue and user. */
#ifndef SUBLET_TESTS_PROP_FAIRSHARE_WORLD_H
#define SUBLET_TESTS_PROP_FAIRSHARE_WORLD_H

#include "base/rng.h"
#include "sched/fairshare/fairshare.h"
#include "sched/place/place.h"

enum { FAIRSHARE_WORLD_CLASSES = 16, SHARE_WORLD_SLOTS = 512 };

/* The jobs of one user in one queue. */
struct fairshare_world_class {
    const char *queue, *user;
    int n_slots;
    int64_t run_ms[2]; /* the shortest and the longest run */
    int n_waiting;     /* INT_MAX: unlimited */
    int64_t slot_ms;   /* used by its jobs since fairshare_world_count_from */
    int64_t waits_ms;  /* begin of waiting without a start; 0: not waiting */
    int64_t waited_ms; /* the longest such time */
    int n_used;        /* slots */
};

struct fairshare_world;
struct fairshare_world *fairshare_world_new(struct rng *rng, const char *conf_text,
                                            int n_slots);
void fairshare_world_free(struct fairshare_world *world);
struct fairshare_world_class *
fairshare_world_add(struct fairshare_world *world,
                    const struct fairshare_world_class *line);
/* Runs for that time, and calls `look` (may be NULL) after each pass. */
typedef void (*fairshare_world_fn)(void *arg, struct fairshare_world *world);
void fairshare_world_run(struct fairshare_world *world, int64_t for_ms,
                         fairshare_world_fn look, void *arg);
/* Resets the sums. */
void fairshare_world_count_from(struct fairshare_world *world);

int fairshare_world_count(const struct fairshare_world *world);
const struct fairshare_world_class *
fairshare_world_at(const struct fairshare_world *world, int line);
const struct fairshare *fairshare_world_shares(const struct fairshare_world *world);
const struct slot_pools *fairshare_world_pools(const struct fairshare_world *world);
int fairshare_world_free_slots(const struct fairshare_world *world);

#endif
