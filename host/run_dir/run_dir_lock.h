/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir_lock.h: taking hold of a run's directory, so that one process keeps its
 * record. Layer: host (guard). */
#ifndef SUBLET_HOST_RUN_DIR_RUN_DIR_LOCK_H
#define SUBLET_HOST_RUN_DIR_RUN_DIR_LOCK_H

#include "host/exec/guard_record.h"
#include "host/exec/run_spec.h"

/* Opens it, makes it the working directory and locks it for the life of the process;
 * -1 where it is gone or (errno EWOULDBLOCK) somebody else holds it. */
int run_dir_enter(const char *path);

int run_dir_read_spec(int dir, struct run_spec *spec, struct err *err) MUST_CHECK;

/* Deletes what the guard and sublet-host put there, and the directory. */
void run_dir_remove(int dir, const char *path);

/* Puts the sizes of the output that is kept with the run into the record. */
void run_dir_measure_output(int dir, struct guard_record *record);

void run_dir_read_boot_id(char *boot_id, size_t size);

#endif
