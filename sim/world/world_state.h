/* SPDX-License-Identifier: Apache-2.0 */
/* world_state.h: what a simulated world is made of, for the files that make it: world.c
 * (the loop, the hosts), world_client_ask.c (users, and faults at a given time),
 * world_daemon.c (a daemon's batch, crash and return),
 * world_net.c (who gets which message, and when).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_STATE_H
#define SUBLET_SIM_WORLD_WORLD_STATE_H

#include "base/rng.h"
#include "sim/invariant/invariant.h"
#include "sim/world/agenda.h"
#include "sim/world/disk.h"
#include "sim/world/executor.h"
#include "sim/world/world.h"

enum {
    BROKER = 0,                  /* daemon 0; site i is daemon i + 1 */
    HOST_ALIVE_MS = 2000,        /* as sublet-host */
    BATCHES_AT_ONE_TIME = 100000 /* more at one instant: a loop that never ends */
};

/* What a daemon has taken in at this instant, and has not committed. */
struct world_batch {
    struct effects effects;
    bool is_open;
    bool wants_tick; /* of the broker: its events are committed, its tick is to come */
    int n_events;
};

struct world_site {
    const struct site_config *config;
    struct site *site; /* NULL: down */
    struct disk *disk;
    int *machines; /* of world.hosts: those of its hosts, of former ones too */
    int n_machines;
    int64_t wake_ms; /* of its machine, since it was stepped last */
    int roles;       /* as the broker's configuration has them */
    bool was_member; /* by the one before */
    int64_t cut_until_ms;
    int64_t back_ms; /* while it is down */
};

struct world_host {
    struct executor *executor;
    int site;
    bool is_absent; /* not in its site's configuration, which refuses it */
};

struct world_command {
    const char *program;
    struct executor_command how;
};

struct world {
    struct world_options options;
    struct rng rng;
    int64_t now_ms;
    struct agenda agenda;
    const struct broker_config *broker_config;
    struct broker *broker; /* NULL: down */
    struct disk *broker_disk, *backup;
    int64_t broker_back_ms; /* while it is down */
    struct world_site *sites;
    int *by_name; /* their places, by name */
    int n_sites;
    struct world_host *hosts;
    int n_hosts;
    struct world_command *commands;
    int n_commands;
    struct world_batch *batches; /* by daemon */
    struct invariants *invariants;
    struct world_counts counts;
    char violation[1024];
    char judged[512]; /* scratch: what an invariant says */
    world_trace_fn trace;
    void *trace_arg;
    struct world_watch watch;
    int64_t calm_ms; /* when the last fault was over, as far as is known */
    int batches_now; /* at this instant */
};

void world_state_violate(struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What an invariant said: a violation where it does not hold. */
void world_state_check(struct world *world, bool holds,
                       const struct invariants_text *text);
#define WORLD_TEXT(world)                                                              \
    {                                                                                  \
        .text = (world)->judged, .size = sizeof(world)->judged                         \
    }
bool world_state_is_up(const struct world *world, int daemon);
const char *world_state_daemon_name(const struct world *world, int daemon);

/* Takes an event into the daemon's batch; nothing where it is down. A batch that is
 * full then ends. */
void world_daemon_take(struct world *world, int daemon, const struct event *event);
/* The same in two. */
void world_daemon_step(struct world *world, int daemon, const struct event *event);
void world_daemon_bound_batch(struct world *world, int daemon);
/* Ends it: a tick where `with_tick`, commit, send; or all lost in a crash. */
void world_daemon_end_batch(struct world *world, int daemon, bool with_tick);
/* A fault is going on, or was until now. */
void world_state_note_fault(struct world *world, int64_t until_ms);
/* A machine for each host of its configuration that has none yet. */
void world_host_add_all(struct world *world, int site);
/* The host of world.hosts, -1: the site never had one of that name. */
int world_state_find_host(const struct world *world, int site, const char *name);
/* NULL: nothing was said of that program. */
struct world_command *world_find_command(const struct world *world, const char *program,
                                         size_t length);
/* The site's index; -1: none. */
int world_state_find_site(const struct world *world, const char *name);
/* The roles of all sites, where the broker's configuration is another one. */
void world_state_update_roles(struct world *world);
/* Its machine was stepped, started or stopped. */
void world_state_note_wake(struct world *world, int daemon);
void world_daemon_start(struct world *world, int daemon);
/* Users of interactive jobs are connected again after a start of their site. */
void world_return_users(struct world *world, int site);
void world_daemon_stop(struct world *world, int daemon);
void world_daemon_crash(struct world *world, int daemon, int64_t down_ms);

/* Hands the configuration in, if it is up: one batch. */
void world_daemon_reload(struct world *world, int daemon);

/* Puts a message on its way; what of it arrives is the network's to say. */
void world_net_send(struct world *world, int daemon, const struct peer *to,
                    const struct msg *msg);
void world_net_send_from_host(struct world *world, int host, const struct msg *msg);
/* What a message of the agenda does to whom it reaches. */
void world_deliver(struct world *world, const struct agenda_item *item);

#endif
