/* SPDX-License-Identifier: Apache-2.0 */
/* guard_dir.h: taking hold of a run's directory, so that one process keeps its record.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_DIR_H
#define SUBLET_HOST_GUARD_DIR_H

#include "host/guard_record.h"
#include "host/guard_spec.h"

/* Opens it, makes it the working directory and locks it for the life of the process;
 * -1 where it is gone or (errno EWOULDBLOCK) somebody else holds it. */
int guard_dir_take(const char *path);

int guard_dir_read_spec(int dir, struct guard_spec *spec, struct err *err) MUST_CHECK;

/* Deletes what the guard and sublet-host put there, and the directory. */
void guard_dir_remove(int dir, const char *path);

/* Puts the sizes of the output that is kept with the run into the record. */
void guard_dir_measure(int dir, struct guard_record *record);

void guard_dir_read_boot_id(char *boot_id, size_t size);

#endif
