/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h: a sublet-host in a simulated world, with guards and runs. Its session
 * with the site and its runs are stepped by the machines that real hosts step
 * (exec_session, exec_run); its processes are simulated. A job works as its command
 * says ("run 1500": milliseconds; "run 1500 exit 3"). The world sets the durations of
 * all other commands.
 *
 * Its runs survive crashes of its site and of its agent. Faults may come between any
 * two effects of a run. It reports every start and every end of a job's process, so
 * that a run that starts twice, or an end that is another job's, is detected.
 *
 * Units: virtual milliseconds. Ownership: copied. Order: runs in the order of START.
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_EXECUTOR_H
#define SUBLET_SIM_WORLD_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "model/msg.h"

struct executor;

/* Duration and exit code of a command of PRE_EXEC, POST_EXEC or JOB_CONTROLS. */
struct executor_command {
    int64_t ms;
    int code; /* exit code */
};

/* A run of that lease ("": own job) begins to use slots of a host, or releases them
 * (n_slots < 0), which happens also when it is suspended. */
struct executor_use {
    const char *host, *lease;
    int n_slots;
    int n_gone;        /* number of slots released for good */
    bool is_exclusive; /* it uses the host exclusively */
    bool is_again;     /* it resumes on slots it had before */
    bool is_part;      /* it already uses other slots there */
};

/* What dies. The processes of a run whose guard has died are killed by the next one.
 * Without its agent a host says nothing; its runs go on. A machine that goes down loses
 * all processes. */
enum executor_fault {
    EXECUTOR_FAULT_NONE,
    EXECUTOR_FAULT_GUARD,   /* of one run; executor_fail: of all */
    EXECUTOR_FAULT_AGENT,   /* sublet-host */
    EXECUTOR_FAULT_MACHINE, /* and comes back with its disk */
    EXECUTOR_FAULT_DISK,    /* and comes back without */
};

/* The batches of a session. They are empty between two calls, so the hosts of a world
 * share them. `send` must not call an executor that has the same. */
struct executor_effects {
    struct effects batches[2], *filling;
};

void executor_effects_init(struct executor_effects *effects);
void executor_effects_release(struct executor_effects *effects);

/* Services of the world: sending a message to the site, and calling executor_run_end at
 * `at_ms` with that number. */
struct executor_world {
    void (*send)(void *arg, int host, const struct msg *msg);
    void (*end_at)(void *arg, int host, int64_t at_ms, uint64_t number);
    void (*command)(void *arg, const char *text, struct executor_command *command);
    /* The job itself starts, after its pre-execution commands. */
    void (*begun)(void *arg, int host, const char *site, const char *job,
                  const char *name);
    void (*used)(void *arg, int host, const struct executor_use *use);
    /* The process of the job has ended, with that wait status. NULL: not reported. */
    void (*exited)(void *arg, int host, const struct run_id *run, int status);
    /* What happens before the next effect of a run. A host without agent stays so until
     * executor_return. NULL: nothing ever. */
    enum executor_fault (*fault)(void *arg, int host);
    void *arg;
    struct executor_effects *effects; /* borrowed */
    bool is_calm;                     /* nothing is ever lost: no heartbeats */
};

struct executor *executor_new(const char *name, int index,
                              const struct executor_world *world, int64_t now_ms);
void executor_free(struct executor *executor);
const char *executor_name(const struct executor *executor);

/* The machine is replaced: all runs are gone. HELLO must follow. */
void executor_reboot(struct executor *executor);
void executor_fail(struct executor *executor, enum executor_fault fault,
                   int64_t now_ms);
/* Its site has answered in this session. */
bool executor_is_connected(const struct executor *executor);
/* The agent is started again, on the machine as it is, and finds its runs. */
void executor_return(struct executor *executor, int64_t now_ms);

/* Begins a session, as a host does whose site has restarted. */
void executor_hello(struct executor *executor, int64_t now_ms);
void executor_message(struct executor *executor, const struct msg *msg, int64_t now_ms);
/* Sets the resources and load, and reports them, now and at the beginning of each
 * session. The values are borrowed. */
void executor_set_load(struct executor *executor, const struct load_value *values,
                       int n_values, int64_t now_ms);
/* Reports the same values again, as hosts do periodically. */
void executor_report_load(struct executor *executor, int64_t now_ms);
/* The work of a run is done. Outdated numbers are ignored. */
void executor_run_end(struct executor *executor, uint64_t number, int64_t now_ms);
/* Time has passed: heartbeats, and what is repeated. */
void executor_tick(struct executor *executor, int64_t now_ms);

#endif
