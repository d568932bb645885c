/* SPDX-License-Identifier: Apache-2.0 */
/* world.h: a federation in virtual time: one broker, its sites, their hosts, a network
 * that loses, repeats and reorders, disks that keep what was committed, crashes between
 * any two effects. The step machines are the real ones; messages go through the codec.
 *
 * After every step the invariants of INTERFACES 4 are checked (sim/invariants.c). One
 * seed drives everything: same options, same calls, same history.
 *
 * Units: virtual milliseconds from 0. Ownership: configs are borrowed for the life of
 * the world (a crashed daemon is made from them again).
 * Order: what is due at one instant happens in the order of the agenda; then daemons
 * whose time has come, the broker first, sites in order.
 * Source: INTERFACES 4, STYLE "Step and shell". Layer: sim (broker, site, proto, base).
 */
#ifndef SUBLET_SIM_WORLD_H
#define SUBLET_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "site/site.h"

struct world_options {
    uint64_t seed;
    int loss_percent, repeat_percent; /* of messages between sites and broker */
    int64_t delay_max_ms;             /* each is late by 0..this: so they overtake */
    int crash_in_10000;               /* chance that a batch of a daemon crashes it */
    int64_t down_max_ms;              /* and it stays down for up to this */
};

struct world;
struct world *world_new(const struct world_options *options,
                        const struct broker_config *broker);
void world_free(struct world *world);
/* Returns the site's index, from 0. Its hosts come up with it. */
int world_add_site(struct world *world, const struct site_config *config);
/* Faults from now on (liveness wants them to stop). */
void world_set_faults(struct world *world, const struct world_options *options);

/* Runs until `until_ms`, or until an invariant is violated; true when none was. */
bool world_run(struct world *world, int64_t until_ms);
int64_t world_now_ms(const struct world *world);
/* "" or what was violated, when, and the seed. */
const char *world_violation(const struct world *world);

/* After faults have stopped and time has passed: no change is open, all agree, every
 * job has ended. False with what is not yet so. */
bool world_is_settled(struct world *world, char *text, int size);

/* Commands of users and admins; each is given to the site if it is up, else lost: then
 * false. `job` is an id. */
bool world_submit(struct world *world, int site, const char *queue, int n_slots,
                  int64_t work_ms, bool is_rerunnable);
bool world_control(struct world *world, int site, uint64_t job,
                   enum control_action action);
bool world_set_reclaim(struct world *world, int site, enum reclaim_scope scope,
                       const char *name, int64_t delay_ms);

/* A daemon dies now and comes back after `down_ms`; index -1 is the broker. */
void world_crash(struct world *world, int site, int64_t down_ms);
/* Cut off from the broker for a while. */
void world_partition(struct world *world, int site, int64_t for_ms);
/* The broker comes back with the disk it had when the backup was made. */
void world_backup_broker(struct world *world);
void world_restore_broker(struct world *world, int64_t down_ms);

/* The machines, NULL while down, to look at. */
const struct broker *world_broker(const struct world *world);
const struct site *world_site(const struct world *world, int site);
int world_count_sites(const struct world *world);

struct world_counts {
    uint64_t steps, messages, lost, crashes, submitted, begun, handovers;
};
struct world_counts world_counts(const struct world *world);

/* Each line that a daemon logs, for a person who looks for a fault. */
typedef void (*world_trace_fn)(void *arg, int64_t now_ms, const char *line);
void world_set_trace(struct world *world, world_trace_fn fn, void *arg);

#endif
