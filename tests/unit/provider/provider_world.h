/* SPDX-License-Identifier: Apache-2.0 */
/* provider_world.h: a provider with a disk and a clock, for tests that tell stories.
 *
 * Every call goes through here, so that what it stores reaches the disk and what it
 * sends can be looked at: the effects of the latest call only. A lease reads
 *   "EPOCH [made] [frozen] [withdrawn] [ended]: HOST p/used c/used [down]; ..."
 * as in "2 made: n1 3/1 1/0; n2 4/0 0/0". */
#ifndef SUBLET_TESTS_PROVIDER_WORLD_H
#define SUBLET_TESTS_PROVIDER_WORLD_H

#include "provider/provider.h"

enum { WORLD_FREEZE_MS = 30000, WORLD_ROWS = 2000 };

struct provider_world {
    struct provider *provider;
    struct effects effects;
    int64_t now_ms;
    struct arena memory; /* disk, texts, plans: until the end */
    struct row rows[WORLD_ROWS];
    int n_rows;
    struct export_plan plan;
    const char *reason;           /* of the latest start */
    bool wants_own_hosts;         /* starts are of exclusive jobs */
    enum interaction interaction; /* likewise */
    bool wants_whole;             /* recalls are of whole hosts */
};

void provider_world_init(struct provider_world *world);
void provider_world_release(struct provider_world *world);
/* One on the heap, with hosts n1 and n2 of so many slots, of which its own jobs use
 * none. */
struct provider_world *provider_world_new(int n_slots);
void provider_world_free(struct provider_world *world);

/* "POLICY CONSUMER TYPE HOST=SLOTS[/MEM[/SWP]] ... NAME:POOL=INSTANCES ...", several
 * joined by ";". POLICY is a name, or a number: the place of a policy without a name.
 */
void provider_world_export(struct provider_world *world, const char *policies);
/* The same policies, before and after the process was killed. */
void provider_world_restart(struct provider_world *world);
/* The disk handed back, before the policies are known. */
void provider_world_load(struct provider_world *world);

void provider_world_open(struct provider_world *world, const char *lease);
/* LEASE_OPEN with the price of a slot hour. */
void provider_world_price(struct provider_world *world, const char *lease, int price);
/* The broker knows that epoch of it. */
void provider_world_open_above(struct provider_world *world, const char *lease,
                               uint64_t above);
/* One bound; n_held below 0: none. */
void provider_world_recall(struct provider_world *world, const char *lease,
                           uint64_t number, int n_held, int64_t left_ms);

void provider_world_session(struct provider_world *world, uint64_t session);
void provider_world_freeze(struct provider_world *world, const char *lease,
                           uint64_t base, uint64_t freeze);
/* "HOST p:c ..." */
void provider_world_propose(struct provider_world *world, const char *lease,
                            uint64_t base, const char *split);
void provider_world_drain(struct provider_world *world, const char *lease,
                          uint64_t number, bool is_drained);
/* "HOST=SLOTS ..."; a run that is taken goes on disk, as the site would do. */
enum provider_verdict provider_world_start(struct provider_world *world,
                                           const char *consumer, uint64_t attempt,
                                           const char *lease, uint64_t epoch,
                                           const char *hosts);
void provider_world_end(struct provider_world *world, const char *consumer,
                        uint64_t attempt);
void provider_world_forget(struct provider_world *world, const char *consumer,
                           uint64_t attempt);
void provider_world_tick(struct provider_world *world, int64_t later_ms);

const char *provider_world_book(struct provider_world *world, const char *lease);
/* The lease as stored on disk (without use counts). */
const char *provider_world_disk(struct provider_world *world, const char *lease);
/* How many STATEs the latest call sent of that lease. */
int provider_world_told(const struct provider_world *world, const char *lease);
/* The latest of those; NULL: none. */
const struct msg_state *provider_world_state(const struct provider_world *world,
                                             const char *lease);

#endif
