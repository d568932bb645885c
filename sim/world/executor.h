/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h: a sublet-host in a simulated world, with guards and runs. A run is
 * stepped by the machine that a real guard steps (exec_run); its processes are
 * simulated. A job works as its command says ("run 1500": milliseconds; "run 1500 exit
 * 3"). The world sets the durations of all other commands.
 *
 * It exchanges the same messages as host/. Its runs survive crashes of its site and of
 * itself. It records every start, so that a run that starts twice is detected.
 *
 * Units: virtual milliseconds. Ownership: copied. Order: runs in the order of START.
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_EXECUTOR_H
#define SUBLET_SIM_WORLD_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

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

/* Services of the world: sending a message to the site, and calling executor_run_end at
 * `at_ms` with that number. */
struct executor_world {
    void (*send)(void *arg, int host, const struct msg *msg);
    void (*end_at)(void *arg, int host, int64_t at_ms, uint64_t number);
    void (*command)(void *arg, const char *text, struct executor_command *command);
    /* The job itself starts, after its pre-execution commands. */
    void (*begun)(void *arg, int host, const char *site, const char *job,
                  uint64_t attempt);
    void (*used)(void *arg, int host, const struct executor_use *use);
    void *arg;
};

struct executor *executor_new(const char *name, int index,
                              const struct executor_world *world);
void executor_free(struct executor *executor);
const char *executor_name(const struct executor *executor);

/* Reboots the machine, which ends all runs. HELLO must follow. */
void executor_reboot(struct executor *executor);
/* Opens a session: HELLO, the state of every run, SYNCED. Repeated until WELCOME. */
void executor_hello(struct executor *executor, int64_t now_ms);
void executor_message(struct executor *executor, const struct msg *msg, int64_t now_ms);
/* Sets the resources and load, and reports them, now and at the beginning of each
 * session. The values are borrowed. */
void executor_set_load(struct executor *executor, const struct load_value *values,
                       int n_values);
/* Reports the same values again, as hosts do periodically. */
void executor_report_load(struct executor *executor);
/* The work of a run is done. Outdated numbers are ignored. */
void executor_run_end(struct executor *executor, uint64_t number, int64_t now_ms);
void executor_tick(struct executor *executor, int64_t now_ms); /* HOST_ALIVE */

#endif
