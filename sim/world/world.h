/* SPDX-License-Identifier: Apache-2.0 */
/* world.h: a federation in virtual time: one broker, its sites and their hosts, a
 * network that loses, repeats and reorders messages, disks that retain all commits, and
 * crashes between any two effects. The step machines are the real ones, and every
 * sixteenth message goes through the codec, after 65,536 of them every 256th.
 *
 * After every step the invariants of docs/design/interfaces.md "Scenarios" are checked
 * (sim/invariant/invariant.c). One seed drives everything: the same options and calls
 * give the same history.
 *
 * A daemon's batch is all that reaches it at one instant. The tick that ends the batch,
 * and so scheduling, comes when no more messages are in transit at that instant.
 *
 * Units: virtual milliseconds from options.start_ms. Ownership: configs are borrowed
 * for the life of the world, since crashed daemons are restarted with them. Order: at
 * each instant, first the due items of the agenda in the order of adding; then the
 * sites' batches end, in their order; then the broker's. The broker's tick comes last,
 * so that rebalances see everything else of the instant. Source:
 * docs/design/interfaces.md "Scenarios", docs/design/architecture.md "The shell".
 * Layer: sim (broker, site, proto, base). */
#ifndef SUBLET_SIM_WORLD_WORLD_H
#define SUBLET_SIM_WORLD_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "sim/world/executor.h"
#include "site/config/site_config.h"
#include "site/site.h"

struct world_options {
    uint64_t seed;
    int64_t start_ms; /* the machines' clock at the start; not 0, which may mean none */
    int64_t utc_offset_ms; /* of their local time */
    bool is_calm;          /* nothing is ever lost, so hosts send no heartbeats */
    int batch_max;         /* events of one batch; 0: no limit */
    int loss_in_10000, repeat_in_10000; /* of messages between sites and broker */
    int64_t delay_ms;                   /* of each of them */
    int64_t delay_max_ms;     /* a random additional delay up to this reorders them */
    int crash_in_10000;       /* probability that a daemon's batch crashes it */
    int64_t down_max_ms;      /* longest time that it is down */
    int host_fail_in_10000;   /* probability that something of a host dies before an
                                 effect of a run */
    int64_t host_down_max_ms; /* longest time until the host is back */
    int slurm_loss_in_10000;  /* of commands of Slurm, or of their answers */
    int64_t slurm_slow_ms;    /* the longest time that one takes; 0: at once */
};

struct world;
struct world *world_new(const struct world_options *options,
                        const struct broker_config *broker);
void world_free(struct world *world);
/* Adds the site with its hosts and returns its index, from 0. */
int world_add_site(struct world *world, const struct site_config *config);
/* Sets the random faults from now on. */
void world_fault_set_random(struct world *world, const struct world_options *options);

/* Runs up to and including `until_ms`, or until an invariant is violated. True if none
 * was. */
bool world_run(struct world *world, int64_t until_ms);
/* Sets the clock to the beginning of that instant. All earlier instants must have been
 * run. */
void world_advance(struct world *world, int64_t now_ms);
int64_t world_now_ms(const struct world *world);
/* The violation with its time and the seed, or "". */
const char *world_violation(const struct world *world);

/* True if no change is open, broker and sites agree, and every job has ended. Otherwise
 * `text` has the first exception. */
bool world_is_settled(struct world *world, char *text, int size);

/* Delivers a message of a user or administrator (`user`) to its site; false if the site
 * is down. The site acts on it together with the other events of this instant. An
 * immediate answer goes to `on_answer` (may be NULL) before this returns. */
typedef void (*world_answer_fn)(void *arg, const struct msg_reply *reply);
bool world_client_ask(struct world *world, int site, const char *user,
                      const struct msg *msg, world_answer_fn on_answer, void *arg);
/* An administrator's order about a job; `index` is that of an element, or 0. */
bool world_client_control(struct world *world, int site, uint64_t job, int index,
                          enum control_action action);

/* Ends the batch of a daemon (-1: broker). Call it before a borrowed configuration is
 * changed in place: what is in the batch was decided by the old one. */
void world_reload_begin(struct world *world, int site);
/* Replaces the configuration, now or at the daemon's next start. New hosts start with
 * it. The configuration is borrowed. */
void world_reload_site(struct world *world, int site, const struct site_config *config);
void world_reload_broker(struct world *world, const struct broker_config *config);

/* Crashes a daemon now, after the commit of its batch, for `down_ms`. Index -1 is the
 * broker. */
void world_fault_crash(struct world *world, int site, int64_t down_ms);
/* Restarts the site's daemon after the caller has changed this host's slots in the
 * borrowed configuration. A host of 0 slots loses all its runs. The site must be up. */
void world_reload_host(struct world *world, int site, int host);
/* The slots of a configured host: its MXJ, or the CPUs that its site knows of. */
int world_host_max(const struct world *world, int site, const struct site_host *host);
/* Sets the resources and load that a host reports, now and at the beginning of each
 * session. Before the first call it reports none. False if there is no host of that
 * name. */
bool world_host_set_load(struct world *world, int site, const char *host,
                         const struct load_value *values, int n_values);
/* Sets duration and exit code of the commands of PRE_EXEC, POST_EXEC and JOB_CONTROLS
 * that begin with that program. Other commands take no time and succeed. The name is
 * borrowed. */
void world_host_set_command(struct world *world, const char *program, int64_t ms,
                            int code);
/* From now on all these commands succeed, with the same durations. */
void world_host_mend_commands(struct world *world);
/* All hosts report their load, as real hosts do every 15 s. */
void world_host_report_loads(struct world *world);
/* The time at which a daemon is up again; now if it is up. */
int64_t world_back_ms(const struct world *world, int site);
/* For `for_ms` two brokers lead at once, each on a store of its own; what the first one
 * stores is lost. Nothing happens if the broker is down, or if there are two already.
 */
void world_fault_split_brain(struct world *world, int64_t for_ms);
/* Cuts the site off from the broker for `for_ms`. */
void world_fault_partition(struct world *world, int site, int64_t for_ms);
/* The daemon's disk is saved; a restore restarts the daemon with that disk. Without a
 * backup it does nothing. Site -1 is the broker. */
void world_fault_backup(struct world *world, int site);
void world_fault_restore(struct world *world, int site, int64_t down_ms);
/* What an administrator does after the journal of that site was lost, as far as broker
 * and site are up: `sublet lease recover` for each of its leases that is behind, if
 * each host of it is connected or runs nothing for it; and `sublet runs --end`
 * (`is_adopted`:
 * --adopt) for each run without a job. */
void world_fault_recover(struct world *world, int site, bool is_adopted);
/* It accepts that its journal has lost changes: jobs that may have started may start.
 * Nothing happens while a host is away, since it may have a run that nobody else knows.
 */
void world_fault_accept_loss(struct world *world, int site);
/* Something of the host dies, and is started again after `down_ms`. Messages between
 * host and site take that much longer. Both return false if there is no such host. */
bool world_fault_fail_host(struct world *world, int site, const char *host,
                           enum executor_fault fault, int64_t down_ms);
bool world_fault_slow_host(struct world *world, int site, const char *host,
                           int64_t delay_ms);

/* The cluster that has the site's hosts; NULL: Slurm has not. */
struct sim_slurm;
struct sim_slurm *world_slurm_of(const struct world *world, int site);

/* The machines, for inspection; NULL while down. */
const struct broker *world_broker(const struct world *world);
struct site *world_site(const struct world *world, int site);
/* It is down, and starts with a restored journal. */
bool world_site_is_restored(const struct world *world, int site);

struct world_counts {
    uint64_t steps; /* of step machines: events and ticks */
    uint64_t messages, lost, crashes, submitted, begun, handovers;
    uint64_t partitions, slowed; /* sites; hosts */
    /* Of hosts; `between` of them between two effects of a run. */
    uint64_t host_faults, guards, agents, machines, disks, between;
    /* Journals of sites, leases and runs that administrators have decided about; the
     * broker's store. */
    uint64_t restored, recovered, orphans, broker_restored;
    uint64_t split_brains;
};
struct world_counts world_counts(const struct world *world);

/* Callbacks that observe a world; may be NULL. `site` -1 is the broker. */
struct world_watch {
    void (*stored)(void *arg, int site, const struct row *row, int64_t now_ms);
    void (*crashed)(void *arg, int site, int64_t now_ms);
    /* Use of a host's slots begins or ends (executor.h). */
    void (*used)(void *arg, int site, const char *lease, int n_slots, int64_t now_ms);
    void *arg;
};
void world_set_watch(struct world *world, const struct world_watch *watch);
/* For invariant 7; 0: not checked. */
void world_set_patience(struct world *world, int64_t patience_ms);

/* Called for each line that a daemon logs; `now_ms` counts from the start. */
typedef void (*world_trace_fn)(void *arg, int64_t now_ms, const char *line);
void world_set_trace(struct world *world, world_trace_fn fn, void *arg);

#endif
