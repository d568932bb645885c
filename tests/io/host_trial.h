/* SPDX-License-Identifier: Apache-2.0 */
/* host_trial.h: one sublet-host under test, with real guards and jobs and a site that
 * is not real: started as a site does, killed, started again.
 *
 * Each trial has a directory of its own. */
#ifndef SUBLET_TESTS_IO_HOST_TRIAL_H
#define SUBLET_TESTS_IO_HOST_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/exec/exec.h"
#include "tests/io/fake_site.h"

/* Waits for a file, so that a test decides when it goes on. */
#define HOST_TRIAL_UNTIL_TOLD "until [ -e on ]; do sleep 0.02; done; exit 4"

struct host_trial {
    struct run_fixture fixture;
    struct fake_site site;
    pid_t host;
    bool without_cgroups;
};

/* Returns false, with a message, if the program is missing. For main. */
bool host_trial_find_program(void);
/* Its path; "" before it was looked for. */
const char *host_trial_program(void);

/* For cmocka_unit_test_setup_teardown: with a sublet-host that is synced. */
int host_trial_begin(void **state);
int host_trial_begin_without_cgroups(void **state);
int host_trial_finish(void **state);

/* ---- the daemon */

pid_t host_trial_spawn(const struct host_trial *trial);
/* Until it is synced; of before nothing counts. */
void host_trial_start_host(struct host_trial *trial);
/* Its status, as of waitpid. */
int host_trial_end_host(struct host_trial *trial, int signal_number);

/* ---- runs */

void host_trial_start_run(struct host_trial *trial, uint64_t attempt,
                          const char *command);
/* Starts it and lets it go; a short one may have ended by then. */
void host_trial_begin_run(struct host_trial *trial, uint64_t attempt,
                          const char *command);
void host_trial_wait_phase(struct host_trial *trial, uint64_t attempt,
                           enum run_phase phase);
const struct run_exit *host_trial_exit(struct host_trial *trial, uint64_t attempt);

/* ---- files */

const char *host_trial_path(const struct host_trial *trial, const char *name);
void host_trial_touch(const struct host_trial *trial, const char *name);
bool host_trial_has_run(const struct host_trial *trial, uint64_t attempt);
bool host_trial_read_record(const struct host_trial *trial, uint64_t attempt,
                            struct guard_record *record);
pid_t host_trial_guard(const struct host_trial *trial, uint64_t attempt);

#endif
