/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h: a sublet-host in a simulated world: guards that wait, runs that end when
 * their command says so ("run 1500": milliseconds of work; "run 1500 exit 3"), or their
 * run limit does; before and after them commands (fake_stages.h), which take as long as
 * the world says.
 *
 * Speaks the same messages as host/ does. Its runs outlive its site's crashes and its
 * own. It remembers every beginning, so that a run begun twice is seen.
 *
 * Units: virtual milliseconds. Ownership: copied. Order: runs in the order of START.
 * Layer: sim (base only). */
#ifndef SUBLET_SIM_WORLD_EXECUTOR_H
#define SUBLET_SIM_WORLD_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/msg.h"

struct executor;

/* How a command of PRE_EXEC, POST_EXEC or JOB_CONTROLS goes. */
struct executor_command {
    int64_t ms;
    int code; /* with which it exits */
};

/* Slots of a host come into use by a run of that lease ("": the site's own), or are
 * free again (n_slots < 0): also while the run is suspended. */
struct executor_use {
    const char *host, *lease;
    int n_slots;
    int n_gone;        /* so many of them it will never want again */
    bool is_exclusive; /* it wants all of the host */
    bool is_again;     /* it had them before, and stood still */
    bool is_part;      /* it has others there all along */
};

/* What the world does for it: a message to its site, and a call to executor_run_end at
 * `at_ms` with that number. */
struct executor_world {
    void (*send)(void *arg, int host, const struct msg *msg);
    void (*end_at)(void *arg, int host, int64_t at_ms, uint64_t number);
    void (*command)(void *arg, const char *text, struct executor_command *command);
    /* The job itself begins, after what is to run before it. */
    void (*begun)(void *arg, int host, const char *site, const char *job,
                  uint64_t attempt);
    void (*used)(void *arg, int host, const struct executor_use *use);
    void *arg;
};

struct executor *executor_new(const char *name, int index,
                              const struct executor_world *world);
void executor_free(struct executor *executor);
const char *executor_name(const struct executor *executor);

/* The machine has been started anew: no run is left. HELLO is to follow. */
void executor_reboot(struct executor *executor);
/* HELLO, every run it has, SYNCED: a new session. Sent again until WELCOME. */
void executor_hello(struct executor *executor, int64_t now_ms);
void executor_message(struct executor *executor, const struct msg *msg, int64_t now_ms);
/* What it is and how loaded it is: told now, and at each session's beginning. The
 * values are borrowed. */
void executor_tell_load(struct executor *executor, const struct load_value *values,
                        int n_values);
/* The same once more, as hosts do now and then. */
void executor_tell_again(struct executor *executor);
/* The work of a run is done (unless the number is of an earlier phase of it). */
void executor_run_end(struct executor *executor, uint64_t number, int64_t now_ms);
void executor_tick(struct executor *executor, int64_t now_ms); /* HOST_ALIVE */

#endif
