/* SPDX-License-Identifier: Apache-2.0 */
/* world_parts.h: what a simulated world is made of, for the files that make it: world.c
 * (the loop, the users), world_daemon.c (a daemon's batch, crash and return),
 * world_net.c (who gets which message, and when).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_PARTS_H
#define SUBLET_SIM_WORLD_PARTS_H

#include "base/rng.h"
#include "sim/agenda.h"
#include "sim/disk.h"
#include "sim/executor.h"
#include "sim/invariants.h"
#include "sim/world.h"

enum {
    BROKER = 0,               /* daemon 0; site i is daemon i + 1 */
    HOST_ALIVE_MS = 2000,     /* as sublet-host */
    STEPS_AT_ONE_TIME = 20000 /* more at one instant: a loop that never ends */
};

struct world_site {
    const struct site_config *config;
    struct site *site; /* NULL: down */
    struct disk *disk;
    int first_host, n_hosts;
    int64_t cut_until_ms;
};

struct world_host {
    struct executor *executor;
    int site;
};

struct world {
    struct world_options options;
    struct rng rng;
    int64_t now_ms;
    struct agenda agenda;
    const struct broker_config *broker_config;
    struct broker *broker; /* NULL: down */
    struct disk *broker_disk, *backup;
    struct world_site *sites;
    int n_sites;
    struct world_host *hosts;
    int n_hosts;
    struct invariants *invariants;
    struct world_counts counts;
    char violation[1024];
    world_trace_fn trace;
    void *trace_arg;
    bool rerunnable; /* of the submission that is being answered */
    int steps_now;   /* at this instant */
};

void world_violate(struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool world_is_up(const struct world *world, int daemon);
const char *world_daemon_name(const struct world *world, int daemon);

/* One event and a tick, committed and sent, or lost in a crash. NULL: the tick alone.
 */
void world_step(struct world *world, int daemon, const struct event *event);
void world_start_daemon(struct world *world, int daemon);
void world_stop_daemon(struct world *world, int daemon);
void world_crash_daemon(struct world *world, int daemon, int64_t down_ms);

/* Puts a message on its way; what of it arrives is the network's to say. */
void world_send(struct world *world, int daemon, const struct peer *to,
                const struct msg *msg);
void world_send_from_host(struct world *world, int host, const struct msg *msg);
/* What a message of the agenda does to whom it reaches. */
void world_deliver(struct world *world, const struct agenda_item *item);

#endif
