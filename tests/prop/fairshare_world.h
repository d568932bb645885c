/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_world.h: a site of one host in virtual time, with queues in slot pools and
 * users with shares, for property tests: passes of the scheduler, jobs that end, what
 * each queue and user has had of it. */
#ifndef SUBLET_TESTS_PROP_FAIRSHARE_WORLD_H
#define SUBLET_TESTS_PROP_FAIRSHARE_WORLD_H

#include "base/rng.h"
#include "sched/fairshare/slot_pool.h"
#include "sched/place/place.h"

enum { SHARE_WORLD_LINES = 16, SHARE_WORLD_SLOTS = 512 };

/* Jobs of one user in one queue. */
struct share_world_line {
    const char *queue, *user;
    int n_slots;
    int64_t run_ms[2]; /* the shortest and the longest run */
    int n_waiting;     /* INT_MAX: there is always another one */
    int64_t slot_ms;   /* that its jobs have had since share_world_count_from */
    int64_t waits_ms;  /* since when it waits without a start; 0: it does not */
    int64_t waited_ms; /* the longest such time */
    int n_used;        /* slots */
};

struct share_world;
struct share_world *share_world_new(struct rng *rng, const char *conf_text,
                                    int n_slots);
void share_world_free(struct share_world *world);
struct share_world_line *share_world_add(struct share_world *world,
                                         const struct share_world_line *line);
/* Goes on for so long, and calls `look` (NULL: none) after each pass. */
typedef void (*share_world_fn)(void *arg, struct share_world *world);
void share_world_run(struct share_world *world, int64_t for_ms, share_world_fn look,
                     void *arg);
/* What was had until now does not count. */
void share_world_count_from(struct share_world *world);

int share_world_count(const struct share_world *world);
const struct share_world_line *share_world_at(const struct share_world *world,
                                              int line);
const struct fairshare *share_world_shares(const struct share_world *world);
const struct slot_pools *share_world_pools(const struct share_world *world);
int share_world_free_slots(const struct share_world *world);

#endif
