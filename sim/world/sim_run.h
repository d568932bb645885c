/* SPDX-License-Identifier: Apache-2.0 */
/* sim_run.h: a run of a simulated host: its guard, its record on disk, its simulated
 * processes, and the slots that it uses. The machine that real guards step (exec_run)
 * decides; a fault may come between any two of its effects.
 *
 * A simulated process works for a given time and exits with a given code. It stops and
 * continues at once. It dies of the first signal that is to terminate it: as a rule of
 * SIGINT. No launch and no write to disk fails, and users of interactive jobs connect
 * at once.
 *
 * Units: virtual milliseconds. Ownership: the session of the host has its runs; texts
 * are in the arena of the run. Layer: sim. */
#ifndef SUBLET_SIM_WORLD_SIM_RUN_H
#define SUBLET_SIM_WORLD_SIM_RUN_H

#include <stddef.h>
#include <stdlib.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/arena.h"
#include "base/bounds.h"
#include "host/exec/exec_session.h"
#include "sim/world/executor.h"

enum { SIM_RUN_CHILDREN = EXEC_NOTIFICATION + 1 };

#define SIM_RUN_NEVER INT64_MAX

struct sim_process {
    bool is_alive;
    int64_t work_ms;  /* what is left of it while it does not work */
    int64_t until_ms; /* the end of its work; SIM_RUN_NEVER: it does not work now */
    int code;         /* exit code */
};

/* A record without its paths, which are last, and empty in a simulation. */
enum { SIM_RUN_DISK_SIZE = offsetof(struct guard_record, cgroup) };

/* `host` is first: it is what the session knows. */
struct sim_run {
    struct host_run host;
    struct arena arena;
    struct msg_run_start start; /* as it came, with the hosts that it has now */
    struct run_spec spec;
    struct exec_run exec;
    uint64_t token;
    char disk[SIM_RUN_DISK_SIZE]; /* the record, as it was last written */
    bool has_guard;
    int boot;               /* the guard's */
    enum run_phase phase;   /* as far as its use of slots was reported */
    struct sim_process job; /* when it starts */
    struct sim_process children[SIM_RUN_CHILDREN];
    uint64_t end_number; /* number of the valid end; older ones are ignored */
    bool is_exclusive;
    int64_t start_ms, end_ms;
    /* The last resize; the slots of a growth are in use while the job is notified. */
    struct msg_run_resize resize;
    bool is_growing;
    const struct host_slots *hosts_before;
    int n_before;
    UT_hash_handle by_end; /* while end_number is not 0 */
};

struct executor {
    char name[NAME_SIZE], boot_id[24];
    int index;
    struct executor_world world;
    struct exec_session session;
    uint64_t next_token, next_end;
    int n_boots;
    bool is_agent_up, is_alone;      /* guards know that it is not up */
    enum executor_fault fault;       /* drawn in this step, and not done yet */
    const struct load_value *values; /* NULL: none to report */
    int n_values;
    struct sim_run *ends;
};

void sim_run_remove_process(struct sim_process *process);

/* The record on the disk of the host. */
struct guard_record sim_run_disk(const struct sim_run *run);
/* Adds a run to the session, with its guard. It waits for GO. */
void sim_run_start(struct executor *executor, const struct msg_run_start *start,
                   int64_t now_ms);
/* Steps the run, and carries out what follows at once, until it dies or waits. */
void sim_run_step(struct executor *executor, struct sim_run *run,
                  const struct exec_event *event, int64_t now_ms);
/* A process of it has ended with that wait status: the event that says so. */
struct exec_event sim_run_exit(struct executor *executor, struct sim_run *run,
                               enum exec_child child, int status);
/* Asks the world for a call at the next instant at which the run changes. */
void sim_run_plan_end(struct executor *executor, struct sim_run *run, int64_t now_ms);
/* The guard reports to its agent. */
void sim_run_tell(struct executor *executor, struct sim_run *run);
/* It uses no slots any more, whatever becomes of its record. */
void sim_run_release_slots(struct executor *executor, struct sim_run *run);

#endif
