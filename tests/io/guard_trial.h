/* SPDX-License-Identifier: Apache-2.0 */
/* guard_trial.h: one run under test with a real guard, started as sublet-host does:
 * telling it, hearing it, and what is on its disk.
 *
 * Each trial has a directory of its own. What holds with and without a cgroup is tried
 * both ways; without writable cgroups that half is left out, and said. */
#ifndef SUBLET_TESTS_IO_GUARD_TRIAL_H
#define SUBLET_TESTS_IO_GUARD_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "host/agent/spec_writer.h"
#include "host/exec/exec.h"
#include "host/kernel/kernel.h"
#include "host/run_dir/run_dir.h"
#include "tests/io/run_fixture.h"

enum { GUARD_TRIAL_GRACE_MS = 300 };

struct guard_trial {
    struct run_fixture fixture;
    struct cgroup_root cgroup;
    struct spec_writer_setting setting;
    int link;
    struct guard_record record; /* the last received */
};

/* Returns false, with a message, if the program is missing. For main. */
bool guard_trial_find_program(void);
/* Its path; "" before it was looked for. */
const char *guard_trial_program(void);

/* For cmocka_unit_test_setup_teardown. */
int guard_trial_begin(void **state);
int guard_trial_begin_without_cgroup(void **state); /* nor a memory controller */
int guard_trial_finish(void **state);
void guard_trial_need_cgroup(const struct guard_trial *trial);
/* A memory controller, of version 2 or 1. */
void guard_trial_need_memory(const struct guard_trial *trial);
const char *guard_trial_path(const struct guard_trial *trial, const char *part);
void guard_trial_spawn(struct guard_trial *trial, const char *option);
void guard_trial_start(struct guard_trial *trial, const struct msg_run_start *start);
/* Receives a record; false at the end of the connection. */
bool guard_trial_receive(struct guard_trial *trial);
void guard_trial_receive_until(struct guard_trial *trial, enum run_phase phase);
void guard_trial_receive_nothing(struct guard_trial *trial);
void guard_trial_send(struct guard_trial *trial, struct guard_request order);
void guard_trial_go(struct guard_trial *trial);
void guard_trial_control(struct guard_trial *trial, uint64_t number,
                         enum control_action action, int signal);
/* Starts a run, sends the GO, and receives records until the end. */
void guard_trial_run_to_end(struct guard_trial *trial,
                            const struct msg_run_start *start);
/* Lets RUN_FIXTURE_FAMILY_COMMAND run, until all of it is there. */
void guard_trial_start_family(struct guard_trial *trial);
struct msg_run_start guard_trial_job(const struct guard_trial *trial,
                                     const char *command);
void guard_trial_assert_text(const char *path, const char *expected);
/* The record on disk is the one that was received. */
void guard_trial_assert_recorded(const struct guard_trial *trial);

#endif
