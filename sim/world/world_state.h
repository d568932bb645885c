/* SPDX-License-Identifier: Apache-2.0 */
/* world_state.h: the parts of a simulated world, for the files of this folder.
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
    BATCHES_AT_ONE_TIME = 100000 /* more at one instant are taken for an endless loop */
};

/* The events that a daemon received at this instant and has not committed. */
struct world_batch {
    struct sent *sent; /* their effects; NULL: there are none (world_state_effects) */
    bool is_open;
    bool wants_tick; /* of the broker: its events are committed, its tick is due */
    int n_events;
};

struct world_site {
    const struct site_config *config;
    struct site *site; /* NULL: down */
    struct disk *disk, *backup;
    int *machines; /* of world.hosts: its present and former hosts */
    int n_machines;
    int64_t wake_ms; /* of its machine, as of its last step */
    int roles;       /* in the broker's configuration */
    bool was_member; /* in its previous configuration */
    int64_t cut_until_ms;
    int64_t back_ms;           /* while it is down */
    bool is_restored;          /* it is down, and starts with a restored journal */
    bool is_with_deposed;      /* its connection is to the deposed broker */
    struct world_slurm *slurm; /* its hosts are nodes of Slurm; NULL: they are not */
};

struct world_host {
    struct executor *executor;
    int site;
    bool is_absent;          /* not configured, so its site refuses it */
    int64_t back_ms;         /* while its agent is down */
    int64_t delay_ms;        /* of each message to and from its site ... */
    int64_t to_ms, from_ms;  /* ... none overtakes the one that arrives then */
    int n_cpus[NCPUS_UNITS]; /* as its site has recorded them */
};

struct world_command {
    const char *program;
    struct executor_command how;
};

/* The other one of two brokers that lead at once (world_deposed.h). */
struct world_deposed {
    bool exists;
    struct broker *broker;
    struct disk *disk;
    struct world_batch batch;
    bool is_in_place; /* of BROKER now, and these are the new one's */
};

struct world {
    struct world_options options;
    struct rng rng;
    struct rng nonces; /* of submissions */
    int64_t now_ms;
    struct agenda agenda;
    const struct broker_config *broker_config;
    struct broker *broker; /* NULL: down */
    struct disk *broker_disk, *backup;
    int64_t broker_back_ms; /* while it is down */
    struct world_deposed deposed;
    struct world_site *sites;
    int *by_name; /* their indices, by name */
    int n_sites;
    struct world_host *hosts;
    int n_hosts;
    struct executor_effects host_effects;
    struct world_command *commands;
    int n_commands;
    struct world_batch *batches; /* by daemon */
    struct invariants *invariants;
    struct world_counts counts;
    char violation[1024];
    char verdict[512]; /* scratch: the text of an invariant */
    world_trace_fn trace;
    void *trace_arg;
    struct world_watch watch;
    int64_t calm_ms; /* the end of the last known fault */
    int batches_now; /* at this instant */
    uint64_t n_posted;
};

/* Records the first violation. */
void world_state_violate(struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Records a violation unless the invariant holds. */
void world_state_check(struct world *world, bool holds,
                       const struct invariants_text *text);
#define WORLD_TEXT(world)                                                              \
    {                                                                                  \
        .text = (world)->verdict, .size = sizeof(world)->verdict                       \
    }

/* The effects of the daemon's batch. */
struct effects *world_state_effects(struct world *world, int daemon);
bool world_state_is_up(const struct world *world, int daemon);
const char *world_state_daemon_name(const struct world *world, int daemon);
/* The site's index; -1: no site has that name. */
int world_state_find_site(const struct world *world, const char *name);
/* Adds the site with that index, the last one, to the sites by name, and finds its
 * roles. */
void world_state_list_site(struct world *world, int index);
/* The roles of all sites, from the broker's configuration. */
void world_state_update_roles(struct world *world);
/* The index in world.hosts; -1: the site never had a host of that name. */
int world_state_find_host(const struct world *world, int site, const char *name);

/* The machines to check; its sites are the caller's to free. */
struct invariants_view world_state_view(const struct world *world);

/* Adds to the counts what has died of a host. */
void world_state_count_fault(struct world *world, enum executor_fault fault);
/* Records that a fault lasts until `until_ms`. */
void world_state_note_fault(struct world *world, int64_t until_ms);
/* The host's agent is started again after `down_ms`. */
void world_state_return_host(struct world *world, int machine, int64_t down_ms);
/* Call it after the daemon was stepped, started or stopped. */
void world_state_note_wake(struct world *world, int daemon);

#endif
