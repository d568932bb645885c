/* SPDX-License-Identifier: Apache-2.0 */
/* world.h: a federation in virtual time: one broker, its sites, their hosts, a network
 * that loses, repeats and reorders, disks that keep what was committed, crashes between
 * any two effects. The step machines are the real ones; messages go through the codec.
 *
 * After every step the invariants of INTERFACES 4 are checked
 * (sim/invariant/invariant.c). One seed drives everything: same options, same calls,
 * same history.
 *
 * A daemon's batch is all that reaches it at one instant, as a shell collects what has
 * arrived; the tick that ends a batch, and so what is scheduled, comes when nothing
 * more is on its way to anybody at that instant.
 *
 * Units: virtual milliseconds from options.start_ms. Ownership: configs are borrowed
 * for the life of the world (a crashed daemon is made from them again). Order: of one
 * instant first what is due by the agenda, in the order of adding; then the sites'
 * batches end, in their order, with what they send; then the broker's. When nothing
 * else is left the broker has its tick: leases are judged by what is so when all else
 * of the instant has happened. Source: INTERFACES 4, STYLE "Step and shell". Layer: sim
 * (broker, site, proto, base).
 */
#ifndef SUBLET_SIM_WORLD_WORLD_H
#define SUBLET_SIM_WORLD_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "site/site.h"

struct world_options {
    uint64_t seed;
    int64_t start_ms; /* the machines' clock at the beginning; in some places they take
                         an instant of 0 for none */
    bool is_calm;     /* nothing will ever be lost: hosts need not say that they live */
    int batch_max;    /* events of one batch; 0: all that are there */
    int loss_in_10000, repeat_in_10000; /* of messages between sites and broker */
    int64_t delay_ms;                   /* of each of them */
    int64_t delay_max_ms; /* each is late by 0..this besides: so they overtake */
    int crash_in_10000;   /* chance that a batch of a daemon crashes it */
    int64_t down_max_ms;  /* and it stays down for up to this */
};

struct world;
struct world *world_new(const struct world_options *options,
                        const struct broker_config *broker);
void world_free(struct world *world);
/* Returns the site's index, from 0. Its hosts come up with it. */
int world_add_site(struct world *world, const struct site_config *config);
/* Faults from now on (liveness wants them to stop). */
void world_fault_set_random(struct world *world, const struct world_options *options);

/* Runs until all of `until_ms` has happened, or until an invariant is violated; true
 * when none was. */
bool world_run(struct world *world, int64_t until_ms);
/* Sets the clock, so that what is asked now is asked at the beginning of that instant;
 * all of the instants before has happened. */
void world_advance(struct world *world, int64_t now_ms);
int64_t world_now_ms(const struct world *world);
/* "" or what was violated, when, and the seed. */
const char *world_violation(const struct world *world);

/* After faults have stopped and time has passed: no change is open, all agree, every
 * job has ended. False with what is not yet so. */
bool world_is_settled(struct world *world, char *text, int size);

/* A message of a user or administrator (`user`), which its site takes now and acts upon
 * with all else of this instant; false where the site is down. The answer, if it comes
 * at once, goes to `on_answer` (NULL: nobody) before this returns. */
typedef void (*world_answer_fn)(void *arg, const struct msg_reply *reply);
bool world_client_ask(struct world *world, int site, const char *user,
                      const struct msg *msg, world_answer_fn on_answer, void *arg);
/* An order of an administrator to a job; `index` of an element, or 0. */
bool world_client_control(struct world *world, int site, uint64_t job, int index,
                          enum control_action action);

/* Another configuration, now or at the daemon's next start; a host that is new comes up
 * with it. Borrowed like the first. */
void world_reload_site(struct world *world, int site, const struct site_config *config);
void world_reload_broker(struct world *world, const struct broker_config *config);

/* A daemon dies now, after the commit of what it has taken in, and comes back after
 * `down_ms`; index -1 is the broker. */
void world_fault_crash(struct world *world, int site, int64_t down_ms);
/* The site's configuration, which the world borrows, has another size for this host:
 * its daemon is restarted, and is back at once. Of a host of 0 slots nothing that ran
 * there is left. The site is up. */
void world_reload_host(struct world *world, int site, int host);
/* A host tells what it is and how loaded it is, now and at each session's beginning;
 * until then it tells nothing. False: there is none of that name. */
bool world_host_set_load(struct world *world, int site, const char *host,
                         const struct load_value *values, int n_values);
/* Commands of PRE_EXEC, POST_EXEC and JOB_CONTROLS that begin with that program take so
 * long from now on, and exit with that code; others take no time, and succeed. The name
 * is borrowed. */
void world_host_set_command(struct world *world, const char *program, int64_t ms,
                            int code);
/* All of them succeed from now on, in the time that they take. */
void world_host_mend_commands(struct world *world);
/* When a daemon that is down comes back; now where it is up. */
int64_t world_back_ms(const struct world *world, int site);
/* Cut off from the broker for a while. */
void world_fault_partition(struct world *world, int site, int64_t for_ms);
/* The broker comes back with the disk it had when the backup was made. */
void world_fault_backup_broker(struct world *world);
void world_fault_restore_broker(struct world *world, int64_t down_ms);

/* The machines, NULL while down, to look at. */
const struct broker *world_broker(const struct world *world);
const struct site *world_site(const struct world *world, int site);

struct world_counts {
    uint64_t steps; /* of step machines: events and ticks */
    uint64_t messages, lost, crashes, submitted, begun, handovers;
};
struct world_counts world_counts(const struct world *world);

/* Who watches a world; NULL: not. `site` -1 is the broker. */
struct world_watch {
    void (*stored)(void *arg, int site, const struct row *row, int64_t now_ms);
    void (*crashed)(void *arg, int site, int64_t now_ms);
    /* Slots of a host begin or cease to be used (executor.h). */
    void (*used)(void *arg, int site, const char *lease, int n_slots, int64_t now_ms);
    void *arg;
};
void world_set_watch(struct world *world, const struct world_watch *watch);
/* Of the invariants' 7; 0: not judged. */
void world_set_patience(struct world *world, int64_t patience_ms);

/* Each line that a daemon logs, for a person who looks for a fault; `now_ms` counts
 * from the beginning. */
typedef void (*world_trace_fn)(void *arg, int64_t now_ms, const char *line);
void world_set_trace(struct world *world, world_trace_fn fn, void *arg);

#endif
